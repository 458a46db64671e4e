"""WHAT is wrong in a store? Seeded flaws are found, each with evidence, and what is sound is left alone."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from onrecord.care.foreign import read
from onrecord.care.foreign.linting import Linted, linted
from tests.forked import relayed

from . import make_samples as make

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SOUND = [
    "Revenue is net of refunds.", "The fiscal year starts in April.", "Ann prefers short answers in English.",
    "Orders of test customers have the id zero.", "The warehouse is loaded at six every morning.",
    "Refunds are booked on the day of the return.", "Use the table orders_daily for reports of the board.",
]  # fmt: skip
#: What a store says beside that, and the flaw of how many.
FLAWS: list[tuple[str, int, list[dict[str, str]]]] = [
    ("duplicate", 2, [{"content": "REVENUE is  net of refunds"}, {"content": "The fiscal year starts in april"}]),
    ("near-duplicate", 1, [{"content": "Use the table orders_daily for all reports of the board."}]),
    ("secret", 1, [{"content": f"The password of the bot is in {make.KEY} for now"}]),
    ("contradictory", 2, [{"content": "The limit of a refund is 30 days."}, {"content": "The limit of a refund is 14 days."}]),
    ("contradictory", 2, [{"content": "The warehouse is not loaded at six every morning."}]),
    ("live-state", 2, [{"content": "The importer is currently failing."}, {"content": "There are 17 open tickets of finance."}]),
    ("stale", 1, [{"content": "Budgets are approved by the board.", "created_at": "2025-01-01"}]),
    ("empty", 1, [{"content": "ok"}]),
]  # fmt: skip


def lint(folder: Path, rows: list[dict[str, str]]) -> Linted:
    path = folder / "store.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return linted(read("jsonl", str(path)), source="jsonl", path=str(path), now=NOW)


def counts(found: Linted) -> dict[str, int]:
    return {each.name: each.count for each in found.flaws if each.count}


def test_a_sound_store_has_no_flaw(tmp_path: Path) -> None:
    assert counts(lint(tmp_path, [{"content": text} for text in SOUND])) == {}


@pytest.mark.parametrize(("name", "count", "rows"), FLAWS)
def test_each_flaw_is_found_and_no_other(
    tmp_path: Path, name: str, count: int, rows: list[dict[str, str]]
) -> None:
    found = lint(tmp_path, [*({"content": text} for text in SOUND), *rows])
    assert counts(found) == {name: count}
    [flaw] = [each for each in found.flaws if each.name == name]
    assert flaw.share == round(count / found.items, 4)
    assert all(line.startswith("store.jsonl line ") for line in flaw.evidence)
    assert make.KEY not in str(found)


def test_relations_and_links_that_lead_nowhere_are_orphans(tmp_path: Path) -> None:
    for made, source, missing in (
        (make.server_memory, "server-memory", "Nobody"),
        (make.notes, "markdown", "Nowhere"),
    ):
        path = str(made(tmp_path))
        found = linted(read(source, path), source=source, path=path, now=NOW)
        [orphans] = [each for each in found.flaws if each.name == "orphan"]
        assert (orphans.count, missing in orphans.evidence[0]) == (1, True)


def test_a_store_of_ten_thousand_is_looked_at_at_once(tmp_path: Path) -> None:
    rows = [
        {
            "content": f"Customer {number} of region {number % 97} buys article {number * 7919 % 10_007} on account"
        }
        for number in range(10_000)
    ]
    assert lint(tmp_path, rows).items == 10_000


def test_a_newcomer_looks_before_there_is_a_store_of_ours(tmp_path: Path) -> None:
    other = str(make.server_memory(tmp_path))
    environment = {**os.environ, "ONRECORD_DB": str(tmp_path / "ours.db")}

    def said(*words: str) -> str:
        command = relayed("from onrecord.surfaces.cli import main; main()", *words)
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return done.stdout

    # The log of who did what takes no path.
    assert said("lint", other) == said("audit", other) != ""
    assert "7 memories would be new" in said("import", "--from", "server-memory", other, "--dry-run")
    assert not (tmp_path / "ours.db").exists()
