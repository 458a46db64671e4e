"""WHAT is related to what? Edges by number, by page, and walked breadth first: two statements for each step."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    or_,
    select,
)

from onrecord.errors import no_such_page
from onrecord.model import ids
from onrecord.model.findings import Edge
from onrecord.model.memory import Memory, Relation
from onrecord.model.when import NOW, When
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.filters import RelationFilter, RelationWalk
from onrecord.store.ports.index import Key
from onrecord.store.rows import read_relation
from onrecord.store.tables import memories, relations
from onrecord.store.temporal_filters import AskedTimes, asked_of, existed_then, in_force_since, true_then
from onrecord.store.tenant import of_home
from onrecord.store.view import View, key_of, source
from onrecord.store.visibility import Visibility, past_visible, visible

_ENDS: Final = {"out": (relations.c.source,), "in": (relations.c.target,)}


class SqlRelations:
    """The relations between memories, if one caller sees both ends."""

    def __init__(self, views: Sequence[View]) -> None:
        #: The tenant's own first.
        self._views = views

    def around(self, center: Memory, ask: RelationWalk) -> list[Edge]:
        tenant, row = key_of(center)
        view = next((view for view in self._views if view.tenant == tenant), None)
        if view is None:
            return []
        seen, frontier, walked = {row}, {row}, set[str]()
        found: list[Edge] = []
        for hop in range(1, ask.depth + 1):
            step = [edge for edge in _step(view, frontier, ask, hop) if edge.relation.id not in walked]
            found += step
            walked |= {edge.relation.id for edge in step}
            frontier = {key_of(edge.memory)[1] for edge in step} - seen
            seen |= frontier
            if not frontier or len(found) > ask.limit:
                break
        return found[: ask.limit + 1]

    def joined(self, keys: Sequence[Key], when: When = NOW) -> list[tuple[Key, str, Key]]:
        return [
            edge
            for view in sorted(self._views, key=lambda view: view.tenant)
            for edge in _joined(view, {row for tenant, row in keys if tenant == view.tenant}, when)
        ]

    def page(self, ask: RelationFilter) -> tuple[list[Relation], str | None]:
        """A page of the tenant's own relations; a memory elsewhere has none here."""
        view = self._views[0]
        ends = {name: getattr(ask, name) for name in ("source", "target") if getattr(ask, name) is not None}
        if any(ids.is_global(end) for end in ends.values()):
            return [], None
        before = _FARTHEST - 1 if ask.after is None else _numbered(ask.after)
        if before is None:
            raise no_such_page()
        given: dict[str, Any] = {name: ids.address(end).id for name, end in ends.items()}
        given |= {"relation": ask.relation, "before": before, "most": ask.limit + 1}
        rows = view.run(_listed(view.visibility, frozenset(ends), ask.relation is not None), **given).all()
        found = [read_relation(row, row.source_id, row.target_id) for row in rows]
        page = found[: ask.limit]
        return page, page[-1].id if len(found) > ask.limit else None

    def one(self, id: str) -> Relation | None:
        number, view = _numbered(id.removeprefix("#")), self._views[0]
        if number is None:
            return None
        statement = _listed(view.visibility, frozenset(), False).where(relations.c.id == number)
        row = view.run(statement, before=_FARTHEST - 1, most=1).one_or_none()
        return None if row is None else read_relation(row, row.source_id, row.target_id)


def _joined(view: View, wanted: set[int], when: When) -> Iterator[tuple[Key, str, Key]]:
    """The edges that touch some rows, from the row that was asked for."""
    if not wanted:
        return
    statement = _joins(view.visibility, asked_of(when))
    for start, relation, end in view.fetch(statement, when, frontier=sorted(wanted)):
        for near, far in ((start, end), (end, start)):
            if near in wanted:
                yield (view.tenant, near), relation, (view.tenant, far)


@cache
def _joins(visibility: Visibility, asked: AskedTimes) -> Select[Any]:
    edges = _edges(visibility, "both", (), asked).with_only_columns(
        relations.c.source, relations.c.relation, relations.c.target
    )
    return edges.where(*_ends_visible(visibility, in_force_since)) if asked.known_at else edges


