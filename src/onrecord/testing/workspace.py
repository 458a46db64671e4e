"""WHAT must every store do with a workspace? Conversations, artifacts, scratchpads and settings of agents."""

import hashlib
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid, NotFound
from onrecord.model.caller import Caller
from onrecord.model.limits import ARTIFACT_BYTES, CONVERSATION_BYTES, GLOBAL_TENANT, SCRATCHPAD_BYTES
from onrecord.model.memory import Change, Memory
from onrecord.model.workspace import MEDIA_TYPE, AgentSettings, ConversationKey
from onrecord.service import OnRecord
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store
from onrecord.testing.builders import Clock, Conformance, administrator, change_names, person
from onrecord.testing.members import MembersConformance
from onrecord.testing.moving_workspace import MovedWorkspaceConformance
from onrecord.workspace.scratchpads import ScratchpadContent

#: The size of the line that dates a note in a scratchpad.
MARK_BYTES = len("\n<!-- 2026-03-01 12:00:00 -->\n\n")


def conversation_ids(door: OnRecord, **ask: Any) -> list[str]:
    return [each.id for each in door.conversations(**ask).conversations]


def paths_of(door: OnRecord, conversation: str | None = None) -> list[str]:
    return [each.path for each in door.artifacts(conversation=conversation).artifacts]


def faults_of(refused: pytest.ExceptionInfo[Invalid]) -> list[str]:
    return [fault.field for fault in refused.value.faults]


class _Disturbed:
    """A store that calls `before` just before a transaction begins, and `within` just after."""

    def __init__(
        self,
        store: Store,
        *,
        before: Callable[[], Any] = lambda: None,
        within: Callable[[], Any] = lambda: None,
    ) -> None:
        self._store = store
        self._before = before
        self._within = within

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def writing(self, *given: Any) -> Iterator[Writing]:
        self._before()
        with self._store.writing(*given) as writing:
            self._within()
            yield writing


def linked(store: Any, caller: Caller, act: str) -> Memory:
    """Link a memory to the first artifact, in its first save or by a revision."""
    door = OnRecord(store, caller)
    given = {"content": "about the file"} if act == "remember" else {"id": "k"}
    memory: Memory = getattr(door, act)(artifact="1", **given).memory
    return memory


class WorkspaceConformance(Conformance):
    """The fixtures of all suites of the workspace."""

    @pytest.fixture
    def inside(self, ann: OnRecord) -> OnRecord:
        """The door of a person in a conversation."""
        return ann.as_caller(ann.caller.inside("talk"))

    @pytest.fixture
    def stranger(self, ann: OnRecord) -> OnRecord:
        """An admin of another tenant, in a conversation of the same name."""
        return ann.as_caller(administrator("eve", tenant="beta", operator=False, conversation="talk"))


