"""HOW is a question put to the checkstack face? By `searchMemory`, over what was saved for a user, as many as it gives."""

from typing import Any, Final

from onrecord.evaluation.methods import FaceHit, FaceSearch
from onrecord.faces.checkstack.memories import search_memory
from onrecord.model.limits import HINT_CHARACTERS
from onrecord.service import OnRecord

_MOST: Final = 50


def _search(door: OnRecord, question: str) -> list[FaceHit]:
    return [FaceHit(each["id"]) for each in search_memory(door, question, _MOST)["memories"]]


def _fields(text: str) -> dict[str, Any]:
    """Its users write a hint for each memory; where data has none, the text begins with the best there is."""
    return {"scope": "user", "kind": "preference", "hint": text[:HINT_CHARACTERS], "conversation": None}


SEARCH: Final = FaceSearch(_search, _fields)
