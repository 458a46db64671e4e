"""WHICH entities do edits mean? Their references are resolved as those of memories are."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from onrecord.catalog.known_names import known_names
from onrecord.catalog.resolution import Gathering, Unresolved, resolve
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, URN_PREFIX, field_of
from onrecord.model.edits import Edit
from onrecord.model.limits import Unknown
from onrecord.store.ports.records import Reading

_NO_PATH: Final = (MEMORY_PREFIX, SYSTEM_PREFIX, THING_PREFIX, URN_PREFIX)


def resolved_edits(
    edits: Sequence[Edit], lookup: StoredCatalog, unknown: Unknown = "refuse"
) -> tuple[Edit, ...]:
    """The edits with their entities' canonical names. Unknown entities are kept as given, or else raised in one error."""
    gathering, found = Gathering(), []
    for place, edit in enumerate(edits):
        try:
            found.append(replace(edit, entity=resolve(edit.entity, lookup).canonical))
        except Unresolved as error:
            if unknown == "keep":
                found.append(edit)
            else:
                gathering.fail(error.at(f"edits[{place}].entity"))
    gathering.entities()
    return tuple(found)


def root_of(canonical: str) -> str:
    """What a changeset is about: the model of a part, also by the URN of a field, else the entity itself."""
    if (field := field_of(canonical)) is not None:
        return field.model
    if canonical.startswith(_NO_PATH):
        return canonical
    return ".".join(canonical.split(".", 2)[:2])


def names_inside(root: str, reading: Reading) -> tuple[str, ...]:
    """Every name by which memories refer to an entity or to one of its parts, also to a part that is gone."""
    names = known_names([root], reading)
    has_parts = root.startswith(URN_PREFIX) or ("." in root and not root.startswith(_NO_PATH))
    inside = (reading.references(each) for each in names if has_parts)
    return tuple(dict.fromkeys((*names, *chain.from_iterable(inside))))
