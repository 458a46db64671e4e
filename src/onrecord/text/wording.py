"""DO two texts say the same in the same words? They may differ in articles, case, quotes and marks, and in nothing that
could be a fact.

No list of opposites, units or names can be complete, and vectors of opposites are as near as those of paraphrases. So
every word counts, and so does its place: "cents for orders, euros for refunds" turned round says the opposite.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

#: A text may begin so without saying anything else.
_OPENING: Final = re.compile(
    r"(?:please\s+)?(?:note|remember|important|fyi|nb)\s*(?::|,|\bthat\b)\s*|please\s+", re.IGNORECASE
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
_BEFORE_A_WORD: Final = "([{\"'`¿¡「『（"
# A question mark stays: a question says nothing.
_AFTER_A_WORD: Final = ")]}\"'`.,;:!…」』）。、，；：！"
_UNIT: Final = re.compile(r"(?<=\d)['\"]+")
_ENDS_A_SENTENCE: Final = re.compile(r"[.;:!?。；：！？](?:\s|$)")
_CONTRACTED: Final = {"can't": "can not", "won't": "will not", "shan't": "shall not", "cannot": "can not"}
_ENDINGS: Final = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am"}
_WITH_IS: Final = frozenset({"it's", "that's", "there's", "he's", "she's", "what's", "here's"})
_SAME_WORD: Final = {"each": "every", "gets": "is", "get": "are"}
#: Words that are written large for emphasis; other words in capitals may be names ("US", "IT").
_EMPHASIS: Final = frozenset({"always", "all", "do", "must", "never", "no", "not", "only"})
#: Words that change what stands beside them, unless a mark stands between.
_BOUND: Final = frozenset(
    {
        *(
            "all",
            "also",
            "but",
            "even",
            "few",
            "just",
            "many",
            "never",
            "no",
            "non",
            "nor",
            "not",
            "only",
            "some",
        ),
        *("without", "kein", "keine", "nicht", "nie", "nur", "ohne", "jamais", "ne", "pas", "sans", "nunca"),
        *("sin", "mai", "senza", "não", "sem", "niet", "geen", "не", "нет", "без"),
    }
)


def is_same_wording(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but how they are written."""
    return list(_words(one)) == list(_words(other))


def _words(text: str) -> Iterator[str]:
    """The words that tell one statement from another. What is spelled in a way of its own keeps its case."""
    plain = unicodedata.normalize("NFC", text).translate(_SAME_MARK).strip()
    plain = plain[opening.end() :] if (opening := _OPENING.match(plain)) else plain
    given = plain.split()
    before = "."
    for at, chunk in enumerate(given):
        core = _core(chunk)
        if core and not _is_article(core, at, given[at + 1 : at + 2]):
            for word in _spelled_out(core, begins=bool(_ENDS_A_SENTENCE.search(before))):
                # "No, use it" is not "No use".
                yield f"{word}," if word in _BOUND and chunk.endswith((",", ".", ";", ":")) else word
        before = chunk


def _core(chunk: str) -> str:
    """The chunk without the marks around it. After a number a quote may be a unit: 5' and 5\"."""
    core = chunk.lstrip(_BEFORE_A_WORD).rstrip(_AFTER_A_WORD)
    if chunk.startswith("(") and core[:1].isdigit():
        # In accounts (100) is a loss.
        return f"({core})"
    return (
        core + mark.group() if core and (mark := _UNIT.match(chunk, chunk.find(core) + len(core))) else core
    )


def _is_article(core: str, at: int, following: list[str]) -> bool:
    """Not "A" as a name, as in "store A", and not that of "a few", which are more than few."""
    if core.lower() in ("the", "an"):
        return core != "AN"
    return (core == "a" or (core == "A" and at == 0)) and following not in (["few"], ["little"])


def _spelled_out(core: str, *, begins: bool) -> list[str]:
    """A word as it is compared. A capital counts unless a sentence begins with it: Turkey is not turkey."""
    lower = core.lower()
    is_usual = core == lower or (begins and core[1:] == lower[1:]) or lower in _EMPHASIS
    if not is_usual or not lower.replace("'", "").replace("-", "").isalpha():
        return [core]
    if lower in _CONTRACTED:
        return _CONTRACTED[lower].split()
    if lower in _WITH_IS:
        return [lower.removesuffix("'s"), "is"]
    for ending, word in _ENDINGS.items():
        if lower.endswith(ending):
            return (lower.removesuffix(ending) + word).split()
    return [_SAME_WORD.get(lower, lower)]
