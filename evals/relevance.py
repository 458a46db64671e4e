"""HOW PROBABLE is it that a hit bears on the question? Fits what `recall/relevance.py` weighs, for one embedder.

Run `python evals/relevance.py --data DIR --stores FOLDER` with the folders of questions that `onrecord eval` takes. It
saves every task, and smaller stores cut from it, into FOLDER (those that are there already are used as they are), asks of
each store its own questions, those of other tasks and those of its other haystacks, and fits two logistic curves: whether
the question was one of its own, from the evidence of the best hits; and whether a hit is one of those that answer it, from
its place and its share of the best score. Then it tells what each floor silences and costs, also for each task with weights
that were fitted without it.

`--write FILE` keeps the first curve as a calibration, with the mean vector of the questions below. That is how the built-in
model's `calibration.json` was made; the other two curves are constants of `recall/relevance.py`. For another model,
configure it as the embedder, run this, and give the embedder class the three values as `calibration`
(`onrecord.providers.embedding.Calibration`).
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
from onrecord.evaluation.data import EvalQuestion, Haystack, Task, read_task, tasks_in
from onrecord.evaluation.methods import SaveContext, ThroughRecall, askable
from onrecord.evaluation.unanswerable import unanswerable
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
#: Smaller stores, cut from each task: else how large a store is could not be told from what it is about. How many
#: memories each has, as far as its haystack has more, and how many questions.
PARTS: Final = (
    (12, 5),
    (12, 5),
    (12, 5),
    (40, 10),
    (40, 10),
    (40, 10),
    (150, 40),
    (150, 40),
    (600, 60),
    (2400, 80),
)
#: What all parts of a task count, where the task itself counts 1.
PARTS_COUNT: Final = 0.4
FLOORS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.15, 0.2)
PARTS_OF: Final = "-parts"
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
    parser.add_argument(
        "--questions",
        type=int,
        default=100,
        help="Ask so many of the own questions of each haystack at most, and half as many of each other task, "
        "shared out among the haystacks.",
    )
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
        for store in [*tasks, *map(_parts, tasks)]
        for row in _ask(store, tasks, options.stores, calibration, options.questions)
    ]
    evidence, words = [asdict(row.evidence) for row in rows], [asdict(row.words) for row in rows]
    answered, alone, place = _fit(rows, evidence), _fit(rows, words), _fit_place(rows)
    print("answered:", answered, "\nby words alone:", alone, "\nplace:", place)
    chances = np.array([probability(answered, each) for each in evidence])
    _report("in sample", rows, chances)
    _report("held out: each task by weights fitted without it", rows, _held_out(rows, evidence))
    _report("by words alone, in sample", rows, np.array([probability(alone, each) for each in words]))
    _report_hits(rows, chances, place)
    if options.write:
        kept = {
            "unrelated": calibration.unrelated,
            "weights": answered,
            "usual_question": [round(float(each), 5) for each in calibration.usual_question],
        }
        options.write.write_text(json.dumps(kept) + "\n", encoding="utf-8")


def _parts(task: Task) -> Task:
    """Smaller stores of a task, each with some of its questions and what answers them."""
    chance = random.Random(task.name)
    haystacks = []
    for number, (size, most) in enumerate(PARTS):
        whole = chance.choice(task.haystacks)
        if size >= len(whole.documents):
            continue
        few = [question for question in whole.questions if len(question.gold) <= 3]
        questions = chance.sample(few, min(most, len(few)))
        gold = {id for question in questions for id in question.gold}
        others = [document for document in whole.documents if document.id not in gold]
        documents = [document for document in whole.documents if document.id in gold]
        documents += chance.sample(others, min(max(size - len(documents), 2), len(others)))
        haystacks.append(Haystack(f"{whole.name}-{number}-{size}", documents, questions))
    return Task(task.name + PARTS_OF, haystacks, Counter())


def _ask(
    task: Task, tasks: Sequence[Task], folder: Path, calibration: Calibration, most: int
) -> Iterator[Asked]:
    is_part = task.name.endswith(PARTS_OF)
    for haystack, door, ids in _stores(task, folder):
        own = random.Random(haystack.name).sample(haystack.questions, min(most, len(haystack.questions)))
        asked: list[tuple[str, EvalQuestion]] = [("own", question) for question in own]
        few = most // 2 // len(task.haystacks) + 5
        for whose, questions in unanswerable(task, haystack, tasks, few).items():
            # Two parts may be cut from one haystack: what one asks, the other may answer.
            asked += [(whose, question) for question in questions if whose == "foreign" or not is_part]
        for of_whom, question in asked:
            row = _one(door, question, of_whom, task.name, ids, calibration)
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
                saving = SaveContext(now=datetime.now(UTC), notices=Counter(), saved=lambda: None)
                known[haystack.name] = dict(ThroughRecall().save(here, haystack, saving).memories)
                here.embed_missing()
                kept.write_text(json.dumps(known))
            yield haystack, here, known[haystack.name]


def _one(
    door: OnRecord,
    question: EvalQuestion,
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
    """Every task counts alike, and in each own questions as much as all others."""
    groups = [(row.store, row.whose == "own") for row in rows]
    counts = Counter(groups)
    return np.array([(PARTS_COUNT if group[0].endswith(PARTS_OF) else 1) / counts[group] for group in groups])


def _fit(rows: Sequence[Asked], evidence: Sequence[Mapping[str, float]]) -> dict[str, float]:
    own = np.array([row.whose == "own" for row in rows], float)
    return _logistic(evidence, own, _weights(rows))


def _held_out(rows: Sequence[Asked], evidence: Sequence[Mapping[str, float]]) -> Any:
    tasks = np.array([row.store.removesuffix(PARTS_OF) for row in rows])
    chances = np.zeros(len(rows))
    for task in set(tasks):
        others = [int(each) for each in np.flatnonzero(tasks != task)]
        weights = _fit([rows[each] for each in others], [evidence[each] for each in others])
        for each in map(int, np.flatnonzero(tasks == task)):
            chances[each] = probability(weights, evidence[each])
    return chances


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


def _report(how: str, rows: Sequence[Asked], chances: Any) -> None:
    print(
        f"\n{how}: per cent of foreign / other haystacks' questions without an answer, recall@10 and all@10 lost"
    )
    asked = np.array([f"{row.store} {row.whose}" for row in rows])
    found = np.array([sum(gold for _, gold in row.hits) / row.answers for row in rows])
    for floor in FLOORS:
        told = []
        for store in sorted({row.store for row in rows}):
            own, *vain = (asked == f"{store} {whose}" for whose in ("own", "foreign", "other"))
            silent = "/".join(f"{100 * np.mean(chances[each] < floor):.0f}" for each in vain if each.any())
            lost = [100 * np.mean(each[own] * (chances[own] < floor)) for each in (found, found == 1)]
            told.append(f"{store} {silent} -{lost[0]:.2f} -{lost[1]:.2f}")
        print(f"  {floor:.2f}  " + "  ".join(told))


def _report_hits(rows: Sequence[Asked], chances: Any, place: Mapping[str, float]) -> None:
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
