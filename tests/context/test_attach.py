"""WHAT is known of what another tool's answer mentions? By any of its names, at five statements, whatever the answer holds."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from onrecord import OnRecord
from onrecord.attached_buffer import AttachedBuffer, Member
from onrecord.catalog.mentions import MOST_CHARACTERS, MOST_NAMES, mentions
from onrecord.store.ports.store import Store
from onrecord.testing.builders import administrator, person, shown_ids
from tests.recall.test_lineage import a_manifest
from tests.stores import InAFile, OnPostgres

URN = "urn:li:dataset:(urn:li:dataPlatform:postgres,warehouse.public.orders,PROD)"
COLUMN = f"urn:li:schemaField:({URN},total)"


def attached(door: OnRecord, answer: Any, **more: Any) -> list[str]:
    return shown_ids(door.attach(answer, **more).memories)


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> OnRecord:
    """What is known of a table, a column of it and another table, some of it from before the catalog."""
    door = OnRecord(store, person())
    door.remember("Refunds are negative", id="urn", entities=[URN])
    door.remember("Loaded at four", id="bare", entities=["orders"])
    made = a_manifest(tmp_path / "manifest.json", {"orders": [], "visits": []}, relation="warehouse.public")
    door.as_caller(administrator()).ingest(made)
    door.remember("Amounts are net", id="full", entities=["shop.orders"])
    door.remember("Totals are in cents", id="column", entities=["shop.orders.total"])
    door.remember("Bots inflate it", id="other", entities=["shop.visits"])
    return door


#: What begins and ends a transaction.
AROUND = ("BEGIN", "COMMIT", "ROLLBACK", "SELECT set_config")


@contextmanager
def statements() -> Iterator[list[str]]:
    """What a database is told meanwhile. SQLite tells it itself, since it is asked past SQLAlchemy too."""
    told: list[str] = []

    def note(sql: str) -> None:
        if not sql.startswith(AROUND):
            told.append(sql)

    def hear(connection: Any, cursor: Any, sql: str, *_: Any) -> None:
        if connection.dialect.name != "sqlite":
            note(sql)

    def trace(connection: Any, *_: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(note)

    hooks = {"checkout": trace, "before_cursor_execute": hear}
    for name, hook in hooks.items():
        event.listen(Engine, name, hook)
    yield told
    for name, hook in hooks.items():
        event.remove(Engine, name, hook)


#: What mentions the table; the memories about it come in any order, those about its column after them.
OF_ORDERS: dict[str, tuple[Any, Any]] = {
    "a URN in JSON": ({"entities": [{"urn": URN}]}, None),
    "a canonical name in a text": ("Rows of shop.orders: 12", None),
    "a bare name": ({"table": "orders"}, None),
    "as another database folds it": ("ERROR: table ORDERS is locked", None),
    "with a schema": ('relation "public.orders" is empty', None),
    "SQL in the arguments": ("12 rows", {"sql": "select count(*) from warehouse.public.orders o"}),
    "SQL in a text": ("It ran:\n```sql\nSELECT 1 FROM orders\n```\nand failed.", None),
    "JSON in a text": (json.dumps({"result": json.dumps([{"from": URN}])}), None),
    "arguments that are a text": ("", "orders"),
}


class AttachSuite:
    @pytest.mark.parametrize("given", OF_ORDERS)
    def test_a_table_is_known_by_every_name_of_it(self, shop: OnRecord, given: str) -> None:
        answer, arguments = OF_ORDERS[given]
        told = shop.attach(answer, arguments=arguments)
        assert set(shown_ids(told.memories[:3])) == {"urn", "bare", "full"}
        assert shown_ids(told.memories[3:]) == ["column"]
        assert told.references[0] == "shop.orders"

    @pytest.mark.parametrize(
        ("answer", "arguments"),
        [
            ({"column": "shop.orders.total"}, None),
            ({"field": COLUMN}, None),
            ('column o.totl does not exist: did you mean "orders.total"?', None),
            ([{"total": 5}], "select o.total from orders as o"),
            ("PUBLIC.ORDERS.TOTAL", None),
        ],
    )
    def test_a_column_is_known_with_its_table(self, shop: OnRecord, answer: Any, arguments: Any) -> None:
        told = shop.attach(answer, arguments=arguments)
        assert {"shop.orders", "shop.orders.total"} == set(told.references)
        assert set(shown_ids(told.memories)) == {"urn", "bare", "full", "column"}

    def test_a_failed_call_is_told_what_is_known_of_the_table_that_lacks_the_column(
        self, shop: OnRecord
    ) -> None:
        failed = "ERROR:  column o.revenue does not exist\nLINE 1: SELECT o.revenue FROM orders o\n               ^"
        for answer in (failed, "no such column: shop.orders.revenue", {"error": "unknown: orders.revenue"}):
            assert set(attached(shop, answer)) == {"urn", "bare", "full", "column"}

    def test_a_word_that_only_a_column_has_is_no_mention_of_it(self, shop: OnRecord) -> None:
        """A column may be called like any word; with its table it is meant, and written as a name too."""
        shop.remember("Closed days are missing", id="status", entities=["thing:x", "shop.orders.total"])
        assert attached(shop, {"total": 3, "day": "Monday"}) == []
        assert "column" in attached(shop, 'unknown column "total"')

    def test_without_a_catalog_names_are_those_that_memories_refer_to(self, store: Store) -> None:
        door = OnRecord(store, person())
        door.remember("Amounts are net", id="full", entities=["shop.orders"])
        door.remember("In cents", id="column", entities=["shop.orders.net_total"])
        door.remember("It rains", id="thing", entities=["thing:Oslo"])
        assert attached(door, "the orders of today") == ["full"]
        assert attached(door, "select net_total from sales") == ["column"]
        assert attached(door, {"city": "oslo"}) == ["thing"]
        door.remember("Another", id="namesake", entities=["crm.orders"])
        assert attached(door, "the orders of today") == []
        assert attached(door, "the crm.orders of today") == ["namesake"]

    def test_names_of_two_tenants_are_apart(self, shop: OnRecord) -> None:
        other = shop.as_caller(person(tenant="beta"))
        assert other.attach([URN, "shop.orders", "select total from orders"]).references == ()
        other.remember("Theirs", id="beta", entities=["shop.orders"])
        told = other.attach("select total from shop.orders")
        assert (shown_ids(told.memories), told.references) == (["beta"], ("shop.orders",))

    @pytest.mark.parametrize("number", [0, 1, 2_000])
    def test_five_statements_are_enough_whatever_the_answer_holds(self, shop: OnRecord, number: int) -> None:
        shop.as_caller(administrator()).remember(
            "For everyone", id="every", scope="global", entities=["shop.orders"]
        )
        answer = [
            {"urn": URN, "sql": f"select a{each}.total from shop.orders a{each}", "name": f"table_{each}"}
            for each in range(number)
        ]
        arguments = "select o.total, v.day from orders o join visits v on v.day = o.day"
        with statements() as told:
            found = shop.attach(answer, arguments=arguments, conversation="talk")
        assert "global:every" in (*shown_ids(found.memories), *found.omitted)
        assert 1 < len(told) <= 5, told

    def test_an_answer_without_names_asks_nothing(self, shop: OnRecord) -> None:
        with statements() as told:
            assert shop.attach([1, 2.5, None, True], arguments="...").text == ""
        assert told == []

    def test_of_very_many_things_the_first_are_told(self, store: Store) -> None:
        door = OnRecord(store, person())
        for number in range(120):
            door.remember(f"note {number}", id=f"m{number}", entities=[f"urn:li:dataset:({number})"])
        many = [f"urn:li:dataset:({number})" for number in range(119, -1, -1)]
        told = door.attach(many * 1_000)
        assert shown_ids(told.memories) == ["m119", "m118", "m117", "m116", "m115"]
        assert told.omitted[0] == "m114"


class TestInAFile(InAFile, AttachSuite):
    """In a file."""


class TestOnPostgres(OnPostgres, AttachSuite):
    """On a server."""


def _nested(depth: int) -> Any:
    value: Any = "thing:core"
    for _ in range(depth):
        value = [value]
    return value


#: Answers that were made to be large, or to be slow to read, and whether they can be read to their end.
HOSTILE: dict[str, tuple[Any, bool]] = {
    "a thousand lists in each other": (_nested(1_000), True),
    "very many lists in each other": (_nested(200_000), False),
    "very many brackets": ("[" * 1_000_000, False),
    "one long text": ("word " * 200_000, False),
    "very many words": (" ".join(f"w{each}" for each in range(50_000)), False),
    "one long word": ("a" * 1_000_000, False),
    "very many URNs": ([f"urn:li:dataset:({each})" for each in range(100_000)], False),
    "URNs in URNs": ("urn:li:(" * 60_000, True),
    "URNs without an end": ("urn:li:" * 60_000, True),
    "very many statements": ("select a from b; " * 20_000, True),
    "SQL that never ends": ("select a from b where (" * 20_000, True),
    "dots": ("a." * 240_000, True),
    "quotes": ('"' * 400_000, True),
    "line breaks in SQL": ("select from" + "\n " * 200_000, True),
    "texts that hold JSON": (json.dumps(json.dumps(json.dumps("x" * 100_000))), True),
}


@pytest.mark.parametrize("answer", HOSTILE)
def test_an_answer_of_any_size_and_shape_is_read_as_far_as_there_are_steps(answer: str) -> None:
    value, is_whole = HOSTILE[answer]
    found = mentions("thing:first", value)
    assert found.found[0].name == "thing:first"
    assert len(found.found) <= 2 * MOST_NAMES
    assert found.is_whole is is_whole


def test_what_cannot_be_stored_is_no_name() -> None:
    assert [each.name for each in mentions("thing:\x00", "thing:a\ud800b", "thing:ok").found] == ["thing:ok"]


@pytest.mark.parametrize(
    ("urn", "is_one"),
    [
        ("urn:li:abc", False),
        ("urn:li:abcd", True),
        ("urn:li:" + "x" * 492, True),
        ("urn:li:" + "x" * 493, False),
    ],
)
def test_a_urn_is_longer_than_ten_and_shorter_than_five_hundred_characters(urn: str, is_one: bool) -> None:
    for value in (urn, {"a": [urn]}, f"see {urn}."):
        assert (urn in [each.name for each in mentions(value).found]) is is_one


def test_names_are_read_in_the_order_of_the_document_each_once() -> None:
    document = {"b.two": ["a.one", {"c.three": "a.one and b.two"}], "d.four": "thing:Plan A"}
    marked = [each.name for each in mentions(document).found if each.is_marked and "." in each.name]
    assert marked == ["b.two", "a.one", "c.three", "d.four"]
    assert "thing:Plan A" in [each.name for each in mentions(document).found]


def test_what_goes_on_beyond_the_bound_is_told_to_be_cut(door: Any) -> None:
    long = "word " * (MOST_CHARACTERS // 5)
    assert door().attach(f"{long} thing:late").cut is True
    assert door().attach("thing:early").cut is False


def test_what_a_conversation_was_told_is_bounded() -> None:
    told = AttachedBuffer(most=6, of_one=3)
    ann, bob = (Member("acme", user, ("ann", "talk")) for user in ("ann", "bob"))  # type: ignore[arg-type]
    told.note(ann, "abcd")
    assert told.attached_before(ann, "abcde") == set("bcd")
    assert told.attached_before(bob, "bcd") == set()
    told.note(bob, "xyz")
    assert told.attached_before(ann, "bcd") == set()
    assert told.attached_before(bob, "xyz") == set("xyz")
