"""WHICH rows hold the words, for this caller and at this time? The best first, exact."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, select

from recollect.model import ids
from recollect.model.limits import Kind, Status
from recollect.model.memory import Memory
from recollect.model.when import When
from recollect.store import lexical
from recollect.store.index import entries_of
from recollect.store.moments import Asked, asked_of, listed
from recollect.store.port import Match
from recollect.store.rows import as_stored, read_words
from recollect.store.several import one_of
from recollect.store.tables import Instant, memories
from recollect.store.view import View, key_of, source
from recollect.store.visibility import Sight, visible
from recollect.text import Token


def match(
    view: View, tokens: Sequence[Token], most: int, when: When, statuses: Sequence[Status]
) -> list[Match]:
    wanted = [token.term for token in tokens]
    known = lexical.statistics(view, wanted, past=when.known_at is not None)
    found = _present(view, known, most, when, statuses)
    if when.known_at is not None:
        found += _past(view, known, when, statuses)
        found.sort(key=lambda match: (-match.score, match.key))
    return found[:most]


def read(view: View, matches: Sequence[Match], when: When) -> list[Memory]:
    if not matches:
        return []
    statement = _whole(view.sight, asked_of(When(known_at=when.known_at)))
    found = view.memories(statement, when, rows=sorted({match.key[1] for match in matches}))
    by_key = {key_of(memory): memory for memory in found}
    return [by_key[match.key] for match in matches if match.key in by_key]


@cache
def _whole(sight: Sight, asked: Asked) -> Select[Any]:
    """Some rows by number. Two tenants may have the same numbers, so the reader looks at both parts of the key."""
    _, statement = source(sight, asked)
    return statement.where(one_of(memories.c.row, "rows"))


class _Standing(NamedTuple):
    """What is read of a candidate: enough to rank it, at a fraction of the cost of the whole memory."""

    tenant: int
    row: int
    id: str
    kind: Kind
    tags: str
    conversation: str | None
    audience: str


def _present(
    view: View, known: lexical.Statistics, most: int, when: When, statuses: Sequence[Status]
) -> list[Match]:
    """Through the index; as known at T, only what has not changed since."""
    # The row of today is read even for a question about what was known: it is the one that has not changed.
    today = When(as_of=when.as_of)
    statement = _among(view.sight, asked_of(today, statuses), when.known_at is not None)
    kept: list[tuple[_Standing, int]] = []
    size = most + most // 4 + 1
    while known.counts:
        best = lexical.search(view, known, size)
        rows = view.run(statement, when, statuses, rows=sorted({found.row for found in best})).all()
        standing = {(row[0], row[1]): _Standing(*row) for row in rows}
        found = ((standing.get((each.tenant, each.row)), each.score) for each in best)
        kept = [(row, score) for row, score in found if row is not None]
        if len(kept) >= most or len(best) < size:
            break
        # Too many of the best are retired, or not of the time asked for: look further down.
        size *= 4
    return _with_positions(view, kept[:most], known)


@cache
def _among(sight: Sight, asked: Asked, unchanged: bool) -> Select[Any]:
    columns = [memories.c[name] for name in _Standing._fields]
    statement = select(*map(as_stored, columns)).where(
        visible(memories, sight),
        one_of(memories.c.row, "rows"),
        listed(memories, asked),
    )
    if unchanged:
        statement = statement.where(memories.c.recorded_at <= bindparam("known_at", type_=Instant))
    return statement


def _with_positions(view: View, kept: list[tuple[_Standing, int]], known: lexical.Statistics) -> list[Match]:
    places: dict[tuple[int, int], Mapping[str, tuple[int, ...]]] = {}
    for tenant in view.keys:
        mine = [row for row, _ in kept if row.tenant == tenant]
        if mine:
            audiences, rows = ({row.audience for row in mine}, [row.row for row in mine])
            found = lexical.positions(view, tenant, audiences, rows, known.weights)
            places |= {(tenant, row): where for row, where in found.items()}
    return [
        Match(
            key=(row.tenant, row.row),
            id=ids.spell(view.names[row.tenant], row.id),
            kind=row.kind,
            tags=read_words(row.tags),
            conversation=row.conversation,
            score=score / lexical.SCALE,
            positions=places.get((row.tenant, row.row), {}),
        )
        for row, score in kept
    ]


def _past(view: View, known: lexical.Statistics, when: When, statuses: Sequence[Status]) -> list[Match]:
    """What has changed since T, by the words it held then; slower, since old words are not indexed."""
    found = []
    for memory in view.memories(_changed_since(view.sight, asked_of(when, statuses)), when, statuses):
        entries = entries_of(memory)
        if score := lexical.score_entries(entries, known):
            found.append(
                Match(
                    key=key_of(memory),
                    id=memory.id,
                    kind=memory.kind,
                    tags=memory.tags,
                    conversation=memory.conversation,
                    score=score / lexical.SCALE,
                    positions=lexical.positions_in(entries, known),
                )
            )
    return found


@cache
def _changed_since(sight: Sight, asked: Asked) -> Select[Any]:
    record, statement = source(sight, asked)
    return statement.where(
        memories.c.recorded_at > bindparam("known_at", type_=Instant), listed(record, asked)
    )
