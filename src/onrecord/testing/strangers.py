"""WHO must not see what? Memories in every scope, callers who may not see them, and everything these callers can try."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.errors import NotFound, OnRecordError
from onrecord.model.caller import Caller
from onrecord.model.checks import CheckRun
from onrecord.model.collections import ENTITIES, Home
from onrecord.model.embedding import Passage, embedded_text, text_hash
from onrecord.model.limits import GLOBAL_TENANT, PERMISSIONS, SCOPES, STATUSES, Scope
from onrecord.model.memory import Change, Memory, RowPlace
from onrecord.model.when import When
from onrecord.recall.hits import Hit
from onrecord.service import OnRecord
from onrecord.store.index.entries import reference_facet
from onrecord.store.index.search import match_of
from onrecord.store.ports.filters import (
    ChangeFilter,
    ChangesetFilter,
    MemoryFilter,
    RelationFilter,
    RelationWalk,
    TallyFilter,
)
from onrecord.store.ports.index import Found, Key, Match, Near
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store
from onrecord.testing.builders import HOME, START, Clock, administrator, person, written
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from onrecord.text import Token, question_terms

OWNER: Final = person("ann", personas=frozenset({"chef"}), systems={"crm": "manage"}, conversation="talk")
_ROOMS: Final[dict[Scope, dict[str, str]]] = {
    "global": {},
    "tenant": {},
    "persona": {"persona": "chef"},
    "user": {},
    "system": {"system": "crm"},
    "session": {},
}
_KEEPERS: Final = (OWNER.user, administrator().user)
_GHOST: Final = "zqghost"
_OWNS: Final = f"{OWNER.user}::"
# Each made-up memory has a new name, since an attempt may save a memory under that name.
_NUMBERS: Final = count(100)
_BEFORE: Final = START - timedelta(days=1)


class Stranger(NamedTuple):
    """A caller, and the scopes whose memories it may not see."""

    caller: Caller
    hidden: tuple[Scope, ...]

    @property
    def chose_ids(self) -> bool:
        """Whether they gave the memories their ids, before they lost sight of them."""
        return (self.caller.tenant, self.caller.user) == (OWNER.tenant, OWNER.user)


_OF_A_TENANT: Final = tuple(scope for scope in SCOPES if scope != "global")
#: Each differs from the owner in one thing.
STRANGERS: Final[dict[str, Stranger]] = {
    "another tenant": Stranger(replace(OWNER, tenant="beta"), _OF_A_TENANT),
    "an admin of another tenant": Stranger(
        replace(OWNER, tenant="gamma", permissions=frozenset(PERMISSIONS), systems={"*": "manage"}),
        _OF_A_TENANT,
    ),
    "another user": Stranger(replace(OWNER, user="bob"), ("user", "session")),
    "another persona": Stranger(replace(OWNER, personas=frozenset({"baker"})), ("persona",)),
    "no persona": Stranger(replace(OWNER, personas=frozenset()), ("persona",)),
    "another system": Stranger(replace(OWNER, systems={"erp": "manage"}), ("system",)),
    "no system": Stranger(replace(OWNER, systems={}), ("system",)),
    "another session": Stranger(OWNER.inside("other talk"), ("session",)),
    "no session": Stranger(OWNER.inside(None), ("session",)),
}


class World:
    """Two memories in each scope with a relation between them; no scope mentions another."""

    def __init__(self, store: Store, clock: Clock, folder: Path) -> None:
        self.store, self.clock, self.folder = store, clock, folder
        self.stub = StubEmbedder()
        for scope in SCOPES:
            code, door = code_of(scope), self.keeper(scope)
            door.remember(
                f"{code} content",
                id=self.name(scope, 1),
                hint=f"{code} hint",
                title=f"{code} title",
                tags=[f"{code} tag"],
                entities=[f"thing:{code}"],
                metadata={"about": code},
                always_inject=True,
                scope=scope,
                **_ROOMS[scope],
            )
            door.remember(f"{code} companion", id=self.name(scope, 2), scope=scope, **_ROOMS[scope])
            door.relate(self.id(scope, 1), "supports", self.id(scope, 2))
        for scope in ("persona", "user", "system", "session"):
            # A relation from a hidden memory to one that the whole tenant sees.
            self.door(OWNER).relate(self.id(scope, 1), "refines", self.id("tenant", 2))
        clock.tick()
        self.kept = {scope: self._kept(scope) for scope in SCOPES}

    @staticmethod
    def name(scope: Scope, number: int) -> str:
        """The id that was chosen for a memory."""
        return f"{'global:' if scope == 'global' else ''}{code_of(scope)}.{number}"

    @classmethod
    def id(cls, scope: Scope, number: int) -> str:
        """The id that it has."""
        return f"{'' if scope in ('global', 'tenant') else _OWNS}{cls.name(scope, number)}"

    def door(self, caller: Caller) -> OnRecord:
        return OnRecord(self.store, caller, clock=self.clock, embedders=StubEmbedders(self.stub))

    def keeper(self, scope: Scope) -> OnRecord:
        """The door of the caller who saved the memories of a scope."""
        return self.door(administrator() if scope == "global" else OWNER)

    def _kept(self, scope: Scope) -> tuple[Memory, Memory]:
        door = self.keeper(scope)
        return door.show(self.id(scope, 1)).memory, door.show(self.id(scope, 2)).memory

    def ghosts(self, scope: Scope) -> tuple[Memory, Memory]:
        """Two made-up memories that are in no store, as similar as possible to those of a scope."""
        code = f"{_GHOST}{next(_NUMBERS)}"
        first, second = (_ghost(memory, code, number) for number, memory in enumerate(self.kept[scope], 1))
        return first, second

    def held(self, scopes: tuple[Scope, ...]) -> Any:
        """All memories of some scopes, with their versions and relations."""
        with self.store.archive() as archive:
            histories = [
                history
                for tenant in (HOME, GLOBAL_TENANT)
                for history in archive.histories(Home(tenant))
                for memory in [history.versions[-1].memory]
                if memory.scope in scopes and memory.owner in _KEEPERS
            ]
            ids = {history.id for history in histories}
            edges = [edge for tenant in (HOME, GLOBAL_TENANT) for edge in archive.edges(Home(tenant))]
        return histories, [edge for edge in edges if {edge.source, edge.target} & ids]


def code_of(scope: Scope) -> str:
    """A word that only the memories of this scope contain."""
    return f"zq{scope}"


def _own_word(memory: Memory) -> str:
    return memory.content.split()[0]


def _ghost(memory: Memory, code: str, number: int) -> Memory:
    assert memory.place is not None
    return replace(
        memory,
        id=memory.id.replace(_own_word(memory), code),
        content=f"{code} content",
        hint=f"{code} hint",
        title=f"{code} title",
        tags=(f"{code} tag",),
        entities=(f"thing:{code}",),
        metadata={"about": code},
        place=RowPlace(memory.place.tenant, 1_000_000 + number, memory.place.recorded_at),
    )


@dataclass
class Try:
    """One attempt: the door of the caller who tries, the two memories it is about, and a memory that is the caller's own."""

    world: World
    door: OnRecord
    first: Memory
    second: Memory
    beside: Memory | None = None
    #: Whether the attempt used one of the two memories; if not, it need not be repeated for others.
    names_one: bool = False

    @property
    def one(self) -> Memory:
        self.names_one = True
        return self.first

    @property
    def two(self) -> Memory:
        self.names_one = True
        return self.second

    @cached_property
    def own(self) -> Memory:
        """A memory that the caller may change."""
        return self.beside or self.door.remember("an own note", scope="user").memory

    @property
    def code(self) -> str:
        return _own_word(self.one)

    @property
    def change(self) -> Change:
        return Change("attempt", self.door.caller.user, self.door.caller.actor, self.world.clock.now)

    def read(self, look: Callable[[Reading], Any]) -> Any:
        with self.world.store.reading(self.door.caller, self.world.clock.now) as reading:
            return look(reading)

    def write(self, act: Callable[[Writing], Any]) -> Any:
        # Saved first: inside the transaction the save would wait for that transaction.
        _ = self.own
        home = GLOBAL_TENANT if self.one.tenant == GLOBAL_TENANT else None
        with self.world.store.writing(self.door.caller, self.world.clock.now, home) as writing:
            return act(writing)


