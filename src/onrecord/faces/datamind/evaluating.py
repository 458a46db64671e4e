"""HOW is a question put to the datamind face? By `recall`, over the items of a profile, as many as it gives."""

from typing import Any, Final

from onrecord.evaluation.methods import FaceHit, FaceSearch
from onrecord.faces.datamind import asking
from onrecord.faces.datamind.items import MOST_RECALLED
from onrecord.service import OnRecord


def _search(door: OnRecord, question: str) -> list[FaceHit]:
    return [FaceHit(item.id) for item in asking.recall(door, question, top_k=MOST_RECALLED)]


def _fields(text: str) -> dict[str, Any]:
    # An item for a profile belongs to no conversation.
    return {"conversation": None}


SEARCH: Final = FaceSearch(_search, _fields)