class ConversationConformance(WorkspaceConformance):
    """Conversations have a number or a name, and are registered when they are first used."""

    def test_a_conversation_without_a_name_is_the_next_whole_number(self, ann: OnRecord) -> None:
        made = [ann.register_conversation().conversation.id for _ in range(3)]
        assert made == ["1", "2", "3"]

    def test_a_conversation_is_registered_with_what_is_told_of_it(self, ann: OnRecord, clock: Clock) -> None:
        registered = ann.register_conversation("slack:C01/7", title="Q3 plan", agent="planner")
        made = registered.conversation
        assert (registered.created, made.id, made.title, made.agent) == (
            True,
            "slack:C01/7",
            "Q3 plan",
            "planner",
        )
        assert (made.created_at, made.created_by) == (clock.now, "ann")
        assert ann.show_conversation("slack:C01/7").conversation == made

    def test_a_conversation_that_is_known_is_answered_as_it_stands(self, ann: OnRecord, clock: Clock) -> None:
        first = ann.register_conversation("talk", title="as it was").conversation
        clock.tick()
        again = ann.register_conversation("talk", title="otherwise")
        assert (again.created, again.conversation) == (False, first)

    def test_the_tenant_passes_over_a_number_that_one_chose_and_tells_nobody_else_of_it(
        self, ann: OnRecord
    ) -> None:
        bob = ann.as_caller(person("bob"))
        for chosen in ("2", "41"):
            ann.register_conversation(chosen)
        given = [door.register_conversation().conversation for door in (ann, ann, bob)]
        assert [each.id for each in given] == ["1", "3", "4"]
        assert all(each.numbered for each in given)
        assert not ann.show_conversation("2").conversation.numbered
        bob.register_conversation("6")
        ann.register_conversation()
        assert [door.register_conversation().conversation.id for door in (ann, bob)] == ["6", "7"]

    def test_a_number_too_large_to_count_on_from_is_a_name_like_any_other(self, ann: OnRecord) -> None:
        ann.register_conversation("9" * 40)
        assert ann.register_conversation().conversation.id == "1"

    def test_a_hash_before_the_number_of_a_conversation_makes_no_difference(self, ann: OnRecord) -> None:
        ann.register_conversation()
        assert ann.show_conversation("#1") == ann.show_conversation("1")
        assert not ann.register_conversation("#1").created
        assert ann.write_artifact("a.txt", "x", conversation="#1").artifact.conversation == "1"

    def test_the_number_of_a_deleted_conversation_is_not_given_again(self, ann: OnRecord) -> None:
        ann.register_conversation()
        ann.delete_conversation("1")
        assert ann.register_conversation().conversation.id == "2"

    def test_the_first_save_from_inside_a_conversation_registers_it(
        self, ann: OnRecord, inside: OnRecord
    ) -> None:
        inside.remember("said in the talk")
        inside.remember("and more")
        assert conversation_ids(ann) == ["talk"]

    def test_a_first_turn_from_inside_a_conversation_registers_it(
        self, ann: OnRecord, inside: OnRecord
    ) -> None:
        inside.note_turn("hello")
        assert conversation_ids(ann) == ["talk"]

    def test_a_turn_that_is_refused_registers_nothing(self, ann: OnRecord, inside: OnRecord) -> None:
        with pytest.raises(Invalid, match="is not the conversation that this caller is in"):
            inside.note_turn("hello", conversation="another")
        assert conversation_ids(ann) == []

    def test_a_save_from_outside_registers_nothing_even_if_it_names_a_conversation(
        self, ann: OnRecord
    ) -> None:
        ann.remember("pinned by what a model sends", conversation="made up")
        assert conversation_ids(ann) == []

    def test_conversations_are_listed_newest_first_page_by_page(self, ann: OnRecord) -> None:
        for number in range(5):
            ann.register_conversation(agent="even" if number % 2 == 0 else "odd")
        first = ann.conversations(limit=2)
        second = ann.conversations(limit=2, after=first.next)
        third = ann.conversations(limit=2, after=second.next)
        pages = [[each.id for each in page.conversations] for page in (first, second, third)]
        assert (pages, third.next) == ([["5", "4"], ["3", "2"], ["1"]], None)
        assert conversation_ids(ann, agent="odd") == ["4", "2"]

    def test_a_mark_of_no_page_is_refused(self, ann: OnRecord) -> None:
        with pytest.raises(Invalid) as refused:
            ann.conversations(after="nowhere")
        assert faults_of(refused) == ["after"]

    def test_an_unknown_conversation_is_not_found(self, ann: OnRecord) -> None:
        for attempt in (ann.show_conversation, ann.delete_conversation):
            with pytest.raises(NotFound, match="No conversation ghost"):
                attempt("ghost")

    def test_another_tenant_knows_nothing_of_a_conversation(self, ann: OnRecord, stranger: OnRecord) -> None:
        ann.register_conversation("talk", title="ours")
        ann.write_artifact("plan.md", "ours", conversation="talk")
        assert conversation_ids(stranger) == []
        for attempt in (stranger.show_conversation, stranger.delete_conversation):
            with pytest.raises(NotFound):
                attempt("talk")
        assert stranger.register_conversation("talk").conversation.title is None
        assert stranger.show_conversation("talk").artifacts == 0
        stranger.delete_conversation("talk")
        assert paths_of(ann, "talk") == ["plan.md"]

    def test_a_secret_in_a_title_is_taken_out(self, ann: OnRecord) -> None:
        made = ann.register_conversation(title="use ghp_16C7e42F292c6912E7710c838347Ae178B4a").conversation
        assert "16C7e42F" not in (made.title or "")


