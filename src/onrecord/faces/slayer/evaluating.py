"""HOW is a question put to the slayer face? By `search`, over its memories and the catalog."""

from typing import Any, Final

from onrecord.evaluation.methods import DEPTH, FaceHit, FaceSearch
from onrecord.faces.slayer.calls import search
from onrecord.model.limits import RECALL_LIMIT
from onrecord.service import OnRecord


def _search(door: OnRecord, question: str) -> list[FaceHit]:
    # Several entities may be columns of one table.
    found = search(
        door, question=question, max_memories=DEPTH, max_example_queries=0, max_entities=RECALL_LIMIT
    )
    hits: list[tuple[float, FaceHit]] = [
        (hit["score"], FaceHit(hit["id"], is_entity))
        for listed, is_entity in (("memories", False), ("entities", True))
        for hit in found[listed]
    ]
    hits.sort(key=lambda each: -each[0])
    return [hit for _, hit in hits]


def _fields(text: str) -> dict[str, Any]:
    return {"kind": "learning"}


SEARCH: Final = FaceSearch(_search, _fields, has_catalog=True)
