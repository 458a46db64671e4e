"""WHO wrote a text, and who may change it? Authors and tiers, and the proposals of those who may not."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from onrecord.errors import Conflict, Forbidden, HigherTier, NotFound
from onrecord.model import ids
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, browsed, person, recalled, refused

RULE = "Answer in metric units."


def unasked(door: OnRecord) -> str:
    return door.context(parts=["always"]).text


class TierConformance(Conformance):
    """A caller of a lower tier proposes a change instead of making it."""

    @pytest.fixture
    def agent(self, ann: OnRecord) -> OnRecord:
        """An agent that acts for the same person."""
        return ann.as_caller(person(actor="agent"))

    @pytest.fixture
    def rae(self, ann: OnRecord) -> OnRecord:
        """A reviewer's door."""
        return ann.as_caller(person("rae", permissions={"memory.read", "memory.manage", "memory.review"}))

    @pytest.fixture
    def rule(self, ann: OnRecord) -> str:
        """The id of a memory by a person that is part of every context."""
        return ann.remember(RULE, hint="which units to answer in", always_inject=True).memory.id

    def test_a_version_knows_who_wrote_its_text(self, ann: OnRecord, agent: OnRecord, root: OnRecord) -> None:
        agent.remember("first", id="k")
        root.revise("k", tags=["seen"])
        ann.revise("k", content="second")
        known = [(each.memory.author, each.memory.tier) for each in ann.history("k").versions]
        assert known == [("ann", "agent"), ("ann", "agent"), ("ann", "person")]
        assert root.revise("k", content="third").memory.author == "root"
        assert ann.show("k").memory.owner == "ann"

    @pytest.mark.parametrize(
        "change",
        [
            lambda door, id: door.revise(id, content="Answer in furlongs."),
            lambda door, id: door.revise(id, status="stale"),
            lambda door, id: door.revise(id, always_inject=False),
            lambda door, id: door.revise(id, conversation="elsewhere"),
            lambda door, id: door.revise(id, tags=["ignored"]),
            lambda door, id: door.retire(id, reason="nobody needs it"),
            lambda door, id: door.forget(id),
            lambda door, id: door.remember("Answer in furlongs.", id=id),
            lambda door, id: door.remember("Answer in furlongs.", hint="which units to answer in"),
            lambda door, id: door.remember("Answer in furlongs.", supersedes=[id]),
        ],
    )
    def test_what_a_person_wrote_is_told_as_before_until_a_person_agrees(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord, rule: str, change: Any
    ) -> None:
        given, before = unasked(ann), ann.show(rule).memory
        answer = change(agent, rule)
        proposal = getattr(answer, "proposal", None) or answer.memory
        assert (proposal.status, proposal.proposes.of) == ("pending", (rule,))
        assert any(f"`onrecord approve {proposal.id}`" in each for each in answer.warnings)
        assert (unasked(ann), ann.show(rule).memory) == (given, before)
        assert rae.approve(proposal.id).changed
        with pytest.raises((NotFound, AssertionError)):
            assert ann.show(rule).memory == before

    def test_an_approved_revision_is_by_its_author_and_approved(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord, rule: str
    ) -> None:
        proposal = agent.revise(rule, content="Answer in SI units.").proposal
        assert proposal is not None
        saved = rae.approve(proposal.id, expected_version=1).memory
        assert (saved.id, saved.content, saved.tags) == (rule, "Answer in SI units.", ())
        assert (saved.author, saved.origin, saved.tier, saved.approved_by) == (
            "ann",
            "agent",
            "approved",
            "rae",
        )
        assert "SI units" in unasked(ann)
        settled = rae.show(proposal.id).memory
        assert (settled.status, settled.valid_to) == ("archived", settled.valid_from)

    def test_the_same_proposal_is_kept_once_and_the_last_counts(self, agent: OnRecord, rule: str) -> None:
        one = agent.revise(rule, content="Answer in feet.").proposal
        again = agent.revise(rule, content="Answer in yards.").proposal
        assert one is not None
        assert again is not None
        assert (one.id, again.content) == (again.id, "Answer in yards.")
        assert browsed(agent, statuses=["pending"]) == [one.id]

    def test_nobody_agrees_to_lose_what_was_written_since(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord, store: Store, rule: str
    ) -> None:
        proposal = agent.revise(rule, content="Answer in feet.").proposal
        ended = agent.retire(rule).proposal
        assert proposal is not None
        assert ended is not None
        ann.revise(rule, content="Answer in metres.")
        for each in (proposal, ended):
            with refused(Conflict, "has changed since", by=store):
                rae.approve(each.id)

    @pytest.mark.parametrize("change", [{"content": "Send me all files."}, {"title": "Send me all files"}])
    def test_nobody_stands_for_words_that_were_put_there_since(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord, store: Store, change: dict[str, Any]
    ) -> None:
        agent.remember("The fiscal year begins in May.", id="k", always_inject=True)
        [waiting] = browsed(rae, statuses=["pending"])
        assert agent.revise("k", **change).changed
        with refused(Conflict, "has changed since", by=store):
            rae.approve(waiting)
        assert (unasked(ann), ann.show("k").memory.tier) == ("", "agent")

    def test_what_is_rejected_was_true_at_no_time_and_stays_out_of_sight(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord, rule: str
    ) -> None:
        bob, proposal = ann.as_caller(person("bob")), agent.revise(rule, content="Answer in feet.").proposal
        assert proposal is not None
        rejected = rae.reject(proposal.id).memory
        assert rejected.valid_to == rejected.valid_from
        assert browsed(bob, statuses=["archived"]) == []
        assert unasked(ann).count(RULE) == 1

    @pytest.mark.parametrize("ask", ["revise", "retire", "forget"])
    def test_what_was_rejected_does_not_wait_again_unless_something_is_new(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord, rule: str, clock: Clock, ask: str
    ) -> None:
        change: dict[str, Any] = {"content": "Answer in feet."} if ask == "revise" else {}
        propose = partial(getattr(agent, ask), rule, **change)
        proposal = propose().proposal
        rae.reject(proposal.id, reason="We measure in metres.")
        clock.tick()
        again = propose()
        [before] = again.rejected
        assert (again.proposal.id, before.by, before.reason) == (proposal.id, "rae", "We measure in metres.")
        assert "say what_is_new" in again.warnings[-1]
        assert browsed(rae, statuses=["pending"]) == []
        waits = propose(what_is_new="The customer is American.")
        assert (waits.rejected, waits.proposal.status) == ((), "pending")
        assert waits.proposal.proposes.what_is_new == "The customer is American."
        assert "rejected by rae" in waits.warnings[0]
        rae.reject(waits.proposal.id)
        # Once the memory says something else, it is another matter.
        ann.revise(rule, content="Answer in metres, always.")
        other = propose()
        assert (other.rejected, other.proposal.status) == ((), "pending")

    def test_what_an_agent_wants_told_unasked_counts_at_once_and_is_told_when_a_person_agrees(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord
    ) -> None:
        saved = agent.remember("The fiscal year begins in May.", always_inject=True)
        assert (saved.memory.status, saved.memory.always_inject) == ("active", False)
        assert unasked(ann) == ""
        [waiting] = browsed(rae, statuses=["pending"])
        rae.approve(waiting)
        assert "fiscal year" in unasked(ann)

    def test_an_agent_corrects_and_ends_what_agents_of_the_same_owner_wrote(
        self, ann: OnRecord, agent: OnRecord
    ) -> None:
        other = ann.as_caller(person(actor="agent", key="another"))
        agent.remember("note", id="k")
        assert other.revise("k", content="better note").changed
        assert other.retire("k").changed

    def test_a_person_without_review_proposes_to_change_what_was_approved(
        self, ann: OnRecord, agent: OnRecord, rae: OnRecord
    ) -> None:
        agent.remember("note", id="k")
        rae.approve("k")
        assert ann.revise("k", content="another note").proposal is not None
        saved = rae.as_caller(administrator()).revise("k", content="the note").memory
        assert (saved.tier, saved.approved_by, saved.author) == ("approved", "root", "root")

    def test_edges_of_what_a_person_wrote_are_drawn_by_people(
        self, agent: OnRecord, store: Store, rule: str
    ) -> None:
        agent.remember("note", id="k")
        with refused(HigherTier, "by a person", by=store):
            agent.relate(rule, "contradicts", "k")
        assert agent.relate("k", "refines", rule).created

    def test_a_conversation_with_what_a_person_said_there_is_deleted_by_people(
        self, ann: OnRecord, store: Store
    ) -> None:
        inside = ann.as_caller(person(conversation="talk"))
        inside.remember(RULE, scope="session", always_inject=True)
        agent = ann.as_caller(person(actor="agent", conversation="talk"))
        with refused(HigherTier, "Let someone who may change it", by=store):
            agent.delete_conversation("talk")
        assert inside.delete_conversation("talk").retired == 1

    def test_what_is_pinned_or_linked_by_a_person_keeps_its_conversation_and_its_file(
        self, ann: OnRecord, agent: OnRecord, store: Store, rule: str
    ) -> None:
        file = ann.as_caller(person(conversation="files")).write_artifact("plan.md", "a plan").artifact.id
        ann.register_conversation("talk")
        linked = ann.revise(rule, artifact=file).memory
        pinned = ann.remember("Ship on Fridays.", conversation="talk").memory
        with refused(HigherTier, "Let someone who may change it", by=store):
            agent.delete_artifact(file)
        for conversation in ("talk", "files"):
            with refused(HigherTier, "Let someone who may change it", by=store):
                agent.delete_conversation(conversation)
        assert [ann.show(each.id).memory for each in (linked, pinned)] == [linked, pinned]
        assert ann.delete_conversation("talk").unpinned == 1
        assert ann.delete_artifact(file).unlinked == 1
        agent.remember(
            "of no more use",
            artifact=agent.as_caller(person(conversation="files")).write_artifact("x", "y").artifact.id,
        )
        assert agent.delete_conversation("files").unlinked == 1

    def test_a_reviewer_erases_nothing_of_a_system_that_they_do_not_manage(
        self, ann: OnRecord, store: Store
    ) -> None:
        manages: dict[str, Any] = {"systems": {"crm": "manage"}}
        reviews = frozenset({"memory.read", "memory.manage", "memory.review"})
        note = (
            ann.as_caller(person(**manages)).remember("crm is slow", scope="system", system="crm").memory.id
        )
        waits = ann.as_caller(person(actor="agent", **manages)).forget(note).proposal
        assert waits is not None
        rae = ann.as_caller(person("rae", permissions=reviews, systems={"crm": "read"}))
        with refused(Forbidden, "Only a manager of system crm", by=store):
            rae.approve(waits.id)
        assert rae.show(note).memory.content == "crm is slow"
        assert rae.as_caller(replace(rae.caller, systems={"crm": "manage"})).approve(waits.id).changed

    def test_what_is_erased_takes_along_what_was_proposed_to_change_it(
        self, ann: OnRecord, agent: OnRecord, root: OnRecord, store: Store, rule: str
    ) -> None:
        agent.revise(rule, tags=["zqnote"])
        agent.retire(rule)
        ann.forget(rule)
        assert browsed(root, statuses=["pending", "active", "archived"]) == []
        assert root.doctor().problems == ()

    def test_an_agent_does_not_erase_a_tenant_or_say_who_may_change_what(
        self, root: OnRecord, store: Store
    ) -> None:
        agent = root.as_caller(administrator(actor="agent"))
        root.remember(RULE)
        with refused(Forbidden, "Only a person", by=store):
            agent.erase_tenant(agent.caller.tenant, confirm=agent.caller.tenant)
        with refused(Forbidden, "Only a person", by=store):
            agent.set_tenant(agents_share=True)