class DeletedConversationConformance(WorkspaceConformance):
    """What deleting a conversation deletes, and what it leaves."""

    def test_deleting_a_conversation_removes_its_files_and_unpins_its_memories(
        self, ann: OnRecord, inside: OnRecord, clock: Clock
    ) -> None:
        file = inside.write_artifact("plan.md", "the plan").artifact
        both = inside.remember("pinned and linked", artifact=file.id).memory
        pinned = inside.remember("pinned alone").memory
        linked = ann.remember("linked from outside", artifact=file.id).memory
        apart = ann.remember("not concerned").memory
        clock.tick()
        gone = ann.delete_conversation("talk")
        assert (gone.artifacts, gone.unpinned, gone.unlinked, gone.retired) == (1, 2, 2, 0)
        for memory in (both, pinned, linked):
            now = ann.show(memory.id).memory
            assert (now.conversation, now.artifact, now.status) == (None, None, "active")
            assert (now.version, now.updated_at) == (2, clock.now)
        assert [change_names(ann, each.id)[-1] for each in (both, pinned, linked)] == [
            "unpin",
            "unpin",
            "unlink",
        ]
        assert ann.show(apart.id).memory == apart
        assert conversation_ids(ann) == []
        assert paths_of(ann) == []
        with pytest.raises(NotFound):
            ann.read_artifact(file.id)

    def test_what_only_the_conversation_could_see_is_retired_and_shown_to_its_owner_alone(
        self, ann: OnRecord, inside: OnRecord, root: OnRecord, clock: Clock
    ) -> None:
        memory = inside.remember("between us", scope="session").memory
        clock.tick()
        assert ann.delete_conversation("talk").retired == 1
        kept = ann.show(memory.id).memory
        assert (kept.status, kept.scope, kept.pinned, kept.valid_to) == ("archived", "user", None, clock.now)
        assert root.show(memory.id).memory == kept
        assert [hit.memory.id for hit in inside.recall("between us").hits] == []

    def test_only_who_began_a_conversation_or_an_admin_deletes_it(
        self, ann: OnRecord, root: OnRecord
    ) -> None:
        ann.register_conversation("talk")
        ann.share_conversation("talk", "bob")
        with pytest.raises(Forbidden, match="begun by ann"):
            ann.as_caller(person("bob")).delete_conversation("~ann/talk")
        assert root.delete_conversation("~ann/talk").id == "~ann/talk"

    def test_an_unattended_run_deletes_neither_conversations_nor_files(
        self, ann: OnRecord, inside: OnRecord
    ) -> None:
        inside.write_artifact("a.txt", "x")
        robot = ann.as_caller(person("ann", actor="unattended", run="nightly"))
        for attempt in (lambda: robot.delete_conversation("talk"), lambda: robot.delete_artifact("1")):
            with pytest.raises(Forbidden):
                attempt()
        assert paths_of(ann) == ["a.txt"]

    def test_a_conversation_of_the_same_name_begins_empty(self, ann: OnRecord, inside: OnRecord) -> None:
        inside.write_artifact("a.txt", "x")
        ann.delete_conversation("talk")
        inside.remember("again")
        assert ann.show_conversation("talk").artifacts == 0


