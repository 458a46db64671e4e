"""UNDER which names is a thing known? Memories saved before the catalog knew it refer to it by another."""

from collections.abc import Iterator, Sequence

from onrecord.catalog.lookup import Lookup
from onrecord.catalog.resolution import Unresolved, resolve, resolve_leniently, resolve_model
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import MEMORY_PREFIX, URN_PREFIX, FieldUrn, Model, canonicals_of, field_of
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


def meant(references: Sequence[str], reading: Reading, known: Sequence[str] = ()) -> tuple[str, ...]:
    """A caller's references, with the full ids of the memories that they mean. Those that are `known`, since they were read
    in a memory, stay as they are.
    """
    given = [each for each in references if each.startswith(MEMORY_PREFIX) and each not in known]
    if not given:
        return tuple(references)
    ids = reading.meant([each.removeprefix(MEMORY_PREFIX) for each in given])
    full = {each: MEMORY_PREFIX + id for each, id in zip(given, ids, strict=True)}
    return tuple(dict.fromkeys(full.get(each, each) for each in references))


def _names_of(canonical: str, lookup: StoredCatalog) -> Iterator[str]:
    yield canonical
    record = lookup.record(canonical)
    if record is not None:
        yield from record.entities
    yield from _field_urns(canonical, lookup)
    _, *shorter = canonical.split(".")
    for start in range(len(shorter)):
        bare = ".".join(shorter[start:])
        if resolve_leniently([bare], lookup).canonicals == (canonical,):
            yield bare


def _field_urns(canonical: str, lookup: StoredCatalog) -> Iterator[str]:
    datasource, *path = canonical.split(".", 2)
    model = lookup.model(datasource, path[0]) if len(path) == len(("model", "part")) else None
    if model is not None:
        yield from _urns_of_part(model, path[1])


def _urns_of_part(model: Model, name: str) -> Iterator[str]:
    return (str(FieldUrn(urn, name)) for urn in model.aliases if urn.startswith(URN_PREFIX))


def names_of_parts(model: Model) -> Iterator[str]:
    """The model and its parts in full, and the parts by their URNs."""
    yield from canonicals_of(model)
    for part in model.parts:
        yield from _urns_of_part(model, part.name)


def once_there(reference: str, lookup: Lookup) -> str:
    """The full name of a part that need not be there any more, if its model is; else the name as given."""
    try:
        return resolve(reference, lookup).canonical
    except Unresolved:
        above, _, name = reference.rpartition(".")
        model, name = field_of(reference) or (above, name)
    try:
        return f"{resolve_model(model, lookup).canonical}.{name}"
    except Unresolved:
        return reference
