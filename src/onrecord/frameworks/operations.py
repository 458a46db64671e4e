"""WHICH operations does a model get as tools of a framework? Some of the table, described as MCP describes them.

The name, the description and the schema of a tool come from its operation, and so do its checks and its permission. Only which
fields a model is shown is chosen here, since each costs tokens in every conversation.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onrecord.context.frame import CAUTION, data
from onrecord.doors import AsyncDoor, Door
from onrecord.errors import invalid
from onrecord.features import FOR_PEOPLE, HOMES, operation_named
from onrecord.model.near_names import near_name
from onrecord.model.schema import input_schema
from onrecord.model.wire import to_json
from onrecord.operation import Operation

#: What to offer: the names of operations, or for each the fields that a model is shown, None for all of them.
Chosen = Sequence[str] | Mapping[str, Sequence[str] | None]

#: Enough to be given what matters, to look for more, and to keep, correct and end.
USUAL: Final[Mapping[str, Sequence[str]]] = {
    "context": ("question", "max_tokens"),
    "recall": ("question", "limit", "kinds", "entities", "as_of"),
    "show": ("id", "as_of"),
    "remember": ("content", "kind", "hint", "tags", "entities", "supersedes"),
    "revise": ("id", "content", "hint", "tags", "entities"),
    "retire": ("id", "reason"),
}
#: What says how an answer came about, which a model does not need.
_BOOKKEEPING: Final = frozenset({"trace", "parts", "place"})


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """An operation as a tool for a model."""

    operation: Operation
    name: str
    description: str
    takes: Mapping[str, Any]

    @property
    def asks_first(self) -> bool:
        """Whether a person is to agree to each call, because it erases what no history keeps."""
        return self.operation.effect == "destroy"

    async def call(self, door: Door | AsyncDoor, arguments: Mapping[str, Any]) -> str:
        """Do it with a model's arguments; returns the answer as JSON in which stored text is marked as data."""
        given = {name: value for name, value in arguments.items() if value is not None}
        if unknown := sorted(set(given) - set(self.takes["properties"])):
            raise invalid(
                unknown[0],
                f"is not an argument of {self.name}; there are {', '.join(self.takes['properties'])}",
            )
        if isinstance(door, AsyncDoor):
            answer = await door.perform(self.operation, **given)
        else:
            answer = await asyncio.to_thread(door.perform, self.operation, **given)
        return json.dumps({"notice": CAUTION, **data(_told(to_json(answer)))}, ensure_ascii=False)


def offered(chosen: Chosen = USUAL) -> tuple[OfferedTool, ...]:
    """The tools for these operations; Invalid for one that is not there, or is for people alone."""
    fields = chosen if isinstance(chosen, Mapping) else {name: USUAL.get(name) for name in chosen}
    return tuple(_offered(name, shown) for name, shown in fields.items())


def _offered(name: str, shown: Sequence[str] | None) -> OfferedTool:
    if name not in HOMES:
        near = near_name(name, tuple(HOMES))
        raise invalid("tools", f"{name!a} is not an operation" + (f"; did you mean {near}?" if near else ""))
    if name in FOR_PEOPLE:
        raise invalid("tools", f"{name} is for a person at the command line, not for a model")
    operation = operation_named(name)
    takes = dict(input_schema(operation.request))
    if shown is not None:
        known = takes["properties"]
        if missing := [each for each in shown if each not in known]:
            raise invalid("tools", f"{name} has no field {missing[0]!a}; it has {', '.join(known)}")
        if left_out := set(takes.get("required", ())) - set(shown):
            raise invalid("tools", f"{name} needs its field {min(left_out)}")
        takes["properties"] = {each: known[each] for each in shown}
    return OfferedTool(operation, operation.tool_name, operation.description, takes)


def _told(value: Any) -> Any:
    """An answer without what is empty: readers of a tool's answer pay for every word."""
    if isinstance(value, Mapping):
        told = {name: _told(each) for name, each in value.items() if name not in _BOOKKEEPING}
        return {name: each for name, each in told.items() if each not in (None, "", [], {})}
    return [_told(each) for each in value] if isinstance(value, list) else value
