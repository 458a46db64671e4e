"""WHERE is a long text cut? At word boundaries, into passages that overlap, so that no sentence is lost between two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from onrecord.providers.e5.wordpiece import Word


@dataclass(frozen=True, slots=True)
class Cut:
    """How a text is cut: at most `words` words a passage, of which the next one repeats the last `overlap`."""

    words: int = 180
    overlap: int = 40

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.words:
            raise ValueError("A passage must be longer than its overlap with the next one.")

    def passages(self, words: Sequence[Word], room: int) -> Iterator[list[int]]:
        """The tokens of each passage, at most `room`; a text without words gives one empty passage."""
        words = _fitting(words, room)
        start, end = 0, -1
        while end < len(words):
            end = _end(words, start, self.words, room)
            yield list(chain.from_iterable(words[start:end]))
            # If long words make a passage short, the overlap shrinks with it.
            start += max(1, (end - start) * (self.words - self.overlap) // self.words)


def _end(words: Sequence[Word], start: int, most: int, room: int) -> int:
    end = start
    while end < min(len(words), start + most) and len(words[end]) <= room:
        room -= len(words[end])
        end += 1
    return end


def _fitting(words: Sequence[Word], room: int) -> Sequence[Word]:
    """Cut words that are longer than a whole passage (a key, a table in one line)."""
    if all(len(word) <= room for word in words):
        return words
    return [word[place : place + room] for word in words for place in range(0, len(word), room)]
