"""WHICH memories have these fields? Pages of them, how many there are, and how many of each value."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Text,
    and_,
    cast,
    exists,
    func,
    not_,
    or_,
    select,
    tuple_,
)

from onrecord.errors import no_such_page
from onrecord.model.collections import HAS_QUERY
from onrecord.model.findings import Group
from onrecord.model.limits import LIVE, ListOrder, ProposalState, TallyBy
from onrecord.model.memory import Memory
from onrecord.model.when import When
from onrecord.model.workspace import ConversationKey
from onrecord.store.index.entries import reference_facet, tag_facet
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.filters import MemoryCriteria, MemoryFilter, TallyFilter
from onrecord.store.ports.index import Key
from onrecord.store.tables import changesets, facets, memories
from onrecord.store.temporal_filters import asked_of, listed
from onrecord.store.tenant import of_home
from onrecord.store.view import View, key_of, same_row, source
from onrecord.store.visibility import whose

#: The time by which each order goes.
_TIMES: Final[dict[ListOrder, str]] = {
    "updated": "updated_at",
    "created": "created_at",
    "oldest": "created_at",
}
#: The order that begins with what is earliest.
_ASCENDING: Final[ListOrder] = "oldest"
#: Fields with several values, each filed under a facet of its own.
_FACETS: Final[dict[TallyBy, Callable[[str], str]]] = {"tag": tag_facet, "entity": reference_facet}
_SEVERAL: Final[dict[TallyBy, str]] = {"tag": "tags", "entity": "entities"}

#: The facets that a tally counts; filters look at them too, and must not look at these rows alone.
_COUNTED: Final = facets.alias("counted")


def browse(
    views: Sequence[View], ask: MemoryFilter, pinned: ConversationKey | None
) -> tuple[list[Memory], str | None]:
    """A page of memories, and the mark of the next page."""
    time, most = _TIMES[ask.order], ask.skip + ask.limit
    found = [memory for view in views for memory in _browsed(view, ask, pinned, most + 1)]
    found.sort(key=lambda memory: (getattr(memory, time), key_of(memory)), reverse=ask.order != _ASCENDING)
    page = found[ask.skip : most]
    return page, _mark(page[-1], ask.order) if len(found) > most else None


def _browsed(view: View, ask: MemoryFilter, pinned: ConversationKey | None, most: int) -> list[Memory]:
    """The first memories of one home."""
    record, statement = ordered(view, ask, pinned)
    if ask.after is not None:
        beyond = _after if ask.order == _ASCENDING else _before
        time = record.c[_TIMES[ask.order]]
        statement = statement.where(beyond(time, view.tenant, _read_mark(ask.after, ask.order)))
    if ask.known_at is None:
        return view.memories(statement.limit(most), _when(ask), ask.statuses)
    return list(islice(_as_known(view, ask, statement), most))


def ordered(view: View, ask: MemoryFilter, pinned: ConversationKey | None) -> tuple[FromClause, Select[Any]]:
    """The records of one home that match, in the order asked for, and where they are read."""
    record, statement = _matching(view, ask, pinned)
    place = (record.c[_TIMES[ask.order]], memories.c.row)
    if ask.order == _ASCENDING:
        return record, statement.order_by(*place)
    return record, statement.order_by(*(each.desc() for each in place))


def count(views: Sequence[View], ask: MemoryCriteria, pinned: ConversationKey | None) -> int:
    """How many memories match, on whichever page."""
    return sum(_counted(view, ask, pinned) for view in views)


def _counted(view: View, ask: MemoryCriteria, pinned: ConversationKey | None) -> int:
    _, statement = _matching(view, ask, pinned)
    if ask.known_at is not None:
        return sum(1 for _ in _as_known(view, ask, statement))
    counted = select(func.count()).select_from(statement.subquery())
    return int(view.run(counted, _when(ask), ask.statuses).scalar_one())


def narrow(
    view: View, keys: Sequence[Key], only: MemoryCriteria, metadata: Mapping[str, Any]
) -> Iterator[Key]:
    """Those of some memories of one home that match, and whose metadata has these values."""
    _, statement = _matching(view, only, None)
    rows = sorted(row for tenant, row in keys if tenant == view.tenant)
    wanted = {name: _written(value) for name, value in metadata.items()}
    for memory in _as_known(view, only, statement.where(one_of(memories.c.row, "rows")), rows=rows):
        if all(
            name in memory.metadata and _written(memory.metadata[name]) == wanted[name] for name in wanted
        ):
            yield key_of(memory)


def _written(value: Any) -> str:
    """A JSON value as text: to Python, true is 1. Numbers are the same by their value: JSON has one kind of them, and
    programs write 1 as 1.0.
    """
    return json.dumps(_with_plain_numbers(value), sort_keys=True)


def _with_plain_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_plain_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def tally(views: Sequence[View], ask: TallyFilter, pinned: ConversationKey | None) -> list[Group]:
    """The groups of memories that share a value, the largest first, and of as large ones the oldest."""
    groups: dict[str | None, Group] = {}
    for view in views:
        for each in _tallied(view, ask, pinned):
            groups[each.value] = _joined(groups.get(each.value), each)
    return sorted(groups.values(), key=lambda each: (-each.memories, each.oldest, each.value or ""))


def _tallied(view: View, ask: TallyFilter, pinned: ConversationKey | None) -> Iterator[Group]:
    record, statement = _matching(view, ask, pinned)
    if ask.known_at is not None:
        # Old versions are not indexed by their tags and references.
        for memory in _as_known(view, ask, statement):
            for value in _values(memory, ask.by):
                yield Group(value=value, memories=1, oldest=memory.created_at)
        return
    column, prefix = _grouped(record, ask.by)
    if ask.by in _FACETS:
        statement = statement.join(_COUNTED, same_row(memories, _COUNTED)).where(
            _COUNTED.c.facet.startswith(prefix, autoescape=True)
        )
    # `source` reads whole rows: of these only the groups are wanted.
    grouped = statement.with_only_columns(column, func.count(), func.min(record.c.created_at)).group_by(
        column
    )
    for value, number, oldest in view.run(grouped, _when(ask), ask.statuses):
        yield Group(value=value and value.removeprefix(prefix), memories=number, oldest=oldest)


def _grouped(record: FromClause, by: TallyBy) -> tuple[ColumnElement[Any], str]:
    """The column to group by, and how its values begin."""
    filed = _FACETS.get(by)
    return (record.c[by], "") if filed is None else (_COUNTED.c.facet, filed(""))


def _values(memory: Memory, by: TallyBy) -> Sequence[str | None]:
    several: Sequence[str | None] = (
        getattr(memory, _SEVERAL[by]) if by in _SEVERAL else (getattr(memory, by),)
    )
    return several


def _joined(known: Group | None, more: Group) -> Group:
    if known is None:
        return more
    return replace(more, memories=known.memories + more.memories, oldest=min(known.oldest, more.oldest))


def _when(ask: MemoryCriteria) -> When:
    return When(ask.as_of, ask.known_at)


def _matching(
    view: View, ask: MemoryCriteria, pinned: ConversationKey | None
) -> tuple[FromClause, Select[Any]]:
    """The records of one home that match, and where they are read."""
    when = _when(ask)
    record, statement = source(view.visibility, asked_of(when))
    return record, statement.where(
        listed(record, asked_of(when, ask.statuses)), *_filters(record, ask, pinned), *_facet_filters(ask)
    )


def _filters(
    record: FromClause, ask: MemoryCriteria, pinned: ConversationKey | None
) -> Iterator[ColumnElement[bool]]:
    for name, wanted in _one_of(ask):
        if wanted:
            yield record.c[name].in_(wanted)
    if ask.proposal is not None:
        yield record.c.edits.is_not(None)
        if ask.proposal != "any":
            yield _in_state(record, ask.proposal)
    if pinned is not None:
        there = and_(record.c.conversation == pinned.id, whose(record) == pinned.by)
        yield or_(there, record.c.conversation.is_(None)) if ask.unpinned else there
    if ask.created_since is not None:
        yield record.c.created_at >= ask.created_since
    if ask.created_before is not None:
        yield record.c.created_at < ask.created_before
    if ask.updated_since is not None:
        yield record.c.updated_at >= ask.updated_since
    if ask.updated_before is not None:
        yield record.c.updated_at < ask.updated_before


def _in_state(record: FromClause, state: ProposalState) -> ColumnElement[bool]:
    """The state of a proposal. Each is in exactly one, by its status, its approver and its changeset."""
    approved, applied = record.c.approved_by.is_not(None), record.c.changeset.is_not(None)
    status, live = record.c.status, record.c.status.in_(sorted(LIVE))
    match state:
        case "superseded":
            return status == "superseded"
        case "pending":
            return and_(live, not_(applied), or_(status == "pending", not_(approved)))
        case "approved":
            return and_(live, not_(applied), status != "pending", approved)
        case "rejected":
            return and_(status == "archived", not_(applied))
        case "applied":
            return and_(applied, status != "superseded", not_(_is_rolled_back(record)))
        case "rolled_back":
            return and_(applied, status != "superseded", _is_rolled_back(record))


def _is_rolled_back(record: FromClause) -> ColumnElement[bool]:
    """Whether its changeset was taken back: only then is the memory archived for that, and not because it was retired."""
    number = cast(changesets.c.id, Text)
    taken_back = exists().where(
        changesets.c.tenant == record.c.tenant,
        number == record.c.changeset,
        # Its proposals are ended first, then its values are put back.
        changesets.c.state.in_(("rolling_back", "rolled_back")),
    )
    return and_(record.c.status == "archived", taken_back)


def _one_of(ask: MemoryCriteria) -> Iterator[tuple[str, Sequence[str]]]:
    """The fields whose value must be one of some."""
    yield "kind", ask.kinds
    yield "dimension", ask.dimensions
    yield "scope", ask.scopes
    yield "category", ask.categories
    yield "confidence", ask.confidences
    yield "source", ask.sources
    yield "owner", ask.owners
    yield "check_state", ask.check_states
    yield "persona", [] if ask.persona is None else [ask.persona]
    yield "system", [] if ask.system is None else [ask.system]


def _facet_filters(ask: MemoryCriteria) -> Iterator[ColumnElement[bool]]:
    """Filters on tags, references and example queries through their index, which only knows the present."""
    if ask.known_at is not None:
        return
    for wanted in (list(map(tag_facet, ask.tags)), list(map(reference_facet, ask.entities))):
        if wanted:
            yield exists().where(same_row(memories, facets), facets.c.facet.in_(wanted))
    if ask.has_query is not None:
        # By the rows that have it, which are few, and not row by row.
        holding = memories.c.row.in_(select(facets.c.row).where(of_home(facets), facets.c.facet == HAS_QUERY))
        yield holding if ask.has_query else not_(holding)


def _as_known(view: View, ask: MemoryCriteria, statement: Select[Any], **more: Any) -> Iterator[Memory]:
    """The same filters for old versions, whose facets are no longer indexed."""
    for memory in view.memories(statement, _when(ask), ask.statuses, **more):
        if (
            (not ask.tags or set(ask.tags) & set(memory.tags))
            and (not ask.entities or set(ask.entities) & set(memory.entities))
            and (ask.has_query is None or ask.has_query == (memory.query is not None))
        ):
            yield memory


class _Mark(NamedTuple):
    """Where a page ended: the time by which it is ordered, the tenant and the row."""

    moment: datetime
    tenant: int
    row: int


def _before(time: ColumnElement[Any], tenant: int, mark: _Mark) -> ColumnElement[bool]:
    """The condition for items after the mark of a page: the latest first, then by tenant and row, descending."""
    # Without their types a time would be compared as text, which SQLite holds to be after every number.
    if tenant == mark.tenant:
        place = (time, memories.c.row)
        return tuple_(*place) < tuple_(mark.moment, mark.row, types=[column.type for column in place])
    return time <= mark.moment if tenant < mark.tenant else time < mark.moment


def _after(time: ColumnElement[Any], tenant: int, mark: _Mark) -> ColumnElement[bool]:
    """The same where the earliest comes first."""
    if tenant == mark.tenant:
        place = (time, memories.c.row)
        return tuple_(*place) > tuple_(mark.moment, mark.row, types=[column.type for column in place])
    return time >= mark.moment if tenant > mark.tenant else time > mark.moment


def _mark(memory: Memory, order: ListOrder) -> str:
    tenant, row = key_of(memory)
    return f"{getattr(memory, _TIMES[order]).isoformat()}~{tenant}~{row}{''.join(_named(order))}"


def _named(order: ListOrder) -> list[str]:
    """How a mark names its order. Of the one by which most pages go, nothing need be said."""
    return [] if order == "updated" else [f"~{order}"]


def _read_mark(mark: str, order: ListOrder) -> _Mark:
    try:
        written, tenant, row, *named = mark.split("~")
        if [f"~{each}" for each in named] != _named(order):
            raise ValueError("of another order")
        moment = datetime.fromisoformat(written).astimezone(UTC)
        if not (0 <= int(tenant) < 2**31 and 0 <= int(row) < 2**63):
            raise ValueError("no such row")
        return _Mark(moment, int(tenant), int(row))
    except (ValueError, OverflowError):
        raise no_such_page() from None
