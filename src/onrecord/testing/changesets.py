"""WHAT happens when approved proposals are applied and rolled back? On every store."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import Edit
from onrecord.model.limits import APPLIED_AT_ONCE
from onrecord.review.settling import LEFT_AFTER
from onrecord.service import OnRecord
from onrecord.store.ports.filters import ChangesetFilter
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    Clock,
    person,
    written,
)
from onrecord.testing.executed_statements import executed_statements
from onrecord.testing.shop import (
    AMOUNT,
    COLUMN,
    ENTITY,
    NET,
    REVIEWS,
    ShopConformance,
    approved,
    described,
    description,
    one_by_one,
    proposed,
    shown,
    states,
    stopping,
    write_source,
)


class ChangesetConformance(ShopConformance):
    """Approved proposals are applied whole or not at all, and taken back without losing what others did."""

    def test_what_was_applied_is_for_everyone_and_says_who_approved_it(self, shop: OnRecord) -> None:
        eve = shop.as_caller(person("eve"))
        id = approved(shop, described(), {"entity": ENTITY, "field": "tags", "key": "money", "op": "add"})
        [first, second] = shop.plan(ENTITY).changes
        assert (first.before, first.after, first.memories) == (AMOUNT, NET, (id,))
        assert (second.before, second.after, second.conflict) == (None, True, None)
        done = shop.apply("orders", mark=shop.plan(ENTITY).mark, reason="agreed").changeset
        assert (done.state, done.memories, done.reason, done.by) == ("applied", (id,), "agreed", "root")
        assert (description(eve), shown(eve)["tags"]) == (NET, ["money"])
        assert [(each["field"], each["approved_by"]) for each in shown(eve)["promoted"]] == [
            ("tags", "root"),
            ("description", "root"),
        ]
        [hit] = eve.search("refunds", max_entities=1).entities
        assert "description by root" in hit.text
        assert eve.changesets(entity=COLUMN).changesets == (done,)

    def test_only_a_person_applies_and_only_what_was_approved(self, shop: OnRecord) -> None:
        id, before = proposed(shop), shown(shop)
        with pytest.raises(Conflict, match="No approved proposal"):
            shop.apply(ENTITY)
        with pytest.raises(Invalid, match="approved and not applied yet"):
            shop.apply(ENTITY, memories=[id])
        shop.approve(id)
        agent = shop.as_caller(person("robot", permissions=REVIEWS, actor="agent"))
        for door in (agent, shop.as_caller(person("eve"))):
            with pytest.raises(Forbidden):
                door.apply(ENTITY)
        assert (shown(shop), shop.changesets().total) == (before, 0)
        done = shop.apply(ENTITY).changeset.id
        for door in (agent, shop.as_caller(person("eve"))):
            with pytest.raises(Forbidden):
                door.roll_back(done)

    def test_a_reviewer_may_apply_words_of_their_own(self, shop: OnRecord, clock: Clock) -> None:
        id = approved(shop)
        clock.tick()
        secret = "Net. password: hunter2hunter2"
        done = shop.apply(ENTITY, memories=[id], edits=[described(secret)]).changeset
        assert (done.memories, done.changes[0].approved_by) == ((id,), "root")
        assert "hunter2" not in str(description(shop))
        assert (description(shop) or "").startswith("Net.")
        clock.tick()
        alone = shop.apply(ENTITY, edits=[described("Of nobody's proposal.")]).changeset
        assert (alone.memories, description(shop)) == ((), "Of nobody's proposal.")
        with pytest.raises(Conflict, match="differ"):
            shop.apply(ENTITY, edits=[described("one"), described("another")])
        assert [each.id for each in shop.changesets(by="root", since=clock.now).changesets] == [alone.id]
        assert [each.id for each in shop.changesets(before=clock.now).changesets] == [done.id]
        assert shop.changesets(by="nobody").total == 0
        shop.roll_back(alone.id)
        assert (description(shop) or "").startswith("Net.")

    def test_a_reviewer_needs_no_more_rights_than_to_review(self, shop: OnRecord) -> None:
        reviewer = shop.as_caller(person("rita", permissions=REVIEWS))
        id = proposed(shop.as_caller(person("bob")))
        reviewer.approve(id)
        done = reviewer.apply(ENTITY).changeset
        assert (description(shop), shop.show(id).memory.changeset) == (NET, done.id)
        assert reviewer.roll_back(done.id).kept == ()
        assert description(shop) == AMOUNT

    def test_proposals_that_differ_and_what_is_there_already_stand_in_the_way(self, shop: OnRecord) -> None:
        one, two = approved(shop), approved(shop, described("Gross."), content="It is gross.")
        [change] = shop.plan(ENTITY).changes
        assert change.conflict is not None
        assert change.memories == (one, two)
        with pytest.raises(Conflict, match="differ"):
            shop.apply(ENTITY)
        shop.apply(ENTITY, memories=[two])
        add = approved(shop, {**described("Again."), "op": "add"}, content="add")
        [change] = shop.plan(ENTITY, memories=[add]).changes
        assert "already" in (change.conflict or "")
        elsewhere = approved(shop, described("shop", "shop"), content="elsewhere")
        [change] = shop.plan(ENTITY, memories=[elsewhere]).changes
        assert "not part of" in (change.conflict or "")
        assert shop.changesets().total == 1

    def test_proposals_that_agree_are_one_change(self, shop: OnRecord) -> None:
        both = {approved(shop), approved(shop, content="As Bob says, net of refunds.")}
        [change] = shop.apply(ENTITY).changeset.changes
        assert set(change.memories) == both
        assert set(states(shop)["applied"]) == both

    def test_what_changed_since_the_plan_is_not_applied(self, shop: OnRecord, tmp_path: Path) -> None:
        approved(shop)
        mark = shop.plan(ENTITY).mark
        shop.ingest(write_source(tmp_path, "Gross."))
        with pytest.raises(Conflict, match="has changed since"):
            shop.apply(ENTITY, mark=mark)
        shop.apply(ENTITY, mark=shop.plan(ENTITY).mark)
        assert description(shop) == NET

    def test_what_was_changed_since_is_named_and_stays(self, shop: OnRecord, tmp_path: Path) -> None:
        approved(shop, described(), {"entity": COLUMN, "field": "tags", "key": "money", "op": "add"})
        first = shop.apply(ENTITY).changeset.id
        approved(shop, described("Net, in cents."), content="It is in cents.")
        second = shop.apply(ENTITY).changeset.id
        with pytest.raises(Conflict, match=f"Changeset {second} "):
            shop.roll_back(first)
        shop.ingest(write_source(tmp_path, "Net, in cents."))
        rolled = shop.roll_back(second)
        assert rolled.changeset.state == "rolled_back"
        # The source says the same as what was promoted over the first: what was promoted first comes back.
        assert description(shop) == NET
        shop.ingest(write_source(tmp_path, NET))
        rolled = shop.roll_back(first)
        assert [("source has the same value" in note) for note in rolled.kept] == [True]
        assert (description(shop), shown(shop)["promoted"]) == (NET, None)
        with pytest.raises(Conflict, match="already been rolled back"):
            shop.roll_back(first)

    def test_to_refer_to_something_is_not_to_edit_it(self, shop: OnRecord) -> None:
        elsewhere = approved(shop, described("The shop.", "shop"), content="elsewhere", entities=[ENTITY])
        id = approved(shop)
        assert shop.plan(ENTITY).memories == (id,)
        assert shop.apply(ENTITY).changeset.memories == (id,)
        assert shop.apply("shop").changeset.memories == (elsewhere,)

    def test_of_very_many_the_oldest_come_first_and_the_rest_are_counted(
        self, shop: OnRecord, clock: Clock
    ) -> None:
        ids = []
        for number in range(APPLIED_AT_ONCE + 2):
            clock.tick()
            tag = {"entity": ENTITY, "field": "tags", "key": f"tag{number}", "op": "add"}
            ids.append(approved(shop, tag, content=f"number {number}", alike="keep"))
        plan = shop.plan(ENTITY)
        assert (plan.memories, plan.left) == (tuple(ids[:APPLIED_AT_ONCE]), 2)
        done = shop.apply(ENTITY, mark=plan.mark)
        assert (done.changeset.memories, done.left) == (plan.memories, 2)
        last = shop.apply(ENTITY)
        assert (last.changeset.memories, last.left) == (tuple(ids[APPLIED_AT_ONCE:]), 0)

    def test_a_private_proposal_does_not_leak_through_its_changeset(
        self, shop: OnRecord, monkeypatch: pytest.MonkeyPatch, clock: Clock
    ) -> None:
        eve = shop.as_caller(person("eve"))
        id = approved(shop, content="A secret of the board.", scope="user")
        with stopping(monkeypatch, "write", 1):
            shop.apply(ENTITY, reason="The board says so.")
        [seen] = eve.changesets().changesets
        assert (seen.changes, seen.memories, seen.reason) == ((), (), None)
        assert NET not in written(seen)
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        shop.apply(ENTITY)
        [done, _] = eve.changesets().changesets
        assert (done.memories, done.changes[0].memories, done.changes[0].after) == ((), (), NET)
        assert "board" not in written(eve.changesets()) + written(eve.inspect(ENTITY))
        assert shop.changesets(done.id).changesets[0].memories == (id,)

    def test_how_many_proposals_of_a_changeset_one_does_not_see_costs_no_statement(
        self, shop: OnRecord, store: Store
    ) -> None:
        eve, costs = shop.as_caller(person("eve")), []
        for number in range(1, 4):
            for each in range(number):
                approved(shop, described(f"Text {number}."), content=f"secret {number} {each}", scope="user")
            done = shop.apply(ENTITY).changeset
            assert len(done.memories) == number
            with executed_statements(store) as statements:
                assert eve.changesets(done.id).changesets[0].memories == ()
            costs.append(statements)
        assert costs[0] == costs[1] == costs[2]

    def test_why_a_changeset_failed_is_for_those_who_see_its_changes(
        self, shop: OnRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = {"entity": COLUMN, "field": "links", "key": "https://wiki.example/layoffs", "value": "See"}
        approved(shop, secret, content="A secret of the board.", scope="user")

        def meddle(_: int, write: Callable[[], Any]) -> None:
            shop.ingest(write_source(tmp_path, columns="id"))
            write()

        one_by_one(monkeypatch, "write", meddle)
        with pytest.raises(Conflict, match="layoffs"):
            shop.apply(ENTITY)
        eve = shop.as_caller(person("eve"))
        [seen], [known] = eve.changesets().changesets, shop.changesets().changesets
        assert (seen.state, seen.ended_reason) == ("failed", None)
        assert "layoffs" in (known.ended_reason or "")

    def test_what_is_applied_must_be_rolled_back_before_it_is_forgotten(self, shop: OnRecord) -> None:
        id = approved(shop, content="Forget me.")
        done = shop.apply(ENTITY).changeset.id
        with pytest.raises(Conflict, match=f"Roll changeset {done} back first"):
            shop.forget(id)
        assert (shop.show(id).memory.status, description(shop)) == ("active", NET)
        shop.roll_back(done)
        shop.forget(id)
        [left] = shop.changesets(done).changesets
        assert (left.state, left.memories, left.changes) == ("rolled_back", (), ())
        with pytest.raises(Conflict, match="already been rolled back"):
            shop.roll_back(done)

    @pytest.mark.parametrize("root_of", ["shop", ENTITY])
    def test_nothing_of_a_forgotten_proposal_is_left_in_any_table(
        self,
        shop: OnRecord,
        contents: Callable[[], Any],
        tmp_path: Path,
        clock: Clock,
        root_of: str,
    ) -> None:
        """Of neither its text, its values nor its keys, whatever stood over it, and whatever the source did meanwhile."""
        column = COLUMN if root_of == ENTITY else root_of
        bob = shop.as_caller(person("bob"))
        edits = [
            described("quagga one", column),
            {"entity": root_of, "field": "tags", "key": "quagga-two", "op": "add"},
            {"entity": column, "field": "links", "key": "https://quagga.example", "value": "quagga three"},
        ]
        id = proposed(bob, *edits, content="A quagga said so.")
        shop.approve(id)
        first = shop.apply(root_of, reason="agreed").changeset.id
        clock.tick()
        other = approved(shop, described("Over it.", column), content="Another says more.")
        second = shop.apply(root_of).changeset.id
        clock.tick()
        shop.ingest(write_source(tmp_path, "Another text.", columns="id amount more"))
        clock.tick()
        shop.roll_back(second)
        shop.ingest(write_source(tmp_path, columns="id"))
        clock.tick()
        shop.roll_back(first, reason="wrong")
        clock.tick()
        bob.forget(id)
        assert "quagga" not in repr(contents())
        assert (shop.doctor().problems, states(shop)) == ((), {"pending": [other]})
        assert shop.changesets(second).changesets[0].changes[0].after == "Over it."
        shop.ingest(write_source(tmp_path))
        shop.approve(other)
        shop.roll_back(shop.apply(root_of).changeset.id)
        assert description(shop) == AMOUNT

    def test_what_two_have_proposed_is_forgotten_with_the_second(
        self, shop: OnRecord, contents: Callable[[], Any]
    ) -> None:
        ids = [approved(shop, described("quagga"), content=f"says {name}") for name in ("bob", "eve")]
        shop.roll_back(shop.apply(ENTITY).changeset.id)
        shop.forget(ids[0])
        assert "quagga" in repr(contents())
        shop.forget(ids[1])
        assert "quagga" not in repr(contents())

    def test_changesets_are_of_one_tenant_and_listed_by_page(self, shop: OnRecord) -> None:
        for number in range(3):
            approved(shop, described(f"Text {number}."), content=f"number {number}")
            shop.apply(ENTITY)
        shop.roll_back("3")
        page = shop.changesets(limit=1, skip=1)
        assert ([each.id for each in page.changesets], page.total) == (["2"], 3)
        assert [each.id for each in shop.changesets(states=["applied"]).changesets] == ["2", "1"]
        assert shop.changesets(entity="shop").total == 0
        stranger = shop.as_caller(person("ann", tenant="beta", permissions=REVIEWS))
        assert stranger.changesets().total == 0
        for door, id in ((stranger, "1"), (shop, "4"), (shop, "x")):
            with pytest.raises(NotFound):
                door.changesets(id)
        with pytest.raises(NotFound):
            stranger.roll_back("1")

    def test_the_store_keeps_a_changeset_as_it_was_given(self, store: Store, clock: Clock) -> None:
        edit = Edit(entity="a.b", field="properties", key="k", value=[1, True, "x"])
        change = FieldChange(
            edit=edit, before={"a": 1}, after=[1, True, "x"], memories=("1",), under={"b": 2}
        )
        made = Changeset(
            id="",
            entity="a.b",
            target="amendments",
            state="applying",
            changes=(change,),
            memories=("1",),
            by="ann",
            at=clock.now,
            updated_at=clock.now,
        )
        with store.writing(person(), clock.now) as writing:
            first, second = writing.changesets.begin(made), writing.changesets.begin(made)
            writing.changesets.replace(replace(second, state="failed", ended_reason="x"))
        with store.reading(person(), clock.now) as reading:
            assert reading.changesets.one("1") == first == replace(made, id="1")
            assert reading.changesets.page(ChangesetFilter(states=["failed"]))[1] == 1
            assert [each.id for each in reading.changesets.unsettled()] == ["1"]
            assert reading.changesets.unsettled(clock.now) == []
        with store.reading(person(tenant="beta"), clock.now) as reading:
            assert reading.changesets.page(ChangesetFilter()) == ([], 0)
