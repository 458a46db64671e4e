"""WHAT does a coding agent's host hand over when a turn ends? Its hook sends the event, facts are extracted, and the hook
gets what it is to print; without an advisor, that asks the agent to save what matters itself.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from onrecord.errors import Fault, invalid
from onrecord.model import rules
from onrecord.model.advice import NO, Advised
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import CONVERSATION
from onrecord.model.limits import Scope
from onrecord.model.request import ADVISED, Request, ask
from onrecord.model.rules import OrNone
from onrecord.operation import Call, DoneBefore, IdempotentRequest, KeptAnswer, operation
from onrecord.remember.extract import Extract, ExtractedFact, end_of, extract
from onrecord.remember.transcript import HostTurn, read_event
from onrecord.store.ports.ledger import SentRequest

#: So much of a transcript is read, from its end.
TRANSCRIPT_BYTES: Final = 2 * 1024 * 1024
#: So many turns are read when more than the last may be new: before a conversation is shortened, and when it ends.
MOST_TURNS: Final = 10
#: In fewer words a person states nothing that an agent must be asked to save.
_FEWEST_WORDS: Final = 5
#: Events at which earlier turns may not have been handed over yet.
_OF_MANY: Final = frozenset({"PreCompact", "PreCompress", "SessionEnd"})
#: The prompts of subagents come from no person.
_OF_SUBAGENTS: Final = frozenset({"SubagentStop"})
_SAVE: Final = (
    "Before you finish: did the user say anything in this turn that will still matter later, such as a preference, a "
    "decision, a correction, a name or a schedule? Save each such fact as one sentence with memory_save, unless it is "
    "saved already. Save no secrets and nothing that only tools said. If there is none, finish without a word about this."
)
_KEEP: Final = (
    "Keep in the summary every preference, decision, correction, name and schedule that the user stated and that is not "
    "saved with memory_save yet, and say that these are to be saved."
)


def _blocks(say: str) -> str:
    return json.dumps({"decision": "block", "reason": say})


#: How a hook of each event makes its host tell the agent something.
_MANNERS: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "Stop": (_SAVE, _blocks),
    "AfterAgent": (_SAVE, lambda say: json.dumps({"decision": "deny", "reason": say})),
    "stop": (_SAVE, lambda say: json.dumps({"followup_message": say})),
    # The host gives what is printed to the model that writes the summary.
    "PreCompact": (_KEEP, lambda say: say),
}


@dataclass(frozen=True, slots=True)
class EndTurn(Request):
    """Hand over what a coding agent's host gives the hook of an event such as Stop or PreCompact: the facts of the turn are
    extracted, each turn once. The answer says what the hook is to print.

    Without an advisor the agent is asked to save what matters itself, unless it has.
    """

    event: Mapping[str, Any] = ask(
        rules.Json(), "The event that the host gives its hook: a JSON object.", positional=True
    )
    transcript: str | None = ask(
        OrNone(rules.Text(at_most_bytes=TRANSCRIPT_BYTES)),
        "The last lines of the transcript, each a JSON object.",
        None,
    )
    scope: Scope = ask(rules.SCOPE, "Who may see the facts.", "session")
    advisor: str | None = ask(
        ADVISED, "Which of the configured models to ask; the usual one when left out, `no` for none.", None
    )
    agent: str | None = ask(OrNone(AGENT_NAME), "The agent that this is asked for.", None)
    later: bool = ask(rules.FLAG, "Answer at once, and let a worker find the facts.", True)
    remind: bool = ask(rules.FLAG, "Without an advisor, ask the agent to save what matters.", True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
        if self.later and self.scope == "global":
            yield Fault("later", "is not possible for facts of scope global; turn it off")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTurn(Answer):
    """What became of the turns of an event: how many were new, which facts were saved at once, and what the hook is to
    print, which its host hands to the agent; nothing if it is empty.
    """

    conversation: str | None
    turns: int
    facts: tuple[ExtractedFact, ...] = ()
    advice: tuple[Advised, ...] = ()
    degraded: tuple[str, ...] = ()
    output: str = ""


@operation("write", "memory.manage", "POST /turns/end", command=None, begins=True)
def end_turn(call: Call, ask: EndTurn) -> EndedTurn:
    event = read_event(ask.event, ask.transcript)
    conversation = call.caller.conversation or event.conversation
    if conversation is None:
        raise invalid(
            "event", "is required to name a conversation, such as session_id: the caller is in none"
        )
    here = replace(call, caller=call.caller.inside(_name(conversation)), once=None)
    turns = (
        () if event.name in _OF_SUBAGENTS else event.turns[-(MOST_TURNS if event.name in _OF_MANY else 1) :]
    )
    if call.advisor.is_there and ask.advisor != NO:
        return _extracted(here, ask, turns)
    is_wanted = ask.remind and not event.is_again and any(map(_is_worth_a_word, turns))
    reminder, output_of = _MANNERS.get(event.name, ("", str))
    return EndedTurn(
        conversation=here.caller.conversation,
        turns=len(turns),
        output=output_of(reminder) if is_wanted and reminder else "",
    )


def _name(conversation: str) -> str:
    try:
        return str(CONVERSATION(conversation))
    except ValueError as reason:
        raise invalid("event", f"is required to name a conversation; what it names {reason}") from None


def _is_worth_a_word(turn: HostTurn) -> bool:
    return not turn.has_saved and len(turn.user.split()) >= _FEWEST_WORDS


def _extracted(call: Call, ask: EndTurn, turns: Sequence[HostTurn]) -> EndedTurn:
    """Extract the facts of each turn that was not handed over before."""
    ended = EndedTurn(conversation=call.caller.conversation, turns=0)
    for turn in turns:
        once = IdempotentRequest(_sent(call, turn), lambda answer: KeptAnswer(200, None, ()))
        wanted = Extract(
            end_of(turn.user),
            assistant_turn=end_of("\n\n".join(turn.assistant)),
            scope=ask.scope,
            turn=turn.digest[:16],
            advisor=ask.advisor,
            agent=ask.agent,
            later=ask.later,
        )
        try:
            done = extract(replace(call, once=once), wanted)
        except DoneBefore:
            continue
        ended = replace(
            ended,
            turns=ended.turns + 1,
            facts=(*ended.facts, *done.facts),
            advice=(*ended.advice, *done.advice),
            degraded=(*ended.degraded, *done.degraded),
        )
    return ended


def _sent(call: Call, turn: HostTurn) -> SentRequest:
    """A turn as a request that must not be done twice: a hook may come more than once, and before the turn is over."""
    key = f"turn {call.caller.conversation} {turn.digest}"
    return SentRequest(call.caller.tenant, call.caller.user, key, "end_turn", turn.digest, call.now)