class ArtifactConformance(WorkspaceConformance):
    """Artifacts are written, read, listed, linked and deleted by their path."""

    def test_a_file_comes_back_with_its_digest_its_size_and_its_media_type(
        self, inside: OnRecord, clock: Clock
    ) -> None:
        written = inside.write_artifact("notes\\plan.md", "Q3 – grün", media_type="text/markdown")
        file = written.artifact
        assert (written.created, file.id, file.path, file.conversation) == (
            True,
            "1",
            "notes/plan.md",
            "talk",
        )
        assert file.sha256 == hashlib.sha256("Q3 – grün".encode()).hexdigest()
        assert (file.size, file.media_type, file.written_by) == (12, "text/markdown", "ann")
        assert file.created_at == file.updated_at == clock.now
        read = inside.read_artifact("#1")
        assert (read.artifact, read.content, read.encoding) == (file, "Q3 – grün", "text")

    @pytest.mark.parametrize("raw", [b"", b"\x00\xff\xfe", b"nul \x00 in a text", bytes(range(256))])
    def test_a_file_that_is_no_text_keeps_every_byte(self, inside: OnRecord, raw: bytes) -> None:
        file = inside.write_artifact("raw.bin", b64encode(raw).decode(), encoding="base64").artifact
        assert (file.size, file.media_type) == (len(raw), MEDIA_TYPE)
        assert inside.read_artifact(file.id).raw == raw

    def test_content_that_is_not_base64_is_refused_together_with_a_bad_path(self, inside: OnRecord) -> None:
        with pytest.raises(Invalid) as refused:
            inside.write_artifact("../x", "not base64!", encoding="base64")
        assert faults_of(refused) == ["path", "content"]

    def test_a_file_written_over_keeps_its_id_and_its_beginning(self, inside: OnRecord, clock: Clock) -> None:
        first = inside.write_artifact("a/b.txt", "one").artifact
        clock.tick()
        second = inside.write_artifact("a//b.txt/", "second")
        assert not second.created
        assert (second.artifact.id, second.artifact.created_at) == (first.id, first.created_at)
        assert (second.artifact.size, second.artifact.updated_at) == (6, clock.now)
        assert inside.read_artifact(first.id).content == "second"
        assert inside.artifacts().bytes == 6

    def test_the_same_path_in_another_conversation_is_another_file(self, ann: OnRecord) -> None:
        for name in ("one", "two"):
            ann.register_conversation(name)
            ann.write_artifact("a.txt", name, conversation=name)
        assert [ann.read_artifact(id).content for id in ("1", "2")] == ["one", "two"]
        assert paths_of(ann, "one") == ["a.txt"]
        assert paths_of(ann) == ["a.txt", "a.txt"]

    def test_files_are_listed_by_path_and_differ_by_capitals(self, inside: OnRecord) -> None:
        for path in ("b.txt", "a/z.txt", "a.txt", "A.txt", "a-b.txt"):
            inside.write_artifact(path, path)
        assert paths_of(inside) == ["A.txt", "a-b.txt", "a.txt", "a/z.txt", "b.txt"]

    def test_the_id_of_a_deleted_file_is_not_given_again(self, inside: OnRecord) -> None:
        inside.write_artifact("a.txt", "x")
        assert inside.delete_artifact("1").artifact.path == "a.txt"
        assert inside.write_artifact("a.txt", "y").artifact.id == "2"

    def test_a_file_needs_a_conversation_that_the_tenant_knows(self, ann: OnRecord) -> None:
        with pytest.raises(NotFound, match="ghost"):
            ann.write_artifact("a.txt", "x", conversation="ghost")
        with pytest.raises(Invalid) as refused:
            ann.write_artifact("a.txt", "x")
        assert faults_of(refused) == ["conversation"]
        with pytest.raises(NotFound, match="ghost"):
            ann.artifacts(conversation="ghost")

    def test_from_inside_a_conversation_the_files_of_another_are_not_there(
        self, ann: OnRecord, inside: OnRecord
    ) -> None:
        ann.register_conversation("other")
        file = ann.write_artifact("a.txt", "theirs", conversation="other").artifact
        for attempt in (
            lambda: inside.read_artifact(file.id),
            lambda: inside.delete_artifact(file.id),
            lambda: inside.artifacts(conversation="other"),
            lambda: inside.write_artifact("a.txt", "mine", conversation="other"),
        ):
            with pytest.raises(NotFound):
                attempt()
        assert ann.read_artifact(file.id).content == "theirs"

    def test_a_file_of_another_conversation_is_read_via_a_memory_linked_to_it(
        self, ann: OnRecord, inside: OnRecord
    ) -> None:
        ann.register_conversation("other")
        file = ann.write_artifact("a.txt", "theirs", conversation="other").artifact
        linked = ann.remember("see the file", artifact=file.id).memory
        apart = ann.remember("linked to nothing").memory
        ann.share_conversation("other", "bob")
        secret = ann.as_caller(person("bob")).remember("his", scope="user", artifact=file.id).memory
        assert inside.read_artifact(file.id, via=linked.id).content == "theirs"
        for via in (apart.id, secret.id, "99"):
            with pytest.raises(NotFound):
                inside.read_artifact(file.id, via=via)

    def test_another_tenant_reaches_no_file(self, inside: OnRecord, stranger: OnRecord) -> None:
        inside.write_artifact("a.txt", "ours")
        for attempt in (stranger.read_artifact, stranger.delete_artifact):
            with pytest.raises(NotFound, match="No artifact 1"):
                attempt("1")
        assert stranger.artifacts().artifacts == ()
        assert stranger.write_artifact("a.txt", "theirs").artifact.id == "1"
        assert inside.read_artifact("1").content == "ours"

    @pytest.mark.parametrize("id", ["kb.policy", "0", "007", "9" * 30, "global:1"])
    def test_what_is_not_the_number_of_a_file_is_not_found(self, inside: OnRecord, id: str) -> None:
        inside.write_artifact("a.txt", "x")
        with pytest.raises(NotFound):
            inside.read_artifact(id)

    def test_a_secret_in_a_file_of_text_is_taken_out_and_counted(self, inside: OnRecord) -> None:
        secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        written = inside.write_artifact("notes.md", f"the token is {secret}\nkeep it")
        content = inside.read_artifact(written.artifact.id).content
        assert written.scrubbed == 1
        assert secret not in content
        assert content.endswith("keep it")
        assert written.artifact.size == len(content.encode())


