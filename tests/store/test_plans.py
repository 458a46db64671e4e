"""DOES SQLite find its way? Statements of every save must go by an index, however many rows there are."""

import re
import sqlite3
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select

from onrecord import connect
from onrecord.model.limits import LIST_ORDERS, ListOrder
from onrecord.store.index import search
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.records import alike, duplicates, listing, membership, reading, writing
from onrecord.store.sqlite.fetching import DIALECT
from onrecord.store.visibility import Visibility

_VISIBILITIES = [Visibility(*each) for each in product((False, True), repeat=3)]


def _plan(path: Path, statement: Select[Any]) -> str:
    with sqlite3.connect(path) as connection:
        # A list of fixed values stands as a mark until it is run; one value will do for a plan.
        text = re.sub(
            r"__\[POSTCOMPILE_\w+\]|\(__\[POSTCOMPILE_\w+\]\)", "(?)", str(statement.compile(dialect=DIALECT))
        )
        given = [None] * text.count("?")
        return " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", given))


@pytest.mark.parametrize("visibility", _VISIBILITIES)
def test_a_save_looks_for_its_twin_by_an_index(tmp_path: Path, visibility: Visibility) -> None:
    connect(tmp_path / "store.db").close()
    assert "vectors_text (tenant=? AND collection=? AND text_hash=?)" in _plan(
        tmp_path / "store.db", search._same_text(visibility)
    )
    assert "content_hash=?" in _plan(tmp_path / "store.db", duplicates._same_content(visibility))
    assert "content_hash=?" in _plan(tmp_path / "store.db", duplicates._SAME_CONTENT)


@pytest.mark.parametrize("visibility", _VISIBILITIES)
def test_a_save_reads_what_is_like_it_by_an_index(tmp_path: Path, visibility: Visibility) -> None:
    connect(tmp_path / "store.db").close()
    assert "memories USING INDEX sqlite_autoindex_memories_1 (tenant=? AND collection=? AND row=?)" in _plan(
        tmp_path / "store.db", alike._near(visibility, of_anyone=False)
    )
    assert "content_hash=?" in _plan(tmp_path / "store.db", alike._same_content(visibility))


@pytest.mark.parametrize("order", LIST_ORDERS)
def test_a_list_goes_by_the_index_of_its_order(tmp_path: Path, order: ListOrder) -> None:
    """Its first page is read from the end of an index: nothing is sorted, and no more rows are read than are shown."""
    with connect(tmp_path / "store.db") as door:
        door.remember("note")
        with door._store.reading(door.caller, datetime.now(UTC)) as reading:
            view = reading._view  # type: ignore[attr-defined]
            _, statement = listing.ordered(view, MemoryFilter(order=order), None)
    plan = _plan(tmp_path / "store.db", statement.limit(20))
    name = {"updated": "memories_newest", "created": "memories_created", "oldest": "memories_created"}[order]
    assert f"USING INDEX {name} (tenant=? AND collection=?)" in plan
    assert "TEMP B-TREE" not in plan


def test_what_one_is_a_member_of_is_found_from_the_member(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    connect(path).close()
    listed = _plan(path, membership.of_member())
    assert "(tenant=? AND created_by=?)" in listed
    assert "conversation_members_user (tenant=? AND user=?)" in listed
    assert "SCAN conversation" not in listed
    for is_admin, keys in product((False, True), (1, 2)):
        named = _plan(path, membership._keyed(is_admin, keys))
        assert named.count("(tenant=? AND created_by=? AND id=?)") == keys, named


@pytest.mark.parametrize("visibility", _VISIBILITIES)
def test_a_memory_is_found_by_its_id_also_where_it_was_left_behind(
    tmp_path: Path, visibility: Visibility
) -> None:
    path = tmp_path / "store.db"
    connect(path).close()
    for statement, by_name in product((reading._history, writing._target), (False, True)):
        plan = _plan(path, statement(visibility, by_name))
        assert "(tenant=? AND collection=? AND id=?)" in plan
        assert ("PRIMARY KEY (tenant=? AND collection=? AND facet=?)" in plan) == by_name
        assert "SCAN memories" not in plan
