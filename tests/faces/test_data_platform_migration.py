"""DO the records of an original data platform come here whole? From its tables and from JSON lines, once however often."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Forbidden, Invalid, StoreUnavailable
from onrecord.faces.data_platform import insight_of, memory_manage, memory_recall
from onrecord.faces.data_platform.legacy import migrate
from onrecord.model.limits import PERMISSIONS
from tests.surfaces.conftest import Shell, shell

from .data_platform_people import ANN, BOB, CHIEF, NET, ORDERS, PII, SEASONS, STORES

__all__ = ["shell"]
NOW = "2026-03-01T12:00:00Z"


def row(number: int, content: str, status: str = "active", **more: Any) -> dict[str, Any]:
    return {
        "id": f"{number:032x}",
        "created_at": f"2026-01-{number:02d}T10:00:00Z",
        "updated_at": NOW,
        "created_by": ANN,
        "persona": "analyst",
        "dimension": "knowledge",
        "content": content,
        "category": "business_context",
        "confidence": "high",
        "source": "user",
        "entity_urns": [ORDERS],
        "related_columns": [],
        "embedding": None,
        "embedding_model": "nomic-embed-text",
        "embedding_text_hash": "00",
        "metadata": {},
        "status": status,
        "stale_reason": None,
        "stale_at": None,
        "last_verified": None,
    } | more


ACTION = {"action_type": "add_tag", "target": "", "detail": "finance"}
SECRET = "The password: hunter2hunter2 opens the staging warehouse."


def insight(state: str, **more: Any) -> dict[str, Any]:
    known = {"insight_status": state, "suggested_actions": [ACTION], "session_id": "s1"}
    return {"metadata": known | more}


ROWS = [
    row(1, SEASONS, dimension="preference", metadata=None),
    row(2, STORES, "stale", stale_reason="entity changed or deprecated", last_verified=NOW),
    row(3, "It was two seasons.", "superseded", metadata={"superseded_by": f"{4:032x}"}),
    row(4, "It is three seasons.", metadata={"legacy_created_by": "oidc|17"}),
    row(5, "Long gone by now.", "archived", persona="", created_by=BOB),
    row(6, PII, **insight("pending")),
    row(7, NET, **insight("approved", reviewed_by=CHIEF, reviewed_at=NOW, review_notes="Seen.")),
    row(8, "It was rejected.", "archived", **insight("rejected", reviewed_by=CHIEF)),
    row(9, "It was taken back.", "archived", **insight("rolled_back", reviewed_by=CHIEF, changeset_ref="cs_b")),
    row(10, "It reached the catalog.", **insight("applied", reviewed_by=CHIEF, changeset_ref="cs_a")),
    row(11, SECRET, metadata=[{"a": 1}, {"b": 2}]),
    row(12, "Of no known dimension.", dimension="purple"),
    row(13, "Applied by nobody knows what.", **insight("applied", changeset_ref="cs_lost")),
]  # fmt: skip
NEW = {"change_0": {"change_type": "update_description", "target": "", "detail": "Net of refunds."}}
SETS = [
    {
        "id": id,
        "created_at": NOW,
        "target_urn": ORDERS,
        "change_type": "update_description",
        "previous_value": {"description": "The amount.", "tags": []},
        "new_value": NEW,
        "source_insight_ids": [f"{number:032x}"],
        "approved_by": "",
        "applied_by": CHIEF,
        "rolled_back": taken_back,
        "rolled_back_by": CHIEF if taken_back else None,
        "rolled_back_at": NOW if taken_back else None,
    }
    for id, number, taken_back in (("cs_a", 10, False), ("cs_b", 9, True))
]


@pytest.fixture
def door() -> Iterator[OnRecord]:
    owner = Caller(tenant="acme", user=CHIEF, permissions=frozenset(PERMISSIONS), personas={"analyst"})  # type: ignore[arg-type]
    with connect(":memory:", caller=owner, embedder="none") as door:
        yield door


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The rows of both tables as JSON lines."""
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, rows in (("memory_records", ROWS), ("knowledge_changesets", SETS)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return folder


def state_of(door: OnRecord, number: int) -> tuple[str, str | None]:
    shown = door.show(f"{number:032x}", background=True)
    assert shown.background is not None
    return shown.memory.status, shown.background.proposal


def check_all(door: OnRecord) -> None:
    """What must be here afterwards."""
    first = door.show(f"{1:032x}").memory
    assert (first.owner, first.persona, first.kind, first.tier) == (ANN, "analyst", "preference", "import")
    assert first.created_at.isoformat() == "2026-01-01T10:00:00+00:00"
    stale = door.show(f"{2:032x}").memory
    assert (stale.status, stale.status_reason) == ("stale", "entity changed or deprecated")
    assert stale.verified_at is not None
    old = door.show(f"{3:032x}", background=True)
    assert old.background is not None
    assert (old.memory.status, old.background.superseded_by) == ("superseded", f"{4:032x}")
    assert door.show(f"{5:032x}").memory.scope == "tenant"
    assert {number: state_of(door, number) for number in range(5, 11)} == {
        5: ("archived", None),
        6: ("pending", "pending"),
        7: ("active", "approved"),
        8: ("archived", "rejected"),
        9: ("archived", "rolled_back"),
        10: ("active", "approved"),
    }, "what was applied to another catalog is approved in this one"
    assert "hunter2" not in door.show(f"{11:032x}").memory.content
    assert door.show(f"{11:032x}").memory.metadata == {"a": 1, "b": 2}


def test_a_dry_run_counts_and_changes_nothing(door: OnRecord, lines: Path) -> None:
    told = migrate(door, str(lines), dry_run=True)
    assert (told.records, told.changesets, told.taken, told.dry_run) == (13, 2, 12, True)
    assert told.by_status == {"active": 6, "stale": 1, "superseded": 1, "archived": 3, "pending": 1}
    assert door.browse(statuses=["active", "archived", "pending"]).memories == ()
    assert door.changesets().total == 0


def test_everything_comes_once_however_often(door: OnRecord, lines: Path) -> None:
    told = migrate(door, str(lines))
    assert told.taken == 12
    check_all(door)
    assert len(told.warnings) == 3
    assert "'purple' is none of knowledge" in " ".join(told.warnings)
    assert "cs_lost" in " ".join(told.warnings)
    again = migrate(door, str(lines))
    assert again.taken == 0
    assert sorted(each.state for each in door.changesets().changesets) == ["failed", "rolled_back"]
    assert door.changesets().total == 2
    [taken_back] = door.changesets(states=["rolled_back"]).changesets
    assert taken_back.changes[0].before == "The amount."
    assert door.doctor().problems == ()


def test_what_came_is_told_by_the_face_as_what_was_kept_here(door: OnRecord, lines: Path) -> None:
    migrate(door, str(lines))
    answer = memory_recall(door, "selling seasons", "lexical")
    assert answer["memories"][0]["Record"]["id"] == f"{1:032x}"
    [record] = memory_manage(door, "list", filter_status="superseded")["records"]
    assert record["metadata"] == {"superseded_by": f"{4:032x}"}
    page = memory_manage(door, "list", limit=100)["records"]
    metadata = {each["id"]: each["metadata"] for each in page}
    assert metadata[f"{4:032x}"]["legacy_created_by"] == "oidc|17"
    shown = door.show(f"{7:032x}", background=True)
    assert shown.background is not None
    told = insight_of(shown.memory, shown.background)
    assert (told["status"], told["reviewed_by"], told["review_notes"], told["session_id"]) == (
        *("approved", CHIEF),
        *("Seen.", "s1"),
    )
    assert told["suggested_actions"] == [ACTION]
    assert shown.memory.edits is not None
    assert shown.memory.edits[0].key == "finance"
    door.approve(f"{6:032x}")
    assert state_of(door, 6) == ("active", "approved")


def test_what_was_changed_here_since_is_left_alone(door: OnRecord, lines: Path) -> None:
    migrate(door, str(lines))
    door.revise(f"{1:032x}", content="There are four seasons.")
    assert migrate(door, str(lines)).taken == 0
    assert door.show(f"{1:032x}").memory.content == "There are four seasons."


def test_tables_of_a_database_are_read_and_left_as_they_are(door: OnRecord, postgres_store: str) -> None:
    engine = create_engine(postgres_store.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE memory_records (id text, whole jsonb)"))
        connection.execute(text("DROP TABLE memory_records"))
        columns = ", ".join(
            f"{name} {'jsonb' if name in ('entity_urns', 'related_columns', 'metadata') else 'text'}"
            for name in ROWS[0]
        )
        connection.execute(text(f"CREATE TABLE memory_records ({columns})"))
        marks = ", ".join(f":{name}" for name in ROWS[0])
        for each in ROWS:
            given = {
                name: json.dumps(value) if isinstance(value, list | dict) or name == "metadata" else value
                for name, value in each.items()
            }
            connection.execute(text(f"INSERT INTO memory_records VALUES ({marks})"), given)
        connection.execute(
            text(
                "CREATE TABLE knowledge_changesets (id text, created_at timestamptz, target_urn text, change_type text, "
                "previous_value jsonb, new_value jsonb, source_insight_ids jsonb, approved_by text, applied_by text, "
                "rolled_back boolean, rolled_back_by text, rolled_back_at timestamptz)"
            )
        )
        for each in SETS:
            given = {
                name: json.dumps(value) if isinstance(value, list | dict) else value
                for name, value in each.items()
            }
            marks = ", ".join(f":{name}" for name in each)
            connection.execute(text(f"INSERT INTO knowledge_changesets VALUES ({marks})"), given)
    assert migrate(door, postgres_store).taken == 12
    check_all(door)
    assert migrate(door, postgres_store).taken == 0
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM memory_records")).scalar_one() == len(ROWS)
    engine.dispose()


def test_what_cannot_be_read_is_said_and_nothing_is_taken_over(door: OnRecord, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(ROWS[0]) + "\n[1]\n")
    with pytest.raises(Invalid, match="line 2"):
        migrate(door, str(broken))
    with pytest.raises(Invalid, match="cannot be read"):
        migrate(door, str(tmp_path / "nothing.jsonl"))
    with pytest.raises(StoreUnavailable) as failed:
        migrate(door, "postgresql://ann:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in str(failed.value)
    with pytest.raises(Forbidden):
        migrate(door.as_caller(Caller(tenant="acme", user=ANN)), str(broken))
    assert door.browse().memories == ()


def test_the_command_says_what_came(shell: Shell, lines: Path) -> None:
    assert shell("data-platform", "migrate", str(lines), "--dry-run").code != 0, (
        "there is no store to compare with"
    )
    shell("remember", "Something of our own.")
    assert "12 would be new here" in shell("data-platform", "migrate", str(lines), "--dry-run").out
    said = shell("data-platform", "migrate", str(lines))
    assert said.code == 0, said.err
    assert said.out.startswith(
        "13 records (6 active, 3 archived, 1 pending, 1 stale, 1 superseded) and 2 changesets; 12 were new"
    )
    assert "purple" in said.err
    assert shell("data-platform", "migrate", str(lines), "--json").json["taken"] == 0
