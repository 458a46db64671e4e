"""WHERE are approved changes written? The port of a target. Each write is a compare-and-set, so that what someone else
has changed is never written over.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol

from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import Cell


class Moved(Exception):
    """Something else stands there than expected; the message says what."""


class Standing(NamedTuple):
    """What stands at a place, and what the target needs to put it back there. `is_anew` if it was promoted, and the source
    says something else than it said then.
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

    def read(self, cells: Iterable[Cell]) -> dict[Cell, Standing]:
        """What stands at some places; a place of an entity that the catalog does not know is left out."""

    def obstacle(self, change: FieldChange) -> str | None:
        """Why this target cannot take a change; None if it can."""

    def write(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        """Write each new value if the old one still stands there; otherwise Moved. Only while it is *applying*. Returns what
        is to be said of values that were written, such as that they do not show yet.
        """

    def written(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[Cell]:
        """The places where the new value stands, written by this changeset."""

    def covered_by(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Set[str]:
        """The other changesets that have written there since."""

    def restore(self, changeset: Changeset, changes: Sequence[FieldChange]) -> Mapping[Cell, str]:
        """Put back what stood there before, where the new value still does; returns why that could not be elsewhere.
        Only while it is being taken or rolled back.
        """
