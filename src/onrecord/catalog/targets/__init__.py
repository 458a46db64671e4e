"""WHERE are approved changes written? The port of a target. Each write is a compare-and-set, so that it never
overwrites another's change.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol

from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import Cell


class Moved(Exception):
    """The catalog holds another value than expected; the message names it."""


class CurrentValue(NamedTuple):
    """The value at a place, and what the target needs to restore it. `is_anew` if it was promoted and the source's
    value has changed since.
    """

    value: Any
    under: Any = None
    is_anew: bool = False


class Target(Protocol):
    """A catalog that takes promoted values. Each method may be repeated: what is done already is left as it is.

    All changes of a call are of one changeset. A target that cannot write them together writes one after the other, and
    says in `written` how far it came.
    """

    name: str

    def read(self, cells: Iterable[Cell]) -> dict[Cell, CurrentValue]:
        """The values at some places, without those of entities that the catalog does not know."""

    def obstacle(self, change: FieldChange) -> str | None:
        """Why this target cannot take a change; None if it can."""

    def write(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        """Write each new value if the old one is still there; otherwise raise Moved. Only while it is *applying*.
        Returns notes about written values, such as that they are not visible yet.
        """

    def written(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[Cell]:
        """The places that hold the new value, written by this changeset."""

    def covered_by(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[str]:
        """The other changesets that have written there since."""

    def restore(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        """Restore the old value where the new one is still there; returns for other places why not. Only while it is
        being taken or rolled back.
        """
