"""WHAT changed between two times? Pages of changes: memories by row, then new edges, then removed edges; and when it did."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, bindparam, exists, literal, or_, select

from onrecord.errors import no_such_page
from onrecord.model import ids
from onrecord.model.findings import Compared, Difference
from onrecord.model.memory import Memory, Relation, changed_fields
from onrecord.model.when import When
from onrecord.store.ports.filters import ChangeFilter
from onrecord.store.records.relations import between_visible
from onrecord.store.rows import read_relation
from onrecord.store.tables import TimestampColumn, memories, relations, versions
from onrecord.store.temporal_filters import asked_of
from onrecord.store.tenant import of_home
from onrecord.store.view import View, key_of, returned_versions, same_row, source
from onrecord.store.visibility import Visibility, visible

_OTHER: Final = versions.alias("other")
#: A page ends when its texts are longer than this; and how many changes are read at once.
_MOST_CHARACTERS: Final = 1_000_000
_AT_ONCE: Final = 50


class _Place(NamedTuple):
    """A place among all changes: which list, of which tenant, after which row or edge."""

    part: int = 0
    tenant: int = 0
    number: int = 0


class _Mark(NamedTuple):
    """The place after which a page begins, and the later time, which is the same on every page."""

    until: datetime
    place: _Place

    @classmethod
    def read(cls, text: str) -> Self:
        try:
            written, *place = text.split("~")
            part, tenant, number = map(int, place)
            if not (0 <= part < len(_PARTS) and 0 <= tenant < 2**31 and 0 <= number < 2**63):
                raise ValueError("no such place")
            return cls(datetime.fromisoformat(written).astimezone(UTC), _Place(part, tenant, number))
        except (ValueError, OverflowError):
            raise no_such_page() from None

    def __str__(self) -> str:
        # A plus sign would be read as a space in an address.
        return "~".join((self.until.isoformat().replace("+00:00", "Z"), *map(str, self.place)))


class _ChangeWindow(NamedTuple):
    """Which changes of one home to look at: between two times, after a number, at most so many."""

    view: View
    since: datetime
    until: datetime
    behind: int
    most: int


def compare(views: Sequence[View], ask: ChangeFilter, now: datetime) -> Compared:
    mark = _Mark(ask.until or now, _Place()) if ask.after is None else _Mark.read(ask.after)
    until = ask.until or mark.until
    page, has_more = _page(_changes(views, ask, until, mark.place), ask.limit)
    lists = [tuple(change for place, change in page if place.part == part) for part in range(len(_PARTS))]
    return Compared(
        since=ask.since,
        until=until,
        memories=lists[0],
        related=lists[1],
        unrelated=lists[2],
        next=str(_Mark(until, page[-1][0])) if has_more else None,
    )


def moments(views: Sequence[View], before: datetime, most: int) -> list[datetime]:
    """The latest moments of change before a time, latest first."""
    found = {
        row.recorded_at
        for view in views
        for row in view.run(_moments(view.visibility), before_that=before, most=most)
    }
    return sorted(found, reverse=True)[:most]


@cache
def _moments(visibility: Visibility) -> Select[Any]:
    return (
        select(versions.c.recorded_at)
        .join_from(versions, memories, same_row(versions, memories))
        .where(
            of_home(versions),
            versions.c.recorded_at < bindparam("before_that", type_=TimestampColumn),
            visible(memories, visibility),
            *returned_versions(visibility),
        )
        .distinct()
        .order_by(versions.c.recorded_at.desc())
        .limit(bindparam("most", type_=Integer))
    )


def _page(changes: Iterator[tuple[_Place, Any]], limit: int) -> tuple[list[tuple[_Place, Any]], bool]:
    """As many changes as were asked for, or fewer if they are long; and whether there are more."""
    page: list[tuple[_Place, Any]] = []
    characters = 0
    for change in changes:
        if len(page) == limit or characters > _MOST_CHARACTERS:
            return page, True
        page.append(change)
        if isinstance(change[1], Difference):
            characters += sum(len(each.content) for each in (change[1].before, change[1].after) if each)
    return page, False


def _changes(
    views: Sequence[View], ask: ChangeFilter, until: datetime, start: _Place
) -> Iterator[tuple[_Place, Any]]:
    """The changes in the order of their places, read lazily."""
    for number, part in enumerate(_PARTS[start.part :], start.part):
        # In the order of the tenants' numbers.
        for view in sorted(views, key=lambda view: view.tenant):
            home = _Place(number, view.tenant)
            if home[:2] < start[:2]:
                continue
            behind = start.number if home[:2] == start[:2] else 0
            most = min(ask.limit + 1, _AT_ONCE)
            while found := list(part(_ChangeWindow(view, ask.since, until, behind, most))):
                for behind, change in found:
                    yield home._replace(number=behind), change
                if len(found) < most:
                    break


def _differences(window: _ChangeWindow) -> Iterator[tuple[int, Difference]]:
    view, since, until, behind, most = window
    is_behind = memories.c.row > behind
    later = _stood_at(view, until, is_behind, versions.c.recorded_at > since, most=most)
    if not later:
        return
    changed = exists().where(
        same_row(memories, _OTHER), _OTHER.c.recorded_at > since, _OTHER.c.recorded_at <= until
    )
    is_before = memories.c.row <= key_of(later[-1])[1]
    earlier = {key_of(memory): memory for memory in _stood_at(view, since, is_behind, is_before, changed)}
    for after in later:
        yield key_of(after)[1], _difference(earlier.get(key_of(after)), after)


def _stood_at(
    view: View, moment: datetime, *conditions: ColumnElement[bool], most: int | None = None
) -> list[Memory]:
    when = When(known_at=moment)
    _, statement = source(view.visibility, asked_of(when))
    return view.memories(statement.where(*conditions).order_by(memories.c.row).limit(most), when)


def _difference(before: Memory | None, after: Memory) -> Difference:
    retired = before is not None and before.is_live and not after.is_live
    return Difference(
        id=after.id,
        change="added" if before is None else "retired" if retired else "revised",
        before=before,
        after=after,
        changed=changed_fields(before, after) if before else (),
    )


#: Whether a relation that changed between two times differs at their ends; one that was added and removed does not.
Differs = Callable[[datetime, datetime], ColumnElement[bool]]


def _edges(
    column: ColumnElement[Any], differs: Differs
) -> Callable[[_ChangeWindow], Iterator[tuple[int, Relation]]]:
    """The edges for which the time in a column lies in the window, and that differ from before.

    A new edge is shown as it is afterwards, a removed one as it was before.
    """

    def touched(window: _ChangeWindow) -> Iterator[tuple[int, Relation]]:
        view, since, until, behind, most = window
        moment = until if column is relations.c.created_at else since
        statement = between_visible(view.visibility, moment).where(
            column > since,
            column <= until,
            differs(since, until),
            relations.c.id > literal(behind, BigInteger),
        )
        for row in view.run(statement.order_by(relations.c.id).limit(most)):
            ends = (ids.spell(view.home.tenant, id) for id in (row.source_id, row.target_id))
            yield row.id, read_relation(row, *ends)

    return touched


def _stands(since: datetime, until: datetime) -> ColumnElement[bool]:
    return or_(relations.c.removed_at.is_(None), relations.c.removed_at > until)


def _stood(since: datetime, until: datetime) -> ColumnElement[bool]:
    return relations.c.created_at <= since


_PARTS: Final[tuple[Callable[[_ChangeWindow], Iterator[tuple[int, Any]]], ...]] = (
    _differences,
    _edges(relations.c.created_at, _stands),
    _edges(relations.c.removed_at, _stood),
)
