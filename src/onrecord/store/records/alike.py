"""WHICH memories say nearly the same, and which of them were rejected? Rows of one audience that the caller sees."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, or_, select

from onrecord.model.embedding import Passage
from onrecord.model.limits import LIVE
from onrecord.model.memory import Memory
from onrecord.store.audience import later_audience
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.index import Coverage
from onrecord.store.ports.records import Alike, Rejection
from onrecord.store.records.duplicates import changes_no_other
from onrecord.store.rows import PRESENT, content_hash, read_memory
from onrecord.store.tables import memories, versions
from onrecord.store.view import View, key_of, same_row
from onrecord.store.visibility import Visibility, of_audience, visible

#: So many are looked at first, and four times as many while all of them were near and too few of them count: retired
#: memories keep their vectors, and a chain of them must not hide the one that is live.
_FIRST: Final = 16


def near(
    view: View,
    covered: Coverage,
    memory: Memory,
    passages: Sequence[Passage],
    least: float,
    *,
    of_anyone: bool = False,
    without: AbstractSet[int] = frozenset(),
) -> list[Alike]:
    """The nearest first, of the same owner or `of_anyone`, `without` some rows. Of a text with several passages each must
    have one that is near.
    """
    audience, most = later_audience(memory), _FIRST
    first, *rest = (passage.vector for passage in passages)
    while True:
        found = view.backend.nearest(view, covered, first, most, audience)
        scores = {each.row: each.score for each in found if each.score >= least and each.row not in without}
        for vector in rest if scores else ():
            similar = view.backend.similarity(view, covered, vector, list(scores))
            scores = {each.row: min(each.score, scores[each.row]) for each in similar}
        scores = {row: score for row, score in scores.items() if score >= least}
        alike = _read(view, memory, scores, of_anyone) if scores else []
        if len(alike) >= _FIRST or len(found) < most or found[-1].score < least:
            return sorted(alike, key=lambda each: (-each.score, key_of(each.memory)))
        most *= 4


def _read(view: View, memory: Memory, scores: Mapping[int, float], of_anyone: bool) -> list[Alike]:
    asked = _asked(memory)
    if of_anyone:
        del asked["owner"]
    rows = view.run(_near(view.visibility, of_anyone), **asked, rows=sorted(scores)).all()
    return [_alike(row, view, scores[row.row]) for row in rows]


def rejected_with_content(view: View, memory: Memory) -> list[Alike]:
    """Those with the very same content that were rejected."""
    asked = _asked(memory) | {"digest": content_hash(memory.content)}
    # Not sorted by the database: SQLite would go through all rows for it.
    rows = sorted(view.run(_same_content(view.visibility), **asked).all(), key=lambda row: -row.row)
    return [_alike(row, view, 1.0) for row in rows]


def _asked(memory: Memory) -> dict[str, Any]:
    return {"later": later_audience(memory), "owner": memory.owner}


def _alike(row: Any, view: View, score: float) -> Alike:
    found = read_memory(row, view.home.tenant)
    rejected = None
    if not found.is_live:
        rejected = Rejection(row.changed_by, row.rejected_at, found.status_reason)
    return Alike(found, score, rejected)


def _rejected() -> ColumnElement[bool]:
    """Rejected before or after it was applied."""
    return and_(memories.c.status == "archived", versions.c.row.is_not(None))


@cache
def _of_some(visibility: Visibility) -> Select[Any]:
    # Its references may have changed since it ended.
    ended = and_(
        same_row(memories, versions),
        versions.c.change.in_(("reject", "roll_back")),
        versions.c.status == "archived",
    )
    by_whom = versions.c.changed_by, versions.c.recorded_at.label("rejected_at")
    statement = select(*PRESENT, *by_whom).join_from(memories, versions, ended, isouter=True)
    return statement.where(visible(memories, visibility), of_audience(memories))


@cache
def _near(visibility: Visibility, of_anyone: bool) -> Select[Any]:
    """Live memories that change no other, of the owner alone or of anyone, and rejected proposals."""
    wanted = and_(memories.c.status.in_(sorted(LIVE)), changes_no_other())
    if not of_anyone:
        wanted = and_(wanted, memories.c.owner == bindparam("owner"))
    return _of_some(visibility).where(one_of(memories.c.row, "rows"), or_(wanted, _rejected()))


@cache
def _same_content(visibility: Visibility) -> Select[Any]:
    same = memories.c.content_hash == bindparam("digest")
    return _of_some(visibility).where(same, _rejected())
