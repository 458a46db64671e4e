"""HOW are records of another system imported? As an export with one version each, like any other: checked, scrubbed,
and skipped if the store already has them.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from onrecord.care.importing import Imported
from onrecord.care.kinds import FORMAT, HEAD
from onrecord.errors import Fault, Invalid
from onrecord.model import ids
from onrecord.model.changesets import Changeset
from onrecord.model.memory import Memory, Relation, Version
from onrecord.model.wire import to_json


class ImportDoor(Protocol):
    """A door that reads an export."""

    def import_(self, path: str, *, skip_conflicts: bool = False) -> Imported:
        """Read it in."""


def take_in(
    door: ImportDoor,
    memories: Sequence[Memory],
    changesets: Sequence[Changeset] = (),
    relations: Sequence[Relation] = (),
) -> Imported:
    """Import memories of one tenant, and what goes with them. Existing memories stay as they are; Invalid if one is
    neither here nor imported.
    """
    with tempfile.TemporaryDirectory(prefix="onrecord-") as folder:
        path = Path(folder, "taken-over.jsonl")
        path.write_text("".join(_lines(memories, changesets, relations)), encoding="utf-8")
        imported = door.import_(str(path), skip_conflicts=True)
    held = {each.id for each in memories}
    conflicts = sum(1 for each in imported.conflicts if each in held)
    if imported.added + imported.unchanged + conflicts != len(memories):
        raise Invalid([Fault("memories", "were not all imported; the original store was left unchanged")])
    return imported


def _lines(
    memories: Sequence[Memory], changesets: Sequence[Changeset], relations: Sequence[Relation]
) -> Iterator[str]:
    tenant = memories[0].tenant
    numbers = [ids.whole_number(ids.address(memory.id).id) or 0 for memory in memories]
    yield _line({HEAD: FORMAT, "memories": len(memories)})
    yield _line({"tenant": tenant, "last_id": str(max(numbers)), "last_relation": len(relations)})
    for changeset in changesets:
        yield _line({"tenant": tenant, "changeset": to_json(changeset)})
    for memory in memories:
        version = Version(
            number=1,
            change="import",
            by=memory.owner,
            origin="import",
            at=memory.updated_at,
            until=None,
            memory=memory,
        )
        yield _line({"tenant": tenant, "id": memory.id, "versions": to_json((version,))})
    for relation in relations:
        yield _line({"tenant": tenant, "relation": to_json(relation)})


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"
