"""HOW is text cut into words? NFKC, case folded, accents off, names split and kept whole, stemmed by script.

`mydb.orders_archive` gives mydb, orders, archive, ordersarchive and mydbordersarchive; `orderId` gives order, id and
orderid; Chinese, Japanese, Korean, Thai and their like give single letters and pairs, since they write no spaces. An emoji
is a word of its own.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import Stemmer

from onrecord.lru_cache import LruCache
from onrecord.text.stopwords import STOP_WORDS
from onrecord.text.unicode_forms import to_form

# Part of the index: a store whose index was built by another version is rebuilt.
ANALYZER_VERSION: Final = "4"
# One word longer than this is noise (base64, hashes run together); its head still finds it.
_LONGEST_TERM: Final = 64
_LONGEST_KEPT: Final = 128
#: Shorter texts take only a few milliseconds.
_LONG_TEXT: Final = 4_096
#: How many characters of long texts stay in the cache: enough for all that a server saves at once.
_KEPT_CHARACTERS: Final = 1_000_000

# Vowel signs and other marks are not \w in Python, but they are part of a word in these scripts.
_MARKS: Final = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    r"\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a"
    r"\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18-\u0f84\u102b-\u103e\u1056-\u109d\u17b4-\u17d3\u3099\u309a"
)
# Emoji, each one a word; two regional letters make a flag, and skin tones are ignored.
_PICTURE: Final = r"[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
# A run of word characters, joined where people join names: a.b, a_b, a/b, a-b.
CHUNK: Final = re.compile(rf"[\w{_MARKS}]+(?:[./-][\w{_MARKS}]+)*|{_PICTURE}")
_ASCII_CHUNK: Final = re.compile(r"[A-Za-z0-9_]+(?:[./-][A-Za-z0-9_]+)*")
SEPARATOR: Final = re.compile(r"[._/-]+")
# Between the names of a path, each of which may have several parts itself.
_STEP: Final = re.compile(r"[./]+")
CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Accents over Latin, Greek and Cyrillic, Hebrew points and Arabic vowels; not the vowel signs of other scripts.
_ACCENTS: Final = re.compile(r"[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670\u0640]")
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

_stemmer = Stemmer.Stemmer("english", 0)
#: The stemmer of a script, which tells the language well enough: what it does to another one's words, it does to documents
#: and questions alike.
_STEMMERS_BY_SCRIPT: Final = tuple(
    (re.compile(rf"[{letters}\u0300-\u036f]+"), Stemmer.Stemmer(language, 0))
    for letters, language in (
        (r"\u0400-\u04ff", "russian"),
        (r"\u0370-\u03ff\u1f00-\u1fff", "greek"),
        (r"\u0620-\u065f\u066e-\u06d3", "arabic"),
        (r"\u0900-\u0963\u0971-\u097f", "hindi"),
        (r"\u0b80-\u0bff", "tamil"),
    )
)


class Token(NamedTuple):
    """A term and the place of its word in the text."""

    term: str
    position: int


def document_words(text: str) -> list[tuple[str, ...]]:
    """For each word of a text, in order, the terms that lead to it."""
    words: list[tuple[str, ...]] = []
    for chunk in _chunks(text):
        words += _document_terms(chunk)
    return words


def gather_places(text: str, start: int, places: dict[str, list[int]]) -> int:
    """Add to each term of a text its places, counted from `start`; returns the number of words."""
    if len(text) < _LONG_TEXT:
        return _gather(text, start, places)
    cut = _kept_cut(text)
    for term, at in cut.places.items():
        places.setdefault(term, []).extend(at if start == 0 else [start + place for place in at])
    return cut.words


def cut_ahead(text: str) -> None:
    """Cut a long text now and keep the result, so that a transaction that needs it soon is not slowed down."""
    if len(text) >= _LONG_TEXT:
        _kept_cut(text)


class _Cut(NamedTuple):
    """The terms of a text with their places, and how many words and characters it has."""

    places: dict[str, list[int]]
    words: int
    characters: int


def _kept_cut(text: str) -> _Cut:
    cut = _cuts.get(text)
    if cut is None:
        places: dict[str, list[int]] = {}
        cut = _Cut(places, _gather(text, 0, places), len(text))
        _cuts.put(text, cut)
    return cut


def _gather(text: str, start: int, places: dict[str, list[int]]) -> int:
    position = start
    for chunk in _chunks(text):
        for terms in _document_terms(chunk):
            for term in terms:
                if term in places:
                    places[term].append(position)
                else:
                    places[term] = [position]
            position += 1
    return position - start


def identifiers(text: str) -> frozenset[str]:
    """The names of several parts in a text, such as order_id and orderId, each as one term."""
    return frozenset(
        joined for chunk in _chunks(text) if _is_identifier(chunk) and (joined := _joined(chunk))
    )


def _is_identifier(chunk: str) -> bool:
    """Written as programs write names, not as people join words: not `well-known`, not `and/or`."""
    return "_" in chunk.strip("_") or CAMEL.search(chunk) is not None


def question_terms(text: str) -> tuple[Token, ...]:
    """The terms a question looks for: stop words left out, unless there is nothing else."""
    tokens: list[Token] = []
    meaning: list[Token] = []
    position = 0
    for chunk in _chunks(text):
        words = _question_words(chunk)
        for offset, (terms, is_stop) in enumerate(words):
            found = [Token(term, position + offset) for term in terms]
            tokens += found
            if not is_stop:
                meaning += found
        position += len(words)
    return tuple(meaning or tokens)


def term_set(text: str) -> frozenset[str]:
    """The distinct terms by which two short texts are compared."""
    return frozenset(token.term for token in question_terms(text))


def _stop_terms() -> frozenset[str]:
    return frozenset(terms[0] for word in STOP_WORDS for terms in document_words(word))


def _chunks(text: str) -> Iterator[str]:
    if text.isascii():
        return iter(_ASCII_CHUNK.findall(text))
    return iter(CHUNK.findall(to_form("NFKC", text)))


def _document_terms(chunk: str) -> tuple[tuple[str, ...], ...]:
    """For each word of a chunk, the terms at its place."""
    return _known_document_terms(chunk) if len(chunk) <= _LONGEST_KEPT else _cut_for_document(chunk)


def _cut_for_document(chunk: str) -> tuple[tuple[str, ...], ...]:
    words: list[list[str]] = []
    names = _STEP.split(chunk)
    for name in names:
        start = len(words)
        for piece in _pieces(name):
            if piece.unspaced:
                letters = piece.text
                words += [
                    [letter, letters[at : at + 2]] if at + 1 < len(letters) else [letter]
                    for at, letter in enumerate(letters)
                ]
            else:
                words.append([_stem(piece.text)])
        if (joined := _joined(name)) and start < len(words):
            words[start].append(joined)
    if len(names) > 1 and (joined := _joined(chunk)) and words:
        words[0].append(joined)
    return tuple(tuple(dict.fromkeys(terms)) for terms in words)


def _question_words(chunk: str) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """For each word of a chunk, the terms to look for, and whether it is a stop word."""
    return _known_question_words(chunk) if len(chunk) <= _LONGEST_KEPT else _cut_for_question(chunk)


def _cut_for_question(chunk: str) -> tuple[tuple[tuple[str, ...], bool], ...]:
    words: list[tuple[list[str], bool]] = []
    names = _STEP.split(chunk)
    for name in names:
        start = len(words)
        for piece in _pieces(name):
            if piece.unspaced:
                pairs = [piece.text[at : at + 2] for at in range(len(piece.text) - 1)]
                words += [([pair], False) for pair in pairs or [piece.text]]
            else:
                words.append(([_stem(piece.text)], piece.text in STOP_WORDS))
        if (joined := _joined(name)) and start < len(words):
            words[start] = _called(words[start], joined)
    if len(names) > 1 and (joined := _joined(chunk)) and words:
        words[0] = _called(words[0], joined)
    return tuple((tuple(dict.fromkeys(terms)), is_stop) for terms, is_stop in words)


#: The words of recent chunks; long chunks are left out, since they rarely come again and take much memory.
_known_document_terms: Final = lru_cache(maxsize=65_536)(_cut_for_document)
_known_question_words: Final = lru_cache(maxsize=8_192)(_cut_for_question)


def _called(word: tuple[list[str], bool], whole: str) -> tuple[list[str], bool]:
    """A name may begin with a stop word, as to_date does, and means something as a whole all the same."""
    terms, is_stop = word
    return [whole] if is_stop else [*terms, whole], False


class _Piece(NamedTuple):
    text: str
    unspaced: bool


def _pieces(chunk: str) -> Iterator[_Piece]:
    for name in SEPARATOR.split(chunk):
        for word in CAMEL.split(name):
            yield from _scripts(_fold(_stem_by_script(word)))


def _stem_by_script(word: str) -> str:
    """The stem of a word in another script than ours, before its accents are taken off: the stemmers know them."""
    if word.isascii():
        return word
    folded = word.casefold()
    for letters, stemmer in _STEMMERS_BY_SCRIPT:
        if letters.fullmatch(folded):
            return str(stemmer.stemWord(folded)) or word
    return word


def _scripts(word: str) -> Iterator[_Piece]:
    """Cut a word where it changes between a script with spaces and one without."""
    if word.isascii():
        if word:
            yield _Piece(word[:_LONGEST_TERM], False)
        return
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield _Piece(word[end : run.start()][:_LONGEST_TERM], False)
        yield _Piece(run.group(), True)
        end = run.end()
    if end < len(word):
        yield _Piece(word[end:][:_LONGEST_TERM], False)


def _joined(chunk: str) -> str | None:
    """A name of several parts as one term, however its parts were joined."""
    if len(SEPARATOR.split(chunk)) == 1 and CAMEL.search(chunk) is None:
        return None
    whole = _fold(SEPARATOR.sub("", chunk))
    return _stem(whole[:_LONGEST_TERM]) if whole and not _UNSPACED.search(whole) else None


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    bare = _ACCENTS.sub("", to_form("NFKD", word.casefold()))
    return to_form("NFC", bare)


def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word)) if word.isascii() else word


_cuts: Final[LruCache[str, _Cut]] = LruCache(_KEPT_CHARACTERS, lambda cut: cut.characters)
#: The stop words as terms.
STOP_TERMS: Final = _stop_terms()
