"""DO export and import move a workspace? All of it, once, without replacing anything, and only for its own tenant."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.care import restoring_workspace
from onrecord.errors import Conflict, Forbidden, Invalid, NotFound
from onrecord.model.limits import ARTIFACT_BYTES, GLOBAL_TENANT
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import HOME, Clock, Conformance, administrator, everything, person

RAW = bytes(range(256))
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def fill_workspace(root: OnRecord, clock: Clock) -> None:
    """Fill a workspace with items of every kind; some were overwritten or deleted before."""
    ann = root.as_caller(person(tenant=root.caller.tenant, conversation="talk – 1"))
    bob = root.as_caller(person("bob", tenant=root.caller.tenant))
    bob.register_conversation(title="Grün\N{SNOWMAN}", agent="planner")
    clock.tick(microseconds=1)
    bob.register_conversation("41")
    bob.delete_conversation("41")
    ann.write_artifact("notes/plan.md", "first – ünïcode 日本 👍\n", media_type="text/markdown")
    ann.write_artifact("notes/gone.md", "soon gone")
    for user in ("bob", "carol"):
        ann.share_conversation("talk – 1", user)
    clock.tick()
    bob.write_artifact("raw.bin", b64encode(RAW).decode(), encoding="base64", conversation="1")
    bob.write_artifact("empty", "", conversation="1")
    bob.as_caller(person("bob", tenant=root.caller.tenant, conversation="~ann/talk – 1")).write_artifact(
        "notes/plan.md", "second"
    )
    ann.delete_artifact("2")
    for text in ("half of it", "the other half\n\n<!-- not a mark -->"):
        ann.append_scratchpad(text, agent="scout")
        bob.append_scratchpad(f"all: {text}")
        clock.tick()
    bob.append_scratchpad("thrown away", agent="gone")
    bob.clear_scratchpad("gone")
    ann.set_agent("scout", decay=True, limit=3)
    ann.share_agent("scout", "bob")
    clock.tick()
    bob.set_agent(
        "scout", decay=True, half_life_days=7, decay_floor=0.25, max_tokens=100, metadata={"a": ["b"]}
    )
    bob.set_agent("Planner_2")


def workspace_of(store: Store, tenant: str = HOME) -> Any:
    """The whole workspace of a tenant, whoever may see it, to compare before and after."""
    with store.archive() as archive:
        workspace = archive.workspace(tenant)
        return workspace.numbers(), list(workspace.every())


def export_of(door: OnRecord, path: Path, **ask: Any) -> list[dict[str, Any]]:
    """The lines of an export without the first, which holds the time of the export."""
    door.export(str(path), **ask)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()][1:]


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Write the file again with changed lines."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _without_files(lines: list[dict[str, Any]]) -> None:
    lines[:] = [line for line in lines if "artifact" not in line]


def _first(lines: list[dict[str, Any]], key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(line for line in lines if key in line)[key]
    return found


def _set(key: str, **values: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: _first(lines, key).update(values)


def _drop(key: str, name: str) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: _first(lines, key).pop(name)


def _put(content: bytes) -> Callable[[list[dict[str, Any]]], None]:
    return _set(
        "artifact",
        content=b64encode(content).decode(),
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


#: What is made of an export, and why it is refused.
_UNSOUND: Final[tuple[tuple[Callable[[list[dict[str, Any]]], Any], str], ...]] = (
    (_set("numbers", artifact=-1), r"line 3, numbers\.artifact: must be from 0"),
    (_set("numbers", conversation="many"), r"line 3, numbers\.conversation: must be a whole number"),
    (lambda lines: lines[2].update(numbers=7), "line 3, numbers: must be numbers, which is an object"),
    (_drop("conversation", "created_by"), r"line 4, conversation\.created_by: is missing"),
    (_set("conversation", id=" spaced "), r"line 4, conversation\.id: must be written as 'spaced'"),
    (_set("conversation", title="x" * 201), r"line 4, conversation\.title: must have at most 200"),
    (_set("conversation", created_at="yesterday"), r"line 4, conversation\.created_at: must be a date or time"),
    (lambda lines: lines[3].update(conversation=[]), "line 4, conversation: must be Conversation, which is an object"),
    (_set("artifact", id="0"), r"line 6, artifact\.id: must be a whole number from 1"),
    (_set("artifact", path="../up"), r"line 6, artifact\.path: must not contain '\.\.'"),
    (_set("artifact", path="a\\b"), r"line 6, artifact\.path: must be written as 'a/b'"),
    (_set("artifact", content="no base64!"), "line 6: has an artifact whose content cannot be read"),
    (_set("artifact", content=None), "line 6: has an artifact whose content cannot be read"),
    (_set("artifact", sha256="0" * 64), "line 6: has an artifact whose content does not match its sha256"),
    (_set("artifact", size=7), "line 6: has an artifact whose content does not match its sha256"),
    (_put(b"x" * (ARTIFACT_BYTES + 1)), rf"line 6, artifact\.content: must have at most {ARTIFACT_BYTES} bytes"),
    (_set("artifact", conversation="nowhere"), "line 6: is an artifact of conversation nowhere of ann, which neither exists here"),
    (_set("scratchpad", agent="a b"), r"line 9, scratchpad\.agent: must be made of letters"),
    (_set("scratchpad", notes=[], users=[]), r"line 9, scratchpad\.notes: must not be empty"),
    (_set("scratchpad", notes=[{"written_at": "2026-01-01T00:00:00Z", "text": "\x00"}]), r"line 9, scratchpad\.text: .*NUL"),
    (_set("agent", settings={"limit": 0}), r"line 12, agent\.limit: must be from 1"),
    (_set("agent", updated_at=None), r"line 12, agent\.updated_at: is missing"),
    (lambda lines: lines.insert(5, {"tenant": HOME, "letter": {}}), "line 6, id: is missing"),
    (lambda lines: lines[1].update(tenant=GLOBAL_TENANT), "line 4: is listed under tenant global"),
)  # fmt: skip


class MovedWorkspaceConformance(Conformance):
    """Conversations, artifacts, scratchpads and settings of agents in an export."""

    @pytest.fixture
    def kept(self, root: OnRecord, clock: Clock) -> OnRecord:
        fill_workspace(root, clock)
        clock.tick()
        return root

    @pytest.fixture
    def heir(self, root: OnRecord) -> OnRecord:
        """The admin of an empty tenant in the same store, who does not run the store."""
        return root.as_caller(administrator("heir", tenant="afterwards", operator=False))

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "export.jsonl"

    def test_every_item_comes_back_as_it_was(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        lines = export_of(kept, file)
        done = heir.import_(str(file))
        assert (done.conversations, done.artifacts, done.scratchpads, done.agents) == (2, 3, 3, 2)
        assert (done.added, done.workspace_unchanged, done.conflicts) == (0, 0, ())
        assert workspace_of(store, "afterwards") == workspace_of(store)
        again = export_of(heir, file)
        assert again == [{**line, "tenant": "afterwards"} for line in lines]

    def test_what_was_imported_is_read_like_what_was_written(
        self, kept: OnRecord, heir: OnRecord, file: Path
    ) -> None:
        kept.export(str(file))
        heir.import_(str(file))
        looks: list[Callable[[OnRecord], Any]] = [
            lambda door: door.conversations(),
            lambda door: door.show_conversation("~ann/talk – 1"),
            lambda door: door.artifacts(),
            lambda door: [door.read_artifact(each.id) for each in door.artifacts().artifacts],
            lambda door: door.scratchpads(),
            lambda door: door.read_scratchpad("scout"),
            lambda door: door.read_scratchpad(),
            lambda door: door.show_agent("scout"),
            lambda door: door.show_agent("Planner_2"),
        ]
        for look in looks:
            assert look(heir) == look(kept)
        assert [file.raw for file in map(heir.read_artifact, "134")] == [b"second", RAW, b""]

    def test_numbers_go_on_where_they_were(self, kept: OnRecord, heir: OnRecord, file: Path) -> None:
        kept.export(str(file))
        heir.import_(str(file))
        for door in (kept, heir):
            assert door.register_conversation().conversation.id == "2"
            assert door.write_artifact("next.txt", "x", conversation="~bob/1").artifact.id == "5"

    def test_an_export_says_how_much_of_the_workspace_it_holds(self, kept: OnRecord, file: Path) -> None:
        done = kept.export(str(file))
        assert (done.conversations, done.artifacts, done.scratchpads, done.agents) == (2, 3, 3, 2)

    def test_the_workspace_imported_twice_change_nothing(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        kept.export(str(file))
        heir.import_(str(file))
        before = workspace_of(store, "afterwards")
        for door, tenant in ((heir, "afterwards"), (kept, HOME)):
            done = door.import_(str(file))
            assert (done.conversations, done.artifacts, done.scratchpads, done.agents) == (0, 0, 0, 0)
            assert (done.workspace_unchanged, done.conflicts) == (10, ())
            assert workspace_of(store, tenant) == before

    def test_an_item_that_stands_twice_in_a_file_is_taken_in_once(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        kept.export(str(file))
        rewrite(file, lambda lines: lines.extend([line for line in lines if "last_id" not in line][1:]))
        assert heir.import_(str(file)).workspace_unchanged == 10
        assert workspace_of(store, "afterwards") == workspace_of(store)

    def test_an_export_without_the_workspace_is_taken_in_as_before(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        kept.remember("a memory")
        kept.export(str(file))
        workspace = {"numbers", "conversation", "artifact", "scratchpad", "agent"}
        lines = [
            line
            for line in file.read_text(encoding="utf-8").splitlines()
            if not workspace & set(json.loads(line))
        ]
        file.write_text("\n".join(lines), encoding="utf-8")
        done = heir.import_(str(file))
        assert (done.added, done.conversations, done.workspace_unchanged) == (1, 0, 0)
        assert list(workspace_of(store, "afterwards")[1]) == []

    def test_an_export_holds_nothing_of_another_tenants_workspace(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        heir.register_conversation("own")
        assert [line.get("conversation", {}).get("id") for line in export_of(heir, file)] == [None, "own"]
        both = export_of(kept, file, all_tenants=True)
        assert {line["tenant"] for line in both if "conversation" in line} == {HOME, "afterwards"}
        with pytest.raises(Invalid, match="second tenant"):
            heir.import_(str(file))
        before = workspace_of(store), workspace_of(store, "afterwards")
        assert kept.import_(str(file), keep_tenants=True).workspace_unchanged == 11
        assert (workspace_of(store), workspace_of(store, "afterwards")) == before

    def test_only_an_admin_moves_the_workspace(self, kept: OnRecord, ann: OnRecord, file: Path) -> None:
        for attempt in (lambda: ann.export(str(file)), lambda: ann.import_(str(file))):
            with pytest.raises(Forbidden):
                attempt()

    @pytest.mark.parametrize(
        ("stand_in_the_way", "named"),
        [
            (
                lambda heir: heir.as_caller(replace(heir.caller, user="bob")).register_conversation("1"),
                "conversation 1 of bob, artifact 3, artifact 4",
            ),
            (lambda heir: heir.append_scratchpad("mine", agent="scout"), "scratchpad of scout"),
            (lambda heir: heir.set_agent("scout"), "settings of scout"),
        ],
    )
    def test_something_else_in_the_place_of_an_item_is_a_conflict(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store, clock: Clock,
        stand_in_the_way: Callable[[OnRecord], Any], named: str,
    ) -> None:  # fmt: skip
        kept.export(str(file))
        stand_in_the_way(heir)
        before = workspace_of(store, "afterwards")
        with pytest.raises(Conflict, match=named):
            heir.import_(str(file))
        assert workspace_of(store, "afterwards") == before
        done = heir.import_(str(file), skip_conflicts=True)
        assert done.conflicts == tuple(named.split(", "))
        held = workspace_of(store, "afterwards")[1]
        assert all(item in held for item in before[1])
        assert len(held) + len(done.conflicts) - len(before[1]) == 10

    def test_a_file_whose_number_or_path_is_taken_is_a_conflict(
        self, kept: OnRecord, heir: OnRecord, file: Path
    ) -> None:
        kept.export(str(file))
        rewrite(file, _without_files)
        heir.import_(str(file))
        heir.write_artifact("notes/plan.md", "another, under number five", conversation="~ann/talk – 1")
        kept.export(str(file))
        with pytest.raises(Conflict, match="artifact 1"):
            heir.import_(str(file))
        assert heir.import_(str(file), skip_conflicts=True).conflicts == ("artifact 1",)

    def test_a_memory_that_points_at_a_file_left_alone_is_left_alone_too(
        self, kept: OnRecord, heir: OnRecord, file: Path
    ) -> None:
        """Otherwise the memory would point to another file of the same id, and open it to whoever sees the memory."""
        kept.remember("see the plan", artifact="1")
        kept.remember("points nowhere")
        kept.export(str(file))
        heir.register_conversation("secret talk")
        heir.write_artifact("private.md", "not for others", conversation="secret talk")
        done = heir.import_(str(file), skip_conflicts=True)
        assert (done.added, done.conflicts) == (1, ("artifact 1", "1"))
        with pytest.raises(NotFound):
            heir.show("1")

    def test_a_line_that_is_no_sound_item_is_refused_by_file_and_line(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store
    ) -> None:
        kept.export(str(file))
        sound, before = file.read_bytes(), everything(store)
        for spoil, reason in _UNSOUND:
            file.write_bytes(sound)
            rewrite(file, spoil)
            with pytest.raises(Invalid, match=f"^export.jsonl, {reason}"):
                heir.import_(str(file))
        assert everything(store) == before
        assert workspace_of(store, "afterwards")[1] == []

    def test_secrets_are_taken_out_of_the_workspace_too(
        self, kept: OnRecord, heir: OnRecord, file: Path
    ) -> None:
        kept.export(str(file))
        note = {"written_at": "2026-01-01T00:00:00Z", "text": f"use {SECRET} for it"}

        def betray(lines: list[dict[str, Any]]) -> None:
            _first(lines, "conversation")["title"] = "x" * 150 + f" {SECRET}"
            _first(lines, "scratchpad")["notes"] = [note]
            _put(f"token {SECRET}".encode())(lines)

        rewrite(file, betray)
        heir.import_(str(file))
        assert "16C7e42F" not in json.dumps(export_of(heir, file))
        assert "[secret:" in heir.read_artifact("1").content
        assert heir.import_(str(file)).workspace_unchanged == 10

    def test_quotas_hold_for_an_import_as_well(
        self, kept: OnRecord, heir: OnRecord, file: Path, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept.export(str(file))
        for name, whose in (("CONVERSATION_BYTES", "conversation 1 of bob"), ("TENANT_BYTES", "this tenant")):
            with (
                monkeypatch.context() as patch,
                pytest.raises(Conflict, match=f"the artifacts of {whose} would take"),
            ):
                patch.setattr(restoring_workspace, name, 255)
                heir.import_(str(file))
            assert workspace_of(store, "afterwards")[1] == []
