"""IN which states is a proposal, and who may see and change it? On every store."""

import pytest

from onrecord.errors import Conflict, HigherTier, Invalid
from onrecord.model.edits import Edit
from onrecord.service import OnRecord
from onrecord.testing.builders import (
    Clock,
    browsed,
    change_names,
    person,
    recalled,
    written,
)
from onrecord.testing.shop import (
    COLUMN,
    ENTITY,
    NOWHERE,
    REVIEWS,
    ShopConformance,
    approved,
    described,
    description,
    proposed,
    states,
)


class ProposalConformance(ShopConformance):
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
        assert change_names(shop, id) == ["remember", *(2 * ["approve", "apply", "roll_back"])]
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
        [rejection] = again.rejected
        assert (again.outcome, again.memory.id) == ("unchanged", other)
        assert (rejection.by, rejection.at, rejection.reason) == (
            "root",
            clock.now,
            "rolled back by root: in euros",
        )
        assert "rolled back by root: in euros" in again.warnings[-1]
        shop.reject(other, reason="in euros")
        assert shop.remember("It is in cents.", edits=[described("In cents.")]).outcome == "rejected"

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
        with pytest.raises(Conflict, match="were applied"):
            shop.revise(id, edits=[described()])
        with pytest.raises(Conflict, match="roll that changeset back"):
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
