"""Measuring an advisor with recorded and scripted replies: what each task adds, and what it took."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from onrecord.evaluation.advisor_tasks import (
    CONTRADICTS,
    AdviceReport,
    Dialogue,
    count_facts,
    read_dialogues,
    read_pairs,
)
from onrecord.surfaces.cli import main
from onrecord.surfaces.cli.evaluate import eval_command
from onrecord.text.spoken import said_by_themselves
from tests.scripted_model import Replayed, ScriptedModel, as_json, by_task, ids_of, question_of

EVALS = Path(__file__).parents[2] / "evals" / "advisor"
RECORDED = Path(__file__).parent / "recorded.jsonl"


def shown(body: dict, label: str) -> str:
    """A text that the model was shown, by what it is."""
    [text] = re.findall(rf"^{label}:\n((?:  \|.*\n?)+)", question_of(body), re.MULTILINE)
    return "\n".join(line.removeprefix("  | ") for line in text.splitlines())


@pytest.fixture
def measured(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in model.settings().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(eval_command(), arguments, obj={}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_labelled_cases_are_as_many_and_as_mixed_as_is_said() -> None:
    dialogues, pairs = read_dialogues(EVALS), read_pairs(EVALS)
    assert (len(dialogues) >= 60, len(pairs)) == (True, 120)
    assert sum(not each.facts for each in dialogues) >= 20
    labels = Counter(pair.label for pair in pairs)
    assert set(labels.values()) == {12}
    assert set(labels) > CONTRADICTS


def test_no_trivial_answer_passes_for_an_extraction() -> None:
    """Nor does one that has the right words: the opposite, another number, or a whole turn."""
    dialogues = read_dialogues(EVALS)

    def score(facts_of: Callable[[Dialogue], list[str]]) -> tuple[float, float]:
        report = AdviceReport("extract")
        report.counts = [count_facts(each, facts_of(each)) for each in dialogues]
        return report.precision, report.recall

    def golden(dialogue: Dialogue) -> list[str]:
        return [fact[0] for fact in dialogue.facts]

    def opposite(fact: str) -> str:
        negates = re.compile(r"\b(?:not|never|no) ")
        return negates.sub("", fact) if negates.search(fact) else f"Not: {fact}"

    assert score(golden) == (1.0, 1.0)
    assert score(lambda each: []) == (1.0, 0.0)
    trivial: dict[str, Callable[[Dialogue], list[str]]] = {
        "every turn": lambda each: [said_by_themselves(each.user)],
        "every sentence": lambda each: re.split(r"(?<=[.!?])\s+", said_by_themselves(each.user)),
        "all that was said": lambda each: [f"{each.user} {each.assistant}"],
        "the opposite": lambda each: [opposite(fact) for fact in golden(each)],
    }
    for name, facts_of in trivial.items():
        assert max(score(facts_of)) < 0.5, name
    numbered = [each for each in dialogues if re.search(r"\d", "".join(golden(each)))]
    assert len(numbered) >= 10
    for each in numbered:
        facts = [re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), fact) for fact in golden(each)]
        assert count_facts(each, facts).found <= sum(not re.search(r"\d", fact) for fact in golden(each))


@pytest.mark.usefixtures("measured")
def test_extraction_and_contradictions_are_measured_on_labelled_texts(
    model: ScriptedModel, tmp_path: Path
) -> None:
    known = {each.user: [fact[0] for fact in each.facts] for each in read_dialogues(EVALS)}
    ends = {pair.new: pair.label in CONTRADICTS for pair in read_pairs(EVALS)}
    few = tmp_path / "few"
    few.mkdir()
    (few / "dialogues.tsv").write_text(
        "".join((EVALS / "dialogues.tsv").read_text().splitlines(keepends=True)[:8])
    )
    (few / "pairs.tsv").write_text("".join((EVALS / "pairs.tsv").read_text().splitlines(keepends=True)[::10]))
    model.script = by_task(
        extract=lambda body: as_json({"facts": known[shown(body, "user")]}),
        supersede=lambda body: as_json(
            {"ids": ids_of(body) if ends[shown(body, "new note").splitlines()[-1]] else []}
        ),
    )
    told = run(
        "--data", str(few), "--advisor", "extract", "--advisor", "supersede", "--json", str(tmp_path / "f")
    )
    perfect = "precision 100.0 % (100.0 to 100.0), recall 100.0 % (100.0 to 100.0)"
    assert f"extract: 8 cases, 7 to find; {perfect}" in told
    assert f"supersede: 12 cases, 6 to find; {perfect}" in told
    figures = [json.loads(line) for line in (tmp_path / "f").read_text().splitlines()]
    assert [each["task"] for each in figures] == ["extract", "supersede"]
    assert figures[0]["cost"] > 0
    assert figures[0]["ci95"] == {"precision": [1.0, 1.0], "recall": [1.0, 1.0]}
    # A careless model ends whatever it sees.
    model.script = by_task(supersede=lambda body: as_json({"ids": ids_of(body)}))
    assert "wrong, detail: 2" in run("--data", str(few), "--advisor", "supersede")


@pytest.mark.usefixtures("measured")
def test_recorded_replies_are_replayed(model: ScriptedModel, tmp_path: Path) -> None:
    (tmp_path / "dialogues.tsv").write_text(
        "".join((EVALS / "dialogues.tsv").read_text().splitlines(keepends=True)[:4])
    )
    model.script = Replayed(RECORDED)
    told = run("--data", str(tmp_path), "--advisor", "extract")
    assert (
        "extract: 4 cases, 4 to find; precision 75.0 % (50.0 to 100.0), recall 75.0 % (50.0 to 100.0)" in told
    )
    assert "wrong, no such fact: 1" in told


@pytest.mark.usefixtures("measured")
def test_a_search_is_measured_without_and_with_each_task(model: ScriptedModel, tmp_path: Path) -> None:
    task = tmp_path / "trips"
    task.mkdir()
    texts = ["I just got back from Tokyo.", "The travel costs were paid.", "When is lunch?"]
    (task / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"corpus": "a", "id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)
        )
    )
    question = {"id": "q", "corpus": "a", "text": "when did they travel to Japan", "gold": ["0"]}
    (task / "queries.jsonl").write_text(json.dumps(question) + "\n")
    model.script = by_task(
        expand=as_json({"queries": ["back from Tokyo"]}),
        rerank=lambda body: as_json({"ids": sorted(ids_of(body))}),
    )
    run(
        "--data",
        str(tmp_path),
        "--advisor",
        "expand",
        "--advisor",
        "rerank",
        "--json",
        str(tmp_path / "figures"),
    )
    figures = [json.loads(line) for line in (tmp_path / "figures").read_text().splitlines()]
    assert [each["way"] for each in figures] == [
        None,
        "advisor: expand",
        "advisor: rerank",
        "advisor: expand, rerank",
    ]
    assert [each["overall"]["recall@10"] for each in figures] == [0.0, 1.0, 0.0, 1.0]
    assert figures[-1]["overall"]["mrr"] == 1.0


def test_without_an_advisor_there_is_nothing_to_measure(capsys: pytest.CaptureFixture[str]) -> None:
    for task in ("extract", "rerank"):
        with pytest.raises(SystemExit, match="2"):
            main(["eval", "--data", str(EVALS), "--advisor", task])
        assert "advisor: none is configured" in capsys.readouterr().err
