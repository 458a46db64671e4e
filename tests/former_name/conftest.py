"""Copies of what the former name left behind, to open and to change."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ..schemas import address, new_schema

LEFT_BEHIND = Path(__file__).with_name("left_behind")
KEYS: dict[str, dict[str, str]] = json.loads((LEFT_BEHIND / "keys.json").read_text(encoding="utf-8"))
STORES = ("sqlite", "postgres", "yaml")
_SCHEMA = "recollect_old"


def lines(path: Path) -> list[dict[str, Any]]:
    """What an export says, without its head, which says when it was made."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


#: Fields of an agent's settings that nothing obeyed: they are gone, and what was set there says nothing.
_DISOBEYED = {"advisor", "search_expand", "rerank", "auto_tag", "auto_supersede"}

#: Whether an advisor is asked; nothing is said of it.
_ADVICE: dict[str, Any] = {
    **dict.fromkeys(
        ("expand", "rerank", "rerank_fine", "rerank_when", "auto_tag", "auto_supersede", "extract")
    ),
    "metadata": {},
}

_WHOSE: dict[str, dict[str, Any]] = {
    "conversation": {"members": [], "numbered": False},
    "artifact": {"conversation_by": "ann"},
    "scratchpad": {"users": ["ann"]},
    "agent": {"users": ["ann"]},
}
_RENAMED = {"session_places": "conversation_places", "profile_places": "tenant_places"}


def held(path: Path, *, with_own_ids: bool = False) -> list[dict[str, Any]]:
    """What an export from under the former name says, as one of today says it: its people wrote what they own, and one of
    them began the conversation and set the agent. In a database, what waits for review has its owner's name in front of its id.
    """
    told = lines(path)
    for line in told:
        if "last_id" in line and line["tenant"] != "global" and not line["tenant"].startswith("catalog:"):
            line["with_catalog"] = True
        for version in line.get("versions", ()):
            memory = version["memory"]
            if with_own_ids and memory["status"] == "pending":
                line["id"] = memory["id"] = f"{memory['owner']}::{memory['id']}"
            memory |= {"author": memory["owner"], "proposes": None, "tier": memory["origin"]}
            memory |= {"conversation_by": None, "edits": None, "changeset": None}
            memory |= {"checks": [], "check_state": None}
        if "numbers" in line:
            line["numbers"]["changeset"] = 0
        for key, whose in _WHOSE.items():
            if key in line:
                line[key] |= whose
        if "agent" in line:
            settings = line["agent"]["settings"]
            line["agent"]["settings"] = {
                _RENAMED.get(name, name): value for name, value in settings.items() if name not in _DISOBEYED
            } | _ADVICE
    return told


@pytest.fixture
def former_sqlite(tmp_path: Path) -> str:
    return str(shutil.copy(LEFT_BEHIND / "store.db", tmp_path / "store.db"))


@pytest.fixture
def former_yaml(tmp_path: Path) -> str:
    return str(shutil.copytree(LEFT_BEHIND / "yaml", tmp_path / "yaml"))


@pytest.fixture
def former_postgres(postgres_server: str) -> Iterator[str]:
    dump = (LEFT_BEHIND / "postgres.sql").read_text(encoding="utf-8")
    told = "\n".join(
        line for line in dump.splitlines() if not line.startswith(("\\", f"CREATE SCHEMA {_SCHEMA}"))
    )
    with psycopg.connect(postgres_server, autocommit=True) as connection, new_schema(connection) as schema:
        with psycopg.connect(postgres_server, autocommit=True) as restoring:
            restoring.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            restoring.execute(told.replace(_SCHEMA, schema))
        yield address(postgres_server, schema)


@pytest.fixture
def former(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """The address of a store of the former name."""
    return lambda kind: str(request.getfixturevalue(f"former_{kind}"))