class LinkConformance(WorkspaceConformance):
    """Memories that are linked to artifacts."""

    def test_a_memory_shows_the_file_that_it_is_linked_to(self, inside: OnRecord) -> None:
        file = inside.write_artifact("a.txt", "x").artifact
        memory = inside.remember("about the file", artifact="#1").memory
        assert memory.artifact == "1"
        assert inside.show(memory.id).artifact == file
        assert inside.show(inside.remember("no file").memory.id).artifact is None

    def test_a_link_to_a_file_that_the_tenant_does_not_have_is_refused(
        self, inside: OnRecord, stranger: OnRecord
    ) -> None:
        inside.write_artifact("a.txt", "x")
        mine = stranger.remember("mine").memory
        for attempt in (
            lambda: inside.remember("about nothing", artifact="7"),
            lambda: stranger.remember("about theirs", artifact="1"),
            lambda: stranger.revise(mine.id, artifact="#1"),
        ):
            with pytest.raises(Invalid) as refused:
                attempt()
            assert faults_of(refused) == ["artifact"]

    @pytest.mark.parametrize("act", ["remember", "revise"])
    def test_a_file_that_is_deleted_before_the_transaction_begins_is_linked_to_by_nobody(
        self, store: Store, inside: OnRecord, act: str
    ) -> None:
        file = inside.write_artifact("a.txt", "x").artifact
        inside.remember("a note", id="k")
        disturbed = _Disturbed(store, before=lambda: inside.delete_artifact(file.id))
        with pytest.raises(
            Invalid,
            match=r"^artifact: there is no artifact 1 in a conversation that you are in; write it first$",
        ):
            linked(disturbed, inside.caller, act)
        assert [memory.artifact for memory in inside.browse().memories] == [None]

    @pytest.mark.parametrize("act", ["remember", "revise"])
    def test_a_deletion_that_comes_while_a_link_is_made_waits_and_takes_it_away(
        self, store: Store, inside: OnRecord, act: str
    ) -> None:
        file = inside.write_artifact("a.txt", "x").artifact
        inside.remember("a note", id="k")
        begun = threading.Event()
        deletions: list[Future[int]] = []

        def delete() -> int:
            begun.set()
            return int(inside.delete_artifact(file.id).unlinked)

        def disturb() -> None:
            deletions.append(pool.submit(delete))
            begun.wait()

        with ThreadPoolExecutor(1) as pool:
            saved = linked(_Disturbed(store, within=disturb), inside.caller, act)
        assert saved.artifact == file.id
        assert [each.result() for each in deletions] == [1]
        assert inside.show(saved.id).memory.artifact is None

    def test_the_link_of_a_revision_is_looked_at_before_the_memory(self, inside: OnRecord) -> None:
        with pytest.raises(Invalid, match="there is no artifact 7"):
            inside.revise("nobody", artifact="7")

    def test_any_other_text_is_the_name_of_a_file_elsewhere(self, ann: OnRecord) -> None:
        memory = ann.remember("see the report", artifact="s3://bucket/report.pdf").memory
        shown = ann.show(memory.id)
        assert (shown.memory.artifact, shown.artifact) == ("s3://bucket/report.pdf", None)

    def test_a_link_is_made_and_taken_away_by_a_revision(self, inside: OnRecord) -> None:
        file = inside.write_artifact("a.txt", "x").artifact
        memory = inside.remember("a note").memory
        inside.revise(memory.id, artifact=file.id)
        assert inside.show(memory.id).artifact == file
        inside.revise(memory.id, artifact=None)
        assert inside.show(memory.id).artifact is None

    def test_deleting_a_file_takes_every_link_to_it_away(
        self, ann: OnRecord, inside: OnRecord, clock: Clock
    ) -> None:
        file = inside.write_artifact("a.txt", "x").artifact
        memory = ann.remember("linked", artifact=file.id).memory
        retired = ann.remember("linked once", artifact=file.id).memory
        ann.retire(retired.id)
        ann.share_conversation("talk", "bob")
        other = ann.as_caller(person("bob")).remember("his", scope="user", artifact=file.id).memory
        clock.tick()
        # All three; she does not see his own memory.
        assert inside.delete_artifact(file.id).unlinked == 2
        assert ann.show(memory.id).memory.artifact is None
        assert ann.show(retired.id).memory.artifact is None
        assert ann.as_caller(person("bob")).show(other.id).memory.artifact is None
        assert change_names(ann, memory.id) == ["remember", "unlink"]
        assert ann.as_caller(administrator()).doctor().problems == ()

    def test_the_number_of_a_file_elsewhere_is_not_taken_for_one_of_ours(
        self, root: OnRecord, stranger: OnRecord
    ) -> None:
        inside = root.as_caller(administrator(conversation="talk"))
        inside.write_artifact("a.txt", "x")
        memory = inside.remember("for everyone", scope="global", artifact="1").memory
        stranger.write_artifact("b.txt", "y")
        assert stranger.show(memory.id).artifact is None