def _step(view: View, frontier: set[int], ask: RelationWalk, hop: int) -> Iterator[Edge]:
    """The edges that touch the frontier and of which the caller sees both ends, then the memories there."""
    when = When(ask.as_of, ask.known_at)
    statement = _edges(view.visibility, ask.direction, tuple(ask.relations), asked_of(when))
    rows = view.run(statement, when, frontier=sorted(frontier)).all()
    ends = memories_at(view, {end for row in rows for end in (row.source, row.target)}, when)
    for row in rows:
        if row.source not in ends or row.target not in ends:
            continue
        outwards = row.source in frontier and ask.direction != "in"
        direction: Literal["out", "in"] = "out" if outwards else "in"
        relation = read_relation(row, ends[row.source].id, ends[row.target].id)
        far = ends[row.target if outwards else row.source]
        yield Edge(relation=relation, memory=far, direction=direction, hop=hop)


@cache
def _edges(visibility: Visibility, direction: str, names: tuple[str, ...], asked: AskedTimes) -> Select[Any]:
    touching = _ENDS.get(direction, (relations.c.source, relations.c.target))
    statement = between_visible(visibility).where(
        or_(*(one_of(end, "frontier") for end in touching)),
        existed_then(relations, asked),
    )
    if names:
        statement = statement.where(relations.c.relation.in_(names))
    return statement.order_by(relations.c.id)


def memories_at(view: View, rows: set[int], when: When) -> dict[int, Memory]:
    """The visible memories among the rows, in their state at a time."""
    if not rows:
        return {}
    found = view.memories(_at_rows(view.visibility, asked_of(when)), when, rows=sorted(rows))
    return {key_of(memory)[1]: memory for memory in found}


@cache
def _at_rows(visibility: Visibility, asked: AskedTimes) -> Select[Any]:
    record, statement = source(visibility, asked)
    return statement.where(
        one_of(memories.c.row, "rows"),
        *true_then(record, asked),
    )


_SOURCE, _TARGET = memories.alias("source_memory"), memories.alias("target_memory")
_FARTHEST: Final = 2**63


def _numbered(text: str) -> int | None:
    number = ids.whole_number(text)
    return number if number is not None and number < _FARTHEST else None


def _is_end(memory: FromClause, end: ColumnElement[int]) -> ColumnElement[bool]:
    same = (memory.c[name] == relations.c[name] for name in ("tenant", "collection"))
    return and_(*same, memory.c.row == end)


def between_visible(visibility: Visibility, moment: datetime | None = None) -> Select[Any]:
    """The edges of a home of which the caller sees both ends, with the ids of these; with a time, seen ever since then."""
    between = (
        select(relations, _SOURCE.c.id.label("source_id"), _TARGET.c.id.label("target_id"))
        .join(_SOURCE, _is_end(_SOURCE, relations.c.source))
        .join(_TARGET, _is_end(_TARGET, relations.c.target))
        .where(of_home(relations), visible(_SOURCE, visibility), visible(_TARGET, visibility))
    )
    if moment is None:
        return between
    return between.where(*_ends_visible(visibility, lambda later: in_force_since(later, moment)))


def _ends_visible(
    visibility: Visibility, since: Callable[[FromClause], ColumnElement[bool]]
) -> list[ColumnElement[bool]]:
    """Whether the caller could see both ends of an edge ever since a time."""
    return [
        condition for end in (_SOURCE, _TARGET) for condition in past_visible(end.c.row, visibility, since)
    ]


@cache
def _listed(visibility: Visibility, ends: frozenset[str], named: bool) -> Select[Any]:
    statement = (
        between_visible(visibility)
        .where(relations.c.removed_at.is_(None), relations.c.id < bindparam("before", type_=BigInteger))
        .order_by(relations.c.id.desc())
        .limit(bindparam("most", type_=Integer))
    )
    for name, memory in (("source", _SOURCE), ("target", _TARGET)):
        if name in ends:
            statement = statement.where(memory.c.id == bindparam(name, type_=Text))
    return statement.where(relations.c.relation == bindparam("relation", type_=Text)) if named else statement
