"""DOES a workspace go from any store to any other without loss, and does a backup of each bring it back?"""

import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import count, product
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.errors import Invalid, NotFound
from onrecord.model.limits import AGENT_CHARACTERS
from onrecord.testing.archive import live_a_little
from onrecord.testing.builders import HOME, Clock, administrator
from onrecord.testing.moving_workspace import export_of, fill_workspace, workspace_of
from tests.schemas import address, new_schema
from tests.soak import SOAKING, tries

KINDS = ("sqlite", "postgres", "yaml")
#: A ring, in which each is written and each is read; in a soak any to any, but that there is one PostgreSQL for each test.
RING = [*zip(KINDS, (*KINDS[1:], KINDS[0]), strict=True)]
PAIRS = [pair for pair in product(KINDS, KINDS) if pair != ("postgres", "postgres")] if SOAKING else RING
_TENANTS = count()


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Nothing here asks what a loss of power leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def open_new(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> Iterator[Callable[[str, str], OnRecord]]:
    """Open an empty store of a kind; of PostgreSQL there is one for each test."""
    with ExitStack() as closing:

        def opened(kind: str, name: str) -> OnRecord:
            places = {
                "sqlite": lambda: str(tmp_path / f"{name}.db"),
                "postgres": lambda: str(request.getfixturevalue("postgres_store")),
                "yaml": lambda: f"yaml:{tmp_path / name}",
            }
            door = connect(places[kind](), caller=administrator(), clock=clock)
            closing.callback(door.close)
            return door

        yield opened


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_export_brings_the_workspace_and_memories_from_any_store_to_any_other(
    source: str, target: str, open_new: Callable[[str, str], OnRecord], clock: Clock, tmp_path: Path
) -> None:
    here, there = open_new(source, "here"), open_new(target, "there")
    live_a_little(here, clock)
    here.remember("see the plan", artifact="1")
    fill_workspace(here.as_caller(administrator("eve", tenant="beta")), clock)
    lines = export_of(here, tmp_path / "here.jsonl", all_tenants=True)
    for turn in range(2):
        done = there.import_(str(tmp_path / "here.jsonl"), keep_tenants=True)
        moved = (done.conversations, done.artifacts, done.scratchpads, done.agents)
        # The memories of one tenant were saved inside a conversation of their own.
        assert (moved, done.workspace_unchanged) == (((5, 6, 6, 4), 0), ((0, 0, 0, 0), 21))[turn]
        assert export_of(there, tmp_path / "there.jsonl", all_tenants=True) == lines
    assert there.show("93").artifact == here.show("93").artifact
    assert there.doctor().problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_brings_the_workspace_back(
    kind: str, open_new: Callable[[str, str], OnRecord], clock: Clock, tmp_path: Path
) -> None:
    door = open_new(kind, "store")
    live_a_little(door, clock)
    fill_workspace(door.as_caller(administrator("eve", tenant="beta")), clock)
    held = [workspace_of(door._store, tenant) for tenant in (HOME, "beta")]
    door.backup(str(tmp_path / "backup"))
    if kind == "sqlite":
        restored = connect(str(tmp_path / "backup"), caller=administrator(), clock=clock)
    else:
        for tenant in (HOME, "beta"):
            door.erase_tenant(tenant, confirm=tenant)
            assert workspace_of(door._store, tenant)[1] == []
        restored = door
        restored.import_(str(tmp_path / "backup"), keep_tenants=True)
    assert [workspace_of(restored._store, tenant) for tenant in (HOME, "beta")] == held
    assert restored.read_artifact("1").content == "second"
    if restored is not door:
        restored.close()


# What may be asked for, in any order: what is refused leaves nothing, and that is to be moved as well.

_texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=30)
_lines = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
_names = st.sampled_from(["1", "2", "7", "#3", "talk", "Gespräch – 1", "a/b:c"]) | _lines
_agents = st.sampled_from(["shared", "scout", "A-_9", "z" * AGENT_CHARACTERS])
_paths = st.sampled_from(["a", "a/b.txt", "Ä/ö.md", "b"])
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("register_conversation"), st.fixed_dictionaries(
            {}, optional={"id": _names, "title": _lines, "agent": _lines})),
        st.tuples(st.just("delete_conversation"), st.fixed_dictionaries({"id": _names})),
        st.tuples(st.just("write_artifact"), st.fixed_dictionaries(
            {"path": _paths, "content": _texts, "conversation": _names}, optional={"media_type": _lines})),
        st.tuples(st.just("write_artifact"), st.fixed_dictionaries(
            {"path": _paths, "content": st.binary(max_size=40).map(lambda raw: b64encode(raw).decode()),
             "conversation": _names, "encoding": st.just("base64")})),
        st.tuples(st.just("delete_artifact"), st.fixed_dictionaries({"id": st.sampled_from("123")})),
        st.tuples(st.just("append_scratchpad"), st.fixed_dictionaries({"content": _texts, "agent": _agents})),
        st.tuples(st.just("clear_scratchpad"), st.fixed_dictionaries({"agent": _agents})),
        st.tuples(st.just("set_agent"), st.fixed_dictionaries(
            {"agent": _agents}, optional={"decay": st.booleans(), "decay_floor": st.floats(0, 1),
                                          "limit": st.integers(1, 50), "metadata": st.dictionaries(_lines, _lines, max_size=2)})),
    ),
    min_size=3,
    max_size=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def doors(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, OnRecord]]:
    """One store of each kind for all examples, each of which has a tenant of its own."""
    folder = tmp_path_factory.mktemp("moving")
    with (
        psycopg.connect(postgres_server, autocommit=True) as connection,
        new_schema(connection) as schema,
        pytest.MonkeyPatch.context() as patch,
        ExitStack() as closing,
    ):
        patch.setenv("ONRECORD_CONFIG", str(folder / "no-config.toml"))
        patch.setenv("ONRECORD_EMBEDDER", "none")
        places = (str(folder / "store.db"), address(postgres_server, schema), f"yaml:{folder / 'store'}")
        opened = {kind: connect(place) for kind, place in zip(KINDS, places, strict=True)}
        for door in opened.values():
            closing.callback(door.close)
        yield opened


@settings(max_examples=tries(8, soaking=100))
@given(steps=_steps, source=st.sampled_from(KINDS))
def test_whatever_was_done_with_the_workspace_an_export_tells_what_is_left(
    doors: dict[str, OnRecord], tmp_path: Path, steps: list[tuple[str, dict[str, Any]]], source: str
) -> None:
    number = next(_TENANTS)
    callers = {kind: administrator(tenant=f"{kind} {number}") for kind in KINDS}
    here = doors[source].as_caller(callers[source])
    here.remember("makes the tenant known")
    for name, asked in steps:
        with suppress(NotFound, Invalid):
            getattr(here, name)(**asked)
    held = workspace_of(here._store, here.caller.tenant)
    here.export(str(tmp_path / "export.jsonl"))
    for kind, door in doors.items():
        there = door.as_caller(callers[kind])
        done = there.import_(str(tmp_path / "export.jsonl"))
        moved = done.conversations + done.artifacts + done.scratchpads + done.agents
        expected = (0, len(held[1])) if kind == source else (len(held[1]), 0)
        assert (moved, done.workspace_unchanged, done.conflicts) == (*expected, ())
        assert workspace_of(there._store, there.caller.tenant) == held
        assert there.import_(str(tmp_path / "export.jsonl")).workspace_unchanged == len(held[1])
        assert workspace_of(there._store, there.caller.tenant) == held
