"""WHAT can be asked for the care of a store?"""

from dataclasses import dataclass

from onrecord.model import rules
from onrecord.model.requests.base import Request, ask


@dataclass(frozen=True, slots=True)
class Export(Request):
    """Write everything of this tenant and the global memories to a JSONL file, history included."""

    path: str = ask(rules.Text(at_least=1), "The file to write; - is standard output.", positional=True)
    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)


@dataclass(frozen=True, slots=True)
class Import(Request):
    """Read an export. What is already here in the same form is left as it is, so it can be repeated."""

    path: str = ask(rules.Text(at_least=1), "The file to read; - is standard input.", positional=True)
    keep_tenants: bool = ask(rules.FLAG, "Restore each tenant under its own name.", False)
    skip_conflicts: bool = ask(rules.FLAG, "Keep what is here where an id holds something else.", False)


@dataclass(frozen=True, slots=True)
class Backup(Request):
    """Write a consistent copy of the whole store while others go on writing."""

    path: str = ask(rules.Text(at_least=1), "The file to write.", positional=True)


@dataclass(frozen=True, slots=True)
class Doctor(Request):
    """Check that windows, versions, index and edges agree with the rows, and say what does not."""


@dataclass(frozen=True, slots=True)
class Reindex(Request):
    """Rebuild everything derived from the rows. The rows themselves are not touched."""


@dataclass(frozen=True, slots=True)
class EmbedMissing(Request):
    """Make the vectors that are missing: of what was saved while no embedder could be reached, or by another model.

    A text that has its vectors is never embedded again.
    """

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)
    anew: bool = ask(rules.FLAG, "Give up the vectors that are there and make all of them anew.", False)


@dataclass(frozen=True, slots=True)
class ShowStatus(Request):
    """How the store stands: where it is, how many memories have vectors, what waits and what failed."""

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)
