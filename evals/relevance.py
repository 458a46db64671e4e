"""HOW PROBABLE is it that a hit bears on the question? Fits what `recall/relevance.py` weighs, for one embedder.

Run `python evals/relevance.py --data DIR --stores FOLDER` with the folders of questions that `onrecord eval` takes. It
saves every task into a store of FOLDER (those that are there already are used as they are), asks of each store its own
questions, those of other tasks and those of its other haystacks, and fits two logistic curves: whether the question was
one of its own, from the evidence of the best hits; and whether a hit is one of those that answer it, from its place and
its share of the best score. Every store counts alike, and so do own and other questions.

`--write FILE` keeps the first curve as a calibration, with the mean vector of the questions below. (The weights of the
built-in model's `calibration.json` come from a study of the same form: docs/evals.md.) For another model, configure it as the embedder, run this, and give the
embedder class the three values as `calibration` (`onrecord.providers.embedding.Calibration`).
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from onrecord import connect
from onrecord.config import load
from onrecord.evaluation.data import Haystack, Question, Task, read_task, tasks_in
from onrecord.evaluation.unanswerable import unanswerable
from onrecord.evaluation.ways import Saving, ThroughRecall, askable
from onrecord.providers.embedding import Calibration
from onrecord.providers.opening import open_embedder
from onrecord.recall import recall as pipeline
from onrecord.recall.draft import RecallDraft, RecallTools
from onrecord.recall.relevance import BEST, Evidence, gather_evidence, probability, words_of
from onrecord.service import OnRecord

#: Everyday questions about anything at all: what is near to all of them is near to every question.
QUESTIONS: Final = (
    "How long should I boil an egg?",
    "Which vitamins are found in carrots?",
    "What time does the train to Lyon leave?",
    "Who painted the ceiling of the chapel?",
    "How do I reset the password of my router?",
    "When was the treaty signed?",
    "What did the doctor say about her knee?",
    "Which of my cousins lives in Toronto?",
    "How many goals did the striker score last season?",
    "What is the boiling point of ethanol?",
    "Why does the build fail on the second machine?",
    "Where did they spend their honeymoon?",
    "Which port does the proxy listen on?",
    "How much did the new roof cost?",
    "What is the difference between a crocodile and an alligator?",
    "Who is responsible for the payroll of contractors?",
    "What colour was the car that he bought?",
    "How is interest on the loan calculated?",
    "Which river flows through the capital?",
    "What are the side effects of this medicine?",
    "When is the next meeting with the supplier?",
    "How do bees find their way home?",
    "What is the refund policy for damaged goods?",
    "Who directed the film about the lighthouse?",
    "How do I renew a driving licence?",
    "Which table keeps the shipments that were returned?",
    "What is the population of the largest city in the region?",
    "Did she finish reading the novel?",
    "How is the number of active subscribers defined?",
    "What should I pack for a week in the mountains?",
    "Which songs are on the second album?",
    "When does the certificate of the server expire?",
    "What kind of dog did they adopt?",
    "How many employees work in the sales department?",
    "What is the chemical formula of rust?",
    "Who won the election in the northern district?",
    "How can I make the query faster?",
    "What was the name of the teacher who helped him?",
    "Which plants need little water?",
    "How high is the tallest bridge?",
    "What does the error code mean?",
    "When did the company open its second office?",
    "Which exercises help against back pain?",
    "How many pages does the report have?",
    "What is the exchange rate used for invoices?",
    "Who wrote the anthem?",
    "Where do penguins live?",
    "What do I have to do before a release?",
)
#: So many questions of each other task, and of each other haystack, shared out among the haystacks of a task.
FOREIGN: Final = 100
#: Small stores, since those are what people begin with: so many of each task, and so many memories in each.
SMALL: Final = (12, 12, 12, 40, 40, 40)
SKIPPED: Final = ("adversarial",)
BANDS: Final = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question put to one store: whose it was, the evidence, and for each of the best hits its share of the best
    score and whether it answers the question."""

    store: str
    whose: str
    evidence: Evidence
    words: Evidence
    hits: tuple[tuple[float, bool], ...]
    answers: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--stores", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    options.stores.mkdir(parents=True, exist_ok=True)
    tasks = [read_task(options.data, name, SKIPPED) for name in tasks_in(options.data)]
    embedder = open_embedder(load().embedder)
    assert embedder is not None, "There is nothing to calibrate without an embedder."
    vectors = np.array([embedder.embed_query(question).vector for question in QUESTIONS])
    before: Calibration | None = getattr(embedder, "calibration", None)
    calibration = Calibration(0.72 if before is None else before.unrelated, vectors.mean(axis=0), {})
    rows = [
        row
        for store in [*tasks, *map(_small, tasks)]
        for row in _ask(store, tasks, options.stores, calibration)
    ]
    answered = _fit(rows, [asdict(row.evidence) for row in rows])
    alone = _fit(rows, [asdict(row.words) for row in rows])
    place = _fit_place(rows)
    print("answered:", answered, "\nby words alone:", alone, "\nplace:", place)
    _report(rows, answered, place)
    if options.write:
        kept = {
            "unrelated": calibration.unrelated,
            "weights": answered,
            "usual_question": [round(float(each), 5) for each in calibration.usual_question],
        }
        options.write.write_text(json.dumps(kept) + "\n", encoding="utf-8")


