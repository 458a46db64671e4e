"""WHICH memory does this one repeat? One with the same content, or with a very similar given hint."""

from collections.abc import Iterable
from functools import cache
from math import ceil
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, Select, and_, bindparam, literal_column, or_, select

from onrecord.model.limits import LIVE
from onrecord.model.memory import Memory
from onrecord.store.audience import audience_of, later_audience
from onrecord.store.list_parameters import one_of
from onrecord.store.rows import PRESENT, as_stored, content_hash
from onrecord.store.tables import memories, postings, terms
from onrecord.store.tenant import of_home
from onrecord.store.view import View
from onrecord.store.visibility import Visibility, changeable
from onrecord.text import term_set

#: The beginning of a stored proposal that would only be saved, and change no other memory.
_OF_ITSELF: Final = '{"change":"save"'
#: Two given hints with at least this similarity (Jaccard of tokens) mean the same thing.
SIMILAR_HINT: Final = 0.6


def find(view: View, memory: Memory, by_hint_alone: bool = False) -> Memory | None:
    """The caller's own row, or for a system any that the caller manages. What is to wait for review repeats what counts
    already if it says the very same; hints that wait are compared only with each other.
    """
    asked: dict[str, Any] = {
        "audience": audience_of(memory),
        "owner": memory.owner,
        "waiting": memory.status == "pending",
        "digest": content_hash(memory.content),
    }
    counted = asked | {"audience": later_audience(memory), "waiting": False}
    for each in () if by_hint_alone else (counted, asked) if asked["waiting"] else (asked,):
        # Nearly every save is new, and one query of an index shows that.
        repeated = view.run(_SAME_CONTENT, **each).first() is not None
        if repeated and (same := view.memories(_same_content(view.visibility), **each)):
            return same[0]
    return _find_by_hint(view, asked, memory.hint) if memory.hint else None


def _find_by_hint(view: View, asked: dict[str, Any], hint: str) -> Memory | None:
    wanted = term_set(hint)
    rare = _rarest(view, asked, wanted, len(wanted) - ceil(SIMILAR_HINT * len(wanted)) + 1)
    if not rare:
        return None
    hints = view.run(_hints(view.visibility), **asked, rare=rare)
    alike = [(_jaccard(wanted, term_set(other)), -row) for row, other in hints]
    score, negative_row = max(alike, default=(0.0, 0))
    if score < SIMILAR_HINT:
        return None
    return view.memories(_at_row(view.visibility), **asked, row=-negative_row)[0]


def _rarest(view: View, asked: dict[str, Any], wanted: Iterable[str], count: int) -> list[str]:
    """So many of the rarest terms, counted for the same audience, that any similar hint must contain one of them."""
    known: dict[str, int] = dict(view.run(_COUNTS, wanted=sorted(wanted), audience=asked["audience"]).all())
    return sorted(wanted, key=lambda term: (known.get(term, 0), term))[:count]


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left and right else 0.0


def _candidates(visibility: Visibility) -> ColumnElement[bool]:
    """Live rows of the same audience that the caller may change."""
    waiting: ColumnElement[bool] = bindparam("waiting", type_=Boolean)
    return and_(
        changeable(memories, visibility),
        memories.c.audience == bindparam("audience"),
        or_(memories.c.owner == bindparam("owner"), memories.c.scope == "system"),
        memories.c.status.in_(sorted(LIVE)),
        (memories.c.status == "pending") == waiting,
        changes_no_other(),
    )


def changes_no_other() -> ColumnElement[bool]:
    """A proposal to change another memory repeats nothing, whatever its text."""
    return or_(memories.c.proposes.is_(None), as_stored(memories.c.proposes).startswith(_OF_ITSELF))


@cache
def _same_content(visibility: Visibility) -> Select[Any]:
    same = memories.c.content_hash == bindparam("digest")
    # The first of a few; ordered by the column itself, SQLite would go through all rows for it.
    first = memories.c.row + literal_column("0")
    return select(*PRESENT).where(_candidates(visibility), same).order_by(first).limit(1)


@cache
def _hints(visibility: Visibility) -> Select[Any]:
    holding = select(postings.c.row).where(
        of_home(postings),
        one_of(postings.c.term, "rare"),
        postings.c.audience == bindparam("audience"),
    )
    return select(memories.c.row, memories.c.hint).where(
        _candidates(visibility), memories.c.hint.is_not(None), memories.c.row.in_(holding)
    )


@cache
def _at_row(visibility: Visibility) -> Select[Any]:
    return select(*PRESENT).where(_candidates(visibility), memories.c.row == bindparam("row"))


_SAME_CONTENT: Final = select(memories.c.row).where(
    of_home(memories),
    memories.c.content_hash == bindparam("digest"),
    memories.c.audience == bindparam("audience"),
)
_COUNTS: Final = select(terms.c.term, terms.c.documents).where(
    of_home(terms), one_of(terms.c.term, "wanted"), terms.c.audience == bindparam("audience")
)