class QuotaConformance(WorkspaceConformance):
    """The limits of size, to the byte."""

    def test_a_file_of_the_full_size_fits_and_one_byte_more_is_refused(self, inside: OnRecord) -> None:
        whole = b64encode(b"\xff" * ARTIFACT_BYTES).decode()
        more = b64encode(b"\xff" * (ARTIFACT_BYTES + 1)).decode()
        with pytest.raises(Invalid) as refused:
            inside.write_artifact("a.bin", more, encoding="base64")
        assert faults_of(refused) == ["content"]
        assert inside.artifacts().bytes == 0
        assert inside.write_artifact("a.bin", whole, encoding="base64").artifact.size == ARTIFACT_BYTES

    @pytest.fixture
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Set quotas that a test reaches quickly."""
        monkeypatch.setattr("onrecord.workspace.artifacts.CONVERSATION_BYTES", 100)
        monkeypatch.setattr("onrecord.workspace.artifacts.TENANT_BYTES", 150)

    @pytest.mark.usefixtures("small")
    def test_the_files_of_a_conversation_fill_its_quota_to_the_last_byte(self, inside: OnRecord) -> None:
        inside.write_artifact("a.txt", "x" * 60)
        with pytest.raises(Conflict, match=r"conversation talk take 60 of 100"):
            inside.write_artifact("b.txt", "x" * 41)
        assert inside.write_artifact("b.txt", "x" * 40).created
        assert inside.artifacts().bytes == 100
        assert inside.write_artifact("empty.txt", "").created

    @pytest.mark.usefixtures("small")
    def test_the_files_of_a_tenant_fill_its_quota_to_the_last_byte(
        self, ann: OnRecord, stranger: OnRecord
    ) -> None:
        for name in ("one", "two"):
            ann.register_conversation(name)
        ann.write_artifact("a.txt", "x" * 100, conversation="one")
        stranger.write_artifact("a.txt", "x" * 100)
        with pytest.raises(Conflict, match="this tenant may take 150 bytes together"):
            ann.write_artifact("a.txt", "x" * 51, conversation="two")
        assert ann.write_artifact("a.txt", "x" * 50, conversation="two").created

    @pytest.mark.usefixtures("small")
    def test_writing_over_counts_the_difference_and_a_smaller_file_always_fits(
        self, inside: OnRecord, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inside.write_artifact("a.txt", "x" * 90)
        assert inside.write_artifact("a.txt", "x" * 100).artifact.size == 100
        with pytest.raises(Conflict):
            inside.write_artifact("a.txt", "x" * 101)
        monkeypatch.setattr("onrecord.workspace.artifacts.CONVERSATION_BYTES", 10)
        assert inside.write_artifact("a.txt", "x" * 99).artifact.size == 99
        assert inside.read_artifact("1").content == "x" * 99

    @pytest.mark.usefixtures("small")
    def test_a_deleted_file_makes_room(self, inside: OnRecord) -> None:
        inside.write_artifact("a.txt", "x" * 100)
        inside.delete_artifact("1")
        assert inside.write_artifact("b.txt", "x" * 100).created

    @pytest.mark.usefixtures("small")
    def test_writers_at_once_never_pass_the_quota_and_fill_it(self, inside: OnRecord) -> None:
        begin = threading.Barrier(8)

        def write(number: int) -> bool:
            begin.wait()
            try:
                return bool(inside.write_artifact(f"{number}.txt", "x" * 25).created)
            except Conflict:
                return False

        with ThreadPoolExecutor(8) as pool:
            written = list(pool.map(write, range(8)))
        assert sum(written) == 4
        assert inside.artifacts().bytes == 100

    def test_the_quota_of_a_conversation_is_fifty_files_of_the_full_size(self) -> None:
        assert CONVERSATION_BYTES == 50 * ARTIFACT_BYTES


class ScratchpadConformance(WorkspaceConformance):
    """Scratchpads: dated notes, read as a whole, up to a size."""

    def test_each_addition_stands_under_its_time(self, ann: OnRecord, clock: Clock) -> None:
        assert ann.append_scratchpad("first", agent="scout").size == MARK_BYTES + 5
        clock.tick()
        ann.append_scratchpad("second\nline", agent="scout")
        read = ann.read_scratchpad("scout")
        assert read.content == (
            "\n<!-- 2026-03-01 12:00:00 -->\nfirst\n\n<!-- 2026-03-01 12:00:01 -->\nsecond\nline\n"
        )
        assert (read.exists, read.kind, read.size) == (True, "agent", len(read.content))

    def test_notes_that_were_never_written_are_empty_and_no_error(self, ann: OnRecord) -> None:
        assert ann.read_scratchpad("scout") == ScratchpadContent(
            agent="scout", kind="agent", exists=False, size=0, content=""
        )

    def test_each_agent_has_its_own_notes_and_all_share_one(self, ann: OnRecord, clock: Clock) -> None:
        ann.append_scratchpad("for all")
        ann.append_scratchpad("of the scout", agent="scout")
        ann.append_scratchpad("of the Scout", agent="Scout")
        assert "for all" in ann.read_scratchpad().content
        assert "of the scout" in ann.read_scratchpad("scout").content
        pads = ann.scratchpads().scratchpads
        assert [(pad.agent, pad.kind) for pad in pads] == [
            ("shared", "shared"),
            ("Scout", "agent"),
            ("scout", "agent"),
        ]
        assert {pad.size for pad in pads} == {MARK_BYTES + 7, MARK_BYTES + 12}
        assert {pad.updated_at for pad in pads} == {clock.now}

    def test_cleared_notes_are_gone_and_begin_anew(self, ann: OnRecord) -> None:
        ann.append_scratchpad("old", agent="scout")
        ann.append_scratchpad("kept", agent="other")
        assert ann.clear_scratchpad("scout").cleared == MARK_BYTES + 3
        assert not ann.read_scratchpad("scout").exists
        assert ann.clear_scratchpad("scout").cleared == 0
        ann.append_scratchpad("new", agent="scout")
        assert "old" not in ann.read_scratchpad("scout").content
        assert "kept" in ann.read_scratchpad("other").content

    def test_another_tenant_has_notes_of_its_own(self, ann: OnRecord, stranger: OnRecord) -> None:
        ann.append_scratchpad("ours", agent="scout")
        assert not stranger.read_scratchpad("scout").exists
        assert stranger.scratchpads().scratchpads == ()
        stranger.append_scratchpad("theirs", agent="scout")
        stranger.clear_scratchpad("scout")
        assert "ours" in ann.read_scratchpad("scout").content

    @pytest.mark.parametrize("agent", ["../x", "a/b", "", "a b", "a.b", "é", "x" * 65, "a\n"])
    def test_a_name_that_could_lead_elsewhere_is_refused(self, ann: OnRecord, agent: str) -> None:
        for attempt in (
            lambda: ann.append_scratchpad("x", agent=agent),
            lambda: ann.read_scratchpad(agent),
            lambda: ann.clear_scratchpad(agent),
            lambda: ann.set_agent(agent),
            lambda: ann.show_agent(agent),
        ):
            with pytest.raises(Invalid) as refused:
                attempt()
            assert faults_of(refused) == ["agent"]

    def test_notes_are_filled_to_the_last_byte_and_no_further(self, ann: OnRecord) -> None:
        half = (SCRATCHPAD_BYTES - 2 * MARK_BYTES) // 2
        ann.append_scratchpad("é" * (half // 2), agent="scout")
        left = SCRATCHPAD_BYTES - ann.read_scratchpad("scout").size - MARK_BYTES
        with pytest.raises(Conflict, match=str(SCRATCHPAD_BYTES)):
            ann.append_scratchpad("x" * (left + 1), agent="scout")
        assert ann.append_scratchpad("x" * left, agent="scout").size == SCRATCHPAD_BYTES
        with pytest.raises(Conflict):
            ann.append_scratchpad("x", agent="scout")
        assert ann.append_scratchpad("x", agent="other").size == MARK_BYTES + 1
        assert ann.read_scratchpad("scout").size == SCRATCHPAD_BYTES

    def test_additions_at_once_never_pass_the_size_and_none_is_lost(
        self, ann: OnRecord, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("onrecord.workspace.scratchpads.SCRATCHPAD_BYTES", 5 * (MARK_BYTES + 4))
        begin = threading.Barrier(8)

        def note(number: int) -> int | None:
            begin.wait()
            try:
                return ann.append_scratchpad(f"no {number}", agent="scout").size
            except Conflict:
                return None

        with ThreadPoolExecutor(8) as pool:
            sizes = [size for size in pool.map(note, range(8)) if size is not None]
        assert sorted(sizes) == [number * (MARK_BYTES + 4) for number in range(1, 6)]
        assert ann.read_scratchpad("scout").content.count("<!--") == 5

    def test_a_secret_in_notes_is_taken_out_and_counted(self, ann: OnRecord) -> None:
        noted = ann.append_scratchpad("token ghp_16C7e42F292c6912E7710c838347Ae178B4a")
        assert noted.scrubbed == 1
        assert "16C7e42F" not in ann.read_scratchpad().content


class AgentConformance(WorkspaceConformance):
    """The settings of agents."""

    def test_an_agent_that_nobody_has_set_has_the_defaults(self, ann: OnRecord) -> None:
        shown = ann.show_agent("scout")
        assert (shown.updated_at, shown.settings.intent, shown.settings.decay) == (None, True, None)
        assert shown.settings == AgentSettings()

    def test_settings_are_kept_as_they_were_put(self, ann: OnRecord, clock: Clock) -> None:
        put = ann.set_agent(
            "scout",
            intent=False,
            decay=True,
            half_life_days=30,
            decay_floor=0.25,
            limit=5,
            conversation_places=1,
            tenant_places=2,
            global_places=0,
            max_tokens=800,
            metadata={"role": "looks things up", "tools": ["fetch"]},
        )
        assert (put.updated_at, put.updated_by) == (clock.now, "ann")
        assert put.settings.half_life_days == 30
        assert put.settings.metadata == {"role": "looks things up", "tools": ["fetch"]}
        assert ann.show_agent("scout") == put

    def test_what_is_left_out_takes_its_default_again(self, ann: OnRecord) -> None:
        ann.set_agent("scout", decay=True, limit=3)
        assert ann.set_agent("scout", limit=4).settings.decay is None
        assert ann.show_agent("scout").settings.limit == 4

    def test_settings_are_held_to_the_rules_of_what_they_fill(self, ann: OnRecord) -> None:
        with pytest.raises(Invalid) as refused:
            ann.set_agent("scout", decay_floor=1.5, half_life_days=0, limit=201, metadata=[])  # type: ignore[arg-type]
        assert faults_of(refused) == ["half_life_days", "decay_floor", "limit", "metadata"]
        assert ann.show_agent("scout").updated_at is None

    def test_another_tenant_sets_an_agent_of_its_own(self, ann: OnRecord, stranger: OnRecord) -> None:
        ann.set_agent("scout", limit=3)
        assert stranger.show_agent("scout").updated_at is None
        stranger.set_agent("scout", limit=9)
        assert ann.show_agent("scout").settings.limit == 3


class WorkspaceTransactionConformance(WorkspaceConformance):
    """A refused change leaves nothing, a change leaves an entry of the audit, and an erased tenant leaves no trace."""

    def test_a_transaction_that_fails_leaves_nothing_of_itself(
        self, store: Store, ann: OnRecord, inside: OnRecord, clock: Clock
    ) -> None:
        file = inside.write_artifact("a.txt", "x").artifact
        memory = inside.remember("linked", artifact=file.id).memory
        with pytest.raises(ZeroDivisionError), store.writing(ann.caller, clock.now) as writing:
            writing.workspace.register("other", None, None)
            change = Change("unlink", "ann", "person", clock.now)
            writing.replace(writing.attached(None, [file.id])[0], replace(memory, artifact=None), change)
            writing.workspace.drop_conversation(ConversationKey("ann", "talk"))
            writing.workspace.append("scout", "x")
            raise ZeroDivisionError
        assert conversation_ids(ann) == ["talk"]
        assert inside.read_artifact(file.id).content == "x"
        assert ann.show(memory.id).memory == memory
        assert not ann.read_scratchpad("scout").exists
        assert ann.register_conversation().conversation.id == "1"

    def test_only_what_belongs_to_it_is_changed_for_the_sake_of_a_conversation_or_a_file(
        self, store: Store, ann: OnRecord, inside: OnRecord, clock: Clock
    ) -> None:
        bob = ann.as_caller(person("bob"))
        private = bob.remember("nobody else's", scope="user").memory
        file = inside.write_artifact("a.txt", "x").artifact
        linked = ann.remember("linked", artifact=file.id).memory
        pinned = inside.remember("pinned", conversation="talk").memory
        talk = ConversationKey("ann", "talk")
        with store.writing(ann.caller, clock.now) as writing:
            assert [each.id for each in writing.attached(None, [file.id])] == [linked.id]
            assert [each.id for each in writing.attached(talk, [])] == [pinned.id]
            assert writing.attached(None, []) == []
            assert {each.id for each in writing.attached(talk, [file.id])} == {linked.id, pinned.id}
            with pytest.raises(NotFound):
                writing.replace(private, private, Change("unlink", "ann", "person", clock.now))
        with pytest.raises(Forbidden), store.writing(ann.caller, clock.now, GLOBAL_TENANT) as writing:
            writing.attached(talk, [file.id])

    def test_every_write_leaves_a_line_in_the_audit(
        self, ann: OnRecord, inside: OnRecord, root: OnRecord
    ) -> None:
        inside.write_artifact("a.txt", "x")
        ann.append_scratchpad("x", agent="scout")
        ann.clear_scratchpad("scout")
        ann.set_agent("scout")
        inside.delete_artifact("1")
        ann.delete_conversation("talk")
        lines = [(entry.operation, entry.subject) for entry in root.audit().entries]
        assert lines == [
            ("delete_conversation", "talk"),
            ("delete_artifact", "1"),
            ("set_agent", "scout"),
            ("clear_scratchpad", "scout"),
            ("append_scratchpad", "scout"),
            ("write_artifact", "1"),
            ("register_conversation", "talk"),
        ]

    def test_an_erased_tenant_leaves_nothing_beside_its_memories(
        self, ann: OnRecord, inside: OnRecord, root: OnRecord, stranger: OnRecord
    ) -> None:
        inside.write_artifact("a.txt", "x")
        ann.append_scratchpad("x")
        ann.set_agent("scout", limit=3)
        ann.share_conversation("talk", "bob")
        stranger.write_artifact("b.txt", "y")
        erased = root.erase_tenant(ann.caller.tenant, confirm=ann.caller.tenant)
        assert {
            "conversations",
            "conversation_members",
            "artifacts",
            "scratchpads",
            "agent_settings",
            "agent_users",
            "numbers",
        } <= set(erased.erased)
        assert dict(erased.residue) == {}
        assert (conversation_ids(ann), paths_of(ann), ann.scratchpads().scratchpads) == ([], [], ())
        assert ann.show_agent("scout").updated_at is None
        assert paths_of(stranger) == ["b.txt"]


class WholeWorkspaceConformance(
    ConversationConformance,
    DeletedConversationConformance,
    ArtifactConformance,
    LinkConformance,
    QuotaConformance,
    ScratchpadConformance,
    AgentConformance,
    WorkspaceTransactionConformance,
    MembersConformance,
    MovedWorkspaceConformance,
):
    """All suites of the workspace together."""