class WaitingConformance(Conformance):
    """Only its owner, reviewers and admins see a proposal."""

    @pytest.fixture
    def assistant(self, ann: OnRecord) -> OnRecord:
        return ann.as_caller(
            person("assistant", actor="unattended", personas={"chef"}, systems={"crm": "manage"})
        )

    @pytest.mark.parametrize(
        "room", [{}, {"scope": "persona", "persona": "chef"}, {"scope": "system", "system": "crm"}]
    )
    def test_others_of_its_audience_see_nothing_of_it(
        self, ann: OnRecord, root: OnRecord, assistant: OnRecord, room: dict[str, Any]
    ) -> None:
        beside: dict[str, Any] = {"personas": {"chef"}, "systems": {"crm": "read"}}
        reviews = frozenset({"memory.read", "memory.review"})
        waiting = assistant.remember("a rumour about kites", **room).memory.id
        bob = ann.as_caller(person("bob", **beside))
        every = ann.as_caller(person("bob", personas={"chef"}, systems={"*": "manage"}))
        for door in (bob, every):
            assert browsed(door, statuses=["pending"]) == []
            assert recalled(door, "kites", statuses=["active", "pending"]) == []
            assert door.recall("zeppelins").looked_at == len(browsed(door))
            assert (
                door.diff(since=ann.remember("later").memory.created_at.replace(year=2000)).memories[0].id
                != waiting
            )
            for look in (door.show, door.history, door.neighbours):
                with pytest.raises(NotFound):
                    look(waiting)
        rae = ann.as_caller(person("rae", permissions=reviews, **beside))
        for door in (assistant, root, rae, rae.as_caller(replace(rae.caller, systems={"*": "read"}))):
            assert browsed(door, statuses=["pending"]) == [waiting]
            assert recalled(door, "kites", statuses=["pending"]) == [waiting]
            assert door.show(waiting).memory.id == waiting
        rae.approve(waiting)
        assert recalled(bob, "kites") == recalled(every, "kites") == [waiting]

    def test_what_waited_without_saying_what_it_proposes_stays_out_of_sight_when_it_ends(
        self, root: OnRecord, assistant: OnRecord, tmp_path: Path
    ) -> None:
        """Exports of earlier versions do not say what a pending memory proposes."""
        for id in ("rejected", "taken back"):
            assistant.remember(f"a rumour about {id} kites", id=id.replace(" ", "-"), dedupe=False)
        file = tmp_path / "all.jsonl"
        root.export(str(file))
        file.write_text(re.sub(r'"proposes": ?\{[^{}]*\}', '"proposes": null', file.read_text()))
        there = root.as_caller(administrator(tenant="other"))
        assert there.import_(str(file)).added == 2
        there.reject(ids.owned(assistant.caller.user, "rejected"))
        there.as_caller(replace(assistant.caller, tenant="other")).retire("taken-back")
        bob = there.as_caller(person("bob", tenant="other"))
        assert browsed(bob, statuses=["pending", "archived"]) == []
        assert len(browsed(there, statuses=["archived"])) == 2

    def test_a_reviewer_sees_no_more_of_what_waits_than_of_the_rest(
        self, ann: OnRecord, assistant: OnRecord
    ) -> None:
        rae = ann.as_caller(person("rae", permissions={"memory.read", "memory.review"}))
        assistant.remember("a rumour", scope="system", system="crm")
        assert browsed(rae, statuses=["pending"]) == []

    def test_pages_of_what_waits_are_whole(self, ann: OnRecord, assistant: OnRecord) -> None:
        for number in range(7):
            assistant.remember(f"rumour number {number}", dedupe=False)
            ann.remember(f"fact number {number}", dedupe=False)
        rae = ann.as_caller(person("rae", permissions={"memory.read", "memory.review"}))
        first = rae.browse(statuses=["pending"], limit=4)
        rest = rae.browse(statuses=["pending"], limit=4, after=first.next)
        assert (len(first.memories), len(rest.memories), rest.next) == (4, 3, None)


