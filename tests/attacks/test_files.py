"""WHO can read or name a file of this machine? Its owner at the command line, and no one else."""

import os
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from onrecord import OnRecord, connect, private_files
from onrecord.errors import OnRecordError
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.full import TOOLS
from onrecord.surfaces.rest.transfer import ImportTransfer
from tests.faces.conftest import model, write_models
from tests.surfaces.conftest import Shell, served, shell
from tests.surfaces.test_mcp import Agent, introduce
from tests.surfaces.test_mcp_transports import started

__all__ = ["introduce", "served", "shell"]
Meet = Callable[[Client], Agent]


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    """A person whose files everybody reads unless someone takes care."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Everything in a folder that others can do something with."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in folder.rglob("*")
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }


@pytest.mark.parametrize("named", ["new/deep/store.db", "new/deep/yaml/memories.yaml"])
def test_a_store_and_what_lies_beside_it_is_its_owners_alone(tmp_path: Path, named: str) -> None:
    with connect(tmp_path / named, embedder="none") as door:
        door.remember("Revenue is net of refunds.")
        door.create_key(label="agent")
        assert modes(tmp_path) == {}
        assert len(list(tmp_path.rglob("*-wal"))) >= 1
    assert modes(tmp_path) == {}


def test_what_processes_count_in_and_what_is_sent_lies_in_files_of_their_owner_alone(
    tmp_path: Path, served: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, int]] = []
    real = ImportTransfer._read

    def read(self: ImportTransfer, request: Any, door: OnRecord, path: Path) -> Any:
        assert path.stat().st_size
        seen.append(modes(path.parent.parent))
        return real(self, request, door, path)

    monkeypatch.setattr(ImportTransfer, "_read", read)
    (spool := tmp_path / "spool").mkdir(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    server = served(rates_file=str(tmp_path / "new" / "rates.db"), rate_limit="100", embedder="none")
    lines = server.client.get("/v1/export").content
    sent = server.client.post("/v1/import", content=lines, headers={"Content-Type": "application/jsonl"})
    assert (sent.status_code, seen, list(spool.iterdir())) == (200, [{}], []), sent.text
    assert (tmp_path / "new" / "rates.db").exists()
    assert modes(tmp_path) == {}


def test_a_folder_that_was_there_is_left_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(0o755)
    connect(shared / "store.db", embedder="none").close()
    assert modes(tmp_path) == {"shared": 0o755}


@pytest.mark.parametrize("word", ["export", "backup"])
def test_what_is_written_to_a_path_is_its_owners_alone(
    db: str, tmp_path: Path, shell: Shell, word: str
) -> None:
    (tmp_path / "copy").touch(0o644)
    assert shell("--db", db, "remember", "Revenue is net of refunds.").code == 0
    assert shell("--db", db, word, "copy").code == 0
    assert "copy" not in modes(tmp_path)


def test_a_link_laid_in_the_way_of_an_export_is_not_followed(tmp_path: Path, shell: Shell) -> None:
    shell("remember", "Revenue is net of refunds.")
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    (tmp_path / f".all.jsonl.{os.getpid()}.part").symlink_to(mine)
    assert shell("export", "all.jsonl").code == 0
    assert mine.read_text() == "mine"
    assert "Revenue" in (tmp_path / "all.jsonl").read_text()


@pytest.mark.parametrize("db", ["old.db", "old/memories.yaml"])
def test_a_store_that_others_can_read_is_told_of_once_and_closed_when_asked(
    tmp_path: Path, shell: Shell, caplog: pytest.LogCaptureFixture, db: str
) -> None:
    connect(db, embedder="none").close()
    (tmp_path / db).touch()
    for path in tmp_path.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    private_files._warned_of.clear()
    told = [shell("--db", db, "status").code for _ in range(2)]
    assert told == [0, 0]
    assert [each.message.count("doctor --fix") for each in caplog.records] == [1]
    assert Path(db).name in caplog.text
    looked = shell("--db", db, "doctor")
    assert looked.code == 0
    assert "Others on this machine can read" in looked.out
    fixed = shell("--db", db, "doctor", "--fix", "--json").json
    assert any(each.endswith(Path(db).name) for each in fixed["closed_files"])
    assert shell("--db", db, "doctor", "--json").json["open_files"] == []
    assert stat.S_IMODE((tmp_path / db).stat().st_mode) == 0o600


def test_a_file_is_closed_by_whoever_runs_the_store_and_by_no_key(served: Callable[..., Any]) -> None:
    server = served(embedder="none")
    key = server.make_key(permissions=sorted(PERMISSIONS), actor="person")
    path = Path(server.config.db)
    path.chmod(0o644)
    with server.connect(key) as admin:
        for fix in (True, False):
            told = admin.post("/v1/doctor", json={"fix": fix}).json()
            assert (told["open_files"], told["closed_files"]) == ([], [])
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


#: What would write a file of this machine, or end a tenant, if a model could call it.
NEVER = {
    "export": {"path": "written"},
    "backup": {"path": "written"},
    "import": {"path": "written"},
    "erase_tenant": {"name": "default", "confirm": "default"},
}


@pytest.mark.parametrize("tool", sorted(NEVER))
def test_no_model_writes_or_reads_a_path_or_ends_a_tenant(tmp_path: Path, introduce: Meet, tool: str) -> None:
    with closing(connect(tmp_path / "stdio.db", embedder="none")) as door:
        door.remember("Revenue is net of refunds.")
        before = set(tmp_path.iterdir())
        agent = introduce(Client(started(tmp_path, "--face", "full")))
        assert tool not in agent.tools
        with pytest.raises(MCPError, match="Unknown tool"):
            agent.call(tool, **NEVER[tool])
        assert not (tmp_path / "written").exists()
        assert before <= set(tmp_path.iterdir())
        assert door.show("1").memory.content == "Revenue is net of refunds."


@pytest.mark.parametrize(("face", "tool"), [("full", "ingest"), ("slayer", "ingest_datasource_models")])
def test_a_model_lets_the_catalog_learn_from_what_was_set_up_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, introduce: Meet, face: str, tool: str
) -> None:
    for name in ("given", "private"):
        write_models(tmp_path / name, [model(name, "orders", "id amount")])
    monkeypatch.setenv("ONRECORD_SOURCES", str(tmp_path / "given"))
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    agent = introduce(Client(started(tmp_path, "--face", face)))
    assert "onrecord ingest" in agent.refused(tool, path=str(tmp_path / "private"))
    assert not agent.call(tool, path=str(tmp_path / "given")).is_error


def test_each_tool_tells_the_truth_of_what_it_does() -> None:
    told = {tool.name: tool.described().annotations for tool in TOOLS}
    changing = {tool.name for tool in TOOLS if tool.operation.effect != "read"}
    assert {name for name, each in told.items() if each and not each.read_only_hint} == changing
    losing = {name for name, each in told.items() if each and each.destructive_hint}
    assert losing >= {"forget", "delete_artifact", "clear_scratchpad", "write_artifact", "revoke_key"}
    assert losing.isdisjoint({"remember", "revise", "retire", "relate", "append_scratchpad", "recall"})


def test_what_calls_itself_read_only_changes_nothing(memory: OnRecord) -> None:
    """Every tool that says so, called with what it needs, leaves each row of the store as it was."""
    memory.remember("Revenue is net of refunds.")
    memory.register_conversation("c1")
    memory.write_artifact("a.md", "text", conversation="c1")
    needed = {
        "question": "revenue",
        "id": "1",
        "agent": "a",
        "model": "orders",
        "since": "2026-01-01T00:00:00Z",
    }
    lines = [_counted(memory)]
    for tool in TOOLS:
        if tool.operation.effect == "read":
            given = {name: needed[name] for name in tool.takes.get("required", ()) if name in needed}
            # Some have nothing to show for it.
            with suppress(OnRecordError):
                tool.handle(memory, given)
            lines.append(_counted(memory))
    assert len(set(lines)) == 1


def _counted(door: OnRecord) -> str:
    return repr(sorted(door._store.rows_of("default").items()))


def test_the_command_makes_its_files_so_too(tmp_path: Path) -> None:
    """As a person runs it, in a process of its own."""
    done = subprocess.run(
        [*Shell.command, "--db", "deep/down/store.db", "remember", "Tea is hot."],
        cwd=tmp_path,
        env=os.environ
        | {"ONRECORD_EMBEDDER": "none", "PYTHONPATH": str(Path(private_files.__file__).parents[1])},
        check=True,
        capture_output=True,
        umask=0,
    )
    assert b"Remembered" in done.stdout
    assert modes(tmp_path) == {}


@pytest.mark.skipif(not hasattr(os, "seteuid") or os.geteuid() != 0, reason="root alone can be someone else")
def test_a_file_that_its_owner_may_only_read_is_replaced_by_one_that_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, someone = tmp_path / "theirs", 65_534
    folder.mkdir()
    os.chown(folder, someone, someone)
    # From inside, since the folders above are not theirs to enter.
    monkeypatch.chdir(folder)
    os.seteuid(someone)
    try:
        path = Path("host.json")
        path.write_text("before")
        path.chmod(0o400)
        with private_files.replacing(path) as partial:
            partial.write_text("after")
            partial.chmod(0o400)
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("after", 0o400)
    finally:
        os.seteuid(0)
