"""HOW does a question become an answer? Read LAYERS top to bottom: that is the whole pipeline.

READ runs first and holds no connection, so a layer there may ask a model. FIND, ORDER and SHARE run on one
consistent state of the store.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from onrecord.catalog.known_names import known_names, meant
from onrecord.catalog.lineage import neighbours_of
from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.advice import RERANK_WHEN, Advised, RerankWhen
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer, Note
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.findings import Background
from onrecord.model.limits import Dimension, Kind, ProposalFilter, Scope, Status, Times
from onrecord.model.request import (
    ADVISED,
    AS_OF,
    DIMENSIONS,
    ENTITIES,
    KINDS,
    KNOWN_AT,
    MAYBE_INSTANT,
    MAYBE_NAME,
    MAYBE_PROPOSAL,
    ONLY_PROPOSALS,
    ONLY_VERIFIED,
    OWNERS,
    PLACES,
    STATUSES,
    TAGS,
    Request,
    ask,
    request_fields,
)
from onrecord.model.rules import ListOf, OrNone
from onrecord.model.workspace import AgentSettings, ConversationKey
from onrecord.operation import Call, operation
from onrecord.providers.embedding import Embedder, Embedders
from onrecord.recall.advice import (
    EXPAND,
    RERANK,
    RERANK_FINE,
    WHEN,
    Wishes,
    in_other_words,
    joined,
    looked_at_again,
    read_shown,
    unadvised,
    wishes_of,
)
from onrecord.recall.background import BACKGROUND, background_of
from onrecord.recall.boosts import (
    boost_kind_and_tags,
    boost_pinned,
    boost_times,
    boost_verified,
    decay_with_age,
    sink_failed,
)
from onrecord.recall.channels import keep_eligible, score_all
from onrecord.recall.datasources import lower_other_datasources
from onrecord.recall.definitions import boost_definitions
from onrecord.recall.depth import find_in_order
from onrecord.recall.draft import RecallDraft, RecallTools, page_after
from onrecord.recall.draft import replace as with_changes
from onrecord.recall.fusion import fuse
from onrecord.recall.graduated import graduate, weigh_fields
from onrecord.recall.graph import expand_links
from onrecord.recall.hits import Hit
from onrecord.recall.lexical import raise_pairs, search_lexical, weigh_words
from onrecord.recall.neighbours import boost_next_turn, lower_questions
from onrecord.recall.question import embed_question, read_kinds, read_windows, read_words
from onrecord.recall.recipes import recipe_named
from onrecord.recall.references import search_references
from onrecord.recall.relevance import judge_relevance
from onrecord.recall.rerank import diversify, rerank
from onrecord.recall.run import Layer, Run
from onrecord.recall.semantic import compare_others, coverage_gap, knows_most, search_semantic
from onrecord.recall.sharing import fit_tokens, read_hits, share_places
from onrecord.recall.term_counts import count_terms
from onrecord.store.ports.records import Reading
from onrecord.workspace.agents import settings_of

#: A question with settings of an agent among its fields.
Filled = TypeVar("Filled", bound=Request)

READ: Final[tuple[Layer, ...]] = (read_words, read_kinds, read_windows, embed_question)
FIND: Final[tuple[Layer, ...]] = (
    weigh_words,
    search_lexical,
    search_semantic,
    search_references,
    keep_eligible,
    score_all,
    compare_others,
    raise_pairs,
    count_terms,
    weigh_fields,
)
ORDER: Final[tuple[Layer, ...]] = (
    fuse,
    rerank,
    boost_next_turn,
    expand_links,
    lower_questions,
    boost_definitions,
    lower_other_datasources,
    boost_kind_and_tags,
    boost_times,
    boost_pinned,
    boost_verified,
    sink_failed,
    decay_with_age,
    diversify,
    graduate,
    judge_relevance,
)
SHARE: Final[tuple[Layer, ...]] = (share_places, read_hits, fit_tokens)
LAYERS: Final[tuple[Layer, ...]] = (*READ, *FIND, *ORDER, *SHARE)
MIN_RELEVANCE: Final = "Only hits whose relevance, from 0 to 1, is at least this; 0 for all. The recipe's own floor when left out."


@dataclass(frozen=True, slots=True)
class Recall(Request):
    """Ask a question and get the relevant memories, best first.

    The question is plain words, not query syntax. Kinds and tags given here raise a memory; they hide none.
    """

    question: str = ask(
        rules.Text(at_most=limits.QUESTION_CHARACTERS),
        "What you want to know, in plain words.",
        positional=True,
    )
    limit: int = ask(rules.Integer(1, limits.RECALL_LIMIT), "How many at most.", 10)
    kinds: Sequence[Kind] = ask(KINDS, "Kinds that rank higher.", ())
    tags: Sequence[str] = ask(TAGS, "Tags that rank higher.", ())
    entities: Sequence[str] = ask(ENTITIES, "Things it should be about; those rank higher.", ())
    statuses: Sequence[Status] = ask(STATUSES, "Statuses to look among; only active when left out.", ())
    scopes: Sequence[Scope] = ask(
        ListOf(rules.SCOPE, at_most=len(limits.SCOPES)),
        "Only memories of these scopes; all when left out.",
        (),
    )
    only_kinds: Sequence[Kind] = ask(KINDS, "Only memories of these kinds; all when left out.", ())
    only_dimensions: Sequence[Dimension] = ask(DIMENSIONS, "Only memories of these dimensions.", ())
    only_tags: Sequence[str] = ask(TAGS, "Only memories with one of these tags.", ())
    only_entities: Sequence[str] = ask(ENTITIES, "Only memories about one of these.", ())
    only_owners: Sequence[str] = ask(OWNERS, "Only memories of these users.", ())
    only_metadata: Mapping[str, Any] | None = ask(
        OrNone(rules.Json()),
        "Only memories whose metadata has these values, as a JSON object; 1 and 1.0 are the same.",
        None,
    )
    only_verified: bool = ask(rules.FLAG, ONLY_VERIFIED, False)
    proposal: ProposalFilter | None = ask(MAYBE_PROPOSAL, ONLY_PROPOSALS, None)
    conversation: str | None = ask(
        MAYBE_CONVERSATION,
        "Memories pinned to this conversation rank higher; the one you are in when left out.",
        None,
    )
    elsewhere: bool = ask(rules.FLAG, "Also look at memories pinned to other conversations.", True)
    created_since: datetime | None = ask(
        MAYBE_INSTANT, "Only memories written down at or after this time.", None
    )
    updated_before: datetime | None = ask(MAYBE_INSTANT, "Only memories last updated before this time.", None)
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)
    recipe: str = ask(rules.NAME, "Which way of searching: auto, lexical, semantic, entity, graph …", "auto")
    intent: bool = ask(
        rules.FLAG, "Let cue words of the question raise the kinds of memory they hint at.", True
    )
    times: Times = ask(
        rules.Choice(limits.TIMES),
        "What a time in the question does: it raises what became true then (soft), drops the rest (hard), or nothing (off).",
        "soft",
    )
    decay: bool = ask(rules.FLAG, "Let old memories weigh less.", False)
    half_life_days: int = ask(
        rules.Integer(1, 36_500), "With decay: after how many days old memories weigh less.", 90
    )
    decay_floor: float = ask(
        rules.Fraction(), "With decay: the share of its score that the oldest memory keeps.", 0.5
    )
    conversation_places: int = ask(PLACES, "Places kept for this conversation's own memories.", 2)
    tenant_places: int = ask(PLACES, "Places kept for the tenant's memories.", 4)
    global_places: int = ask(PLACES, "Places kept for global memories.", 2)
    query_limit: int | None = ask(
        OrNone(rules.Integer(0, limits.RECALL_LIMIT)),
        "Return example queries in a list of their own, at most so many.",
        None,
    )
    max_tokens: int | None = ask(
        OrNone(rules.Integer(0, 10_000_000)), "Stop before the hits cost more tokens than this to read.", None
    )
    agent: str | None = ask(
        OrNone(AGENT_NAME), "The agent whose settings fill in what this request leaves open.", None
    )
    min_relevance: float | None = ask(OrNone(rules.Fraction()), MIN_RELEVANCE, None)
    lineage: int = ask(
        rules.Integer(0, limits.LINEAGE_STEPS),
        "Also look at what the given things are made from or go into, so many steps away.",
        0,
    )
    background: bool = ask(rules.FLAG, BACKGROUND, False)
    expand: str | None = ask(ADVISED, EXPAND, None)
    rerank: str | None = ask(ADVISED, RERANK, None)
    rerank_fine: str | None = ask(ADVISED, RERANK_FINE, None)
    rerank_when: RerankWhen | None = ask(OrNone(rules.Choice(RERANK_WHEN)), WHEN, None)
    explain: bool = ask(rules.FLAG, "Show what each layer did.", False)
    after: str | None = ask(MAYBE_NAME, "Continue after the answer that returned this mark.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
        try:
            page_after(self.after)
        except ValueError as reason:
            yield Fault("after", str(reason))
        if self.after is not None and self.max_tokens is not None:
            yield Fault("after", "cannot be combined with max_tokens; ask for fewer with limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Answer):
    """The hits, best first; `degraded` says what could not be done, so that a failure never looks like an empty
    answer.

    `ranking` is the recipe, `channels` those that were asked, `tokens` an estimate of what the hits cost to read.
    `queries` holds example queries if they were requested separately. `looked_at` counts the memories that the caller
    sees, and `best_relevance` is that of the best of them: without hits, it says how close they came. `next` asks for
    the hits that follow, among as many as the first answer looked at; example queries are listed once, with the
    first. `background` is that of each hit and then of each example query, if it was asked for. `advice` is what became of
    each question to an advisor.
    """

    hits: tuple[Hit, ...]
    ranking: str
    queries: tuple[Hit, ...] = ()
    channels: tuple[str, ...] = ()
    tokens: int = 0
    looked_at: int = 0
    best_relevance: float = 0.0
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    trace: tuple[Note, ...] = ()
    next: str | None = None
    background: tuple[Background, ...] = ()
    advice: tuple[Advised, ...] = ()

    def why_nothing(self) -> str:
        """The text for an answer without hits: what was looked at, and how close it came."""
        if not self.looked_at:
            return "Nothing found: there are no memories here yet."
        many = self.looked_at > 1
        there = f"none of the {self.looked_at:,} memories here is" if many else "the one memory here is not"
        nothing = f"Nothing found: {there} relevant to this."
        if not self.best_relevance:
            return nothing
        return f"{nothing} The closest has a relevance of {self.best_relevance:.2f}; ask with a lower min_relevance to see it."


@operation("read", "memory.read", "POST /recall")
def recall(call: Call, ask: Recall) -> Recalled:
    """Search with the embedding model that has most vectors: after a change of models that is the old one, until the new
    one has caught up.
    """
    if ask.agent is not None:
        ask = filled(ask, settings_of(call, ask.agent))
    if ask.proposal is not None and not ask.statuses:
        ask = replace(ask, statuses=limits.STATUSES)
    wishes = wishes_of(call, ask)
    questions, advice = in_other_words(call, ask, wishes)
    found = _found(call, ask, questions, wishes)
    if found.answer is not None:
        return replace(found.answer, advice=(*advice, *unadvised(call, wishes)))
    done = found.done
    done.draft, more = looked_at_again(call, done.draft, wishes)
    done.through(SHARE, RecallTools())
    answer = replace(_answer(done, ask, found.size, found.gaps), advice=(*advice, *more))
    if not ask.background:
        return answer
    with call.reading() as reading:
        return _with_background(answer, reading)


class _Found(NamedTuple):
    """What a search found: the whole answer, or what an advisor is to put in order first."""

    done: Run
    size: int
    gaps: tuple[str, ...]
    answer: Recalled | None = None


def _found(call: Call, ask: Recall, questions: Sequence[str], wishes: Wishes) -> _Found:
    """Search for a question and its paraphrases on one state of the store."""
    recipe, embedders = recipe_named(ask.recipe), call.embedders
    embedder, asked_before = embedders.current, False
    while True:
        runs = [
            Run(
                RecallDraft(
                    caller=call.caller, ask=replace(ask, question=question), now=call.now, recipe=recipe
                ),
                ask.explain,
            )
            for question in questions
        ]
        for run in runs:
            run.through(READ, RecallTools(embedder=embedder))
        with call.reading() as reading:
            older = None if asked_before else _knows_more(reading, runs[0].draft.model, embedders)
            if older is None:
                tools = RecallTools(embedder=embedder, opened=reading)
                for run in runs:
                    run.draft = _placed(run.draft, reading)
                    find_in_order(run, (*FIND, *ORDER), tools)
                done = _joined(runs)
                gaps = _gaps(done.draft, reading, embedder)
                if wishes.reorders and call.advisor.is_there:
                    # Read now, with whatever an advisor may put first: nothing is open while it is asked.
                    done.draft = read_shown(share_places(done.draft, tools), tools)
                    return _Found(done, reading.size, gaps)
                done.through(SHARE, tools)
                answer = _answer(done, ask, reading.size, gaps)
                answer = _with_background(answer, reading) if ask.background else answer
                return _Found(done, reading.size, gaps, answer)
        embedder, asked_before = older, True


def _placed(draft: RecallDraft, reading: Reading) -> RecallDraft:
    """The draft with what only the store knows: names, the conversation, and the given things' neighbours."""
    known = _with_known_names(draft.ask, reading)
    return with_changes(
        draft,
        ask=known,
        conversation=_asked_in(reading, draft.ask),
        neighbours=neighbours_of(known.entities, draft.ask.lineage, reading),
    )