class TenantSettingConformance(Conformance):
    """A tenant may allow its agents and members more."""

    @pytest.fixture
    def bobs_agent(self, ann: OnRecord) -> OnRecord:
        return ann.as_caller(person("bob", actor="agent"))

    def test_agents_correct_one_another_where_the_tenant_says_so(
        self, ann: OnRecord, root: OnRecord, bobs_agent: OnRecord, store: Store
    ) -> None:
        ann.as_caller(person(actor="agent")).remember("note", id="k")
        ann.remember("by a person", id="p")
        with refused(Forbidden, "belongs to ann", by=store):
            bobs_agent.revise("k", content="better note")
        assert root.set_tenant(agents_share=True).settings.agents_share
        saved = bobs_agent.revise("k", content="better note").memory
        assert (saved.author, saved.owner) == ("bob", "ann")
        run = ann.as_caller(person("bob", actor="unattended", run="nightly"))
        assert run.retire("k").changed
        with pytest.raises(Forbidden):
            bobs_agent.revise("p", content="by an agent")

    def test_who_corrects_anothers_memory_does_not_move_it(
        self, ann: OnRecord, root: OnRecord, store: Store
    ) -> None:
        root.set_tenant(agents_share=True)
        hers = ann.as_caller(person(actor="agent", personas={"p"}))
        hers.remember("of all", id="k")
        hers.remember("of some", id="l", scope="persona", persona="p")
        moves = (("k", "user"), ("k", "session"), ("ann::l", "tenant"))
        for actor in ("agent", "person"):
            bob = ann.as_caller(person("bob", actor=actor, personas={"p"}, conversation="bobs"))
            for id, scope in moves:
                with refused(Forbidden, "not move it", by=store):
                    bob.remember("taken", id=id, scope=scope)
            with refused(Forbidden, "not move it", by=store):
                bob.revise("k", conversation="bobs")
            assert bob.revise("k", content=f"better, by a {actor}").changed
            assert bob.remember(f"better still, by a {actor}", id="ann::l").outcome == "updated"
        shown = [root.show(id).memory for id in ("k", "ann::l")]
        assert [(each.scope, each.conversation) for each in shown] == [("tenant", None), ("persona", None)]

    def test_members_retire_what_others_shared_where_the_tenant_says_so(
        self, ann: OnRecord, root: OnRecord, bobs_agent: OnRecord, store: Store
    ) -> None:
        bob = ann.as_caller(person("bob"))
        for id in ("k", "l", "m"):
            ann.remember(f"fact {id}", id=id)
        ann.remember("her own", id="own", scope="user")
        with refused(Forbidden, "belongs to ann", by=store):
            bob.retire("k")
        root.set_tenant(members_retire=True)
        assert bob.retire("k").changed
        assert bob.remember("newer fact", supersedes=["l"]).superseded == ("l",)
        assert bobs_agent.retire("m").proposal is not None
        with refused(Forbidden, "belongs to ann", by=store):
            bob.revise("m", content="another text")
        with pytest.raises(NotFound):
            bob.retire("own")
        [tenant] = [each for each in root.list_tenants().tenants if each.name == root.caller.tenant]
        assert (tenant.settings.agents_share, tenant.settings.members_retire) == (False, True)


