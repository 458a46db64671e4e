"""HOW is it started, and what does one see of it? As a module, and by its names at a prompt."""

import json
import subprocess
import sys
from typing import Any

import click
import pytest

import onrecord
from onrecord.surfaces.cli.group import command_group, command_line


def run(*words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, input=typed)


def test_the_module_is_the_command(shell: Any) -> None:
    told = run("-m", "onrecord", "--version")
    assert (told.returncode, told.stdout) == (0, shell("--version").out)
    assert run("-m", "onrecord", "remember", "From a module.").returncode == 0
    assert "From a module." in shell("browse").out
    wrong = run("-m", "onrecord", "show", "99")
    assert (wrong.returncode, wrong.stderr.split(":")[0]) == (3, "onrecord")


def test_the_public_names_are_listed_before_they_are_loaded(shell: Any) -> None:
    look = "import onrecord, sys; print(*dir(onrecord)); print('sqlalchemy' in sys.modules)"
    names, is_loaded = run("-c", look).stdout.splitlines()
    assert {*onrecord.__all__, "__version__"} <= set(names.split())
    assert is_loaded == "False"


def test_a_prompt_completes_them(shell: Any) -> None:
    complete = (
        "import rlcompleter, onrecord; print(rlcompleter.Completer(globals()).attr_matches('onrecord.con'))"
    )
    assert "onrecord.connect_async" in run("-c", complete).stdout


#: What the table of commands and a question for words have no use for, whether ours or another's.
HEAVY = (
    "alembic",
    "httpx2",
    "mcp",
    "numpy",
    "onrecord.access.keys",
    "onrecord.care.export",
    "onrecord.catalog.ingest",
    "onrecord.catalog.operations",
    "onrecord.context.give",
    "onrecord.providers.e5.network",
    "onrecord.providers.secret_values",
    "onrecord.recall.show",
    "onrecord.remember.remember",
    "onrecord.store.records.archive",
    "onrecord.surfaces.cli.install",
    "onrecord.surfaces.cli.serve",
    "onrecord.workspace.artifacts",
    "pydantic",
    "rich",
    "sqlalchemy.dialects.postgresql",
    "sqlglot",
    "starlette",
    "yaml",
)
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "starter", "version": "1"},
    },
}


def loaded_by(*command: str, typed: str = "") -> set[str]:
    look = (
        "import sys, onrecord.surfaces.cli as cli\n"
        "try:\n"
        f"    cli.main({list(command)!r})\n"
        "finally:\n"
        "    print(*sys.modules, file=sys.stderr)"
    )
    told = run("-c", look, typed=typed)
    assert told.returncode == 0
    return set(told.stderr.split())


def test_the_version_is_told_without_a_database(shell: Any) -> None:
    assert not loaded_by("--version") & {"sqlalchemy", "onrecord.service", *HEAVY}


def test_a_question_for_words_loads_what_it_needs_and_no_more(
    shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whether a worker is wanted is looked at, too.
    monkeypatch.delenv("ONRECORD_WORKER")
    assert run("-m", "onrecord", "remember", "Revenue is net of refunds.").returncode == 0
    loaded = loaded_by("recall", "revenue", "--recipe", "lexical")
    assert "sqlalchemy" in loaded
    assert not loaded & set(HEAVY), loaded & set(HEAVY)


def test_an_agent_is_greeted_before_a_store_or_a_tool_is_loaded(shell: Any) -> None:
    loaded = loaded_by("mcp", typed=json.dumps(GREETING) + "\n")
    assert "mcp" in loaded
    unwanted = {
        *(set(HEAVY) - {"mcp", "pydantic", "httpx2", "rich", "starlette"}),
        "onnxruntime",
        "onrecord.app",
        "onrecord.faces.slayer",
        "onrecord.recall.recall",
        "onrecord.surfaces.mcp.full",
        "onrecord.surfaces.mcp.native",
        "onrecord.surfaces.rest",
        "onrecord.surfaces.serving",
        "psycopg",
        "sqlalchemy",
    }
    assert not loaded & unwanted, loaded & unwanted


def test_a_command_called_by_its_name_is_the_one_that_is_listed() -> None:
    typed, listed = command_line(), command_group()
    for name, command in listed.commands.items():
        called = typed.get_command(click.Context(typed), name)
        assert called is not None
        context = click.Context(command, info_name=name)
        assert called.get_help(context) == command.get_help(context)
    assert typed.list_commands(click.Context(typed)) == listed.list_commands(click.Context(listed))


def test_a_method_of_a_door_is_there_before_its_feature_is_loaded(shell: Any) -> None:
    look = (
        "import sys, onrecord\n"
        "door = onrecord.connect(':memory:')\n"
        "print('export' in dir(door), 'onrecord.care.export' in sys.modules)\n"
        "print(door.export.__name__, 'onrecord.care.export' in sys.modules)"
    )
    assert run("-c", look).stdout.splitlines() == ["True False", "export True"]
