"""WHICH commands can an agent write? A value for each, with the line that it stood on."""

from dataclasses import dataclass
from typing import ClassVar, Final

#: The last line of what is told of memories, of shared notes, and of a file.
END: Final = "[END MEMORY]"
END_SHARED: Final = "[END SHARED MEMORY]"
END_FILE: Final = "[END FILE]"


@dataclass(frozen=True, slots=True)
class Line:
    """A command; `head` is what its answer is headed with, `closing` the line that ends it, if it has lines at all."""

    head: str
    closing: ClassVar[str | None] = END


@dataclass(frozen=True, slots=True)
class Help(Line):
    """Which types, relations and commands there are."""


@dataclass(frozen=True, slots=True)
class Entries(Line):
    """The newest entries, of some types or with a tag alone."""

    types: tuple[str, ...] = ()
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Entry(Line):
    """One entry with its edges."""

    id: str


@dataclass(frozen=True, slots=True)
class Search(Line):
    """What bears on a question; types and a tag raise an entry and hide none."""

    question: str
    types: tuple[str, ...] = ()
    tag: str | None = None
    rerank: bool = False


@dataclass(frozen=True, slots=True)
class Expand(Line):
    """What is linked to an entry, one or two steps away."""

    id: str
    depth: int


@dataclass(frozen=True, slots=True)
class Density(Line):
    """How richly the surroundings of an entry are linked."""

    id: str


@dataclass(frozen=True, slots=True)
class AddEntry(Line):
    """A new entry, which may end others and be linked to a file."""

    type: str
    title: str
    body: str
    supersedes: tuple[str, ...] = ()
    artifact: str | None = None


@dataclass(frozen=True, slots=True)
class AddLink(Line):
    """A directed edge."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class Invalidate(Line):
    """An entry that is no longer true."""

    id: str


@dataclass(frozen=True, slots=True)
class WriteNotes(Line):
    """An addition to the agent's scratchpad, or to the shared one."""

    text: str
    shared: bool
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class ReadNotes(Line):
    """The agent's scratchpad."""


@dataclass(frozen=True, slots=True)
class ReadSharedNotes(Line):
    """The scratchpad that all agents share."""

    closing: ClassVar[str | None] = END_SHARED


@dataclass(frozen=True, slots=True)
class ClearNotes(Line):
    """A scratchpad emptied."""

    shared: bool
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class WriteFile(Line):
    """A file kept with the conversation."""

    path: str
    content: str
    closing: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True)
class ReadFile(Line):
    """A file by its number or path; one of another conversation by way of an entry that is linked to it."""

    file: str
    via: str | None = None
    page: int = 1
    closing: ClassVar[str | None] = END_FILE


@dataclass(frozen=True, slots=True)
class Refused(Line):
    """A command that cannot be carried out as it is written, and why."""

    reason: str
    is_block: bool = True


Command = (
    Help
    | Entries
    | Entry
    | Search
    | Expand
    | Density
    | AddEntry
    | AddLink
    | Invalidate
    | WriteNotes
    | ReadNotes
    | ReadSharedNotes
    | ClearNotes
    | WriteFile
    | ReadFile
    | Refused
)
