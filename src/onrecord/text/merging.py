"""HOW do two changes of one text come together? Line by line; where both changed the same lines, both stay, between marks."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

OURS: Final = "<<<<<<< the store"
BETWEEN: Final = "======="
THEIRS: Final = ">>>>>>> this file"


class Merged(NamedTuple):
    """The text with both changes, and whether some lines were changed in two ways, which stand there between marks."""

    text: str
    conflicts: bool


class _Same(NamedTuple):
    """A stretch of lines that is the same in all three texts: where it begins in each, and how long it is."""

    base: int
    ours: int
    theirs: int
    length: int


def merged(base: str, ours: str, theirs: str) -> Merged:
    """What becomes of `base` if it is changed to `ours` and to `theirs`."""
    if ours == theirs or theirs == base:
        return Merged(ours, False)
    if ours == base:
        return Merged(theirs, False)
    before, left, right = (text.split("\n") for text in (base, ours, theirs))
    lines: list[str] = []
    conflicts = False
    for start, end in pairwise(_same_in_all(before, left, right)):
        lines += before[start.base : start.base + start.length]
        was = before[start.base + start.length : end.base]
        one = left[start.ours + start.length : end.ours]
        other = right[start.theirs + start.length : end.theirs]
        if one == other or other == was:
            lines += one
        elif one == was:
            lines += other
        else:
            conflicts = True
            lines += [OURS, *one, BETWEEN, *other, THEIRS]
    return Merged("\n".join(lines), conflicts)


def has_marks(text: str) -> bool:
    """Whether someone has yet to decide between two sides."""
    return any(line in (OURS, THEIRS) for line in text.split("\n"))


def _same_in_all(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[_Same]:
    """Stretches of lines that neither side changed, in order, from an empty one at the beginning to one at the end."""
    found = [_Same(0, 0, 0, 0), *_common(base, ours, theirs)]
    return [*found, _Same(len(base), len(ours), len(theirs), 0)]


def _common(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Same]:
    left = SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks()
    right = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    one = other = 0
    while one < len(left) and other < len(right):
        start = max(left[one].a, right[other].a)
        end = min(left[one].a + left[one].size, right[other].a + right[other].size)
        if start < end:
            yield _Same(
                start, left[one].b + start - left[one].a, right[other].b + start - right[other].a, end - start
            )
        if left[one].a + left[one].size < right[other].a + right[other].size:
            one += 1
        else:
            other += 1
