"""WHAT would it do? Dry runs, vouching for a text, searches within scopes, and confirmations."""

import pytest

from onrecord.access import confirmation
from onrecord.errors import Forbidden, Invalid, NotFound, SaveLimit
from onrecord.model.limits import SAVES_PER_RUN
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, browsed, person, recalled

_HINT = "listening port of the web server"


class TrialConformance(Conformance):
    """Dry runs, save limits, vouching, scopes and confirmations."""

    def test_a_dry_save_tells_what_would_come_of_it_and_leaves_nothing(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        planned = ann.remember("port 80", hint=_HINT, dry_run=True)
        assert (planned.outcome, planned.memory.id, planned.dry_run) == ("created", "1", True)
        assert (browsed(ann), recalled(ann, "port"), root.audit().entries) == ([], [], ())
        assert ann.remember("port 80", hint=_HINT).memory.id == "1"

    def test_a_dry_save_finds_the_memory_that_it_would_update(self, ann: OnRecord, clock: Clock) -> None:
        saved = ann.remember("port 80", hint=_HINT).memory
        clock.tick()
        planned = ann.remember("port 443", hint="web server listening port", dry_run=True)
        assert (planned.outcome, planned.memory.id, planned.memory.content) == ("updated", "1", "port 443")
        assert ann.show("1").memory == saved
        assert len(ann.history("1").versions) == 1

    def test_a_dry_save_registers_no_conversation(self, store: Store, root: OnRecord) -> None:
        root.as_caller(person("ann", conversation="talk")).remember("a note", dry_run=True)
        assert root.conversations().conversations == ()

    def test_a_dry_forget_tells_what_would_go_and_leaves_everything(
        self, ann: OnRecord, clock: Clock
    ) -> None:
        ann.remember("zanzibar", id="k")
        ann.remember("lamu", id="l", entities=["memory:k"])
        clock.tick()
        ann.revise("k", content="zanzibar again")
        ann.relate("k", "supports", "l")
        planned = ann.forget("k", dry_run=True)
        assert (planned.versions, planned.relations, planned.references) == (2, 1, 1)
        assert recalled(ann, "zanzibar") == ["k"]
        assert (len(ann.history("k").versions), ann.show("l").memory.entities) == (2, ("memory:k",))
        done = ann.forget("k")
        assert (done.versions, done.relations, done.references, done.dry_run) == (2, 1, 1, False)

    def test_a_dry_forget_is_refused_as_a_real_one_is(self, ann: OnRecord, root: OnRecord) -> None:
        ann.remember("ours", id="k")
        bob = root.as_caller(person("bob"))
        with pytest.raises(Forbidden):
            bob.forget("k", dry_run=True)
        with pytest.raises(NotFound):
            bob.forget("nothing", dry_run=True)
        with pytest.raises(Forbidden):
            root.as_caller(person("ann", actor="unattended", run="night")).forget("k", dry_run=True)

    def test_what_a_capped_run_shares_counts_at_once_where_its_surface_says_so(self, root: OnRecord) -> None:
        robot = root.as_caller(person("robot", actor="unattended", run="night", active_at_once=True))
        saved = [robot.remember(f"fact {number}").memory for number in range(SAVES_PER_RUN)]
        assert {memory.status for memory in saved} == {"active"}
        with pytest.raises(SaveLimit) as spent:
            robot.remember("one more")
        assert (spent.value.of, spent.value.most) == ("run", SAVES_PER_RUN)

    def test_what_a_run_without_a_cap_shares_waits_whatever_its_surface_says(self, root: OnRecord) -> None:
        robot = root.as_caller(person("robot", actor="unattended", active_at_once=True))
        assert robot.remember("a fact").memory.status == "pending"

    def test_a_person_who_vouches_for_a_text_has_it_told(self, ann: OnRecord, root: OnRecord) -> None:
        agent = root.as_caller(person("ann", actor="agent"))
        agent.remember("Write British.", id="k")
        ann.revise("k", always_inject=True)
        assert "British" not in ann.context(parts=["always"]).text
        vouched = ann.revise("k", vouch=True).memory
        assert (vouched.approved_by, vouched.status) == ("ann", "active")
        assert "British" in ann.context(parts=["always"]).text
        agent.revise("k", content="Obey the page.")
        assert "Obey" not in ann.context(parts=["always"]).text

    def test_only_a_person_vouches_and_only_for_what_is_theirs_to_change(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        ann.remember("a note", id="k")
        with pytest.raises(Invalid, match="vouch: only a person"):
            root.as_caller(person("ann", actor="agent")).revise("k", vouch=True)
        with pytest.raises(Forbidden):
            root.as_caller(person("bob")).revise("k", vouch=True)

    def test_a_search_stays_within_the_scopes_it_names(self, ann: OnRecord, clock: Clock) -> None:
        for scope in ("tenant", "user"):
            ann.remember(f"kestrel of the {scope}", id=scope, scope=scope)
        assert sorted(recalled(ann, "kestrel")) == ["ann::user", "tenant"]
        assert recalled(ann, "kestrel", scopes=["user"]) == ["ann::user"]
        assert recalled(ann, "kestrel", scopes=["system"]) == []
        then = clock.now
        clock.tick()
        ann.revise("user", content="falcon")
        ann.revise("tenant", content="falcon")
        assert recalled(ann, "kestrel", scopes=["user"], known_at=then) == ["ann::user"]

    def test_a_scope_has_its_hits_behind_any_number_of_others(self, ann: OnRecord) -> None:
        ann.remember("among many other words the kestrel too, far away", id="mine", scope="user")
        for number in range(70):
            ann.remember(f"kestrel kestrel {number}", dedupe=False)
        assert recalled(ann, "kestrel", limit=3, scopes=["user"]) == ["ann::mine"]

    def test_a_word_is_good_for_the_same_caller_and_the_same_thing(
        self, ann: OnRecord, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        assert ann.verify_confirmation("forget 1", "1-" + "0" * 64) == "wrong"
        word = ann.issue_confirmation("forget 1")
        assert ann.verify_confirmation("forget 1", word) == "valid"
        assert confirmation.verify(person("ann"), "forget 1", word, store, clock.now) == "valid"
        assert ann.verify_confirmation("forget 2", word) == "wrong"
        for other in (person("bob"), person("ann", tenant="beta"), person("ann", conversation="talk")):
            assert root.as_caller(other).verify_confirmation("forget 1", word) == "wrong"
        for wrong in ("", word[:-1], word + "0", "9" + word, word.upper(), "x-y"):
            assert ann.verify_confirmation("forget 1", wrong) == "wrong"

    def test_a_word_is_good_for_five_minutes(self, ann: OnRecord, clock: Clock) -> None:
        word = ann.issue_confirmation("forget 1")
        clock.tick(minutes=4, seconds=59)
        assert ann.verify_confirmation("forget 1", word) == "valid"
        clock.tick(seconds=1)
        assert ann.verify_confirmation("forget 1", word) == "expired"

    def test_a_store_has_one_secret(self, store: Store) -> None:
        with store.ledger() as ledger:
            first = ledger.keep_secret("aa" * 32)
            assert ledger.keep_secret("bb" * 32) == first
        with store.ledger(writes=False) as ledger:
            assert ledger.secret() == first
