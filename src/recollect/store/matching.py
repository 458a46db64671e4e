"""WHICH rows hold the words, for this caller and at this time? The best first, exact."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam

from recollect.model.limits import Status
from recollect.model.memory import Memory
from recollect.model.when import When
from recollect.store import lexical
from recollect.store.index import entries_of
from recollect.store.moments import Asked, asked_of, listed
from recollect.store.port import Match
from recollect.store.tables import Instant, memories
from recollect.store.view import View, key_of, source
from recollect.store.visibility import Sight, audience_of
from recollect.text import Token


def match(
    view: View, tokens: Sequence[Token], most: int, when: When, statuses: Sequence[Status]
) -> list[Match]:
    wanted = [token.term for token in tokens]
    known = lexical.statistics(view.connection, view.keys, wanted, past=when.known_at is not None)
    found = _present(view, known, most, when, statuses)
    if when.known_at is not None:
        found += _past(view, known, when, statuses)
        found.sort(key=lambda match: (-match.score, key_of(match.memory)))
    return found[:most]


def _present(
    view: View, known: lexical.Statistics, most: int, when: When, statuses: Sequence[Status]
) -> list[Match]:
    """Through the index; as known at T, only what has not changed since."""
    # The row of today is read even for a question about what was known: it is the one that has not changed.
    today = When(as_of=when.as_of)
    statement = _among(view.sight, asked_of(today, statuses), when.known_at is not None)
    kept: list[tuple[Memory, int]] = []
    size = most + most // 4 + 1
    while known.counts:
        best = lexical.search(view.connection, view.caller, view.keys, known, size)
        scores = {(found.tenant, found.row): found.score for found in best}
        standing = view.memories(statement, when, statuses, rows=sorted({found.row for found in best}))
        mine = [memory for memory in standing if key_of(memory) in scores]
        mine.sort(key=lambda memory: (-scores[key_of(memory)], key_of(memory)))
        kept = [(memory, scores[key_of(memory)]) for memory in mine]
        if len(kept) >= most or len(best) < size:
            break
        # Too many of the best are retired, or not of the time asked for: look further down.
        size *= 4
    return _with_positions(view, kept[:most], known)


@cache
def _among(sight: Sight, asked: Asked, unchanged: bool) -> Select[Any]:
    """Some rows by number. Two tenants may have the same numbers, so the reader looks at both parts of the key."""
    _, statement = source(sight, asked)
    statement = statement.where(
        memories.c.row.in_(bindparam("rows", expanding=True)), listed(memories, asked)
    )
    if unchanged:
        statement = statement.where(memories.c.recorded_at <= bindparam("known_at", type_=Instant))
    return statement


def _with_positions(view: View, kept: list[tuple[Memory, int]], known: lexical.Statistics) -> list[Match]:
    places: dict[tuple[int, int], Mapping[str, tuple[int, ...]]] = {}
    for tenant in view.keys:
        mine = [memory for memory, _ in kept if key_of(memory)[0] == tenant]
        if mine:
            rows = [key_of(memory)[1] for memory in mine]
            found = lexical.positions(view.connection, tenant, map(audience_of, mine), rows, known.weights)
            places |= {(tenant, row): where for row, where in found.items()}
    return [Match(memory, score / lexical.SCALE, places.get(key_of(memory), {})) for memory, score in kept]


def _past(view: View, known: lexical.Statistics, when: When, statuses: Sequence[Status]) -> list[Match]:
    """What has changed since T, by the words it held then; slower, since old words are not indexed."""
    found = []
    for memory in view.memories(_changed_since(view.sight, asked_of(when, statuses)), when, statuses):
        entries = entries_of(memory)
        if score := lexical.score_entries(entries, known):
            places = lexical.positions_in(entries, known)
            found.append(Match(memory, score / lexical.SCALE, places))
    return found


@cache
def _changed_since(sight: Sight, asked: Asked) -> Select[Any]:
    record, statement = source(sight, asked)
    return statement.where(
        memories.c.recorded_at > bindparam("known_at", type_=Instant), listed(record, asked)
    )
