"""CAN an id that someone chose spoil those that are given out? Numbers far ahead, and a store in which it has happened."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from onrecord import OnRecord, connect
from onrecord.errors import Conflict, StoreUnavailable
from onrecord.testing.builders import administrator, person

from ..surfaces.conftest import Served, Shell, served, server, shell

__all__ = ["served", "server", "shell"]

NINES = "9" * 200
#: What the next number was in a store that let those move its count.
AFTER = "1" + "0" * 200


def test_after_the_highest_number_there_is_memories_are_named_saved_and_moved_as_before(
    db: str, tmp_path: Path
) -> None:
    export = str(tmp_path / "all.jsonl")
    with connect(db) as door:
        door.remember("Chosen.", id=NINES)
        saved = door.remember("Given.").memory
        assert saved.id == "1"
        assert door.show(saved.id).memory.content == "Given."
        door.export(export)
    with connect(tmp_path / "other.db") as other:
        other.import_(export)
        assert other.show(NINES).memory.content == "Chosen."
        assert other.remember("Given next.").memory.id == "2"
        assert other.doctor().problems == ()


def test_an_export_that_tells_of_a_number_far_ahead_does_not_spoil_the_count(db: str, tmp_path: Path) -> None:
    export = tmp_path / "all.jsonl"
    with connect(tmp_path / "other.db") as other:
        other.remember("One.")
        other.export(str(export))
    export.write_text(export.read_text().replace('"last_id":"1"', f'"last_id":"{NINES}"'))
    assert NINES in export.read_text()
    with connect(db) as door:
        door.import_(str(export))
        assert door.remember("Two.").memory.id == "2"


def spoil(door: OnRecord) -> None:
    """As a version did that let any number move the count."""
    with door._store._backend.writing() as connection:  # type: ignore[attr-defined]
        for statement in (
            f"UPDATE memories SET id = '{AFTER}' WHERE id = '2'",
            f"UPDATE audit SET subject = '{AFTER}' WHERE subject = '2'",
            f"UPDATE counters SET last_id = '{AFTER}' WHERE last_id = '2'",
        ):
            assert connection.execute(text(statement)).rowcount == 1, statement


def test_a_store_whose_count_was_spoilt_is_seen_and_mended(db: str, tmp_path: Path) -> None:
    with connect(db) as door:
        for content in ("One.", "Two."):
            door.remember(content)
        door.remember("Chosen.", id=NINES)
        door.relate("1", "supports", "2")
        spoil(door)
        with pytest.raises(StoreUnavailable, match="doctor --fix"):
            door.remember("Three.")
        found = door.doctor()
        assert {each.check for each in found.problems} >= {"ids", "counters"}
        mended = door.doctor(fix=True)
        assert mended.problems == ()
        assert {each.check for each in mended.fixed} >= {"ids", "counters"}
        assert door.show("2").memory.content == "Two."
        assert [edge.memory.content for edge in door.neighbours("1").edges] == ["Two."]
        assert [entry.operation for entry in door.audit(subject="2").entries] == ["remember"]
        assert door.remember("Three.").memory.id == "3"
        door.export(str(tmp_path / "all.jsonl"))
    with connect(tmp_path / "other.db") as other:
        other.import_(str(tmp_path / "all.jsonl"))
        assert len(other.browse().memories) == 4


def test_the_command_mends_a_store_whose_count_was_spoilt(shell: Shell) -> None:
    for content in ("One.", "Two."):
        shell("remember", content)
    with connect(os.environ["ONRECORD_DB"]) as door:
        spoil(door)
    seen = shell("doctor")
    assert (seen.code, "doctor --fix" in seen.out) == (1, True)
    mended = shell("doctor", "--fix")
    assert mended.code == 0
    assert "Mended" in mended.out
    assert shell("show", "2", "--json").json["memory"]["content"] == "Two."


def test_a_sound_store_is_only_looked_at(memory: OnRecord) -> None:
    memory.remember("One.")
    before = memory.history("1")
    found = memory.doctor(fix=True)
    assert (found.problems, found.fixed) == ((), ())
    assert memory.history("1") == before


def test_an_id_that_another_keeps_to_themselves_is_free_for_everyone(
    served: Callable[..., Served], db: str
) -> None:
    server = served(db=db)
    keys = [server.make_key(user=user, actor="person") for user in ("ann", "eve")]
    with server.connect(keys[0]) as ann, server.connect(keys[1]) as eve:
        made = ann.post(
            "/v1/memories",
            json={"content": "Ann's salary.", "id": "salary", "scope": "user", "title": "Mine"},
        )
        assert made.status_code == 201
        for more in ({"dry_run": True}, {"dry_run": True, "scope": "user"}, {}):
            said = eve.post("/v1/memories", json={"content": "A note.", "id": "salary", **more})
            own = "salary" if "scope" not in more else "eve::salary"
            assert (said.status_code, said.json()["memory"]["id"]) == (200 if more else 201, own)
        assert eve.get("/v1/memories/ann::salary").status_code == 404
        assert eve.patch("/v1/memories/salary", json={"content": "Mine."}).status_code == 200
        assert ann.get("/v1/memories/ann::salary").json()["memory"]["content"] == "Ann's salary."
        assert ann.get("/v1/memories/::salary").json()["memory"]["content"] == "Mine."


def test_a_forget_counts_only_what_the_caller_may_see(db: str) -> None:
    with connect(db, caller=administrator()) as root:
        ann, eve = (root.as_caller(person(name)) for name in ("ann", "eve"))
        ann.remember("Of all.", id="k")
        for number, door in enumerate((ann, eve)):
            door.remember("Its own.", id=f"of.{number}", scope="user", entities=["memory:k"])
            door.relate(f"of.{number}", "supports", "k")
        would = ann.forget("k", dry_run=True)
        gone = ann.forget("k")
        assert (gone.versions, gone.relations, gone.references) == (1, 1, 1)
        assert (would.versions, would.relations, would.references) == (1, 1, 1)
        # What is not counted goes all the same.
        assert eve.show("of.1").memory.entities == ()
        assert eve.neighbours("of.1").edges == ()


def test_a_forgotten_global_memory_is_counted_in_the_tenant_of_whoever_forgets_it(db: str) -> None:
    with connect(db, caller=administrator()) as root:
        root.remember("For all.", id="global:4")
        for door in (root, root.as_caller(administrator(tenant="beta", operator=False))):
            door.remember("Refers.", entities=["memory:global:4"])
        assert root.forget("global:4").references == 1


def test_an_id_of_ones_own_that_is_held_is_still_told_apart(memory: OnRecord) -> None:
    """Whoever sees a memory is told what is wrong with saving under its id."""
    memory.remember("Mine.", id="k")
    memory.retire("k")
    with pytest.raises(Conflict, match="retired"):
        memory.remember("Again.", id="k")
