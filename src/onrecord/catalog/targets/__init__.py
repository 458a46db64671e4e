"""WHERE are approved changes written? The port of a target. Each write is a compare-and-set, so that what someone else
has changed is never written over.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import Cell


class Moved(Exception):
    """Something else stands there than expected; the message says what. `changeset` put it there, if one did."""

    def __init__(self, told: str, changeset: str | None = None) -> None:
        super().__init__(told)
        self.changeset = changeset


class Standing(NamedTuple):
    """What stands at a place, and what the target needs to put it back there."""

    value: Any
    under: Any = None


class Target(Protocol):
    """A catalog that takes promoted values. Each method may be repeated: what is done already is left as it is."""

    name: str

    def read(self, cells: Iterable[Cell]) -> dict[Cell, Standing]:
        """What stands at some places; a place of an entity that the catalog does not know is left out."""

    def write(self, changeset: Changeset, change: FieldChange) -> None:
        """Write the new value if the old one still stands there; otherwise Moved."""

    def stands(self, changeset: Changeset, change: FieldChange) -> bool:
        """Whether the new value stands there, written by this changeset."""

    def covered_by(self, changeset: Changeset, change: FieldChange) -> str | None:
        """The other changeset that has written there since, if one has."""

    def restore(self, changeset: Changeset, change: FieldChange) -> None:
        """Put back what stood there before, if the new value still does; otherwise Moved."""
