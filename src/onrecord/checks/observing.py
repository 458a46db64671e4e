"""WHAT does one query say about a claim that nobody checks? How many rows the tables have that it is about.

Only for what the catalog knows and a connection of the same name as its datasource reads. The query is made from the
name of the table, never from a text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from onrecord.catalog.stored import StoredCatalog
from onrecord.checks.running import CouldNotLook, NoLongerRuns, query_result
from onrecord.model.answer import Answer
from onrecord.model.connections import CheckPolicy
from onrecord.model.memory import Memory
from onrecord.store.ports.records import Reading

_MOST: Final = 5
_TABLE: Final = re.compile(r"[A-Za-z_]\w{0,62}(?:\.[A-Za-z_]\w{0,62}){0,2}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation(Answer):
    """Something that a claim is about and that could be asked, and what one query said, if it was asked to."""

    entity: str
    connection: str
    rows: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CheckableTable:
    """A table that a memory is about: its name in the catalog and in its database, and the connection that reads it."""

    entity: str
    name: str
    connection: str


def checkable(memory: Memory, reading: Reading, policy: CheckPolicy) -> list[CheckableTable]:
    """The tables that a memory is about and that a connection reads, if the memory has no check that runs."""
    if memory.check_state is not None or not memory.is_live:
        return []
    return list(_tables(memory, reading, policy))[:_MOST]


def _tables(memory: Memory, reading: Reading, policy: CheckPolicy) -> Iterator[CheckableTable]:
    lookup = StoredCatalog(reading)
    named = dict.fromkeys(tuple(each.split(".")[:2]) for each in memory.entities if ":" not in each)
    for datasource, name in (each for each in named if len(each) == 2):
        connection = policy.connection(memory.tenant, datasource)
        is_read = connection is not None and connection.kind != "folder"
        model = lookup.model(datasource, name) if is_read else None
        if model is not None:
            table = str(model.details.get("sql_table") or model.name)
            if model.form == "table" and _TABLE.fullmatch(table):
                yield CheckableTable(model.canonical, table, datasource)


def observed(table: CheckableTable, memory: Memory, policy: CheckPolicy, *, asks: bool) -> Observation:
    """The table, and how many rows it has, if somebody asks."""
    connection = policy.connection(memory.tenant, table.connection)
    if not asks or connection is None:
        return Observation(entity=table.entity, connection=table.connection)
    try:
        found = query_result(connection, f"SELECT count(*) FROM {table.name}", 1, policy.seconds)
    except (CouldNotLook, NoLongerRuns) as problem:
        return Observation(entity=table.entity, connection=table.connection, problem=str(problem))
    rows = found.first if isinstance(found.first, int) else None
    return Observation(entity=table.entity, connection=table.connection, rows=rows)
