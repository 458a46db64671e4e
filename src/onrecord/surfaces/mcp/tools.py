"""WHAT is a tool? Described once, for every protocol era: its words, its shapes, what it takes, and who does the work."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import mcp_types as protocol

from onrecord.context.conversation import inside
from onrecord.context.frame import CAUTION, data, visible
from onrecord.errors import Fault, Invalid, OnRecordError
from onrecord.model.caller import Caller
from onrecord.model.near_names import unknown_names
from onrecord.operation import Operation
from onrecord.service import OnRecord

Arguments = Mapping[str, Any]
#: What a tool takes to say in which conversation it is called; never a way into one that the connection is not in.
CONVERSATION: Final = "conversation"


#: The field that says of the others what they are, for a client that reads an answer by its fields alone.
NOTICE: Final = "notice"


class ToolAnswer(NamedTuple):
    """What a tool answers: its fields, and a text for whoever reads; without one, the fields as JSON are the text.

    As JSON every line of a memory stays inside its quotation marks.
    """

    structured: Any
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a person is asked before a tool does its work.

    `question` is None where there is nothing to ask, and the tool is handled as any other. `agreed` is what is done after a
    yes, `unable` where the client cannot ask anyone, `declined` after a no, and `late` where nothing is said in time.
    """

    question: Callable[[OnRecord, Arguments], str | None]
    agreed: Callable[[OnRecord, Arguments], ToolAnswer]
    unable: Callable[[OnRecord, Arguments, str], ToolAnswer]
    declined: Callable[[Arguments], ToolAnswer]
    late: Callable[[Arguments], ToolAnswer]


def is_agent_here(caller: Caller) -> bool:
    """Whether it is the agent of the person at this machine: elsewhere a key says who acts."""
    return caller.actor == "agent" and caller.key is None and caller.request is None


def by_person(door: OnRecord) -> OnRecord:
    """For what is done after a yes: what the person at this machine has agreed to in a form is their own deed."""
    return door.as_caller(replace(door.caller, actor="person")) if is_agent_here(door.caller) else door


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `operation` is the one whose permission and effect it has, whatever else it does on the way.

    `is_for_people` is for what no agent does in their place. `replaces` is for one that loses what was there before, though
    nobody would call it erasing. `repeats` is for one that changes something and shows what is stored, too.
    """

    name: str
    title: str
    description: str
    takes: Mapping[str, Any]
    gives: Mapping[str, Any] | None
    operation: Operation
    handle: Callable[[OnRecord, Arguments], ToolAnswer]
    is_idempotent: bool = False
    is_for_people: bool = False
    replaces: bool = False
    repeats: bool = False
    confirmation: Confirmation | None = None
    say_failure: Callable[[OnRecordError], str] = str

    def is_offered_to(self, caller: Caller) -> bool:
        if self.is_for_people and caller.actor != "person":
            return False
        return self.operation.is_offered_to(caller)

    @property
    def shows_stored(self) -> bool:
        """Whether its answers hold what someone has stored."""
        return self.repeats or self.operation.effect == "read"

    def rendered(self, told: ToolAnswer) -> protocol.CallToolResult:
        """An answer as a model gets it, in whichever of its two forms the client hands on: as data, and marked as such."""
        fields = None if told.structured is None else data(told.structured)
        if fields is not None and self.shows_stored:
            fields = {NOTICE: CAUTION, **fields}
        text = json.dumps(fields, ensure_ascii=False) if told.text is None else visible(told.text)
        return protocol.CallToolResult(content=[protocol.TextContent(text=text)], structured_content=fields)

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
                destructive_hint=effect == "destroy" or self.replaces,
                idempotent_hint=True if self.is_idempotent else None,
                open_world_hint=False,
            ),
        )


def known_arguments(tool: Tool, arguments: Arguments) -> None:
    """Invalid for what the tool does not take and for what it cannot do without; values are checked by their rules."""
    properties = tool.takes.get("properties", {})
    faults = unknown_names(
        arguments, properties, "is not an argument of this tool", f"; there are {', '.join(properties)}"
    )
    faults += [
        Fault(name, "is required") for name in tool.takes.get("required", ()) if arguments.get(name) is None
    ]
    if faults:
        raise Invalid(faults)


def in_conversation(door: OnRecord, arguments: Arguments) -> tuple[OnRecord, dict[str, Any]]:
    """The door as seen from the conversation that was named, and what else was given.

    Where the connection is in a conversation already, a model cannot move it to another.
    """
    rest = {name: value for name, value in arguments.items() if name != CONVERSATION and value is not None}
    here = inside(door.caller, arguments.get(CONVERSATION))
    return door if here is door.caller else door.as_caller(here), rest
