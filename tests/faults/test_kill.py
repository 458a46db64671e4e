"""Does every acknowledged change outlive `kill -9`, and does an interrupted one leave nothing behind?"""

import json
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection

from onrecord import OnRecord, connect
from onrecord.errors import NotFound
from tests.databases import BACKENDS
from tests.soak import SOAKING, tries

from .stopping import stop_before

Whole = Callable[[OnRecord], list[str]]


ROUNDS = tries(2, soaking=12)
IMPORTED = 1_100
BATCH = 1_000


@pytest.fixture
def reopened(shared_db: str) -> Iterator[Callable[[], AbstractContextManager[OnRecord]]]:
    """The store as it is found after a crash: a file is opened anew, a server was there all the time."""
    if not shared_db.startswith("postgresql"):
        yield lambda: connect(shared_db)
        return
    with connect(shared_db) as door:
        yield lambda: nullcontext(door)


@pytest.fixture
def small_export(tmp_path: Path) -> str:
    """A file with a few memories, one of them revised, and their relations."""
    path = tmp_path / "small.jsonl"
    with connect(":memory:") as door:
        for number in range(5):
            door.remember(f"imported {number}", id=f"in{number}", tags=["in"], entities=["memory:in0"])
        door.revise("in1", content="imported and revised")
        door.relate("in1", "refines", "in2")
        door.remember("imported at last", id="in9", supersedes=["in3"])
        door.export(str(path))
    return str(path)


def fill(door: OnRecord) -> None:
    """A store in which every change has something to change in each table."""
    for number in range(1, 6):
        door.remember(f"the {number}th thing to know", tags=["old"], hint=f"hint{number} of{number}")
    door.remember("refers to the first", id="referring", entities=["memory:1", "memory:42"])
    door.revise("referring", content="still refers to the first")
    door.relate("1", "supports", "2")
    door.register_conversation("5")
    door.write_artifact("plan.md", "the plan", conversation="5")


#: A conversation whose first save makes it known.
TALKS = {"remember in a talk": "7", "remember for everyone": "8"}
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "remember": ("remember", {"content": "a new thing", "hint": "a hint", "tags": ["new"]}),
    "remember in a talk": ("remember", {"content": "said in a talk", "artifact": "#1"}),
    "remember for everyone": ("remember", {"content": "said to all", "scope": "global", "artifact": "1"}),
    "supersede": ("remember", {"content": "the third and fourth in one", "supersedes": ["3", "4"]}),
    "revise": ("revise", {"id": "2", "content": "entirely other words", "expected_version": 1}),
    "forget": ("forget", {"id": "1"}),
    "import": ("import_", {}),
}


#: Just before which of its statements a process is killed, and None just before its commit.
KILLED_BEFORE = (1, 5, 9, None) if SOAKING else (5, None)


class Stopped(BaseException):
    """Ends a change where it stands; nobody catches it."""


def was_done(act: Callable[[], object], statement: int) -> bool:
    """Whether it ended before it came to its nth statement, where it is stopped."""

    def stop(connection: Connection) -> None:
        # As when its process ends.
        connection.invalidate()
        raise Stopped

    end = stop_before(statement, stop)
    try:
        act()
    except Stopped:
        return False
    finally:
        end()
    return True


@pytest.mark.usefixtures("words_alone")  # As in the processes that are killed.
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_stopped_or_killed_before_any_of_its_statements_is_not_there_at_all(
    change: str, crew: Any, shared_db: str, reopened: Any, whole: Whole, small_export: str
) -> None:
    """By a process that is killed at some of its statements, and by what nobody catches at every third, in a soak at all."""
    act, given = CHANGES[change]
    given = given | ({"path": small_export} if change == "import" else {})
    talk = TALKS.get(change)
    with reopened() as door:
        fill(door)
        before = whole(door), noted(door)
    rows, states = rows_of(shared_db), []

    def look(door: OnRecord) -> None:
        unchanged = rows_of(shared_db) == rows
        states.append(before if unchanged else (whole(door), noted(door)))

    for statement in KILLED_BEFORE:
        hand = crew.start("die_at", db=shared_db, statement=statement, act=act, given=given, talk=talk)
        assert hand.rest() == [], "it was killed"
        with reopened() as door:
            look(door)
    with reopened() as door:
        change_it = partial(getattr(door.as_caller(door.caller.inside(talk)), act), **given)
        for statement in count(1, tries(3, soaking=1)):
            if was_done(change_it, statement):
                break
            look(door)
        done = whole(door), noted(door)
    assert len(states) > 6, "the change must have been stopped in its middle"
    assert done != before
    for number, state in enumerate(states):
        # An import tidies up after its last transaction, when all of it is there.
        assert state == before or (state == done and change == "import"), number


