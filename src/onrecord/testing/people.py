"""WHO is at the pages? Sign-ins, links that others sign, and questions that a person answers once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from onrecord.access import confirmation, embed_links, keys, sign_ins
from onrecord.access.signing import hash_of
from onrecord.errors import Conflict, Forbidden, NotFound, Unauthenticated
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import HOME, Clock, Conformance, administrator, person
from onrecord.testing.ledger import audited

_ELSEWHERE = "beta"


class PeopleConformance(Conformance):
    """Who signed in is known until they sign out; what waits for a person is answered once."""

    def test_a_sign_in_can_do_what_its_key_can_now(self, root: OnRecord, store: Store, clock: Clock) -> None:
        made = root.create_key(user="bob", actor="person", permissions=["memory.read"], personas=["chef"])
        token = sign_ins.begin(keys.caller_of(made.key), store, clock.now)
        found = sign_ins.find(token, store, clock.now)
        assert found == (keys.caller_of(made.key), made.key)
        assert sign_ins.begin(keys.caller_of(made.key), store, clock.now) != token
        for wrong in ("", token[:-1], token + "x", hash_of(token)):
            assert sign_ins.find(wrong, store, clock.now) is None
        root.revoke_key(made.key.id)
        assert sign_ins.find(token, store, clock.now) is None
        assert ("sign_in", None, "done") in audited(root)

    def test_a_sign_in_ends_with_its_key_or_after_twelve_hours(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        lasting, brief = root.create_key(), root.create_key(expires_at=clock.now + timedelta(hours=1))
        tokens = [sign_ins.begin(keys.caller_of(each.key), store, clock.now) for each in (lasting, brief)]
        clock.tick(hours=1)
        assert [sign_ins.find(each, store, clock.now) is None for each in tokens] == [False, True]
        clock.tick(hours=11)
        assert sign_ins.find(tokens[0], store, clock.now) is None
        sign_ins.begin(keys.caller_of(lasting.key), store, clock.now)
        with store.ledger(writes=False) as ledger:
            assert [ledger.sign_ins.find(hash_of(each)) for each in tokens] == [None, None]

    def test_what_an_issuer_said_is_kept_for_the_sign_in(self, store: Store, clock: Clock) -> None:
        caller = person("ann", personas=frozenset({"chef"}), systems={"crm": "manage"})
        token = sign_ins.begin(caller, store, clock.now)
        assert sign_ins.find(token, store, clock.now) == (caller, None)

    def test_the_operator_key_signs_nobody_in(self, store: Store, clock: Clock) -> None:
        with pytest.raises(Forbidden):
            sign_ins.begin(administrator(operator=True), store, clock.now)

    def test_signing_out_ends_one_or_all_of_a_user_and_nobody_elses(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        ann = person("ann")
        one, two, three = (sign_ins.begin(ann, store, clock.now) for _ in range(3))
        others = [
            sign_ins.begin(each, store, clock.now)
            for each in (person("bob"), person("ann", tenant=_ELSEWHERE))
        ]
        sign_ins.end(one, ann, store, clock.now)
        assert sign_ins.find(one, store, clock.now) is None
        assert sign_ins.find(two, store, clock.now) is not None
        assert sign_ins.end_all(ann, store, clock.now) == 2
        assert sign_ins.find(three, store, clock.now) is None
        assert all(sign_ins.find(each, store, clock.now) for each in others)
        assert [line[0] for line in audited(root)][-2:] == ["sign_out", "sign_out_everywhere"]

    def test_an_erased_tenant_is_signed_out_and_its_questions_are_gone(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        theirs = root.as_caller(administrator(tenant=_ELSEWHERE, operator=False))
        theirs.remember("note")
        token = sign_ins.begin(theirs.caller, store, clock.now)
        mine = sign_ins.begin(person("ann"), store, clock.now)
        theirs.ask_person("memory_forget", {"id": "1"})
        erased = root.erase_tenant(_ELSEWHERE, confirm=_ELSEWHERE)
        assert (erased.erased["sign_ins"], erased.erased["persons_questions"], erased.residue) == (1, 1, {})
        assert sign_ins.find(token, store, clock.now) is None
        assert sign_ins.find(mine, store, clock.now) is not None

    def test_a_signed_link_reads_one_system_until_its_end(
        self, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        maker = root.as_caller(administrator(systems={"*": "manage"}))
        made = maker.create_key(user="host", systems=["crm=manage", "erp"])
        link = embed_links.make(made.secret, "crm", clock.now + timedelta(minutes=10))
        caller = embed_links.check(link, store, clock.now)
        assert caller.permissions == {"memory.read"}
        assert caller.systems == {"crm": "read"}
        assert (caller.tenant, caller.user == "host", caller.actor) == (HOME, False, "agent")
        wrong = [
            replace(link, system="erp"),
            replace(link, until=str(int(link.until) - 1)),
            replace(link, until="soon"),
            replace(link, key="unknown"),
            replace(link, signature=link.signature.upper()),
            replace(link, signature="ü"),
            embed_links.make(made.secret, "hr", clock.now + timedelta(minutes=5)),
            embed_links.make(made.secret, "crm", clock.now + timedelta(minutes=11)),
            embed_links.make(made.secret[:-1] + "!", "crm", clock.now + timedelta(minutes=5)),
        ]
        for each in wrong:
            with pytest.raises(Unauthenticated):
                embed_links.check(each, store, clock.now)
        with pytest.raises(Unauthenticated):
            embed_links.check(link, store, clock.now + timedelta(minutes=10))
        root.revoke_key(made.key.id)
        with pytest.raises(Unauthenticated):
            embed_links.check(link, store, clock.now)

    def test_a_question_is_answered_once_by_a_person_of_the_tenant(
        self, ann: OnRecord, root: OnRecord, store: Store, clock: Clock
    ) -> None:
        robot = root.as_caller(person("robot", actor="agent"))
        code = robot.ask_person("memory_forget", {"id": "7", "why": "password=hunter2hunter2"})
        asked = confirmation.asked(ann.caller, code, store, clock.now)
        assert (asked.tool, asked.arguments["id"], asked.user) == ("memory_forget", "7", "robot")
        assert "hunter2hunter2" not in str(asked)
        with pytest.raises(Forbidden):
            confirmation.answer(robot.caller, code, "yes", store, clock.now)
        for stranger, wrong in ((person("ann", tenant=_ELSEWHERE), code), (ann.caller, code + "x")):
            with pytest.raises(NotFound):
                confirmation.answer(stranger, wrong, "yes", store, clock.now)
        assert confirmation.answer(ann.caller, code, "yes", store, clock.now) == asked
        for said in ("yes", "no"):
            with pytest.raises(Conflict, match="agreed to already"):
                confirmation.answer(ann.caller, code, said, store, clock.now)
        assert [line for line in audited(root) if line[0] in ("ask_person", "agree")] == [
            ("ask_person", "memory_forget", "done"),
            ("agree", "memory_forget", "done"),
        ]

    def test_a_question_that_waited_too_long_or_was_declined_stays_undone(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        declined, late = (ann.ask_person("memory_forget", {"id": "7"}) for _ in range(2))
        confirmation.answer(ann.caller, declined, "no", store, clock.now)
        clock.tick(minutes=59, seconds=59)
        confirmation.asked(ann.caller, late, store, clock.now)
        clock.tick(seconds=1)
        for code, why in ((declined, "declined already"), (late, "expired")):
            with pytest.raises(Conflict, match=why):
                confirmation.answer(ann.caller, code, "yes", store, clock.now)
        clock.tick(days=8)
        ann.ask_person("memory_forget", {"id": "7"})
        with pytest.raises(NotFound):
            confirmation.asked(ann.caller, late, store, clock.now)

    def test_a_question_about_a_memory_is_forgotten_with_it(
        self, ann: OnRecord, store: Store, clock: Clock
    ) -> None:
        ann.remember("note", id="plan_x")
        ann.remember("other", id="plan-x")
        gone, left = (ann.ask_person("memory_forget", {"id": id}) for id in ("plan_x", "plan-x"))
        ann.forget("plan_x")
        with pytest.raises(NotFound):
            confirmation.asked(ann.caller, gone, store, clock.now)
        assert confirmation.asked(ann.caller, left, store, clock.now).arguments == {"id": "plan-x"}

    def test_of_many_answers_at_once_one_counts(self, ann: OnRecord, store: Store, clock: Clock) -> None:
        code = ann.ask_person("memory_forget", {"id": "7"})

        def answered(_: int) -> bool:
            try:
                confirmation.answer(ann.caller, code, "yes", store, clock.now)
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(answered, range(4))) == 1
