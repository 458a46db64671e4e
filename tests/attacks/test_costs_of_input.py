"""WHAT does an input cost? Steps that grow with it and end at a bound, taken before anyone has to wait for them."""

import importlib
import json
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
import yaml
from starlette.requests import Request

from onrecord import OnRecord, connect
from onrecord.catalog import extraction, inspection, sql_text
from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.queries import read_query
from onrecord.catalog.resolution import MORE_WARNINGS, resolve_all, resolve_leniently
from onrecord.catalog.sql_text import entities_of_sql, parse_sql
from onrecord.errors import Invalid, OnRecordError
from onrecord.model import limits, near_names
from onrecord.model.rules import Choice, ListOf
from onrecord.model.shapes import Faults, MapOf, Object, Several
from onrecord.providers import scrubber, secret_spans
from onrecord.remember import scrub
from onrecord.remember.embed import QUICK_CHARACTERS, TOO_LONG
from onrecord.surfaces.rest import bodies
from onrecord.surfaces.rest.request_runner import THREADS, RequestRunner, RequestState
from onrecord.testing.catalog_fixture import MODELS
from onrecord.testing.embedder import StubEmbedder
from onrecord.text import analyzer
from onrecord.text.unicode_forms import MOST_MARKS, to_form
from onrecord.yaml_reader import UnreadableYaml, located, parse

from .conftest import Served

SHOP = HeldCatalog(models=MODELS)
MANY = 40_000


