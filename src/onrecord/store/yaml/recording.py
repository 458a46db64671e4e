"""HOW does a change of the index become text? The entries that it touched, and lines for the history."""

from collections.abc import Iterator, Mapping
from itertools import chain

from sqlalchemy import Connection, select

from onrecord.model import ids
from onrecord.model.memory import Memory, Version
from onrecord.store.archive import SqlArchive
from onrecord.store.rows import PAST, PRESENT, VERSION_COLUMNS, read_memory, read_version
from onrecord.store.several import one_of
from onrecord.store.tables import memories, tenants, versions
from onrecord.store.yaml.document import Document, Entry
from onrecord.store.yaml.entries import Key, Unsound, entry_of, key_of, memory_of, stands_in_file
from onrecord.store.yaml.files import Digests, Written
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
from onrecord.store.yaml.watching import Changes


def record(
    connection: Connection, changes: Changes, document: Document, before: Digests
) -> tuple[Written, Document]:
    """The text of a change to the files as they are, and how memories.yaml is laid out then."""
    names = dict(connection.execute(select(tenants.c.key, tenants.c.name)).all())
    archive, yaml = SqlArchive(connection), None
    written = _written(connection, changes, names, document)
    if written or document.is_outdated:
        document = document.replaced(written)
        yaml = document.text().encode()
    commit = Commit(before.yaml if yaml is None else digest_of(yaml), before.yaml)
    if changes.anew:
        told = ((name, archive.dossiers(name), archive.edges(name)) for name in sorted(names.values()))
        lines, counted = lines_of(told), sorted(names)
    else:
        lines = chain([] if before.history else [head_line()], _lines(connection, changes, names))
        counted = sorted(changes.counters)
    counters = {names[key]: archive.counters(names[key]) for key in counted}
    return Written(yaml, b"".join([*lines, commit_line(commit, counters)]), changes.anew), document


def _written(
    connection: Connection, changes: Changes, names: Mapping[int, str], document: Document
) -> dict[Key, str | None]:
    """The entries that are to be written anew, and None for those that are gone."""
    here = set(names.values())
    touched: dict[Key, Memory | None] = {
        slot.key: None for slot in document.slots if slot.key and slot.key.tenant not in here
    }
    for tenant, plain in changes.memories.items():
        if (name := names.get(tenant)) is not None and stands_in_file(name):
            wanted = one_of(memories.c.id, "wanted")
            rows = select(*PRESENT).where(memories.c.tenant == tenant, wanted).order_by(memories.c.row)
            found = connection.execute(rows, {"wanted": sorted(plain)}).all()
            touched |= {key_of(memory): memory for memory in (read_memory(row, names) for row in found)}
            gone = plain - {ids.address(key.id).id for key in touched if key.tenant == name}
            touched |= {Key(name, ids.spell(name, id)): None for id in gone}
    said = {slot.key: slot.entry for slot in document.slots if slot.entry is not None}
    stale = {key: memory for key, memory in touched.items() if not _says(said.get(key), memory)}
    if (stale or document.is_outdated) and not document.is_cut:
        archive, shown = SqlArchive(connection), filter(stands_in_file, sorted(here))
        stale |= {key_of(memory): memory for name in shown for memory in archive.memories(name)}
    return {
        key: None if memory is None else render(entry_of(memory), document.column)
        for key, memory in stale.items()
    }


def _says(entry: Entry | None, memory: Memory | None) -> bool:
    """Whether an entry that a person wrote says all that there is to say, so that it can stay as it is."""
    if entry is None or memory is None or not (entry.values.get("id") and entry.values.get("created_at")):
        return False
    try:
        return memory_of(entry.values, memory.created_at, memory) == memory
    except Unsound:
        return False


def _lines(connection: Connection, changes: Changes, names: Mapping[int, str]) -> Iterator[bytes]:
    for tenant, wanted in sorted(changes.versions.items()):
        yield from map(version_line, _versions(connection, tenant, names, wanted))
    for tenant, numbers in sorted(changes.edges.items()):
        for edge in SqlArchive(connection).edges(names[tenant]):
            if int(edge.id) in numbers:
                yield relation_line(names[tenant], edge)


def _versions(
    connection: Connection, tenant: int, names: Mapping[int, str], wanted: set[tuple[int, int]]
) -> Iterator[Version]:
    same_row = (memories.c.tenant == versions.c.tenant) & (memories.c.row == versions.c.row)
    statement = (
        select(*PAST, *VERSION_COLUMNS)
        .join_from(memories, versions, same_row)
        .where(memories.c.tenant == tenant, one_of(memories.c.row, "rows"))
        .order_by(versions.c.row, versions.c.version)
    )
    for row in connection.execute(statement, {"rows": sorted({row for row, _ in wanted})}):
        version = read_version(row, names, None)
        if (row.row, version.number) in wanted:
            yield version
