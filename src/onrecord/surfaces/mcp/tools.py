"""WHAT is a tool? One description for every version of the protocol: its texts, its schemas, and the function that
does the work.
"""

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
from onrecord.surfaces.mcp.prompts import Prompt

Arguments = Mapping[str, Any]
#: What a tool takes to say in which conversation it is called; never a way into one that the connection is not in.
CONVERSATION: Final = "conversation"


#: The field that says of the others what they are, for a client that reads an answer by its fields alone.
NOTICE: Final = "notice"


class ToolAnswer(NamedTuple):
    """The answer of a tool: its fields, and a text for readers; without a text, the fields as JSON.

    In JSON every line of a memory stays inside quotation marks.
    """

    structured: Any
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """The question to a person before a tool does its work.

    `question` returns None if there is nothing to ask; then the tool simply runs. `agreed` runs after a yes, `unable`
    if the client cannot ask anyone, `declined` after a no, and `late` if nobody answers in time. `unable` gets the
    question, and the address where a person can answer it, if there is one.
    """

    question: Callable[[OnRecord, Arguments], str | None]
    agreed: Callable[[OnRecord, Arguments], ToolAnswer]
    unable: Callable[[OnRecord, Arguments, str, str | None], ToolAnswer]
    declined: Callable[[Arguments], ToolAnswer]
    late: Callable[[Arguments], ToolAnswer]


def is_agent_here(caller: Caller) -> bool:
    """Whether the caller is the agent of the person at this machine; elsewhere a key says who acts."""
    return caller.actor == "agent" and caller.key is None and caller.request is None


def by_person(door: OnRecord) -> OnRecord:
    """The door for what follows a yes: what the person at this machine agreed to counts as their own act."""
    return door.as_caller(replace(door.caller, actor="person")) if is_agent_here(door.caller) else door


def as_agent_of(person: OnRecord) -> OnRecord:
    """The door of a person's own agent: what a tool asks them through it is done as their own act after a yes."""
    agent = replace(person.caller, actor="agent", key=None, request=None, operator=False)
    return person.as_caller(agent)


@dataclass(frozen=True, slots=True)
class LeftToPerson:
    """What a call leaves to a person: another tool, which only people may use, and its arguments."""

    tool: str
    arguments: Arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. It has the permission and the effect of `operation`, whatever else it does.

    `is_for`: of those who may do what it does, whom it is offered to; everyone if left out. `prompts`: what a person can
    pick to have it used. `is_for_people`: no agent may use it. `replaces`: it overwrites without a history, though it erases nothing.
    `repeats`: it changes something and also shows stored text. `card`: for a tool that is for people, what a person is
    asked on a page if an agent leaves its call to them; None if there is nothing to do. `leaves`: what the call of an agent
    leaves to a person.
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
    is_for: Callable[[Caller], bool] | None = None
    prompts: tuple[Prompt, ...] = ()
    card: Callable[[OnRecord, Arguments], str | None] | None = None
    leaves: Callable[[OnRecord, Arguments, ToolAnswer], LeftToPerson | None] | None = None
    say_failure: Callable[[OnRecordError], str] = str

    def is_offered_to(self, caller: Caller) -> bool:
        if self.is_for_people and caller.actor != "person":
            return False
        if self.is_for is not None and not self.is_for(caller):
            return False
        return self.operation.is_offered_to(caller)

    @property
    def shows_stored(self) -> bool:
        """Whether its answers contain stored text."""
        return self.repeats or self.operation.effect == "read"

    def rendered(self, answer: ToolAnswer) -> protocol.CallToolResult:
        """The answer for a model, in both forms a client may pass on: as data, and marked as such."""
        fields = None if answer.structured is None else data(answer.structured)
        if fields is not None and self.shows_stored:
            fields = {NOTICE: CAUTION, **fields}
        text = json.dumps(fields, ensure_ascii=False) if answer.text is None else visible(answer.text)
        return protocol.CallToolResult(content=[protocol.TextContent(text=text)], structured_content=fields)

    def described(self) -> protocol.Tool:
        """The description in the protocol. It never contains stored text."""
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
    """Invalid for unknown and missing arguments; the rules check the values."""
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
    """The door inside the named conversation, and the other arguments.

    If the connection is in a conversation already, a model cannot move it to another.
    """
    rest = {name: value for name, value in arguments.items() if name != CONVERSATION and value is not None}
    here = inside(door.caller, arguments.get(CONVERSATION))
    return door if here is door.caller else door.as_caller(here), rest
