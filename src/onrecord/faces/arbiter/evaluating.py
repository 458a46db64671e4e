"""HOW is a question put to the arbiter face? By its list of entries with a question, over HTTP and in commands alike."""

from typing import Any, Final

from onrecord.evaluation.methods import DEPTH, FaceHit, FaceSearch
from onrecord.faces.arbiter.entries import list_entries
from onrecord.service import OnRecord


def _search(door: OnRecord, question: str) -> list[FaceHit]:
    found = list_entries(door, {"q": question, "limit": str(DEPTH)})
    return [FaceHit(str(each["id"])) for each in found["entries"]]


def _fields(text: str) -> dict[str, Any]:
    return {"kind": "reference"}


SEARCH: Final = FaceSearch(_search, _fields)
