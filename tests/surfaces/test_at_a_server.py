"""DOES a server serve the command line? The commands and `onrecord mcp` use its store; what cannot be done there says so."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters

from onrecord.config import load
from onrecord.errors import Invalid
from tests.faces.checkstack_people import Person
from tests.forked import relayed

from .conftest import COMMAND, SOURCE, Served, Shell
from .test_mcp import ERAS, introduce, said
from .test_mcp_transports import Meet, whole_life

__all__ = ["introduce"]

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def far(shell: Shell, server: Served, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell whose commands go to a server, and which has no store."""
    monkeypatch.delenv("ONRECORD_DB")
    monkeypatch.setenv("ONRECORD_URL", server.url)
    return shell


def test_commands_answer_as_if_the_store_were_here(far: Shell, tmp_path: Path) -> None:
    saved = far("remember", "Revenue is net of refunds.", "--tag", "finance")
    assert (saved.code, saved.out) == (0, "Remembered #1  Revenue is net of refunds.\n"), saved.err
    assert "net of refunds" in far("recall", "what is revenue?").out
    assert far("show", "1", "--json").json["memory"]["tags"] == ["finance"]
    assert far("show", "7").code == 3
    assert far("export", "out.jsonl").code == 0
    assert "net of refunds" in (tmp_path / "out.jsonl").read_text()
    hooked = far("hook", json.dumps({"hook_event_name": "Stop", "session_id": "s1"}))
    assert hooked.code == 0, hooked.err


