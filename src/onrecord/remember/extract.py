"""WHICH facts does a turn hold? An advisor lists them at its end; the new ones are saved with their origin.

Only the words of the user and the assistant are read: not the memories and tool results that programs put into a turn, and
no secrets.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from onrecord.errors import Fault, OnRecordError, StoreUnavailable
from onrecord.model import limits, rules
from onrecord.model.advice import NO, UNADVISED, YES, AdviceInput, Advised
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
from onrecord.remember.put_off import put_off
from onrecord.remember.remember import PreparedSave, Remember, commit, prepare
from onrecord.remember.tag import with_mark
from onrecord.store.ports.records import Writing
from onrecord.text.spoken import said_by_themselves
from onrecord.text.wording import is_same_wording
from onrecord.workspace.agents import paying_agent, settings_of

#: The mark of a fact that no user wrote down.
SOURCE: Final = "auto_extracted"
_NOTHING_SAID: Final = "nothing was said that could be read: every part of the turn was put in by a program"
_PUT_OFF: Final = "it is asked later"
_UNWANTED: Final = "the request wants none"
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
        ADVISED,
        "Which of the configured models to ask; when left out, the one that the agent's settings name, or the usual one.",
        None,
    )
    agent: str | None = ask(OrNone(AGENT_NAME), "The agent that this is asked for.", None)
    later: bool = ask(
        rules.FLAG,
        "Answer at once, and let a worker find the facts; the turn waits for it in the store.",
        False,
    )
    review: bool = ask(rules.FLAG, "Let the facts wait until a person who reviews has approved them.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
        if self.scope == "session" and (self.conversation or caller.conversation) is None:
            yield Fault("conversation", "is required when scope is session: the caller is in no conversation")
        elsewhere = (
            self.conversation is not None and key_of(self.conversation, caller.user) != caller.spoken_in
        )
        if caller.conversation is not None and elsewhere:
            yield Fault("conversation", "is not the conversation that this caller is in; leave it out")
        if self.later and self.scope == "global":
            yield Fault("later", "is not possible for facts of scope global; leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """What the two said themselves in a turn, when, and a digest by which the turn can be found again."""

    user: str
    assistant: str
    at: datetime
    sha256: str

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        both = ("user", self.user), ("assistant", self.assistant)
        return tuple((who, text) for who, text in both if text)


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


class NewFact(NamedTuple):
    """A fact that nobody has saved yet."""

    text: str
    save: PreparedSave


class FoundFacts(NamedTuple):
    """What an advisor found in a turn, as far as it can be saved, and why the rest cannot."""

    facts: tuple[ExtractedFact | NewFact, ...]
    advice: Advised
    failures: tuple[str, ...] = ()


class _Refused(Exception):
    """A fact could not be saved, so its transaction was given up."""

    def __init__(self, fact: NewFact, problem: OnRecordError) -> None:
        super().__init__(f"{fact.text}: {problem}")
        self.fact = fact


@operation("write", "memory.manage", "POST /extract", begins=True)
def extract(call: Call, ask: Extract) -> Extracted:
    """Ask for the facts, and save those that are not known; nothing is open while the advisor is asked."""
    if call.once is not None:
        with call.writing():
            pass  # Repeating a request ends here, with the answer to the first one.
    caller, ask = call.caller, _filled(call, ask)
    if caller.conversation is None and ask.conversation is not None:
        caller = caller.inside(ask.conversation)
    here, said = replace(call, caller=caller), said_in(ask, call.now)
    if ask.later and call.advisor.is_there and said.texts and ask.advisor != NO:
        with here.writing() as writing:
            put_off(here, writing, ask, said)
            return call.done(writing, Extracted(facts=(), advice=(unasked(_PUT_OFF),)))
    found = find_facts(here, ask, said)
    if not found.facts and call.once is None:
        return Extracted(facts=(), advice=(found.advice,), degraded=found.failures)
    return save_facts(here, found)


def _filled(call: Call, ask: Extract) -> Extract:
    """The request with the model that its agent's settings name, if it names none."""
    if ask.agent is None or ask.advisor is not None or not call.advisor.is_there:
        return ask
    return replace(ask, advisor=settings_of(call, ask.agent).extract)


def said_in(ask: Extract, now: datetime) -> SaidTurn:
    """What was said in a turn, without what programs put into it."""
    whole = f"{ask.user_turn}\0{ask.assistant_turn}".encode("utf-8", "surrogatepass")
    return SaidTurn(
        user=said_by_themselves(ask.user_turn),
        assistant=said_by_themselves(ask.assistant_turn),
        at=now,
        sha256=hashlib.sha256(whole).hexdigest(),
    )


