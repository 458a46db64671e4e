"""WHAT becomes of promoted values when the source changes, or knows nothing of their entity? On every store."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord.catalog.targets.unsourced import UnsourcedTarget
from onrecord.errors import Conflict, Invalid, NotFound
from onrecord.review.settling import LEFT_AFTER, settle_all
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    Clock,
    administrator,
)
from onrecord.testing.shop import (
    AMOUNT,
    COLUMN,
    ENTITY,
    NET,
    NOWHERE,
    NOWHERE_AMOUNT,
    ShopConformance,
    Stopped,
    approved,
    described,
    description,
    everywhere,
    proposed,
    shown,
    stopping,
    write_source,
)


class PromotedConformance(ShopConformance):
    """An ingest neither wipes what was promoted nor brings back what was rolled back."""

    def test_the_next_ingest_does_not_wipe_what_was_promoted(self, shop: OnRecord, tmp_path: Path) -> None:
        approved(shop)
        changeset = shop.apply(ENTITY).changeset.id
        assert shop.ingest(write_source(tmp_path, AMOUNT, columns="id amount extra")).notes == ()
        assert (description(shop), shop.plan(ENTITY).said_anew) == (NET, ())
        [note] = shop.ingest(write_source(tmp_path, "Another text.")).notes
        assert COLUMN in note
        [anew] = shop.plan(ENTITY).said_anew
        assert (description(shop), anew.edit.value, anew.source) == (NET, NET, "Another text.")
        assert shown(shop)["promoted"][0]["source_says"] == "Another text."
        shop.ingest(write_source(tmp_path, NET))
        assert (description(shop), shown(shop)["promoted"]) == (NET, None)
        assert shop.doctor().problems == ()
        assert shop.changesets(changeset).changesets[0].state == "applied"

    def test_what_was_promoted_comes_back_with_its_entity_unless_it_was_rolled_back(
        self, shop: OnRecord, tmp_path: Path
    ) -> None:
        approved(shop)
        done = shop.apply(ENTITY).changeset.id
        shop.drop_entity(ENTITY)
        shop.ingest(write_source(tmp_path))
        assert description(shop) == NET
        shop.drop_entity(ENTITY)
        shop.roll_back(done)
        shop.ingest(write_source(tmp_path))
        assert (description(shop), shown(shop)["promoted"]) == (AMOUNT, None)

    @pytest.mark.parametrize("gone", ["part", "whole"])
    def test_what_is_rolled_back_while_its_entity_is_gone_leaves_what_was_promoted_before(
        self, shop: OnRecord, tmp_path: Path, gone: str
    ) -> None:
        for text in (NET, "Net, in cents."):
            approved(shop, described(text), content=text)
            shop.apply(ENTITY)
        if gone == "part":
            shop.ingest(write_source(tmp_path, columns="id"))
        else:
            shop.drop_entity(ENTITY)
        with pytest.raises(Conflict, match="Changeset 2 "):
            shop.roll_back("1")
        assert shop.roll_back("2").kept == ()
        if gone == "whole":
            with pytest.raises(NotFound):
                shop.inspect(ENTITY)
        shop.ingest(write_source(tmp_path))
        [promoted] = shown(shop)["promoted"]
        assert (description(shop), promoted["changeset"]) == (NET, "1")
        shop.roll_back("1")
        assert (description(shop), shop.doctor().problems) == (AMOUNT, ())

    def test_what_was_rolled_back_does_not_come_back_from_under_a_later_one(
        self, shop: OnRecord, tmp_path: Path
    ) -> None:
        for text in (NET, "Net, in cents."):
            approved(shop, described(text), content=text)
            shop.apply(ENTITY)
        # The source says what the second says, so nothing of it stands in the way of rolling back the first.
        shop.ingest(write_source(tmp_path, "Net, in cents."))
        shop.roll_back("1")
        shop.roll_back("2")
        assert (description(shop), shown(shop)["promoted"]) == ("Net, in cents.", None)

    def test_what_failed_while_its_entity_was_gone_does_not_come_back_with_it(
        self, shop: OnRecord, store: Store, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        approved(shop, described(), {"entity": ENTITY, "field": "tags", "key": "money", "op": "add"})
        with stopping(monkeypatch, "write", 2):
            shop.apply(ENTITY)
        shop.ingest(write_source(tmp_path, columns="id"))
        assert settle_all(store, clock.now + 2 * LEFT_AFTER) == ("1",)
        shop.ingest(write_source(tmp_path))
        assert (description(shop), shown(shop)["promoted"]) == (AMOUNT, None)
        assert shop.changesets().changesets[0].state == "failed"

    def test_a_column_that_goes_and_comes_back_takes_no_proposal_with_it(
        self, shop: OnRecord, tmp_path: Path, clock: Clock
    ) -> None:
        rejected = proposed(shop, described("Gross."), content="It is gross of refunds.")
        clock.tick()
        shop.reject(rejected, reason="It is not.")
        rejected_at = clock.now
        old = shop.remember("Gross of tax.", entities=[COLUMN]).memory.id
        id = shop.remember("Net of tax.", edits=[described()], supersedes=[old]).memory.id
        shop.approve(id)
        clock.tick()
        shop.ingest(write_source(tmp_path, columns="id"))
        # While the column is gone, the plan says so and nothing is applied.
        [change] = shop.plan(ENTITY).changes
        assert "not an entity of the catalog" in (change.conflict or "")
        with pytest.raises(Conflict, match="not an entity of the catalog"):
            shop.apply(ENTITY)
        shop.ingest(write_source(tmp_path))
        assert shop.plan(ENTITY).memories == (id,)
        shop.apply(ENTITY)
        assert description(shop) == NET
        again = shop.remember("It is gross of refunds.", edits=[described("Gross.")])
        assert (again.outcome, again.rejected[0].by, again.rejected[0].at) == (
            "rejected",
            "root",
            rejected_at,
        )
        assert not shop.reject(rejected).changed
        # What it had superseded comes back with the approval undone.
        shop.roll_back("1")
        assert shop.show(old).memory.status == "active"

    def test_to_approve_what_was_promoted_again_ends_that_the_source_says_something_new(
        self, shop: OnRecord, tmp_path: Path
    ) -> None:
        approved(shop)
        shop.apply(ENTITY)
        shop.ingest(write_source(tmp_path, "Another text."))
        approved(shop, content="Net of refunds all the same.")
        second = shop.apply(ENTITY).changeset
        assert (second.changes[0].written, description(shop)) == (True, NET)
        assert (shop.plan(ENTITY).said_anew, shop.ingest(str(tmp_path)).notes) == ((), ())
        assert "source_says" not in shown(shop)["promoted"][0]
        shop.roll_back(second.id)
        [anew] = shop.plan(ENTITY).said_anew
        assert (description(shop), anew.changeset, anew.source) == (NET, "1", "Another text.")

    def test_a_proposal_from_before_the_first_ingest_is_found_under_its_new_name(
        self, root: OnRecord, tmp_path: Path
    ) -> None:
        id = approved(root, described(entity="orders.amount"))
        root.ingest(write_source(tmp_path))
        assert root.plan(ENTITY).memories == (id,)
        assert root.apply(ENTITY).changeset.entity == ENTITY
        assert description(root) == NET

    def test_what_no_source_has_before_is_promoted_and_taken_back_without_a_trace(
        self, root: OnRecord, tmp_path: Path
    ) -> None:
        edits = [described(entity=NOWHERE), {"entity": NOWHERE, "field": "tags", "key": "pii", "op": "add"}]
        id = approved(root, *edits, described("In cents.", NOWHERE_AMOUNT), unknown="keep")
        for strict in (root.plan, root.apply):
            with pytest.raises(Invalid, match=r"nowhere.*unknown=keep"):
                strict(NOWHERE)
        before = everywhere(root)
        planned = root.plan(NOWHERE, unknown="keep")
        assert (planned.entity, planned.target, len(planned.changes)) == (NOWHERE, "unsourced", 3)
        done = root.apply(NOWHERE, unknown="keep", mark=planned.mark).changeset
        assert (done.entity, done.target, done.memories) == (NOWHERE, "unsourced", (id,))
        shown_now = root.inspect(NOWHERE).sections
        assert (shown_now["state"], shown_now["description"], shown_now["tags"]) == (
            "unsourced",
            NET,
            ["pii"],
        )
        assert {each["entity"] for each in shown_now["promoted"]} == {NOWHERE, NOWHERE_AMOUNT}
        # It is no table: only its promoted values show it, and names are as free as before.
        assert everywhere(root) == before
        assert root.remember("Said of a thing.", entities=["never.heard.of"], dry_run=True).memory.entities
        other = root.as_caller(replace(root.caller, tenant="beta"))
        with pytest.raises(NotFound):
            other.inspect(NOWHERE)
        # A second changeset stands on the first, and goes before it.
        later = approved(root, described("Gross.", NOWHERE), content="No: gross.", unknown="keep")
        assert root.plan(NOWHERE).changes[0].before == NET
        assert root.apply(NOWHERE).changeset.memories == (later,)
        with pytest.raises(Conflict, match="Roll that back first"):
            root.roll_back(done.id)
        root.roll_back("2")
        assert root.inspect(NOWHERE).sections["description"] == NET
        assert [each.id for each in root.changesets(entity=NOWHERE).changesets] == ["2", "1"]
        root.roll_back(done.id)
        with pytest.raises(NotFound):
            root.inspect(NOWHERE)
        with pytest.raises(Conflict, match="already been rolled back"):
            root.roll_back(done.id)
        assert everywhere(root) == before
        root.forget(id)
        assert root.doctor().problems == ()

    def test_when_a_source_brings_it_what_was_promoted_of_it_is_its_own(
        self, root: OnRecord, tmp_path: Path
    ) -> None:
        approved(root, described("All of them.", "orders"), unknown="keep")
        root.apply("orders", unknown="keep")
        approved(root, described(), content="By its full name.", unknown="keep")
        root.apply(ENTITY, unknown="keep")
        approved(root, described("In cents."), content="No: in cents.", unknown="keep")
        root.apply(ENTITY, unknown="keep")
        root.ingest(write_source(tmp_path), dry_run=True)
        assert {each.target for each in root.changesets().changesets} == {"unsourced"}
        ingested = root.ingest(write_source(tmp_path))
        assert (ingested.added.models, ingested.changed.models, ingested.gone_entities) == (1, 0, ())
        assert (shown(root)["description"], description(root)) == ("All of them.", "In cents.")
        listed = root.changesets(entity="orders").changesets
        assert [(each.id, each.entity, each.target) for each in listed] == [
            (id, ENTITY, "amendments") for id in ("3", "2", "1")
        ]
        # It lives on like any other: the next ingest keeps it, what it says is found, and the source shows through.
        root.ingest(write_source(tmp_path, "Another text."))
        assert description(root) == "In cents."
        assert [each.id for each in root.search("cents").entities][:1] == [COLUMN]
        with pytest.raises(Conflict, match="Changeset 3"):
            root.roll_back("2")
        assert root.roll_back("3").kept == ()
        assert description(root) == NET
        assert [root.roll_back(id).kept for id in ("2", "1")] == [(), ()]
        assert (shown(root)["description"], description(root)) == ("Orders.", "Another text.")
        assert shown(root)["promoted"] is None
        assert root.plan(ENTITY).memories == ()
        # What a source had and has no more is gone, and does not begin again.
        (tmp_path / "models" / "shop" / "orders.yaml").unlink()
        root.ingest(str(tmp_path))
        with pytest.raises(Invalid):
            root.apply(ENTITY, edits=[described()], unknown="keep")

    def test_an_ingest_in_the_middle_leaves_nothing_behind_and_loses_nothing(
        self, root: OnRecord, tmp_path: Path
    ) -> None:
        def ingesting(method: str) -> None:
            """A source is read in just before the target is asked this."""
            patched, done = pytest.MonkeyPatch(), getattr(UnsourcedTarget, method)

            def ingested(*given: Any) -> Any:
                patched.undo()
                root.ingest(write_source(tmp_path))
                return done(*given)

            patched.setattr(UnsourcedTarget, method, ingested)

        first = root.apply(ENTITY, edits=[described()], unknown="keep").changeset.id
        ingesting("covered_by")
        # Its values have become the table's own by the time that they are put back.
        assert root.roll_back(first).kept == ()
        assert (description(root), shown(root)["promoted"]) == (AMOUNT, None)
        other = root.as_caller(replace(root.caller, tenant="beta"))
        other.remember("Here too.")
        root = other
        ingesting("write")
        with pytest.raises(Conflict, match=r"a source now has shop\.orders"):
            root.apply(ENTITY, edits=[described()], unknown="keep")
        assert (description(root), shown(root)["promoted"]) == (AMOUNT, None)
        root.apply(ENTITY, edits=[described()], unknown="keep")
        assert description(root) == NET

    def test_what_no_source_has_before_is_settled_and_moves_like_everything_else(
        self, root: OnRecord, store: Store, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for method, ends in (("write", "failed"), ("restore", "rolled_back")):
            id = approved(root, described(entity=NOWHERE), content=f"To {method}.", unknown="keep")
            with monkeypatch.context() as patched:
                if method == "restore":
                    begun = root.apply(NOWHERE, memories=[id], unknown="keep").changeset.id

                def stop(*_: Any) -> None:
                    raise Stopped

                patched.setattr(UnsourcedTarget, method, stop)
                with pytest.raises(Stopped):
                    if method == "write":
                        root.apply(NOWHERE, memories=[id], unknown="keep")
                    else:
                        root.roll_back(begun)
            clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
            [settled] = settle_all(store, clock.now)
            assert root.changesets(settled).changesets[0].state == ends
        with pytest.raises(NotFound):
            root.inspect(NOWHERE)
        root.apply(NOWHERE, edits=[described(entity=NOWHERE)], unknown="keep")
        path, sections = str(tmp_path / "out.jsonl"), root.inspect(NOWHERE).sections
        everything = root.as_caller(administrator())
        everything.export(path, all_tenants=True)
        everything.erase_tenant(root.caller.tenant, confirm=root.caller.tenant)
        everything.import_(path, keep_tenants=True)
        assert root.inspect(NOWHERE).sections == sections
        agent = replace(root.caller, tenant="beta", actor="agent", operator=False)
        root.as_caller(agent).import_(path)
        with pytest.raises(NotFound):
            root.as_caller(agent).inspect(NOWHERE)
