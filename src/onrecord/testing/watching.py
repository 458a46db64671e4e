"""DO memories notice that what they are about has changed? What the watcher marks, clears, and leaves alone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any, Final

import pytest
from sqlalchemy import Engine, event

from onrecord.care.status import Watching
from onrecord.catalog.ingest import Ingested
from onrecord.errors import Forbidden, Invalid
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS
from onrecord.operation import StorePolicy, Watch
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    HOME,
    Clock,
    Conformance,
    administrator,
    browsed,
    change_names,
    person,
    recalled,
)
from onrecord.testing.upkeep import worked

COLUMN: Final = "shop.orders.amount"
QUERY: Final = {"source_model": "orders", "measures": ["amount:sum"], "filters": ["amount > 3"]}
SQL: Final = "SELECT o.amount, r.amount AS back FROM orders o JOIN refunds r ON r.id = o.id"
COLUMNS: Final = "id:INT amount:DOUBLE city:TEXT"


class Shop:
    """A folder of models that a test changes, and a door that watches it."""

    def __init__(self, folder: Path, door: OnRecord, clock: Clock) -> None:
        self.folder, self.door, self.clock = folder, door, clock
        self.write("orders", COLUMNS)
        self.write("refunds", "id:INT amount:DOUBLE")
        self.take_in()

    def write(self, name: str, columns: str, **more: Any) -> None:
        models = self.folder / "models" / "shop"
        models.mkdir(parents=True, exist_ok=True)
        listed = [dict(zip(("name", "type"), each.split(":"), strict=True)) for each in columns.split()]
        lines = [f"name: {name}", "data_source: shop", f"sql_table: {name}", "columns:"]
        lines += [f"- {{name: {each['name']}, type: {each['type']}}}" for each in listed]
        lines += [f"{key}: {value}" for key, value in more.items()]
        (models / f"{name}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def take_in(self) -> Ingested:
        self.clock.tick(days=1)
        return self.door.ingest(str(self.folder))

    def change(self, columns: str | None = COLUMNS, **more: Any) -> None:
        """Another day the model of orders has these columns, or is gone; and the watcher looks."""
        if columns is None:
            (self.folder / "models" / "shop" / "orders.yaml").unlink()
        else:
            self.write("orders", columns, **more)
        self.take_in()
        assert worked(self.door) == 0
        self.clock.tick(days=1)

    def status(self, id: str) -> tuple[str, str | None]:
        memory = self.door.show(id).memory
        return memory.status, memory.status_reason


class WatchingConformance(Conformance):
    """What the watcher does."""

    @pytest.fixture
    def watched(self, store: Store, clock: Clock, tmp_path: Path) -> Shop:
        policy = StorePolicy(watch=Watch(timedelta(minutes=15)))
        return Shop(tmp_path / "source", OnRecord(store, administrator(), clock=clock, policy=policy), clock)

    def test_a_memory_goes_stale_with_its_reason_and_comes_back_by_itself(self, watched: Shop) -> None:
        door = watched.door
        kept = door.remember("Amounts are net of refunds.", entities=[COLUMN], id="a").memory
        mine = door.as_caller(person("bob"))
        mine.remember("My own note on amounts.", entities=[COLUMN], id="b", scope="user")
        watched.change("id:INT city:TEXT")
        gone = ("stale", f"{COLUMN} is gone (since 2026-03-03)")
        assert [watched.status(id) for id in ("a", "bob::b")] == [gone, gone]
        stale = door.show("a").memory
        assert (stale.entities, stale.updated_at, stale.verified_at) == (
            (COLUMN,),
            kept.updated_at,
            kept.verified_at,
        )
        assert recalled(door, "net of refunds") == []
        assert recalled(door, "net of refunds", statuses=["stale"]) == ["a"]
        assert sorted(browsed(door, statuses=["stale"])) == ["a", "bob::b"]
        assert {each.value: each.memories for each in door.tally("status").groups} == {"stale": 2}
        watched.change()
        assert [watched.status(id) for id in ("a", "bob::b")] == [("active", None)] * 2
        versions = door.history("a").versions
        assert [(each.change, each.by, each.origin) for each in versions] == [
            ("remember", "root", "person"),
            ("stale", "watcher", "tool"),
            ("active again", "watcher", "tool"),
        ]
        assert recalled(door, "net of refunds") == ["a"]
        assert door.doctor().problems == ()

    def test_looking_again_changes_nothing_and_a_further_change_is_told(self, watched: Shop) -> None:
        watched.door.remember("Orders are odd.", entities=["shop.orders"], id="a")
        watched.change("id:INT city:TEXT")
        first = watched.status("a")
        for _ in range(3):
            worked(watched.door)
            watched.clock.tick(minutes=15)
        assert change_names(watched.door, "a") == ["remember", "stale"]
        watched.change("id:TEXT city:TEXT")
        assert watched.status("a")[1] == f"{first[1]}; shop.orders.id was INT and is TEXT (since 2026-03-05)"

    def test_what_a_person_marked_is_the_persons_to_clear(self, watched: Shop) -> None:
        door = watched.door
        door.remember("Amounts are net.", entities=[COLUMN], id="a")
        door.revise("a", status="stale", status_reason="I doubt it.")
        watched.change("id:INT city:TEXT")
        watched.change()
        assert watched.status("a") == ("stale", "I doubt it.")

    def test_what_was_written_after_the_change_is_about_what_is_there_now(self, watched: Shop) -> None:
        watched.change("id:INT amount:TEXT city:TEXT", meta="{deprecated: true}")
        watched.door.remember(
            "The table is deprecated; amounts are texts.", entities=["shop.orders", COLUMN], id="a"
        )
        watched.change("id:INT amount:TEXT city:TEXT more:INT", meta="{deprecated: true}")
        assert watched.status("a") == ("active", None)

    @pytest.mark.parametrize(
        "clear",
        [
            pytest.param({"content": "Amounts are texts by now."}, id="revised"),
            pytest.param({"status": "active"}, id="said to be active"),
            pytest.param({"vouch": True}, id="vouched for"),
        ],
    )
    def test_revising_or_verifying_clears_it_for_good(self, watched: Shop, clear: dict[str, Any]) -> None:
        door = watched.door
        door.remember("Amounts are numbers.", entities=[COLUMN], id="a")
        door.remember("Amounts are never below zero.", entities=[COLUMN], id="b")
        watched.change("id:INT amount:TEXT city:TEXT")
        door.revise("a", tags=["money"])
        assert watched.status("a")[0] == "stale", "who files it has not looked at it"
        door.revise("b", verified_at=watched.clock.now - timedelta(days=2))
        assert watched.status("b")[0] == "stale", "it was checked before it changed"
        door.revise("a", **clear)
        door.revise("b", verified_at=watched.clock.now)
        watched.clock.tick(days=1)
        assert [watched.status(id) for id in "ab"] == [("active", None)] * 2
        watched.change("id:INT amount:TEXT city:TEXT more:INT")
        assert [watched.status(id) for id in "ab"] == [("active", None)] * 2

    def test_approving_clears_it_and_so_does_saving_it_again(self, watched: Shop) -> None:
        door = watched.door
        door.remember("Amounts are numbers.", entities=[COLUMN], id="a")
        door.remember("Amounts are never below zero.", entities=[COLUMN], id="b")
        watched.change("id:INT amount:TEXT city:TEXT")
        door.approve("a")
        door.remember("Amounts are never below zero.")
        assert [watched.status(id) for id in "ab"] == [("active", None)] * 2

    def test_a_deprecation_tells_its_note_and_what_to_use(self, watched: Shop) -> None:
        watched.door.remember("Amounts are net.", entities=[COLUMN], id="a")
        meta = "{deprecated: true, deprecation_note: too slow, replaced_by: shop.orders_v2}"
        watched.change(COLUMNS, meta=meta)
        assert watched.status("a")[1] == (
            "shop.orders is deprecated: too slow; use shop.orders_v2 (since 2026-03-03)"
        )

    def test_an_example_query_that_became_ambiguous_is_stale(self, watched: Shop) -> None:
        door = watched.door
        door.remember("The sum.", query=QUERY, id="q")
        door.remember(
            "The count.", query="SELECT city FROM orders JOIN refunds ON refunds.id = orders.id", id="s"
        )
        watched.write("refunds", "id:INT amount:DOUBLE city:TEXT")
        watched.change()
        assert watched.status("q") == ("active", None)
        assert "no longer resolves: the column 'city' may be any of" in (watched.status("s")[1] or "")
        elsewhere = watched.folder / "models" / "other"
        elsewhere.mkdir()
        (elsewhere / "orders.yaml").write_text(
            "name: orders\ndata_source: other\nsql_table: orders\ncolumns: [{name: id}]\n", encoding="utf-8"
        )
        watched.change()
        assert "no longer resolves" in (watched.status("q")[1] or "")
        assert "exists in multiple datasources" in (watched.status("q")[1] or "")

    def test_one_command_accepts_a_rename_for_all(self, watched: Shop) -> None:
        door = watched.door
        door.remember("Amounts are net.", entities=[COLUMN], id="a")
        door.remember("Orders are odd.", entities=["shop.orders"], id="m")
        door.remember("The sum.", query=QUERY | {"order": [{"column": "amount_sum"}]}, id="q")
        door.remember("Beside refunds.", query=SQL, id="s")
        door.remember("Amounts were wrong in May.", entities=[COLUMN], id="e", dimension="event")
        watched.change("id:INT total:DOUBLE city:TEXT")
        assert (watched.status("a")[1] or "").startswith(
            f"{COLUMN} is gone, perhaps renamed to shop.orders.total (same type and place)"
        )
        (rename,) = door.renames().renames
        assert (rename.entity, rename.to, rename.total) == (COLUMN, "shop.orders.total", 4)
        assert sorted(rename.memories) == ["a", "m", "q", "s"]
        for actor in ("agent", "unattended"):
            with pytest.raises(Forbidden):
                door.as_caller(administrator(actor=actor, operator=False)).accept_renames()
        with pytest.raises(Forbidden):
            door.as_caller(person("bob")).accept_renames()
        with pytest.raises(Invalid, match="waits for a new name"):
            door.accept_renames(entities=["shop.refunds.amount"])
        accepted = door.accept_renames(entities=[COLUMN])
        assert (accepted.changed, accepted.kept) == (4, ())
        assert {watched.status(id) for id in "amqse"} == {("active", None)}
        after = {id: door.show(id).memory for id in "amqse"}
        assert after["a"].entities == after["e"].entities == ("shop.orders.total",)
        assert after["q"].query == {
            "source_model": "orders",
            "measures": ["total:sum"],
            "filters": ["total > 3"],
            "order": [{"column": "total_sum"}],
        }
        assert after["s"].query == SQL.replace("o.amount", "o.total")
        assert "shop.refunds.amount" in after["s"].entities
        assert door.renames().renames == ()
        watched.change("id:INT total:DOUBLE city:TEXT more:INT")
        assert {watched.status(id) for id in "amqse"} == {("active", None)}

    def test_a_rename_that_was_not_proposed_is_told_by_a_person(self, watched: Shop) -> None:
        door = watched.door
        door.remember("Amounts are net.", entities=[COLUMN], id="a")
        watched.change("id:INT city:TEXT net:TEXT gross:TEXT")
        assert door.renames().renames == ()
        with pytest.raises(Invalid, match="not in the catalog"):
            door.accept_renames(entities=[COLUMN], to="shop.orders.nothing")
        assert door.accept_renames(entities=["orders.amount"], to="orders.net").changed == 1
        assert door.show("a").memory.entities == ("shop.orders.net",)

    def test_a_rename_settles_nothing_else(self, watched: Shop) -> None:
        door = watched.door
        door.remember("Amounts are net.", entities=[COLUMN, "shop.orders.city"], id="a")
        watched.change("id:INT total:DOUBLE city:INT")
        assert door.accept_renames().changed == 1
        assert watched.status("a") == ("stale", "shop.orders.city was TEXT and is INT (since 2026-03-03)")
        assert door.show("a").memory.entities == ("shop.orders.total", "shop.orders.city")

    def test_each_tenant_is_watched_by_itself_and_what_nobody_watches_is_stripped(
        self, watched: Shop, store: Store, clock: Clock, tmp_path: Path
    ) -> None:
        door = watched.door
        other = Caller(tenant="other", user="bob", permissions=frozenset(PERMISSIONS))
        unwatched = OnRecord(store, other, clock=clock)
        unwatched.ingest(str(watched.folder))
        for each in (door, unwatched):
            each.remember("Amounts are net.", entities=[COLUMN], id="a")
        watched.change("id:INT city:TEXT")
        assert watched.status("a")[0] == "stale"
        assert unwatched.show("a").memory.status == "active"
        lost = unwatched.ingest(str(watched.folder)).lost
        assert [(each.memory, each.entities) for each in lost] == [("a", (COLUMN,))]
        still = unwatched.show("a").memory
        assert (still.status, still.entities, change_names(unwatched, "a")) == (
            "active",
            (),
            ["remember", "strip"],
        )

    def test_two_workers_at_once_mark_it_once(self, watched: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        from onrecord.care import watching

        mark, both = watching._mark, Barrier(2, timeout=60)

        def mark_together(*given: Any) -> None:
            both.wait()
            mark(*given)

        monkeypatch.setattr(watching, "_mark", mark_together)
        door, store = watched.door, watched.door._store
        door.remember("Amounts are net.", entities=[COLUMN], id="a")
        watched.write("orders", "id:INT city:TEXT")
        watched.take_in()
        now = watched.clock.now
        since = now - timedelta(days=9)
        with ThreadPoolExecutor(2) as threads:
            looks = [threads.submit(watching.look, store, HOME, since, StorePolicy(), now) for _ in range(2)]
        assert [look.result() for look in looks] == [None, None]
        assert change_names(door, "a") == ["remember", "stale"]

    def test_status_tells_when_the_watcher_looked_and_who_will(self, watched: Shop, store: Store) -> None:
        door = watched.door
        assert OnRecord(store, administrator(), clock=watched.clock).status().watching is None
        asked = door.status().watching
        assert asked == Watching(last_look=None, next_look=watched.clock.now), "by the ingest"
        watched.clock.tick(hours=1)
        never = door.status().watching
        assert never is not None
        assert (never.last_look, never.next_look) == (None, None)
        assert "`onrecord work --once`" in (never.cure or "")
        worked(door)
        looked = door.status().watching
        now = watched.clock.now
        assert looked == Watching(last_look=now, next_look=now + timedelta(minutes=15))
        watched.clock.tick(hours=1)
        late = door.status().watching
        assert late is not None
        assert (late.last_look, late.next_look, late.cure) == (now, None, never.cure)

    def test_the_cost_follows_what_changed_and_not_what_is_remembered(self, watched: Shop) -> None:
        door, costs = watched.door, list[int]()
        door.remember("Amounts are net.", entities=[COLUMN], id="a")
        for more in (0, 40):
            for number in range(more):
                door.remember(f"Refund {number} was late.", entities=["shop.refunds.amount"])
            for columns in ("id:INT city:TEXT", COLUMNS):
                watched.write("orders", columns)
                watched.take_in()
                with counted() as statements:
                    worked(door)
            costs.append(len(statements))
        assert costs[0] == costs[1]
        assert change_names(door, "a") == ["remember", *["stale", "active again"] * 2]


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that a block runs."""
    said: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        said.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield said
    finally:
        event.remove(Engine, "before_cursor_execute", note)
