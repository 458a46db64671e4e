"""WHICH entry comes first? The promises of the order, over many generated entries and with the built-in embedder."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.faces.arbiter import entries, slash
from tests.soak import tries

FILLERS = (
    "river market engine window harvest signal copper meadow lantern bridge ticket garden weather library kitchen "
    "morning shadow paper winter travel number village forest orchestra bottle station pattern minute bakery island "
    "quarter machine teacher history pocket silver picture evening cotton harbour"
).split()
#: Words that no other entry holds, and words that many hold.
RARE = ("kestrel", "zirconium", "quokka", "fjord", "bassoon", "obsidian")
COMMON = ("pricing", "deployment", "memory", "invoice", "customer", "latency")

Order = Callable[[OnRecord, str], list[int]]


def over_python(door: OnRecord, question: str) -> list[int]:
    found = entries.list_entries(door, {"q": question, "intent": "off", "limit": "200"})
    return [each["id"] for each in found["entries"]]


def over_slash(door: OnRecord, question: str) -> list[int]:
    told = slash.run(door, f"/mem search {question}").output
    return [int(id) for id in re.findall(r"^- #(\d+)  ", told, re.MULTILINE)]


SURFACES: tuple[Order, ...] = (over_python, over_slash)


@pytest.fixture
def door() -> Iterator[OnRecord]:
    with connect(":memory:", caller=Caller(tenant="acme", user="ann")) as opened:
        yield opened


class Writer:
    """Writes entries of random words, with some words where they are wanted."""

    def __init__(self, door: OnRecord, seed: int) -> None:
        self.door, self.chance = door, random.Random(seed)

    def filler(self, fewest: int, most: int) -> list[str]:
        return self.chance.choices(FILLERS, k=self.chance.randint(fewest, most))

    def with_words(self, fewest: int, most: int, *words: str) -> str:
        """Random words, and these somewhere among them."""
        told = self.filler(fewest, most)
        for word in words:
            told.insert(self.chance.randint(0, len(told)), word)
        return " ".join(told)

    def apart(self, words: Sequence[str], gap: int) -> str:
        """These words in their order, so many others between each and the next."""
        told = list(words[:1])
        for word in words[1:]:
            told += [*self.chance.choices(FILLERS, k=gap), word]
        return " ".join([*self.filler(0, 12), *told, *self.filler(0, 12)])

    def add(self, title: str = "", content: str = "", **more: Any) -> int:
        body = {
            "type": "project",
            "title": title or self.with_words(2, 6),
            "content": content or self.with_words(5, 40),
        }
        return int(entries.create_entry(self.door, body | more)["id"])

    def shuffled(self, **groups: Sequence[dict[str, Any]]) -> dict[str, set[int]]:
        """The ids of each group, written in any order."""
        pool = [(name, each) for name, group in groups.items() for each in group]
        self.chance.shuffle(pool)
        written: dict[str, set[int]] = {name: set() for name in groups}
        for name, each in pool:
            written[name].add(self.add(**each))
        return written


def assert_in_order(found: Sequence[int], *groups: set[int]) -> None:
    """Every entry of a group comes before every one of the next, and all of them are there."""
    rest = [id for id in found if any(id in group for group in groups)]
    for group in groups:
        assert set(rest[: len(group)]) == group, (found, groups)
        rest = rest[len(group) :]


@pytest.mark.parametrize("seed", range(tries(1, soaking=10)))
class TestFields:
    @pytest.mark.parametrize("words", [RARE, COMMON], ids=["rare", "common"])
    def test_title_then_tags_then_body_then_source(
        self, door: OnRecord, seed: int, words: Sequence[str]
    ) -> None:
        writer = Writer(door, seed)
        word, often = writer.chance.choice(words), 1 if words is RARE else 5
        groups = writer.shuffled(
            titled=[{"title": writer.with_words(0, 8, word)} for _ in range(often)],
            tagged=[{"tags": [*{*writer.filler(0, 3)}, word]} for _ in range(often)],
            # However often a body says it, and however short it is.
            told=[{"content": writer.with_words(1, 60, *[word] * (1 + at % 5))} for at in range(2 * often)],
            sourced=[{"source": f"the {word} page"} for _ in range(often)],
            others=[{} for _ in range(10)],
        )
        wordless = groups.pop("others")
        for order in SURFACES:
            found = order(door, word)
            assert_in_order(found, *groups.values(), wordless & {*found})

    def test_two_words_of_the_title_or_the_tags_outrank_the_same_in_the_body(
        self, door: OnRecord, seed: int
    ) -> None:
        writer = Writer(door, seed)
        pair = [writer.chance.choice(RARE), writer.chance.choice(COMMON)]
        groups = writer.shuffled(
            titled=[{"title": writer.with_words(2, 12, *pair)} for _ in range(3)],
            told=[{"content": writer.with_words(5, 40, " ".join(pair))} for _ in range(5)],
        )
        tagged = writer.shuffled(
            tagged=[{"tags": [*pair, *{*writer.filler(0, 3)}]} for _ in range(3)],
            others=[{} for _ in range(5)],
        )
        for order in SURFACES:
            found = order(door, " ".join(pair))
            assert_in_order(found, groups["titled"], groups["told"], tagged["others"] & {*found})
            assert_in_order(found, tagged["tagged"], groups["told"])


@pytest.mark.parametrize("seed", range(tries(1, soaking=10)))
@pytest.mark.parametrize("count", [2, 3, 5])
class TestNearness:
    def test_a_phrase_then_words_that_stand_near_then_words_far_apart(
        self, door: OnRecord, seed: int, count: int
    ) -> None:
        writer = Writer(door, seed)
        words = writer.chance.sample([*RARE, *COMMON], count)
        near = 8 // (count - 1) - 1
        groups = writer.shuffled(
            phrase=[{"content": writer.apart(words, 0)} for _ in range(3)],
            near=[{"content": writer.apart(words, near)} for _ in range(3)],
            # Said more than once, and still apart.
            far=[{"content": writer.apart(words * 2, 12)} for _ in range(3)],
            one=[{"content": writer.with_words(5, 30, words[0])} for _ in range(2)],
        )
        for order in SURFACES:
            assert_in_order(order(door, " ".join(words)), *groups.values())


def test_a_phrase_counts_with_the_small_words_between_its_words(door: OnRecord) -> None:
    writer = Writer(door, 1)
    groups = writer.shuffled(
        said=[{"content": writer.with_words(5, 20, "bassoon of the fjord")} for _ in range(3)],
        near=[{"content": writer.apart(["fjord", "bassoon"], 3)} for _ in range(3)],
    )
    for order in SURFACES:
        assert_in_order(order(door, "the bassoon of the fjord"), *groups.values())


def test_however_many_say_the_words_more_often_title_tags_and_phrase_come_first() -> None:
    """More than the fields of all can be read of: by mentions and length alone, these would come last."""
    with connect(":memory:", caller=Caller(tenant="acme", user="ann"), embedder="none") as door:
        writer = Writer(door, 1)
        for _ in range(130):
            writer.add(content=writer.apart(["latency", "fjord"] * 3, 9))
        long = " ".join(writer.filler(300, 300))
        titled = {writer.add(title="On latency", content=long)}
        tagged = {writer.add(content=long, tags=["latency"])}
        phrase = {writer.add(content=f"{long} latency fjord {long}")}
        for order in SURFACES:
            assert_in_order(order(door, "latency")[:2], titled, tagged)
            assert_in_order(order(door, "latency fjord")[:1], phrase)


@pytest.mark.parametrize("seed", range(tries(1, soaking=10)))
def test_inside_a_conversation_what_is_pinned_there_comes_first(door: OnRecord, seed: int) -> None:
    here, there = (door.register_conversation().conversation.id for _ in range(2))
    writer = Writer(door, seed)
    word = writer.chance.choice(COMMON)

    def group(pinned: str | None) -> list[dict[str, Any]]:
        titled = [{"title": writer.with_words(1, 6, word), "conversation_id": pinned} for _ in range(3)]
        told = [{"content": writer.with_words(3, 40, word), "conversation_id": pinned} for _ in range(3)]
        return titled + told

    written = writer.shuffled(here=group(here), free=group(None), there=group(there))
    wordless = writer.shuffled(pinned=[{"conversation_id": here} for _ in range(5)])["pinned"]
    inside = door.as_caller(door.caller.inside(here))
    for found in (over_slash(inside, word), graduated(inside, word, here)):
        assert_in_order(found, written["here"], written["free"] | written["there"])
        # What holds no word of the question comes behind all that does, pinned or not.
        assert_in_order(found, set().union(*written.values()), wordless & {*found})


def graduated(door: OnRecord, question: str, conversation: str) -> list[int]:
    query = {"q": question, "conversation_id": conversation, "graduated": "true", "limit": "200"}
    return [each["id"] for each in entries.list_entries(door, query)["entries"]]


def test_places_add_up_to_the_last_digit(door: OnRecord) -> None:
    """1.5 for a place among what is pinned here, 1 for a place among all, k = 60."""
    here = door.register_conversation().conversation.id
    writer = Writer(door, 5)
    for pinned in (here, None, here, None):
        writer.add(content=writer.with_words(3, 20, "kestrel"), conversation_id=pinned)
    hits = door.as_caller(door.caller.inside(here)).recall("kestrel", recipe=entries.RECIPE).hits
    assert len(hits) == 4
    places = [{part.channel: part.rank for part in hit.why.parts} for hit in hits]
    for hit, at in zip(hits, places, strict=True):
        local = 1.5 / (60 + at["here"]) if "here" in at else 0.0
        assert hit.score == pytest.approx(1 / (60 + at["everywhere"]) + local, rel=1e-12)
    assert ["here" in at for at in places] == [True, True, False, False]