def outcome(attempt: Callable[[Try], Any], trial: Try) -> str:
    """The answer or the error, with the words of the memory replaced as `made_equal` does."""
    return made_equal(answer_of(attempt, trial), _own_word(trial.first))


def answer_of(attempt: Callable[[Try], Any], trial: Try) -> str:
    """The answer or the error that the caller gets, as text."""
    try:
        return written(attempt(trial))
    except OnRecordError as error:
        return f"{type(error).__name__}: {error}"


def made_equal(text: str, code: str) -> str:
    """The text with the memory's own word replaced, so that it can be compared with that of a made-up memory."""
    return text.replace(_OWNS + code, code).replace(code, _GHOST)


def _saved(trial: Try, **ask: Any) -> Any:
    """The answer of a save without the new id; the memory is forgotten before the next attempt."""
    answer = trial.door.remember(**ask)
    if answer.outcome == "created":
        trial.door.forget(answer.memory.id)
    return answer.outcome, answer.memory.content, answer.memory.owner, answer.memory.version


def _in_part(writing: Writing, id: str) -> Memory:
    with writing.part() as part:
        return part.target(id)


def _tried_many(trial: Try, **ask: Any) -> Any:
    """What would come of a save beside another one."""
    tried = trial.door.remember_many([ask, {"content": "mine"}], dry_run=True)
    return [(each.outcome, each.version, each.similar) for each in tried.memories]


