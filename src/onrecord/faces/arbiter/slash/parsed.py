"""WHICH commands can an agent write? One class for each; its values hold the line that heads the answer."""

from dataclasses import dataclass
from typing import ClassVar, Final

from onrecord.model.feedback import GivenVerdict

#: The last line of a block of memories, of shared notes, and of a file.
END: Final = "[END MEMORY]"
END_SHARED: Final = "[END SHARED MEMORY]"
END_FILE: Final = "[END FILE]"


@dataclass(frozen=True, slots=True)
class Line:
    """A command. `head` heads its answer; `closing` is the line that ends it, or None if the answer is one line."""

    head: str
    closing: ClassVar[str | None] = END


@dataclass(frozen=True, slots=True)
class Help(Line):
    """List the types, relations and commands."""


@dataclass(frozen=True, slots=True)
class Entries(Line):
    """List the newest entries; if types or a tag are given, only those that have them."""

    types: tuple[str, ...] = ()
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Entry(Line):
    """Show one entry with its edges."""

    id: str


@dataclass(frozen=True, slots=True)
class SearchEntries(Line):
    """Find the entries that answer a question; types and a tag raise entries and hide none."""

    question: str
    types: tuple[str, ...] = ()
    tag: str | None = None
    rerank: bool = False


@dataclass(frozen=True, slots=True)
class Expand(Line):
    """Show what is linked to an entry, one or two steps away."""

    id: str
    depth: int


@dataclass(frozen=True, slots=True)
class Density(Line):
    """Say how many links there are around an entry."""

    id: str


@dataclass(frozen=True, slots=True)
class AddEntry(Line):
    """Add an entry, which may end others and be linked to a file."""

    type: str
    title: str
    body: str
    supersedes: tuple[str, ...] = ()
    artifact: str | None = None


@dataclass(frozen=True, slots=True)
class AddLink(Line):
    """Add a directed edge between two entries."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class Invalidate(Line):
    """End an entry that is no longer true."""

    id: str


@dataclass(frozen=True, slots=True)
class JudgeEntry(Line):
    """Say whether an entry was useful for a question."""

    id: str
    verdict: GivenVerdict
    question: str
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class WriteNotes(Line):
    """Add to the agent's scratchpad, or to the shared one."""

    text: str
    shared: bool
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class ReadNotes(Line):
    """Read the agent's scratchpad."""


@dataclass(frozen=True, slots=True)
class ReadSharedNotes(Line):
    """Read the scratchpad that all agents share."""

    closing: ClassVar[str | None] = END_SHARED


@dataclass(frozen=True, slots=True)
class ClearNotes(Line):
    """Empty the agent's scratchpad, or the shared one."""

    shared: bool
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class WriteFile(Line):
    """Store a file with the conversation."""

    path: str
    content: str
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class ReadFile(Line):
    """Read a file by its number or path; a file of another conversation through an entry that is linked to it."""

    file: str
    via: str | None = None
    page: int = 1
    closing: ClassVar[str | None] = END_FILE


@dataclass(frozen=True, slots=True)
class RefusedCommand(Line):
    """A command that cannot run as it is written, and why. The answer is one line unless `is_block`."""

    reason: str
    is_block: bool = True


Command = (
    Help
    | Entries
    | Entry
    | SearchEntries
    | Expand
    | Density
    | AddEntry
    | AddLink
    | Invalidate
    | JudgeEntry
    | WriteNotes
    | ReadNotes
    | ReadSharedNotes
    | ClearNotes
    | WriteFile
    | ReadFile
    | RefusedCommand
)
