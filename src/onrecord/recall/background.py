"""WHAT is known of a memory beyond itself? Which model made its vectors, what superseded it, which URNs its
subjects have, and whether its proposal was applied.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

from onrecord.catalog.editing import root_of
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import URN_PREFIX, FieldUrn
from onrecord.model.changesets import Changeset, proposal_state
from onrecord.model.findings import Background
from onrecord.model.limits import NEIGHBOUR_LIMIT
from onrecord.model.memory import Memory
from onrecord.store.ports.filters import RelationWalk
from onrecord.store.ports.records import Reading

BACKGROUND: Final = (
    "Also say of each which model made its vectors, what superseded it, the URNs of what it is about, and the state of "
    "what it proposes."
)


def background_of(memories: Sequence[Memory], reading: Reading) -> tuple[Background, ...]:
    """The background of each memory, in their order."""
    keys = [each.place[:2] for each in memories if each.place is not None]
    models = reading.index.embedded(keys)
    chained = {key for key, relation, _ in reading.relations.joined(keys) if relation == "supersedes"}
    urns = urns_of({name for each in memories for name in each.entities}, reading)
    changeset_of = cache(reading.changesets.one)
    backgrounds: list[Background] = []
    for each in memories:
        known: dict[str, Any] = {} if each.edits is None else _proposed(each, changeset_of, reading)
        if each.place is not None and each.place[:2] in chained:
            known |= _chain(each, reading)
        known["urns"] = {name: urns[name] for name in each.entities if name in urns}
        embedded_by = None if each.place is None else models.get(each.place[:2])
        backgrounds.append(Background(id=each.id, embedded_by=embedded_by, **known))
    return tuple(backgrounds)


def _chain(memory: Memory, reading: Reading) -> dict[str, Any]:
    """What a memory superseded, and what superseded it, as far as the caller sees them."""
    walk = RelationWalk(memory.id, relations=("supersedes",), limit=NEIGHBOUR_LIMIT)
    edges = reading.relations.around(memory, walk)
    by = next((each.memory.id for each in edges if each.direction == "in"), None)
    return {
        "superseded_by": by if memory.status == "superseded" else None,
        "supersedes": tuple(each.memory.id for each in edges if each.direction == "out"),
    }


def _proposed(
    memory: Memory, changeset_of: Callable[[str], Changeset | None], reading: Reading
) -> dict[str, Any]:
    """The state of a proposal, who applied it, and who ended it."""
    changeset = None if memory.changeset is None else changeset_of(memory.changeset)
    fields: dict[str, Any] = {"proposal": proposal_state(memory, changeset)}
    if changeset is not None:
        fields |= {"applied_by": changeset.by, "applied_at": changeset.at}
    if not memory.is_live:
        last = next(reversed(reading.versions(memory.id)), None)
        fields |= {} if last is None else {"ended_by": last.by, "ended_at": last.at}
    return fields


def urns_of(names: set[str], reading: Reading) -> dict[str, str]:
    """The first URN of each thing that the catalog knows by one; a part of a model has one if the model has."""
    catalog = StoredCatalog(reading)
    if not names or catalog.is_empty:
        return {}
    urns = {name: found for name in sorted(names) if (found := _urn(name, catalog))}
    for name in names - urns.keys():
        if name.startswith(URN_PREFIX) or (root := root_of(name)) == name:
            continue
        if urn := urns.get(root) or _urn(root, catalog):
            urns[name] = str(FieldUrn(urn, name.removeprefix(f"{root}.")))
    return urns


def _urn(name: str, catalog: StoredCatalog) -> str | None:
    record = catalog.record(name)
    aliases = () if record is None else record.entities
    return next((each for each in aliases if each.startswith(URN_PREFIX)), None)