def _added(trial: Try) -> None:
    """Try to add a memory in the same scope and under the same owner; if the store allows it, forget it again."""
    added = trial.write(lambda writing: writing.add(replace(trial.one, id=""), trial.change))
    trial.door.forget(added.id)


def _exported(trial: Try) -> str:
    path = trial.world.folder / "export.jsonl"
    trial.door.export(str(path))
    return path.read_text(encoding="utf-8")


def _imported(trial: Try) -> None:
    """Import the export of another tenant, which may only add memories to the caller's own tenant."""
    path = trial.world.folder / "home.jsonl"
    trial.world.door(administrator()).export(str(path))
    trial.door.import_(str(path), skip_conflicts=True)


def _audited(trial: Try) -> Any:
    """The entries of the audit about the memory from before the attempts."""
    return [
        entry
        for entry in trial.door.audit(subject=trial.one.id, limit=1_000).entries
        if entry.at < trial.world.clock.now
    ]


def _met(trial: Try) -> Any:
    """What is related to a memory that the whole tenant sees."""
    try:
        return trial.door.neighbours(World.id("tenant", 2), depth=4)
    except NotFound:
        return None


def _edge(trial: Try) -> str:
    """The number of the relation between the two; for made-up memories a number that was never given."""
    with trial.world.store.archive() as archive:
        found = [edge.id for edge in archive.edges(Home(HOME)) if edge.source == trial.one.id]
    return min(found, default="1000000", key=int)


def _edge_removed(trial: Try) -> Any:
    try:
        return trial.door.remove_relation(_edge(trial))
    except NotFound:
        return None


def _key(memory: Memory) -> Key:
    assert memory.place is not None
    return memory.place[:2]


def _name(trial: Try) -> str:
    """The name that its owner chose for the first memory."""
    return trial.one.id.removeprefix(_OWNS)


def _keys(trial: Try) -> list[Key]:
    return [_key(trial.one), _key(trial.two)]


def _matches(trial: Try) -> list[Match]:
    return [match_of(trial.one), match_of(trial.two)]


def _near(trial: Try) -> list[Near]:
    """What a search by vectors would find of both."""
    return [Near(*key, 0, 1.0) for key in _keys(trial)]


def _terms(trial: Try) -> tuple[Token, ...]:
    return question_terms(trial.code)


def _vector(trial: Try) -> Any:
    """The vector of the first memory's text."""
    return trial.world.stub.embed_query(embedded_text(trial.one)).vector


def _embedded(trial: Try) -> bool:
    """Save the same text as an own memory without vectors. The store must not say that another memory has vectors of it."""
    own = replace(trial.one, id="", scope="user", owner=trial.door.caller.user, persona=None, system=None)
    with trial.world.store.writing(trial.door.caller, trial.world.clock.now) as writing:
        added = writing.add(own, trial.change)
        kept = writing.embed(added, trial.world.stub.model, ())
    trial.door.forget(added.id)
    return kept


def _past(trial: Try) -> Iterator[When]:
    yield from (When(), When(as_of=START), When(known_at=START), When(known_at=trial.world.clock.now))


