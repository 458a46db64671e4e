"""IS it found as it was? Two hundred questions to a fixed store at a fixed time, with every hit, its place and its reasons.

The built-in embedder is used as it is. Its weights are whole numbers, but a few steps between are not, so that another
processor may give vectors that differ in their last digits. What depends on vectors is therefore written with four
decimals, together with a fingerprint of all vectors: where that is the same, answers must be the same letter by letter;
where it is not, numbers may differ by what that can explain, and hits may change places only if they stood that close.
What is found by words alone is written with nine digits and is always compared letter by letter.

PostgreSQL adds up the same products in another order: there the last decimal may differ by one.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.errors import OnRecordError
from onrecord.providers.embedding import Embedder, EmbeddingModel, Passage
from onrecord.providers.opening import open_embedder
from onrecord.recall.hits import Hit
from onrecord.recall.recall import Recalled
from onrecord.recall.subjects import Searched
from tests import kept
from tests.conftest import Clock

from .company import NOW, PEOPLE, fill
from .questions import FEW, GROUPS, Asked

pytestmark = pytest.mark.golden
FOLDER = kept.ANSWERS / "recall"
FINGERPRINT = FOLDER / "vectors.txt"
#: What is found without any vector.
EXACT = ("words", "by_words")
_NUMBER = re.compile(r"-?\d+\.\d{4}\b")
#: One step of the last decimal, and what another processor may change.
_STEP, _ELSEWHERE = 0.000_11, 0.003


class Kept:
    """The built-in embedder, which embeds each text once for all the stores."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[Passage, ...]] = {}
        self._queries: dict[str, Passage] = {}

    @cached_property
    def _inner(self) -> Embedder:
        inner = open_embedder("e5")
        assert inner is not None
        return inner

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    def embed_query(self, text: str) -> Passage:
        if text not in self._queries:
            self._queries[text] = self._inner.embed_query(text)
        return self._queries[text]

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        for text in texts:
            if text not in self._documents:
                self._documents[text] = self._inner.embed_documents([text])[0]
        return [self._documents[text] for text in texts]

    @property
    def fingerprint(self) -> str:
        """A line for what was embedded, and one for what came of it."""
        texts, vectors = hashlib.sha256(), hashlib.sha256()
        for text, passages in sorted(self._documents.items()):
            texts.update(text.encode() + b"\0")
            vectors.update(b"".join(each.vector.tobytes() for each in passages))
        return f"texts {texts.hexdigest()}\nvectors {vectors.hexdigest()}\n"


def answers(db: str, embedder: Kept, groups: Sequence[str]) -> dict[Path, str]:
    """Whatever is asked of a filled store, a text for each group."""
    clock = Clock(NOW)
    with (
        connect(db, caller=PEOPLE["cleo"], clock=clock, embedder=embedder) as knows,
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


def alike(then: str, now: str, most: float) -> bool:
    """The same lines, except that numbers may differ a little; hits that come as close may have changed places."""
    if then == now:
        return True
    old, new = then.split("\n"), now.split("\n")
    return len(old) == len(new) and all(
        _same(left, right, most) or _swapped(left, right, most)
        for left, right in zip_longest(old, new, fillvalue="")
    )


def _same(left: str, right: str, most: float) -> bool:
    if _NUMBER.sub("", left) != _NUMBER.sub("", right):
        return False
    pairs = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=True)
    return all(abs(float(one) - float(other)) <= most for one, other in pairs)


def _swapped(left: str, right: str, most: float) -> bool:
    """Whether two hits of nearly one score stand here: which is first is then chance."""
    scores = [_NUMBER.findall(line)[:1] for line in (left, right) if line.startswith("  #")]
    return (
        most == _ELSEWHERE
        and len(scores) == 2
        and all(scores)
        and abs(float(scores[0][0]) - float(scores[1][0])) <= 2 * most
    )


def _check(said: dict[Path, str], most: float = 0.0, *, writes: bool = False) -> None:
    exact = {path: text for path, text in said.items() if path.stem in EXACT}
    kept.check_all(exact, writes=writes)
    close = {path: text for path, text in said.items() if path.stem not in EXACT}
    kept.check_all(close, alike=lambda then, now: alike(then, now, most), writes=writes)


def _tolerance(embedder: Kept, least: float) -> float:
    """Another processor's vectors explain more."""
    known = FINGERPRINT.read_text(encoding="utf-8") if FINGERPRINT.exists() else ""
    return least if embedder.fingerprint == known else _ELSEWHERE


def _same_texts(then: str, now: str) -> bool:
    """What is embedded may not change; what came of it may, from one processor to another."""
    return then.split("\n")[0] == now.split("\n")[0]


def _fill(db: str, embedder: Kept, export: Path) -> None:
    clock = Clock()
    with connect(db, caller=PEOPLE["cleo"], clock=clock, embedder=embedder) as door:
        fill(door, clock)
        door.embed_missing(all_tenants=True)
        door.export(str(export), all_tenants=True)


def _move(export: Path, db: str, embedder: Kept) -> None:
    with connect(db, caller=PEOPLE["cleo"], clock=Clock(NOW), embedder=embedder) as door:
        door.import_(str(export), keep_tenants=True)
        door.embed_missing(all_tenants=True)


@pytest.mark.timeout(600)
def test_every_database_answers_as_it_did(tmp_path: Path, postgres_store: str) -> None:
    """One test for all of them: to embed the texts takes longer than the rest of it."""
    embedder, export = Kept(), tmp_path / "all.jsonl"
    sqlite, yaml = str(tmp_path / "golden.db"), f"yaml:{tmp_path / 'files'}"
    _fill(sqlite, embedder, export)
    said = answers(sqlite, embedder, list(GROUPS))
    kept.check(FINGERPRINT, embedder.fingerprint, alike=_same_texts)
    _check(said, _tolerance(embedder, 0.0), writes=True)
    _move(export, postgres_store, embedder)
    _check(answers(postgres_store, embedder, list(GROUPS)), _tolerance(embedder, _STEP))
    _move(export, yaml, embedder)
    _check(answers(yaml, embedder, FEW), _tolerance(embedder, 0.0))


def test_there_are_questions_enough() -> None:
    assert sum(len(group) for group in GROUPS.values()) >= 200


def test_an_answer_that_differs_is_told_from_one_that_comes_close() -> None:
    kept_line, close, far, other = (
        f"  #{id} {score} | lexical 0.3000"
        for id, score in (("1", "0.5000"), ("1", "0.5010"), ("1", "0.5100"), ("2", "0.5000"))
    )
    assert alike(kept_line, close, _ELSEWHERE)
    assert not alike(kept_line, close, _STEP)
    assert not alike(kept_line, far, _ELSEWHERE)
    assert alike(kept_line, other, _ELSEWHERE)
    assert not alike(kept_line, other, _STEP)
    assert not alike(kept_line, "", _ELSEWHERE)
