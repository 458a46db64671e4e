"""WHAT differs between two texts? Word by word, with at most so much work that no pair of texts takes long."""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

_WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")
#: Texts with more differences than this are shown as one replaced by the other.
_MOST_EDITS: Final = 250


class TextChange(NamedTuple):
    """A stretch of text that stayed, was taken away, or was added."""

    change: Literal["same", "removed", "added"]
    text: str


def differences(before: str, after: str) -> list[TextChange]:
    """The later text with what was taken from the earlier one; all spans but the added ones make the earlier text."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    middle = _path(old[first : len(old) - last], new[first : len(new) - last])
    spans = [
        TextChange("same", "".join(old[:first])),
        *middle,
        TextChange("same", "".join(old[len(old) - last :])),
    ]
    return _readable([span for span in spans if span.text])


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many words two texts begin with alike."""
    for at, (left, right) in enumerate(zip(old, new, strict=False)):
        if left != right:
            return at
    return min(len(old), len(new))


def _path(old: Sequence[str], new: Sequence[str]) -> list[TextChange]:
    """The fewest edits from one to the other, by the algorithm of Myers."""
    if not old or not new:
        return [TextChange("removed", "".join(old)), TextChange("added", "".join(new))]
    reached: dict[int, int] = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MOST_EDITS) + 1):
        history.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(reached, diagonal, edits)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _traced(old, new, history)
    return [TextChange("removed", "".join(old)), TextChange("added", "".join(new))]


def _step(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """How far one comes with one more edit: by an added word, or by a removed one."""
    if _comes_by_adding(reached, diagonal, edits):
        return reached[diagonal + 1]
    return reached[diagonal - 1] + 1


def _comes_by_adding(reached: dict[int, int], diagonal: int, edits: int) -> bool:
    if diagonal == -edits:
        return True
    return diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1]


def _traced(old: Sequence[str], new: Sequence[str], history: Sequence[dict[int, int]]) -> list[TextChange]:
    """The way back, from the ends of both texts to their beginnings."""
    x, y = len(old), len(new)
    back: list[TextChange] = []
    for edits in range(len(history) - 1, -1, -1):
        reached, diagonal = history[edits], x - y
        start = _step(reached, diagonal, edits) if edits else 0
        while x > start:
            x, y = x - 1, y - 1
            back.append(TextChange("same", old[x]))
        if edits == 0:
            break
        if _comes_by_adding(reached, diagonal, edits):
            y -= 1
            back.append(TextChange("added", new[y]))
        else:
            x -= 1
            back.append(TextChange("removed", old[x]))
    return back[::-1]


def _readable(spans: Sequence[TextChange]) -> list[TextChange]:
    """Neighbouring changes as one, so that one reads whole phrases: a space between two of them joins them."""
    joined: list[TextChange] = []
    removed, added, held = "", "", ""
    for change, text in spans:
        if change == "same" and not text.isspace():
            joined += _changed(removed, added)
            joined.append(TextChange("same", held + text))
            removed = added = held = ""
        elif change == "same":
            held += text
        else:
            if held and (removed or added):
                removed, added = removed + held, added + held
            elif held:
                joined.append(TextChange("same", held))
            held = ""
            removed, added = (removed + text, added) if change == "removed" else (removed, added + text)
    joined += _changed(removed, added)
    return _merged([*joined, TextChange("same", held)] if held else joined)


def _changed(removed: str, added: str) -> list[TextChange]:
    both = (TextChange("removed", removed), TextChange("added", added))
    return [span for span in both if span.text]


def _merged(spans: Sequence[TextChange]) -> list[TextChange]:
    merged: list[TextChange] = []
    for span in spans:
        if merged and merged[-1].change == span.change:
            merged[-1] = TextChange(span.change, merged[-1].text + span.text)
        else:
            merged.append(span)
    return merged
