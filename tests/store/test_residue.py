"""IS what is forgotten gone? No table, and no byte of a SQLite file or its log, holds a word of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, select

from onrecord import OnRecord, connect
from onrecord.store.tables import jobs, metadata, vectors
from onrecord.testing.builders import Clock, administrator, person
from onrecord.testing.embedder import StubEmbedder

#: Words that stand nowhere else, in each field that a memory can carry them in.
_SAID = {
    "content": "Zqxjcontent once said",
    "title": "Zqxjtitle",
    "hint": "Zqxjhint when asked",
    "tags": ["zqxjtag"],
    "category": "zqxjcategory",
    "source": "zqxjsource",
    "metadata": {"zqxjkey": "zqxjvalue"},
    "entities": ["thing:zqxjentity"],
    "query": {"zqxjquery": "zqxjselect"},
    "artifact": "zqxjartifact",
}
_MARK = "zqxj"


@pytest.fixture
def root(db: str, clock: Clock) -> Iterator[OnRecord]:
    with connect(db, caller=administrator(), clock=clock, embedder=StubEmbedder()) as door:
        yield door


def _forget_one(root: OnRecord, clock: Clock) -> None:
    """A memory with a past, an edge and references to it, in the middle of others."""
    for number in range(20):
        root.remember(f"an ordinary note {number} with words enough to fill a page " * 3)
    ann = root.as_caller(person("ann"))
    ann.remember(**_SAID, id="zqxjid", scope="user")
    clock.tick()
    ann.revise("zqxjid", content="Zqxjcontent then said", tags=["zqxjtag", "zqxjsecond"])
    ann.remember("a note that refers", id="other", scope="user", entities=["memory:zqxjid", "thing:kept"])
    ann.revise("other", content="a note that refers still")
    ann.relate("zqxjid", "supports", "other")
    ann.retire("zqxjid", reason="zqxjreason")
    ann.forget("zqxjid")


def test_no_table_holds_a_word_of_what_was_forgotten(root: OnRecord, clock: Clock) -> None:
    _forget_one(root, clock)
    with root._store._backend.reading() as connection:
        assert set(inspect(connection).get_table_names()) == {*metadata.tables, "onrecord_version"}
        for table in metadata.tables.values():
            for row in connection.execute(select(table)):
                assert _MARK not in repr(tuple(row)).lower(), table.name
    assert root.show("ann::other").memory.entities == ("thing:kept",)
    assert root.doctor().problems == ()


def test_no_vector_and_no_job_of_what_was_forgotten_is_left(root: OnRecord, clock: Clock) -> None:
    """They hold no word, but they hold what it meant."""
    kept = root.remember("an ordinary note", id="kept").memory
    before = _held(root)
    root.remember(**_SAID, id="zqxjid")
    assert [len(rows) for rows in _held(root)] == [2, 0]
    long = root.remember("zqxjword " * 2_000, id="zqxjlong").memory
    assert [len(rows) for rows in _held(root)] == [2, 1]
    for id in ("zqxjid", long.id):
        root.forget(id)
    assert kept.place is not None
    assert _held(root) == before == ([kept.place.row], [])
    assert root.doctor().problems == ()


def _held(root: OnRecord) -> tuple[list[int], list[int]]:
    with root._store._backend.reading() as connection:
        return (
            sorted(connection.execute(select(vectors.c.row)).scalars()),
            sorted(connection.execute(select(jobs.c.subject)).scalars()),
        )


def test_the_scan_sees_what_was_not_forgotten(root: OnRecord) -> None:
    """Else it would prove nothing."""
    root.remember(**_SAID, id="zqxjid")
    with root._store._backend.reading() as connection:
        holding = {
            name
            for name, table in metadata.tables.items()
            for row in connection.execute(select(table))
            if _MARK in repr(tuple(row)).lower()
        }
    assert holding == {"audit", "memories", "versions", "postings", "terms", "facets"}


def test_no_byte_of_a_file_or_its_log_holds_a_word_of_what_was_forgotten(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "store.db"
    with connect(path, caller=administrator(), clock=clock, embedder=StubEmbedder()) as root:
        root.remember(**_SAID, id="zqxjid")
        assert _MARK in _bytes(tmp_path)
        root.forget("zqxjid")
        _forget_one(root, clock)
        assert _MARK not in _bytes(tmp_path)
        root.remember("life goes on")
        assert _MARK not in _bytes(tmp_path)
    assert _MARK not in _bytes(tmp_path)


def _bytes(folder: Path) -> str:
    """All files of a store as one text: the database, its log and whatever else lies beside it."""
    files = sorted(folder.glob("store.db*"))
    return b"".join(file.read_bytes() for file in files).decode("latin-1").lower()