def _joined(runs: Sequence[Run]) -> Run:
    """One run out of those of a question and its paraphrases."""
    trace = [note for run in runs for note in run.trace]
    return Run(joined([run.draft for run in runs]), runs[0].explain, trace)


def _with_background(answer: Recalled, reading: Reading) -> Recalled:
    shown = [hit.memory for hit in (*answer.hits, *answer.queries)]
    return replace(answer, background=background_of(shown, reading))


def _with_known_names(ask: Recall, reading: Reading) -> Recall:
    """The question about things under every name by which memories may refer to them."""
    if not ask.entities and not ask.only_entities:
        return ask
    return replace(
        ask,
        entities=known_names(meant(ask.entities, reading), reading),
        only_entities=known_names(ask.only_entities, reading),
    )


def _asked_in(reading: Reading, ask: Recall) -> ConversationKey | None:
    """The conversation that a question names, or else the one that its caller is in."""
    if ask.conversation is not None:
        return reading.workspace.named(ask.conversation).key
    here = reading.workspace.here
    return None if here is None else here.key


def _knows_more(reading: Reading, model: EmbeddingModel | None, embedders: Embedders) -> Embedder | None:
    """The embedder of another model that has more of these memories' vectors, if it is available."""
    if model is None:
        return None
    best = knows_most(reading, model)
    return None if best == model else embedders.open(best)


