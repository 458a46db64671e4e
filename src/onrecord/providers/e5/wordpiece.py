"""HOW does a text become the tokens of BERT? Uncased WordPiece in plain Python, one vocabulary file and no dependency.

A text is cleaned one character at a time (control characters away, accents away, small letters, ideographs
set apart), cut at spaces, cut again at punctuation, and each word is covered from the left by the longest
pieces that the vocabulary knows. A marker such as `[SEP]` in a text is plain text and no instruction.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

Word = tuple[int, ...]  # the tokens of the text between two spaces

LONGEST_WORD = 100  # beyond it BERT gives up on a word
_REMEMBERED_WORDS = 50_000
_LONGEST_REMEMBERED = 40
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Cuts texts into the tokens of one vocabulary; safe to share between threads."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest_piece = max(map(len, vocabulary))
        self._unknown = self._ids["[UNK]"]
        self._remembered: dict[str, Word] = {}
        self.start, self.end = self._ids["[CLS]"], self._ids["[SEP]"]

    def words(self, text: str) -> list[Word]:
        """The tokens of each word, in the order of the text."""
        return [tokens for _, tokens in self.named_words(text)]

    def named_words(self, text: str) -> list[tuple[str, Word]]:
        """Each word as it was read, and its tokens."""
        known = self._remembered
        return [(word, known.get(word) or self._learn(word)) for word in _cleaned(text).split()]

    def _learn(self, word: str) -> Word:
        tokens = tuple(token for part in _parts(word) for token in self._pieces(part))
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._remembered) >= _REMEMBERED_WORDS:
                self._remembered.clear()
            self._remembered[word] = tokens
        return tokens

    def _pieces(self, part: str) -> Sequence[int]:
        """Cover the part from the left by the longest known pieces; one gap makes it unknown as a whole."""
        if len(part) > LONGEST_WORD:
            return (self._unknown,)
        pieces: list[int] = []
        rest, mark = part, ""
        while rest:
            for length in range(min(len(rest), self._longest_piece), 0, -1):
                piece = self._ids.get(mark + rest[:length])
                if piece is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(piece)
            rest, mark = rest[length:], "##"
        return pieces


def _cleaned(text: str) -> str:
    if text.isascii():
        return _CONTROL.sub("", text).lower()
    return text.translate(_CHARACTERS)


class _Characters(dict[int, str]):
    """The replacement of each character, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _character(chr(code))
        return result


_CHARACTERS = _Characters()


def _character(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    if category in ("Cc", "Cf", "Co", "Cs") or character == "\ufffd":
        return ""
    plain = "".join(
        part.lower() for part in unicodedata.normalize("NFD", character) if unicodedata.category(part) != "Mn"
    )
    code = ord(character)
    return f" {plain} " if any(first <= code <= last for first, last in _IDEOGRAPHS) else plain


def _parts(word: str) -> Iterator[str]:
    """A word without its punctuation, and each mark of punctuation by itself."""
    if word.isalnum():
        yield word
        return
    start = 0
    for place, character in enumerate(word):
        if _is_punctuation(character):
            if start < place:
                yield word[start:place]
            yield character
            start = place + 1
    if start < len(word):
        yield word[start:]


def _is_punctuation(character: str) -> bool:
    """Every mark of ASCII counts, also those that Unicode calls symbols, such as `$`."""
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")