def _met_both(trial: Try, found: Iterable[Found | Near]) -> int:
    """How many of the two were found. Their positions are left out, since a made-up memory has none."""
    return sum(each.key in _keys(trial) for each in found)


def _hits_on(trial: Try, hits: Iterable[Hit]) -> list[Hit]:
    """The hits that are one of the two; the scores of others do not matter."""
    return [hit for hit in hits if hit.memory.id in (trial.one.id, trial.two.id)]


#: Everything that a caller can try on a memory: the methods of the store, then the operations.
ATTEMPTS: Final[dict[str, Callable[[Try], Any]]] = {
    "Reading.memory": lambda t: t.read(lambda r: [r.memory(t.one.id, when) for when in _past(t)]),
    "Reading.seen": lambda t: t.read(lambda r: len(r.seen([t.one.id, t.two.id]))),
    "Reading.unasked": lambda t: t.read(lambda r: r.unasked(most=1_000)),
    "Reading.browse": lambda t: t.read(
        lambda r: [
            r.browse(MemoryFilter(statuses=STATUSES, limit=1_000, as_of=when.as_of, known_at=when.known_at))
            for when in _past(t)
        ]
    ),
    "Reading.moments": lambda t: t.read(
        lambda r: r.moments(before=datetime(2100, 1, 1, tzinfo=UTC), most=1_000)
    ),
    "Reading.browse: by tag": lambda t: t.read(lambda r: r.browse(MemoryFilter(tags=t.one.tags))),
    "Reading.browse: by reference": lambda t: t.read(
        lambda r: r.browse(MemoryFilter(entities=t.one.entities))
    ),
    "Reading.count": lambda t: t.read(lambda r: r.count(MemoryFilter(entities=t.one.entities))),
    "Reading.tally": lambda t: t.read(lambda r: r.tally(TallyFilter("tag", tags=t.one.tags))),
    "Reading.narrow": lambda t: t.read(
        lambda r: len(r.narrow(_keys(t), MemoryFilter(statuses=STATUSES), {}))
    ),
    "Reading.reading_of": lambda t: t.read(lambda r: r.reading_of(ENTITIES).size),
    "Reading.filed": lambda t: t.read(lambda r: r.filed(reference_facet(t.one.entities[0]))),
    "Reading.filed_memories": lambda t: t.read(
        lambda r: r.filed_memories(reference_facet(t.one.entities[0]))
    ),
    "Reading.filed_under": lambda t: t.read(
        lambda r: r.filed_under([reference_facet(each) for each in (*t.one.entities, *t.two.entities)])
    ),
    "Reading.recorded_since": lambda t: t.read(
        lambda r: r.recorded_since(datetime(1970, 1, 1, tzinfo=UTC), most=1_000)
    ),
    "Reading.newest": lambda t: t.read(
        lambda r: r.newest(
            [reference_facet(each) for each in (*t.one.entities, *t.two.entities)],
            each=50,
            most=50,
            statuses=STATUSES,
        )
    ),
    "Reading.proposals": lambda t: t.read(lambda r: r.proposals(t.one.id)),
    "Reading.references": lambda t: t.read(lambda r: r.references(t.one.entities[0])),
    "Index.match_terms": lambda t: t.read(
        lambda r: [
            _met_both(t, r.index.match_terms(_terms(t), most=100, past=past)) for past in (False, True)
        ]
    ),
    "Index.match_past_terms": lambda t: t.read(
        lambda r: [
            r.index.match_past_terms(_terms(t), when, statuses)
            for when in _past(t)
            if when.known_at is not None
            for statuses in ((), STATUSES)
        ]
    ),
    "Index.holders": lambda t: t.read(
        lambda r: [
            term
            for term, keys in r.index.holders([token.term for token in _terms(t)], most=9).items()
            if set(keys) & set(_keys(t))
        ]
    ),
    "Index.places": lambda t: t.read(
        lambda r: list(
            r.index.places(_matches(t), [(token.term, token.term) for token in _terms(t)]).values()
        )
    ),
    "Index.near": lambda t: t.read(
        lambda r: _met_both(t, r.index.near(_vector(t), t.world.stub.model, most=100))
    ),
    "Index.similarity": lambda t: t.read(
        lambda r: len(r.index.similarity(_vector(t), t.world.stub.model, _keys(t)))
    ),
    "Index.tokens": lambda t: t.read(lambda r: len(r.index.tokens(_near(t), t.world.stub.model))),
    "Index.embedded": lambda t: t.read(lambda r: list(r.index.embedded(_keys(t)).values())),
    "Index.passages_of": lambda t: t.read(
        lambda r: len(r.index.passages_of(text_hash(embedded_text(t.one)), t.world.stub.model))
    ),
    "Index.about": lambda t: t.read(
        lambda r: [
            list(found.holders.values())
            for found in (r.index.about(t.one.entities, most=9), r.index.about((), [t.code], most=9))
        ]
    ),
    "Relations.joined": lambda t: t.read(
        lambda r: [[relation for _, relation, _ in r.relations.joined(_keys(t), when)] for when in _past(t)]
    ),
    "Reading.eligible": lambda t: t.read(
        lambda r: [
            list(r.eligible(_keys(t), when, statuses).values())
            for when in _past(t)
            for statuses in ((), STATUSES)
        ]
    ),
    "Reading.saved_before": lambda t: t.read(lambda r: _keys(t)[0] in r.saved_before(_keys(t)).values()),
    "Reading.saved_after": lambda t: t.read(lambda r: _keys(t)[-1] in r.saved_after(_keys(t)).values()),
    "Reading.asking": lambda t: t.read(lambda r: r.asking(_keys(t))),
    "Reading.openings": lambda t: t.read(lambda r: r.openings(_keys(t))),
    "Reading.read": lambda t: t.read(lambda r: [r.read(_matches(t), when) for when in _past(t)]),
    "Relations.around": lambda t: t.read(
        lambda r: [
            r.relations.around(t.one, RelationWalk(t.one.id, depth=4, known_at=when.known_at))
            for when in _past(t)
        ]
    ),
    "Relations.page": lambda t: t.read(lambda r: r.relations.page(RelationFilter(source=t.one.id))[0]),
    "Relations.one": lambda t: t.read(lambda r: r.relations.one(_edge(t))),
    "Reading.versions": lambda t: t.read(lambda r: r.versions(t.one.id)),
    "Reading.compare": lambda t: t.read(lambda r: r.compare(ChangeFilter(_BEFORE))),
    "Writing.target": lambda t: t.write(lambda w: w.target(t.one.id)),
    "Writing.named": lambda t: t.write(lambda w: w.named(t.one.id)),
    "Writing.reviewable": lambda t: t.write(lambda w: w.reviewable(t.one.id)),
    "Writing.save_counts": lambda t: t.write(lambda w: w.save_counts()),
    "Writing.holder": lambda t: t.write(lambda w: w.holder(t.one.id)),
    "Writing.holder: name": lambda t: t.write(lambda w: w.holder(_name(t))),
    "Reading.meant": lambda t: t.read(
        lambda r: [len(r.meant([t.one.id, _name(t)])), _name(t) in r.meant([_name(t)])]
    ),
    "Writing.similar": lambda t: t.write(lambda w: w.similar(replace(t.one, owner=t.door.caller.user))),
    "Writing.alike": lambda t: t.write(
        lambda w: w.alike(t.one, t.world.stub.model, [Passage(_vector(t))], least=0.1)
    ),
    "Reading.rejected_with_content": lambda t: t.read(lambda r: r.rejected_with_content(t.one)),
    "Reading.near_to": lambda t: t.read(lambda r: r.near_to(t.one, t.world.stub.model, least=0.1)),
    "Writing.add": _added,
    "Writing.replace": lambda t: t.write(
        lambda w: w.replace(t.one, replace(t.one, content="changed"), t.change)
    ),
    "Writing.erase": lambda t: t.write(lambda w: w.erase(t.one, t.change)),
    "Writing.redact": lambda t: t.write(lambda w: w.redact(t.one, {1: replace(t.one, content="mine")})),
    "Writing.relate": lambda t: t.write(lambda w: w.relate(t.one, "refines", t.own, t.change)),
    "Writing.relate: to": lambda t: t.write(lambda w: w.relate(t.own, "refines", t.one, t.change)),
    "Writing.embed": lambda t: t.write(lambda w: w.embed(t.one, t.world.stub.model, ())),
    "Writing.embed: an own one of the same text": _embedded,
    "Writing.unrelate": lambda t: t.write(lambda w: w.unrelate(t.one, "supports", t.two, t.change)),
    "Writing.writing_of": lambda t: t.write(lambda w: w.writing_of(ENTITIES).size),
    "Reading.workspace": lambda t: t.read(lambda r: r.workspace.named(t.code).begun),
    "Reading.check_runs": lambda t: t.read(lambda r: r.check_runs(t.one)),
    "Writing.keep_check_run": lambda t: t.write(
        lambda w: w.keep_check_run(t.one, CheckRun(at=START, by="eve", outcomes=()))
    ),
    "Reading.changesets": lambda t: t.read(lambda r: r.changesets.page(ChangesetFilter())),
    "Writing.changesets": lambda t: t.write(lambda w: w.changesets.page(ChangesetFilter())),
    "Writing.workspace": lambda t: t.write(lambda w: w.workspace.named(t.code).begun),
    "Writing.part": lambda t: t.write(lambda w: _in_part(w, t.one.id)),
    "Writing.note": lambda t: t.write(lambda w: w.note("attempt", t.one.id)),
    "Writing.strip": lambda t: t.write(lambda w: w.strip(t.one.entities, t.change)),
    "remember: id": lambda t: _saved(t, content="mine now", id=t.one.id),
    "remember: name": lambda t: _saved(t, content="mine now", id=_name(t)),
    "remember: name, tried": lambda t: t.door.remember("mine now", id=_name(t), dry_run=True).outcome,
    "remember: repeated": lambda t: _saved(t, content=t.one.content, scope="user"),
    "remember: hint": lambda t: _saved(t, content=f"{t.code} mine", hint=t.one.hint, scope="user"),
    "remember: supersedes": lambda t: _saved(t, content="instead", supersedes=[t.one.id]),
    "remember_many": lambda t: _tried_many(t, content="mine now", id=_name(t)),
    "remember_many: repeated": lambda t: _tried_many(t, content=t.one.content, scope="user"),
    "remember_many: supersedes": lambda t: _tried_many(t, content="instead", supersedes=[t.one.id]),
    "recall": lambda t: t.door.recall(t.code, recipe="lexical").hits,
    "recall: every way": lambda t: _hits_on(t, t.door.recall(embedded_text(t.one), limit=100).hits),
    "recall: by nearness": lambda t: _hits_on(
        t, t.door.recall(embedded_text(t.one), recipe="semantic", limit=100).hits
    ),
    "recall: by reference": lambda t: t.door.recall(t.one.entities[0], recipe="entity").hits,
    "recall: past": lambda t: (
        t.door.recall(
            t.code,
            recipe="lexical",
            known_at=t.world.clock.now,
            statuses=list(STATUSES),
            tags=list(t.one.tags),
        ).hits
    ),
    "show": lambda t: t.door.show(t.one.id),
    "show: as_of": lambda t: t.door.show(t.one.id, as_of=START),
    "show: known_at": lambda t: t.door.show(t.one.id, known_at=START),
    "show: never known": lambda t: t.door.show(t.one.id, known_at=_BEFORE),
    "browse": lambda t: t.door.browse(statuses=list(STATUSES), limit=1_000),
    "browse: past": lambda t: t.door.browse(known_at=START, limit=1_000, tags=list(t.one.tags)),
    "browse: system": lambda t: (
        t.door.browse(system="crm", scopes=["system"]).memories if t.one.scope == "system" else ()
    ),
    "browse: counted": lambda t: t.door.browse(tags=list(t.one.tags), count=True).total,
    "tally": lambda t: t.door.tally("entity", entities=list(t.one.entities)),
    "tally: past": lambda t: t.door.tally("tag", known_at=START, tags=list(t.one.tags)),
    "give_feedback": lambda t: t.door.give_feedback(t.one.id, "useful", "what is it?"),
    "give_feedback: taken back": lambda t: t.door.give_feedback(t.one.id, "none", "what is it?"),
    "feedback": lambda t: t.door.feedback(id=t.one.id).feedback,
    "revise": lambda t: t.door.revise(t.one.id, content="changed"),
    "revise: version": lambda t: t.door.revise(t.one.id, content="changed", expected_version=99),
    "revise: status": lambda t: t.door.revise(t.one.id, status="stale"),
    "retire": lambda t: t.door.retire(t.one.id),
    "retire: too late": lambda t: t.door.retire(t.one.id, at=t.world.clock.now + timedelta(days=1)),
    "forget": lambda t: t.door.forget(t.one.id),
    "relate": lambda t: t.door.relate(t.one.id, "refines", t.own.id),
    "relate: to": lambda t: t.door.relate(t.own.id, "refines", t.one.id),
    "relate: again": lambda t: t.door.relate(t.one.id, "supports", t.two.id),
    "unrelate": lambda t: t.door.unrelate(t.one.id, "supports", t.two.id),
    "unrelate: to": lambda t: t.door.unrelate(t.own.id, "supports", t.one.id),
    "relations": lambda t: t.door.relations(source=t.one.id).relations,
    "relations: to": lambda t: t.door.relations(target=t.two.id).relations,
    "remove_relation": _edge_removed,
    "neighbours": lambda t: t.door.neighbours(t.one.id, depth=4),
    "neighbours: from what is seen": _met,
    "history": lambda t: t.door.history(t.one.id),
    "diff": lambda t: t.door.diff(_BEFORE),
    "moments": lambda t: t.door.moments(limit=1_000),
    "search": lambda t: [
        hit
        for hit in t.door.search(t.code, entities=t.one.entities, max_memories=100).memories
        if hit.id in (t.one.id, t.two.id)
    ],
    "ingest": lambda t: t.door.ingest(str(t.world.folder / "nowhere")),
    "entities": lambda t: t.door.entities(),
    "inspect": lambda t: t.door.inspect(t.code),
    "drop_entity": lambda t: t.door.drop_entity(t.code),
    "prioritise": lambda t: t.door.prioritise(datasources=[t.code]),
    "approve": lambda t: t.door.approve(t.one.id),
    "reject": lambda t: t.door.reject(t.one.id),
    "judge": lambda t: t.door.judge(t.one.id),
    "extract": lambda t: t.door.extract(t.code, conversation="mine").facts,
    "end_turn": lambda t: t.door.end_turn({"session_id": "mine", "prompt": t.code}).facts,
    "plan": lambda t: t.door.plan(t.one.entities[0], memories=[t.one.id]),
    "apply": lambda t: t.door.apply(t.one.entities[0], memories=[t.one.id]),
    "roll_back": lambda t: t.door.roll_back("1"),
    "changesets": lambda t: t.door.changesets(),
    "add_check": lambda t: t.door.add_check(t.one.id, kind="entity", entity="orders"),
    "approve_check": lambda t: t.door.approve_check(t.one.id, 1),
    "drop_check": lambda t: t.door.drop_check(t.one.id, 1),
    "check": lambda t: t.door.check(t.one.id),
    "check: all": lambda t: t.door.check(all=True),
    "checks": lambda t: t.door.checks(t.one.id),
    "impact": lambda t: t.door.impact(sql=f"DROP TABLE {t.code}"),
    "renames": lambda t: t.door.renames(),
    "accept_renames": lambda t: t.door.accept_renames(),
    "context": lambda t: t.code in t.door.context(t.one.title, max_tokens=100_000).text,
    "attach": lambda t: t.door.attach({"found": [*t.one.entities, t.code]}, max_tokens=100_000),
    "attach: in a conversation": lambda t: t.door.attach(
        " ".join(t.one.entities), arguments={"of": t.code}, conversation="mine", again=True
    ),
    "note_turn": lambda t: t.door.note_turn("said", conversation="mine") and None,
    "turns": lambda t: t.door.turns(conversation="talk"),
    "clear_turns": lambda t: t.door.clear_turns(conversation="talk"),
    "register_conversation": lambda t: t.door.register_conversation("mine") and None,
    "conversations": lambda t: t.door.conversations(),
    "show_conversation": lambda t: t.door.show_conversation("mine"),
    "share_conversation": lambda t: t.door.share_conversation("mine", "eve") and None,
    "unshare_conversation": lambda t: t.door.unshare_conversation("mine", "eve") and None,
    "delete_conversation": lambda t: t.door.delete_conversation("nowhere"),
    "write_artifact": lambda t: t.door.write_artifact("a.txt", "x") and None,
    "read_artifact": lambda t: t.door.read_artifact("1", via=t.one.id),
    "artifacts": lambda t: t.door.artifacts(),
    "delete_artifact": lambda t: t.door.delete_artifact("99"),
    "append_scratchpad": lambda t: t.door.append_scratchpad("x") and None,
    "read_scratchpad": lambda t: t.door.read_scratchpad("nobody"),
    "scratchpads": lambda t: t.door.scratchpads() and None,
    "clear_scratchpad": lambda t: t.door.clear_scratchpad("nobody"),
    "set_agent": lambda t: t.door.set_agent("scout") and None,
    "show_agent": lambda t: t.door.show_agent("scout") and None,
    "share_agent": lambda t: t.door.share_agent("scout", "eve") and None,
    "unshare_agent": lambda t: t.door.unshare_agent("scout", "eve") and None,
    "create_key": lambda t: t.door.create_key(tenant=t.one.tenant) and None,
    "list_keys": lambda t: t.door.list_keys(),
    "change_key": lambda t: t.door.change_key("unknown", label="x"),
    "revoke_key": lambda t: t.door.revoke_key("unknown"),
    "waive_keys": lambda t: t.door.waive_keys(),
    "create_tenant": lambda t: t.door.create_tenant("another"),
    "list_tenants": lambda t: [each.name for each in t.door.list_tenants().tenants],
    "set_tenant": lambda t: t.door.set_tenant(members_retire=False) and None,
    "erase_tenant": lambda t: t.door.erase_tenant(t.one.tenant, confirm=t.one.tenant),
    "audit": _audited,
    "export": _exported,
    "import_": _imported,
    "backup": lambda t: t.door.backup(str(t.world.folder / "backup")).path,
    "doctor": lambda t: t.door.doctor(),
    "reindex": lambda t: t.door.reindex() and None,
    "embed_missing": lambda t: t.door.embed_missing() and None,
    "dismiss_failures": lambda t: t.door.dismiss_failures() and None,
    "reassign": lambda t: t.door.reassign(t.one.owner, "eve", dry_run=True) and None,
    "status": lambda t: t.door.status() and None,
}
#: Not tried: `attached` serves those who delete conversations and artifacts, `is_outranked` and `sees` are about a memory
#: that the caller has already, `requests` finds kept answers by tenant, user and key, `require_free` is asked of ids that the
#: caller may give, as `remember` shows, and `warm` answers nothing.
UNSEEN: Final = {
    "Writing.attached",
    "Writing.put_off",
    "Writing.is_outranked",
    "Writing.sees",
    "Writing.requests",
    "Writing.require_free",
    "Index.warm",
}
#: Counts over all that a caller sees; `statistics.py` shows that they depend on nothing else.
COUNTS: Final = {
    "Reading.size",
    "Reading.sees_global",
    "Reading.index",
    "Reading.relations",
    "Reading.feedback",
    "Writing.feedback",
    "Index.has_references",
    "Index.average_length",
    "Index.rarity",
    "Index.coverage",
    "Index.centroid",
}
#: A part of the answer to callers who see both memories.
FOUND: Final = {
    "Index.match_terms": "[2, 2]",
    "Index.holders": "zqghost",
    "Index.places": "zqghost",
    "Index.near": "2",
    "Index.similarity": "2",
    "Index.tokens": "2",
    "Index.embedded": "stub",
    "Index.passages_of": "1",
    "Index.about": "thing:zqghost",
    "Relations.joined": "supports",
    "Reading.saved_before": "True",
    "Reading.saved_after": "True",
    "Reading.asking": "[False, False]",
    "Reading.openings": "zqghost",
    "Writing.alike": "zqghost",
}
#: Here whoever gave a memory its id, and does not see it now, is told that it is taken.
TAKEN: Final = {"remember: id"}
#: Here the caller sends the words of the memory, so the answer may repeat them.
ECHOED: Final = {
    "remember: repeated",
    "remember: hint",
    "import_",
    "inspect",
    "drop_entity",
    "prioritise",
    "search",
}
#: The attempts that would change a memory, for callers who see it and may not change it.
CHANGES: Final = (
    "Writing.target",
    "Writing.named",
    "Writing.holder",
    "Writing.replace",
    "Writing.erase",
    "Writing.relate",
    "Writing.embed",
    "Writing.unrelate",
    "remember: id",
    "remember: supersedes",
    "revise",
    "revise: version",
    "revise: status",
    "retire",
    "forget",
    "relate",
    "relate: again",
    "unrelate",
)
