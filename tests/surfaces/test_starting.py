"""HOW is it started, and what does one see of it? As a module, and by its names at a prompt."""

import os
import subprocess
import sys
from typing import Any

import onrecord


def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env=os.environ | environment
    )


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


#: What a question for words has no use for, whether ours or another's.
HEAVY = (
    "alembic",
    "httpx2",
    "mcp",
    "onrecord.providers.e5.network",
    "onrecord.providers.secret_values",
    "onrecord.store.records.archive",
    "pydantic",
    "rich",
    "sqlalchemy.dialects.postgresql",
    "sqlglot",
    "starlette",
    "yaml",
)


def loaded_by(*command: str) -> set[str]:
    look = (
        "import sys, onrecord.surfaces.cli as cli\n"
        "try:\n"
        f"    cli.main({list(command)!r})\n"
        "finally:\n"
        "    print(*sys.modules, file=sys.stderr)"
    )
    told = run("-c", look)
    assert told.returncode == 0
    return set(told.stderr.split())


def test_the_version_is_told_without_a_database(shell: Any) -> None:
    assert not loaded_by("--version") & {"numpy", "sqlalchemy", "onrecord.service", *HEAVY}


def test_a_question_for_words_loads_what_it_needs_and_no_more(shell: Any) -> None:
    assert run("-m", "onrecord", "remember", "Revenue is net of refunds.").returncode == 0
    loaded = loaded_by("recall", "revenue", "--recipe", "lexical")
    assert "sqlalchemy" in loaded
    assert not loaded & set(HEAVY)
