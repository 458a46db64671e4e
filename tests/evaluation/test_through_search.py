"""DO tables become a catalog and notes memories about it? Made-up tables with ugly names, measured through `search`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import connect
from onrecord.errors import Invalid
from onrecord.evaluation.data import EvalDocument, read_task
from onrecord.evaluation.table_documents import Schema, schemas_of, table_of

TABLES: list[dict[str, Any]] = [
    {
        "corpus": "zoo",
        "id": "zoo#animals",
        "text": "table animals (animals) in database zoo; columns: animal_id, Free Meal Count (K-12), species",
        "meta": {"db": "zoo"},
    },
    {
        "corpus": "zoo",
        "id": "zoo#keepers",
        "text": "table keepers (staff of the (old) house) in database zoo; columns: keeper_id, no. of years, animal_id",
        "meta": {"db": "zoo"},
    },
    {
        "corpus": "zoo",
        "id": "shop#tickets",
        "text": "table tickets (tickets) in database gift shop; columns: price, Date/Time, species",
        "meta": {"db": "gift shop"},
    },
]
NOTES: list[dict[str, Any]] = [
    {
        "corpus": "zoo",
        "id": "n1",
        "text": "Meals of a pupil are `Free Meal Count (K-12)`",
        "meta": {"db": "zoo"},
    },
    {"corpus": "zoo", "id": "n2", "text": "Seniority means keepers.keeper_id < 10", "meta": {"db": "zoo"}},
    {"corpus": "zoo", "id": "n3", "text": "A discount halves the price", "meta": {"db": "gift shop"}},
    {"corpus": "zoo", "id": "n4", "text": "Lions roar \x00 at dusk", "meta": {"db": "elsewhere"}},
]
ABOUT_TABLES: list[dict[str, Any]] = [
    {
        "id": "q1",
        "corpus": "zoo",
        "text": "how many free meals were counted",
        "gold": ["zoo#animals"],
        "meta": {"db": "zoo"},
    },
    {
        "id": "q2",
        "corpus": "zoo",
        "text": "the staff with most years",
        "gold": ["zoo#keepers"],
        "meta": {"db": "zoo"},
    },
    {
        "id": "q3",
        "corpus": "zoo",
        "text": "which species",
        "gold": ["shop#tickets"],
        "meta": {"db": "gift shop"},
    },
]
ABOUT_NOTES: list[dict[str, Any]] = [
    {"id": "q1", "corpus": "zoo", "text": "meals of each pupil", "gold": ["n1"], "meta": {"db": "zoo"}},
    {"id": "q2", "corpus": "zoo", "text": "what is seniority", "gold": ["n2"], "meta": {"db": "zoo"}},
    {"id": "q3", "corpus": "zoo", "text": "when do lions roar", "gold": ["n4"], "meta": {"db": "elsewhere"}},
]


def write(folder: Path, documents: list[dict[str, Any]], questions: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True)
    for name, values in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(value) + "\n" for value in values)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path / "data" / "tables", TABLES, ABOUT_TABLES)
    write(tmp_path / "data" / "notes", NOTES, ABOUT_NOTES)
    return tmp_path / "data"


def document(value: dict[str, Any]) -> EvalDocument:
    return EvalDocument(value["id"], value["text"], value["meta"])


def figures() -> dict[str, dict[str, Any]]:
    lines = Path("figures.jsonl").read_text(encoding="utf-8").splitlines()
    return {told["task"]: told for told in map(json.loads, lines)}


def measured(shell: Any, data: Path, *more: str) -> dict[str, dict[str, Any]]:
    words = ("eval", "tables", "notes", "--data", str(data), "--through", "search", "--json", "figures.jsonl")
    said = shell(*words, *more)
    assert said.code == 0, said.err
    return figures()


class TestMeasuring:
    def test_tables_are_found_as_entities_and_notes_as_memories(self, shell: Any, data: Path) -> None:
        told = measured(shell, data)
        assert told["notes"]["overall"]["mrr"] == 1
        assert told["tables"]["overall"]["all@5"] == 1
        assert told["tables"]["way"] == "through search"
        assert (told["tables"]["documents"], told["tables"]["n"]) == (3, 3)

    def test_within_its_datasource_a_question_finds_nothing_else(self, shell: Any, data: Path) -> None:
        told = measured(shell, data, "--within-datasource")
        assert told["tables"]["overall"]["mrr"] == 1
        assert told["notes"]["way"] == "through search within the datasource"
        notice = "Questions that name no datasource of the catalog, asked of everything"
        assert told["notes"]["notices"][notice] == 1
        assert notice not in told["tables"]["notices"]

    def test_the_table_says_by_which_way(self, shell: Any, data: Path) -> None:
        said = shell("eval", "notes", "--data", str(data), "--through", "search")
        assert said.out.startswith("notes, through search: 3 questions, 4 documents in 1 haystack; saved in ")

    def test_a_task_without_tables_is_memories_alone(self, shell: Any, data: Path) -> None:
        words = ("eval", "notes", "--data", str(data), "--through", "search", "--json", "figures.jsonl")
        assert shell(*words).code == 0
        assert figures()["notes"]["overall"]["mrr"] == 1

    def test_tables_and_notes_of_one_task_stand_in_one_order(self, shell: Any, tmp_path: Path) -> None:
        write(tmp_path / "mixed" / "both", TABLES + NOTES, ABOUT_TABLES + ABOUT_NOTES)
        words = ("eval", "--data", str(tmp_path / "mixed"), "--through", "search", "--json", "figures.jsonl")
        assert shell(*words).code == 0
        assert figures()["both"]["overall"]["all@10"] == 1

    def test_what_was_kept_is_a_catalog_and_memories_that_refer_to_it(
        self, shell: Any, data: Path, tmp_path: Path
    ) -> None:
        store = str(tmp_path / "kept.db")
        tasks = ("notes", "tables", "--data", str(data))
        assert shell("eval", *tasks, "--through", "search", "--store", store).code == 0
        with connect(store) as mine:
            door = mine.as_caller(replace(mine.caller, tenant="task-1-1"))
            assert [each.canonical for each in door.entities().entities] == ["gift_shop", "zoo"]
            columns = door.entities("zoo.animals").entities
            assert [each.canonical for each in columns] == [
                "zoo.animals.Free_Meal_Count_K-12_",
                "zoo.animals.animal_id",
                "zoo.animals.species",
            ]
            assert "label: Free Meal Count (K-12)" in columns[0].text
            about = [door.show(str(number)).memory.entities for number in (1, 2, 3, 4)]
        assert about == [
            ("zoo", "zoo.animals.Free_Meal_Count_K-12_"),
            ("zoo", "zoo.keepers.keeper_id"),
            ("gift_shop", "gift_shop.tickets.price"),
            (),
        ]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--through", "search", "--recipe", "soup"), "recipe"),
            (("--within-datasource",), "--within-datasource"),
            (("--through", "soup"), "--through"),
        ],
    )
    def test_what_does_not_go_together_is_refused(
        self, shell: Any, data: Path, words: tuple[str, ...], told: str
    ) -> None:
        said = shell("eval", "notes", "--data", str(data), *words)
        assert said.code == 2
        assert told in said.err

    def test_a_table_that_two_documents_describe_is_refused(self, shell: Any, tmp_path: Path) -> None:
        write(tmp_path / "twice" / "task", [*TABLES, TABLES[0] | {"id": "again"}], ABOUT_TABLES)
        said = shell("eval", "--data", str(tmp_path / "twice"), "--through", "search")
        assert said.code == 2
        assert "more than once: zoo.animals" in said.err


class TestTables:
    def test_a_table_is_told_by_its_form(self) -> None:
        table = table_of(document(TABLES[1]))
        assert table is not None
        assert (table.database, table.name, table.label) == ("zoo", "keepers", "staff of the (old) house")
        assert table.columns == {
            "keeper_id": "keeper_id",
            "no. of years": "no_of_years",
            "animal_id": "animal_id",
        }
        assert all(table_of(document(note)) is None for note in NOTES)

    def test_a_name_that_several_tables_have_is_no_reference(self, data: Path) -> None:
        schema = schemas_of([read_task(data, "tables")])["zoo"]
        note = EvalDocument("n", "animal_id of animals.animal_id, keepers; price; zoo", {"db": "zoo"})
        assert schema.references(note) == ["zoo", "zoo.animals.animal_id", "zoo.keepers"]

    @given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
    def test_whatever_a_table_is_called_it_can_be_written_and_read(
        self, tmp_path_factory: pytest.TempPathFactory, name: str, column: str
    ) -> None:
        text = f"table {name} (a table) in database zoo; columns: {column}, id"
        table = table_of(EvalDocument("d", text, {"db": "zoo"}))
        if table is None:
            return
        folder = tmp_path_factory.mktemp("models")
        schema = Schema([table])
        schema.write(folder)
        with connect(":memory:", embedder="none") as door:
            door.ingest(str(folder))
            assert door.inspect(schema.canonical(table)).model == schema.canonical(table)

    def test_the_same_table_twice_makes_no_schema(self) -> None:
        table = table_of(document(TABLES[0]))
        assert table is not None
        with pytest.raises(Invalid, match=r"more than once: zoo\.animals"):
            Schema([table, table])
