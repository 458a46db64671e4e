"""DOES each face find what its users ask for? A made-up task through the search of every face that has one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.faces import TABLE

SEARCHED = [face.name for face in TABLE if face.evaluating is not None]
DOCUMENTS = {
    "table": "table animals (animals) in database zoo; columns: animal_id, species",
    "lions": "Lions roar at dusk, when nobody listens.",
    "keepers": "Seniority means keepers with a low number.",
}
QUESTIONS = {
    "which ones roar at dusk?": "lions",
    "what does seniority mean?": "keepers",
    "species of animals": "table",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks" / "zoo"
    folder.mkdir(parents=True)
    corpus = [
        {"corpus": "zoo", "id": id, "text": text, "meta": {"db": "zoo"}} for id, text in DOCUMENTS.items()
    ]
    queries = [
        {"id": str(number), "corpus": "zoo", "text": text, "gold": [gold]}
        for number, (text, gold) in enumerate(QUESTIONS.items())
    ]
    for name, lines in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder.parent


@pytest.mark.parametrize("face", SEARCHED)
def test_every_face_finds_what_its_users_ask_for(
    shell: Callable[..., Any], data: Path, face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONRECORD_EMBEDDER", "none")
    said = shell("eval", "--data", str(data), "--through", face, "--json", "figures.jsonl")
    assert said.code == 0, said.err
    assert f"zoo, through the {face} face: 3 questions, 3 documents" in said.out
    figures = json.loads(Path("figures.jsonl").read_text())
    assert figures["overall"]["any@5"] == 1.0


def test_every_face_with_tools_or_routes_of_its_own_is_measured_and_chooses_its_recipe(
    shell: Callable[..., Any], data: Path
) -> None:
    # `native` and `full` search by `recall` and `search` themselves.
    assert {face.name for face in TABLE} - set(SEARCHED) == {"native", "full"}
    said = shell("eval", "--data", str(data), "--through", "slayer", "--recipe", "lexical")
    assert (said.code, "chooses its recipe itself" in said.err) == (2, True)
