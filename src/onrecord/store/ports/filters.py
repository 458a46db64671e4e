"""WHAT can a store be asked for by its fields? Filters; the requests that list things have these fields."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION
from onrecord.model.feedback import VERDICTS, Verdict
from onrecord.model.limits import (
    AuditOutcome,
    ChangesetState,
    CheckState,
    Confidence,
    Dimension,
    Direction,
    Kind,
    ListOrder,
    ProposalFilter,
    RelationName,
    Scope,
    Status,
    TallyBy,
)
from onrecord.model.request import (
    AS_OF,
    DIMENSIONS,
    ENTITIES,
    KINDS,
    KNOWN_AT,
    MAYBE_INSTANT,
    MAYBE_NAME,
    MAYBE_PROPOSAL,
    ONLY_PROPOSALS,
    OWNERS,
    STATUSES,
    TAGS,
    Request,
    ask,
)
from onrecord.model.rules import Choice, Integer, ListOf, OrNone

_CATEGORIES: Final = ListOf(rules.CATEGORY, at_most=limits.FILTER_NAMES)
_CONFIDENCES: Final = ListOf(rules.CONFIDENCE, at_most=len(limits.CONFIDENCES))
_SOURCES: Final = ListOf(rules.SOURCE, at_most=limits.FILTER_NAMES)


@dataclass(frozen=True, slots=True)
class MemoryCriteria(Request):
    """Which memories, of those that the caller sees."""

    kinds: Sequence[Kind] = ask(KINDS, "Only these kinds.", ())
    dimensions: Sequence[Dimension] = ask(DIMENSIONS, "Only these dimensions.", ())
    tags: Sequence[str] = ask(TAGS, "Only with one of these tags.", ())
    scopes: Sequence[Scope] = ask(ListOf(rules.SCOPE, at_most=len(limits.SCOPES)), "Only these scopes.", ())
    statuses: Sequence[Status] = ask(STATUSES, "Only these statuses; active when left out.", ())
    entities: Sequence[str] = ask(ENTITIES, "Only about one of these.", ())
    categories: Sequence[str] = ask(_CATEGORIES, "Only with one of these headings.", ())
    confidences: Sequence[Confidence] = ask(_CONFIDENCES, "Only with one of these confidences.", ())
    sources: Sequence[str] = ask(_SOURCES, "Only from one of these sources.", ())
    owners: Sequence[str] = ask(OWNERS, "Only of one of these users.", ())
    proposal: ProposalFilter | None = ask(MAYBE_PROPOSAL, ONLY_PROPOSALS, None)
    check_states: Sequence[CheckState] = ask(
        ListOf(Choice(limits.CHECK_STATES), at_most=len(limits.CHECK_STATES)),
        f"Only with checks, of which came this: {', '.join(limits.CHECK_STATES)}.",
        (),
    )
    has_query: bool | None = ask(
        OrNone(rules.FLAG), "Only with an example query; if false, only without one.", None
    )
    persona: str | None = ask(MAYBE_NAME, "Only of this persona.", None)
    system: str | None = ask(MAYBE_NAME, "Only of this system.", None)
    conversation: str | None = ask(MAYBE_CONVERSATION, "Only pinned to this conversation.", None)
    unpinned: bool = ask(rules.FLAG, "With a conversation: also memories that are pinned to none.", False)
    created_since: datetime | None = ask(
        MAYBE_INSTANT, "Only memories written down at or after this time.", None
    )
    created_before: datetime | None = ask(MAYBE_INSTANT, "Only memories written down before this time.", None)
    updated_since: datetime | None = ask(MAYBE_INSTANT, "Only updated at or after this time.", None)
    updated_before: datetime | None = ask(MAYBE_INSTANT, "Only memories last updated before this time.", None)
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)


@dataclass(frozen=True, slots=True)
class MemoryFilter(MemoryCriteria):
    """A page of memories: last updated, last written down or first written down first."""

    order: ListOrder = ask(
        rules.Choice(limits.LIST_ORDERS),
        "Last updated first, last written down (created) first, or first written down (oldest) first.",
        "updated",
    )
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(OrNone(rules.NAME), "Continue after the page that returned this mark.", None)
    skip: int = ask(rules.Integer(0, limits.BROWSE_SKIP), "Leave out so many before the page.", 0)
    count: bool = ask(rules.FLAG, "Also count all that match, on whichever page.", False)


@dataclass(frozen=True, slots=True)
class TallyFilter(MemoryCriteria):
    """Groups of memories that share a value, the largest first."""

    by: TallyBy = ask(
        rules.Choice(limits.TALLIES),
        f"What to count by: {', '.join(limits.TALLIES)}.",
        "status",
        positional=True,
    )
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many groups at most.", 50)


@dataclass(frozen=True, slots=True)
class RelationWalk(Request):
    """A walk along the relations around one memory."""

    id: str = ask(rules.ID, "The memory to start from.", positional=True)
    depth: int = ask(rules.Integer(1, limits.NEIGHBOUR_DEPTH), "How many steps to walk.", 1)
    relations: Sequence[RelationName] = ask(
        ListOf(rules.RELATION, at_most=len(limits.RELATIONS)), "Only along these relations.", ()
    )
    direction: Direction = ask(rules.Choice(limits.DIRECTIONS), "Along relations out, in or both.", "both")
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)
    limit: int = ask(rules.Integer(1, limits.NEIGHBOUR_LIMIT), "How many relations at most.", 50)


@dataclass(frozen=True, slots=True)
class RelationFilter(Request):
    """Which edges of the tenant, newest first."""

    source: str | None = ask(OrNone(rules.ID), "Only from this memory.", None)
    target: str | None = ask(OrNone(rules.ID), "Only to this memory.", None)
    relation: RelationName | None = ask(OrNone(rules.RELATION), "Only of this kind.", None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 200)
    after: str | None = ask(OrNone(rules.NAME), "Continue after the page that returned this mark.", None)


@dataclass(frozen=True, slots=True)
class ChangeFilter(Request):
    """Which changes between two times: memories first, then new edges, then removed ones."""

    since: datetime = ask(rules.INSTANT, "The earlier time.", positional=True)
    until: datetime | None = ask(MAYBE_INSTANT, "The later time; now when left out.", None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many changes on a page.", 50)
    after: str | None = ask(OrNone(rules.NAME), "Continue after the page that returned this mark.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.until is not None and self.until < self.since:
            yield Fault("until", "must not be before since")


@dataclass(frozen=True, slots=True)
class AuditFilter(Request):
    """Which lines of the audit, newest first."""

    user: str | None = ask(MAYBE_NAME, "Only by this user.", None)
    subject: str | None = ask(MAYBE_NAME, "Only about this memory, key or tenant.", None)
    outcome: AuditOutcome | None = ask(
        OrNone(Choice(limits.AUDIT_OUTCOMES)), f"Only {' or '.join(limits.AUDIT_OUTCOMES)}.", None
    )
    since: datetime | None = ask(MAYBE_INSTANT, "Only at or after this time.", None)
    limit: int = ask(Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(MAYBE_NAME, "Continue after the page that returned this mark.", None)


@dataclass(frozen=True, slots=True)
class ConversationFilter(Request):
    """Which conversations of the tenant, newest first."""

    agent: str | None = ask(MAYBE_NAME, "Only those of this agent.", None)
    name: str | None = ask(MAYBE_NAME, "Only those of this name, whoever began them.", None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(MAYBE_NAME, "Continue after the page that returned this mark.", None)


@dataclass(frozen=True, slots=True)
class ChangesetFilter(Request):
    """Which changesets of the tenant, newest first."""

    id: str | None = ask(OrNone(rules.ID), "Only this one.", None, positional=True)
    entity: str | None = ask(
        OrNone(rules.Reference()), "Only of this entity, or of what it is a part of.", None
    )
    states: Sequence[ChangesetState] = ask(
        ListOf(Choice(limits.CHANGESET_STATES), at_most=len(limits.CHANGESET_STATES)),
        f"Only in these states: {', '.join(limits.CHANGESET_STATES)}.",
        (),
    )
    by: str | None = ask(MAYBE_NAME, "Only applied by this user.", None)
    since: datetime | None = ask(MAYBE_INSTANT, "Only applied at or after this time.", None)
    before: datetime | None = ask(MAYBE_INSTANT, "Only applied before this time.", None)
    limit: int = ask(Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    skip: int = ask(Integer(0, limits.BROWSE_SKIP), "Leave out so many before the page.", 0)


@dataclass(frozen=True, slots=True)
class FeedbackFilter(Request):
    """Which feedback, newest first."""

    id: str | None = ask(OrNone(rules.ID), "Only on this memory.", None)
    question: str | None = ask(
        OrNone(rules.Text(at_least=1, at_most=limits.QUESTION_CHARACTERS)), "Only for this question.", None
    )
    verdict: Verdict | None = ask(OrNone(Choice(VERDICTS)), "Only this verdict.", None)
    user: str | None = ask(MAYBE_NAME, "Only by this user.", None)
    limit: int = ask(Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(MAYBE_NAME, "Continue after the page that returned this mark.", None)
