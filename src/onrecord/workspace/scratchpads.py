"""WHERE does an agent note what it works on? In a scratchpad of its own and one that all share, each within a size
limit.
"""

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
from onrecord.workspace.agents import check_user, use_agent

_WHOSE: Final = "Whose scratchpad; the one that all share when left out."


@dataclass(frozen=True, slots=True)
class AppendScratchpad(Request):
    """Add to the scratchpad of an agent, or to the one that all agents share, with the present time.

    Scratchpads are read as a whole and not searched; use `remember` for what is worth finding again.
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
    """Read the scratchpad of an agent, or the one that all agents share; one that was never written is empty."""

    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_SCRATCHPAD, positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadContent(Answer):
    """A whole scratchpad; `exists` is false if nothing was ever written, or it was cleared."""

    agent: str
    kind: ScratchpadKind
    exists: bool
    size: int
    content: str


@dataclass(frozen=True, slots=True)
class ListScratchpads(Request):
    """List the scratchpads that you may read, and how large they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedScratchpads(Answer):
    """Scratchpads, the shared one first, then by agent."""

    scratchpads: tuple[Scratchpad, ...]


@dataclass(frozen=True, slots=True)
class ClearScratchpad(Request):
    """Clear the scratchpad of an agent, or the one that all agents share."""

    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_SCRATCHPAD, positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearedScratchpad(Answer):
    """How many bytes of a scratchpad were deleted."""

    agent: str
    cleared: int


@operation("write", "memory.manage", "POST /workspace/scratchpads/{agent}", "scratchpads append", begins=True)
def append_scratchpad(call: Call, ask: AppendScratchpad) -> AppendedScratchpad:
    """Add to a scratchpad. The size is checked under the lock, so that two additions never both take the last room."""
    clean = scrub(ask.content)
    block = marked(clean.text, call.now)
    with call.writing() as writing:
        use_agent(call.caller, writing.workspace, ask.agent)
        held = writing.workspace.scratchpad_size(ask.agent)
        size = held + len(block.encode())
        if size > SCRATCHPAD_BYTES:
            raise Conflict(
                f"The scratchpad of {ask.agent} would take {size} bytes, more than the {SCRATCHPAD_BYTES} there is room "
                f"for (it takes {held} now). Clear it first, and remember what is worth keeping."
            )
        writing.workspace.append(ask.agent, block)
        writing.note("append_scratchpad", ask.agent)
        appended = AppendedScratchpad(agent=ask.agent, size=size, scrubbed=len(clean.found))
        return call.done(writing, appended)


def marked(text: str, now: datetime) -> str:
    """An addition as the scratchpad stores it, with its time."""
    return f"\n<!-- {now.astimezone(UTC):%Y-%m-%d %H:%M:%S} -->\n{text}\n"


@operation("read", "memory.read", "GET /workspace/scratchpads/{agent}", "scratchpads read")
def read_scratchpad(call: Call, ask: ReadScratchpad) -> ScratchpadContent:
    with call.reading() as reading:
        check_user(call.caller, reading.workspace, ask.agent)
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
        check_user(call.caller, writing.workspace, ask.agent)
        held = writing.workspace.scratchpad_size(ask.agent)
        if held:
            writing.workspace.clear(ask.agent)
            writing.note("clear_scratchpad", ask.agent)
        return call.done(writing, ClearedScratchpad(agent=ask.agent, cleared=held))
