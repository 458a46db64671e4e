"""WHICH promoted values does an import bring? All of them if it includes the catalog; otherwise none.

The catalog holds the promoted values. A tenant's own export has no catalog, so proposals applied there count as
approved here and can be applied again, and its changesets have no effect. An agent may not import promoted values,
since they count as approved by a person.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from onrecord.care.lines import ExportLine
from onrecord.care.restoring_workspace import WorkspaceBatch, name_of
from onrecord.catalog.amendments import AMENDMENT, AMENDMENTS
from onrecord.catalog.targets.amendments import NAME as AMENDMENTS_TARGET
from onrecord.catalog.targets.unsourced import NAME as UNSOURCED
from onrecord.errors import Fault, Forbidden
from onrecord.model.caller import Caller
from onrecord.model.changesets import Changeset, without_effect
from onrecord.model.memory import Version
from onrecord.model.shapes import faults_at
from onrecord.store.ports.archive import MemoryHistory

#: The targets that store an amendment as the previous value.
_TARGETS: Final = (AMENDMENTS_TARGET, UNSOURCED)


def may_promote(caller: Caller) -> bool:
    """Whether the promoted values in a file may be trusted: only if a person or the host imports it."""
    return caller.actor == "person" or caller.operator


@dataclass(slots=True)
class Promotions:
    """Decides about the changesets of one tenant, and about the memories that they applied."""

    has_catalog: bool
    #: Changesets of the file that are here and were rolled back: what they say is as true here.
    _rolled_back: set[str] = field(default_factory=set)

    def of_batch(self, batch: WorkspaceBatch) -> WorkspaceBatch:
        if self.has_catalog:
            return batch
        items = [
            (line, without_effect(item) if isinstance(item, Changeset) else item)
            for line, item in batch.items
        ]
        return replace(batch, items=items)

    def note(self, batch: WorkspaceBatch, differing: Iterable[str]) -> None:
        """Note the imported changesets that were rolled back, without the `differing` ones."""
        left = set(differing)
        for _, item in batch.items:
            if isinstance(item, Changeset) and item.state == "rolled_back" and name_of(item) not in left:
                self._rolled_back.add(item.id)

    def of_history(self, history: MemoryHistory) -> MemoryHistory:
        """A memory; if it was applied and is not here, it is approved."""
        if self.has_catalog or not any(self._is_lost(each) for each in history.versions):
            return history
        versions = (_unapplied(each) if self._is_lost(each) else each for each in history.versions)
        return history._replace(versions=tuple(versions))

    def _is_lost(self, version: Version) -> bool:
        return version.memory.changeset is not None and version.memory.changeset not in self._rolled_back


def is_same_but_for_changesets(one: MemoryHistory, other: MemoryHistory) -> bool:
    """Whether two histories differ at most in what was applied, which is another matter in another catalog."""
    return tuple(map(_unapplied, one.versions)) == tuple(map(_unapplied, other.versions))


def _unapplied(version: Version) -> Version:
    changed = tuple(name for name in version.changed if name != "changeset")
    return replace(version, memory=replace(version.memory, changeset=None), changed=changed)


def check_entity(line: ExportLine, history: MemoryHistory, caller: Caller) -> None:
    """Check that a record of the catalog holds no promoted values that this caller may not import, and none that no edit
    could produce."""
    for place, version in enumerate(history.versions):
        known = version.memory.metadata.get("entity", {}).get(AMENDMENTS, ())
        if known and not may_promote(caller):
            raise Forbidden(
                f"{line.place} holds values that people promoted into the catalog: only a person may import these. "
                "Everything before it was imported."
            )
        if faults := [fault for number, each in enumerate(known) for fault in _faults(number, each)]:
            raise line.faults(faults, under=f"versions[{place}].memory.metadata.entity.{AMENDMENTS}")


def check_changeset(line: ExportLine, changeset: Changeset) -> None:
    """Check that the values it would restore are ones that an edit could produce."""
    if changeset.target not in _TARGETS:
        return
    for number, change in enumerate(changeset.changes):
        if change.under is not None and (faults := _faults(number, change.under)):
            raise line.faults(faults, under="changeset.changes.under")


def _faults(number: int, given: object) -> list[Fault]:
    try:
        AMENDMENT(given)
    except ValueError as reason:
        return faults_at(f"[{number}]", reason)
    return []
