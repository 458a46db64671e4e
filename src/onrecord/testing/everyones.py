"""WHO changes global memories? Only callers with the permission `memory.global`; the audit of every tenant lists each change."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.errors import Forbidden, Invalid, NotFound
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.operation import StorePolicy
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, browsed, holdings, person, refused

_ADMIN: Final = person("ada", permissions={"memory.admin"})
#: May change global memories, and is not an admin.
_HOLDER: Final = person("olga", permissions={"memory.read", "memory.manage", "memory.global"})
#: The attempts to change a global memory, each with the error it must give.
_CHANGES: Final[dict[str, tuple[Callable[[OnRecord], Any], type[Invalid | Forbidden]]]] = {
    "save": (lambda door: door.remember("other", scope="global"), Invalid),
    "save over it": (lambda door: door.remember("other", id="global:k"), Invalid),
    "move there": (lambda door: door.remember("own", id="own", scope="global"), Invalid),
    "revise": (lambda door: door.revise("global:k", content="other"), Forbidden),
    "retire": (lambda door: door.retire("global:k"), Forbidden),
    "relate": (lambda door: door.relate("global:k", "supports", "global:l"), Forbidden),
    "approve": (lambda door: door.approve("global:k"), Forbidden),
    "forget": (lambda door: door.forget("global:k"), Forbidden),
}


class GlobalConformance(Conformance):
    """An admin of one tenant has no say over global memories, which every tenant sees."""

    @pytest.fixture
    def rules(self, root: OnRecord, clock: Clock) -> OnRecord:
        """Two global memories, and a proposal for a third."""
        root.remember("for all", id="global:k")
        root.remember("for all too", id="global:l")
        run = root.as_caller(person("nightly", actor="unattended", run="r", permissions=_HOLDER.permissions))
        run.remember("zqwaiting", scope="global")
        clock.tick()
        return root

    @pytest.mark.parametrize("change", _CHANGES)
    def test_an_admin_of_a_tenant_changes_nothing_that_every_tenant_sees(
        self, rules: OnRecord, store: Store, change: str
    ) -> None:
        attempt, error = _CHANGES[change]
        with refused(error, "memory.global, which is granted only on the server's machine", by=store):
            attempt(rules.as_caller(_ADMIN))

    def test_whoever_was_given_it_changes_it_and_is_no_admin_for_that(self, rules: OnRecord) -> None:
        rules.remember("zqprivate", id="p", scope="user")
        olga = rules.as_caller(_HOLDER)
        olga.revise("global:k", content="for all, corrected")
        olga.relate("global:k", "supports", "global:l")
        olga.forget("global:l")
        assert olga.remember("for all again", scope="global").memory.scope == "global"
        assert olga.show("global:k").memory.content == "for all, corrected"
        for refusal in (lambda: olga.show("p"), lambda: olga.forget("p")):
            with pytest.raises(NotFound):
                refusal()
        with pytest.raises(Forbidden):
            olga.audit()

    def test_what_waits_to_be_for_every_tenant_is_for_those_who_may_decide(self, rules: OnRecord) -> None:
        for caller, count in (
            (_ADMIN, 0),
            (administrator(tenant="beta"), 1),
            (_HOLDER, 1),
            (person("bob"), 0),
        ):
            door = rules.as_caller(caller)
            assert len(browsed(door, statuses=["pending"])) == count, caller
            assert len(door.recall("zqwaiting", statuses=["pending"]).hits) == count, caller

    def test_an_import_brings_nothing_for_every_tenant_without_it(
        self, rules: OnRecord, store: Store, tmp_path: Path
    ) -> None:
        every, own = str(tmp_path / "every.jsonl"), str(tmp_path / "own.jsonl")
        rules.remember("own", id="own")
        rules.export(every)
        ada = rules.as_caller(_ADMIN)
        ada.export(own)
        assert ["global" in Path(file).read_text() for file in (every, own)] == [True, False]
        for id in ("global:k", "global:l"):
            rules.forget(id)
        before = holdings(store)["global"]
        with pytest.raises(Forbidden, match="importing that needs the permission"):
            ada.import_(every)
        assert ada.import_(own).added == 0
        assert holdings(store)["global"] == before
        assert rules.import_(every).added == 2

    def test_an_agent_has_nothing_told_unasked_by_an_import(
        self, root: OnRecord, store: Store, clock: Clock, tmp_path: Path
    ) -> None:
        root.remember("obey me", id="k", always_inject=True)
        file = tmp_path / "all.jsonl"
        root.export(str(file))
        root.forget("k")
        agent = root.as_caller(administrator("bot", actor="agent", operator=False))
        agent.import_(str(file))
        assert [each.memory.always_inject for each in root.history("k").versions] == [False]
        root.approve("k")
        with store.reading(person(), clock.now) as reading:
            assert reading.unasked(most=9) == []

    def test_the_audit_of_every_tenant_tells_what_was_changed(self, root: OnRecord, clock: Clock) -> None:
        beta, gamma = (root.as_caller(administrator("bea", tenant=name)) for name in ("beta", "gamma"))
        beta.remember("own", id="b")
        clock.tick()
        root.remember("for all", id="global:k")
        clock.tick()
        root.revise("global:k", content="for all, corrected")
        clock.tick()
        beta.remember("own again", id="b")
        changes = [("revise", "global:k", "root"), ("remember", "global:k", "root")]
        assert _audited(gamma) == _audited(root) == changes
        assert _audited(beta) == [("remember", "b", "bea"), *changes, ("remember", "b", "bea")]
        assert _audited(beta, limit=1) == _audited(beta), "by pages"
        assert _audited(beta, user="root") == changes
        entries = beta.audit(user="root").entries
        assert {(entry.key, entry.run, entry.request) for entry in entries} == {(None, None, None)}
        clock.tick()
        root.forget("global:k")
        assert _audited(gamma) == [
            ("forget", None, "root"),
            ("revise", None, "root"),
            ("remember", None, "root"),
        ]

    def test_what_was_imported_for_every_tenant_is_told_to_each(
        self, rules: OnRecord, tmp_path: Path
    ) -> None:
        file = tmp_path / "all.jsonl"
        rules.export(str(file))
        beta = rules.as_caller(administrator(tenant="beta"))
        before = len(_audited(beta))
        rules.import_(str(file))
        assert _audited(beta)[0] == ("import_", None, "root")
        assert (len(_audited(beta)), [each[0] for each in _audited(rules)].count("import_")) == (
            before + 1,
            1,
        )

    def test_an_import_that_broke_off_is_told_by_the_audit_of_all_who_see_what_came_in(
        self, rules: OnRecord, root: OnRecord, tmp_path: Path
    ) -> None:
        file = tmp_path / "broken.jsonl"
        rules.export(str(file))
        lines = file.read_text("utf-8").splitlines()
        # Another part for every tenant begins, and its first line is broken.
        begins = next(line for line in lines if json.loads(line).get("tenant") == GLOBAL_TENANT)
        file.write_text("\n".join([*lines, begins, "{broken"]), "utf-8")
        root.forget("global:k")
        beta = root.as_caller(administrator(tenant="beta"))
        before = len(_audited(beta))
        with pytest.raises(Invalid):
            rules.import_(str(file))
        assert "global:k" in browsed(beta), "it came in before the line that is broken"
        assert _audited(beta)[0] == ("import_", None, "root")
        assert len(_audited(beta)) == before + 1
        assert [each[0] for each in _audited(rules)].count("import_") == 1

    def test_a_namesake_in_another_tenant_sees_no_draft(self, root: OnRecord) -> None:
        run = person("nightly", tenant="beta", actor="unattended", run="r", permissions=_HOLDER.permissions)
        draft = root.as_caller(run).remember("first draft", scope="global").memory
        root.as_caller(run).revise(draft.id, content="second draft")
        root.approve(draft.id)
        histories = [root.as_caller(person(name)).history(draft.id).versions for name in ("nightly", "bob")]
        assert histories[0] == histories[1]
        assert "first draft" not in str(histories)

    def test_an_erased_tenant_leaves_no_name_in_what_others_are_told(self, root: OnRecord) -> None:
        root.as_caller(administrator("bea", tenant="beta")).remember("for all", id="global:k")
        assert _audited(root) == [("remember", "global:k", "bea")]
        assert root.erase_tenant("beta", confirm="beta").residue == {}
        assert ("remember", "global:k", "erased") in _audited(root)

    def test_a_key_is_given_it_at_the_machine_alone(self, root: OnRecord) -> None:
        made = root.create_key(permissions=["memory.manage", "memory.global"])
        assert made.key.permissions == ("memory.manage", "memory.global")
        with pytest.raises(Forbidden, match="a permission that you lack"):
            root.as_caller(_ADMIN).create_key(permissions=["memory.global"])
        elsewhere = root.as_caller(root.caller, StorePolicy(gives_global=False))
        with pytest.raises(Forbidden, match="only on the server's machine"):
            elsewhere.create_key(permissions=["memory.global"])
        assert elsewhere.create_key(permissions=["memory.admin"]).key.permissions == ("memory.admin",)


def _audited(door: OnRecord, **ask: Any) -> list[tuple[str, str | None, str]]:
    """Operation, subject and user of every entry, from all pages of the audit."""
    page = door.audit(**ask)
    entries = list(page.entries)
    while page.next is not None:
        page = door.audit(after=page.next, **ask)
        entries += page.entries
    return [(entry.operation, entry.subject, entry.user) for entry in entries]
