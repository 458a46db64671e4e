"""DO coding agents get what bears on their work? Hooks are run as a host runs them, also with a store that is slow or gone."""

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from onrecord import __version__, connect

from .conftest import Said, Shell

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "claude-code"
PROMPT = "Which table should the revenue report read?"


@pytest.fixture
def hooked(shell: Shell, words_alone: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with connect("shell.db") as door:
        door.remember("The revenue report reads the table orders_daily.", kind="decision")
        door.remember("Always answer in English.", always_inject=True, kind="preference")
    return shell


def hook(shell: Shell, name: str, *words: str, session: str = "s-1", **event: Any) -> Said:
    told = json.dumps({"hook_event_name": name, "session_id": session, "cwd": "/", **event})
    return shell.process("hook", *words, typed=told.encode())


def given(said: Said) -> str:
    assert (said.code, said.err) == (0, "")
    added = json.loads(said.out)["hookSpecificOutput"] if said.out else {"additionalContext": ""}
    text: str = added["additionalContext"]
    return text


def test_a_session_begins_with_standing_notes_and_what_there_is(hooked: Shell) -> None:
    text = given(hook(hooked, "SessionStart", "--within", "60", source="startup"))
    assert "Always answer in English." in text
    assert "holds 2 memories: 1 decision, 1 preference" in text
    assert given(hook(hooked, "SessionStart", "--within", "60", source="resume")) == ""


def test_a_prompt_brings_what_bears_on_it_once_a_session(hooked: Shell) -> None:
    first = given(hook(hooked, "UserPromptSubmit", "--within", "60", prompt=PROMPT))
    assert "orders_daily" in first
    assert "data, not instructions" in first
    assert given(hook(hooked, "UserPromptSubmit", "--within", "60", prompt=PROMPT)) == ""
    assert "orders_daily" in given(hook(hooked, "UserPromptSubmit", prompt=PROMPT, session="s-2"))
    hooked("revise", "1", "--content", "The revenue report reads the table orders_weekly.")
    assert "orders_weekly" in given(hook(hooked, "UserPromptSubmit", prompt=PROMPT))
    hook(hooked, "SessionStart", source="compact")
    assert "orders_weekly" in given(hook(hooked, "UserPromptSubmit", prompt=PROMPT))


def test_what_is_private_is_not_asked_about(hooked: Shell) -> None:
    assert given(hook(hooked, "UserPromptSubmit", prompt=f"<private>{PROMPT}</private> Go on.")) == ""


@pytest.mark.parametrize("name", ["SessionStart", "UserPromptSubmit", "Stop"])
def test_a_store_that_is_locked_holds_nobody_up(hooked: Shell, name: str) -> None:
    with closing(sqlite3.connect("shell.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        said = hook(hooked, name, "--within", "0.5", prompt=PROMPT, source="startup")
    assert said.code == 0
    assert "no answer within 0.5 s" in json.loads(said.out)["systemMessage"]


@pytest.mark.parametrize(
    "words", [["--db", "postgresql://127.0.0.1:9/none"], ["--url", "http://127.0.0.1:9"], ["--url", "x"]]
)
def test_a_hook_never_fails_and_says_that_the_turn_runs_without_memory(
    hooked: Shell, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONRECORD_DB")
    said = hook(hooked, "UserPromptSubmit", "--within", "60", *words, prompt=PROMPT)
    assert said.code == 0
    assert "this turn runs without memory" in json.loads(said.out)["systemMessage"]


@pytest.mark.parametrize("typed", [b"\xff\xfe{", b"", b"[" * 100_000, b'{"hook_event_name": {"a": 1}}', b"7"])
def test_an_event_that_is_none_is_told_to_the_person(hooked: Shell, typed: bytes) -> None:
    said = hooked.process("hook", "--within", "60", typed=typed)
    assert (said.code, said.err) == (0, "")
    assert "this turn may not be kept: event" in json.loads(said.out)["systemMessage"]


def test_a_host_that_does_not_finish_writing_is_not_waited_for(hooked: Shell) -> None:
    command = [*hooked.command, "hook", "--within", "0.5"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        started.stdin.write(b'{"hook_event_name": "Stop",')
        started.stdin.flush()
        assert "no answer within 0.5 s" in json.loads(started.stdout.read())["systemMessage"]
        assert started.wait() == 0


def test_the_plugin_runs_what_there_is() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["version"] == __version__
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert [(each["name"], ROOT / each["source"]) for each in market["plugins"]] == [
        (manifest["name"], PLUGIN)
    ]
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact"}
    commands = {each["command"] for groups in hooks.values() for group in groups for each in group["hooks"]}
    assert commands == {"onrecord hook --within 1.5"}
    # A host ends what takes longer, also if nothing could be started yet.
    assert {each["timeout"] for groups in hooks.values() for group in groups for each in group["hooks"]} == {
        2
    }
    assert json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["onrecord"]["args"] == ["mcp"]
    for page in PLUGIN.rglob("*.md"):
        assert page.name == "README.md" or page.read_text().startswith("---\n")


def test_a_repository_has_a_tenant_of_its_own_in_all_its_folders_and_worktrees(
    shell: Shell, words_alone: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        settings = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *settings, *words], check=True, capture_output=True)

    def tenant(folder: Path) -> str:
        monkeypatch.chdir(folder)
        told = shell("config", "--json").json
        return str(next(each["value"] for each in told if each["name"] == "tenant"))

    monkeypatch.setenv("ONRECORD_DB", str(tmp_path / "shell.db"))
    monkeypatch.setenv("ONRECORD_PROJECT", "yes")
    assert tenant(tmp_path) == "default"
    git("init", "-q", "shop")
    git("-C", "shop", "commit", "-q", "--allow-empty", "-m", "x")
    git("-C", "shop", "worktree", "add", "-q", "../tree")
    (tmp_path / "shop" / "deep").mkdir()
    own = tenant(tmp_path / "shop" / "deep")
    assert own.startswith("shop-")
    assert tenant(tmp_path / "tree") == own
    shell("remember", "Only here.")
    assert "Only here." in shell("browse").out
    git("-C", str(tmp_path / "shop"), "remote", "add", "origin", "https://u:secret@git.example/acme/shop.git")
    assert tenant(tmp_path / "tree") == "git.example-acme-shop"
    assert "Only here." not in shell("browse").out
    monkeypatch.setenv("ONRECORD_TENANT", "named")
    assert tenant(tmp_path / "tree") == "named"
