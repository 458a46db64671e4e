"""WHICH facts does a turn hold? An advisor lists them at its end; what is new of them is saved, each with where it came from.

Only what the two said themselves is read: not the memories and tools' answers that programs put into a turn, and no secrets.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from onrecord.errors import Fault, OnRecordError
from onrecord.model import limits, rules
from onrecord.model.advice import NO, YES, AdviceInput, Advised
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION, key_of
from onrecord.model.limits import Kind, Scope
from onrecord.model.memory import Memory
from onrecord.model.request import ADVISED, IN_CONVERSATION, MAYBE_NAME, Request, ask
from onrecord.model.rules import OrNone
from onrecord.operation import Call, operation
from onrecord.recall.recall import Recall, recall
from onrecord.remember.remember import Remember, remember
from onrecord.remember.tag import with_mark
from onrecord.text.spoken import said_by_themselves
from onrecord.text.wording import is_same_wording
from onrecord.workspace.agents import paying_agent

#: The mark of a fact that nobody wrote down themselves.
SOURCE: Final = "auto_extracted"
_NOTHING_SAID: Final = "nothing was said that could be read: the turn holds only what programs put into it"
_PUT_OFF: Final = "it is asked later"
_COMPARED: Final = 5


@dataclass(frozen=True, slots=True)
class Extract(Request):
    """Save the facts that an advisor finds in a turn of a conversation; what is known already is not saved again.

    They are for this conversation alone unless another scope is given. What an unattended run extracts waits for review.
    """

    user_turn: str = ask(rules.Text(at_most=limits.CONTENT_BYTES), "What the user said.", positional=True)
    assistant_turn: str = ask(rules.Text(at_most=limits.CONTENT_BYTES), "What the assistant answered.", "")
    scope: Scope = ask(rules.SCOPE, "Who may see the facts.", "session")
    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)
    kind: Kind = ask(rules.KIND, "What kind of memory they are.", "fact")
    turn: str | None = ask(MAYBE_NAME, "What your program calls this turn; kept with each fact.", None)
    advisor: str | None = ask(
        ADVISED, "Which of the configured models to ask; the usual one when left out.", None
    )
    agent: str | None = ask(OrNone(AGENT_NAME), "The agent that this is asked for.", None)
    later: bool = ask(
        rules.FLAG, "Answer at once, and find the facts afterwards: as long as this process runs.", False
    )
    review: bool = ask(rules.FLAG, "Let the facts wait until a person who reviews has approved them.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
        if self.scope == "session" and (self.conversation or caller.conversation) is None:
            yield Fault("conversation", "is required when scope is session: the caller is in none")
        elsewhere = (
            self.conversation is not None and key_of(self.conversation, caller.user) != caller.spoken_in
        )
        if caller.conversation is not None and elsewhere:
            yield Fault("conversation", "is not the conversation that this caller is in; leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact(Answer):
    """A fact of a turn, and the memory that holds it: a new one, one that waits for review, or one that said it before."""

    text: str
    id: str
    outcome: Literal["saved", "waiting", "known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted(Answer):
    """The facts of a turn. Without an advisor, or if it gives no usable answer, there are none, and `advice` says why;
    `degraded` says which could not be saved.
    """

    facts: tuple[ExtractedFact, ...]
    advice: tuple[Advised, ...]
    degraded: tuple[str, ...] = ()


@operation("write", "memory.manage", "POST /extract", begins=True)
def extract(call: Call, ask: Extract) -> Extracted:
    """Ask for the facts, and save each that is not known; nothing is open while the advisor is asked."""
    if call.once is not None:
        with call.writing():
            """Whoever sent the same before is told what was done then."""
    caller = call.caller
    if caller.conversation is None and ask.conversation is not None:
        caller = caller.inside(ask.conversation)
    apart = replace(call, once=None, caller=caller)
    is_put_off = ask.later and call.advisor.later(lambda: _extracted(apart, ask))
    done = Extracted(facts=(), advice=(_unasked(_PUT_OFF),)) if is_put_off else _extracted(apart, ask)
    if call.once is None:
        return done
    with call.writing() as writing:
        return call.done(writing, done)


def _extracted(call: Call, ask: Extract) -> Extracted:
    texts = {"user": said_by_themselves(ask.user_turn), "assistant": said_by_themselves(ask.assistant_turn)}
    if not any(texts.values()):
        return Extracted(facts=(), advice=(_unasked(_NOTHING_SAID),))
    if ask.advisor == NO:
        return Extracted(facts=(), advice=(_unasked("the request wants none"),))
    shown = AdviceInput(texts=tuple((who, text) for who, text in texts.items() if text))
    advised = call.advise("extract", shown, ask.advisor or YES, paying_agent(call, ask.agent))
    facts, failures = list[ExtractedFact](), list[str]()
    for text in advised.said:
        try:
            facts.append(_known(call, ask, text) or _saved(call, ask, text, advised))
        except OnRecordError as problem:
            failures.append(f"{text}: {problem}")
    return Extracted(facts=tuple(facts), advice=(advised,), degraded=tuple(failures))


def _unasked(note: str) -> Advised:
    return Advised(task="extract", model="", applied=False, note=note)


def _known(call: Call, ask: Extract, text: str) -> ExtractedFact | None:
    """The memory that says the very same already to those who are to know it."""
    if "memory.read" not in call.caller.permissions:
        return None
    asked = Recall(text, limit=_COMPARED, min_relevance=0.0, times="off", expand=NO, rerank=NO)
    for hit in recall(call, asked).hits:
        if is_same_wording(text, hit.memory.content) and _reaches(hit.memory, call.caller, ask.scope):
            return ExtractedFact(text=text, id=hit.memory.id, outcome="known")
    return None


def _reaches(memory: Memory, caller: Caller, scope: Scope) -> bool:
    """Whether all who are to see a fact see this memory."""
    if memory.scope == "session":
        return scope == "session" and memory.pinned == caller.spoken_in
    if memory.scope == "user":
        return scope in ("session", "user") and memory.owner == caller.user
    return memory.scope == "global" or (memory.scope == "tenant" and scope != "global")


def _saved(call: Call, ask: Extract, text: str, advised: Advised) -> ExtractedFact:
    saved = remember(
        call,
        Remember(
            text,
            kind=ask.kind,
            scope=ask.scope,
            # What is for more than one conversation belongs to none.
            conversation=call.caller.conversation if ask.scope == "session" else None,
            source=SOURCE,
            metadata=with_mark({"_source": SOURCE, "turn": _turn(call, ask)}, advised),
            review=ask.review or call.caller.actor == "unattended",
            auto_tag=NO,
            auto_supersede=NO,
        ),
    )
    outcome: Literal["saved", "waiting", "known"] = "waiting" if saved.memory.status == "pending" else "saved"
    if saved.outcome in ("unchanged", "turned_down"):
        outcome = "known"
    return ExtractedFact(text=text, id=saved.memory.id, outcome=outcome)


def _turn(call: Call, ask: Extract) -> dict[str, Any]:
    """Where a fact came from: enough to find the turn again, and none of its text."""
    said = f"{ask.user_turn}\0{ask.assistant_turn}".encode("utf-8", "surrogatepass")
    told = {"at": f"{call.now:%Y-%m-%dT%H:%M:%SZ}", "sha256": hashlib.sha256(said).hexdigest()}
    named = {"id": ask.turn, "conversation": call.caller.conversation}
    return told | {name: value for name, value in named.items() if value is not None}
