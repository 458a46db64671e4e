"""WHAT is known of a memory beyond itself? Which model made its vectors, what superseded it, and what its subjects are
called elsewhere.
"""

from collections.abc import Sequence
from typing import Final

from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import URN_PREFIX
from onrecord.model.findings import Background
from onrecord.model.memory import Memory
from onrecord.store.ports.filters import RelationWalk
from onrecord.store.ports.records import Reading

BACKGROUND: Final = (
    "Also say of each which model made its vectors, what superseded it, and the URNs of what it is about."
)


def background_of(memories: Sequence[Memory], reading: Reading) -> tuple[Background, ...]:
    """The background of each memory, in their order."""
    models = reading.index.embedded([each.place[:2] for each in memories if each.place is not None])
    urns = _urns({name for each in memories for name in each.entities}, reading)
    return tuple(
        Background(
            id=each.id,
            embedded_by=None if each.place is None else models.get(each.place[:2]),
            superseded_by=_superseded_by(each, reading),
            urns={name: urns[name] for name in each.entities if name in urns},
        )
        for each in memories
    )


def _superseded_by(memory: Memory, reading: Reading) -> str | None:
    if memory.status != "superseded":
        return None
    walk = RelationWalk(memory.id, relations=("supersedes",), direction="in", limit=1)
    return next((edge.memory.id for edge in reading.relations.around(memory, walk)), None)


def _urns(names: set[str], reading: Reading) -> dict[str, str]:
    """The first URN of each thing that the catalog knows by one."""
    catalog = StoredCatalog(reading)
    if not names or catalog.is_empty:
        return {}
    records = {name: catalog.record(name) for name in sorted(names)}
    known = {name: [] if record is None else record.entities for name, record in records.items()}
    return {
        name: found
        for name, aliases in known.items()
        if (found := next((each for each in aliases if each.startswith(URN_PREFIX)), None))
    }
