"""WHAT is it about? References are brought to their one form; unknown ones are refused, or kept if the request says so."""

from dataclasses import replace

from onrecord.catalog.editing import resolved_edits
from onrecord.catalog.extraction import ReadQuery, read_without_catalog
from onrecord.catalog.known_names import meant
from onrecord.catalog.resolution import Gathering, resolve_all, resolve_or_keep
from onrecord.catalog.stored import StoredCatalog
from onrecord.errors import Invalid
from onrecord.model.limits import ENTITIES, Unknown
from onrecord.model.memory import Memory
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Reading, Writing


def read_query(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    """Parse the query. Its writer decides how long that takes, so it happens before anyone has to wait."""
    if draft.ready.query is None:
        return draft
    with tools.store.reading(draft.caller, draft.now) as reading:
        is_compared = draft.ready.scope == "global" or has_catalog(reading)
    return replace(draft, read_query=read_ahead(draft.ready)) if is_compared else draft


def refer(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    memory = with_meant(draft.ready, writing, draft.held)
    memory, warnings = referred(memory, writing, draft.read_query, draft.ask.unknown)
    return replace(draft, memory=memory, warnings=(*draft.warnings, *warnings))


def has_catalog(reading: Reading) -> bool:
    """Whether there is anything to compare references with."""
    return not StoredCatalog(reading).is_empty


def read_ahead(memory: Memory) -> ReadQuery | None:
    """What can be read of a memory's query without a catalog; None if it is not well formed."""
    try:
        return read_without_catalog(memory.query)
    except Invalid:
        # Said where it is compared with the catalog, if it is.
        return None


def with_meant(memory: Memory, reading: Reading, before: Memory | None) -> Memory:
    """A memory with the full ids of the memories that its writer refers to. References that it has already mean the same as
    before: writers send them back as they read them.
    """
    if not memory.entities:
        return memory
    known = () if before is None else before.entities
    return replace(memory, entities=meant(memory.entities, reading, known))


def referred(
    memory: Memory, writing: Writing, read: ReadQuery | None = None, unknown: Unknown = "refuse"
) -> tuple[Memory, tuple[str, ...]]:
    """The memory with references as the catalog writes them, including those of its query; and warnings.

    Without a catalog references stay as given. `read` is what was parsed of the query before; it counts if the memory
    still has that query.
    """
    if not memory.entities and memory.query is None and not memory.edits:
        return memory, ()
    lookup = StoredCatalog(writing)
    if memory.edits:
        memory = _about_what_it_edits(memory, lookup, unknown)
    if lookup.is_empty:
        return memory, ()
    if read is None or read.given != memory.query:
        read = read_without_catalog(memory.query)
    gathering = Gathering()
    resolved = resolve_or_keep if unknown == "keep" else resolve_all
    for some in (resolved(memory.entities, lookup), read.entities(lookup)):
        gathering.take(some)
    found = gathering.entities()
    warnings = found.warnings
    if len(found.canonicals) > ENTITIES:
        warnings += (f"it is about {len(found.canonicals)} things; the first {ENTITIES} are kept.",)
    if found.canonicals == memory.entities:
        return memory, warnings
    return replace(memory, entities=found.canonicals[:ENTITIES]), warnings


def _about_what_it_edits(memory: Memory, lookup: StoredCatalog, unknown: Unknown) -> Memory:
    """The memory with its edits as the catalog writes their entities; a proposal is about what it would change."""
    edits = memory.edits or ()
    if not lookup.is_empty:
        edits = resolved_edits(edits, lookup, unknown)
    entities = dict.fromkeys((*memory.entities, *(each.entity for each in edits)))
    return replace(memory, edits=edits, entities=tuple(entities))
