"""IS it found as it was? Two hundred questions to a fixed store at a fixed time, with every hit, its place and its reasons.

The vectors are those that the built-in embedder gave when the answers were written (`tests/kept_vectors.py`), so that the
answers are the same on every processor. What is found by words alone is written with nine digits and compared letter by
letter; what vectors have a part in has four decimals, of which another database may count the last one up or down.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.errors import OnRecordError
from onrecord.providers.e5 import E5
from onrecord.providers.opening import open_embedder
from onrecord.recall.hits import Hit
from onrecord.recall.recall import Recalled
from onrecord.recall.subjects import Searched
from tests import kept
from tests.conftest import Clock
from tests.soak import SOAKING

from .company import NOW, PEOPLE, fill
from .questions import FEW, GROUPS, Asked

pytestmark = pytest.mark.golden
FOLDER = kept.ANSWERS / "recall"
#: What is found without any vector.
EXACT = ("words", "by_words")


def answers(db: str, groups: Sequence[str]) -> dict[Path, str]:
    """Whatever is asked of a filled store, a text for each group."""
    clock = Clock(NOW)
    with (
        connect(db, caller=PEOPLE["cleo"], clock=clock, embedder="e5") as knows,
        connect(db, caller=PEOPLE["cleo"], clock=clock, embedder="none") as reads,
    ):
        return {
            FOLDER / f"{group}.txt": "\n".join(
                told(reads if asked.by_words else knows, asked, exact=group in EXACT)
                for asked in GROUPS[group]
            )
            for group in groups
        }


def told(door: OnRecord, asked: Asked, *, exact: bool) -> str:
    given = json.dumps(asked.fields, ensure_ascii=False)
    return "\n".join(
        (f"{asked.who}: {asked.operation} {given}", *(f"  {line}" for line in _lines(door, asked, exact)), "")
    )


def _lines(door: OnRecord, asked: Asked, exact: bool) -> Iterator[str]:
    try:
        answer = getattr(door.as_caller(PEOPLE[asked.who]), asked.operation)(**asked.fields)
    except OnRecordError as problem:
        yield f"{type(problem).__name__}: {problem}"
        return
    yield from _searched(answer, exact) if isinstance(answer, Searched) else _recalled(answer, exact)


def _recalled(answer: Recalled, exact: bool) -> Iterator[str]:
    yield f"{answer.ranking}: {', '.join(answer.channels)}; {answer.tokens} tokens"
    yield from _noted(answer.degraded, answer.warnings)
    yield from (_hit(hit, exact) for hit in answer.hits)
    yield from (f"query {_hit(hit, exact)}" for hit in answer.queries)
    yield from (f"{note.name}: {note.candidates} {note.failed or ''}".rstrip() for note in answer.trace)


def _hit(hit: Hit, exact: bool) -> str:
    # A place in a channel changes with the least change of a vector; it is kept where there are none.
    parts = [
        f"{part.channel} {f'#{part.rank} {part.score:.9g} ' if exact else ''}{_number(part.share, exact)}"
        for part in hit.why.parts
    ]
    boosts = [f"× {name} {_number(factor, exact)}" for name, factor in hit.why.boosts]
    path = [f"by {' > '.join(hit.why.path)}"] if hit.why.path else []
    return " | ".join((f"#{hit.memory.id} {_number(hit.score, exact)}", *parts, *boosts, *path))


def _searched(answer: Searched, exact: bool) -> Iterator[str]:
    yield f"understood: {', '.join(answer.resolved_input_entities)}"
    yield from _noted((), answer.warnings)
    for memory in (*answer.memories, *answer.example_queries):
        about = ", ".join(memory.matched_entities)
        query = "" if memory.query is None else f" | {json.dumps(memory.query, ensure_ascii=False)}"
        yield f"#{memory.id} {_number(memory.score, exact)} | {about} | {memory.text}{query}"
    for entity in answer.entities:
        yield f"#{entity.id} {_number(entity.score, exact)} | {entity.kind} | {entity.text}".replace(
            "\n", " / "
        )


def _noted(degraded: Sequence[str], warnings: Sequence[str]) -> Iterator[str]:
    yield from (f"degraded: {each}" for each in degraded)
    yield from (f"warning: {each}" for each in warnings)


def _number(value: float, exact: bool) -> str:
    return f"{value:.9g}" if exact else f"{value:.4f}"


def _check(said: dict[Path, str], *, writes: bool = False) -> None:
    exact = {path: text for path, text in said.items() if path.stem in EXACT}
    kept.check_all(exact, writes=writes)
    close = {path: text for path, text in said.items() if path.stem not in EXACT}
    kept.check_all(close, alike=kept.nearly, writes=writes)


def _fill(db: str, export: Path) -> None:
    clock = Clock()
    with connect(db, caller=PEOPLE["cleo"], clock=clock, embedder="e5") as door:
        fill(door, clock)
        door.embed_missing(all_tenants=True)
        door.export(str(export), all_tenants=True)


def _move(export: Path, db: str) -> None:
    with connect(db, caller=PEOPLE["cleo"], clock=Clock(NOW), embedder="e5") as door:
        door.import_(str(export), keep_tenants=True)
        door.embed_missing(all_tenants=True)


@pytest.mark.timeout(600)
def test_every_database_answers_as_it_did(tmp_path: Path, postgres_store: str) -> None:
    export = tmp_path / "all.jsonl"
    sqlite, yaml = str(tmp_path / "golden.db"), f"yaml:{tmp_path / 'files'}"
    _fill(sqlite, export)
    _check(answers(sqlite, list(GROUPS)), writes=True)
    _move(export, postgres_store)
    _check(answers(postgres_store, list(GROUPS) if SOAKING else [*FEW, "meanings"]))
    _move(export, yaml)
    _check(answers(yaml, FEW))


def test_this_processor_makes_nearly_the_vectors_that_are_recorded() -> None:
    here, recorded = E5(), open_embedder("e5")
    assert recorded is not None
    for asked in GROUPS["meanings"][:8]:
        question = asked.fields["question"]
        assert here.embed_query(question).vector @ recorded.embed_query(question).vector > 0.99


def test_there_are_questions_enough() -> None:
    assert sum(len(group) for group in GROUPS.values()) >= 200


def test_an_answer_that_differs_is_told_from_one_that_comes_close() -> None:
    kept_line, close, far, other = (
        f"  #{id} {score} | lexical 0.3000"
        for id, score in (("1", "0.5000"), ("1", "0.5001"), ("1", "0.5003"), ("2", "0.5000"))
    )
    assert kept.nearly(kept_line, close)
    assert not kept.nearly(kept_line, far)
    assert not kept.nearly(kept_line, other)
    assert not kept.nearly(kept_line, "")