def _gaps(draft: RecallDraft, reading: Reading, embedder: Embedder | None) -> tuple[str, ...]:
    """What the answer lacks although nothing failed: an embedder, or the vectors of some memories."""
    if "semantic" not in draft.recipe.weights or not draft.ask.question.strip():
        return ()
    if embedder is None:
        return ("semantic: no embedder is configured",)
    if draft.model is None:
        return ()
    gap = coverage_gap(reading, draft.model, "memories")
    return (f"semantic: {gap}",) if gap else ()


def _answer(done: Run, ask: Recall, looked_at: int, gaps: tuple[str, ...]) -> Recalled:
    draft = done.draft
    failures = tuple(dict.fromkeys(f"{note.name}: {note.failed}" for note in done.trace if note.failed))
    return Recalled(
        hits=draft.hits,
        queries=draft.query_hits,
        ranking=draft.recipe.name,
        channels=tuple(sorted(draft.found)),
        tokens=draft.tokens,
        looked_at=looked_at,
        best_relevance=round(draft.best_relevance, 4),
        degraded=failures + gaps,
        warnings=draft.warnings,
        trace=tuple(done.trace) if ask.explain else (),
        next=draft.next,
    )


def filled(ask: Filled, settings: AgentSettings) -> Filled:
    """A question whose open fields are taken from an agent's settings; what it says itself counts."""
    left_open = {each.name for each in request_fields(ask) if getattr(ask, each.name) == each.default}
    kept = {each.name: getattr(settings, each.name) for each in fields(settings)}
    given: Any = ask
    done: Filled = replace(
        given, **{name: value for name, value in kept.items() if name in left_open and value is not None}
    )
    return done