def test_other_stores_come_over_and_folders_are_edited_at_a_server(far: Shell, tmp_path: Path) -> None:
    rows = [{"content": "Revenue is net of refunds."}, {"content": "Deploys are frozen on Fridays."}]
    Path("facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "owner: is required at a server" in far("import", "--from", "jsonl", "facts.jsonl").err
    words = ("import", "--from", "jsonl", "facts.jsonl", "--owner", "ann")
    assert far(*words).out.startswith("2 memories new")
    assert far(*words).out.startswith("0 memories new, 2 here already")
    assert far("folder", "write", "memories").out == "Wrote 2 memories into memories.\n"
    for path in (tmp_path / "memories").glob("*.md"):
        path.write_text(path.read_text().replace("Fridays", "Mondays"))
    assert far("folder", "apply", "memories").out.startswith("revise  ann%3A%3Ajsonl.")
    assert far("folder", "plan", "memories").out == "memories and the store agree.\n"
    assert "frozen on Mondays" in far("browse").out


@pytest.mark.parametrize(
    "words", [["backup", "copy.db"], ["migrate"], ["work", "--once"], ["serve"], ["slash", "text"]]
)
def test_what_needs_the_machine_of_the_store_says_so(far: Shell, words: list[str], tmp_path: Path) -> None:
    Path("text").write_text("/mem list")
    told = far(*words)
    assert told.code in (2, 4)
    assert "only at the machine of" in told.err
    assert list(tmp_path.rglob("*.db")) == [tmp_path / "served.db"]


@pytest.mark.parametrize(
    ("words", "settings", "code", "reason"),
    [
        (["remember", "x"], {"ONRECORD_URL": NOWHERE}, 6, f"No answer from {NOWHERE}: [Errno 111] Connection refused."),
        (["status"], {"ONRECORD_KEY": "onr_wrong"}, 4, "refuses the key in ONRECORD_KEY"),
        (["--user", "bob", "status"], {}, 2, "user: is for the key to say"),
        (["--db", "x.db", "--url", NOWHERE, "status"], {}, 2, "give one of the two"),
        (["status"], {"ONRECORD_DB": "x.db"}, 2, "give one of the two"),
        (["--url", "ftp://here", "status"], {}, 2, "must be the address of a server"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(
    far: Shell,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    settings: dict[str, str],
    code: int,
    reason: str,
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    told = far(*words)
    assert (told.code, reason in told.err) == (code, True), told.err
    assert "onr_wrong" not in told.out + told.err


def test_a_server_with_keys_asks_for_one(far: Shell, server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    key = server.make_key(user="bob", permissions=["memory.read"])
    told = far("status")
    assert (told.code, "needs a key: set ONRECORD_KEY" in told.err) == (4, True), told.err
    monkeypatch.setenv("ONRECORD_KEY", key)
    assert far("browse").code == 0
    assert far("remember", "Deploys are frozen.").code == 4
    assert key not in far("config").out


def test_an_older_server_is_said_to_be_one(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        url = f"http://127.0.0.1:{line.getsockname()[1]}"
        problem = {
            "type": "urn:onrecord:not-found",
            "detail": "There is nothing at this address. See /openapi.json.",
        }
        body = json.dumps(problem)
        if os.fork() == 0:
            asked, _ = line.accept()
            asked.recv(65_536)
            head = f"HTTP/1.1 404 Not Found\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            asked.sendall((head + body).encode())
            os._exit(0)
        told = shell("--url", url, "moments")
        os.wait()
    assert (told.code, "does not know moments: it is of an older version" in told.err) == (6, True), told.err


@pytest.mark.parametrize(
    ("environment", "file", "given", "used"),
    [
        ({"ONRECORD_URL": NOWHERE}, "", {}, NOWHERE),
        ({"ONRECORD_URL": NOWHERE}, 'db = "x.db"', {}, NOWHERE),
        ({"ONRECORD_DB": "x.db"}, f'url = "{NOWHERE}"', {}, None),
        ({"ONRECORD_URL": NOWHERE}, "", {"db": "x.db"}, None),
        ({"ONRECORD_DB": "x.db"}, "", {"url": NOWHERE}, NOWHERE),
        ({}, f'url = "{NOWHERE}"\ndb = "x.db"', {}, Invalid),
    ],
)
def test_a_server_or_a_store_whichever_is_named_more_closely(
    tmp_path: Path, environment: dict[str, str], file: str, given: dict[str, str], used: object
) -> None:
    (tmp_path / "config.toml").write_text(file)
    environment = {"ONRECORD_CONFIG": str(tmp_path / "config.toml"), **environment}
    if used is Invalid:
        with pytest.raises(Invalid, match="give one of the two"):
            load(environment, **given)
        return
    config = load(environment, **given)
    shown = {each.name: each.value for each in config.settings}
    assert (config.url, shown["url"], shown["db"] is None) == (used, used, used is not None)


def bridged(folder: Path, *words: str, **settings: str) -> StdioServerParameters:
    """`onrecord mcp` as a host starts it that knows no more than an address and a key."""
    program, *rest = relayed(COMMAND[-1], "mcp", *words)
    environment = {name: os.environ[name] for name in os.environ if name.startswith("ONRECORD_")}
    environment |= {"PYTHONPATH": SOURCE, **settings}
    return StdioServerParameters(command=program, args=rest, env=environment, cwd=folder)


@pytest.mark.parametrize("era", ERAS)
def test_a_host_that_starts_programs_uses_the_store_of_a_server(
    server: Served, tmp_path: Path, introduce: Meet, era: str
) -> None:
    key = server.make_key(user="bob", actor="agent")
    starts = bridged(tmp_path, "--url", server.url, "--in-conversation", "größen", ONRECORD_KEY=key)
    agent = introduce(Client(starts, mode=era))
    whole_life(agent)
    agent.did("memory_save", content="größe: steht in cm")
    assert "in cm" in said(agent.call("memory_search", question="größe"))
    with pytest.raises(MCPError, match="Unknown tool"):
        agent.call("größe")
    saved = server.parts.door.browse(limit=1).memories[0]
    assert (saved.owner, saved.origin, saved.conversation) == ("bob", "agent", "größen")
    assert list(tmp_path.glob("*.db")) == [tmp_path / "served.db"]


def test_a_person_is_asked_through_a_bridge(server: Served, tmp_path: Path, introduce: Meet) -> None:
    key, person = server.make_key(user="bob", actor="agent"), Person("no")
    starts = bridged(tmp_path, "--url", server.url, ONRECORD_KEY=key)
    agent = introduce(Client(starts, elicitation_callback=person))
    id = agent.did("memory_save", content="Left by an agent.")["id"]
    assert agent.did("memory_forget", id=id)["erased"] is False
    person.answer = "yes"
    assert agent.did("memory_forget", id=id)["erased"] is True
    assert len(person.asked) == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--url", NOWHERE], "No answer from"),
        ([], "wants a key: set ONRECORD_KEY"),
        ([], "refuses the key in ONRECORD_KEY"),
    ],
)
def test_a_host_is_told_why_a_server_does_not_answer(
    server: Served, tmp_path: Path, words: list[str], reason: str
) -> None:
    key = server.make_key(user="bob")
    shown = {"ONRECORD_KEY": "onr_wrong"} if "refuses" in reason else {}
    hello = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {}}
    starts = bridged(tmp_path, *words, **{"ONRECORD_URL": server.url, **shown})
    said = subprocess.run(
        [starts.command, *starts.args],
        input=f"{json.dumps(hello)}\nnonsense\n".encode(),
        env={**os.environ, **(starts.env or {})},
        capture_output=True,
        check=True,
    )
    refused, unread = map(json.loads, said.stdout.splitlines())
    assert (refused["id"], reason in refused["error"]["message"]) == ("a", True), refused
    assert unread == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "This is not JSON."}}
    assert key not in said.stdout.decode()
