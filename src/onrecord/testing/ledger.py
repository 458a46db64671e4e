"""WHO may come in, and what was done? Keys, the audit, save limits, reviews, tenants and repeated requests."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onrecord.access import keys
from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError
from onrecord.model.caller import Caller
from onrecord.model.ledger import AuditEntry
from onrecord.model.limits import SAVES_PER_RUN, STATUSES
from onrecord.service import OnRecord
from onrecord.store.ports.ledger import Done, SentRequest
from onrecord.store.ports.store import Store
from onrecord.testing.builders import HOME, START, Clock, Conformance, administrator, person

_ELSEWHERE = "beta"


def unattended(run: str | None = "night", **more: object) -> Caller:
    return person("robot", actor="unattended", run=run, **more)


def audited(door: OnRecord, **ask: object) -> list[tuple[str, str | None, str]]:
    """Operation, subject and outcome of each entry of the audit, oldest first."""
    entries = door.audit(**ask).entries  # type: ignore[arg-type]
    return [(entry.operation, entry.subject, entry.outcome) for entry in reversed(entries)]


class KeyConformance(Conformance):
    """Keys are made, found by their hash, listed and revoked."""

    def test_a_key_opens_what_it_was_made_for(self, root: OnRecord, store: Store, clock: Clock) -> None:
        made = root.as_caller(administrator(systems={"*": "manage"})).create_key(
            label="for the robot",
            user="robot",
            personas=["chef"],
            systems=["crm=manage", "erp"],
            actor="unattended",
            expires_at=clock.now + timedelta(days=1),
            per_minute=60,
            saves_per_day=5,
        )
        assert keys.find(made.secret, store, clock.now) == made.key
        caller = keys.caller_of(made.key, request="r1", conversation="talk", run="night")
        assert (caller.tenant, caller.user, caller.personas) == (HOME, "robot", frozenset({"chef"}))
        assert caller.permissions == {"memory.read", "memory.manage"}
        assert dict(caller.systems) == {"crm": "manage", "erp": "read"}
        assert (caller.actor, caller.key, caller.request) == ("unattended", made.key.id, "r1")
        assert (caller.conversation, caller.run, caller.operator) == ("talk", "night", False)

    def test_what_is_not_a_working_key_finds_nothing(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        made = root.create_key(expires_at=clock.now + timedelta(hours=1))
        other = root.create_key()
        for wrong in ("", "onr_", made.secret[:-1], made.secret + "x", made.secret.upper(), made.key.id):
            assert keys.find(wrong, store, clock.now) is None
        assert keys.find(made.secret, store, clock.now + timedelta(minutes=59)) == made.key
        assert keys.find(made.secret, store, clock.now + timedelta(hours=1)) is None
        root.revoke_key(other.key.id)
        assert keys.find(other.secret, store, clock.now) is None

    def test_revoking_twice_changes_nothing_more(self, root: OnRecord, clock: Clock) -> None:
        made = root.create_key()
        first = root.revoke_key(made.key.id)
        clock.tick()
        assert root.revoke_key(made.key.id) == replace(first, changed=False)
        assert (first.changed, first.key.revoked_at) == (True, START)

    def test_a_key_is_changed_and_its_secret_stays(self, root: OnRecord, store: Store, clock: Clock) -> None:
        root = root.as_caller(replace(root.caller, systems={"*": "manage"}))
        made = root.create_key(label="one", systems=["crm"])
        changed = root.change_key(made.key.id, label="two", systems=["erp=manage"], per_minute=60)
        assert changed.changed == ("label", "systems", "per_minute")
        found = keys.find(made.secret, store, clock.now)
        assert (
            found == changed.key == replace(made.key, label="two", systems={"erp": "manage"}, per_minute=60)
        )
        assert root.change_key(made.key.id, label="two").changed == ()
        assert [line[0] for line in audited(root)] == ["create_key", "change_key"]
        root.revoke_key(made.key.id)
        with pytest.raises(Conflict, match="is revoked"):
            root.change_key(made.key.id, label="three")
        with pytest.raises(NotFound):
            root.change_key("nokey", label="three")

    def test_a_change_gives_a_key_no_more_than_its_maker_has(self, root: OnRecord, clock: Clock) -> None:
        admin = root.as_caller(administrator(operator=False))
        made = admin.create_key()
        limited = replace(admin.caller, systems={}, permissions=frozenset({"memory.read", "memory.admin"}))
        with pytest.raises(Forbidden, match="systems that you were not granted: crm"):
            root.as_caller(limited).change_key(made.key.id, systems=["crm"])
        with pytest.raises(Forbidden, match="a permission that you lack"):
            root.as_caller(limited).change_key(made.key.id, permissions=["memory.read", "memory.global"])
        with pytest.raises(Invalid, match="must be in the future"):
            admin.change_key(made.key.id, expires_at=clock.now)
        with pytest.raises(NotFound):
            root.as_caller(administrator(tenant=_ELSEWHERE, operator=False)).change_key(
                made.key.id, label="x"
            )
        assert admin.list_keys().keys == (made.key,)

    def test_keys_are_listed_oldest_first_without_their_secrets(self, root: OnRecord, clock: Clock) -> None:
        made = []
        for label in ("one", "two", "three"):
            made.append(root.create_key(label=label))
            clock.tick()
        assert list(root.list_keys().keys) == [each.key for each in made]
        assert not any(each.secret in str(root.list_keys()) for each in made)

    def test_a_store_that_had_keys_needs_them_until_they_are_waived(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        assert not keys.has_keys(store)
        made = root.create_key()
        root.create_key(expires_at=clock.now + timedelta(hours=1))
        with pytest.raises(Conflict, match=r"keys are still valid \(2\)"):
            root.waive_keys()
        root.revoke_key(made.key.id)
        clock.tick(hours=1)
        assert keys.has_keys(store)
        assert root.waive_keys().forgotten == 2
        assert not keys.has_keys(store)
        assert root.waive_keys().forgotten == 0
        assert [line for line in audited(root) if line[0] == "waive_keys"] == [("waive_keys", None, "done")]

    def test_only_a_person_who_runs_the_store_waives_its_keys(self, root: OnRecord) -> None:
        for other in (administrator(operator=False), replace(root.caller, actor="agent")):
            with pytest.raises(Forbidden):
                root.as_caller(other).waive_keys()

    def test_another_tenants_keys_are_neither_seen_nor_revoked(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        made = root.create_key()
        elsewhere = root.as_caller(administrator(tenant=_ELSEWHERE, operator=False))
        assert elsewhere.list_keys().keys == ()
        with pytest.raises(NotFound):
            elsewhere.revoke_key(made.key.id)
        assert keys.find(made.secret, store, clock.now) is not None
        assert root.as_caller(administrator(tenant=_ELSEWHERE)).revoke_key(made.key.id).changed

    def test_a_key_can_do_no_more_than_its_maker(self, root: OnRecord, clock: Clock) -> None:
        maker = root.as_caller(
            replace(
                administrator(operator=False),
                permissions=frozenset({"memory.read", "memory.admin"}),
                systems={"crm": "read"},
                actor="agent",
            )
        )
        for ask in (
            {"permissions": ["memory.read"], "systems": ["erp"]},
            {"permissions": ["memory.read"], "systems": ["crm=manage"]},
            {"permissions": ["memory.read"], "systems": ["*"]},
            {"permissions": ["memory.read"], "actor": "person"},
        ):
            with pytest.raises(Forbidden, match=r"You cannot give a key|no more than"):
                maker.create_key(**ask)  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="the operator of the store"):
            maker.create_key(tenant=_ELSEWHERE)
        with pytest.raises(Invalid, match="future"):
            maker.create_key(permissions=["memory.read"], expires_at=clock.now)
        assert (
            maker.create_key(permissions=["memory.read"], systems=["crm"], actor="unattended").key.user
            == "root"
        )

    def test_a_key_that_ends_makes_none_that_outlives_it(self, root: OnRecord, clock: Clock) -> None:
        ends = clock.now + timedelta(days=1)
        own = root.create_key(
            permissions=["memory.read", "memory.manage", "memory.admin"], expires_at=ends
        ).key
        maker = root.as_caller(keys.caller_of(own))
        for later in (None, ends + timedelta(seconds=1)):
            with pytest.raises(Forbidden, match="expires_at"):
                maker.create_key(expires_at=later)
        assert maker.create_key(expires_at=ends).key.expires_at == ends

    def test_whoever_runs_the_store_makes_keys_for_any_tenant(self, root: OnRecord) -> None:
        made = root.create_key(tenant=_ELSEWHERE, user="bob").key
        assert (made.tenant, made.user, made.created_by) == (_ELSEWHERE, "bob", "root")
        assert root.list_keys().keys == ()
        with pytest.raises(Invalid, match="reserved"):
            root.create_key(tenant="global")


class AuditConformance(Conformance):
    """The audit has an entry for every write and every refusal; no entry holds the text of a memory."""

    def test_every_change_leaves_one_line(self, ann: OnRecord, root: OnRecord) -> None:
        one, two = ann.remember("a secret thing").memory.id, ann.remember("another", id="k").memory.id
        ann.remember("a secret thing")
        ann.revise(one, content="a secret thing, revised")
        ann.relate(one, "supports", two)
        ann.unrelate(one, "supports", two)
        ann.retire(two)
        ann.forget(one)
        assert audited(root) == [
            ("remember", one, "done"),
            ("remember", two, "done"),
            ("revise", one, "done"),
            ("relate", one, "done"),
            ("unrelate", one, "done"),
            ("retire", two, "done"),
            ("forget", one, "done"),
        ]
        assert "secret" not in str(root.audit())

    def test_a_line_says_who_when_and_for_which_request(self, ann: OnRecord, root: OnRecord) -> None:
        caller = person("robot", actor="agent", key="k1", run="night", request="r1")
        id = ann.as_caller(caller).remember("note").memory.id
        assert root.audit().entries == (
            AuditEntry(
                number=1, at=START, user="robot", origin="agent", operation="remember", outcome="done",
                subject=id, key="k1", run="night", request="r1",
            ),
        )  # fmt: skip

    def test_what_fails_leaves_no_line_and_what_is_refused_leaves_one(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        with pytest.raises(OnRecordError):
            ann.remember("note", supersedes=["99"])
        assert audited(root) == []
        ann.remember("note")
        for attempt in (lambda: ann.audit(), lambda: ann.as_caller(person("bob")).revise("1", content="x")):
            with pytest.raises(Forbidden):
                attempt()
        assert audited(root)[1:] == [("audit", None, "refused"), ("revise", None, "refused")]
        assert [entry.user for entry in root.audit(outcome="refused").entries] == ["bob", "ann"]

    def test_an_id_that_someone_chose_is_forgotten_with_its_memory(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        ann.remember("note", id="about.eve")
        ann.remember("another", id="about.eve.too")
        ann.forget("about.eve")
        assert audited(root) == [
            ("remember", None, "done"),
            ("remember", "about.eve.too", "done"),
            ("forget", None, "done"),
        ]

    def test_pages_and_filters(self, ann: OnRecord, root: OnRecord, clock: Clock) -> None:
        for number in range(5):
            ann.as_caller(person("ann" if number % 2 else "bob")).remember(f"note {number}", id=f"n{number}")
            clock.tick()
        pages, mark = list[int](), None
        for size in (2, 2, 1):
            page = root.audit(limit=2, after=mark)
            assert len(page.entries) == size
            pages, mark = pages + [entry.number for entry in page.entries], page.next
        assert (pages, mark) == ([5, 4, 3, 2, 1], None)
        assert audited(root, user="ann") == [("remember", "n1", "done"), ("remember", "n3", "done")]
        assert audited(root, subject="n2") == [("remember", "n2", "done")]
        assert audited(root, outcome="refused") == []
        since = START + timedelta(seconds=3)
        assert audited(root, since=since) == [("remember", "n3", "done"), ("remember", "n4", "done")]
        with pytest.raises(Invalid, match="mark"):
            root.audit(after="nonsense")

    def test_another_tenant_sees_none_of_it(self, ann: OnRecord, root: OnRecord) -> None:
        ann.remember("note")
        elsewhere = root.as_caller(administrator(tenant=_ELSEWHERE))
        assert elsewhere.audit().entries == ()
        elsewhere.remember("note")
        assert [entry.number for entry in elsewhere.audit().entries] == [1]

    def test_a_global_memory_is_noted_where_its_writer_is(self, root: OnRecord) -> None:
        id = root.remember("for all", scope="global").memory.id
        assert audited(root) == [("remember", id, "done")]

    def test_lines_written_at_once_have_numbers_of_their_own(self, ann: OnRecord, root: OnRecord) -> None:
        def write(number: int) -> None:
            if number % 2:
                ann.remember(f"note {number}")
            else:
                with pytest.raises(Forbidden):
                    ann.audit()

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(16)))
        assert [entry.number for entry in root.audit().entries] == list(range(16, 0, -1))


class LimitConformance(Conformance):
    """An unattended run and a key may save only so often."""

    def test_a_run_saves_so_often_and_no_more(self, ann: OnRecord) -> None:
        robot = ann.as_caller(unattended())
        for number in range(SAVES_PER_RUN):
            robot.remember(f"note {number}")
        with pytest.raises(Forbidden, match=r"limit of saves \(3\)"):
            robot.remember("one too many", id="more")
        assert robot.browse(statuses=["pending"]).memories[0].id != "more"
        ann.as_caller(unattended("morning")).remember("another run")
        ann.as_caller(unattended(tenant=_ELSEWHERE)).remember("the same run elsewhere")
        ann.as_caller(unattended(None)).remember("no run at all")

    def test_what_fails_and_what_is_known_already_does_not_count(self, ann: OnRecord) -> None:
        robot = ann.as_caller(unattended())
        with pytest.raises(NotFound):
            robot.remember("nothing", supersedes=["99"])
        for _ in range(5):
            robot.remember("the same", scope="user")
        robot.remember("two", scope="user")
        robot.remember("three", scope="user")
        assert robot.remember("the same", scope="user").outcome == "unchanged"
        with pytest.raises(Forbidden):
            robot.remember("four", scope="user")

    def test_a_person_is_not_capped(self, ann: OnRecord) -> None:
        someone = ann.as_caller(person(run="night"))
        for number in range(SAVES_PER_RUN + 2):
            someone.remember(f"note {number}")

    def test_the_cap_is_exact_when_all_save_at_once(self, ann: OnRecord) -> None:
        robot = ann.as_caller(unattended())

        def save(number: int) -> bool:
            try:
                robot.remember(f"note {number}", scope="user")
            except Forbidden:
                return False
            return True

        with ThreadPoolExecutor(4) as threads:
            assert sum(threads.map(save, range(12))) == SAVES_PER_RUN

    def test_a_key_saves_so_often_in_a_day(self, ann: OnRecord, root: OnRecord, clock: Clock) -> None:
        made = root.create_key(user="bob", saves_per_day=2).key
        bob = ann.as_caller(keys.caller_of(made))
        bob.remember("one")
        clock.tick(hours=1)
        bob.remember("two")
        with pytest.raises(Forbidden, match=r"24 hours \(2\)"):
            bob.remember("three")
        clock.tick(hours=23)
        bob.remember("three")
        with pytest.raises(Forbidden):
            bob.remember("four")

    def test_a_key_that_may_save_nothing_saves_nothing(self, ann: OnRecord, root: OnRecord) -> None:
        bob = ann.as_caller(keys.caller_of(root.create_key(saves_per_day=0).key))
        with pytest.raises(Forbidden):
            bob.remember("one")
        assert bob.browse().memories == ()


class ReviewConformance(Conformance):
    """A person with the permission to review approves or rejects a proposal."""

    @pytest.fixture
    def proposal(self, ann: OnRecord) -> str:
        return ann.as_caller(unattended()).remember("a proposal").memory.id

    @pytest.fixture
    def reviewer(self, ann: OnRecord) -> OnRecord:
        return ann.as_caller(person("eve", permissions=frozenset({"memory.read", "memory.review"})))

    def test_an_approved_proposal_counts(self, reviewer: OnRecord, proposal: str, clock: Clock) -> None:
        clock.tick()
        answer = reviewer.approve(proposal)
        assert answer.changed
        assert (answer.memory.status, answer.memory.approved_by) == ("active", "eve")
        assert answer.memory.approved_at == clock.now
        assert answer.memory.owner == "robot"
        assert [version.change for version in reviewer.history(proposal).versions] == ["remember", "approve"]
        assert [memory.id for memory in reviewer.browse().memories] == [proposal]
        assert reviewer.approve(proposal) == replace(answer, changed=False)

    def test_an_active_memory_is_vouched_for(self, ann: OnRecord, reviewer: OnRecord) -> None:
        id = ann.as_caller(person("agent", actor="agent")).remember("a finding").memory.id
        memory = reviewer.approve(id).memory
        assert (memory.status, memory.approved_by, memory.approved_at) == ("active", "eve", START)

    def test_a_rejected_proposal_is_archived(self, reviewer: OnRecord, proposal: str) -> None:
        answer = reviewer.reject(proposal, reason="not so")
        assert (answer.changed, answer.memory.status) == (True, "archived")
        assert (answer.memory.status_reason, answer.memory.approved_by) == ("not so", None)
        assert reviewer.history(proposal).versions[-1].change == "reject"
        assert reviewer.reject(proposal) == replace(answer, changed=False)
        with pytest.raises(Conflict):
            reviewer.approve(proposal)

    def test_whoever_may_save_may_ask_for_review(self, ann: OnRecord, reviewer: OnRecord) -> None:
        saved = ann.remember("orders are in UTC", tags=["orders"], review=True)
        assert (saved.outcome, saved.memory.status) == ("created", "pending")
        assert saved.warnings == (
            f"Kept as proposal #{saved.memory.id}; `onrecord approve {saved.memory.id}` accepts it.",
        )
        bob = ann.as_caller(person("bob"))
        assert bob.recall("orders", statuses=STATUSES).hits == ()
        assert ann.remember("orders are in UTC", tags=["orders", "time"], review=True).outcome == "updated"
        approved = reviewer.approve(saved.memory.id, reason="checked it").memory
        assert (approved.status, approved.status_reason) == ("active", "checked it")
        assert approved.tags == ("orders", "time")
        assert [hit.memory.id for hit in bob.recall("orders").hits] == [saved.memory.id]

    def test_a_change_of_what_counts_waits_too_if_review_is_asked_for(
        self, ann: OnRecord, reviewer: OnRecord
    ) -> None:
        first = ann.remember("orders are in UTC", id="a").memory
        saved = ann.remember("orders are in CET", id="a", review=True)
        assert (saved.outcome, saved.memory.proposes and saved.memory.proposes.of) == ("proposed", ("a",))
        assert ann.show("a").memory == first
        reviewer.approve(saved.memory.id, reason="the team moved")
        assert ann.show("a").memory.content == "orders are in CET"
        assert reviewer.show(saved.memory.id).memory.status_reason == "taken into a: the team moved"

    def test_an_approved_proposal_can_still_be_rejected(
        self, ann: OnRecord, reviewer: OnRecord, proposal: str
    ) -> None:
        reviewer.approve(proposal)
        rejected = reviewer.reject(proposal, reason="wrong after all")
        assert (rejected.changed, rejected.memory.status) == (True, "archived")
        assert rejected.memory.valid_to == rejected.memory.valid_from
        assert ann.browse().memories == ()
        assert not reviewer.reject(proposal).changed

    @pytest.mark.parametrize("change", ["retire", "reject", "approve"])
    def test_no_secret_is_kept_in_a_reason(
        self, ann: OnRecord, reviewer: OnRecord, proposal: str, change: str
    ) -> None:
        door, id = (ann, ann.remember("a fact").memory.id) if change == "retire" else (reviewer, proposal)
        reason_kept = getattr(door, change)(id, reason="it said password=hunter2-Xy9!kk").memory.status_reason
        assert reason_kept is not None
        assert "hunter2" not in reason_kept

    def test_only_a_proposal_is_rejected(self, ann: OnRecord, reviewer: OnRecord) -> None:
        id = ann.remember("a fact").memory.id
        with pytest.raises(Conflict, match="Retire it"):
            reviewer.reject(id)
        ann.retire(id)
        with pytest.raises(Conflict, match="already"):
            reviewer.reject(id)

    @pytest.mark.parametrize("actor", ["agent", "unattended"])
    def test_only_a_person_reviews(self, reviewer: OnRecord, proposal: str, actor: str) -> None:
        other = reviewer.as_caller(replace(reviewer.caller, actor=actor))  # type: ignore[arg-type]
        for attempt in (other.approve, other.reject):
            with pytest.raises(Forbidden, match="person"):
                attempt(proposal)
        assert reviewer.show(proposal).memory.status == "pending"

    def test_a_reviewer_reviews_what_it_sees_and_changes_nothing_else(
        self, ann: OnRecord, root: OnRecord, reviewer: OnRecord, proposal: str
    ) -> None:
        own = ann.remember("for ann alone", scope="user").memory.id
        for attempt in (reviewer.approve, reviewer.reject):
            with pytest.raises(NotFound):
                attempt(own)
        elsewhere = reviewer.as_caller(replace(reviewer.caller, tenant=_ELSEWHERE))
        with pytest.raises(NotFound):
            elsewhere.approve(proposal)
        everyone = root.remember("for all", scope="global").memory.id
        with pytest.raises(Forbidden, match=r"memory\.global"):
            reviewer.approve(everyone)
        editor = reviewer.as_caller(
            replace(reviewer.caller, permissions=frozenset({"memory.read", "memory.manage", "memory.review"}))
        )
        with pytest.raises(Forbidden):
            editor.revise(proposal, content="something else")


class TenantConformance(Conformance):
    """A tenant can be created while it is empty, and erased without a trace."""

    @pytest.fixture
    def beta(self, knowing: OnRecord) -> OnRecord:
        """A tenant with memories, a relation, versions and a key."""
        door = knowing.as_caller(administrator(tenant=_ELSEWHERE))
        one, two = door.remember("one").memory.id, door.remember("two", tags=["t"]).memory.id
        door.relate(one, "supports", two)
        door.revise(one, content="changed")
        door.create_key()
        return door

    def test_a_tenant_is_made_once(self, root: OnRecord) -> None:
        made = root.create_tenant("new")
        assert (made.created, made.tenant.name, made.tenant.memories) == (True, "new", 0)
        assert not root.create_tenant("new").created
        assert "new" in [tenant.name for tenant in root.list_tenants().tenants]
        assert audited(root) == [("create_tenant", "new", "done")]
        for reserved in ("global", "catalog:new"):
            with pytest.raises(Invalid, match="reserved"):
                root.create_tenant(reserved)

    def test_whoever_runs_the_store_sees_all_tenants_and_others_their_own(
        self, root: OnRecord, beta: OnRecord
    ) -> None:
        root.remember("note")
        counted = {tenant.name: tenant.memories for tenant in root.list_tenants().tenants}
        assert counted == {HOME: 1, _ELSEWHERE: 2}
        admin = root.as_caller(administrator(operator=False))
        assert [tenant.name for tenant in admin.list_tenants().tenants] == [HOME]
        with pytest.raises(Forbidden):
            admin.create_tenant("new")

    def test_an_erased_tenant_leaves_nothing(self, root: OnRecord, beta: OnRecord, store: Store) -> None:
        root.remember("note")
        answer = root.erase_tenant(_ELSEWHERE, confirm=_ELSEWHERE)
        counts = {name: answer.erased[name] for name in ("memories", "versions", "relations", "api_keys")}
        assert counts == {"memories": 2, "versions": 3, "relations": 1, "api_keys": 1}
        assert answer.erased["vectors"] >= 1
        assert answer.residue == {}
        assert store.rows_of(_ELSEWHERE) == {}
        assert keys.has_keys(store)
        assert [tenant.name for tenant in root.list_tenants().tenants] == [HOME]
        assert len(root.browse().memories) == 1
        assert audited(root)[-1] == ("erase_tenant", _ELSEWHERE, "done")
        assert root.doctor().problems == ()
        with pytest.raises(NotFound):
            root.erase_tenant(_ELSEWHERE, confirm=_ELSEWHERE)

    def test_an_erased_tenant_begins_anew(self, root: OnRecord, beta: OnRecord) -> None:
        assert beta.recall("changed").hits
        root.erase_tenant(_ELSEWHERE, confirm=_ELSEWHERE)
        assert beta.browse().memories == ()
        assert beta.recall("changed").hits == ()
        assert beta.remember("a first note").memory.id == "1"
        assert [hit.memory.content for hit in beta.recall("first", recipe="semantic").hits] == [
            "a first note"
        ]

    def test_an_admin_erases_its_own_tenant_alone(self, root: OnRecord, beta: OnRecord) -> None:
        admin = beta.as_caller(administrator(tenant=_ELSEWHERE, operator=False))
        for ask in ({"name": HOME, "confirm": HOME}, {"name": _ELSEWHERE, "confirm": "bet"}):
            with pytest.raises(Invalid):
                admin.erase_tenant(**ask)
        assert admin.erase_tenant(_ELSEWHERE, confirm=_ELSEWHERE).residue == {}
        assert beta.audit().entries == ()

    def test_care_of_a_tenant_is_of_that_tenant(self, root: OnRecord, beta: OnRecord) -> None:
        root.remember("note")
        admin = root.as_caller(administrator(operator=False))
        assert (admin.doctor().memories, root.doctor().memories) == (1, 3)
        assert (admin.reindex().memories, root.reindex().memories) == (1, 3)


class RepeatedRequestConformance(Conformance):
    """A request with an idempotency key is done once."""

    @pytest.fixture
    def sent(self, store: Store) -> "_Requests":
        return _Requests(store)

    def test_a_request_is_done_once(self, sent: "_Requests") -> None:
        assert sent.done("k") is None
        assert sent.keep("k", answer={"é": 1})
        assert not sent.keep("k", answer={"é": 2})
        assert sent.done("k") == Done("answered", 201, {"é": 1})
        assert sent.done("k", fingerprint="other") == Done("different")
        assert sent.done("k", operation="forget") == Done("different")

    def test_others_have_keys_of_their_own(self, sent: "_Requests") -> None:
        sent.keep("k")
        assert sent.done("k", user="bob") is None
        assert sent.done("k", tenant=_ELSEWHERE) is None
        assert sent.done("other") is None

    def test_what_was_not_done_may_be_sent_again(self, sent: "_Requests", store: Store) -> None:
        with pytest.raises(Forbidden), store.ledger(HOME) as ledger:
            assert ledger.requests.keep(_request("k"), 201, {}, ())
            raise Forbidden
        assert sent.keep("k", fingerprint="other")

    def test_answers_are_kept_for_a_day(self, sent: "_Requests") -> None:
        sent.keep("k")
        assert sent.done("k", after=timedelta(hours=24)) == Done("answered", 201, {})
        assert sent.done("k", after=timedelta(hours=24, seconds=1)) is None
        assert sent.keep("k", after=timedelta(hours=24, seconds=1), fingerprint="other")

    def test_of_many_at_once_one_is_first(self, sent: "_Requests") -> None:
        with ThreadPoolExecutor(4) as threads:
            kept = list(threads.map(lambda _: sent.keep("k"), range(8)))
        assert sorted(kept) == [*[False] * 7, True]

    def test_an_answer_about_a_memory_goes_with_it_and_the_request_stays_done(
        self, sent: "_Requests", ann: OnRecord
    ) -> None:
        for id in ("4", "plan"):
            ann.remember(f"note {id}", id=id)
        sent.keep("number", about=["4"])
        sent.keep("word", about=["42"], answer={"warnings": ["Memory plan says the same."]})
        sent.keep("other", about=["42", "planet"], answer={"relation": {"id": "4"}, "warnings": ["planet"]})
        for id in ("4", "plan"):
            ann.forget(id)
        for key in ("number", "word"):
            assert sent.done(key) == sent.done(key, fingerprint="other") == Done("forgotten")
        assert sent.done("other") != Done("forgotten")


def _request(
    key: str,
    *,
    user: str = "ann",
    tenant: str = HOME,
    operation: str = "remember",
    fingerprint: str = "abc",
    after: timedelta = timedelta(0),
) -> SentRequest:
    """A request by ann to save something, sent so long `after` START."""
    return SentRequest(tenant, user, key, operation, fingerprint, START + after)


class _Requests:
    """Looks up and keeps answers, each in its own transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def done(self, key: str, **others: Any) -> Done | None:
        request = _request(key, **others)
        with self._store.ledger(request.tenant, writes=False) as ledger:
            return ledger.requests.done(request)

    def keep(self, key: str, *, answer: Any = None, about: Sequence[str] = (), **others: Any) -> bool:
        request = _request(key, **others)
        with self._store.ledger(request.tenant) as ledger:
            return ledger.requests.keep(request, 201, answer or {}, about)