def steps_of(act: Callable[[], Any]) -> int:
    """How many functions are called meanwhile, ours and those of the interpreter: the same in every run."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def grows_with_its_input(act: Callable[[int], Any], size: int) -> bool:
    """Four times the input takes hardly more than four times the steps, where the square of it would be sixteen."""
    act(size)
    return steps_of(lambda: act(4 * size)) < 6 * steps_of(lambda: act(size))


# ---- SQL


@pytest.mark.parametrize(
    "sql",
    [
        lambda size: "SELECT id" + " + id" * size + " FROM orders",
        lambda size: "SELECT id FROM orders WHERE id = 1" + " OR id = 1" * size,
        lambda size: "SELECT id FROM orders ORDER BY id" + ", id" * size,
        lambda size: (
            "WITH c0 AS (SELECT 1)"
            + "".join(f", c{each} AS (SELECT 1 FROM c{each - 1})" for each in range(1, size))
            + " SELECT 1"
        ),
        lambda size: (
            "SELECT " + ", ".join(f"id AS a{each}" for each in range(size)) + " FROM orders ORDER BY a1"
        ),
    ],
    ids=["a long sum", "many conditions", "many keys of an order", "a chain of queries", "many outputs"],
)
def test_sql_is_read_in_steps_that_grow_with_it(sql: Callable[[int], str]) -> None:
    assert grows_with_its_input(lambda size: entities_of_sql(sql(size), SHOP), 150)


def test_types_within_types_are_left_when_they_have_cost_enough() -> None:
    depth = 60
    parsed = parse_sql("SELECT a::" + "decimal(" * depth + "1" + ")" * depth + " FROM orders")
    assert not parsed.statements
    assert "is too long or complex to read whole" in parsed.warnings[0]


@pytest.mark.parametrize(
    "piece", ["SELECT 1; ", "(", "{{", "a.", "/*", "''", "id + ", "\n--", "hello world "]
)
def test_no_sql_takes_more_steps_than_are_spent_on_it(piece: str) -> None:
    text = "SELECT " + piece * (limits.CONTENT_BYTES // len(piece) - 10)
    few = steps_of(lambda: parse_sql("SELECT 1"))
    # Each step of the parser is some dozens of calls, and each character one or two.
    most = 100 * sql_text._MOST_PARSED + 40 * limits.CONTENT_BYTES
    assert steps_of(lambda: entities_of_sql(text, SHOP)) < most + few


def test_a_statement_of_very_many_tables_and_columns_is_read_in_part_and_says_so() -> None:
    joins = "".join(f" JOIN orders AS o{each} ON o{each}.id = 1" for each in range(600))
    found = entities_of_sql(f"SELECT amount FROM orders{joins}", SHOP)
    assert found.canonicals[0] == "mydb.orders"
    assert "more tables and columns than we read" in found.warnings[-1]


def test_very_many_warnings_are_told_in_part_and_say_so() -> None:
    tables = ", ".join(f"t{each}" for each in range(2_000))
    warnings = entities_of_sql(f"SELECT 1 FROM {tables}", SHOP).warnings
    assert len(warnings) == limits.WARNINGS_SHOWN + 1
    assert warnings[-1] == MORE_WARNINGS


# ---- before the transaction


@pytest.fixture
def shop(tmp_path: Path, db: str) -> Iterator[OnRecord]:
    """A store that knows one model."""
    models = tmp_path / "layer" / "models" / "mydb"
    models.mkdir(parents=True)
    columns = [{"name": name} for name in ("id", "amount")]
    described = {
        "version": 6,
        "name": "orders",
        "sql_table": "orders",
        "data_source": "mydb",
        "columns": columns,
    }
    (models / "orders.yaml").write_text(yaml.safe_dump(described), encoding="utf-8")
    with connect(db) as door:
        door.ingest(str(tmp_path / "layer"))
        yield door


class Watching:
    """Does the real thing, and notes whether anyone else could have begun to write meanwhile."""

    def __init__(self, act: Callable[..., Any], db: str) -> None:
        self._act, self._db = act, db
        self.others_could_write: list[bool] = []

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.others_could_write.append(can_write(self._db))
        return self._act(*given, **named)


def can_write(db: str) -> bool:
    """Whether another line gets the lock that whoever writes holds: on the file, or on the counters of the tenant."""
    if db.startswith("postgresql:"):
        try:
            with psycopg.connect(db) as line:
                line.execute("SELECT 1 FROM counters FOR UPDATE NOWAIT")
                return True
        except psycopg.errors.LockNotAvailable:
            return False
    with closing(sqlite3.connect(db, timeout=0, isolation_level=None)) as file:
        try:
            file.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        file.execute("ROLLBACK")
        return True


def test_while_someone_writes_nobody_else_does(shop: OnRecord, db: str) -> None:
    """So that the tests below can fail."""
    shop.remember("first")
    assert can_write(db)
    with shop._store.writing(shop.caller, shop._clock()):
        assert not can_write(db)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT amount FROM orders",
        {
            "source_model": {
                "name": "m",
                "data_source": "mydb",
                "sql": "SELECT amount FROM orders",
                "columns": [{"name": "amount"}],
            },
            "dimensions": ["amount"],
        },
    ],
    ids=["as text", "in a query over models"],
)
def test_others_write_while_the_sql_of_a_save_or_a_revision_is_parsed(
    shop: OnRecord, db: str, monkeypatch: pytest.MonkeyPatch, query: Any
) -> None:
    watching = Watching(extraction.parse_sql, db)
    monkeypatch.setattr(extraction, "parse_sql", watching)
    saved = shop.remember("How amounts are added up.", query=query).memory
    assert "mydb.orders" in saved.entities
    shop.revise(saved.id, entities=["mydb.orders.id"])
    shop.revise(saved.id, query=query)
    assert watching.others_could_write == [True, True, True]


def test_others_write_while_secrets_are_sought(
    shop: OnRecord, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = Watching(scrubber.scrub, db)
    monkeypatch.setattr(scrub.scrubber, "scrub", watching)
    saved = shop.remember("The password is on paper.", title="Where it is").memory
    shop.revise(saved.id, content="The password: hunter2!x9", metadata={"note": "token"})
    assert "hunter2" not in shop.show(saved.id).memory.content
    assert watching.others_could_write
    assert all(watching.others_could_write)


def test_others_write_while_a_long_text_is_cut_into_words(
    shop: OnRecord, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = Watching(analyzer._gather, db)
    short = analyzer._gather
    monkeypatch.setattr(
        analyzer,
        "_gather",
        lambda text, *given: (watching if len(text) > 10_000 else short)(text, *given),
    )
    # What was cut for one store is not cut again for the next.
    kind = db.partition(":")[0] if ":" in db else "file"
    saved = shop.remember(f"longOrder_{kind}." * 2_000).memory
    shop.revise(saved.id, content=f"otherOrder_{kind}." * 2_000)
    assert watching.others_could_write == [True, True]
    assert [found.memory.id for found in shop.recall(f"otherOrder_{kind}").hits] == [saved.id]


#: Each is short enough once secrets are taken out, and a model would read nearly every character by itself.
MANY_PIECES = ("p/w=-" * 12_000, "=/.-" * 1_400, "数据" * 2_800, "0f3a9 " * 950)


@pytest.mark.parametrize("text", MANY_PIECES, ids=lambda text: text[:5])
def test_whoever_saves_does_not_wait_until_a_model_has_read_very_many_pieces(text: str) -> None:
    embedder = StubEmbedder()
    with connect(":memory:", embedder=embedder) as door:
        saved = door.remember(text)
        assert len(saved.memory.content) < QUICK_CHARACTERS
        assert saved.degraded == (TOO_LONG,)
        usual = door.remember(("Revenue is net of refunds. " * 222)[:QUICK_CHARACTERS])
        assert (usual.degraded, len(embedder.texts)) == ((), 1)
        assert door.revise(usual.memory.id, content=f"{text} again").degraded == (TOO_LONG,)
        assert len(embedder.texts) == 1
        while door.worker.run_once() is not None:
            pass
        assert len(embedder.texts) == 3


def test_a_long_text_has_the_same_words_at_the_same_places_as_its_parts() -> None:
    for text in ("netRevenue of_orders ", "数据 and ", "plain words "):
        whole, parts = dict[str, list[int]](), dict[str, list[int]]()
        words = analyzer.gather_places(text * 1_000, 7, whole)
        start = 7
        for _ in range(1_000):
            start += analyzer.gather_places(text, start, parts)
        assert (words, whole) == (start - 7, parts)


# ---- names that are not known


def unknown_fields(count: int) -> dict[str, int]:
    return {f"contnet{each}": each for each in range(count)}


def test_many_unknown_fields_are_told_in_few_words_by_the_door() -> None:
    with connect(":memory:") as door, pytest.raises(Invalid) as refused:
        door.remember("x", **unknown_fields(MANY))
    assert len(refused.value.faults) == limits.FAULTS_SHOWN + 1
    assert refused.value.faults[0].message == "is not a field here; did you mean content?"
    assert (
        refused.value.faults[-1].message
        == f"is not a field here, nor are {MANY - limits.FAULTS_SHOWN - 1} more"
    )


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/slash", "/v1/memory/entries", "/mcp"])
def test_many_unknown_fields_are_told_in_few_words_over_http(
    served: Callable[..., Served],
    path: str,
) -> None:
    server = served(embedder="none")
    body: dict[str, Any] = {"content": "x", **unknown_fields(MANY)}
    if path == "/mcp":
        call = {"name": "memory_save", "arguments": body}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accepts = {"Accept": "application/json, text/event-stream"}
    answer = server.client.post(path, json=body, headers=accepts)
    assert len(answer.content) < 20_000
    assert "contnet0" in answer.text or path == "/v1/memory/entries"


def test_near_names_are_looked_for_a_few_times_and_never_for_a_long_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def noting(name: str, known: Any, n: int) -> list[str]:
        asked.append(name)
        return []

    monkeypatch.setattr(near_names, "get_close_matches", noting)
    near_names.unknown_names([f"name{each}" for each in range(MANY)], {"known": 1}, "is unknown")
    assert len(asked) == near_names._MOST_LOOKED_FOR
    near_names.near_name("a" * 65, ["known"])
    assert len(asked) == near_names._MOST_LOOKED_FOR


def test_unknown_references_are_compared_with_the_catalog_a_few_times() -> None:
    class Counting(HeldCatalog):
        near = near_names.NearNames()
        read = 0

        @property
        def near_names(self) -> near_names.NearNames:
            return self.near

        def model_names(self) -> list[str]:
            Counting.read += 1
            return list(super().model_names())

    unknown = [f"mydb.order{each}" for each in range(limits.ENTITIES)]
    catalog = Counting(models=MODELS)
    resolve_leniently(unknown, catalog)
    assert Counting.read == near_names._MOST_LOOKED_FOR
    with pytest.raises(Invalid) as refused:
        resolve_all(unknown, catalog)
    assert len(refused.value.faults) == limits.FAULTS_SHOWN


@pytest.mark.parametrize(
    "rule",
    [
        ListOf(Choice(("high", "low")), at_most=None),
        Several(Choice(("high", "low"))),
        Several(Object("an item", {"name": str})),
    ],
    ids=["a list of words", "a list of one shape", "a list of objects"],
)
def test_of_very_many_faults_in_a_list_the_first_are_told(rule: Any) -> None:
    seen = 0

    class Items(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            nonlocal seen
            for item in super().__iter__():
                seen += 1
                yield item

    with pytest.raises(ValueError):
        rule(Items(["hihg"] * MANY))
    assert seen == limits.FAULTS_SHOWN


def test_of_very_many_faults_in_a_map_the_first_are_told() -> None:
    with pytest.raises(Faults) as refused:
        MapOf("names", str, Choice(("high", "low")))({f"{each}": "hihg" for each in range(MANY)})
    assert len(refused.value.faults) == limits.FAULTS_SHOWN


def test_a_query_names_so_many_columns_and_no_more() -> None:
    def names(count: int) -> dict[str, Any]:
        return {"source_model": "mydb.orders", "filters": [f"not_there_{each} = 1" for each in range(count)]}

    with pytest.raises(Invalid) as refused:
        entities_of_query(read_query(names(2_000)), SHOP)
    assert len(refused.value.faults) == limits.FAULTS_SHOWN
    known = {
        "source_model": "mydb.orders",
        "measures": [{"formula": f"amount:a{each}"} for each in range(1_001)],
    }
    with pytest.raises(Invalid, match="more than 1000 columns and measures"):
        entities_of_query(read_query(known), SHOP)


# ---- JSON and YAML


def test_a_name_that_stands_twice_is_found_without_comparing_all_with_all() -> None:
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    pairs: list[tuple[str, Any]] = [(Name(f"name{each}"), each) for each in range(MANY)]
    with pytest.raises(ValueError, match="'name39999' appears twice"):
        bodies._without_repeats([*pairs, (Name(f"name{MANY - 1}"), 0)])
    assert compared < 4 * MANY


def test_a_long_text_that_is_referred_to_very_often_is_too_large() -> None:
    text = f"a: &long {'x' * 50_000}\nb: [{', '.join(['*long'] * 5_000)}]\n"
    root = parse(text).root
    assert root is not None
    with pytest.raises(UnreadableYaml, match="too large"):
        located(root, len(text))


def test_a_long_name_over_very_many_values_is_too_large() -> None:
    text = f"{'x' * 1_000}: [{', '.join(['1'] * 50_000)}]\n"
    root = parse(text).root
    assert root is not None
    with pytest.raises(UnreadableYaml, match="too large"):
        located(root, len(text))


# ---- secrets


@pytest.mark.parametrize("filler", ["-", "=-", "::", "://a:", "=_", " for ", '="', "=a1"])
def test_each_letter_is_part_of_few_values_that_a_rule_looks_at(filler: str) -> None:
    for rule in secret_spans._ALL_RULES:
        if rule.scan:
            continue
        for anchor in rule.anchors:
            judged = 0

            def judge(candidate: Any, accept: Any = rule.accept) -> bool:
                nonlocal judged
                judged += candidate.end - candidate.start
                return bool(accept(candidate))

            text = (anchor + filler) * 600
            watched = replace(rule, accept=judge)
            list(secret_spans._anchored(watched, anchor, text, secret_spans._fold(text)))
            assert judged <= (secret_spans._MOST_REJECTED + 2) * len(text), (rule.name, anchor)


def test_what_is_not_looked_at_any_more_is_hidden() -> None:
    secret = "q7Zr2Lk9Vb4Xn8Tm3Wp6"
    for count in (1, 7, 20, 100, 1_000):
        assert secret not in scrubber.scrub(f"see ?{'sig=-' * count}{secret}").text


def test_a_rule_is_tried_once_at_each_place() -> None:
    for anchor, rules in secret_spans._ASCII_CONTEXT + secret_spans._LONG:
        for rule in rules:
            shorter = [each for each in rule.anchors if each != anchor and anchor.startswith(each)]
            assert not shorter, (rule.name, anchor)


def test_names_that_hide_the_same_secret_are_numbered_in_steps_that_grow_with_them() -> None:
    def hide(count: int) -> None:
        scrubber.scrub_value("", {f"sk-ant-{each:020}abcXYZ": 1 for each in range(count)})

    assert grows_with_its_input(hide, 100)


# ---- words


def test_marks_over_one_letter_are_sorted_only_as_many_as_a_script_has() -> None:
    marks = "\u0345\u0327\u0301"
    assert len(to_form("NFKC", "a" + marks * 100_000 + "b")) <= MOST_MARKS + 2
    assert to_form("NFC", "e\u0301" * 1_000) == "é" * 1_000
    lines = "─" * 100 + "…" * 100
    assert to_form("NFC", lines) == lines
    assert analyzer.document_words("cafe\u0301" + marks * 100_000) == analyzer.document_words(
        "cafe\u0301" + marks * 20
    )


def test_long_names_are_not_kept_for_the_next_time() -> None:
    before = analyzer._known_document_terms.cache_info().currsize
    for each in range(5):
        analyzer.document_words(f"name{each}." * 2_000)
        analyzer.question_terms(f"name{each}." * 2_000)
    assert analyzer._known_document_terms.cache_info().currsize == before


def test_a_row_of_backslashes_is_looked_at_once() -> None:
    for pattern in (inspection._BREAKS_A_CELL, inspection._BREAKS_CODE_IN_A_CELL):
        assert pattern.search("\\" * 1_000_000) is None
        assert pattern.sub(r"\1\1\\\2", "a\\\\|b") == r"a\\\\\|b"


# ---- lanes


def request_of(key: str, spaces: int = 1) -> Request:
    scope = {
        "type": "http",
        "headers": [(b"authorization", b"Bearer" + b" " * spaces + key.encode())],
        "client": ("127.0.0.1", 1),
        "onrecord.request": RequestState(request=key),
    }
    return Request(scope)


@pytest.mark.parametrize("lane", [{}, {"reads": True}, {"slow": True}], ids=["usual", "reading", "slow"])
def test_a_tenant_that_fills_its_threads_leaves_one_to_the_others(
    served: Callable[..., Served],
    lane: dict[str, bool],
) -> None:
    """Also where it has many keys, or writes one in many ways: nobody has come with any of them before."""
    server = served(embedder="none")
    parts, busy, other = server.parts, server.make_key(tenant="busy"), server.make_key(tenant="other")
    runner = RequestRunner(parts.door, parts.store, parts.authenticator, parts.throttle)
    let_go = threading.Event()

    async def crowd() -> bool:
        async with anyio.create_task_group() as tasks:
            for spaces in range(1, 3 * THREADS):
                asks = request_of(busy, spaces)
                tasks.start_soon(lambda asks=asks: runner.run(let_go.wait, by=asks, **lane))
            # Until all are known, if they are asked who they are before they take a thread.
            with anyio.move_on_after(20):
                while len(runner._tenants) < 3 * THREADS - 1:
                    await anyio.sleep(0.01)
            answered = False
            # Only where nobody leaves a thread to others is this waited for.
            with anyio.move_on_after(20):
                answered = await runner.run(lambda: True, by=request_of(other), **lane)
            let_go.set()
        return answered

    assert anyio.run(crowd)


# ---- pages


def test_a_difference_of_very_many_changes_comes_in_pages_over_every_surface(
    served: Callable[..., Served],
) -> None:
    server = served(embedder="none")
    for each in range(70):
        server.parts.door.remember(f"note {each}", id=f"n{each}")
    found: list[str] = []
    mark = None
    while True:
        asked = {"since": "2020-01-01", "limit": 30} | ({"after": mark} if mark else {})
        answer = server.client.get("/v1/diff", params=asked)
        found += [each["id"] for each in answer.json()["memories"]]
        mark = answer.json()["next"]
        assert ("link" in answer.headers) == (mark is not None)
        if mark is None:
            break
    assert found == [f"n{each}" for each in range(70)]
    unasked = server.client.get("/v1/diff", params={"since": "2020-01-01"}).json()
    assert (len(unasked["memories"]), unasked["next"] is None) == (50, False)


def test_a_page_of_long_memories_ends_early(tmp_path: Path) -> None:
    with connect(tmp_path / "long.db", embedder=None) as door:
        for each in range(60):
            door.remember(f"{each} " + "x" * 60_000, id=f"n{each}")
        pages = [door.diff("2020-01-01", limit=1_000)]
        while pages[-1].next is not None:
            pages.append(door.diff("2020-01-01", limit=1_000, after=pages[-1].next))
    assert [len(page.memories) for page in pages] == [17, 17, 17, 9]


def test_what_is_too_large_to_be_kept_is_not_searched_for_secrets(tmp_path: Path) -> None:
    with connect(tmp_path / "files.db") as door:

        def write() -> None:
            with pytest.raises(Invalid, match="at most 1048576 bytes"):
                door.write_artifact("a.txt", "sig=-" * 300_000, conversation="1")

        assert steps_of(write) < 10_000


def test_a_body_with_many_names_is_read_in_steps_that_grow_with_it() -> None:
    def read(count: int) -> None:
        bodies._parsed(json.dumps({f"name{each}": [{}] for each in range(count)}).encode())

    assert grows_with_its_input(read, 500)


def test_everything_that_the_benchmark_of_attacks_gives_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured here; a line whose reader was renamed would measure nothing either."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    attack = importlib.import_module("attack")
    for each in attack.ATTACKS:
        with suppress(OnRecordError, ValueError, attack.UnreadableYaml, RecursionError):
            each.act(each.make(256))
    assert {"SQL", "migration", "secrets"} <= {each.target for each in attack.ATTACKS}
