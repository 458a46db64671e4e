"""WHERE does a text hold the words of a question? By the same analyzer that finds it, so that stems and compounds match."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from onrecord.text.analyzer import CAMEL, CHUNK, SEPARATOR, document_words, question_terms

#: Marks that are no further apart than this are shown in one passage.
_CLOSE: Final = 80


class Piece(NamedTuple):
    """A piece of a text, which is a word of the question or not."""

    text: str
    is_match: bool


def spans(text: str, question: str) -> list[tuple[int, int]]:
    """Where the words of a question stand in a text, in order."""
    wanted = frozenset(token.term for token in question_terms(question))
    found: list[tuple[int, int]] = []
    for chunk in CHUNK.finditer(text) if wanted else ():
        # Most chunks hold none of them, and what they hold is kept from the last time.
        if not wanted.isdisjoint(_terms(chunk.group())):
            found += _within(chunk.group(), chunk.start(), wanted)
    return _joined(found)


def pieces(text: str, marks: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """The whole text, cut where its marks begin and end."""
    at = 0
    for start, end in marks:
        if at < start:
            yield Piece(text[at:start], False)
        yield Piece(text[start:end], True)
        at = end
    if at < len(text):
        yield Piece(text[at:], False)


def passages(
    text: str, marks: Sequence[tuple[int, int]], *, characters: int, most: int
) -> list[tuple[int, int]]:
    """The parts of a long text around its marks: those with most marks, at most so many, in their order. Without a mark its
    beginning.
    """
    if not marks:
        return [(0, _word_end(text, characters))]
    windows: list[list[int]] = []
    for start, end in marks:
        if windows and end - windows[-1][0] <= characters - _CLOSE:
            windows[-1][1:] = [end, windows[-1][2] + 1]
        else:
            windows.append([start, end, 1])
    best = sorted(sorted(windows, key=lambda window: -window[2])[:most])
    parts: list[tuple[int, int]] = []
    for start, end, _ in best:
        around = max(_CLOSE, (characters - (end - start)) // 2)
        first = _word_start(text, max(0, start - around, parts[-1][1] if parts else 0))
        parts.append((first, _word_end(text, min(end, start + characters) + around)))
    return parts


def _terms(chunk: str) -> set[str]:
    return {term for terms in document_words(chunk) for term in terms}


def _within(chunk: str, start: int, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The words of a name that are asked for; the whole name if only that is."""
    found = [
        (start + first + at, start + first + end)
        for first, word in _words(chunk)
        for at, end in _in_word(word, wanted)
    ]
    yield from found or [(start, start + len(chunk))]


def _words(chunk: str) -> Iterator[tuple[int, str]]:
    """The words of a name with their places, as people join them: order_id, orderId."""
    at = 0
    for part in (*SEPARATOR.finditer(chunk), None):
        end = len(chunk) if part is None else part.start()
        for word in CAMEL.split(chunk[at:end]):
            yield at, word
            at += len(word)
        at = end if part is None else part.end()


def _in_word(word: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    terms = document_words(word)
    if wanted.isdisjoint(term for each in terms for term in each):
        return
    if len(terms) == 1:
        yield 0, len(word)
        return
    # Letters of a script without spaces are words of their own, and so are pairs of them.
    for at in range(len(word)):
        for length in (2, 1):
            if word[at : at + length] in wanted:
                yield at, min(at + length, len(word))


def _joined(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same without overlaps."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _word_start(text: str, at: int) -> int:
    """The beginning of the word at a place, if it is not far away."""
    space = text.find(" ", at, at + _CLOSE) if at else -1
    return space + 1 if space >= 0 else at


def _word_end(text: str, at: int) -> int:
    space = text.rfind(" ", max(0, at - _CLOSE), at) if at < len(text) else -1
    return space if space > 0 else min(at, len(text))
