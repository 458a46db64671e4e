"""WHICH kinds of memory does a question ask for? Cue words hint at kinds; the caller decides what a hint is worth."""

import re
from typing import Final

from onrecord.model.limits import KINDS, Kind

_CUES: Final[tuple[tuple[str, tuple[Kind, ...]], ...]] = (
    (
        "favorite, favourite, prefer, love, hate, enjoy, dislike, wants, liked",
        ("user", "feedback", "preference"),
    ),
    ("what is, where is, who is, how many, url, address, endpoint", ("reference",)),
    ("how to, how do, why is, explain, tutorial, guide", ("learning",)),
    ("when, before, after, since, first, recent, ago, did", ("project",)),
)
_KINDS_BY_CUE: Final = {cue: kinds for cues, kinds in _CUES for cue in cues.split(", ")}
_FIRST_OF_TWO: Final = frozenset(cue.split()[0] for cue in _KINDS_BY_CUE if " " in cue)

# A word, or the punctuation that keeps two words apart; a hyphen or an apostrophe does not: how-to, what's.
_WORDS: Final = re.compile(r"\w+|[^\w\s'’-]")


def read_intents(question: str) -> tuple[Kind, ...]:
    """The kinds that the cue words of a question speak of, in the order of the closed list; often there is none.

    Whole words count, whatever their case and the punctuation around them.
    """
    meant: set[Kind] = set()
    words = _WORDS.findall(question.lower())
    for place, word in enumerate(words):
        meant.update(_KINDS_BY_CUE.get(word, ()))
        if word in _FIRST_OF_TWO and place + 1 < len(words):
            second = "is" if words[place + 1] == "s" else words[place + 1]
            meant.update(_KINDS_BY_CUE.get(f"{word} {second}", ()))
    return tuple(kind for kind in KINDS if kind in meant) if meant else ()
