"""DO two texts say the same in the same words? They may differ in how they are written, and in articles that say nothing
(`text/articles.py`), and in nothing that could be a fact.

No list of opposites, units or names can be complete, and vectors of opposites are as near as those of paraphrases. So
every word counts, and so do its place, the marks around it and the lines: "(a or b) and c" is not "a or (b and c)", "Anna, says
Ben, owns it" is not "Anna says Ben owns it", and a line that is set in may belong to another block.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Final, NamedTuple

from onrecord.text.articles import ARTICLES, may_be_missing

#: A text may begin or end so without saying anything else.
_OPENING: Final = re.compile(
    r"(?:please\s+)?(?:note|remember|reminder|important|fyi)\s*(?::|,|\bthat\b)\s*|(?:also|by the way|btw),\s+|please\s+",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(r"(?:,\s+(?:by the way|btw|fyi)|\s+\((?:by the way|btw|fyi)\))$", re.IGNORECASE)
_SAME_MARK: Final = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "‐": "-",
        "‑": "-",
        "–": "-",
        "—": "-",
        "−": "-",
    }
)
# A question mark stays: a question says nothing.
# After a number it says something, unless that is a time of day: 4! is 24.
_AT_THE_END: Final = re.compile(r"(?:[\s.…。！]|(?<!\d)!|(?<=\d:\d\d)!)+$")
#: A text may be in quotes as a whole.
_QUOTED_WHOLE: Final = re.compile(r'"([^"]+)"')
_QUOTED: Final = re.compile(r"(?<!\w)'([^'\n]*)'(?!\w)")
_ENDS_A_SENTENCE: Final = re.compile(r"[.;:!?。；：！？]$")
#: The signs around the letters of a word.
_AROUND: Final = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_CONTRACTED: Final = {"can't": "can not", "won't": "will not", "shan't": "shall not", "cannot": "can not"}
_ENDINGS: Final = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am"}
_WITH_IS: Final = frozenset({"it's", "that's", "there's", "he's", "she's", "what's", "here's"})
#: Words that are written large for emphasis; other words in capitals may be names ("US", "IT").
_EMPHASIS: Final = frozenset({"always", "all", "do", "must", "never", "no", "not", "only"})


class _Word(NamedTuple):
    """A word as it is compared, with its marks."""

    text: str
    may_be_missing: bool = False


def is_same_wording(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but how they are written."""
    left, right = list(_lines(one)), list(_lines(other))
    return _is_with_articles(left, right) or _is_with_articles(right, left)


def _is_with_articles(full: list[list[_Word]], short: list[list[_Word]]) -> bool:
    """Whether the words are the same in the same order, but for articles that the second text lacks.

    Not for some that the first lacks too: then one may have moved.
    """
    return len(full) == len(short) and all(starmap(_lacks_articles, zip(full, short, strict=True)))


def _lacks_articles(full: Sequence[_Word], short: Sequence[_Word]) -> bool:
    at = 0
    for word in full:
        there = short[at].text if at < len(short) else None
        if word.text == there:
            at += 1
        elif not word.may_be_missing or there in ARTICLES:
            # "The owner" is not "an owner".
            return False
    return at == len(short)


def _lines(text: str) -> Iterator[list[_Word]]:
    """The words of each line, and how far it is set in."""
    plain = _bare(unicodedata.normalize("NFC", text).translate(_SAME_MARK).replace("`", ""))
    before = "."
    for line in plain.splitlines():
        line_words = [_Word(line[: len(line) - len(line.lstrip())])]
        words = line.split()
        for at, word in enumerate(words):
            begins = bool(_ENDS_A_SENTENCE.search(before))
            spelled = ["and"] if _is_and(words, at) else _spelled_out(word, begins=begins)
            is_article = len(spelled) == 1 and may_be_missing(
                [*words[:at], *spelled, *words[at + 1 :]], at, begins=begins
            )
            line_words += (_Word(each, is_article) for each in spelled)
            # A capital after an article that begins a sentence may have begun it.
            before = before if begins and is_article else word
        yield line_words


def _bare(text: str) -> str:
    """The text without the signs at either end of it."""
    plain = text.strip()
    plain = whole[1] if (whole := _QUOTED_WHOLE.fullmatch(_AT_THE_END.sub("", plain))) else plain
    plain = plain[opening.end() :] if (opening := _OPENING.match(plain)) else plain
    plain = _AT_THE_END.sub("", _CLOSING.sub("", _AT_THE_END.sub("", plain)))
    return _QUOTED.sub(r'"\1"', plain)


def _is_and(words: Sequence[str], at: int) -> bool:
    """Whether a sign means the word: between words, not in what may be code."""
    beside = (words[at - 1], words[at + 1]) if 0 < at < len(words) - 1 else ()
    return words[at] == "&" and bool(beside) and all(len(each) > 1 and each.isalpha() for each in beside)


def _spelled_out(word: str, *, begins: bool) -> list[str]:
    """A word as it is compared, with its marks. A capital counts unless a sentence begins with it: Turkey is not turkey."""
    found = _AROUND.match(word)
    assert found is not None
    opened, core, closed = found.groups()
    lower = core.lower()
    is_usual = core == lower or (begins and core[1:] == lower[1:]) or lower in _EMPHASIS
    if not is_usual or not lower.replace("'", "").replace("-", "").isalpha():
        return [word]
    first, *others = _plain(lower)
    *rest, last = (opened + first, *others)
    return [*rest, last + closed]


def _plain(lower: str) -> list[str]:
    if lower in _CONTRACTED:
        return _CONTRACTED[lower].split()
    if lower in _WITH_IS:
        return [lower.removesuffix("'s"), "is"]
    for ending, word in _ENDINGS.items():
        if lower.endswith(ending):
            return (lower.removesuffix(ending) + word).split()
    return [lower]
