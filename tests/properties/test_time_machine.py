"""Do SQLite, PostgreSQL and a naive account of events agree on everything, at every instant, for every caller?"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from onrecord import Caller, Memory, OnRecord
from onrecord.errors import OnRecordError
from onrecord.model.memory import Relation
from tests.soak import tries

from .conftest import KEEPER, START, Stores
from .oracle import Oracle, Record, Refused, sees

CALLERS = {
    "ann": Caller(tenant="acme", user="ann", personas={"dba"}, systems={"billing": "read"}),
    "bob": Caller(tenant="acme", user="bob", systems={"billing": "manage"}),
    "carl": Caller(tenant="acme", user="carl", conversation="c1", systems={"*": "read"}),
    "root": Caller(tenant="acme", user="root", permissions={"memory.admin", "memory.global"}),
    # What agents and runs may do is in test_tiers.py.
    "night": Caller(tenant="acme", user="ann", conversation="c1"),
    "eve": Caller(tenant="umbra", user="eve", permissions={"memory.admin"}),
    # Who cares for what every tenant sees, and is no admin of one.
    "olga": Caller(
        tenant="umbra", user="olga", permissions={"memory.read", "memory.manage", "memory.global"}
    ),
}
TENANT: Record = {"scope": "tenant"}
USER: Record = {"scope": "user"}
SESSION: Record = {"scope": "session"}
GLOBAL: Record = {"scope": "global"}
PERSONA: Record = {"scope": "persona", "persona": "dba"}
SYSTEM: Record = {"scope": "system", "system": "billing"}
ROOMS = [{}, {}, {}, {}, {}, TENANT, TENANT, USER, SESSION, GLOBAL, PERSONA, SYSTEM]
#: Who may save where; some of the rest are tried as well.
PLACES = [
    *(("ann", room) for room in ({}, TENANT, USER, PERSONA, SYSTEM)),
    *(("bob", room) for room in ({}, USER, SYSTEM)),
    *(("carl", room) for room in ({}, SESSION, SYSTEM)),
    *(("root", room) for room in ({}, GLOBAL, GLOBAL, SYSTEM)),
    *(("night", room) for room in ({}, USER, SESSION)),
    *(("eve", room) for room in ({}, GLOBAL)),
    *(("olga", room) for room in ({}, GLOBAL)),
    *(("bob", room) for room in (GLOBAL, PERSONA, SESSION)),
]
WORDS = ("oat", "milk", "lamp", "river", "cloud")


class Moment(NamedTuple):
    """So long after the start. Everything happens at full or half hours, so boundaries are met exactly."""

    hours: int
    microseconds: int = 0
    minutes: int = 0

    @property
    def time(self) -> datetime:
        return START + timedelta(**self._asdict())


def plain(value: Any) -> Any:
    """Moments as times, wherever they stand."""
    if isinstance(value, Moment):
        return value.time
    return {name: plain(item) for name, item in value.items()} if isinstance(value, dict) else value


Which = int | str


@st.composite
def some_of(draw: st.DrawFn, options: dict[str, st.SearchStrategy[Any]], at_most: int = 3) -> Record:
    names = draw(st.lists(st.sampled_from(sorted(options)), max_size=at_most, unique=True))
    return {name: draw(options[name]) for name in names}


callers = st.sampled_from(list(CALLERS))
#: A caller by name, or one of those who can do it.
people = st.sampled_from([0, 0, 1, 1, 2, *CALLERS])
#: The so-manieth of the memories that there are, or an id that may be anything.
any_memory: st.SearchStrategy[Which] = st.sampled_from(
    [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, "#1", "global:1", "404"]
)
places = st.sampled_from(PLACES)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(" ".join)
hints = st.lists(st.sampled_from(WORDS), min_size=2, max_size=5, unique=True).map(" ".join)
tags = st.lists(st.sampled_from(["fern", "moss"]), max_size=2, unique=True).map(tuple)
references = st.lists(
    st.sampled_from(["memory:1", "memory:2", "memory:global:1", "thing:tea"]), max_size=2, unique=True
).map(tuple)
moments = st.builds(Moment, st.integers(-1, 5), st.sampled_from([0, 0, 0, -1, 1]), st.sampled_from([0, 30]))
maybe_moments = st.none() | moments
changes = {
    "hint": hints,
    "title": st.sampled_from(["pine", "maple"]),
    "tags": tags,
    "entities": references,
    "valid_from": moments,
    "kind": st.sampled_from(["fact", "decision"]),
    "source": st.sampled_from(["birch", "willow"]),
}
additions = changes | {
    "id": st.sampled_from(["kb.a", "kb.b", "6", "global:kb.a", "2"]),
    "dedupe": st.just(False),
}
corrections = changes | {
    "hint": hints | st.none(),
    "content": texts,
    "status": st.sampled_from(["active", "stale"]),
    "expected_version": st.integers(1, 3),
}
filters = {
    "tags": tags,
    "entities": references,
    "statuses": st.lists(
        st.sampled_from(["pending", "active", "stale", "superseded", "archived"]), min_size=1, max_size=2
    ),
}
times = {"as_of": moments, "known_at": moments}
relations = st.sampled_from(["supports", "refines"])

# What the account keeps of a record; the rest has its default throughout.
TOLD = [
    each.name
    for each in fields(Memory)
    if each.name
    not in (
        "place",
        "dimension",
        "category",
        "confidence",
        "metadata",
        "query",
        "artifact",
        "verified_at",
        "always_inject",
        "approved_by",
        "edits",
        "changeset",
        "approved_at",
    )
]


def as_told(value: Memory | Relation) -> Record:
    names = TOLD if isinstance(value, Memory) else [each.name for each in fields(Relation)]
    return {name: getattr(value, name) for name in names}


class Disagreement(AssertionError):
    """What was asked, and who answered what."""


def disagreement(question: str, answers: dict[str, Any]) -> str:
    """The answers one below the other, records by the fields in which they differ."""
    lines = [f"{question}: the answers differ"]
    records = [answer for answer in answers.values() if isinstance(answer, dict)]
    if len(records) == len(answers):
        names = sorted({name for record in records for name in record}, key=str)
        differing = [name for name in names if any(r.get(name) != records[0].get(name) for r in records)]
        for name in differing:
            lines += [f"  {name}"] + [f"    {who}: {answer.get(name)}" for who, answer in answers.items()]
    else:
        lines += [f"  {who}: {answer}" for who, answer in answers.items()]
    return "\n".join(lines)


def must_agree(question: str, answers: dict[str, Any]) -> None:
    expected, *others = answers.values()
    if any(other != expected for other in others):
        raise Disagreement(disagreement(question, answers))


def must_refuse(question: str, refusal: Refused, answers: dict[str, Any]) -> None:
    """Each store fails, for a reason that the account allows, and all say the same of it."""
    for name, answer in answers.items():
        if not isinstance(answer, OnRecordError) or type(answer).__name__ not in refusal.kinds:
            raise Disagreement(f"{question}: must be refused as {refusal}\n  {name}: {answer!r}")
    must_agree(question, {name: str(answer) for name, answer in answers.items()})


class TimeMachine(RuleBasedStateMachine):
    """Whatever happens happens to each store and to the account; then all are asked the same."""

    def __init__(self, stores: Stores, folder: Path) -> None:
        super().__init__()
        self.stores = stores
        self.folder = folder
        self.account = Oracle()
        self.doors: dict[str, OnRecord] = {}
        self.agreed = True
        self.turn = 0

    @initialize(
        sqlite=st.sampled_from(["sqlite-memory", "sqlite-file"]),
        first=st.lists(st.tuples(places, texts, some_of(changes, at_most=2)), min_size=3, max_size=6),
        edges=st.lists(st.tuples(any_memory, relations, any_memory), max_size=4),
    )
    def begin(
        self,
        sqlite: str,
        first: list[tuple[tuple[str, Record], str, Record]],
        edges: list[tuple[Which, str, Which]],
    ) -> None:
        """A run may go on without ever saving again, so there is something from the start."""
        self.doors = self.stores.emptied(sqlite, "postgres")
        for place, content, given in first:
            self.remember(place, content, given)
            self.stores.tick(minutes=30)
        for start, relation, end in edges:
            self.relate(0, start, relation, end)

    def named(self, which: Which) -> str:
        if isinstance(which, str):
            return which
        kept = self.account.kept
        return kept[which % len(kept)].name if kept else "404"

    def peer(self, start: Which, end: Which) -> str:
        """The so-manieth of the memories that live where the first one lives."""
        if isinstance(start, str) or isinstance(end, str) or not self.account.kept:
            return self.named(end)
        kept = self.account.kept[start % len(self.account.kept)]
        others = [other.name for other in self.account.kept if other.home == kept.home and other is not kept]
        return others[end % len(others)] if others else kept.name

    def person(self, who: Which, which: Which, *, changing: bool = False) -> str:
        """The caller of that name, or one of those who may read or change the memory."""
        if isinstance(who, str) or isinstance(which, str) or not self.account.kept:
            return who if isinstance(who, str) else "root"
        kept = self.account.kept[which % len(self.account.kept)]
        able = [
            name
            for name, caller in CALLERS.items()
            if (self.account.open_to(caller, kept) if changing else sees(caller, kept.home, kept.today))
        ]
        return able[who % len(able)] if able else "root"

    # -- what happens -------------------------------------------------------------------------------------

    @rule(step=st.sampled_from([Moment(1), Moment(1), Moment(0, 1), Moment(-1)]))
    def time_passes(self, step: Moment) -> None:
        self.stores.tick(**step._asdict())

    @rule(place=places, content=texts, given=some_of(additions))
    def remember(self, place: tuple[str, Record], content: str, given: Record) -> None:
        caller, room = place
        self.asked("remember", caller, content, **room, **plain(given))

    @rule(who=people, which=any_memory, content=texts, room=st.sampled_from(ROOMS), given=some_of(changes))
    def save_again(self, who: Which, which: Which, content: str, room: Record, given: Record) -> None:
        caller = self.person(who, which, changing=True)
        self.asked("remember", caller, content, id=self.named(which), **room, **plain(given))

    @rule(
        who=people,
        olds=st.lists(any_memory, min_size=1, max_size=2),
        content=texts,
        room=st.sampled_from(ROOMS),
        given=some_of(additions, at_most=1),
    )
    def supersede(self, who: Which, olds: list[Which], content: str, room: Record, given: Record) -> None:
        supersedes = list(dict.fromkeys(map(self.named, olds)))
        room = GLOBAL if supersedes[0].startswith("global:") and not room else room
        caller = self.person(who, olds[0], changing=True)
        self.asked("remember", caller, content, supersedes=supersedes, **room, **plain(given))

    @rule(who=people, which=any_memory, given=some_of(corrections))
    def revise(self, who: Which, which: Which, given: Record) -> None:
        self.asked("revise", self.person(who, which, changing=True), self.named(which), **plain(given))

    @rule(who=people, which=any_memory, at=maybe_moments, reason=st.sampled_from([None, "gone"]))
    def retire(self, who: Which, which: Which, at: Moment | None, reason: str | None) -> None:
        caller = self.person(who, which, changing=True)
        self.asked("retire", caller, self.named(which), at=plain(at), reason=reason)

    @precondition(lambda self: len(self.account.kept) > 2)
    @rule(who=people, which=any_memory)
    def forget(self, who: Which, which: Which) -> None:
        self.asked("forget", self.person(who, which, changing=True), self.named(which))

    @rule(who=people, start=any_memory, relation=relations, end=any_memory)
    def relate(self, who: Which, start: Which, relation: str, end: Which) -> None:
        caller = self.person(who, start, changing=True)
        self.asked("relate", caller, self.named(start), relation, self.peer(start, end))

    @rule(who=people, start=any_memory, relation=relations, end=any_memory)
    def unrelate(self, who: Which, start: Which, relation: str, end: Which) -> None:
        """One of the edges that there are, if any, or one that may not be there."""
        bonds = self.account.bonds
        if bonds and isinstance(start, int) and isinstance(end, int):
            bond = bonds[end % len(bonds)]
            start, end = map(self.account.kept.index, (bond.source, bond.target))
            relation = bond.relation
        caller = self.person(who, start, changing=True)
        self.asked("unrelate", caller, self.named(start), relation, self.named(end))

    # -- what is asked ------------------------------------------------------------------------------------

    @rule(who=people, which=any_memory, when=some_of(times))
    def show(self, who: Which, which: Which, when: Record) -> None:
        self.asked("show", self.person(who, which), self.named(which), **plain(when))

    @rule(caller=callers, when=some_of(times), filters=some_of(filters, at_most=1))
    def browse(self, caller: str, when: Record, filters: Record) -> None:
        self.asked("browse", caller, **plain(when), **filters)

    @rule(caller=callers, question=texts, when=some_of(times))
    def recall(self, caller: str, question: str, when: Record) -> None:
        self.asked("recall", caller, question, **plain(when))

    @rule(
        who=people,
        which=any_memory,
        depth=st.integers(1, 3),
        direction=st.sampled_from(["both", "out", "in"]),
        when=some_of(times),
    )
    def neighbours(self, who: Which, which: Which, depth: int, direction: str, when: Record) -> None:
        caller = self.person(who, which)
        self.asked("neighbours", caller, self.named(which), depth=depth, direction=direction, **plain(when))

    @rule(who=people, which=any_memory)
    def history(self, who: Which, which: Which) -> None:
        self.asked("history", self.person(who, which), self.named(which))

    @rule(caller=callers, one=moments, other=moments)
    def diff(self, caller: str, one: Moment, other: Moment) -> None:
        since, until = sorted((one.time, other.time))
        self.asked("diff", caller, since, until=until)

    @invariant()
    def what_is_active_now_is_the_same(self) -> None:
        """For each caller in turn."""
        self.turn += 1
        self.asked("browse", list(CALLERS)[self.turn % len(CALLERS)])

    def asked(self, operation: str, caller: str, *positional: Any, **given: Any) -> None:
        who, now = CALLERS[caller], self.stores.clock()
        shown = ", ".join([*map(repr, positional), *(f"{name}={value!r}" for name, value in given.items())])
        question = f"{operation}({shown}) by {caller} at {now}"
        note(question)
        try:
            expected: Any = getattr(self.account, operation)(who, now, *positional, **given)
            expected = in_order(expected) if operation == "browse" else expected
        except Refused as refusal:
            expected = refusal
        answers = {
            name: answer_of(door.as_caller(who), operation, positional, given)
            for name, door in self.doors.items()
        }
        try:
            if isinstance(expected, Refused):
                must_refuse(question, expected, answers)
            else:
                must_agree(question, {"the account": expected, **answers})
        except Disagreement:
            self.agreed = False
            raise

    # -- what holds at the end ----------------------------------------------------------------------------

    def teardown(self) -> None:
        if not self.doors or not self.agreed:
            return
        self.every_border_is_the_same()
        for name, door in self.doors.items():
            problems = door.doctor().problems
            assert not problems, f"{name} is not healthy: " + "; ".join(map(str, problems))
        self.exports_are_equal()

    def every_border_is_the_same(self) -> None:
        """At the very moments at which something began or ended, to whoever sees it all."""
        for hours in range(0, 6, 2):
            for caller in ("ann", "eve"):
                self.asked("browse", caller, as_of=Moment(hours).time)
                self.asked("browse", caller, known_at=Moment(hours).time)
        for kept in self.account.kept[:6]:
            caller = "eve" if kept.home == "umbra" else "root"
            self.asked("history", caller, kept.name)
            for moment in {kept.today["valid_from"], kept.today["valid_to"]} - {None}:
                self.asked("show", caller, kept.name, as_of=moment)
        for bond in self.account.bonds[:4]:
            caller = "eve" if bond.home == "umbra" else "root"
            for moment in {bond.created_at, bond.removed_at} - {None}:
                self.asked("neighbours", caller, bond.source.name, known_at=moment)

    def exports_are_equal(self) -> None:
        """Whatever happened, both databases write the same export, and a third store made from it the same again."""
        exports = {name: self.exported(name, door) for name, door in self.doors.items()}
        must_agree("export", exports)
        (spare,) = self.stores.doors.keys() - self.doors.keys()
        with self.clock_kept():
            copy = self.stores.emptied(spare)[spare]
        copy.import_(str(self.folder / "postgres.jsonl"), keep_tenants=True)
        must_agree(
            "export of the import", {"postgres": exports["postgres"], spare: self.exported(spare, copy)}
        )
        problems = copy.doctor().problems
        assert not problems, f"the import is not healthy: {'; '.join(map(str, problems))}"

    @contextmanager
    def clock_kept(self) -> Iterator[None]:
        now = self.stores.now
        yield
        self.stores.now = now

    def exported(self, name: str, door: OnRecord) -> dict[str, Any]:
        path = self.folder / f"{name}.jsonl"
        door.as_caller(KEEPER).export(str(path), all_tenants=True)
        return {
            f"line {number}": json.loads(line)
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        }


def answer_of(door: OnRecord, operation: str, positional: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """What a store answers, in the words of the account; an error is an answer too."""
    more = {
        "browse": {"limit": 1000},
        # Which words are met where, not whether that is an answer.
        "recall": {"limit": 200, "min_relevance": 0},
        "neighbours": {"limit": 1000},
    }
    try:
        answer = getattr(door, operation)(*positional, **given, **more.get(operation, {}))
    except OnRecordError as error:
        return error
    return READERS[operation](answer)


def read_browse(answer: Any) -> list[Record]:
    times = [memory.updated_at for memory in answer.memories]
    assert times == sorted(times, reverse=True), "a list does not begin with what was updated last"
    return in_order([as_told(memory) for memory in answer.memories])


def in_order(records: list[Record]) -> list[Record]:
    """Own memories, then global ones: of the same instant, nobody says which of the two comes first."""
    return sorted(records, key=lambda record: record["tenant"] == "global")


def read_neighbours(answer: Any) -> dict[str, Record]:
    return {
        edge.relation.id: as_told(edge.relation)
        | {"hop": edge.hop, "direction": edge.direction, "memory": as_told(edge.memory)}
        for edge in answer.edges
    }


def read_diff(answer: Any) -> Record:
    return {
        "memories": {
            each.id: {
                "change": each.change,
                "before": each.before and as_told(each.before),
                "after": as_told(each.after),
                "changed": set(each.changed) & set(TOLD),
            }
            for each in answer.memories
        },
        "related": own_first(answer.related),
        "unrelated": own_first(answer.unrelated),
    }


def own_first(edges: Iterable[Relation]) -> list[Record]:
    """Edges between one's own memories, then those between global ones: their order is nobody's promise."""
    return [as_told(edge) for edge in sorted(edges, key=lambda edge: edge.source.startswith("global:"))]


def read_history(answer: Any) -> list[Record]:
    names = ("number", "change", "by", "origin", "at", "until")
    return [
        {name: getattr(version, name) for name in names}
        | {"changed": set(version.changed) & set(TOLD), "memory": as_told(version.memory)}
        for version in answer.versions
    ]


READERS = {
    "remember": lambda answer: {
        "outcome": answer.outcome,
        "superseded": list(answer.superseded),
        "memory": as_told(answer.memory),
    },
    "revise": lambda answer: {
        "changed": set(answer.changed) & set(TOLD),
        "memory": as_told(answer.memory),
    },
    "retire": lambda answer: {"changed": answer.changed, "memory": as_told(answer.memory)},
    "forget": lambda answer: {
        name: getattr(answer, name) for name in ("id", "versions", "relations", "references")
    },
    "relate": lambda answer: {"created": answer.created, "relation": as_told(answer.relation)},
    "unrelate": lambda answer: {"relation": as_told(answer.relation)},
    "show": lambda answer: {
        "memory": as_told(answer.memory),
        "edges": {edge.relation.id for edge in answer.edges},
    },
    "browse": read_browse,
    "recall": lambda answer: {hit.memory.id for hit in answer.hits},
    "history": read_history,
    "neighbours": read_neighbours,
    "diff": read_diff,
}


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a failure takes minutes to be reduced to the few steps that matter
def test_both_databases_and_a_naive_account_agree_on_every_instant(stores: Stores, tmp_path: Path) -> None:
    run_state_machine_as_test(
        lambda: TimeMachine(stores, tmp_path),
        settings=settings(max_examples=tries(3, soaking=50), stateful_step_count=40),
    )
