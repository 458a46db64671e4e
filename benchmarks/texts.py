"""WHICH texts are measured? Real dialogue turns repeated with variation where a data directory is given, else Zipf words.

Deterministic: the same arguments give the same texts and questions.
"""

import json
import random
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z']+")
_SPEAKERS: Final = "Alma Boris Chen Dalia Egon Farah Goran Hana Ivo Jun Kira Lars Mona Nils Olga Pia".split()


class Texts:
    """Short memories, questions made of a memory's rarer words, and questions as people ask them."""

    def __init__(self, data: Path | None = None, seed: int = 7) -> None:
        self._seed = seed
        self._turns = _read(data, "corpus.jsonl") if data else _zipf(seed)
        self._asked = _read(data, "queries.jsonl") if data else []
        counts: dict[str, int] = {}
        for turn in self._turns:
            for word in _WORD.findall(turn.lower()):
                counts[word] = counts.get(word, 0) + 1
        self._counts = counts
        self._words = [word for word in counts if len(word) > 3]
        self._weights = list(accumulate(counts[word] for word in self._words))

    def memories(self, count: int) -> Iterator[str]:
        """The turns as they are, then again and again with a quarter of their longer words exchanged."""
        chance = random.Random(self._seed)
        for number in range(count):
            turn = self._turns[number % len(self._turns)]
            yield turn if number < len(self._turns) else self._varied(turn, chance)

    def _varied(self, turn: str, chance: random.Random) -> str:
        def exchange(found: re.Match[str]) -> str:
            if len(found.group()) > 3 and chance.random() < 0.25:
                return chance.choices(self._words, cum_weights=self._weights)[0]
            return found.group()

        return f"{chance.choice(_SPEAKERS)} {_WORD.sub(exchange, turn)}"

    def questions(self, count: int) -> list[str]:
        """Half of them a few of the rarer words of one memory, half asked as people do (rare words too without data)."""
        chance = random.Random(self._seed + 1)
        known = []
        for turn in chance.sample(self._turns[:1000], min(count // 2, len(self._turns[:1000]))):
            words = sorted(set(_WORD.findall(turn.lower())), key=lambda word: (self._counts[word], word))
            known.append(" ".join(words[: chance.randint(3, 5)]))
        natural = chance.sample(self._asked, min(count - len(known), len(self._asked)))
        return known + natural


def _read(data: Path, name: str) -> list[str]:
    with (data / "locomo_turn" / name).open(encoding="utf-8") as lines:
        return [" ".join(json.loads(line)["text"].split()) for line in lines]


def _zipf(seed: int) -> list[str]:
    chance = random.Random(seed)
    syllables = [first + vowel for first in "bcdfghklmnprstvz" for vowel in "aeiou"]
    vocabulary = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(12_000)]
    weights = [1 / (rank + 2) ** 1.07 for rank in range(len(vocabulary))]
    return [" ".join(chance.choices(vocabulary, weights, k=chance.randint(10, 50))) for _ in range(5_000)]
