"""WHICH memories are filed under some names? Those saved last, under all of the names by one statement."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, func, select

from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW
from onrecord.store.list_parameters import items
from onrecord.store.rows import PRESENT, read_memory
from onrecord.store.tables import facets, memories
from onrecord.store.temporal_filters import AskedTimes, asked_of, listed
from onrecord.store.tenant import of_home
from onrecord.store.view import View, same_row
from onrecord.store.visibility import Visibility, visible


def newest_filed(
    views: Sequence[View], names: Sequence[str], *, each: int, most: int, statuses: Sequence[Status] = ()
) -> list[tuple[str, Memory]]:
    """See `Reading.newest`."""
    found: list[tuple[int, int, str, Memory]] = []
    for view in views if names else ():
        if view.address.number is None:
            continue
        statement = _newest(view.visibility, asked_of(NOW, statuses))
        rows = view.fetch(statement, NOW, statuses, facets=list(names), each=each, most=most)
        for *memory, place, rank in rows:
            found.append((rank, place, names[place], read_memory(memory, view.home.tenant)))
    found.sort(key=lambda one: one[:2])
    return [(name, memory) for _, _, name, memory in found[:most]]


@cache
def _newest(visibility: Visibility, asked: AskedTimes) -> Select[Any]:
    wanted = items("facets")
    # Rows are numbered in the order of saving. Only their numbers are ranked: a memory may be long.
    ranked = (
        select(
            wanted.c.key,
            facets.c.row,
            func.row_number().over(partition_by=wanted.c.key, order_by=facets.c.row.desc()).label("rank"),
        )
        .join_from(wanted, facets, facets.c.facet == wanted.c.value)
        .join(memories, same_row(facets, memories))
        .where(of_home(facets), visible(memories, visibility), listed(memories, asked))
        .subquery("ranked")
    )
    return (
        select(*PRESENT, ranked.c.key, ranked.c.rank)
        .join_from(ranked, memories, ranked.c.row == memories.c.row)
        .where(of_home(memories), ranked.c.rank <= bindparam("each", type_=BigInteger))
        .order_by(ranked.c.rank, ranked.c.key)
        .limit(bindparam("most", type_=BigInteger))
    )
