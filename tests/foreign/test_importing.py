"""WHAT comes over from another system? Everything that it says, with its times, and a second time nothing new."""

import json
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.care.foreign import FORMATS, format_of, read
from onrecord.care.foreign.bringing import Brought, bring
from onrecord.care.foreign.pickled import Inert, data_of
from onrecord.errors import Invalid, OnRecordError
from onrecord.model.caller import Caller
from onrecord.model.limits import STATUSES

from . import make_samples as make

#: How each sample is made, its format, how many memories and relations it holds, and how many parts cannot be read.
SAMPLES = [
    (make.server_memory, "server-memory", 7, 0, 1),
    (make.mem0_export, "mem0", 3, 0, 0),
    (make.mem0_qdrant, "mem0", 2, 0, 0),
    (make.mem0_history, "mem0", 2, 0, 0),
    (make.notes, "markdown", 3, 2, 1),
    (make.chatgpt, "chatgpt", 1, 0, 0),
    (make.claude, "claude", 4, 0, 0),
    (make.graphiti, "graphiti", 3, 0, 1),
    (make.memory_service, "mcp-memory-service", 2, 1, 0),
    (make.langgraph, "langgraph", 3, 0, 0),
    (make.lines, "jsonl", 2, 0, 1),
    (make.table, "csv", 2, 0, 1),
]
EVERY = pytest.mark.parametrize(("made", "source", "memories", "relations", "unread"), SAMPLES)


@pytest.fixture
def door(words_alone: None, tmp_path: Path) -> Any:
    with connect(tmp_path / "store.db") as door:
        yield door


def brought(door: OnRecord, source: str, path: Path, **more: Any) -> Brought:
    return bring(door, source, str(path), **{"owner": "ann", "scope": "user", "dry_run": False, **more})


def held(door: OnRecord, **filters: Any) -> dict[str, Any]:
    return {each.id: each for each in door.browse(statuses=list(STATUSES), limit=1_000, **filters).memories}


@EVERY
def test_a_store_of_each_format_comes_over_once(
    door: OnRecord, tmp_path: Path, made: Any, source: str, memories: int, relations: int, unread: int
) -> None:
    path = made(tmp_path)
    assert format_of(str(path)) == source
    planned = brought(door, source, path, dry_run=True)
    assert (planned.new, planned.relations, planned.unread_in_all) == (memories, relations, unread), planned
    assert held(door) == {}
    done = brought(door, source, path)
    assert (done.new, done.relations, done.unread, done.differing) == (
        memories,
        relations,
        planned.unread,
        (),
    )
    first = held(door)
    assert len(first) == memories
    assert {each.tier for each in first.values()} == {"import"}
    assert {each.source for each in first.values()} == {source}
    assert all(
        each.metadata["imported"]["key"] and each.metadata["imported"]["place"] for each in first.values()
    )
    again = brought(door, source, path)
    assert (again.new, again.unchanged, again.differing) == (0, memories, ())
    assert held(door) == first
    assert make.KEY not in "".join(each.content for each in first.values())
    assert door.doctor().healthy


def test_every_format_has_a_sample() -> None:
    assert {source for _, source, *_ in SAMPLES} | {"basic-memory"} == set(FORMATS)


def test_names_of_relations_are_kept(door: OnRecord, tmp_path: Path) -> None:
    brought(door, "server-memory", make.server_memory(tmp_path))
    [works] = [each for each in held(door, entities=["Acme"]).values() if each.dimension == "relationship"]
    assert works.content == "Ann Smith works_at Acme"
    assert works.metadata["relation"] == {"from": "Ann Smith", "name": "works_at", "to": "Acme"}
    brought(door, "markdown", make.notes(tmp_path))
    note = held(door)["ann::markdown." + _of(door, "Refund policy")]
    assert [each["name"] for each in note.metadata["relations"]] == ["implements", "needs", "supports"]
    edges = {(each.relation, each.target) for each in door.relations(source=note.id).relations}
    assert edges == {
        ("relates_to", "ann::markdown." + _of(door, "Fiscal year")),
        ("supports", "ann::markdown.Plain"),
    }


