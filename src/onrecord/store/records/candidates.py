"""WHICH of the found rows count? Those that the caller sees, at the time of the question."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, select

from onrecord.model import ids
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.model.workspace import ConversationKey
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.index import Key, Match
from onrecord.store.records.candidate_cache import candidate_cache
from onrecord.store.rows import as_stored, damaged, read_memory, read_words
from onrecord.store.tables import TimestampColumn, memories
from onrecord.store.temporal_filters import AskedTimes, asked_of, listed
from onrecord.store.view import View, source
from onrecord.store.visibility import Visibility, visible

#: What is read of a candidate: enough to rank it, at a fraction of the cost of the whole memory.
_RANKED: Final = (
    "tenant row id kind tags scope owner conversation conversation_by valid_from verified_at entities audience created_at updated_at check_state"
).split()


def eligible(view: View, wanted: set[int], when: When, statuses: Sequence[Status]) -> dict[Key, Match]:
    """Those rows of one home that the caller sees and that count at the time of the question."""
    if not wanted:
        return {}
    kept = candidate_cache(view) if view.is_settled and when == NOW and not statuses else None
    known = {} if kept is None else kept.matches(view, wanted)
    wanted = wanted.difference(row for _, row in known)
    if not wanted:
        return known
    # The row of today is read even for a question about what was known: it is the one that has not changed.
    statement = _among(view.visibility, asked_of(When(as_of=when.as_of), statuses), when.known_at is not None)
    rows = view.fetch(statement, when, statuses, rows=sorted(wanted))
    fresh = [_match(view.home.tenant, row) for row in rows]
    if kept is not None:
        kept.keep_matches(view, fresh)
    return known | {match.key: match for match in fresh}


@cache
def _among(visibility: Visibility, asked: AskedTimes, unchanged: bool) -> Select[Any]:
    columns = [as_stored(memories.c[name]) for name in _RANKED]
    statement = select(*columns, memories.c.query.is_not(None)).where(
        visible(memories, visibility), one_of(memories.c.row, "rows"), listed(memories, asked)
    )
    if unchanged:
        statement = statement.where(memories.c.recorded_at <= bindparam("known_at", type_=TimestampColumn))
    return statement


def _match(home: str, values: Sequence[Any]) -> Match:
    tenant, row, id, kind, tags, scope, owner, conversation, begun_by, since, checked, entities, *rest = (
        values
    )
    audience, written, changed, check_state, has_query = rest
    try:
        tagged, about = read_words(tags), read_words(entities)
    except ValueError as broken:
        raise damaged(id, broken) from broken
    return Match(
        (tenant, row),
        ids.spell(home, id),
        kind,
        tagged,
        scope,
        None if conversation is None else ConversationKey(begun_by or owner, conversation),
        since,
        checked,
        bool(has_query),
        about,
        audience,
        written,
        changed,
        check_state,
    )


def read(view: View, rows: Sequence[int], when: When) -> list[Memory]:
    """Some rows of one home, in their state at the time of the question."""
    if not rows:
        return []
    found = view.fetch(_whole(view.visibility, asked_of(When(known_at=when.known_at))), when, rows=rows)
    return [read_memory(row, view.home.tenant) for row in found]


@cache
def _whole(visibility: Visibility, asked: AskedTimes) -> Select[Any]:
    """Some rows by number."""
    _, statement = source(visibility, asked)
    return statement.where(one_of(memories.c.row, "rows"))
