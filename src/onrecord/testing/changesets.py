"""HOW does what people agreed on reach the catalog? Proposals, their states, and changesets, on every store."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.catalog.records import record_id
from onrecord.catalog.targets import Moved
from onrecord.catalog.targets.amendments import AmendmentsTarget
from onrecord.catalog.targets.unsourced import UnsourcedTarget
from onrecord.errors import Conflict, Forbidden, HigherTier, Invalid, NotFound
from onrecord.model.catalog import ENTITY_KINDS
from onrecord.model.changesets import WITHOUT_CATALOG, Changeset, FieldChange, without_effect
from onrecord.model.collections import ENTITIES
from onrecord.model.edits import Edit
from onrecord.model.limits import APPLIED_AT_ONCE, PROPOSAL_STATES
from onrecord.review.settling import LEFT_AFTER, finish_apply, settle_all, take_back
from onrecord.service import OnRecord
from onrecord.store.ports.filters import ChangesetFilter
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    START,
    Clock,
    Conformance,
    administrator,
    browsed,
    person,
    recalled,
    told,
    written,
)
from onrecord.testing.heard import heard

REVIEWS: Final = frozenset({"memory.read", "memory.manage", "memory.review"})
#: What the source says of a column, unless a test says otherwise.
AMOUNT: Final = "The amount."
NET: Final = "Net of refunds."
ENTITY: Final = "shop.orders"
COLUMN: Final = "shop.orders.amount"
#: What no source tells of, and a part of it.
NOWHERE: Final = "urn:li:dataset:(urn:li:dataPlatform:x,nowhere,PROD)"
NOWHERE_AMOUNT: Final = f"urn:li:schemaField:({NOWHERE},amount)"


def write_source(folder: Path, amount: str = AMOUNT, *, columns: str = "id amount") -> str:
    """A source with one model, whose column `amount` is described so."""
    models = folder / "models" / "shop"
    models.mkdir(parents=True, exist_ok=True)
    listed = "".join(
        f"- {{name: {name}, type: number{f', description: {amount!r}' if name == 'amount' else ''}}}\n"
        for name in columns.split()
    )
    text = f"name: orders\ndata_source: shop\nsql_table: orders\ndescription: Orders.\ncolumns:\n{listed}"
    (models / "orders.yaml").write_text(text, encoding="utf-8")
    return str(folder)


def described(value: str = NET, entity: str = COLUMN) -> dict[str, Any]:
    return {"entity": entity, "field": "description", "value": value}


def proposed(
    door: OnRecord, *edits: Mapping[str, Any], content: str = "It is net of refunds.", **more: Any
) -> str:
    """The id of a new proposal."""
    return door.remember(content, edits=list(edits) or [described()], **more).memory.id


def approved(root: OnRecord, *edits: Mapping[str, Any], **more: Any) -> str:
    """The id of a proposal that a person has approved."""
    id = proposed(root, *edits, **more)
    root.approve(id)
    return id


def shown(door: OnRecord) -> dict[str, Any]:
    """What everyone sees of the model, with what was promoted."""
    sections = door.inspect(ENTITY).sections
    return {name: sections.get(name) for name in ("description", "tags", "columns", "promoted")}


def description(door: OnRecord) -> str | None:
    [column] = [each for each in shown(door)["columns"] if each["name"] == "amount"]
    text: str | None = column.get("description")
    return text


def everywhere(door: OnRecord) -> dict[str, Any]:
    """What the catalog tells of what there is: entities, what a search finds, and how many there are."""
    return {
        "entities": [door.entities(kind=kind).total for kind in ENTITY_KINDS],
        "found": door.search("nowhere amount refunds", max_memories=0, max_example_queries=0).entities,
        "counted": [each for each in door.status().tenants if each.collection == "entities"],
    }


def states(door: OnRecord) -> dict[str, list[str]]:
    """The ids in each state; pages, totals and tallies must agree, and no proposal is in two."""
    found = {state: browsed(door, proposal=state) for state in PROPOSAL_STATES}
    for state, ids in found.items():
        assert door.browse(proposal=state, count=True, limit=1).total == len(ids)
        assert door.tally("kind", proposal=state).total == len(ids)
        assert browsed(door, proposal=state, known_at=START + timedelta(days=99)) == ids
        # What is told of one by itself is what the lists go by.
        assert {told_state(door, id) for id in ids} <= {state}
    every = [id for ids in found.values() for id in ids]
    assert len(every) == len(set(every))
    assert sorted(browsed(door, proposal="any")) == sorted(every)
    return {state: ids for state, ids in found.items() if ids}


def told_state(door: OnRecord, id: str) -> str | None:
    background = door.show(id, background=True).background
    return None if background is None else background.proposal


class Stopped(BaseException):
    """Ends a process where it stands; nobody catches it."""


def one_by_one(
    monkeypatch: pytest.MonkeyPatch, method: str, around: Callable[[int, Callable[[], Any]], Any]
) -> None:
    """The target writes or restores one value after the other, as one in another system does, with something around each
    call, which is told its number.
    """
    done: Callable[..., Any] = getattr(AmendmentsTarget, method)
    calls = count(1)

    def each_alone(
        self: AmendmentsTarget, changeset: Changeset, changes: Sequence[FieldChange]
    ) -> dict[Any, str]:
        told: dict[Any, str] = {}
        for change in changes:
            told |= around(next(calls), partial(done, self, changeset, [change])) or {}
        return told

    monkeypatch.setattr(AmendmentsTarget, method, each_alone)


@contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, method: str, at: int, before: bool = True) -> Iterator[None]:
    """The process ends just before or after the nth value that the target writes or restores, one after the other."""

    def stop(number: int, done: Callable[[], Any]) -> Any:
        if number == at and before:
            raise Stopped
        told = done()
        if number == at:
            raise Stopped
        return told

    with monkeypatch.context() as patched:
        one_by_one(patched, method, stop)
        with pytest.raises(Stopped):
            yield


def _begun(shop: OnRecord, store: Store, clock: Clock) -> tuple[Changeset, AmendmentsTarget]:
    """A changeset of which nothing is written yet, and where it is to be written."""
    with pytest.MonkeyPatch.context() as patched, stopping(patched, "write", 1):
        shop.apply(ENTITY)
    with store.reading(shop.caller, clock.now) as reading:
        [begun] = reading.changesets.unsettled()
    return begun, AmendmentsTarget(store, shop.caller, clock.now, embeds=False)


class _InAShop(Conformance):
    """With a catalog of one model."""

    @pytest.fixture
    def shop(self, root: OnRecord, tmp_path: Path) -> OnRecord:
        root.ingest(write_source(tmp_path))
        return root


class ProposalConformance(_InAShop):
    """A memory may propose edits of the catalog; its state is read off the one status that it has."""

    def test_a_proposal_is_in_one_state_after_the_other(self, shop: OnRecord, clock: Clock) -> None:
        plain = shop.remember("Nobody proposes this.").memory.id
        shop.approve(plain)
        id = proposed(shop)
        assert states(shop) == {"pending": [id]}
        shop.approve(id, reason="Checked.")
        assert states(shop) == {"approved": [id]}
        clock.tick()
        changeset = shop.apply(ENTITY).changeset.id
        assert (states(shop), shop.show(id).memory.changeset) == ({"applied": [id]}, changeset)
        clock.tick()
        shop.roll_back(changeset, reason="It is gross.")
        memory = shop.show(id).memory
        assert (states(shop), memory.changeset) == ({"pending": [id]}, None)
        assert (memory.approved_by, memory.status_reason) == (None, "rolled back by root: It is gross.")
        assert browsed(shop) == [plain]
        shop.approve(id)
        shop.roll_back(shop.apply(ENTITY).changeset.id, reason="It is gross.", then="archive")
        memory = shop.show(id).memory
        assert states(shop) == {"rolled_back": [id]}
        assert (memory.status, memory.status_reason) == ("archived", "rolled back by root: It is gross.")
        assert told(shop, id) == ["remember", *(2 * ["approve", "apply", "roll_back"])]
        assert browsed(shop) == [plain]

    def test_what_was_rolled_back_waits_with_its_reason_and_says_it_when_it_is_proposed_again(
        self, shop: OnRecord, clock: Clock
    ) -> None:
        old = shop.remember("The amount is gross.").memory.id
        edits, content = [described()], "The amount is net."
        id = shop.remember(content, edits=edits, supersedes=[old]).memory.id
        shop.approve(id)
        assert shop.show(old).memory.status == "superseded"
        done = shop.apply(ENTITY).changeset.id
        shop.roll_back(done, reason="wrong")
        # Its approval is undone with all that it did.
        waiting = shop.show(id).memory
        assert (waiting.status, shop.show(old).memory.status) == ("pending", "active")
        assert waiting.proposes is not None
        assert (waiting.proposes.change, waiting.proposes.of) == ("supersede", (old,))
        shop.approve(id)
        assert shop.show(old).memory.status == "superseded"
        other = shop.remember("It is in cents.", edits=[described("In cents.")]).memory.id
        shop.approve(other)
        clock.tick()
        shop.roll_back(shop.apply(ENTITY, memories=[other]).changeset.id, reason="in euros")
        again = shop.remember("It is in cents.", edits=[described("In cents.")])
        [told_of] = again.turned_down
        assert (again.outcome, again.memory.id) == ("unchanged", other)
        assert (told_of.by, told_of.at, told_of.reason) == (
            "root",
            clock.now,
            "rolled back by root: in euros",
        )
        assert "rolled back by root: in euros" in again.warnings[-1]
        shop.reject(other, reason="in euros")
        assert shop.remember("It is in cents.", edits=[described("In cents.")]).outcome == "turned_down"

    def test_what_is_rejected_superseded_or_retired_is_told_apart(self, shop: OnRecord) -> None:
        early, late = proposed(shop, content="early"), approved(shop, content="late")
        shop.reject(early)
        shop.reject(late, reason="after all")
        old = approved(shop, described("old"), content="old")
        new = approved(shop, described("new"), content="new", supersedes=[old])
        shop.apply(ENTITY)
        asked = shop.remember("Only to be looked at.", review=True).memory.id
        shop.retire(new)
        # Retired, but what it changed stands.
        assert states(shop) == {
            "pending": [asked],
            "applied": [new],
            "rejected": [late, early],
            "superseded": [old],
        }

    def test_a_question_may_be_about_proposals_alone(self, shop: OnRecord) -> None:
        shop.remember("The amount is shown without cents.")
        waits, counts = (
            proposed(shop, content="The amount is net."),
            approved(shop, content="The amount is gross."),
        )
        for state, ids in {"any": [waits, counts], "pending": [waits], "approved": [counts]}.items():
            found = shop.recall("amount", proposal=state, recipe="lexical")  # type: ignore[arg-type]
            assert sorted(hit.memory.id for hit in found.hits) == sorted(ids)

    def test_what_the_catalog_does_not_know_may_wait_for_it(self, shop: OnRecord) -> None:
        saved = shop.remember("Of nowhere.", edits=[described(entity=NOWHERE)], unknown="keep")
        assert (saved.memory.edits or ())[0].entity == NOWHERE
        assert any("nowhere" in warning for warning in saved.warnings)
        with pytest.raises(Invalid, match="nowhere"):
            shop.remember("Of nowhere.", edits=[described(entity=NOWHERE)])

    def test_what_waits_is_for_its_owner_and_reviewers_alone(self, shop: OnRecord) -> None:
        bob, eve = shop.as_caller(person("bob")), shop.as_caller(person("eve"))
        reviewer = shop.as_caller(person("rita", permissions=REVIEWS))
        id = proposed(bob)
        assert [states(door) for door in (bob, reviewer, eve)] == [{"pending": [id]}, {"pending": [id]}, {}]
        assert recalled(eve, "refunds") == []
        reviewer.approve(id)
        assert states(eve) == {"approved": [id]}

    def test_edits_are_checked_resolved_scrubbed_and_kept(self, shop: OnRecord) -> None:
        saved = shop.remember(
            "Who owns it.",
            edits=[
                Edit(entity="orders.amount", field="tags", key="money", op="add"),
                {"entity": "orders", "field": "properties", "key": "password", "value": "hunter2hunter2"},
            ],
        )
        first, second = saved.memory.edits or ()
        assert first == Edit(entity=COLUMN, field="tags", key="money", op="add")
        assert "hunter2" not in written(saved)
        assert (second.entity, saved.scrubbed) == (ENTITY, 1)
        assert set(saved.memory.entities) == {COLUMN, ENTITY}
        assert shop.show(saved.memory.id).memory == saved.memory
        for edit, where in (
            ({"entity": "nothing.here", "field": "tags", "key": "a", "op": "add"}, r"edits\[0\].entity"),
            ({"entity": ENTITY, "field": "colour", "value": "red"}, r"edits\[0\].field"),
            ({"entity": ENTITY, "field": "description", "value": "a\u202eb"}, "invisible"),
            ({"entity": ENTITY, "field": "documents", "key": "a\u00adb", "value": "x"}, "invisible"),
            ({"entity": ENTITY, "field": "queries", "key": "q", "value": {"sql": "a\u200b"}}, "invisible"),
        ):
            with pytest.raises(Invalid, match=where):
                proposed(shop, edit)
        with pytest.raises(Invalid, match="edits"):
            proposed(shop, scope="global")

    def test_edits_change_only_while_they_are_not_applied(self, shop: OnRecord) -> None:
        plain, id = shop.remember("It proposes nothing.").memory.id, proposed(shop)
        with pytest.raises(Invalid, match="not saved as a proposal"):
            shop.revise(plain, edits=[described()])
        assert shop.revise(id, edits=[described("other")]).changed == ("edits",)
        shop.approve(id)
        bob = shop.as_caller(person("bob"))
        assert shop.revise(id, edits=[described("another")]).memory.approved_by == "root"
        shop.apply(ENTITY)
        assert description(bob) == "another"
        with pytest.raises(Conflict, match="was applied"):
            shop.revise(id, edits=[described()])
        with pytest.raises(Conflict, match="roll that back"):
            shop.reject(id)

    def test_an_owner_who_does_not_review_cannot_change_what_was_approved(self, shop: OnRecord) -> None:
        bob = shop.as_caller(person("bob"))
        id = proposed(bob)
        shop.approve(id)
        with pytest.raises(HigherTier):
            bob.revise(id, edits=[described("something nobody has seen")])
        waits = bob.revise(id, content="Said in other words.").proposal
        assert waits is not None
        assert (waits.edits, states(shop)) == (None, {"approved": [id]})

    def test_who_may_review_no_longer_keeps_no_approval_of_other_edits(self, shop: OnRecord) -> None:
        id = proposed(shop)
        shop.approve(id)
        no_reviewer = shop.as_caller(person(shop.caller.user))
        assert (
            no_reviewer.revise(id, edits=[described("something nobody has seen")]).memory.approved_by is None
        )
        assert states(shop) == {"pending": [id]}


class ChangesetConformance(_InAShop):
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
        with pytest.raises(Invalid, match="not approved"):
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
        assert "no part of" in (change.conflict or "")
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
        with pytest.raises(Conflict, match="nothing of it is left"):
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
        begun, target = _begun(shop, store, clock)
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
        begun, target = _begun(shop, store, clock)
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
        with pytest.raises(Moved, match="settled meanwhile"):
            target.write(half, half.changes)
        with pytest.raises(Conflict, match="is being taken back"):
            shop.roll_back("1")
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        assert settle_all(store, clock.now) == ("1",)
        [failed] = shop.changesets().changesets
        assert (failed.state, failed.ended_reason) == ("failed", "the process that applied it ended")
        assert (shown(shop), states(shop)) == (untouched, {"approved": [id]})

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
        assert [("source says so itself" in told) for told in rolled.kept] == [True]
        assert (description(shop), shown(shop)["promoted"]) == (NET, None)
        with pytest.raises(Conflict, match="already been rolled back"):
            shop.roll_back(first)

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
        turned_down = proposed(shop, described("Gross."), content="It is gross of refunds.")
        clock.tick()
        shop.reject(turned_down, reason="It is not.")
        rejected_at = clock.now
        old = shop.remember("Gross of tax.", entities=[COLUMN]).memory.id
        id = shop.remember("Net of tax.", edits=[described()], supersedes=[old]).memory.id
        shop.approve(id)
        clock.tick()
        shop.ingest(write_source(tmp_path, columns="id"))
        # While it is gone it is told, and applied to nothing.
        [change] = shop.plan(ENTITY).changes
        assert "nothing in the catalog" in (change.conflict or "")
        with pytest.raises(Conflict, match="nothing in the catalog"):
            shop.apply(ENTITY)
        shop.ingest(write_source(tmp_path))
        assert shop.plan(ENTITY).memories == (id,)
        shop.apply(ENTITY)
        assert description(shop) == NET
        again = shop.remember("It is gross of refunds.", edits=[described("Gross.")])
        assert (again.outcome, again.turned_down[0].by, again.turned_down[0].at) == (
            "turned_down",
            "root",
            rejected_at,
        )
        assert not shop.reject(turned_down).changed
        # What it had superseded comes back with the approval undone.
        shop.roll_back("1")
        assert shop.show(old).memory.status == "active"

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

    def test_what_no_source_has_told_of_is_promoted_and_taken_back_without_a_trace(
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
        told = root.inspect(NOWHERE).sections
        assert (told["state"], told["description"], told["tags"]) == ("unsourced", NET, ["pii"])
        assert {each["entity"] for each in told["promoted"]} == {NOWHERE, NOWHERE_AMOUNT}
        # It is no table: nothing but what was promoted of it tells of it, and names are as free as before.
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
        # What a source has told of and tells of no more is gone, and does not begin anew.
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
        with pytest.raises(Conflict, match=r"a source tells of shop\.orders by now"):
            root.apply(ENTITY, edits=[described()], unknown="keep")
        assert (description(root), shown(root)["promoted"]) == (AMOUNT, None)
        root.apply(ENTITY, edits=[described()], unknown="keep")
        assert description(root) == NET

    def test_what_no_source_has_told_of_is_settled_and_moves_like_everything_else(
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
        path, told = str(tmp_path / "out.jsonl"), root.inspect(NOWHERE).sections
        everything = root.as_caller(administrator())
        everything.export(path, all_tenants=True)
        everything.erase_tenant(root.caller.tenant, confirm=root.caller.tenant)
        everything.import_(path, keep_tenants=True)
        assert root.inspect(NOWHERE).sections == told
        agent = replace(root.caller, tenant="beta", actor="agent", operator=False)
        root.as_caller(agent).import_(path)
        with pytest.raises(NotFound):
            root.as_caller(agent).inspect(NOWHERE)

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
        worker.run_once()
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
            with heard(store) as told:
                assert eve.changesets(done.id).changesets[0].memories == ()
            costs.append(told)
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

    def test_an_export_takes_proposals_and_changesets_with_it(
        self, shop: OnRecord, tmp_path: Path, clock: Clock
    ) -> None:
        approved(shop)
        shop.apply(ENTITY)
        shop.roll_back("1", reason="wrong", then="archive")
        waits = proposed(shop, described("Later."), content="later")
        path = str(tmp_path / "out.jsonl")
        assert shop.export(path).changesets == 1
        other = shop.as_caller(replace(shop.caller, tenant="beta"))
        assert other.import_(path).changesets == 1
        assert other.changesets().changesets == tuple(map(without_effect, shop.changesets().changesets))
        assert states(other) == states(shop)
        assert other.show(waits).memory.edits == shop.show(waits).memory.edits
        assert other.import_(path).changesets == 0
        assert other.doctor().problems == ()

    def test_what_came_without_its_catalog_is_approved_and_can_be_applied_there(
        self, shop: OnRecord, tmp_path: Path
    ) -> None:
        applied = approved(shop)
        shop.apply(ENTITY)
        retired = approved(shop, described("Orders of the shop.", ENTITY), content="All orders.")
        shop.apply(ENTITY)
        shop.retire(retired)
        path = str(tmp_path / "out.jsonl")
        shop.export(path)
        assert shop.import_(path).unchanged == 2, "where it comes from, all of it is here"
        assert states(shop) == {"applied": [retired, applied]}
        other = shop.as_caller(replace(shop.caller, tenant="beta"))
        other.import_(path)
        assert states(other) == {"approved": [applied], "rejected": [retired]}
        told_of = other.changesets("1").changesets[0]
        assert (told_of.state, told_of.ended_reason) == ("failed", WITHOUT_CATALOG)
        with pytest.raises(Conflict, match="nothing of it is left"):
            other.roll_back("1")
        assert other.import_(path).unchanged == 2
        other.ingest(write_source(tmp_path / "again"))
        assert description(other) == AMOUNT
        assert other.plan(ENTITY).memories == (applied,)
        assert other.apply(ENTITY).changeset.id == "3"
        assert (description(other), states(other)["applied"]) == (NET, [applied])
        assert other.doctor().problems == ()

    def test_what_comes_with_its_catalog_stays_applied_and_can_be_rolled_back(
        self, shop: OnRecord, store: Store, tmp_path: Path
    ) -> None:
        id = approved(shop)
        shop.apply(ENTITY)
        path, promoted = str(tmp_path / "out.jsonl"), shown(shop)
        everything = shop.as_caller(administrator())
        everything.export(path, all_tenants=True)
        everything.erase_tenant(shop.caller.tenant, confirm=shop.caller.tenant)
        everything.import_(path, keep_tenants=True)
        assert (states(shop), shown(shop)) == ({"applied": [id]}, promoted)
        assert shop.roll_back("1").kept == ()
        assert description(shop) == AMOUNT

    def test_no_agent_forges_what_people_promoted(
        self, shop: OnRecord, store: Store, tmp_path: Path, clock: Clock
    ) -> None:
        approved(shop)
        shop.apply(ENTITY)
        path = tmp_path / "out.jsonl"
        shop.as_caller(administrator()).export(str(path), all_tenants=True)
        shop.roll_back("1", then="archive")
        untouched = shown(shop)
        agent = shop.as_caller(replace(shop.caller, actor="agent", operator=False))
        written = path.read_text()
        # As a changeset that would put it back, and as a record of the catalog that has it already.
        path.write_text("".join(_forged(written, "changeset")))
        agent.import_(str(path), skip_conflicts=True)
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        assert settle_all(store, clock.now) == ()
        assert {each.id: each.state for each in shop.changesets().changesets}["7"] == "failed"
        path.write_text("".join(_forged(written, "versions")))
        with pytest.raises(Forbidden, match="only a person"):
            agent.import_(str(path), skip_conflicts=True)
        assert shown(shop) == untouched
        # Nor does a person bring in what no edit could have left there.
        path.write_text("".join(_forged(written, "changeset", "Net\u200b.")))
        with pytest.raises(Invalid, match="invisible"):
            shop.import_(str(path), skip_conflicts=True)


def _forged(export: str, kind: str, value: str = "Forged.") -> Iterator[str]:
    """The lines of an export with those of one kind alone, in which something was promoted that nobody has approved."""
    for line in map(json.loads, export.splitlines()):
        if "changeset" in line and kind == "changeset":
            [change] = line["changeset"]["changes"]
            forged = {"entity": COLUMN, "field": "description", "value": value, "changeset": "7"}
            change["under"] = forged | {"approved_by": "root", "at": line["changeset"]["at"]}
            change["after"] = change["edit"]["value"] = AMOUNT
            line["changeset"] |= {"id": "7", "state": "rolling_back", "memories": []}
        elif "versions" in line and kind == "versions" and "/" not in line["id"]:
            line = json.loads(json.dumps(line).replace(NET, value).replace('"orders"', '"forged"'))
            line["id"] = line["id"].replace("orders", "forged")
            for version in line["versions"]:
                version["memory"]["id"] = line["id"]
        elif "changeset" in line or "versions" in line or "relation" in line:
            continue
        yield json.dumps(line) + "\n"
