"""HOW are letters brought to one form at a bounded cost? Marks over one letter are sorted, which takes the square of their number."""

import re
import unicodedata
from typing import Final, Literal

#: As many marks as the Unicode standard lets a stream of text have over one letter (UAX 15, stream-safe text).
MOST_MARKS: Final = 30
# No mark is a letter, a digit or of ASCII, so that most texts need one look and no more.
_MAYBE_MARKS: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MOST_MARKS + 1},}}")


def to_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """The text in one of the forms of Unicode; of more marks over one letter than any script has, the first ones."""
    return unicodedata.normalize(form, _MAYBE_MARKS.sub(_with_few_marks, text))


def _with_few_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for letter in run.group():
        marks = marks + 1 if unicodedata.combining(letter) else 0
        if marks <= MOST_MARKS:
            kept.append(letter)
    return "".join(kept)
