"""WHAT is it about? References are brought to their one form; those that mean nothing are refused."""

from collections.abc import Iterator
from dataclasses import replace

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.queries import is_over_models, read_query
from onrecord.catalog.resolution import Entities, Gathering, resolve_all
from onrecord.catalog.sql_text import entities_of_sql
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.limits import ENTITIES
from onrecord.model.memory import Memory
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing


def refer(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    memory, warnings = referred(draft.ready, writing)
    return replace(draft, memory=memory, warnings=(*draft.warnings, *warnings))


def referred(memory: Memory, writing: Writing) -> tuple[Memory, tuple[str, ...]]:
    """The memory with references as the catalog writes them, those of its query included; and what is doubtful.

    Where there is no catalog there is nothing to compare with, and they stay as they were given.
    """
    if not memory.entities and memory.query is None:
        return memory, ()
    lookup = StoredCatalog(writing)
    if lookup.is_empty:
        return memory, ()
    gathering = Gathering()
    for told in (resolve_all(memory.entities, lookup), *_of_query(memory, lookup)):
        gathering.take(told)
    found = gathering.entities()
    warnings = found.warnings
    if len(found.canonicals) > ENTITIES:
        warnings += (f"it is about {len(found.canonicals)} things; the first {ENTITIES} are kept.",)
    if found.canonicals == memory.entities:
        return memory, warnings
    return replace(memory, entities=found.canonicals[:ENTITIES]), warnings


def _of_query(memory: Memory, lookup: StoredCatalog) -> Iterator[Entities]:
    """An unknown name in a query over models is an error; of SQL, what is not understood is only told."""
    if isinstance(memory.query, str):
        yield entities_of_sql(memory.query, lookup)
    elif is_over_models(memory.query):
        yield entities_of_query(read_query(memory.query), lookup)
