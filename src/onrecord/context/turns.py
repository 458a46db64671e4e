"""WHICH turns does a conversation keep? The last ones, for a while; then they are dropped."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from onrecord.context import conversation
from onrecord.errors import Fault, Forbidden, StoreUnavailable
from onrecord.model import limits, rules
from onrecord.model.advice import YES
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION
from onrecord.model.limits import Role
from onrecord.model.request import ADVISED, IN_CONVERSATION, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.workspace import ConversationKey
from onrecord.operation import Call, operation
from onrecord.providers.advising import is_wanted
from onrecord.providers.scrubber import scrub, scrub_value
from onrecord.remember.extract import Extract, Extracted, extract
from onrecord.store.ports.workspace import NamedConversation
from onrecord.turn_buffer import Turn
from onrecord.workspace import conversations
from onrecord.workspace.agents import settings_of


@dataclass(frozen=True, slots=True)
class NoteTurn(Request):
    """Keep a turn of a conversation for a while: the last few, in memory alone, gone when the process ends."""

    content: str = ask(rules.CONTENT, "What was said.", positional=True)
    role: Role = ask(rules.Choice(limits.ROLES), f"Who said it: {', '.join(limits.ROLES)}.", "user")
    metadata: Mapping[str, Any] | None = ask(OrNone(rules.Json()), "Anything else, as a JSON object.", None)
    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)
    extract: str | None = ask(
        ADVISED,
        "With the assistant's turn, which ends it: save the facts that an advisor finds in what was said since the last "
        "such turn: yes, no, or one of the models that are configured. Left out, the agent's or the tenant's settings say; it is then done later.",
        None,
    )
    extract_later: bool = ask(rules.FLAG, "Answer at once, and find those facts afterwards.", False)
    agent: str | None = ask(OrNone(AGENT_NAME), "The agent that facts are extracted for.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTurn(Answer):
    """A turn that is kept, and how many turns of the conversation are kept; `extracted` are the facts of the turn that it
    ends, if they were asked for.
    """

    conversation: str
    turns: int
    extracted: Extracted | None = None


@dataclass(frozen=True, slots=True)
class ListTurns(Request):
    """The last turns of a conversation, oldest first."""

    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)
    limit: int | None = ask(OrNone(rules.Integer(1, limits.MOST_TURNS)), "Only so many of the last.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTurns(Answer):
    """The last turns of a conversation, oldest first."""

    conversation: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class ClearTurns(Request):
    """Drop the turns of a conversation, also those that wait until their facts are extracted."""

    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedTurns(Answer):
    """How many turns were dropped."""

    conversation: str
    cleared: int


@operation("write", "memory.manage", "POST /turns", command=None)
def note_turn(call: Call, ask: NoteTurn) -> NotedTurn:
    named = conversation.needed(call.caller, ask.conversation)
    if ask.role == "system" and call.caller.actor != "person" and not call.caller.operator:
        raise Forbidden(
            "Turns of role system are a person's or the host's, since agents obey them. Note it with another role."
        )
    inside = replace(call, caller=conversation.inside(call.caller, ask.conversation))
    # It is kept in memory alone, and so needs no store that can be used.
    meant = NamedConversation(ConversationKey(call.caller.user, named))
    with suppress(StoreUnavailable):
        # An argument may come from a model, so it begins no conversation.
        meant = conversations.spoken_in(inside, begins=call.caller.conversation is not None)
        call.turns.follow(call.caller.tenant, meant.key, meant.begun)
    call.turns.add(call.caller.tenant, meant.key, turn_of(ask, call.now), meant.begun)
    noted = NotedTurn(conversation=named, turns=len(_turns(call, meant)))
    if ask.role != "assistant":
        return noted
    if ask.extract is None and (model := _unasked_model(call, ask.agent)):
        # Who did not ask for it does not wait for it.
        ask = replace(ask, extract=model, extract_later=True)
    if not is_wanted(ask.extract):
        return noted
    if call.once is not None:
        once = call.once.within(lambda extracted: replace(noted, extracted=extracted))
        inside = replace(inside, once=once)
    return replace(noted, extracted=_extracted(inside, ask, _turns(call, meant)))


def _unasked_model(call: Call, agent: str | None) -> str | None:
    """Which model finds the facts of every turn: by the settings of the agent, or else of the tenant."""
    if not call.advisor.is_there:
        return None
    with suppress(StoreUnavailable):
        own = None if agent is None else settings_of(call, agent).extract
        return own or (YES if "extract" in call.standing_advice() else None)
    return None


def _extracted(call: Call, ask: NoteTurn, kept: Sequence[Turn]) -> Extracted:
    """The facts of the turn that ends here: what the user said since the assistant last spoke, and the answer. What tools
    returned is not read.
    """
    asked: list[str] = []
    for turn in reversed(kept[:-1]):
        if turn.role == "assistant":
            break
        if turn.role == "user":
            asked.insert(0, turn.content)
    whole = "\n\n".join(asked)[-limits.CONTENT_BYTES :]
    return extract(
        call,
        Extract(
            whole,
            assistant_turn=kept[-1].content,
            advisor=ask.extract,
            agent=ask.agent,
            later=ask.extract_later,
        ),
    )


def last_turns(call: Call, most: int | None = None) -> tuple[Turn, ...]:
    """The last turns of the conversation that the caller is in, oldest first; none if any process has deleted it."""
    here = _follow(call)
    return () if here is None else _turns(call, here, most)


def _turns(call: Call, here: NamedConversation, most: int | None = None) -> tuple[Turn, ...]:
    """The last turns that the caller may see. Turns from before the conversation began go only to the user who began
    it: they may be from an earlier one of the same name.
    """
    since = None if here.key.by == call.caller.user else here.begun
    return call.turns.last(call.caller.tenant, here.key, most, since)


def _follow(call: Call) -> NamedConversation | None:
    """Which conversation the caller is in. Each process holds its own turns and learns of deletions from the store."""
    with call.reading() as reading:
        here = reading.workspace.here
    if here is not None:
        call.turns.follow(call.caller.tenant, here.key, here.begun)
    return here


def turn_of(ask: NoteTurn, now: datetime) -> Turn:
    """The turn without its secrets, since a model will get it."""
    metadata = cast(Mapping[str, Any], scrub_value("", ask.metadata)[0]) if ask.metadata else {}
    return Turn(role=ask.role, content=scrub(ask.content).text, at=now, metadata=metadata)


@operation("read", "memory.read", "GET /turns", command=None)
def turns(call: Call, ask: ListTurns) -> ListedTurns:
    named = conversation.needed(call.caller, ask.conversation)
    inside = replace(call, caller=conversation.inside(call.caller, ask.conversation))
    return ListedTurns(conversation=named, turns=last_turns(inside, ask.limit))


@operation("write", "memory.manage", "DELETE /turns", command=None)
def clear_turns(call: Call, ask: ClearTurns) -> ClearedTurns:
    named = conversation.needed(call.caller, ask.conversation)
    here = _follow(replace(call, caller=conversation.inside(call.caller, ask.conversation)))
    if here is None:
        return ClearedTurns(conversation=named, cleared=0)
    cleared = len(_turns(call, here))
    call.turns.clear(call.caller.tenant, here.key)
    if here.begun is not None:
        with call.writing() as writing:
            writing.workspace.drop_turns(here.key)
    return ClearedTurns(conversation=named, cleared=cleared)
