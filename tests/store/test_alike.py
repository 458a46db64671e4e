"""DO the databases answer alike? The same corpus gives the same order and scores, and each equals a naive search."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import KINDS, PERMISSIONS, STATUSES, Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.recall.hits import Hit
from onrecord.recall.recipes import RECIPES
from onrecord.store.index import lexical
from onrecord.store.index.entries import CONTENT_WEIGHT, entries_of
from onrecord.testing.archive import export_lines, live_a_little
from onrecord.testing.builders import Clock, administrator, matched
from onrecord.testing.embedder import StubEmbedder
from onrecord.text import question_terms
from tests.soak import some, tries

#: A search in the index is compared with a naive one over so many.
MEMORIES = tries(50, soaking=150)
_VOCABULARY = [
    *"amber basalt cedar delta ember fjord granite harbor indigo juniper kestrel lagoon meadow nectar".split(),
    "mydb.orders_archive", "orderId", "naïve", "running", "東京の天気", "Привет", "the", "not", "v2.1", "👍",
]  # fmt: skip
_QUESTIONS = (
    "amber", "amber basalt cedar", "kestrel harbor", "orders archive", "order id", "naive runs", "東京", "привет",
    "the", "not the", "v2.1", "amber amber amber", "granite of the lagoon", "nothing here", "", "juniper nectar meadow",
    "amber basalt cedar delta ember fjord", "indigo lagoon meadow nectar kestrel juniper", "granite harbor",
)  # fmt: skip


def _fill(root: OnRecord, clock: Clock, memories: int) -> None:
    """Random memories in every scope, by the same throws of the dice on each database."""
    dice = random.Random(7)

    def words(most: int) -> str:
        # Some words are common and some are rare, as in life.
        return " ".join(
            dice.choices(_VOCABULARY, [1 / (n + 1) for n in range(len(_VOCABULARY))], k=dice.randint(1, most))
        )

    doors = [root, *(root.as_caller(caller) for caller in _CALLERS.values() if caller.tenant == "acme")]
    rooms = ["tenant", "user", "persona", "system", "session", "global"]
    for number in range(memories):
        door, room = dice.choice(doors), dice.choice(rooms)
        if room == "global" or (room == "persona" and not door.caller.personas):
            door = root
        if room == "session" and door.caller.conversation is None:
            room = "user"
        if room == "system" and not (door.caller.is_admin or door.caller.systems):
            room = "tenant"
        more = {"persona": "chef"} if room == "persona" else {"system": "crm"} if room == "system" else {}
        door.remember(
            words(30),
            id=f"m{number}" if room != "global" else f"global:m{number}",
            title=words(4) if dice.random() < 0.4 else words(1),
            tags=[words(1) for _ in range(dice.randint(0, 3))],
            kind=dice.choice(KINDS),
            scope=room,
            entities=[f"thing:{dice.choice(_VOCABULARY[:6])}"],
            **({"hint": words(6)} if dice.random() < 0.3 else {}),
            **({"source": words(3)} if dice.random() < 0.3 else {}),
            **more,
        )
        clock.tick(microseconds=1)
    for number, found in enumerate(root.browse(limit=1_000).memories):
        if number % 9 == 0:
            root.retire(found.id)
        elif number % 9 == 1:
            root.revise(found.id, content=words(12))
    clock.tick()


_CALLERS = {
    "admin": Caller(tenant="acme", user="root", permissions=frozenset(PERMISSIONS)),
    "ann": Caller(tenant="acme", user="ann", personas=frozenset({"chef"}), conversation="talk"),
    "bob": Caller(tenant="acme", user="bob", systems={"*": "manage"}),
    "stranger": Caller(tenant="beta", user="ann"),
}


#: What the last digits of float32 may make of a score.
_NOISE = 1e-5


class Answer(NamedTuple):
    """What a question brought, in full: what must be equal, and the numbers, of which float32 loses a little."""

    told: tuple[Any, ...]
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, hit: Hit) -> "Answer":
        parts, boosts = hit.why.parts, hit.why.boosts
        told = hit.memory.id, *((part.channel, part.rank) for part in parts), *(name for name, _ in boosts)
        scores = (number for part in parts for number in (part.score, part.share))
        return cls((*told, hit.why.path), (hit.score, *scores, *(factor for _, factor in boosts)))


def _clear(answers: Sequence[Answer]) -> list[set[tuple[Any, ...]]]:
    """The order, where those whose scores only noise tells apart may stand in any."""
    groups: list[set[tuple[Any, ...]]] = []
    last = math.inf
    for each in answers:
        if last - each.numbers[0] > _NOISE:
            groups.append(set())
        groups[-1].add(each.told)
        last = each.numbers[0]
    return groups


def _answers(root: OnRecord, clock: Clock) -> Iterator[tuple[tuple[str, ...], list[Answer]]]:
    """A fraction of all ways to ask, so chosen that any two of recipe, caller, time and question meet: more in a soak."""
    times = {
        "now": {},
        "as_of": {"as_of": clock.now},
        "known_at": {"known_at": clock.now - timedelta(seconds=1)},
    }
    for asked in product(enumerate(RECIPES), enumerate(_CALLERS), enumerate(times), enumerate(_QUESTIONS)):
        numbers, (recipe, who, when, question) = zip(*asked, strict=True)
        if sum(numbers) % tries(18, soaking=6) == 0:
            hits = (
                root.as_caller(_CALLERS[who])
                .recall(question, limit=200, kinds=["fact"], tags=["amber"], recipe=recipe, **times[when])
                .hits
            )
            yield (recipe, who, when, question), list(map(Answer.of, hits))


@pytest.fixture
def store_of(clock: Clock) -> Iterator[Callable[[str], OnRecord]]:
    doors = []

    def opened(db: str) -> OnRecord:
        doors.append(connect(db, caller=administrator(), clock=clock, embedder=StubEmbedder()))
        return doors[-1]

    yield opened
    for door in doors:
        door.close()


def test_the_same_corpus_gives_the_same_order_and_scores_on_both_databases(
    store_of: Callable[[str], OnRecord], clock: Clock, postgres_store: str
) -> None:
    start, told = clock.now, []
    for db in (":memory:", postgres_store):
        clock.now = start
        root = store_of(db)
        _fill(root, clock, 60)
        told.append(list(_answers(root, clock)))
    for here, there in zip(*told, strict=True):
        assert here[0] == there[0]
        assert _clear(here[1]) == _clear(there[1]), here[0]
        by_id = ({each.told[0]: each.numbers for each in answer[1]} for answer in (here, there))
        assert next(by_id) == {id: pytest.approx(told, abs=_NOISE) for id, told in next(by_id).items()}
    channels = Counter(part[0] for _, answers in told[0] for each in answers for part in each.told[1:-1])
    assert {"lexical", "semantic", "references"} <= {name for name, count in channels.items() if count > 100}


class Corpus:
    """BM25 over all that a caller sees, straight from the formula in whole numbers, with no index at all."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        entries = {memory.id: entries_of(memory) for memory in memories}
        self.lengths = {id: entry.length for id, entry in entries.items()}
        self.held = {
            id: {term: weight for term, weight, *_ in entry.postings} for id, entry in entries.items()
        }

    def search(self, visible: Sequence[Memory], question: str) -> list[tuple[str, float]]:
        terms = {token.term for token in question_terms(question)}
        total = len(self.lengths)
        average = sum(self.lengths.values()) / total
        k1, b, scale, precision = 1.2 * CONTENT_WEIGHT, 0.75, 1 << 24, 1 << 14
        base, per_word = round(k1 * (1 - b) * precision), round(k1 * b * precision / average)
        counts = {term: sum(term in words for words in self.held.values()) for term in terms}
        rarity = {
            term: round(math.log(1 + (total - count + 0.5) / (count + 0.5)) * scale)
            for term, count in counts.items()
        }
        scored = []
        for memory in visible:
            norm = base + per_word * self.lengths[memory.id]
            heavy = {term: self.held[memory.id].get(term, 0) * precision for term in terms}
            score = sum(rarity[term] * weight // (weight + norm) for term, weight in heavy.items())
            if score:
                scored.append((-score, memory.place, memory.id))
        return [(id, -score / scale) for score, _, id in sorted(scored)]


def test_the_index_finds_exactly_what_a_naive_search_finds(
    db: str, clock: Clock, store_of: Callable[[str], OnRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = store_of(db)
    _fill(root, clock, MEMORIES)
    everything = root.browse(statuses=list(STATUSES), limit=1_000).memories
    assert len(everything) == MEMORIES
    for caller in _CALLERS.values():
        door = root.as_caller(caller)
        # What others keep to themselves is not counted.
        corpus = Corpus(door.browse(statuses=list(STATUSES), limit=1_000).memories)
        for when, statuses in (
            (NOW, ()),
            (NOW, ("archived",)),
            (When(as_of=clock.now), ()),
            (When(known_at=clock.now), ()),
        ):
            visible = door.browse(
                limit=1_000, statuses=statuses, as_of=when.as_of, known_at=when.known_at
            ).memories
            # Whether all postings are few or none are: each question goes both ways.
            for question, few in product(some(_QUESTIONS, 7), (100_000, 0)):
                monkeypatch.setattr(lexical, "FEW_POSTINGS", few)
                expected = corpus.search(visible, question)
                assert _matched(door, clock, question, 1_000, when, statuses) == expected, (few, question)
    # Where most words are common, a search reads no more of their postings than it must; the answer is the same.
    corpus, visible = Corpus(everything), root.browse(limit=1_000).memories
    monkeypatch.setattr(lexical, "FEW_POSTINGS", 0)
    for common in (2, 40):
        monkeypatch.setattr(lexical, "_COMMON", common)
        monkeypatch.setattr(lexical, "_LOOK_UP_COST", common)
        for question, most in product(some(_QUESTIONS, 7), (1, 3, 10)):
            expected = corpus.search(visible, question)[:most]
            assert _matched(root, clock, question, most) == expected, (common, question, most)


def test_common_words_are_read_as_long_as_they_could_still_win(
    db: str, clock: Clock, store_of: Callable[[str], OnRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rare word in ever longer texts against a common one that stands in title, hint and tag."""
    monkeypatch.setattr(lexical, "_COMMON", 2)
    monkeypatch.setattr(lexical, "FEW_POSTINGS", 0)
    root = store_of(db)
    for number in range(12):
        for twin in "ab":
            root.remember(f"rare{number} " + f"{twin} " * number * 6, id=f"long{twin}{number}")
        root.remember(f"short {number}", id=f"short{number}", title="amber", hint="amber", tags=["amber"])
        root.remember(f"neither {number}", id=f"other{number}")
        root.remember(f"nor {number}", id=f"more{number}")
    visible = root.browse(limit=100).memories
    first = {number: Corpus(visible).search(visible, f"rare{number} amber")[0] for number in range(12)}
    assert {id.rstrip("0123456789") for id, _ in first.values()} == {"longa", "short"}
    for number, best in first.items():
        assert _matched(root, clock, f"rare{number} amber", 1) == [best]


def _matched(
    door: OnRecord, clock: Clock, question: str, most: int, when: When = NOW, statuses: Sequence[Status] = ()
) -> list[tuple[str, float]]:
    with door._store.reading(door.caller, clock.now) as reading:
        found = matched(reading, question, most=most, when=when, statuses=statuses)
    return [(match.id, score) for match, score in found]


def test_what_was_known_then_is_ranked_as_if_it_were_now(
    db: str, clock: Clock, store_of: Callable[[str], OnRecord]
) -> None:
    """The words of then are not indexed; they are scored by the statistics of today."""
    root = store_of(db)
    root.remember("amber basalt", id="a")
    root.remember("amber cedar cedar", id="b")
    root.remember("basalt", id="c")
    then = clock.now
    before = {
        question: [(hit.memory.id, hit.score) for hit in root.recall(question, recipe="lexical").hits]
        for question in ("amber", "basalt cedar")
    }
    clock.tick()
    for id in "abc":
        root.revise(id, confidence="high")
    for question, hits in before.items():
        found = root.recall(question, known_at=then, recipe="lexical").hits
        assert [(hit.memory.id, hit.score) for hit in found] == hits


def test_an_export_goes_from_sqlite_to_postgresql_and_back_without_loss(
    tmp_path: Path, postgres_store: str, clock: Clock, store_of: Callable[[str], OnRecord]
) -> None:
    stores = [
        store_of(str(tmp_path / "first.db")),
        store_of(postgres_store),
        store_of(str(tmp_path / "last.db")),
    ]
    live_a_little(stores[0], clock)
    stores[0].as_caller(administrator("eve", tenant="beta")).remember("of another tenant")
    lines = export_lines(stores[0], tmp_path / "0.jsonl", all_tenants=True)
    for number, store in enumerate(stores[1:], 1):
        done = store.import_(str(tmp_path / f"{number - 1}.jsonl"), keep_tenants=True)
        assert (done.added, done.unchanged, done.relations) == (11, 0, 5)
        assert export_lines(store, tmp_path / f"{number}.jsonl", all_tenants=True) == lines
        assert store.doctor().problems == ()
        assert store.embed_missing(all_tenants=True).embedded == 11
        for question in ("kestrel", "ünïcode revised", "proposal"):
            assert store.recall(question, limit=50).hits == stores[0].recall(question, limit=50).hits
    assert {store.remember("goes on").memory.id for store in stores} == {"93"}


def test_a_backup_holds_what_the_store_held(
    shared_db: str, tmp_path: Path, clock: Clock, store_of: Callable[[str], OnRecord]
) -> None:
    root = store_of(shared_db)
    live_a_little(root, clock)
    lines = export_lines(root, tmp_path / "export.jsonl")
    root.backup(str(tmp_path / "backup"))
    root.remember("after the backup")
    head = (tmp_path / "backup").read_bytes()[:16]
    if head == b"SQLite format 3\x00":
        copy = store_of(str(tmp_path / "backup"))
    else:
        copy = store_of(str(tmp_path / "restored.db"))
        copy.import_(str(tmp_path / "backup"), keep_tenants=True)
    assert export_lines(copy, tmp_path / "again.jsonl") == lines
    assert copy.doctor().problems == ()
