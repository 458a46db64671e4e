"""Over a large catalog a search looks at the best of each channel, and a cap cuts what it says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from onrecord import OnRecord, connect
from onrecord.recall import places

MODELS = 24
COLUMNS = 14
QUESTIONS = (
    "amount",
    "amount of ledger_7",
    "ledger_7 ledger_9 booked amount_3",
    "amount_3 booked net",
    "which ledger is net of refunds",
)


def write_catalog(root: Path, models: int = MODELS, columns: int = COLUMNS) -> Path:
    """Every model has the same columns; each third column of an even model is hidden."""
    folder = root / "models" / "shop"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(models):
        parts = [
            {
                "name": f"amount_{column}",
                "type": "DOUBLE",
                "description": "net of refunds " * (column % 3) + "as booked",
                "hidden": number % 2 == 0 and column % 3 == 0,
            }
            for column in range(columns)
        ]
        model = {"name": f"ledger_{number}", "data_source": "shop", "sql_table": "t", "columns": parts}
        (folder / f"ledger_{number}.yaml").write_text(yaml.safe_dump(model), encoding="utf-8")
    return root


def entities(door: OnRecord, question: str, most: int = 200) -> list[tuple[str, float]]:
    found = door.search(question=question, max_entities=most, max_memories=0, max_example_queries=0)
    return [(each.id, each.score) for each in found.entities]


@pytest.fixture
def large(memory: OnRecord, tmp_path: Path) -> OnRecord:
    """A catalog whose common words stand in more entities than are read from the index each time, on each database."""
    memory.ingest(str(write_catalog(tmp_path / "catalog")))
    return memory


@contextmanager
def opened(db: str, folder: Path, clock: Callable[[], Any]) -> Iterator[OnRecord]:
    with connect(db, clock=clock, embedder="none") as door:
        door.ingest(str(folder))
        yield door


class TestEntities:
    def test_a_small_cap_gives_the_beginning_of_a_large_one(self, large: OnRecord) -> None:
        for question in QUESTIONS:
            every = entities(large, question)
            assert len(every) > 40
            for most in (1, 5, 40):
                assert entities(large, question, most) == every[:most], question

    def test_what_is_hidden_is_never_told(self, large: OnRecord) -> None:
        told = {id for question in QUESTIONS for id, _ in entities(large, question)}
        assert "shop.ledger_7.amount_3" in told
        assert "shop.ledger_8.amount_3" not in told

    def test_a_named_model_comes_first(self, large: OnRecord) -> None:
        assert entities(large, "amount of ledger_7", 1)[0][0] == "shop.ledger_7"

    def test_a_name_that_too_many_share_leaves_the_order_to_words(
        self, large: OnRecord, tmp_path: Path
    ) -> None:
        large.ingest(str(write_catalog(tmp_path / "more", models=places.MOST_NAMESAKES + 1, columns=4)))
        found = [id for id, _ in entities(large, "amount_1 in ledger_7", 2)]
        assert found == ["shop.ledger_7", "shop.ledger_7.amount_1"]

    def test_every_database_tells_the_same(self, tmp_path: Path, postgres_store: str, clock: Any) -> None:
        folder = write_catalog(tmp_path / "catalog")
        with opened(":memory:", folder, clock) as here, opened(postgres_store, folder, clock) as there:
            for question in QUESTIONS:
                assert entities(here, question) == entities(there, question)


class TestWhatChanges:
    def test_a_search_knows_what_was_ingested_since(self, large: OnRecord, tmp_path: Path) -> None:
        before = entities(large, "refunds")
        changed = tmp_path / "catalog" / "models" / "shop" / "ledger_7.yaml"
        changed.write_text(changed.read_text().replace("refunds", "discounts"), encoding="utf-8")
        large.ingest(str(tmp_path / "catalog"))
        after = {id for id, _ in entities(large, "refunds")}
        assert {id for id, _ in before if ".ledger_7." in id}
        assert not {id for id in after if ".ledger_7." in id}

    def test_another_process_sees_what_this_one_ingested(self, tmp_path: Path, clock: Any) -> None:
        folder, db = write_catalog(tmp_path / "catalog"), str(tmp_path / "shared.db")
        with opened(db, folder, clock) as here, connect(db, clock=clock, embedder="none") as there:
            assert entities(here, "booked") == entities(there, "booked")
            write_catalog(folder, models=MODELS - 1)
            (folder / "models" / "shop" / f"ledger_{MODELS - 1}.yaml").unlink()
            here.ingest(str(folder))
            assert entities(here, "booked") == entities(there, "booked")
            assert not [id for id, _ in entities(there, "booked") if f"ledger_{MODELS - 1}" in id]


class TestMemories:
    def test_an_example_query_is_found_behind_more_notes_than_are_looked_at_first(self, clock: Any) -> None:
        with connect(":memory:", clock=clock, embedder="none") as door:
            for number in range(places.FIRST_LOOK + 50):
                door.remember(f"refunds refunds refunds {number}", dedupe=False)
            door.remember(
                "refunds by region and by month, as finance asks for them every quarter", query="select 1"
            )
            found = door.search(question="refunds", max_memories=1, max_example_queries=5)
        assert len(found.memories) == 1
        assert len(found.example_queries) == 1

    def test_a_cap_of_one_list_changes_no_other(self, large: OnRecord) -> None:
        for number in range(12):
            large.remember(f"ledger_7 is booked at night {number}", dedupe=False)
            large.remember(f"booked amounts {number}", query=f"select {number}", dedupe=False)

        def told(**caps: int) -> tuple[Any, Any, Any]:
            found = large.search(question="booked ledger_7", **caps)
            return found.memories, found.example_queries, found.entities

        wide = told(max_memories=200, max_example_queries=200, max_entities=200)
        for caps in ((1, 9, 3), (9, 1, 30), (0, 3, 0)):
            narrow = told(max_memories=caps[0], max_example_queries=caps[1], max_entities=caps[2])
            assert narrow == tuple(each[:most] for each, most in zip(wide, caps, strict=True))
