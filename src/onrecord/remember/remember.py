"""HOW does a text become a row? Read the two tuples top to bottom: that is the whole write path.

PREPARE runs first and holds no connection, so a step there may ask a model. COMMIT runs inside the one
transaction in which the tenant has no other writer, so what it finds is still true when it writes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import Any, Final, NamedTuple

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.advice import YES, AdviceInput, Advised
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer, Note
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION
from onrecord.model.edits import EDITS, Edit
from onrecord.model.findings import RejectedProposal, Similar
from onrecord.model.limits import Alike, Confidence, Dimension, Kind, Scope, Unknown
from onrecord.model.memory import Memory
from onrecord.model.request import ADVISED, ENTITIES, MAYBE_INSTANT, MAYBE_NAME, TAGS, WHOM, Request, ask
from onrecord.model.rules import ListOf, OrNone
from onrecord.model.unset import UNSET, Unset
from onrecord.operation import Call, operation
from onrecord.providers.advising import is_wanted
from onrecord.remember.alike import compare, similar_to
from onrecord.remember.check import check
from onrecord.remember.cut import cut
from onrecord.remember.dedupe import dedupe
from onrecord.remember.draft import Outcome, SaveDraft, SaveTools
from onrecord.remember.dry_run import dry_run
from onrecord.remember.embed import embed, keep_vectors
from onrecord.remember.enter import enter
from onrecord.remember.identify import identify
from onrecord.remember.link import link
from onrecord.remember.placement import placement_faults, placement_of
from onrecord.remember.refer import read_query, refer
from onrecord.remember.save import save
from onrecord.remember.scrub import scrub
from onrecord.remember.supersede import defer, supersede
from onrecord.remember.tag import tag
from onrecord.remember.within_limits import within_limits
from onrecord.store.ports.records import Writing
from onrecord.workspace.agents import paying_agent, settings_of


@dataclass(frozen=True, slots=True)
class Remember(Request):
    """Leave something worth knowing later: a correction, a decision, how a thing really works.

    Saving with the id of a live memory updates it; a hint like an earlier one, or the very same content,
    updates that memory in place. Secrets are taken out before anything is stored.
    """

    content: str = ask(rules.CONTENT, "What to remember (up to 64 KiB).", positional=True)
    id: str | Unset = ask(rules.ID, "An id of your own; left out, the next whole number is used.", UNSET)
    kind: Kind | Unset = ask(rules.KIND, f"One of: {', '.join(limits.KINDS)}.", UNSET)
    dimension: Dimension | Unset = ask(rules.DIMENSION, "The second axis; each kind has its default.", UNSET)
    title: str | Unset = ask(
        rules.TITLE, "A short name; left out, it is cut from the hint or content.", UNSET
    )
    hint: str | None | Unset = ask(OrNone(rules.HINT), "What this is and when to recall it.", UNSET)
    tags: Sequence[str] | Unset = ask(TAGS, "Free words to find it by (up to 32).", UNSET)
    category: str | None | Unset = ask(OrNone(rules.CATEGORY), "A heading of your own.", UNSET)
    confidence: Confidence | Unset = ask(rules.CONFIDENCE, "high, medium or low.", UNSET)
    source: str | None | Unset = ask(OrNone(rules.SOURCE), "Where this comes from.", UNSET)
    metadata: Mapping[str, Any] | Unset = ask(rules.Json(), "Anything else, as a JSON object.", UNSET)
    entities: Sequence[str] | Unset = ask(ENTITIES, "What it is about: names, or memory:<id>.", UNSET)
    query: Mapping[str, Any] | str | None | Unset = ask(
        OrNone(rules.Json(text_too=True)), "An example query this memory carries.", UNSET
    )
    artifact: str | None | Unset = ask(OrNone(rules.NAME), "The artifact it describes.", UNSET)
    scope: Scope | Unset = ask(rules.SCOPE, f"Who may see it: {', '.join(limits.SCOPES)}.", UNSET)
    persona: str | None | Unset = ask(MAYBE_NAME, "The persona of a persona-scoped memory.", UNSET)
    system: str | None | Unset = ask(MAYBE_NAME, "The system of a system-scoped memory.", UNSET)
    conversation: str | None | Unset = ask(
        MAYBE_CONVERSATION,
        "The conversation it is pinned to; the one you are in when left out, and none for a global memory.",
        UNSET,
    )
    valid_from: datetime | Unset = ask(
        rules.INSTANT, "Since when this is true; left out, since it was written down.", UNSET
    )
    created_at: datetime | Unset = ask(
        rules.INSTANT, "When a new memory was written down, if that was elsewhere; now when left out.", UNSET
    )
    verified_at: datetime | None | Unset = ask(MAYBE_INSTANT, "When someone last checked it.", UNSET)
    always_inject: bool | Unset = ask(
        rules.FLAG, "Give this to agents without asking; if an agent sets it, it waits for a person.", UNSET
    )
    supersedes: Sequence[str] = ask(
        ListOf(rules.ID, at_most=limits.SUPERSEDED_AT_ONCE),
        "Memories that stop being true with this one.",
        (),
    )
    edits: Sequence[Edit | Mapping[str, Any]] | Unset = ask(
        EDITS, "Changes to the catalog that it proposes: it then waits until a person has approved it.", UNSET
    )
    review: bool = ask(rules.FLAG, "Let it wait until a person who reviews has approved it.", False)
    dedupe: bool = ask(rules.FLAG, "Update a near-duplicate in place rather than add a row.", True)
    by_hint_alone: bool = ask(
        rules.FLAG, "Compare hints alone, so that the same content may be saved twice.", False
    )
    alike: Alike = ask(
        rules.Choice(limits.ALIKE),
        "What to do about memories of yours that say nearly the same: keep both, tell which they are, or supersede those "
        "that say the very same in almost the same words.",
        "tell",
    )
    what_is_new: str | None = ask(
        OrNone(rules.REASON),
        "If the same was rejected before: what has changed since, for the reviewer.",
        None,
    )
    unknown: Unknown = ask(
        rules.Choice(limits.UNKNOWN),
        "Things that the catalog does not know: refuse them, or keep them as given with a warning.",
        "refuse",
    )
    auto_tag: str | None = ask(ADVISED, f"Let an advisor add 2 to 4 tags: {WHOM}.", None)
    auto_supersede: str | None = ask(
        ADVISED,
        f"Let an advisor end the nearest of its kind that this directly contradicts, unless it supersedes any itself: {WHOM}.",
        None,
    )
    agent: str | None = ask(
        OrNone(AGENT_NAME),
        "The agent whose settings say whether an advisor is asked, and who pays for it.",
        None,
    )
    dry_run: bool = ask(rules.FLAG, "Say what would be saved, and save nothing.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
        yield from placement_faults(placement_of(self, caller), caller)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Answer):
    """A save that is on disk. `scrubbed` counts the secrets that were taken out of it.

    A save that would change a text of a higher tier is `proposed`: `memory` is the proposal, and answers keep the old
    text. `similar` are memories of the same owner for the same readers that say nearly the same, most similar first;
    `rejected` are proposals like this one that were rejected or rolled back. If one of those ended, is the same and
    nothing is new, the outcome is `rejected`, nothing is saved, and `memory` is the rejected one. `degraded` lists what could not be done
    now and will be done later. `advice` is what each advisor did: the tags that it
    added, and the memories that ended because it flagged them, which are listed in `superseded` too.
    """

    memory: Memory
    outcome: Outcome
    scrubbed: int = 0
    superseded: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    trace: tuple[Note, ...] = ()
    #: Nothing was saved; a new memory would have got this id, had no one come before.
    dry_run: bool = False
    advice: tuple[Advised, ...] = ()


PREPARE: Final[tuple[Callable[[SaveDraft, SaveTools], SaveDraft], ...]] = (
    check,
    scrub,
    tag,
    read_query,
    cut,
    embed,
)
COMMIT: Final[tuple[Callable[[SaveDraft, Writing, SaveTools], SaveDraft], ...]] = (
    identify,
    link,
    enter,
    refer,
    dedupe,
    compare,
    defer,
    save,
    within_limits,
    supersede,
    keep_vectors,
)
STEPS: Final[tuple[Callable[..., SaveDraft], ...]] = (*PREPARE, *COMMIT)


class PreparedSave(NamedTuple):
    """A save that only needs its transaction, which may be repeated."""

    draft: SaveDraft
    tools: SaveTools
    trace: tuple[Note, ...]


@operation("write", "memory.manage", "POST /memories", begins=True)
def remember(call: Call, ask: Remember) -> Remembered:
    """Run each step; the answer comes after the commit."""
    prepared = prepare(call, ask)
    ask = prepared.draft.ask
    with dry_run(ask.dry_run) as trial, call.writing(tenant=prepared.draft.home) as writing:
        saved = call.done(writing, commit(prepared, writing))
        trial.end()
    return end_what_it_contradicts(call, ask, saved)


def end_what_it_contradicts(call: Call, ask: Remember, saved: Remembered) -> Remembered:
    """Let an advisor end what the saved memory contradicts, if that is wanted."""
    if not is_wanted(ask.auto_supersede):
        return saved
    # Few saves ask for it, and it loads the whole search.
    from onrecord.remember.contradict import end_contradicted

    told = end_contradicted(call, ask, saved)
    if told is not saved:
        call.amend(told)
    return told


def prepare(call: Call, ask: Remember) -> PreparedSave:
    """Run the steps that hold no connection."""
    draft, tools = begun(call, ask)
    trace: list[Note] = []
    for step in PREPARE:
        draft = _timed(step, trace, draft, tools)
    return PreparedSave(draft, tools, tuple(trace))


def begun(call: Call, ask: Remember) -> tuple[SaveDraft, SaveTools]:
    """A save before its first step, and what its steps may use."""
    ask = _filled(call, ask)
    # Without being compared, a dry run has no use for vectors.
    embedder = None if ask.dry_run and ask.alike == "keep" else call.embedders.current
    tools = SaveTools(
        store=call.store,
        embedder=embedder,
        saves_per_run=call.policy.saves_per_run,
        advise=_for_tags(call, ask),
    )
    return SaveDraft(caller=call.caller, ask=ask, now=call.now), tools


def commit(prepared: PreparedSave, writing: Writing) -> Remembered:
    """Run the steps of the transaction, which may save more than this."""
    draft, tools, trace = prepared.draft, prepared.tools, [*prepared.trace]
    for step in COMMIT:
        if draft.outcome != "rejected":
            draft = _timed(step, trace, draft, writing, tools)
    return Remembered(
        memory=draft.ready,
        outcome=draft.outcome,
        scrubbed=draft.scrubbed,
        superseded=draft.superseded,
        similar=similar_to(draft),
        rejected=draft.rejected,
        degraded=draft.degraded,
        warnings=draft.warnings,
        trace=tuple(trace),
        dry_run=draft.ask.dry_run,
        advice=draft.advice,
    )


def _filled(call: Call, ask: Remember) -> Remember:
    """The request with whether an advisor is asked: by itself, by its agent, or else by its tenant."""
    if ask.agent is not None:
        settings = settings_of(call, ask.agent)
        ask = replace(
            ask,
            auto_tag=ask.auto_tag or settings.auto_tag,
            auto_supersede=ask.auto_supersede or settings.auto_supersede,
        )
    if not call.advisor.is_there or (ask.auto_tag is not None and ask.auto_supersede is not None):
        return ask
    usual = call.standing_advice()
    return replace(
        ask,
        auto_tag=ask.auto_tag or (YES if "tag" in usual else None),
        auto_supersede=ask.auto_supersede or (YES if "supersede" in usual else None),
    )


def _for_tags(call: Call, ask: Remember) -> Callable[[AdviceInput], Advised] | None:
    """Asks for tags, where they are wanted. Nothing leaves the machine for a dry run."""
    model = ask.auto_tag
    if model is None or not is_wanted(model) or ask.dry_run:
        return None
    agent = paying_agent(call, ask.agent)
    return lambda shown: call.advise("tag", shown, model, agent)


def _timed(step: Callable[..., SaveDraft], trace: list[Note], *arguments: Any) -> SaveDraft:
    started = perf_counter()
    draft = step(*arguments)
    trace.append(Note(name=step.__name__, ms=(perf_counter() - started) * 1000))
    return draft
