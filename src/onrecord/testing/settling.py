"""WHAT becomes of a changeset that was interrupted, or that two work on at once? On every store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.catalog.records import record_id
from onrecord.catalog.targets import Moved
from onrecord.catalog.targets.amendments import AmendmentsTarget
from onrecord.errors import Conflict
from onrecord.model.collections import ENTITIES
from onrecord.review.settling import LEFT_AFTER, finish_apply, settle_all, take_back
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    Clock,
)
from onrecord.testing.shop import (
    AMOUNT,
    COLUMN,
    ENTITY,
    NET,
    ShopConformance,
    approved,
    begun_changeset,
    described,
    description,
    one_by_one,
    shown,
    states,
    stopping,
    write_source,
)


class SettlingConformance(ShopConformance):
    """Nothing stays half written, and no edit of someone else is lost."""

    def test_an_edit_of_someone_else_while_it_is_applied_fails_it_and_is_not_lost(
        self, shop: OnRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tag = {"entity": COLUMN, "field": "tags", "key": "money", "op": "add"}
        id = approved(shop, tag, described())

        def meddle(number: int, write: Callable[[], Any]) -> None:
            if number == 2:
                shop.ingest(write_source(tmp_path, "Gross, says the source."))
            write()

        one_by_one(monkeypatch, "write", meddle)
        with pytest.raises(Conflict, match="changed since at its source"):
            shop.apply(ENTITY)
        monkeypatch.undo()
        assert (description(shop), shown(shop)["promoted"]) == ("Gross, says the source.", None)
        [failed] = shop.changesets(states=["failed"]).changesets
        assert not any(change.written for change in failed.changes)
        assert states(shop) == {"approved": [id]}
        with pytest.raises(Conflict, match="none of its changes is left"):
            shop.roll_back(failed.id)
        shop.apply(ENTITY)
        assert description(shop) == NET

    def test_all_values_of_a_changeset_are_one_version_of_the_record(
        self, shop: OnRecord, store: Store, clock: Clock
    ) -> None:
        def version() -> int:
            with store.reading(shop.caller, clock.now) as reading:
                record = reading.reading_of(ENTITIES).memory(record_id(ENTITY))
            assert record is not None
            return record.version

        tags = [{"entity": ENTITY, "field": "tags", "key": f"t{each}", "op": "add"} for each in range(5)]
        approved(shop, described(), *tags)
        done = shop.apply(ENTITY).changeset.id
        assert (len(shown(shop)["promoted"]), version()) == (6, 2)
        shop.roll_back(done)
        assert (shown(shop)["promoted"], version()) == (None, 3)

    def test_every_value_that_someone_else_has_changed_is_named(
        self, shop: OnRecord, store: Store, clock: Clock, tmp_path: Path
    ) -> None:
        approved(shop, described(), described("All orders.", ENTITY))
        begun, target = begun_changeset(shop, store, clock)
        shop.ingest(write_source(tmp_path, columns="id"))
        shop.ingest(write_source(tmp_path, "Gross."))
        source = tmp_path / "models" / "shop" / "orders.yaml"
        source.write_text(source.read_text(encoding="utf-8").replace("Orders.", "Sold."), encoding="utf-8")
        shop.ingest(str(tmp_path))
        with pytest.raises(Moved) as moved:
            target.write(begun, begun.changes)
        assert [each.split()[0] for each in str(moved.value).split("; ")] == [COLUMN, ENTITY]
        assert shown(shop)["promoted"] is None

    def test_whoever_applies_is_told_that_someone_else_has_finished_it(
        self, shop: OnRecord, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The process slept for long after it had written everything, and was taken to be gone."""
        id = approved(shop)

        def sleep(_: int, write: Callable[[], Any]) -> None:
            write()
            assert settle_all(store, clock.now + 2 * LEFT_AFTER) == ("1",)

        with monkeypatch.context() as patched:
            one_by_one(patched, "write", sleep)
            done = shop.apply(ENTITY).changeset
        assert (done.id, done.state, description(shop)) == ("1", "applied", NET)
        assert states(shop) == {"applied": [id]}
        assert shop.roll_back("1").kept == ()
        assert description(shop) == AMOUNT

    def test_what_was_applied_is_not_taken_back_by_who_took_it_to_be_left(
        self, shop: OnRecord, store: Store, clock: Clock
    ) -> None:
        """One that settles has seen that not everything stands; meanwhile the other goes on and applies it."""
        id = approved(shop)
        begun, target = begun_changeset(shop, store, clock)
        target.write(begun, begun.changes)
        finish_apply(store, shop.caller, clock.now, begun)
        assert take_back(store, shop.caller, clock.now, target, begun, "left").state == "applied"
        assert target.restore(begun, begun.changes) == {}
        assert (description(shop), states(shop)) == (NET, {"applied": [id]})

    def test_what_is_being_taken_back_is_written_no_more_and_is_settled_too(
        self, shop: OnRecord, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        untouched = shown(shop)
        id = approved(shop, described(), {"entity": ENTITY, "field": "tags", "key": "money", "op": "add"})
        with stopping(monkeypatch, "write", 2):
            shop.apply(ENTITY)
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        with stopping(monkeypatch, "restore", 1):
            settle_all(store, clock.now)
        [half] = shop.changesets().changesets
        assert (half.state, description(shop)) == ("taking_back", NET)
        target = AmendmentsTarget(store, shop.caller, clock.now, embeds=False)
        with pytest.raises(Moved, match="another process has finished"):
            target.write(half, half.changes)
        with pytest.raises(Conflict, match="is being taken back"):
            shop.roll_back("1")
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        assert settle_all(store, clock.now) == ("1",)
        [failed] = shop.changesets().changesets
        assert (failed.state, failed.ended_reason) == ("failed", "the process that applied it ended")
        assert (shown(shop), states(shop)) == (untouched, {"approved": [id]})

    @pytest.mark.parametrize(("at", "before"), [(1, True), (1, False), (2, True), (2, False)])
    def test_what_a_process_left_half_applied_is_settled(
        self,
        shop: OnRecord,
        store: Store,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
        at: int,
        before: bool,
    ) -> None:
        untouched = shown(shop)
        id = approved(shop, described(), {"entity": ENTITY, "field": "tags", "key": "money", "op": "add"})
        with stopping(monkeypatch, "write", at, before):
            shop.apply(ENTITY)
        assert settle_all(store, clock.now) == (), "whoever applies it may still be there"
        with pytest.raises(Conflict, match="is being applied"):
            shop.apply(ENTITY)
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        worker = shop.worker
        worker.begin()
        for _ in iter(worker.run_once, None):
            pass
        whole = at == 2 and not before
        [settled] = shop.changesets().changesets
        assert settled.state == ("applied" if whole else "failed")
        assert states(shop) == {"applied" if whole else "approved": [id]}
        assert (shown(shop) == untouched) == (not whole)
        assert settle_all(store, clock.now) == ()
        if whole:
            shop.roll_back("1")
        else:
            shop.roll_back(shop.apply(ENTITY).changeset.id)
        assert shown(shop) == untouched

    @pytest.mark.parametrize(("at", "then"), [(1, "archive"), (2, "review")])
    def test_what_a_process_left_half_rolled_back_is_settled(
        self, shop: OnRecord, clock: Clock, monkeypatch: pytest.MonkeyPatch, at: int, then: str
    ) -> None:
        untouched = shown(shop)
        approved(shop, described(), {"entity": ENTITY, "field": "tags", "key": "money", "op": "add"})
        done = shop.apply(ENTITY).changeset.id
        with stopping(monkeypatch, "restore", at):
            shop.roll_back(done, reason="wrong", then=then)  # type: ignore[arg-type]
        assert shop.changesets(done).changesets[0].state == "rolling_back"
        with pytest.raises(Conflict, match="is being rolled back"):
            shop.roll_back(done)
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        with pytest.raises(Conflict, match="already been rolled back"):
            shop.roll_back(done)
        assert shown(shop) == untouched
        assert list(states(shop)) == ["pending" if then == "review" else "rolled_back"]
