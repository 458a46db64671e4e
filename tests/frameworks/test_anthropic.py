"""DOES the memory tool say what its own client says, word for word? And what its files do here that they do not do on a disk."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic")

from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from onrecord import OnRecord
from onrecord.errors import Invalid
from onrecord.frameworks.anthropic import AsyncMemoryTool, MemoryTool

FILE = "/memories/notes.md"

#: What a model does in a session, as it sends it.
SESSION: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": FILE},
    {"command": "create", "path": FILE, "file_text": "one\ntwo\nthree\n\nfive — 🦉\ntwo"},
    {"command": "create", "path": FILE, "file_text": "again"},
    {"command": "create", "path": "/memories/empty.txt", "file_text": ""},
    {"command": "create", "path": "/memories/blank.txt", "file_text": "\n \n"},
    {"command": "create", "path": "/memories/a/b/c/deep.md", "file_text": "x" * 1536},
    {"command": "create", "path": "/memories/a/first.md", "file_text": "no newline at the end"},
    {"command": "create", "path": "/memories/a/.hidden", "file_text": "hidden"},
    {"command": "create", "path": "/memories/a", "file_text": "a file where a folder is"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/a"},
    {"command": "view", "path": "/memories/a/b"},
    {"command": "view", "path": FILE},
    {"command": "view", "path": FILE, "view_range": [2, 3]},
    {"command": "view", "path": FILE, "view_range": [3, -1]},
    {"command": "view", "path": FILE, "view_range": [0, 99]},
    {"command": "view", "path": FILE, "view_range": [9, 12]},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "view", "path": "/memories/blank.txt"},
    {"command": "view", "path": "/memories/a/.hidden"},
    {"command": "str_replace", "path": FILE, "old_str": "three", "new_str": "3\nthree and a half"},
    {"command": "str_replace", "path": FILE, "old_str": "two", "new_str": "2"},
    {"command": "str_replace", "path": FILE, "old_str": "TWO", "new_str": "2"},
    {"command": "str_replace", "path": FILE, "old_str": "one\n", "new_str": ""},
    {"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "y"},
    {"command": "str_replace", "path": "/memories/none", "old_str": "x", "new_str": "y"},
    {"command": "insert", "path": FILE, "insert_line": 0, "insert_text": "zero\n"},
    {"command": "insert", "path": FILE, "insert_line": 7, "insert_text": "the end"},
    {"command": "insert", "path": FILE, "insert_line": 2, "insert_text": "between\n\n"},
    {"command": "insert", "path": FILE, "insert_line": 99, "insert_text": "beyond"},
    {"command": "insert", "path": FILE, "insert_line": -1, "insert_text": "before"},
    {"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"},
    {"command": "insert", "path": "/memories/none", "insert_line": 0, "insert_text": "x"},
    {"command": "insert", "path": "/memories/empty.txt", "insert_line": 0, "insert_text": "no longer"},
    {"command": "view", "path": FILE},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "rename", "old_path": FILE, "new_path": "/memories/a/first.md"},
    {"command": "rename", "old_path": "/memories/none", "new_path": "/memories/new"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/new"},
    {"command": "rename", "old_path": FILE, "new_path": "/memories/moved/here.md"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/moved/a"},
    {"command": "view", "path": "/memories/moved"},
    {"command": "view", "path": "/memories/moved/here.md"},
    {"command": "view", "path": FILE},
    {"command": "create", "path": FILE, "file_text": "a new one"},
    {"command": "view", "path": FILE},
    {"command": "delete", "path": "/memories/none"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": FILE},
    {"command": "delete", "path": FILE},
    {"command": "delete", "path": "/memories/moved/a"},
    {"command": "view", "path": "/memories/moved/a"},
    {"command": "view", "path": "/memories/moved"},
    {"command": "view", "path": "/elsewhere"},
    {"command": "create", "path": "notes.md", "file_text": "x"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "delete", "path": "/memories/../outside"},
]
#: What a disk gives for the size of a directory is of that disk.
_SIZE_OF_DIRECTORY = re.compile(r"^\S+\t(?=/memories(?:/\S*/|(?:/a|/a/b|/moved)?)$)", re.MULTILINE)


def answer(tool: Any, command: dict[str, Any]) -> str:
    try:
        return f"ok: {tool.call(command)}"
    except ToolError as problem:
        return f"error: {problem}"


def test_a_session_gets_the_same_words_as_from_the_tools_own_client(door: OnRecord, tmp_path: Path) -> None:
    ours, theirs = MemoryTool(door), BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    assert ours.to_dict() == theirs.to_dict()
    for command in SESSION:
        mine, reference = answer(ours, command), answer(theirs, command)
        assert _SIZE_OF_DIRECTORY.sub("", mine) == _SIZE_OF_DIRECTORY.sub("", reference), command


def test_an_edit_is_a_version_and_a_move_keeps_the_memory(door: OnRecord, clock: Any) -> None:
    tool = MemoryTool(door)
    tool.call({"command": "create", "path": FILE, "file_text": "Refunds take five days."})
    (held,) = door.browse().memories
    assert (held.title, held.scope, held.source) == ("notes.md", "user", "memories")
    then = clock.now
    clock.tick(hours=1)
    tool.call({"command": "str_replace", "path": FILE, "old_str": "five", "new_str": "seven"})
    tool.call({"command": "rename", "old_path": FILE, "new_path": "/memories/shop/refunds.md"})
    assert door.recall("How long does a refund take?").hits[0].memory.id == held.id
    assert door.show(held.id, known_at=then).memory.content == "Refunds take five days."
    versions = door.history(held.id).versions
    assert [each.memory.title for each in versions] == ["notes.md", "notes.md", "shop/refunds.md"]

    # A new file where the first one was is another memory, whatever becomes of either.
    tool.call({"command": "create", "path": FILE, "file_text": "Something else."})
    tool.call({"command": "delete", "path": "/memories/shop"})
    assert door.show(held.id).memory.status == "archived"
    tool.call({"command": "delete", "path": FILE})
    tool.call({"command": "create", "path": FILE, "file_text": "A third."})
    assert [each.content for each in door.browse().memories] == ["A third."]
    assert tool.clear_all_memory() == "All memory cleared"
    assert (door.browse().memories, door.browse(statuses=["archived"], count=True).total) == ((), 3)


@pytest.mark.parametrize(
    "path",
    [
        "/memories/..",
        "/memories/a/../../b",
        "/memories/./../x",
        "/memoriesfake/x",
        "/etc/passwd",
        "memories/x",
        "/memories/a\x00b",
        "/memories/a\u202eb",
        "/memories/a\u200bb",
        "/memories/a\nb",
    ],
)
def test_a_path_that_leads_out_or_cannot_be_read_is_refused_by_every_command(
    door: OnRecord, path: str
) -> None:
    tool = MemoryTool(door)
    tool.call({"command": "create", "path": FILE, "file_text": "x"})
    for command in (
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/new"},
        {"command": "rename", "old_path": FILE, "new_path": path},
    ):
        with pytest.raises(ToolError, match=r"Path|path"):
            tool.call(command)
    assert [each.content for each in door.browse().memories] == ["x"]


def test_what_a_disk_would_break_on_is_said_plainly(door: OnRecord) -> None:
    tool = MemoryTool(door)
    tool.call({"command": "create", "path": FILE, "file_text": "x"})
    below = {"command": "create", "path": f"{FILE}/below", "file_text": "x"}
    assert answer(tool, below) == f"error: The path {FILE} is a file, so nothing can be in it."
    into = {"command": "rename", "old_path": FILE, "new_path": f"{FILE}/x"}
    assert answer(tool, into) == f"error: Cannot move {FILE} into itself, to {FILE}/x"
    large = {"command": "create", "path": "/memories/large", "file_text": "x" * 70_000}
    assert "would have 70000 bytes, and at most 65536 fit" in answer(tool, large)
    secret = {"command": "create", "path": "/memories/secret", "file_text": "password=hunter2hunter2"}
    assert answer(tool, secret).endswith("\nSecrets in it were not kept: each was replaced by [secret:…].")
    assert "hunter2" not in answer(tool, {"command": "view", "path": "/memories/secret"})
    with pytest.raises(Invalid):
        MemoryTool(door, scope="session")


def test_files_are_of_one_user_or_of_all(door: OnRecord, bob: OnRecord, admin: OnRecord) -> None:
    for who, each in (("ann", door), ("bob", bob), ("eve", admin)):
        made = answer(MemoryTool(each), {"command": "create", "path": FILE, "file_text": f"of {who}"})
        assert made == f"ok: File created successfully at: {FILE}"
    for who, each in (("ann", door), ("bob", bob), ("eve", admin)):
        assert answer(MemoryTool(each), {"command": "view", "path": FILE}).endswith(f"\tof {who}")
        assert answer(MemoryTool(each), {"command": "view", "path": "/memories"}).count("notes.md") == 1
    MemoryTool(door, scope="tenant").call({"command": "create", "path": FILE, "file_text": "of all"})
    assert answer(MemoryTool(bob, scope="tenant"), {"command": "view", "path": FILE}).endswith("\tof all")
    # What a person wrote, their agent may only propose to change, and is told so.
    agent = MemoryTool(door.as_caller(replace(door.caller, actor="agent")))
    edit = {"command": "str_replace", "path": FILE, "old_str": "ann", "new_str": "someone"}
    assert "waits for a person to approve it" in answer(agent, edit)


def test_of_several_who_create_one_file_at_once_one_does_and_no_edit_is_lost(door: OnRecord) -> None:
    tool = MemoryTool(door)
    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(
                lambda n: answer(tool, {"command": "create", "path": FILE, "file_text": f"by {n}\n"}),
                range(4),
            )
        )
        assert sum(each.startswith("ok") for each in made) == 1
        winner = next(n for n, each in enumerate(made) if each.startswith("ok"))
        edits = [
            {"command": "insert", "path": FILE, "insert_line": 1, "insert_text": f"line {n}"}
            for n in range(3)
        ]
        assert all(each.startswith("ok") for each in pool.map(lambda edit: answer(tool, edit), edits))
    (held,) = door.browse().memories
    assert held.content.startswith(f"by {winner}\n")
    assert sorted(held.content.split("\n")[1:-1]) == ["line 0", "line 1", "line 2"]


def test_an_edit_of_a_file_that_could_not_move_is_kept_where_it_was(
    door: OnRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, to, browse, done = MemoryTool(door), "/memories/new.md", door.browse, []

    def others_first(**how: Any) -> Any:
        # The look whether another came to the same place: one has, and someone edits what was moved.
        if how.get("limit") == 2 and not done:
            done.append(tool.call({"command": "insert", "path": to, "insert_line": 1, "insert_text": "more"}))
            tags = browse(tags=how["tags"], **tool._shelf.where()).memories[0].tags
            door.remember(
                "another", scope="user", tags=tags, metadata={"address": ["new.md"]}, title="new.md"
            )
        return browse(**how)

    tool.call({"command": "create", "path": FILE, "file_text": "one\n"})
    monkeypatch.setattr(door, "browse", others_first)
    renamed = answer(tool, {"command": "rename", "old_path": FILE, "new_path": to})
    assert (renamed, len(done)) == (f"error: The destination {to} already exists", 1)
    assert answer(tool, {"command": "view", "path": FILE}).endswith("     1\tone\n     2\tmore\n     3\t")
    assert answer(tool, {"command": "view", "path": to}).endswith("\tanother")


def test_async_programs_get_the_same(door: OnRecord) -> None:
    import asyncio

    async def use() -> list[Any]:
        tool = AsyncMemoryTool(door, scope="tenant")
        commands = SESSION[2:4] + SESSION[13:15] + SESSION[21:22] + SESSION[27:28]
        told: list[Any] = []
        for command in [*commands, {"command": "rename", "old_path": FILE, "new_path": "/memories/x"}]:
            try:
                told.append(await tool.call(command))
            except ToolError as problem:
                told.append(str(problem))
        told.append(await tool.call({"command": "delete", "path": "/memories/x"}))
        told.append(await tool.clear_all_memory())
        return told

    told = asyncio.run(use())
    assert json.dumps(told).count(FILE) >= 4
    assert told[-2:] == ["Successfully deleted /memories/x", "All memory cleared"]