def _of(door: OnRecord, title: str) -> str:
    return next(id for id, each in held(door).items() if each.title == title).removeprefix("ann::markdown.")


def test_what_ended_there_is_past_here(door: OnRecord, tmp_path: Path) -> None:
    brought(door, "graphiti", make.graphiti(tmp_path))
    porto = held(door)["ann::graphiti.e2"]
    assert (porto.status, porto.valid_from.year, porto.valid_to.year) == ("archived", 2024, 2025)
    assert porto.entities == ("Ann",)
    then = door.browse(as_of="2024-06-01").memories
    assert [each.id for each in then] == ["ann::graphiti.e2"]


def test_what_comes_for_one_user_leaves_the_ids_to_the_others(door: OnRecord, tmp_path: Path) -> None:
    """Nobody learns by trying an id what has come for another, and each can have the same store."""
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({"id": "x", "content": "A private note."}))
    assert brought(door, "jsonl", path).new == brought(door, "jsonl", path, owner="bob").new == 1
    assert set(held(door)) == {"ann::jsonl.x", "bob::jsonl.x"}
    eve = door.as_caller(Caller(tenant=door.caller.tenant, user="eve"))
    assert eve.remember("Hers.", id="jsonl.x").memory.id == "jsonl.x"
    # What all of the tenant see has the id alone.
    path.write_text(json.dumps({"id": "y", "content": "For all."}))
    brought(door, "jsonl", path, scope="tenant")
    assert eve.show("jsonl.y").memory.content == "For all."


def test_the_three_forms_of_mem0_are_one_store(door: OnRecord, tmp_path: Path) -> None:
    assert brought(door, "mem0", make.mem0_qdrant(tmp_path)).new == 2
    assert brought(door, "mem0", make.mem0_history(tmp_path)).new == 0
    export = brought(door, "mem0", make.mem0_export(tmp_path))
    assert (export.new, export.unchanged, export.secrets) == (1, 2, 1)


def test_only_the_branch_that_was_shown_comes_of_a_chat(door: OnRecord, tmp_path: Path) -> None:
    brought(door, "chatgpt", make.chatgpt(tmp_path))
    [said] = held(door).values()
    assert said.content == "Asked: When does our fiscal year start?\n\nAnswered: In April."


def test_what_was_changed_here_stays(door: OnRecord, tmp_path: Path) -> None:
    path = make.lines(tmp_path)
    brought(door, "jsonl", path)
    [id] = [id for id, each in held(door).items() if "short" in each.content]
    door.revise(id, content="Lists are very short.")
    again = brought(door, "jsonl", path)
    assert (again.new, again.differing) == (0, (id,))
    assert door.show(id).memory.content == "Lists are very short."
    door.retire(id)
    assert brought(door, "jsonl", path).new == 0


def test_a_long_text_comes_in_parts(door: OnRecord, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"id": "x", "content": "größe " * 30_000}))
    assert brought(door, "jsonl", path).new == 4
    assert (
        "".join(held(door)[f"ann::jsonl.x{end}"].content for end in ("", ".part-2", ".part-3", ".part-4"))
        == "größe " * 30_000
    )


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"{}",
        b"[]",
        b'{"a": 1}',
        b"SQLite format 3\x00",
        b"[[[[",
        b'{"results": [1, null]}',
    ],
)
def test_a_file_of_another_kind_is_refused_or_named(tmp_path: Path, source: str, content: bytes) -> None:
    for name in ("file", "file.json", "file.md", "file.zip"):
        path = tmp_path / name
        path.write_bytes(content)
        try:
            for each in read(source, str(path)):
                assert each.place
        except OnRecordError as refused:
            assert "path" in str(refused) or str(path) in str(refused) or name in str(refused)


@pytest.mark.parametrize(
    "raw",
    [b"cos\nsystem\n(S'touch ran'\ntR.", b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x09touch ran\x85R."],
)
def test_nothing_in_a_pickled_value_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(data_of(raw), Inert)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(Invalid, match="must be one of server-memory"):
        list(read("notion", "x"))
