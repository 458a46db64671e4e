"""WHAT can be asked of memories? To leave, find, correct, end and join them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.caller import Caller
from onrecord.model.limits import (
    Confidence,
    Dimension,
    Direction,
    Kind,
    RelationName,
    Scope,
    Status,
    Times,
)
from onrecord.model.requests.base import (
    AS_OF,
    ENTITIES,
    KINDS,
    KNOWN_AT,
    MAYBE_INSTANT,
    MAYBE_NAME,
    PLACES,
    STATUSES,
    TAGS,
    Request,
    ask,
)
from onrecord.model.requests.workspace import AGENT_NAME, agent_faults
from onrecord.model.rules import ListOf, OrNone
from onrecord.model.unset import UNSET, Unset, given


class Placement(NamedTuple):
    """A scope with the names that it needs: together they say who may see a memory."""

    scope: Scope
    persona: str | None = None
    system: str | None = None
    conversation: str | None = None


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
        MAYBE_NAME, "The conversation it is pinned to; the caller's own when left out.", UNSET
    )
    valid_from: datetime | Unset = ask(
        rules.INSTANT, "Since when this is true; left out, since it was written down.", UNSET
    )
    created_at: datetime | Unset = ask(
        rules.INSTANT, "When a new memory was written down, if that was elsewhere; now when left out.", UNSET
    )
    verified_at: datetime | None | Unset = ask(MAYBE_INSTANT, "When someone last checked it.", UNSET)
    always_inject: bool | Unset = ask(rules.FLAG, "Tell agents this unasked.", UNSET)
    supersedes: Sequence[str] = ask(
        ListOf(rules.ID, at_most=limits.SUPERSEDED_AT_ONCE),
        "Memories that stop being true with this one.",
        (),
    )
    dedupe: bool = ask(rules.FLAG, "Update a near-duplicate in place rather than add a row.", True)
    by_hint_alone: bool = ask(
        rules.FLAG, "Of near-duplicates, look at hints alone: the same content may stand there twice.", False
    )
    dry_run: bool = ask(rules.FLAG, "Tell what would be saved, and save nothing.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from placement_faults(placement_of(self, caller), caller)
        if self.always_inject is True and caller.actor != "person":
            yield Fault("always_inject", "only a person may have a memory told unasked; leave it out")


def placement_of(ask: "Remember", caller: Caller) -> Placement:
    """The placement a save goes to, with what was left out taken from the caller."""
    scope = given(ask.scope, limits.DEFAULT_SCOPE)
    only_persona = next(iter(caller.personas)) if len(caller.personas) == 1 else None
    return Placement(
        scope=scope,
        persona=given(ask.persona, only_persona if scope == "persona" else None),
        system=given(ask.system, None),
        conversation=given(ask.conversation, caller.conversation),
    )


def placement_faults(placement: Placement, caller: Caller) -> Iterator[Fault]:
    """What keeps this caller from saving into this placement."""
    if placement.scope == "global" and not caller.is_admin:
        yield Fault("scope", "global memories are written by an admin; use tenant, or ask one")
    if placement.scope == "persona" and placement.persona is None:
        yield Fault("persona", "is required when scope is persona")
    if placement.persona is not None and not (caller.is_admin or placement.persona in caller.personas):
        yield Fault("persona", f"{placement.persona!a} is not a persona of this caller")
    if placement.scope == "system" and placement.system is None:
        yield Fault("system", "is required when scope is system")
    if placement.system is not None and not (caller.is_admin or caller.reads(placement.system)):
        yield Fault("system", f"{placement.system!a} is not a system this caller has access to")
    if placement.scope == "session" and placement.conversation is None:
        yield Fault("conversation", "is required when scope is session")
    if (
        placement.scope == "session"
        and placement.conversation not in (None, caller.conversation)
        and not caller.is_admin
    ):
        yield Fault("conversation", "a session memory can only be saved from inside its conversation")


@dataclass(frozen=True, slots=True)
class Revise(Request):
    """Correct what a memory says. Only what is given changes; the old text stays in its history."""

    id: str = ask(rules.ID, "The memory to correct.", positional=True)
    expected_version: int | None = ask(
        OrNone(rules.Integer(1, 2**31 - 1)),
        "Fail rather than overwrite if it is no longer at this version.",
        None,
    )
    content: str | Unset = ask(rules.CONTENT, "The new content.", UNSET)
    title: str | Unset = ask(rules.TITLE, "The new title.", UNSET)
    hint: str | None | Unset = ask(OrNone(rules.HINT), "The new hint.", UNSET)
    kind: Kind | Unset = ask(rules.KIND, "The new kind.", UNSET)
    dimension: Dimension | Unset = ask(rules.DIMENSION, "The new dimension.", UNSET)
    tags: Sequence[str] | Unset = ask(TAGS, "The new tags, replacing the old.", UNSET)
    category: str | None | Unset = ask(OrNone(rules.CATEGORY), "The new category.", UNSET)
    confidence: Confidence | Unset = ask(rules.CONFIDENCE, "high, medium or low.", UNSET)
    source: str | None | Unset = ask(OrNone(rules.SOURCE), "The new source.", UNSET)
    metadata: Mapping[str, Any] | Unset = ask(rules.Json(), "The new metadata, replacing the old.", UNSET)
    entities: Sequence[str] | Unset = ask(ENTITIES, "The new references, replacing the old.", UNSET)
    query: Mapping[str, Any] | str | None | Unset = ask(
        OrNone(rules.Json(text_too=True)), "The new example query.", UNSET
    )
    artifact: str | None | Unset = ask(OrNone(rules.NAME), "The new artifact.", UNSET)
    conversation: str | None | Unset = ask(MAYBE_NAME, "The conversation to pin it to; null unpins.", UNSET)
    valid_from: datetime | Unset = ask(rules.INSTANT, "Since when it is true.", UNSET)
    verified_at: datetime | None | Unset = ask(MAYBE_INSTANT, "When someone last checked it.", UNSET)
    always_inject: bool | Unset = ask(rules.FLAG, "Tell agents this unasked.", UNSET)
    status: Status | Unset = ask(
        rules.Choice(("active", "stale")), "active or stale; use retire to end a memory.", UNSET
    )
    status_reason: str | None | Unset = ask(OrNone(rules.REASON), "Why it has this status.", UNSET)
    vouch: bool = ask(rules.FLAG, "As a person: stand for the text as if you had written it.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.always_inject is True and caller.actor != "person":
            yield Fault("always_inject", "only a person may have a memory told unasked; leave it out")
        if self.vouch and caller.actor != "person":
            yield Fault("vouch", "only a person may vouch for a memory; leave it out")


@dataclass(frozen=True, slots=True)
class Retire(Request):
    """Say that a memory is no longer true. It stays readable in the past; a second call changes nothing."""

    id: str = ask(rules.ID, "The memory to retire.", positional=True)
    at: datetime | None = ask(MAYBE_INSTANT, "When it stopped being true; now when left out.", None)
    reason: str | None = ask(OrNone(rules.REASON), "Why it is retired.", None)


@dataclass(frozen=True, slots=True)
class Forget(Request):
    """Erase a memory with its history, its index entries, its relations and every reference to it."""

    id: str = ask(rules.ID, "The memory to erase.", positional=True)
    dry_run: bool = ask(rules.FLAG, "Tell what would be erased, and erase nothing.", False)


@dataclass(frozen=True, slots=True)
class Relate(Request):
    """Draw a typed edge from one memory to another; an edge that exists already is reported, not doubled."""

    source: str = ask(rules.ID, "The memory the edge starts from.", positional=True)
    relation: RelationName = ask(rules.RELATION, f"One of: {', '.join(limits.RELATIONS)}.", positional=True)
    target: str = ask(rules.ID, "The memory it points to.", positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.source == self.target:
            yield Fault("target", "must be another memory: a memory cannot relate to itself")


@dataclass(frozen=True, slots=True)
class Unrelate(Request):
    """Take an edge back. That it existed stays in the past."""

    source: str = ask(rules.ID, "The memory the edge starts from.", positional=True)
    relation: RelationName = ask(rules.RELATION, f"One of: {', '.join(limits.RELATIONS)}.", positional=True)
    target: str = ask(rules.ID, "The memory it points to.", positional=True)


@dataclass(frozen=True, slots=True)
class ListRelations(Request):
    """The tenant's edges between memories that the caller sees, newest first; whether these are still true or not."""

    source: str | None = ask(OrNone(rules.ID), "Only from this memory.", None)
    target: str | None = ask(OrNone(rules.ID), "Only to this memory.", None)
    relation: RelationName | None = ask(OrNone(rules.RELATION), "Only of this kind.", None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 200)
    after: str | None = ask(OrNone(rules.NAME), "Go on after the page that gave this mark.", None)


