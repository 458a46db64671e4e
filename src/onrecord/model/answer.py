"""WHAT is an answer? A frozen value that can be read as an object, or written down as plain values."""

from dataclasses import dataclass
from typing import Any

from onrecord.model.wire import to_json


class Answer:
    """What every answer shares."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The same in plain values, as every surface writes it: texts, numbers, lists, and times in ISO 8601."""
        plain: dict[str, Any] = to_json(self)
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Answer):
    """What one step or layer did: how long, how many candidates after it, and why it was skipped if it was."""

    name: str
    ms: float
    candidates: int | None = None
    failed: str | None = None
