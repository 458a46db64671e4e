"""UNDER which names is a thing known? Memories saved before the catalog knew it refer to it by another."""

from collections.abc import Iterator, Sequence

from onrecord.catalog.resolution import resolve_leniently
from onrecord.catalog.stored import StoredCatalog
from onrecord.store.ports.records import Reading


def known_names(references: Sequence[str], reading: Reading) -> tuple[str, ...]:
    """Each thing as given, as the catalog calls it, and by its other names; what the catalog does not know stays as given."""
    if not references:
        return ()
    lookup = StoredCatalog(reading)
    if lookup.is_empty:
        return tuple(references)
    names = dict.fromkeys(references)
    for canonical in resolve_leniently(references, lookup).canonicals:
        names.update(dict.fromkeys(_names_of(canonical, lookup)))
    return tuple(names)


def _names_of(canonical: str, lookup: StoredCatalog) -> Iterator[str]:
    yield canonical
    record = lookup.record(canonical)
    if record is not None:
        yield from record.entities
    _, *shorter = canonical.split(".")
    for start in range(len(shorter)):
        bare = ".".join(shorter[start:])
        if resolve_leniently([bare], lookup).canonicals == (canonical,):
            yield bare
