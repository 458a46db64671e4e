"""DO two texts say the same in the same words? They may differ in how they are written, and in nothing that could be a
fact.

No list of opposites, units or names can be complete, and vectors of opposites are as near as those of paraphrases. So
every word counts, and so do its place, the marks around it and the lines: "(a or b) and c" is not "a or (b and c)", "Anna, says
Ben, owns it" is not "Anna says Ben owns it", and a line that is set in may belong to another block.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

#: A text may begin so without saying anything else.
_OPENING: Final = re.compile(
    r"(?:please\s+)?(?:note|remember|important|fyi)\s*(?::|,|\bthat\b)\s*|please\s+", re.IGNORECASE
)
#: So may it with this article, unless that tells of how many: "the two" are all there are.
_ARTICLE: Final = re.compile(
    r"the\s+(?!\d|(?:few|less|least|little|majority|many|more|most|number|one|only|others?|same|two|three|four|five|six|seven"
    r"|eight|nine|ten|dozen)\b)",
    re.IGNORECASE,
)
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
# After a number it says something: 4! is 24.
_AT_THE_END: Final = re.compile(r"(?:[\s.…。！]|(?<!\d)!)+$")
_QUOTED: Final = re.compile(r"(?<!\w)'([^'\n]*)'(?!\w)")
_ENDS_A_SENTENCE: Final = re.compile(r"[.;:!?。；：！？]$")
#: What stands around the letters of a word.
_AROUND: Final = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_CONTRACTED: Final = {"can't": "can not", "won't": "will not", "shan't": "shall not", "cannot": "can not"}
_ENDINGS: Final = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am"}
_WITH_IS: Final = frozenset({"it's", "that's", "there's", "he's", "she's", "what's", "here's"})
#: Words that are written large for emphasis; other words in capitals may be names ("US", "IT").
_EMPHASIS: Final = frozenset({"always", "all", "do", "must", "never", "no", "not", "only"})


def is_same_wording(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but how they are written."""
    return list(_lines(one)) == list(_lines(other))


def _lines(text: str) -> Iterator[list[str]]:
    """The words of each line, and how far it is set in."""
    plain = unicodedata.normalize("NFC", text).translate(_SAME_MARK).replace("`", "").strip()
    plain = plain[opening.end() :] if (opening := _OPENING.match(plain)) else plain
    plain = plain[article.end() :] if (article := _ARTICLE.match(plain)) else plain
    plain = _QUOTED.sub(r'"\1"', _AT_THE_END.sub("", plain))
    before = "."
    for line in plain.splitlines():
        told = [line[: len(line) - len(line.lstrip())]]
        for word in line.split():
            told += _spelled_out(word, before)
            before = word
        yield told


def _spelled_out(word: str, before: str) -> list[str]:
    """A word as it is compared, with its marks. A capital counts unless a sentence begins with it: Turkey is not turkey."""
    found = _AROUND.match(word)
    assert found is not None
    opened, core, closed = found.groups()
    lower = core.lower()
    begins = bool(_ENDS_A_SENTENCE.search(before))
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