def _small(task: Task) -> Task:
    """Some small stores, each with five questions of the task and what answers them."""
    chance = random.Random(task.name)
    haystacks = []
    for number, size in enumerate(SMALL):
        whole = chance.choice(task.haystacks)
        few = [question for question in whole.questions if len(question.gold) <= 3]
        questions = chance.sample(few, min(5, len(few)))
        gold = {id for question in questions for id in question.gold}
        others = [document for document in whole.documents if document.id not in gold]
        documents = [document for document in whole.documents if document.id in gold]
        documents += chance.sample(others, min(max(size - len(documents), 2), len(others)))
        haystacks.append(Haystack(f"{whole.name}-{number}", documents, questions))
    return Task(f"{task.name}-small", haystacks, Counter())


def _ask(task: Task, tasks: Sequence[Task], folder: Path, calibration: Calibration) -> Iterator[Asked]:
    is_small = task.name.endswith("-small")
    for haystack, door, ids in _stores(task, folder):
        asked: list[tuple[str, Question]] = [("own", question) for question in haystack.questions]
        most = FOREIGN // len(task.haystacks) + 5
        for whose, questions in unanswerable(task, haystack, tasks, most).items():
            # Two small stores may be cut from one haystack: what one asks, the other may answer.
            asked += [(whose, question) for question in questions if whose == "foreign" or not is_small]
        for whose, question in asked:
            row = _one(door, question, whose, task.name, ids, calibration)
            if row is not None:
                yield row
    print(task.name, len(task.haystacks), "haystacks asked", flush=True)


def _stores(task: Task, folder: Path) -> Iterator[tuple[Haystack, OnRecord, Mapping[str, str]]]:
    path, kept = folder / f"{task.name}.db", folder / f"{task.name}.json"
    known: dict[str, dict[str, str]] = json.loads(kept.read_text()) if kept.exists() else {}
    with connect(path) as door:
        for number, haystack in enumerate(task.haystacks, 1):
            here = door.as_caller(replace(door.caller, tenant=f"eval-{number}", conversation=None))
            if haystack.name not in known:
                saving = Saving(now=datetime.now(UTC), notices=Counter(), saved=lambda: None)
                known[haystack.name] = dict(ThroughRecall().save(here, haystack, saving).memories)
                here.embed_missing()
                kept.write_text(json.dumps(known))
            yield haystack, here, known[haystack.name]