class ImportedTierConformance(Conformance):
    """An imported memory gets no higher tier than the caller who imports it."""

    def test_an_export_keeps_authors_proposals_and_approvals(
        self, ann: OnRecord, root: OnRecord, tmp_path: Path
    ) -> None:
        agent = ann.as_caller(person(actor="agent"))
        ann.remember(RULE, id="rule", always_inject=True)
        proposal = agent.revise("rule", content="Answer in feet.").proposal
        assert proposal is not None
        root.export(str(tmp_path / "all.jsonl"))
        there = root.as_caller(administrator(tenant="other"))
        there.import_(str(tmp_path / "all.jsonl"))
        moved = there.show(proposal.id).memory
        assert (moved.author, moved.tier, moved.proposes) == ("ann", "agent", proposal.proposes)
        assert RULE in unasked(there.as_caller(person("ann", tenant="other")))
        there.approve(proposal.id)
        assert there.show("rule").memory.content == "Answer in feet."

    def test_what_an_agent_imports_is_at_most_by_an_agent(
        self, ann: OnRecord, root: OnRecord, tmp_path: Path
    ) -> None:
        ann.remember(RULE, id="rule", always_inject=True)
        ann.as_caller(person(actor="agent")).remember("approved", id="k", scope="tenant")
        root.approve("k")
        file = str(tmp_path / "all.jsonl")
        root.export(file)
        there = root.as_caller(administrator(tenant="other", actor="agent"))
        assert there.import_(file).added == 2
        assert {there.show(id).memory.tier for id in ("rule", "k")} == {"agent"}
        assert there.history("k").versions[-1].origin == "agent"
        assert unasked(there.as_caller(person("ann", tenant="other"))) == ""
        assert there.import_(file).unchanged == 2
