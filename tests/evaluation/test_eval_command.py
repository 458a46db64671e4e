"""DOES `onrecord eval` measure any directory of that form? A made-up task with ugly names, end to end."""

import json
from pathlib import Path
from typing import Any

import pytest

from onrecord import connect

LONG_ID = "x" * 1_000
DOCUMENTS: list[dict[str, Any]] = [
    {"corpus": "a:b c", "id": "D1:1 🦊", "text": "Foxes sleep in dens.", "meta": {"date": "2031-01-01"}},
    {"corpus": "a:b c", "id": "#2/?", "text": "Bears eat honey."},
    {"corpus": "a:b c", "id": LONG_ID, "text": "Bears eat honey.", "meta": {"entities": ["Bear"]}},
    {"corpus": "a:b c", "id": "\x00\ud800", "text": "Owls hunt at night. \x00\ud800"},
    {"corpus": "a:b c", "id": "empty", "text": " ", "meta": None},
    {"corpus": 2, "id": 7, "text": "Foxes chase hens. " + "z" * 70_000},
    {"corpus": 2, "id": "8", "text": "Hens lay eggs."},
    {"corpus": "unasked", "id": "9", "text": "Foxes everywhere."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "corpus": "a:b c", "text": "where do foxes sleep", "gold": ["D1:1 🦊"], "group": "one"},
    {"id": "q2", "corpus": "a:b c", "text": "who eats honey", "gold": ["#2/?", LONG_ID], "group": "two"},
    {
        "id": "q3",
        "corpus": "a:b c",
        "text": "owls at night \x00",
        "gold": ["\x00\ud800", "gone"],
        "group": "two",
    },
    {"id": "q4", "corpus": 2, "text": "foxes", "gold": [7]},
    {"id": "q5", "corpus": 2, "text": "hens", "gold": []},
    {"id": "q6", "corpus": 2, "text": "nothing of the kind", "gold": ["8"], "group": "\x1b[31mred\ud800"},
    {"id": "q7", "corpus": "a:b c", "text": "y " * 9_000, "gold": ["empty"], "group": "long"},
]


def write(folder: Path, documents: list[Any], questions: list[Any]) -> Path:
    folder.mkdir(parents=True)
    for name, values in (("corpus", documents), ("queries", questions)):
        lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path / "data" / "ugly", DOCUMENTS, QUESTIONS)
    write(tmp_path / "data" / "plain", DOCUMENTS[1:2], [QUESTIONS[1] | {"gold": ["#2/?"]}])
    return tmp_path / "data"


def test_every_question_is_scored_by_the_documents_own_ids(shell: Any, data: Path) -> None:
    said = shell("eval", "ugly", "--data", str(data), "--recipe", "lexical", "--json", "figures.jsonl")
    assert said.code == 0, said.err
    told = json.loads(Path("figures.jsonl").read_text(encoding="utf-8"))
    assert (told["task"], told["n"], told["documents"], told["haystacks"]) == ("ugly", 6, 7, 2)
    perfect = dict.fromkeys(told["overall"], 1.0)
    assert told["groups"]["one"] == {"n": 1, **perfect}
    assert told["groups"]["all"] == {"n": 1, **perfect}
    half_found = (told["groups"]["two"][name] for name in ("n", "any@5", "all@5", "recall@5", "mrr"))
    assert tuple(half_found) == (2, 1.0, 0.5, 0.75, 1.0)
    assert told["groups"]["long"]["any@20"] == told["groups"]["\x1b[31mred\ud800"]["any@20"] == 0
    assert told["overall"]["recall@10"] == pytest.approx((1 + 1 + 0.5 + 1 + 0 + 0) / 6)
    assert told["notices"] == {
        "Questions without a gold document, left out": 1,
        "Gold documents that are not in their haystack, counted as missed": 1,
        "Documents without text, left out": 1,
        "Documents longer than 64 KiB, cut there": 1,
        "Questions longer than 10,000 characters, cut there": 1,
    }
    assert all(0 <= low <= high <= 1 for low, high in told["ci95"].values())
    assert told["per_second"] > 0


def test_the_table_shows_what_was_found_and_what_was_odd(shell: Any, data: Path) -> None:
    said = shell("eval", "ugly", "--data", str(data))
    head, measures, overall, *_ = said.out.splitlines()
    assert head.startswith("ugly: 6 questions, 7 documents in 2 haystacks; saved in ")
    assert measures.split()[:4] == ["n", "any@5", "all@5", "recall@5"]
    assert overall.split()[:4] == ["overall", "6", "66.7", "50.0"]
    assert "\nDocuments without text, left out: 1\n" in said.out
    assert "\x1b" not in said.out


