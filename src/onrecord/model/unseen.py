"""WHICH characters are invisible? Those without a shape of their own, which can hide a text inside another."""

from typing import Final
from unicodedata import category

#: Categories without a shape of their own: control, format (bidirectional, zero width, tags), separators, halves.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
#: Letters, marks and signs that show nothing, and places that are kept for more of them.
_BLANK: Final = frozenset(
    "\u2065\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5\ufff6\ufff7\ufff8\U0001d159\U00013441\U00013442\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)
_LAST_PLANES: Final = 0xE0000
_EMOJI_STYLE: Final = "\ufe0f"


def is_unseen(line: str, at: int) -> bool:
    """Whether the character at this place is invisible; a tab is not."""
    letter = line[at]
    if letter == "\t":
        return False
    if letter == _EMOJI_STYLE:
        # One of them chooses how a sign is drawn; more of them carry a text that nobody sees.
        return at == 0 or not _takes_style(line[at - 1])
    if "\ufe00" <= letter <= "\ufe0e":
        return True
    return (
        category(letter) in _UNSEEN
        or letter in _BLANK
        # The last planes hold tags, more variation selectors and what is for private use alone.
        or ord(letter) >= _LAST_PLANES
    )


def _takes_style(letter: str) -> bool:
    return category(letter) in {"So", "Sm", "Nd", "Po"}