@dataclass(frozen=True, slots=True)
class RemoveRelation(Request):
    """Take an edge of the tenant back by its number. That it existed stays in the past."""

    id: str = ask(rules.ID, "The edge to take back.", positional=True)


@dataclass(frozen=True, slots=True)
class Recall(Request):
    """Ask a question and get back the memories that bear on it, best first.

    The question is plain words, never query syntax. Kinds and tags given here raise a memory; they hide none.
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
    conversation: str | None = ask(
        MAYBE_NAME, "Where one is: what is pinned there ranks higher. The caller's own when left out.", None
    )
    elsewhere: bool = ask(rules.FLAG, "Look also among what is pinned to other conversations.", True)
    created_since: datetime | None = ask(MAYBE_INSTANT, "Only written down at or after this time.", None)
    updated_before: datetime | None = ask(MAYBE_INSTANT, "Only last updated before this time.", None)
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)
    recipe: str = ask(rules.NAME, "Which way of searching: auto, lexical, semantic, entity, graph …", "auto")
    intent: bool = ask(rules.FLAG, "Let cue words of the question raise the kinds they speak of.", True)
    times: Times = ask(
        rules.Choice(limits.TIMES),
        "What times that the question names do: raise what became true then (soft), drop the rest (hard), or nothing (off).",
        "soft",
    )
    decay: bool = ask(rules.FLAG, "Let old memories weigh less.", False)
    half_life_days: int = ask(rules.Integer(1, 36_500), "How fast they do, with decay.", 90)
    decay_floor: float = ask(rules.Fraction(), "What is left of the oldest, with decay.", 0.5)
    session_places: int = ask(PLACES, "Places kept for this conversation's own memories.", 2)
    profile_places: int = ask(PLACES, "Places kept for the tenant's memories.", 4)
    global_places: int = ask(PLACES, "Places kept for global memories.", 2)
    query_limit: int | None = ask(
        OrNone(rules.Integer(0, limits.RECALL_LIMIT)),
        "Give example queries in a list of their own, so many at most.",
        None,
    )
    max_tokens: int | None = ask(
        OrNone(rules.Integer(0, 10_000_000)), "Stop before the hits cost more tokens than this to read.", None
    )
    agent: str | None = ask(
        OrNone(AGENT_NAME), "The agent whose settings count where this request leaves something open.", None
    )
    explain: bool = ask(rules.FLAG, "Show what each layer did.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class Show(Request):
    """Read one memory with its relations, whatever its status; with a time, as it was then."""

    id: str = ask(rules.ID, "The memory to read.", positional=True)
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)


@dataclass(frozen=True, slots=True)
class Browse(Request):
    """List memories, last updated first. Here kinds, tags and the rest are filters."""

    kinds: Sequence[Kind] = ask(KINDS, "Only these kinds.", ())
    dimensions: Sequence[Dimension] = ask(
        ListOf(rules.DIMENSION, at_most=len(limits.DIMENSIONS)), "Only these dimensions.", ()
    )
    tags: Sequence[str] = ask(TAGS, "Only with one of these tags.", ())
    scopes: Sequence[Scope] = ask(ListOf(rules.SCOPE, at_most=len(limits.SCOPES)), "Only these scopes.", ())
    statuses: Sequence[Status] = ask(STATUSES, "Only these statuses; active when left out.", ())
    entities: Sequence[str] = ask(ENTITIES, "Only about one of these.", ())
    system: str | None = ask(MAYBE_NAME, "Only of this system.", None)
    conversation: str | None = ask(MAYBE_NAME, "Only pinned to this conversation.", None)
    unpinned: bool = ask(rules.FLAG, "With a conversation: also what is pinned to none.", False)
    created_since: datetime | None = ask(MAYBE_INSTANT, "Only written down at or after this time.", None)
    updated_since: datetime | None = ask(MAYBE_INSTANT, "Only updated at or after this time.", None)
    updated_before: datetime | None = ask(MAYBE_INSTANT, "Only last updated before this time.", None)
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(OrNone(rules.NAME), "Go on after the page that gave this mark.", None)


@dataclass(frozen=True, slots=True)
class Neighbours(Request):
    """Walk the relations around one memory."""

    id: str = ask(rules.ID, "The memory to start from.", positional=True)
    depth: int = ask(rules.Integer(1, limits.NEIGHBOUR_DEPTH), "How many steps to walk.", 1)
    relations: Sequence[RelationName] = ask(
        ListOf(rules.RELATION, at_most=len(limits.RELATIONS)), "Only along these relations.", ()
    )
    direction: Direction = ask(rules.Choice(limits.DIRECTIONS), "Along edges out, in or both.", "both")
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)
    limit: int = ask(rules.Integer(1, limits.NEIGHBOUR_LIMIT), "How many edges at most.", 50)


@dataclass(frozen=True, slots=True)
class History(Request):
    """Every version of one memory: who changed what, and when."""

    id: str = ask(rules.ID, "The memory.", positional=True)


@dataclass(frozen=True, slots=True)
class Diff(Request):
    """What changed in what we know between two times."""

    since: datetime = ask(rules.INSTANT, "The earlier time.", positional=True)
    until: datetime | None = ask(MAYBE_INSTANT, "The later time; now when left out.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.until is not None and self.until < self.since:
            yield Fault("until", "must not be before since")