def noted(door: OnRecord) -> list[Any]:
    """The audit, which no export tells. What was done as a whole is noted after its last transaction."""
    return [line for line in door.audit(limit=200).entries if line.operation != "import_"]


def test_an_index_whose_rebuilding_was_killed_is_as_it_was(
    crew: Any, shared_db: str, reopened: Any, whole: Whole
) -> None:
    with reopened() as door:
        fill(door)
        before = whole(door)
    rows = rows_of(shared_db)
    for statement in chain(KILLED_BEFORE, count(17, tries(24, soaking=8))):
        told = crew.start("die_at", db=shared_db, statement=statement, act="reindex", given={}).rest()
        if told:
            break
        # Each try takes a number first, so that whatever is cached is read anew.
        assert rows_of(shared_db) | {"counters": rows["counters"]} == rows
    assert statement not in KILLED_BEFORE
    with reopened() as door:
        assert whole(door) == before
        assert [hit.memory.id for hit in door.recall("hint3", recipe="lexical").hits] == ["3"]


@pytest.fixture(params=BACKENDS)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a store without tables."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_dsn"))
    return str(tmp_path / "store.db")


def test_a_migration_that_was_killed_left_no_table_and_can_be_repeated(crew: Any, bare: str) -> None:
    # Before it is kept, and at a few of its hundreds of statements from the first to the last.
    for statement in chain([None], count(1, tries(200, soaking=50))):
        told = crew.start("die_at", db=bare, statement=statement, act="migrate", given={}).rest()
        if told:
            break
        assert tables_of(bare) == []
    assert statement is not None
    assert statement > 200, "the migration must have been killed in its middle"
    with connect(bare) as door:
        door.remember("it works now")
        assert door.doctor().problems == ()


def tables_of(db: str) -> list[str]:
    """The tables that are there, asked past our own code."""
    return list(rows_of(db))


def rows_of(db: str) -> dict[str, list[str]]:
    """Every row of every table, asked past our own code: where none has changed there is nothing to examine anew."""
    if not db.startswith("postgresql") and not Path(db).exists():
        return {}
    if db.startswith("postgresql"):
        connection: Any = psycopg.connect(db)
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    else:
        connection, tables = sqlite3.connect(db), "SELECT name FROM sqlite_master WHERE type = 'table'"
    with closing(connection):
        return {
            name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"')))
            for (name,) in connection.execute(tables).fetchall()
        }


class Book:
    """What the acknowledgements of killed processes promise."""

    def __init__(self) -> None:
        self.contents: dict[str, str] = {}
        self.replaced: dict[str, str] = {}
        self.forgotten: set[str] = set()

    def enter(self, act: str, id: str | None, new: str | None, content: str) -> None:
        if act == "forget":
            self.forgotten.add(str(id))
            self.contents.pop(str(id))
        elif new is not None:
            assert new not in self.forgotten, "an id was given again"
            self.contents[new] = content
        if act == "supersede":
            self.replaced[str(id)] = str(new)

    def read(self, told: list[dict[str, Any]], door: OnRecord) -> None:
        """Enter what was acknowledged, and what was under way if it happened after all."""
        for line in told:
            if "did" in line:
                self.enter(line["did"], line["id"], line["new"], line["content"])
        if told and "doing" in told[-1]:
            last = told[-1]
            found = [
                hit.memory for hit in door.recall(last["word"], statuses=["active"], recipe="lexical").hits
            ]
            if last["doing"] == "forget":
                happened = not exists(door, last["id"])
            else:
                happened = [memory.content for memory in found] == [last["content"]]
            if happened:
                self.enter(last["doing"], last["id"], found[0].id if found else None, last["content"])

    def check(self, door: OnRecord) -> None:
        for id, content in self.contents.items():
            shown = door.show(id)
            assert shown.memory.content == content
            assert shown.memory.status == ("superseded" if id in self.replaced else "active")
            news = [edge.memory.id for edge in shown.edges if edge.direction == "in"]
            assert [new for new in news if new not in self.forgotten] == news
            assert self.replaced.get(id) in (None, *news, *self.forgotten)
        assert not any(exists(door, id) for id in self.forgotten)
        total = door.doctor().memories
        assert total == len(self.contents) + 1, "rows that nobody asked for"


def exists(door: OnRecord, id: str) -> bool:
    try:
        door.show(id)
    except NotFound:
        return False
    return True


