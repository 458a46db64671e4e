"""WHAT is an answer? A frozen value that can be read as an object, or written down as plain values."""

from typing import Any

from onrecord.model.wire import to_json


class Answer:
    """What every answer shares."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The same in plain values, as every surface writes it: texts, numbers, lists, and times in ISO 8601."""
        told: dict[str, Any] = to_json(self)
        return told