def end_of(said: str) -> str:
    """The end of what was said, as much of it as a request may hold, without what cannot be stored."""
    held = said.replace("\0", "").encode("utf-8", "replace")
    return held[-limits.CONTENT_BYTES :].decode("utf-8", "ignore")


def find_facts(call: Call, ask: Extract, said: SaidTurn) -> FoundFacts:
    """Ask for the facts of a turn, and prepare to save those that are not known."""
    if not said.texts or ask.advisor == NO:
        return FoundFacts((), unasked(_UNWANTED if said.texts else _NOTHING_SAID))
    agent = paying_agent(call, ask.agent)
    advised = call.advise("extract", AdviceInput(texts=said.texts), ask.advisor or YES, agent)
    facts, failures = list[ExtractedFact | NewFact](), list[str]()
    call = _by_a_model(call)
    for text in advised.said:
        try:
            known = _known(call, ask, text)
            facts.append(known or NewFact(text, prepare(call, _save_of(call, ask, said, (text, advised)))))
        except OnRecordError as problem:
            failures.append(f"{text}: {problem}")
    return FoundFacts(tuple(facts), advised, tuple(failures))


def save_facts(
    call: Call, found: FoundFacts, is_wanted: Callable[[Writing], bool] = lambda writing: True
) -> Extracted:
    """Save what was found in one transaction, in which `is_wanted` may say that it is wanted no longer. A fact that is
    refused is left out, and the others are saved without it.
    """
    facts, failures, call = [*found.facts], [*found.failures], _by_a_model(call)
    while True:
        home = next((each.save.draft.home for each in facts if isinstance(each, NewFact)), None)
        try:
            with call.writing(tenant=home) as writing:
                saved = tuple(_saved(each, writing) for each in facts) if is_wanted(writing) else ()
                extracted = Extracted(facts=saved, advice=(found.advice,), degraded=tuple(failures))
                return call.done(writing, extracted)
        except _Refused as refused:
            facts.remove(refused.fact)
            failures.append(str(refused))


def _by_a_model(call: Call) -> Call:
    """The call of one who saves what a model wrote: not a person's word, even where a person asked for it."""
    is_person = call.caller.actor == "person"
    return replace(call, caller=replace(call.caller, actor="agent")) if is_person else call


def unasked(note: str) -> Advised:
    return Advised(task="extract", model="", applied=False, note=note)


def _known(call: Call, ask: Extract, text: str) -> ExtractedFact | None:
    """The memory that already says exactly the same to the same readers."""
    if "memory.read" not in call.caller.permissions:
        return None
    asked = Recall(text, limit=_COMPARED, min_relevance=0.0, times="off", **UNADVISED)
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


def _save_of(call: Call, ask: Extract, said: SaidTurn, fact: tuple[str, Advised]) -> Remember:
    text, advised = fact
    return Remember(
        text,
        kind=ask.kind,
        scope=ask.scope,
        # What is for more than one conversation belongs to none.
        conversation=call.caller.conversation if ask.scope == "session" else None,
        source=SOURCE,
        valid_from=said.at,
        metadata=with_mark({"_source": SOURCE, "turn": _turn(call, ask, said)}, advised),
        review=ask.review or call.caller.actor == "unattended",
        auto_tag=NO,
        auto_supersede=NO,
    )


def _saved(fact: ExtractedFact | NewFact, writing: Writing) -> ExtractedFact:
    if isinstance(fact, ExtractedFact):
        return fact
    try:
        saved = commit(fact.save, writing)
    except StoreUnavailable:
        raise
    except OnRecordError as problem:
        raise _Refused(fact, problem) from problem
    outcome: Literal["saved", "waiting", "known"] = "waiting" if saved.memory.status == "pending" else "saved"
    if saved.outcome in ("unchanged", "rejected"):
        outcome = "known"
    return ExtractedFact(text=fact.text, id=saved.memory.id, outcome=outcome)


def _turn(call: Call, ask: Extract, said: SaidTurn) -> dict[str, Any]:
    """The origin of a fact: enough to find the turn again, and none of its text."""
    turn = {"at": f"{said.at:%Y-%m-%dT%H:%M:%SZ}", "sha256": said.sha256}
    named = {"id": ask.turn, "conversation": call.caller.conversation}
    return turn | {name: value for name, value in named.items() if value is not None}
