"""WHAT can be asked? One frozen value per operation; its fields carry their rule and their help.

The docstring of a request and the help of its fields are what every surface shows.
`UNSET` means "not given": it never overwrites anything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeVar

from recollect.errors import Fault, Invalid
from recollect.model import limits, rules
from recollect.model.caller import Caller
from recollect.model.catalog import ENTITY_KINDS, EntityKind
from recollect.model.limits import (
    Confidence,
    Dimension,
    Direction,
    Kind,
    RelationName,
    Scope,
    Status,
    Times,
)
from recollect.model.rules import Listing, OrNone, Rule
from recollect.model.unset import UNSET, Unset, given

Asked = TypeVar("Asked", bound="Request")


def ask(rule: Rule, help: str, default: Any = MISSING, *, positional: bool = False) -> Any:
    """A field of a request: its rule, what a person is told about it, and its default."""
    return field(default=default, kw_only=not positional, metadata={"rule": rule, "help": help})


class Request:
    """What every request shares: it can name its own faults."""

    __slots__ = ()

    def faults(self, caller: Caller) -> Iterable[Fault]:
        """What is wrong with the fields taken together, for this caller."""
        return ()


def request_fields(request: type[Request] | Request) -> tuple[Field[Any], ...]:
    return fields(request)  # type: ignore[arg-type]


def checked(request: Asked, caller: Caller) -> Asked:
    """The request with clean values, or Invalid with every fault at once."""
    clean: dict[str, Any] = {}
    faults: list[Fault] = []
    for each in request_fields(request):
        value = getattr(request, each.name)
        if isinstance(value, Unset):
            continue
        try:
            clean[each.name] = each.metadata["rule"](value)
        except ValueError as reason:
            faults.append(Fault(each.name, str(reason)))
    broken = {fault.field for fault in faults}
    tidy = replace(request, **clean)  # type: ignore[type-var]
    faults += [fault for fault in tidy.faults(caller) if fault.field not in broken]
    if faults:
        raise Invalid(faults)
    return tidy


_KINDS: Final = Listing(rules.KIND, at_most=len(limits.KINDS))
_TAGS: Final = Listing(rules.TAG, at_most=limits.TAGS)
_STATUSES: Final = Listing(rules.STATUS, at_most=len(limits.STATUSES))
_ENTITIES: Final = Listing(rules.Reference(), at_most=limits.ENTITIES)
_PLACES: Final = rules.Whole(0, limits.RECALL_LIMIT)
_MAYBE_NAME: Final = OrNone(rules.NAME)
_MAYBE_INSTANT: Final = OrNone(rules.INSTANT)

_AS_OF: Final = "Ask what was true at this time (ISO 8601, UTC unless it says otherwise)."
_KNOWN_AT: Final = "Ask what was known at this time."


class Room(NamedTuple):
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
    tags: Sequence[str] | Unset = ask(_TAGS, "Free words to find it by (up to 32).", UNSET)
    category: str | None | Unset = ask(OrNone(rules.CATEGORY), "A heading of your own.", UNSET)
    confidence: Confidence | Unset = ask(rules.CONFIDENCE, "high, medium or low.", UNSET)
    source: str | None | Unset = ask(OrNone(rules.SOURCE), "Where this comes from.", UNSET)
    metadata: Mapping[str, Any] | Unset = ask(rules.Json(), "Anything else, as a JSON object.", UNSET)
    entities: Sequence[str] | Unset = ask(_ENTITIES, "What it is about: names, or memory:<id>.", UNSET)
    query: Mapping[str, Any] | str | None | Unset = ask(
        OrNone(rules.Json(text_too=True)), "An example query this memory carries.", UNSET
    )
    artifact: str | None | Unset = ask(OrNone(rules.NAME), "The artifact it describes.", UNSET)
    scope: Scope | Unset = ask(rules.SCOPE, f"Who may see it: {', '.join(limits.SCOPES)}.", UNSET)
    persona: str | None | Unset = ask(_MAYBE_NAME, "The persona of a persona-scoped memory.", UNSET)
    system: str | None | Unset = ask(_MAYBE_NAME, "The system of a system-scoped memory.", UNSET)
    conversation: str | None | Unset = ask(
        _MAYBE_NAME, "The conversation it is pinned to; the caller's own when left out.", UNSET
    )
    valid_from: datetime | Unset = ask(rules.INSTANT, "Since when this is true; now when left out.", UNSET)
    verified_at: datetime | None | Unset = ask(_MAYBE_INSTANT, "When someone last checked it.", UNSET)
    always_inject: bool | Unset = ask(rules.FLAG, "Tell agents this unasked.", UNSET)
    supersedes: Sequence[str] = ask(
        Listing(rules.ID, at_most=limits.SUPERSEDED_AT_ONCE),
        "Memories that stop being true with this one.",
        (),
    )
    dedupe: bool = ask(rules.FLAG, "Update a near-duplicate in place rather than add a row.", True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from room_faults(room_of(self, caller), caller)
        if self.always_inject is True and caller.actor != "person":
            yield Fault("always_inject", "only a person may have a memory told unasked; leave it out")


def room_of(ask: "Remember", caller: Caller) -> Room:
    """The room a save goes to, with what was left out taken from the caller."""
    scope = given(ask.scope, limits.DEFAULT_SCOPE)
    only_persona = next(iter(caller.personas)) if len(caller.personas) == 1 else None
    return Room(
        scope=scope,
        persona=given(ask.persona, only_persona if scope == "persona" else None),
        system=given(ask.system, None),
        conversation=given(ask.conversation, caller.conversation),
    )


def room_faults(room: Room, caller: Caller) -> Iterator[Fault]:
    """What keeps this caller from saving into this room."""
    if room.scope == "global" and not caller.is_admin:
        yield Fault("scope", "global memories are written by an admin; use tenant, or ask one")
    if room.scope == "persona" and room.persona is None:
        yield Fault("persona", "is required when scope is persona")
    if room.persona is not None and not (caller.is_admin or room.persona in caller.personas):
        yield Fault("persona", f"{room.persona!a} is not a persona of this caller")
    if room.scope == "system" and room.system is None:
        yield Fault("system", "is required when scope is system")
    if room.system is not None and not (caller.is_admin or caller.reads(room.system)):
        yield Fault("system", f"{room.system!a} is not a system this caller has access to")
    if room.scope == "session" and room.conversation is None:
        yield Fault("conversation", "is required when scope is session")
    if (
        room.scope == "session"
        and room.conversation not in (None, caller.conversation)
        and not caller.is_admin
    ):
        yield Fault("conversation", "a session memory can only be saved from inside its conversation")


@dataclass(frozen=True, slots=True)
class Revise(Request):
    """Correct what a memory says. Only what is given changes; the old text stays in its history."""

    id: str = ask(rules.ID, "The memory to correct.", positional=True)
    expected_version: int | None = ask(
        OrNone(rules.Whole(1, 2**31 - 1)),
        "Fail rather than overwrite if it is no longer at this version.",
        None,
    )
    content: str | Unset = ask(rules.CONTENT, "The new content.", UNSET)
    title: str | Unset = ask(rules.TITLE, "The new title.", UNSET)
    hint: str | None | Unset = ask(OrNone(rules.HINT), "The new hint.", UNSET)
    kind: Kind | Unset = ask(rules.KIND, "The new kind.", UNSET)
    dimension: Dimension | Unset = ask(rules.DIMENSION, "The new dimension.", UNSET)
    tags: Sequence[str] | Unset = ask(_TAGS, "The new tags, replacing the old.", UNSET)
    category: str | None | Unset = ask(OrNone(rules.CATEGORY), "The new category.", UNSET)
    confidence: Confidence | Unset = ask(rules.CONFIDENCE, "high, medium or low.", UNSET)
    source: str | None | Unset = ask(OrNone(rules.SOURCE), "The new source.", UNSET)
    metadata: Mapping[str, Any] | Unset = ask(rules.Json(), "The new metadata, replacing the old.", UNSET)
    entities: Sequence[str] | Unset = ask(_ENTITIES, "The new references, replacing the old.", UNSET)
    query: Mapping[str, Any] | str | None | Unset = ask(
        OrNone(rules.Json(text_too=True)), "The new example query.", UNSET
    )
    artifact: str | None | Unset = ask(OrNone(rules.NAME), "The new artifact.", UNSET)
    conversation: str | None | Unset = ask(_MAYBE_NAME, "The conversation to pin it to; null unpins.", UNSET)
    valid_from: datetime | Unset = ask(rules.INSTANT, "Since when it is true.", UNSET)
    verified_at: datetime | None | Unset = ask(_MAYBE_INSTANT, "When someone last checked it.", UNSET)
    always_inject: bool | Unset = ask(rules.FLAG, "Tell agents this unasked.", UNSET)
    status: Status | Unset = ask(
        rules.Choice(("active", "stale")), "active or stale; use retire to end a memory.", UNSET
    )
    status_reason: str | None | Unset = ask(OrNone(rules.REASON), "Why it has this status.", UNSET)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.always_inject is True and caller.actor != "person":
            yield Fault("always_inject", "only a person may have a memory told unasked; leave it out")


@dataclass(frozen=True, slots=True)
class Retire(Request):
    """Say that a memory is no longer true. It stays readable in the past; a second call changes nothing."""

    id: str = ask(rules.ID, "The memory to retire.", positional=True)
    at: datetime | None = ask(_MAYBE_INSTANT, "When it stopped being true; now when left out.", None)
    reason: str | None = ask(OrNone(rules.REASON), "Why it is retired.", None)


@dataclass(frozen=True, slots=True)
class Forget(Request):
    """Erase a memory with its history, its index entries, its relations and every reference to it."""

    id: str = ask(rules.ID, "The memory to erase.", positional=True)


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
class Recall(Request):
    """Ask a question and get back the memories that bear on it, best first.

    The question is plain words, never query syntax. Kinds and tags given here raise a memory; they hide none.
    """

    question: str = ask(
        rules.Text(at_most=limits.QUESTION_CHARACTERS),
        "What you want to know, in plain words.",
        positional=True,
    )
    limit: int = ask(rules.Whole(1, limits.RECALL_LIMIT), "How many at most.", 10)
    kinds: Sequence[Kind] = ask(_KINDS, "Kinds that rank higher.", ())
    tags: Sequence[str] = ask(_TAGS, "Tags that rank higher.", ())
    entities: Sequence[str] = ask(_ENTITIES, "Things it should be about; those rank higher.", ())
    statuses: Sequence[Status] = ask(_STATUSES, "Statuses to look among; only active when left out.", ())
    as_of: datetime | None = ask(_MAYBE_INSTANT, _AS_OF, None)
    known_at: datetime | None = ask(_MAYBE_INSTANT, _KNOWN_AT, None)
    recipe: str = ask(rules.NAME, "Which way of searching: auto, lexical, semantic, entity, graph …", "auto")
    intent: bool = ask(rules.FLAG, "Let cue words of the question raise the kinds they speak of.", True)
    times: Times = ask(
        rules.Choice(limits.TIMES),
        "What times that the question names do: raise what became true then (soft), drop the rest (hard), or nothing (off).",
        "soft",
    )
    decay: bool = ask(rules.FLAG, "Let old memories weigh less.", False)
    half_life_days: int = ask(rules.Whole(1, 36_500), "How fast they do, with decay.", 90)
    decay_floor: float = ask(rules.Share(), "What is left of the oldest, with decay.", 0.5)
    session_places: int = ask(_PLACES, "Places kept for this conversation's own memories.", 2)
    profile_places: int = ask(_PLACES, "Places kept for the tenant's memories.", 4)
    global_places: int = ask(_PLACES, "Places kept for global memories.", 2)
    query_limit: int | None = ask(
        OrNone(rules.Whole(0, limits.RECALL_LIMIT)),
        "Give example queries in a list of their own, so many at most.",
        None,
    )
    max_tokens: int | None = ask(
        OrNone(rules.Whole(0, 10_000_000)), "Stop before the hits cost more tokens than this to read.", None
    )
    explain: bool = ask(rules.FLAG, "Show what each layer did.", False)


@dataclass(frozen=True, slots=True)
class Show(Request):
    """Read one memory with its relations, whatever its status; with a time, as it was then."""

    id: str = ask(rules.ID, "The memory to read.", positional=True)
    as_of: datetime | None = ask(_MAYBE_INSTANT, _AS_OF, None)
    known_at: datetime | None = ask(_MAYBE_INSTANT, _KNOWN_AT, None)


@dataclass(frozen=True, slots=True)
class Browse(Request):
    """List memories, last updated first. Here kinds, tags and the rest are filters."""

    kinds: Sequence[Kind] = ask(_KINDS, "Only these kinds.", ())
    dimensions: Sequence[Dimension] = ask(
        Listing(rules.DIMENSION, at_most=len(limits.DIMENSIONS)), "Only these dimensions.", ()
    )
    tags: Sequence[str] = ask(_TAGS, "Only with one of these tags.", ())
    scopes: Sequence[Scope] = ask(Listing(rules.SCOPE, at_most=len(limits.SCOPES)), "Only these scopes.", ())
    statuses: Sequence[Status] = ask(_STATUSES, "Only these statuses; active when left out.", ())
    entities: Sequence[str] = ask(_ENTITIES, "Only about one of these.", ())
    system: str | None = ask(_MAYBE_NAME, "Only of this system.", None)
    conversation: str | None = ask(_MAYBE_NAME, "Only pinned to this conversation.", None)
    updated_since: datetime | None = ask(_MAYBE_INSTANT, "Only updated at or after this time.", None)
    as_of: datetime | None = ask(_MAYBE_INSTANT, _AS_OF, None)
    known_at: datetime | None = ask(_MAYBE_INSTANT, _KNOWN_AT, None)
    limit: int = ask(rules.Whole(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(OrNone(rules.NAME), "Go on after the page that gave this mark.", None)


@dataclass(frozen=True, slots=True)
class Neighbours(Request):
    """Walk the relations around one memory."""

    id: str = ask(rules.ID, "The memory to start from.", positional=True)
    depth: int = ask(rules.Whole(1, limits.NEIGHBOUR_DEPTH), "How many steps to walk.", 1)
    relations: Sequence[RelationName] = ask(
        Listing(rules.RELATION, at_most=len(limits.RELATIONS)), "Only along these relations.", ()
    )
    direction: Direction = ask(rules.Choice(limits.DIRECTIONS), "Along edges out, in or both.", "both")
    as_of: datetime | None = ask(_MAYBE_INSTANT, _AS_OF, None)
    known_at: datetime | None = ask(_MAYBE_INSTANT, _KNOWN_AT, None)
    limit: int = ask(rules.Whole(1, limits.NEIGHBOUR_LIMIT), "How many edges at most.", 50)


@dataclass(frozen=True, slots=True)
class History(Request):
    """Every version of one memory: who changed what, and when."""

    id: str = ask(rules.ID, "The memory.", positional=True)


@dataclass(frozen=True, slots=True)
class Diff(Request):
    """What changed in what we know between two times."""

    since: datetime = ask(rules.INSTANT, "The earlier time.", positional=True)
    until: datetime | None = ask(_MAYBE_INSTANT, "The later time; now when left out.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.until is not None and self.until < self.since:
            yield Fault("until", "must not be before since")


@dataclass(frozen=True, slots=True)
class Export(Request):
    """Write everything of this tenant and the global memories to a JSONL file, history included."""

    path: str = ask(rules.Text(at_least=1), "The file to write; - is standard output.", positional=True)
    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)


@dataclass(frozen=True, slots=True)
class Import(Request):
    """Read an export. What is already here in the same form is left as it is, so it can be repeated."""

    path: str = ask(rules.Text(at_least=1), "The file to read; - is standard input.", positional=True)
    keep_tenants: bool = ask(rules.FLAG, "Restore each tenant under its own name.", False)
    skip_conflicts: bool = ask(rules.FLAG, "Keep what is here where an id holds something else.", False)


@dataclass(frozen=True, slots=True)
class Backup(Request):
    """Write a consistent copy of the whole store while others go on writing."""

    path: str = ask(rules.Text(at_least=1), "The file to write.", positional=True)


@dataclass(frozen=True, slots=True)
class Doctor(Request):
    """Check that windows, versions, index and edges agree with the rows, and say what does not."""


@dataclass(frozen=True, slots=True)
class Search(Request):
    """Find what was learned about some things: by the entities named, by a draft of a query, by a question, or all.

    Notes, example queries and entities each have a list of their own, and a cap that changes no other list.
    What is not understood is told as a warning; with nothing given, the newest memories come back.
    """

    question: str | None = ask(
        OrNone(rules.Text(at_most=limits.QUESTION_CHARACTERS)), "In plain words.", None, positional=True
    )
    entities: Sequence[str] = ask(
        Listing(rules.Text(at_most=limits.ENTITY_CHARACTERS), at_most=limits.ENTITIES),
        "Models, columns or measures, in any form that names them.",
        (),
    )
    query: Mapping[str, Any] | None = ask(OrNone(rules.Json()), "A draft of a query over models.", None)
    datasource: str | None = ask(_MAYBE_NAME, "Only what is about this datasource.", None)
    max_memories: int = ask(rules.Whole(0, limits.RECALL_LIMIT), "How many notes at most.", 5)
    max_example_queries: int = ask(
        rules.Whole(0, limits.RECALL_LIMIT), "How many example queries at most.", 2
    )
    max_entities: int = ask(rules.Whole(0, limits.RECALL_LIMIT), "How many entities at most.", 5)


@dataclass(frozen=True, slots=True)
class Ingest(Request):
    """Let the catalog learn what there is: from model files, a live database, or what dbt has written.

    What is given is told apart by looking at it. Doing it again takes in what has changed; what is no longer there is
    retired, and taken out of the references of memories, which keep their text.
    """

    path: str = ask(
        rules.Text(at_least=1, at_most=4_096),
        "A folder of model files, a manifest.json of dbt or its folder, a SQLite file, or the URL of a database.",
        positional=True,
    )
    datasource: str | None = ask(_MAYBE_NAME, "What to call the datasource; else its own name.", None)
    schema: str | None = ask(_MAYBE_NAME, "Which schema of a database; else its default.", None)
    sample_values: int = ask(rules.Whole(0, 100), "Keep so many example values of each column.", 0)
    dry_run: bool = ask(rules.FLAG, "Tell what would change, and change nothing.", False)


@dataclass(frozen=True, slots=True)
class ListEntities(Request):
    """List what memories can be about, by name: datasources, or what is of a kind or lies inside another."""

    inside: str | None = ask(
        _MAYBE_NAME,
        "The datasource or model to look into, such as shop or shop.orders.",
        None,
        positional=True,
    )
    kind: EntityKind | None = ask(
        OrNone(rules.Choice(ENTITY_KINDS)), f"Only of this kind: {', '.join(ENTITY_KINDS)}.", None
    )
    limit: int = ask(rules.Whole(1, 10_000), "How many at most.", 100)


@dataclass(frozen=True, slots=True)
class Inspect(Request):
    """Look at a model: its columns, measures, joins, what they lead to, and what was learned about it."""

    model: str = ask(rules.NAME, "The model, such as orders or shop.orders.", positional=True)
    data_source: str | None = ask(_MAYBE_NAME, "Its datasource, if several have a model of that name.", None)
    sections: Sequence[str] | None = ask(
        OrNone(Listing(rules.NAME, at_most=50)), "Only these sections; all when left out.", None
    )
    show_sql: bool = ask(rules.FLAG, "Show the SQL behind columns and measures.", False)
    descriptions_max_chars: int | None = ask(
        OrNone(rules.Whole(0, 100_000)), "Cut descriptions to so many characters.", None
    )
    reachable_fields_depth: int = ask(rules.Whole(0, 20), "How many joins to follow.", 5)
    num_rows: int = ask(rules.Whole(0, 100), "How many example values of a column.", 3)


@dataclass(frozen=True, slots=True)
class DropEntity(Request):
    """Take a datasource, a model or a part of one out of the catalog, and out of the references of every memory.

    Memories keep their text, also those that lose their last reference.
    """

    entity: str = ask(
        rules.Reference(), "What to take out, such as shop.orders or shop.orders.amount.", positional=True
    )
    kind: Literal["datasource", "model"] | None = ask(
        OrNone(rules.Choice(("datasource", "model"))), "Refuse unless it is this.", None
    )
    data_source: str | None = ask(
        _MAYBE_NAME, "The datasource of a model, if several have one of that name.", None
    )
    parts: Sequence[str] | None = ask(
        OrNone(Listing(rules.NAME, at_most=10_000, at_least=1)),
        "Only these columns, measures or aggregations of the model: all or none of them.",
        None,
    )


@dataclass(frozen=True, slots=True)
class Prioritise(Request):
    """Say which datasources come first where a bare name is in several."""

    datasources: Sequence[str] = ask(
        Listing(rules.NAME, at_most=1_000), "Most wanted first; the others follow by name.", ()
    )


@dataclass(frozen=True, slots=True)
class Reindex(Request):
    """Rebuild everything derived from the rows. The rows themselves are not touched."""


@dataclass(frozen=True, slots=True)
class EmbedMissing(Request):
    """Make the vectors that are missing: of what was saved while no embedder could be reached, or by another model.

    A text that has its vectors is never embedded again.
    """

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)
    anew: bool = ask(rules.FLAG, "Give up the vectors that are there and make all of them anew.", False)


@dataclass(frozen=True, slots=True)
class ShowStatus(Request):
    """How the store stands: where it is, how many memories have vectors, what waits and what failed."""

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)
