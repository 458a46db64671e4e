"""WHAT is kept of a key? Its hash, in the database of the store; beside files of text, in one of its own."""

import os
import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import OnRecord, connect
from onrecord.access import keys
from onrecord.access.signing import hash_of
from onrecord.errors import Forbidden, StoreUnavailable
from tests.conftest import Clock


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["store.db", "notes/memories.yaml"])
def test_a_key_is_nowhere_in_the_files_of_the_store(tmp_path: Path, name: str) -> None:
    with connect(tmp_path / name) as door:
        made = door.create_key(label="findable")
    held = bytes_in(tmp_path)
    assert b"findable" in held
    assert made.secret.encode() not in held
    assert made.secret.rpartition("_")[2].encode() not in held
    assert made.secret not in repr(made)


def test_no_two_keys_are_alike(memory: OnRecord) -> None:
    made = [memory.create_key().secret for _ in range(20)]
    assert len(set(made)) == 20
    assert all(re.fullmatch(r"onr_[a-z0-9]{8}_[A-Za-z0-9]{43}", secret) for secret in made)


def test_nothing_else_is_a_key() -> None:
    with connect(":memory:") as door:
        door.create_key()

        @given(st.text())
        def show(shown: str) -> None:
            assert keys.find(shown, door._store, door._clock()) is None
            assert len(hash_of(shown)) == 64

        show()


def test_keys_and_audit_outlive_the_index_of_a_store_in_text(
    tmp_path: Path, opened: Callable[[str], OnRecord], clock: Clock
) -> None:
    door = opened(str(tmp_path))
    made = door.create_key()
    door.remember("kept in a file")
    door.close()
    for path in (tmp_path / ".onrecord").glob("index-*"):
        path.unlink()
    door = opened(str(tmp_path))
    assert keys.find(made.secret, door._store, clock.now) == made.key
    assert [entry.operation for entry in door.audit().entries] == ["remember", "create_key"]
    clock.tick(days=1)
    door.remember("one more")
    assert [entry.number for entry in door.audit().entries] == [3, 2, 1]
    assert door.doctor().problems == ()


def test_what_a_person_writes_into_the_file_is_in_the_audit(tmp_path: Path) -> None:
    (tmp_path / "memories.yaml").write_text("- learning: Deploys are frozen on Fridays.\n")
    with connect(tmp_path) as door:
        assert door.browse().memories[0].content == "Deploys are frozen on Fridays."
        (entry,) = door.audit().entries
    assert (entry.user, entry.origin, entry.operation) == ("file", "import", "remember")


def test_a_damaged_state_is_told_and_never_made_anew(tmp_path: Path) -> None:
    with connect(tmp_path) as door:
        door.create_key()
    shutil.rmtree(tmp_path / ".onrecord", ignore_errors=False)
    (tmp_path / ".onrecord").mkdir()
    (tmp_path / ".onrecord" / "state.db").write_bytes(b"no database at all" * 1_000)
    with pytest.raises(StoreUnavailable, match=r"state\.db.*keys"):
        connect(tmp_path)
    assert (tmp_path / ".onrecord" / "state.db").read_bytes().startswith(b"no database")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_refusal_stands_where_its_line_cannot_be_written(tmp_path: Path) -> None:
    with connect(tmp_path / "store.db") as door:
        door.remember("note")
    (tmp_path / "store.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        with connect(tmp_path / "store.db") as door, pytest.raises(StoreUnavailable):
            door.create_key()
    finally:
        tmp_path.chmod(0o755)


def test_a_key_ends_at_its_time_to_the_moment(memory: OnRecord, clock: Clock) -> None:
    made = memory.create_key(expires_at=clock.now + timedelta(seconds=1))
    assert keys.find(made.secret, memory._store, clock.now) is not None
    clock.tick()
    assert keys.find(made.secret, memory._store, clock.now) is None


def test_the_name_of_a_system_may_hold_an_equals_sign(memory: OnRecord) -> None:
    made = memory.create_key(systems=["a=b=manage", "c=d=read", "e", "e=manage", "e=read"]).key
    assert made.systems == {"a=b": "manage", "c=d": "read", "e": "manage"}


@pytest.mark.parametrize(
    ("bound", "less", "more"), [("per_minute", 5, 50), ("saves_per_day", 2, 20), ("saves_per_day", 0, 1)]
)
def test_a_key_that_is_bounded_makes_none_that_is_bounded_less(
    memory: OnRecord, bound: str, less: int, more: int
) -> None:
    bounded = memory.create_key(permissions=["memory.read", "memory.admin"], **{bound: less}).key
    holder = memory.as_caller(keys.caller_of(bounded))
    for unbound in ({}, {bound: more}):
        with pytest.raises(Forbidden, match=f"give {bound}"):
            holder.create_key(permissions=["memory.read"], **unbound)
    assert holder.create_key(permissions=["memory.read"], **{bound: less}).key.created_by == bounded.user
