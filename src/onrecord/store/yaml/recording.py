"""HOW does a change of the index become text? As the changed entries, and lines for the history."""

from collections.abc import Iterator, Mapping
from itertools import chain

from sqlalchemy import Connection, select

from onrecord.model import ids
from onrecord.model.collections import Home
from onrecord.model.memory import Memory, Version
from onrecord.model.shapes import Faults
from onrecord.store.list_parameters import one_of
from onrecord.store.records.archive import SqlArchive
from onrecord.store.rows import PAST, PRESENT, VERSION_COLUMNS, read_memory, read_version
from onrecord.store.tables import memories, versions
from onrecord.store.tenant import HomeAddress, of_home
from onrecord.store.view import same_row
from onrecord.store.yaml.document import YamlDocument, YamlEntry
from onrecord.store.yaml.entries import EntryKey, entry_of, key_of, memory_of
from onrecord.store.yaml.files import Digests, FileChange
from onrecord.store.yaml.history import (
    Commit,
    commit_line,
    digest_of,
    head_line,
    lines_of,
    relation_line,
    version_line,
)
from onrecord.store.yaml.rendering import render
from onrecord.store.yaml.watching import Changes, Place


def record(
    connection: Connection, changes: Changes, document: YamlDocument, before: Digests
) -> tuple[FileChange, YamlDocument]:
    """The text of a change to the present files, and the new layout of memories.yaml."""
    archive, yaml = SqlArchive(connection), None
    homes = {(archive.address(home).number or 0, home.collection.number): home for home in archive.homes()}
    written = _written(connection, changes, homes, document)
    if written or document.is_outdated:
        document = document.replaced(written)
        yaml = document.text().encode()
    commit = Commit(before.yaml if yaml is None else digest_of(yaml), before.yaml)
    if changes.anew:
        every = sorted(homes.values(), key=lambda home: home.spelled)
        whole = ((home, archive.histories(home), archive.edges(home)) for home in every)
        lines, counted = lines_of(whole), sorted(homes)
    else:
        lines = chain([] if before.history else [head_line()], _lines(connection, changes, homes))
        counted = sorted(changes.counters)
    counters = {homes[place]: archive.counters(homes[place]) for place in counted}
    return FileChange(yaml, b"".join([*lines, commit_line(commit, counters)]), changes.anew), document


def _written(
    connection: Connection, changes: Changes, homes: Mapping[Place, Home], document: YamlDocument
) -> dict[EntryKey, str | None]:
    """The entries to rewrite, and None for those that are gone."""
    shown = [home for home in homes.values() if home.collection.stands_in_file]
    here = {home.tenant for home in shown}
    touched: dict[EntryKey, Memory | None] = {
        slot.key: None for slot in document.slots if slot.key and slot.key.tenant not in here
    }
    for place, plain in changes.memories.items():
        if (home := homes.get(place)) is not None and home.collection.stands_in_file:
            name = home.tenant
            rows = select(*PRESENT).where(of_home(memories), one_of(memories.c.id, "wanted"))
            given = {**HomeAddress(place[0], home).parameters, "wanted": sorted(plain)}
            found = connection.execute(rows.order_by(memories.c.row), given).all()
            touched |= {key_of(memory): memory for memory in (read_memory(row, name) for row in found)}
            gone = plain - {ids.address(key.id).id for key in touched if key.tenant == name}
            touched |= {EntryKey(name, ids.spell(name, id)): None for id in gone}
    entries = {slot.key: slot.entry for slot in document.slots if slot.entry is not None}
    stale = {key: memory for key, memory in touched.items() if not _is_current(entries.get(key), memory)}
    if (stale or document.is_outdated) and not document.is_cut:
        archive, every = SqlArchive(connection), sorted(shown, key=str)
        stale |= {key_of(memory): memory for home in every for memory in archive.memories(home)}
    return {
        key: None if memory is None else render(entry_of(memory), document.column)
        for key, memory in stale.items()
    }


def _is_current(entry: YamlEntry | None, memory: Memory | None) -> bool:
    """Whether a person's entry already says everything, so that it can stay as it is."""
    if entry is None or memory is None or not (entry.values.get("id") and entry.values.get("created_at")):
        return False
    try:
        return memory_of(entry.values, memory.created_at, memory) == memory
    except Faults:
        return False


def _lines(connection: Connection, changes: Changes, homes: Mapping[Place, Home]) -> Iterator[bytes]:
    for place, wanted in sorted(changes.versions.items()):
        address = HomeAddress(place[0], homes[place])
        yield from (version_line(address.home, each) for each in _versions(connection, address, wanted))
    for place, numbers in sorted(changes.edges.items()):
        for edge in SqlArchive(connection).edges(homes[place]):
            if int(edge.id) in numbers:
                yield relation_line(homes[place], edge)


def _versions(
    connection: Connection, address: HomeAddress, wanted: set[tuple[int, int]]
) -> Iterator[Version]:
    statement = (
        select(*PAST, *VERSION_COLUMNS)
        .join_from(memories, versions, same_row(memories, versions))
        .where(of_home(memories), one_of(memories.c.row, "rows"))
        .order_by(versions.c.row, versions.c.version)
    )
    given = {**address.parameters, "rows": sorted({row for row, _ in wanted})}
    for row in connection.execute(statement, given):
        version = read_version(row, address.home.tenant, None)
        if (row.row, version.number) in wanted:
            yield version
