"""WHERE does an agent note what it works on? One text for each agent and one that all share, within a size that holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from onrecord.errors import Conflict, Fault
from onrecord.model import limits, rules, workspace
from onrecord.model.agent import AGENT_NAME, agent_faults
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.limits import SCRATCHPAD_BYTES
from onrecord.model.request import Request, ask
from onrecord.model.workspace import Scratchpad, ScratchpadKind, scratchpad_kind
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub

_WHOSE: Final = "Whose scratchpad; the one that all share when left out."


@dataclass(frozen=True, slots=True)
class AppendScratchpad(Request):
    """Add to the scratchpad of an agent, or to the one that all agents share, under the time of now.

    Notes are read as a whole and are not searched; what is worth finding again is remembered instead.
    """

    content: str = ask(
        rules.Text(at_least=1, at_most_bytes=limits.SCRATCHPAD_BYTES), "What to note.", positional=True
    )
    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_SCRATCHPAD)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedScratchpad(Answer):
    """A scratchpad after an addition: how many bytes it takes now, and how many secrets were taken out."""

    agent: str
    size: int
    scrubbed: int = 0


@dataclass(frozen=True, slots=True)
class ReadScratchpad(Request):
    """The scratchpad of an agent, or the one that all agents share; what was never written is empty."""

    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_SCRATCHPAD, positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadContent(Answer):
    """A scratchpad as a whole; `exists` is false where nothing was ever written, or all was thrown away."""

    agent: str
    kind: ScratchpadKind
    exists: bool
    size: int
    content: str


@dataclass(frozen=True, slots=True)
class ListScratchpads(Request):
    """Whose scratchpads there are, and how large they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedScratchpads(Answer):
    """Scratchpads, the one that all share first, then by agent."""

    scratchpads: tuple[Scratchpad, ...]


@dataclass(frozen=True, slots=True)
class ClearScratchpad(Request):
    """Throw away the scratchpad of an agent, or the one that all agents share."""

    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_SCRATCHPAD, positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedScratchpad(Answer):
    """How many bytes of a scratchpad were thrown away."""

    agent: str
    cleared: int


@operation("write", "memory.manage", "POST /workspace/scratchpads/{agent}", "scratchpads append", begins=True)
def append_scratchpad(call: Call, ask: AppendScratchpad) -> AppendedScratchpad:
    """The size is looked at where no one else can write, so that no two additions fit where one does."""
    clean = scrub(ask.content)
    block = marked(clean.text, call.now)
    with call.writing() as writing:
        held = writing.workspace.scratchpad_size(ask.agent)
        size = held + len(block.encode())
        if size > SCRATCHPAD_BYTES:
            raise Conflict(
                f"The scratchpad of {ask.agent} would take {size} bytes, more than the {SCRATCHPAD_BYTES} there is room "
                f"for (it takes {held} now). Clear it first; what is worth keeping is remembered instead."
            )
        writing.workspace.append(ask.agent, block)
        writing.note("append_scratchpad", ask.agent)
        appended = AppendedScratchpad(agent=ask.agent, size=size, scrubbed=len(clean.found))
        return call.done(writing, appended)


def marked(text: str, now: datetime) -> str:
    """An addition as it stands in the notes, under its time."""
    return f"\n<!-- {now.astimezone(UTC):%Y-%m-%d %H:%M:%S} -->\n{text}\n"


@operation("read", "memory.read", "GET /workspace/scratchpads/{agent}", "scratchpads read")
def read_scratchpad(call: Call, ask: ReadScratchpad) -> ScratchpadContent:
    with call.reading() as reading:
        content = reading.workspace.scratchpad(ask.agent)
    return ScratchpadContent(
        agent=ask.agent,
        kind=scratchpad_kind(ask.agent),
        exists=content is not None,
        size=len((content or "").encode()),
        content=content or "",
    )


@operation("read", "memory.read", "GET /workspace/scratchpads", "scratchpads list")
def scratchpads(call: Call, ask: ListScratchpads) -> ListedScratchpads:
    with call.reading() as reading:
        return ListedScratchpads(scratchpads=tuple(reading.workspace.scratchpads()))


@operation("write", "memory.manage", "DELETE /workspace/scratchpads/{agent}", "scratchpads clear")
def clear_scratchpad(call: Call, ask: ClearScratchpad) -> ClearedScratchpad:
    with call.writing() as writing:
        held = writing.workspace.scratchpad_size(ask.agent)
        if held:
            writing.workspace.clear(ask.agent)
            writing.note("clear_scratchpad", ask.agent)
        return call.done(writing, ClearedScratchpad(agent=ask.agent, cleared=held))