@pytest.mark.slow
def test_every_acknowledged_change_is_there_after_kill_and_none_is_half_done(
    crew: Any, shared_db: str, reopened: Any, whole: Whole
) -> None:
    chance = random.Random(7)
    book = Book()
    for seed in range(ROUNDS):
        with reopened() as door:
            door.remember("everything refers to this", id="anchor")
        told = lived_until_killed(crew.start("live", db=shared_db, seed=seed), chance)
        with reopened() as door:
            # A server may still be about to see that its client is gone; a save waits for what it holds.
            door.remember(f"round {seed} is over", id="anchor")
            book.read(told, door)
            book.check(door)
            whole(door)


def lived_until_killed(hand: Any, chance: random.Random) -> list[dict[str, Any]]:
    hand.hear()
    told = [hand.hear() for _ in range(chance.randrange(10, 60))]
    # Somewhere inside the next change, wherever that happens to be.
    time.sleep(chance.uniform(0, 0.01))
    hand.kill()
    return told + hand.rest()


@pytest.fixture
def large_export(tmp_path: Path) -> str:
    """An export of several batches, multiplied from one memory that a real store wrote."""
    path = tmp_path / "large.jsonl"
    with connect(":memory:") as door:
        door.remember("about thing 0", tags=["imported"], entities=["memory:1"])
        door.export(str(path))
    head, counters, memory = path.read_text(encoding="utf-8").splitlines()
    lines = [head, json.dumps(json.loads(counters) | {"last_id": str(IMPORTED)})]
    lines += multiplied(json.loads(memory))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def multiplied(history: dict[str, Any]) -> Iterator[str]:
    for number in range(1, IMPORTED + 1):
        history["id"] = str(number)
        for version in history["versions"]:
            text = f"thing {number} is near thing{number % 97}"
            version["memory"] |= {"id": str(number), "content": text, "title": text}
        yield json.dumps(history)


@pytest.mark.slow
def test_an_import_that_was_killed_goes_on_where_it_stopped(
    crew: Any, shared_db: str, reopened: Any, whole: Whole, large_export: str
) -> None:
    hand = crew.start("take_in", db=shared_db, path=large_export)
    while "done" not in hand.hear():
        pass
    time.sleep(random.Random(3).uniform(0, 0.05))
    hand.kill()
    hand.rest()
    with reopened() as door:
        arrived = door.doctor()
        assert arrived.problems == ()
        assert arrived.memories >= BATCH
        assert arrived.memories % BATCH == 0 or arrived.memories == IMPORTED
        again = door.import_(large_export)
        assert (again.unchanged, again.added) == (arrived.memories, IMPORTED - arrived.memories)
        held = [json.loads(line) for line in whole(door)]
    lines = Path(large_export).read_text(encoding="utf-8").splitlines()[1:]
    assert held == [json.loads(line) for line in lines]

    killed_while_reindexing(crew, shared_db)
    with reopened() as door:
        assert [json.loads(line) for line in whole(door)] == held


def killed_while_reindexing(crew: Any, db: str) -> None:
    chance = random.Random(5)
    for _ in range(2):
        hand = crew.start("reindex", db=db)
        hand.hear()
        time.sleep(chance.uniform(0, 0.3))
        hand.kill()
        hand.rest()


def test_a_connection_that_the_server_ends_is_told_clearly_and_the_next_call_works(
    crew: Any, postgres_store: str
) -> None:
    name = f"cut{time.monotonic_ns()}"
    with connect(postgres_store) as door, psycopg.connect(postgres_store) as other:
        door.remember("the tenant exists")
        hand = crew.start("cut_off", db=f"{postgres_store}&application_name={name}")
        hand.hear()
        other.execute("SELECT * FROM counters FOR UPDATE")
        hand.go()
        end_waiting_connection(postgres_store, name)
        told = hand.hear()
        other.rollback()
        assert told["kind"] == "StoreUnavailable"
        assert "cannot be reached" in told["error"]
        hand.go()
        assert hand.hear() == {"id": "arrived"}
        assert door.show("arrived").memory.content == "arrived at last"
        assert not exists(door, "lost")
        assert door.doctor().problems == ()


def test_a_connection_that_the_server_ended_in_between_is_replaced_unnoticed(postgres_store: str) -> None:
    name = f"idle{time.monotonic_ns()}"
    with connect(f"{postgres_store}&application_name={name}") as door:
        door.remember("before", id="before")
        with psycopg.connect(postgres_store) as other:
            end = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
            assert other.execute(end, [name]).fetchall() == [(True,)]
        assert door.show("before").memory.content == "before"
        door.remember("after", id="after")


def end_waiting_connection(dsn: str, name: str) -> None:
    """As soon as it waits for a lock, and so is in the middle of something."""
    waiting = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = %s AND wait_event_type = 'Lock'"
    )
    with psycopg.connect(dsn, autocommit=True) as server:
        while not server.execute(waiting, [name]).fetchall():
            time.sleep(0.01)
