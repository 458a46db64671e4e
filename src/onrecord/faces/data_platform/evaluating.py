"""HOW is a question put to the data_platform face? By `memory_recall` with its usual strategy, as many as it gives."""

from typing import Any, Final

from onrecord.evaluation.methods import FaceHit, FaceSearch
from onrecord.faces.data_platform.fields import MOST_RECALLED
from onrecord.faces.data_platform.recalling import memory_recall
from onrecord.service import OnRecord


def _search(door: OnRecord, question: str) -> list[FaceHit]:
    found = memory_recall(door, question, limit=MOST_RECALLED)
    return [FaceHit(each["Record"]["id"]) for each in found["memories"]]


def _fields(text: str) -> dict[str, Any]:
    return {"conversation": None}


SEARCH: Final = FaceSearch(_search, _fields)