def _one(
    door: OnRecord,
    question: Question,
    whose: str,
    store: str,
    ids: Mapping[str, str],
    calibration: Calibration,
) -> Asked | None:
    seen: list[Asked] = []

    def look(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
        best = draft.ranked()[:BEST]
        evidence = (
            gather_evidence(draft, tools, best, calibration) if best and draft.vector is not None else None
        )
        if evidence is not None:
            first = draft.score(best[0]) or 1.0
            found = [(draft.score(key) / first, ids[draft.matches[key].id] in question.gold) for key in best]
            hits = tuple((share, gold and whose == "own") for share, gold in found)
            words = words_of(draft, tools, best)
            seen.append(
                Asked(
                    store=store,
                    whose=whose,
                    evidence=evidence,
                    words=words,
                    hits=hits,
                    answers=len(question.gold),
                )
            )
        return draft

    usual = pipeline.ORDER
    pipeline.ORDER = (*usual[:-1], look)  # type: ignore[misc]
    try:
        door.recall(askable(question, Counter()), limit=BEST)
    finally:
        pipeline.ORDER = usual  # type: ignore[misc]
    return seen[0] if seen else None


def _weights(rows: Sequence[Asked]) -> Any:
    """Every store counts alike, all small ones as one, and in each own questions as much as all others."""
    groups = [("small" if row.store.endswith("-small") else row.store, row.whose == "own") for row in rows]
    counts = Counter(groups)
    return np.array([1 / counts[group] for group in groups])


def _fit(rows: Sequence[Asked], evidence: Sequence[Mapping[str, float]]) -> dict[str, float]:
    own = np.array([row.whose == "own" for row in rows], float)
    return _logistic(evidence, own, _weights(rows))


def _fit_place(rows: Sequence[Asked]) -> dict[str, float]:
    hits = [
        ({"share": share, "place": float(np.log(place))}, gold, weight)
        for row, weight in zip(rows, _weights(rows), strict=True)
        if row.whose == "own"
        for place, (share, gold) in enumerate(row.hits, 1)
    ]
    return _logistic(
        [each for each, _, _ in hits],
        np.array([gold for _, gold, _ in hits], float),
        np.array([w for _, _, w in hits]),
    )


def _logistic(evidence: Sequence[Mapping[str, float]], seen: Any, weights: Any) -> dict[str, float]:
    """By Newton's method, with a breath of ridge; what never varies gets no weight."""
    names = [name for name in evidence[0] if len({each[name] for each in evidence}) > 1]
    values = np.array([[each[name] for name in names] for each in evidence])
    middle, spread = values.mean(axis=0), values.std(axis=0)
    table = np.column_stack([np.ones(len(values)), (values - middle) / spread])
    weights = weights / weights.mean()
    found = np.zeros(table.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(table @ found, -30, 30)))
        slope = table.T @ (weights * (chance - seen)) + 0.01 * found
        curve = (table * (weights * chance * (1 - chance))[:, None]).T @ table + 0.01 * np.eye(len(found))
        found -= np.linalg.solve(curve, slope)
    plain = found[1:] / spread
    constant = found[0] - float(plain @ middle)
    return {"constant": round(float(constant), 3)} | {
        name: round(float(weight), 3) for name, weight in zip(names, plain, strict=True)
    }


def _report(rows: Sequence[Asked], answered: Mapping[str, float], place: Mapping[str, float]) -> None:
    chances = np.array([probability(answered, asdict(row.evidence)) for row in rows])
    stores = sorted({row.store for row in rows})
    print("\nfloor: per cent of foreign / other haystacks' questions without an answer, and recall@10 lost")
    for floor in (0.01, 0.02, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3):
        told = []
        for store in stores:
            silent = [
                f"{100 * np.mean([chance < floor for chance, row in zip(chances, rows, strict=True) if (row.store, row.whose) == (store, whose)]):.0f}"
                for whose in ("foreign", "other")
                if any((row.store, row.whose) == (store, whose) for row in rows)
            ]
            own = [
                (chance, row)
                for chance, row in zip(chances, rows, strict=True)
                if (row.store, row.whose) == (store, "own")
            ]
            lost = np.mean(
                [(chance < floor) * sum(gold for _, gold in row.hits) / row.answers for chance, row in own]
            )
            told.append(f"{store} {'/'.join(silent)} -{100 * lost:.2f}")
        print(f"  {floor:.2f}  " + "  ".join(told))
    print("\nrelevance: hits, predicted, seen (every store and kind of question counts alike)")
    hits = [
        (chance * probability(place, {"share": share, "place": float(np.log(at))}), gold, weight)
        for chance, row, weight in zip(chances, rows, _weights(rows), strict=True)
        for at, (share, gold) in enumerate(row.hits, 1)
    ]
    for low, high in pairwise(BANDS):
        some = [each for each in hits if low <= each[0] < high]
        if some:
            weights = [weight for _, _, weight in some]
            predicted = np.average([chance for chance, _, _ in some], weights=weights)
            seen = np.average([gold for _, gold, _ in some], weights=weights)
            print(f"  {low:.2f} to {min(high, 1):.2f}  {len(some):6}  {predicted:.3f}  {seen:.3f}")


if __name__ == "__main__":
    main()
