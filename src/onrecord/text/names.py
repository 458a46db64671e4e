"""BY which names is a thing called? Those of a reference, and those that a question may mention."""

from collections.abc import Iterable, Iterator
from typing import Final

from onrecord.text.analyzer import STOP_TERMS, document_words

_THING: Final = "thing:"
_MEMORY: Final = "memory:"
# Longer names are rarely written in full.
_LONGEST_NAME: Final = 6
# A long text, such as a pasted page, is not a question about the things it names.
_MOST_WORDS: Final = 200


def names_of(reference: str) -> tuple[str, ...]:
    """How a question may call it: `thing:Oslo` is oslo; `shop.orders.amount` is amount, or orders amount."""
    if reference.startswith(_MEMORY):
        return ()
    if reference.startswith(_THING):
        name = _joined(reference.removeprefix(_THING))
        return (name,) if name else ()
    parts = reference.split(".")
    names = (_joined(" ".join(parts[start:])) for start in range(len(parts)))
    return tuple(dict.fromkeys(name for name in names if name))


def datasources_in(references: Iterable[str]) -> tuple[str, ...]:
    """The datasources of canonical names, in their order: `shop.orders.amount` and `shop` give shop; what has a scheme, such
    as `thing:Oslo`, gives none.
    """
    return tuple(dict.fromkeys(each.partition(".")[0] for each in references if ":" not in each))


def words_of(reference: str) -> frozenset[str]:
    """The terms of every part of its name: `shop.orders.customer_id` gives shop, order, customer, id and more."""
    if reference.startswith(_MEMORY):
        return frozenset()
    return frozenset(term for terms in document_words(reference.removeprefix(_THING)) for term in terms)


def names_in(question: str) -> tuple[str, ...]:
    """Every run of words that could be a name: some word of it means something, as in The Hague and in Plan A."""
    return tuple(dict.fromkeys(_runs(question)))


def _runs(question: str) -> Iterator[str]:
    words = _words(question)[:_MOST_WORDS]
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST_NAME) + 1):
            if not STOP_TERMS.issuperset(words[start:end]):
                yield " ".join(words[start:end])


def _joined(name: str) -> str:
    return " ".join(_words(name)[:_LONGEST_NAME])


def _words(text: str) -> list[str]:
    return [terms[0] for terms in document_words(text)]
