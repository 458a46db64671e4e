"""WHAT does a failed save leave behind? Nothing, whichever step fails: a save is one transaction."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from onrecord.catalog.record_writing import keep
from onrecord.catalog.records import record_of_datasource, records_of_model
from onrecord.catalog.resolution import Unresolved
from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError, SaveLimit
from onrecord.model.collections import Home
from onrecord.model.embedding import Passage
from onrecord.model.ledger import AuditEntry
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.model.memory import Change
from onrecord.operation import StorePolicy
from onrecord.remember import remember as remembering
from onrecord.remember.draft import SaveDraft
from onrecord.service import OnRecord
from onrecord.store.ports.filters import AuditFilter
from onrecord.store.ports.store import Store
from onrecord.testing.builders import HOME, Clock, Conformance, administrator, everything, person
from onrecord.testing.catalog_fixture import MYDB, ORDERS
from onrecord.testing.embedder import StubEmbedder, StubEmbedders

Contents = Callable[[], Any]

#: For each step that refuses: the fields of the save, and the error.
_REFUSED: Final[dict[str, tuple[dict[str, Any], type[OnRecordError], str]]] = {
    "check": ({"id": "global:k"}, Invalid, "saving one needs the permission memory.global"),
    "link": (
        {"artifact": "#7"},
        Invalid,
        "^artifact: there is no artifact 7 in a conversation that you are in; write it first$",
    ),
    "refer": ({"entities": ["nowhere.orders"]}, Unresolved, "nowhere"),
    "save": ({"id": "retired"}, Conflict, "was retired on"),
    "supersede": ({"supersedes": ["99"]}, NotFound, "No memory 99"),
    "supersede of what is over": ({"supersedes": ["held", "retired"]}, Conflict, "Already retired: retired"),
}


class _Broken(Exception):
    """An error that no code expects."""


def _break(draft: SaveDraft, *_: Any) -> SaveDraft:
    raise _Broken


class _BrokenEmbedder(StubEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        raise _Broken


def _done(store: Store, tenant: str) -> list[AuditEntry]:
    with store.ledger(tenant, writes=False) as ledger:
        return ledger.page(AuditFilter(outcome="done"))[0]


class RefusedSaveConformance(Conformance):
    """Saves that fail; each would also have registered the conversation of its caller."""

    @pytest.fixture
    def contents(self, store: Store) -> Contents:
        """Everything that the port shows of the store. A back end whose tables can be read overrides this.

        Entries of the audit about refusals are left out, since a refused save keeps those.
        """

        def look() -> Any:
            with store.archive() as archive:
                homes = archive.homes()
                kept = {home.tenant: list(archive.workspace(home.tenant).every()) for home in homes}
                waiting = {home: archive.job_counts(home) for home in homes}
            rows = {each: dict(store.rows_of(each)) | {"audit": _done(store, each)} for each in kept}
            return everything(store), kept, waiting, rows

        return look

    @pytest.fixture
    def known(self, ann: OnRecord, root: OnRecord, store: Store, clock: Clock) -> None:
        """The memories and models that the saves refer to."""
        ann.remember("held", id="held")
        ann.remember("over", id="retired")
        ann.retire("retired")
        change = Change("ingest", "root", "person", clock.now)
        with store.writing(root.caller, clock.now) as writing:
            for record in (record_of_datasource(MYDB, ["orders"]), *records_of_model(ORDERS, "")):
                keep(writing, record, change)

    @pytest.fixture
    def talking(self, knowing: OnRecord) -> OnRecord:
        """The door of a person in a conversation that is not registered yet, to a store with vectors."""
        return knowing.as_caller(knowing.caller.inside("talk"))

    @pytest.mark.usefixtures("known")
    @pytest.mark.parametrize("step", _REFUSED)
    def test_a_save_that_a_step_refuses_leaves_no_row_anywhere(
        self, talking: OnRecord, contents: Contents, step: str
    ) -> None:
        given, kind, text = _REFUSED[step]
        before = contents()
        with pytest.raises(OnRecordError, match=text) as failed:
            talking.remember(**{"content": "a note", **given})
        assert type(failed.value) is kind
        assert contents() == before

    def test_what_does_not_fit_together_is_told_before_a_file_that_is_not_there(
        self, talking: OnRecord
    ) -> None:
        with pytest.raises(Invalid) as failed:
            talking.remember("a note", id="global:k", artifact="7", supersedes=["99"])
        assert [fault.field for fault in failed.value.faults] == ["id"]
        with pytest.raises(Invalid) as failed:
            talking.remember("a note", artifact="7", supersedes=["99"])
        assert [fault.field for fault in failed.value.faults] == ["artifact"]

    def test_a_save_past_the_cap_of_its_run_leaves_no_row_anywhere(
        self, store: Store, clock: Clock, contents: Contents
    ) -> None:
        bot = person("bot", actor="unattended", run="nightly")
        door = OnRecord(store, bot, clock=clock, policy=StorePolicy(saves_per_run=1))
        door.remember("the one that it may")
        before = contents()
        with pytest.raises(SaveLimit):
            door.as_caller(bot.inside("talk")).remember("one too many")
        assert contents() == before

    def test_a_save_past_the_quota_of_its_key_leaves_no_row_anywhere(
        self, ann: OnRecord, root: OnRecord, contents: Contents
    ) -> None:
        key = root.create_key(user="ann", saves_per_day=1).key.id
        ann.as_caller(person(key=key)).remember("the one that it may")
        before = contents()
        with pytest.raises(SaveLimit):
            ann.as_caller(person(key=key, conversation="talk")).remember("one too many")
        assert contents() == before

    def test_a_save_whose_embedder_breaks_leaves_no_row_anywhere(
        self, store: Store, clock: Clock, contents: Contents
    ) -> None:
        embedders = StubEmbedders(_BrokenEmbedder())
        door = OnRecord(store, person(conversation="talk"), clock=clock, embedders=embedders)
        before = contents()
        with pytest.raises(_Broken):
            door.remember("a note")
        assert contents() == before

    @pytest.mark.parametrize("scope", ["tenant", GLOBAL_TENANT])
    @pytest.mark.parametrize("done", range(len(remembering.COMMIT) + 1))
    def test_a_save_that_breaks_after_any_number_of_its_steps_leaves_no_row_anywhere(
        self,
        talking: OnRecord,
        contents: Contents,
        monkeypatch: pytest.MonkeyPatch,
        scope: str,
        done: int,
    ) -> None:
        steps = remembering.COMMIT
        monkeypatch.setattr(remembering, "COMMIT", (*steps[:done], _break, *steps[done:]))
        before = contents()
        with pytest.raises(_Broken):
            talking.as_caller(administrator(conversation="talk")).remember("a note", scope=scope)
        assert contents() == before

    @pytest.mark.parametrize("scope", ["tenant", GLOBAL_TENANT])
    def test_a_dry_save_from_inside_a_conversation_leaves_no_row_anywhere(
        self, talking: OnRecord, contents: Contents, scope: str
    ) -> None:
        before = contents()
        talking.as_caller(administrator(conversation="talk")).remember("a note", scope=scope, dry_run=True)
        assert contents() == before

    def test_of_a_save_that_is_not_allowed_the_refusal_alone_is_noted(
        self, ann: OnRecord, root: OnRecord, contents: Contents
    ) -> None:
        ann.as_caller(person("bob")).remember("his", id="his")
        before = contents()
        with pytest.raises(Forbidden):
            ann.as_caller(person(conversation="talk")).remember("a note", supersedes=["his"])
        assert contents() == before
        lines = [(line.operation, line.outcome) for line in root.audit().entries]
        assert lines == [("remember", "refused"), ("remember", "done")]

    def test_the_conversation_of_a_global_save_is_known_to_the_tenant_of_its_caller_alone(
        self, root: OnRecord, store: Store
    ) -> None:
        inside = root.as_caller(administrator(conversation="talk"))
        saved = inside.remember("for everyone", scope=GLOBAL_TENANT).memory
        assert saved.id == "global:1"
        assert [each.id for each in root.conversations().conversations] == ["talk"]
        assert "conversations" not in store.rows_of(GLOBAL_TENANT)
        lines = [(line.operation, line.subject) for line in _done(store, HOME)]
        assert lines == [("remember", "global:1"), ("register_conversation", "talk")]
        with store.archive() as archive:
            assert archive.homes() == [Home(HOME), Home(GLOBAL_TENANT)]
        assert root.doctor().problems == ()

    def test_a_save_that_changes_nothing_still_makes_its_conversation_known(self, ann: OnRecord) -> None:
        ann.remember("a note")
        talking = ann.as_caller(ann.caller.inside("talk"))
        assert talking.remember("a note").outcome == "unchanged"
        assert [each.id for each in ann.conversations().conversations] == ["talk"]

    def test_a_save_tells_of_each_of_its_steps(self, ann: OnRecord) -> None:
        steps = [note.name for note in ann.remember("a note").trace]
        assert steps == [step.__name__ for step in remembering.STEPS]
        assert {"link", "enter"} <= set(steps)
