"""WHAT does an answer mention? The names in it, and its SQL, in their order of appearance.

Any answer can be read: JSON, a text, JSON in a text. Each character and each value is a step, and there is a bound to
the steps and to the names: of a longer answer the beginning is read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from onrecord.catalog.sql_text import ParsedSql, parse_sql
from onrecord.model.catalog import FIELD_URN, MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, URN_PREFIX
from onrecord.model.limits import DOCUMENT_CHARACTERS, ENTITY_CHARACTERS
from onrecord.model.rules import storable

#: So many characters are read, of all texts together, and so many values.
MOST_CHARACTERS: Final = DOCUMENT_CHARACTERS
MOST_VALUES: Final = 100_000
#: So many different names are looked up: of those that are written as names, and of plain words.
MOST_NAMES: Final = 1_000
#: So many pieces of SQL are parsed, of so many characters each, at the cost of so many steps each.
_MOST_SQL: Final = 4
_SQL_CHARACTERS: Final = 8_000
_SQL_STEPS: Final = 5_000

_SCHEMES: Final = (URN_PREFIX, THING_PREFIX, SYSTEM_PREFIX, MEMORY_PREFIX)
DATAHUB: Final = "urn:li:"
_SHORTEST_URN, _LONGEST_URN = 11, 499

_NAME: Final = re.compile(
    rf"(?P<scheme>\b(?:{'|'.join(_SCHEMES)}))|(?P<name>[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*)"
)
#: What ends a reference in a text; parentheses and commas inside parentheses belong to it.
_ENDS_REFERENCE: Final = re.compile(r"[\s\"'`<>\\{}\[\]|^\x00-\x1f\x7f-\x9f]|[(),]")
_AFTER_REFERENCE: Final = ".;:!?"
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "[": "]", "“": "”", "‘": "’", "«": "»"}
_LIKE_A_NAME: Final = re.compile(r"[._\d]")
_SQL_BEGINS: Final = re.compile(
    r"\b(?:select|with|insert\s+into|update|delete\s+from|merge\s+into)\b", re.IGNORECASE
)
#: A statement ends there, or the text around it goes on; databases point with a caret at what they did not understand.
_SQL_ENDS: Final = re.compile(r";|```|\n[ \t\r]*\n|\n[ \t]*\^")
_SQL_GOES_ON: Final = re.compile(r"\b(?:from|into|set|join)\b", re.IGNORECASE)
_END: Final = object()
_NO_JSON: Final = object()


class Mention(NamedTuple):
    """A name in an answer, or a piece of SQL.

    It is marked if it is written as a name: in quotes, with a dot, an underscore or a digit, or with a scheme. Any other
    may be a word of a sentence.
    """

    name: str
    is_marked: bool = True
    sql: ParsedSql | None = None


class Mentions(NamedTuple):
    """The mentions, each once, in the order of first mention; and whether the answer was read to its end."""

    found: tuple[Mention, ...]
    is_whole: bool


def mentions(*values: Any) -> Mentions:
    """What some values mention: JSON values, or texts."""
    reader = _Reader()
    reader.read(values)
    return Mentions(tuple(reader.found.values()), reader.is_whole)


class Texts:
    """The texts in a value, names of fields among them, in their order; as many as there are steps for.

    Without recursion: a value may be nested as deep as it likes.
    """

    def __init__(self, value: Any, most: int = MOST_VALUES) -> None:
        self._value = value
        #: How many values may still be looked at.
        self.left = most
        self.is_whole = True

    def __iter__(self) -> Iterator[str]:
        open_values: list[Iterator[Any]] = [iter((self._value,))]
        while open_values:
            each = next(open_values[-1], _END)
            if each is _END:
                open_values.pop()
                continue
            self.left -= 1
            if self.left < 0:
                self.is_whole = False
                return
            if isinstance(each, str):
                yield each
            elif isinstance(each, Mapping):
                open_values.append(part for item in each.items() for part in item)
            elif isinstance(each, list | tuple):
                open_values.append(iter(each))


def beginning(value: Any) -> list[str]:
    """The part of a value that is ever read: the first characters of its texts."""
    texts, left = [], MOST_CHARACTERS
    for text in Texts(value):
        # One more than is read, so that the reader knows that there was more.
        texts.append(text[: left + 1].encode("utf-8", "replace").decode())
        left -= len(text)
        if left < 0:
            break
    return texts


class _Reader:
    def __init__(self) -> None:
        self.found: dict[str, Mention] = {}
        self.is_whole = True
        self._characters, self._values = MOST_CHARACTERS, MOST_VALUES
        self._sql_left = _MOST_SQL
        self._names_left = {True: MOST_NAMES, False: MOST_NAMES}

    def read(self, value: Any) -> None:
        texts = Texts(value, self._values)
        for text in texts:
            if self._characters <= 0:
                self.is_whole = False
                return
            self._values = texts.left
            if (parsed := self._parsed(text)) is _NO_JSON:
                self._read_text(text)
            else:
                # As deep as texts are in each other, and each doubles the signs before its quotes.
                self.read(parsed)
                texts.left = self._values
        self._values = texts.left
        self.is_whole = self.is_whole and texts.is_whole

    def _parsed(self, text: str) -> Any:
        """The JSON in a text; `_NO_JSON` if there is none."""
        if text.lstrip()[:1] not in ("{", "[") or len(text) > self._characters:
            return _NO_JSON
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            return _NO_JSON
        # What is in it is read again.
        self._characters -= len(text)
        return parsed

    def _read_text(self, text: str) -> None:
        if len(text) > self._characters:
            self.is_whole = False
            text = text[: self._characters]
        self._characters -= len(text)
        if text.startswith(_SCHEMES) and len(text) <= ENTITY_CHARACTERS:
            # As a value of its own it may have spaces, such as `thing:Plan A`.
            self._add_reference(text.strip())
        self._read_sql(text)
        at = 0
        while (match := _NAME.search(text, at)) is not None:
            at = match.end() if match["name"] else _end_of_reference(text, match.start())
            if match["name"]:
                self._add_name(text, match)
            else:
                self._add_reference(text[match.start() : at].rstrip(_AFTER_REFERENCE))

    def _read_sql(self, text: str) -> None:
        at = 0
        while self._sql_left and (begin := _SQL_BEGINS.search(text, at)) is not None:
            farthest = min(len(text), begin.start() + _SQL_CHARACTERS)
            end = _SQL_ENDS.search(text, begin.end(), farthest)
            at = farthest if end is None else end.end()
            piece = text[begin.start() : farthest if end is None else end.start()]
            if _SQL_GOES_ON.search(piece):
                self._sql_left -= 1
                if (parsed := parse_sql(piece, most_steps=_SQL_STEPS)).statements:
                    self._add(Mention(piece, sql=parsed))

    def _add_name(self, text: str, match: re.Match[str]) -> None:
        name = match["name"].rstrip("-")
        before, after = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
        is_quoted = bool(before) and _QUOTES.get(before) == after
        self._add(Mention(name, is_quoted or _LIKE_A_NAME.search(name) is not None))

    def _add_reference(self, text: str) -> None:
        if not text.startswith(_SCHEMES) or text in _SCHEMES:
            return
        if text.startswith(DATAHUB) and not _SHORTEST_URN <= len(text) <= _LONGEST_URN:
            return
        self._add(Mention(text))
        if text.startswith(FIELD_URN):
            whole, _, _ = text.removeprefix(FIELD_URN).rpartition(",")
            self._add(Mention(whole))

    def _add(self, mention: Mention) -> None:
        known = self.found.get(mention.name)
        if known is not None:
            if mention.is_marked and not known.is_marked:
                self.found[mention.name] = mention
            return
        if not 1 < len(mention.name) <= (ENTITY_CHARACTERS if mention.sql is None else _SQL_CHARACTERS):
            return
        if not self._names_left[mention.is_marked]:
            self.is_whole = False
            return
        try:
            storable(mention.name)
        except ValueError:
            return
        self._names_left[mention.is_marked] -= 1
        self.found[mention.name] = mention


def _end_of_reference(text: str, start: int) -> int:
    """The end of a reference that begins at this place. A text longer than any reference is skipped at that length."""
    depth, at = 0, start
    farthest = min(len(text), start + ENTITY_CHARACTERS)
    while (met := _ENDS_REFERENCE.search(text, at, farthest)) is not None:
        sign = met.group()
        if sign == "(":
            depth += 1
        elif sign == ")":
            if not depth:
                return met.start()
            depth -= 1
            if not depth:
                return met.end()
        elif sign != "," or not depth:
            return met.start()
        at = met.end()
    return farthest