def test_all_tasks_are_measured_when_none_is_named_and_lines_are_appended(shell: Any, data: Path) -> None:
    for _ in range(2):
        assert shell("eval", "--data", str(data), "--json", "figures.jsonl").code == 0
    lines = Path("figures.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["task"] for line in lines] == ["plain", "ugly", "plain", "ugly"]


def test_a_question_about_a_haystack_that_is_not_there_finds_nothing(shell: Any, tmp_path: Path) -> None:
    write(tmp_path / "lost" / "task", DOCUMENTS, [QUESTIONS[0] | {"corpus": "elsewhere"}])
    asked = ("--recipe", "lexical", "--json", "figures.jsonl")
    assert shell("eval", "--data", str(tmp_path / "lost"), *asked).code == 0
    told = json.loads(Path("figures.jsonl").read_text(encoding="utf-8"))
    assert set(told["overall"].values()) == set(told["chance"].values()) == {0.0}
    assert told["notices"] == {"Gold documents that are not in their haystack, counted as missed": 1}


def test_groups_can_be_left_out(shell: Any, data: Path) -> None:
    said = shell(
        "eval",
        "ugly",
        "--data",
        str(data),
        "--skip-group",
        "two",
        "--skip-group",
        "long",
        "--json",
        "figures.jsonl",
    )
    assert "Questions of the group two, left out: 2\n" in said.out
    told = json.loads(Path("figures.jsonl").read_text(encoding="utf-8"))
    assert list(told["groups"]) == ["\x1b[31mred\ud800", "all", "one"]


def test_ones_own_store_is_not_touched(shell: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_CONVERSATION", "mine")
    assert shell("eval", "plain", "--data", str(data)).code == 0
    assert not Path("shell.db").exists()
    said = shell("--db", "mine.db", "eval", "plain", "--data", str(data))
    assert said.code == 2
    assert "--store" in said.err


def test_an_empty_store_can_be_measured_on_and_a_filled_one_not(
    shell: Any, data: Path, shared_db: str
) -> None:
    assert shell("eval", "--data", str(data), "--store", shared_db).code == 0
    said = shell("eval", "plain", "--data", str(data), "--store", shared_db)
    assert said.code == 2
    assert "holds memories already" in said.err
    with connect(shared_db) as door:
        assert door.doctor().memories == 7
        assert door.doctor().healthy


@pytest.mark.parametrize(
    ("documents", "questions", "told"),
    [
        ([*DOCUMENTS, "{"], QUESTIONS, "corpus.jsonl, line 9: is not JSON"),
        (DOCUMENTS, [QUESTIONS[0], "", "[1]"], "queries.jsonl, line 3: is not a JSON object"),
        (["[" * 100_000], QUESTIONS, "corpus.jsonl, line 1: is nested too deeply"),
        ([{"corpus": "a", "id": "1"}], QUESTIONS, "corpus.jsonl, line 1, text: is missing"),
        ([{"corpus": "a", "text": "x"}], QUESTIONS, "corpus.jsonl, line 1, id: is missing"),
        (
            [{"corpus": "a", "id": "1", "text": "x", "meta": 5}],
            QUESTIONS,
            "corpus.jsonl, line 1, meta: must be an object",
        ),
        (DOCUMENTS, [QUESTIONS[0] | {"gold": "D1"}], "queries.jsonl, line 1, gold: must be a list"),
        ([], QUESTIONS, "corpus.jsonl: holds no document"),
        (DOCUMENTS, [QUESTIONS[4]], "queries.jsonl: holds no question to ask"),
    ],
)
def test_data_that_cannot_be_read_is_named_by_file_and_line(
    shell: Any, tmp_path: Path, documents: list[Any], questions: list[Any], told: str
) -> None:
    write(tmp_path / "broken" / "task", documents, questions)
    said = shell("eval", "--data", str(tmp_path / "broken"))
    assert said.code == 2
    assert told in said.err


def test_a_file_that_is_not_utf8_is_named(shell: Any, data: Path) -> None:
    (data / "plain" / "corpus.jsonl").write_bytes(b'{"corpus": "\xff"}')
    said = shell("eval", "plain", "--data", str(data))
    assert said.code == 2
    assert "is not UTF-8" in said.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "nowhere"], "does not exist"),
        (["--data", "."], "holds no task"),
        (["missing", "--data", "data"], "cannot be read"),
        (["plain", "--data", "data", "--json", "no/where.jsonl"], "cannot be written"),
        (["plain", "--data", "data", "--recipe", "soup"], "recipe"),
        ([], "--data"),
    ],
)
def test_a_wrong_request_leaves_with_two(shell: Any, data: Path, words: list[str], told: str) -> None:
    said = shell("eval", *words)
    assert said.code == 2
    assert told in said.err
