"""WHAT is a tool? Described once, for every protocol era: its words, its shapes, what it takes, and who does the work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

import mcp_types as protocol

from onrecord.context.conversation import inside
from onrecord.errors import Fault, Invalid, OnRecordError
from onrecord.model.caller import Caller
from onrecord.operation import Operation
from onrecord.service import OnRecord

Arguments = Mapping[str, Any]
#: What a tool takes to say in which conversation it is called; never a way into one that the connection is not in.
CONVERSATION: Final = "conversation"


class ToolAnswer(NamedTuple):
    """What a tool answers: the whole for programs, and a short text for whoever reads."""

    structured: Any
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a person is asked before a tool does its work.

    `question` is None where there is nothing to ask. A client that cannot ask is answered by `waiting`, with the question
    and a word to come back with; `declined` is what comes of a no.
    """

    question: Callable[[OnRecord, Arguments], str | None]
    waiting: Callable[[str, str], ToolAnswer]
    declined: ToolAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `operation` is the one whose permission and effect it has, whatever else it does on the way.

    `is_local` is for what reaches into the files of this machine: it is not offered over a network. `is_for_people` is
    for what no agent does in their place.
    """

    name: str
    title: str
    description: str
    takes: Mapping[str, Any]
    gives: Mapping[str, Any] | None
    operation: Operation
    handle: Callable[[OnRecord, Arguments], ToolAnswer]
    is_idempotent: bool = False
    is_local: bool = False
    is_for_people: bool = False
    confirmation: Confirmation | None = None
    say_failure: Callable[[OnRecordError], str] = str

    def is_offered_to(self, caller: Caller) -> bool:
        if self.is_for_people and caller.actor != "person":
            return False
        return self.operation.is_offered_to(caller)

    def described(self) -> protocol.Tool:
        """As the protocol has it. Nothing that anyone saved is ever part of it."""
        effect = self.operation.effect
        return protocol.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=dict(self.takes),
            output_schema=None if self.gives is None else dict(self.gives),
            annotations=protocol.ToolAnnotations(
                read_only_hint=effect == "read",
                # Left out it counts as true, also for a save that loses nothing.
                destructive_hint=effect == "destroy",
                idempotent_hint=True if self.is_idempotent else None,
                open_world_hint=False,
            ),
        )


def known_arguments(tool: Tool, arguments: Arguments) -> None:
    """Invalid for what the tool does not take and for what it cannot do without; values are checked by their rules."""
    properties = tool.takes.get("properties", {})
    faults = [Fault(name, _unknown(name, properties)) for name in arguments if name not in properties]
    faults += [
        Fault(name, "is required") for name in tool.takes.get("required", ()) if arguments.get(name) is None
    ]
    if faults:
        raise Invalid(faults)


def _unknown(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = get_close_matches(name, list(known), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"is not an argument of this tool; {hint}"


def in_conversation(door: OnRecord, arguments: Arguments) -> tuple[OnRecord, dict[str, Any]]:
    """The door as seen from the conversation that was named, and what else was given.

    Where the connection is in a conversation already, a model cannot move it to another.
    """
    rest = {name: value for name, value in arguments.items() if name != CONVERSATION and value is not None}
    here = inside(door.caller, arguments.get(CONVERSATION))
    return door if here is door.caller else door.as_caller(here), rest
