"""WHERE does an agent note what it works on? One text for each agent and one that all share, within a size that holds."""

from datetime import UTC, datetime

from onrecord.errors import Conflict
from onrecord.model.answers import (
    AppendedScratchpad,
    ClearedScratchpad,
    ListedScratchpads,
    ScratchpadContent,
)
from onrecord.model.caller import Caller
from onrecord.model.limits import SCRATCHPAD_BYTES
from onrecord.model.requests import AppendScratchpad, ClearScratchpad, ReadScratchpad
from onrecord.model.workspace import scratchpad_kind
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.store import Store


def append(caller: Caller, ask: AppendScratchpad, store: Store, now: datetime) -> AppendedScratchpad:
    """The size is looked at where no one else can write, so that no two additions fit where one does."""
    clean = scrub(ask.content)
    block = marked(clean.text, now)
    with store.writing(caller, now) as writing:
        held = writing.workspace.scratchpad_size(ask.agent)
        size = held + len(block.encode())
        if size > SCRATCHPAD_BYTES:
            raise Conflict(
                f"The scratchpad of {ask.agent} would take {size} bytes, more than the {SCRATCHPAD_BYTES} there is room "
                f"for (it takes {held} now). Clear it first; what is worth keeping is remembered instead."
            )
        writing.workspace.append(ask.agent, block)
        writing.note("append_scratchpad", ask.agent)
    return AppendedScratchpad(agent=ask.agent, size=size, scrubbed=len(clean.found))


def marked(text: str, now: datetime) -> str:
    """An addition as it stands in the notes, under its time."""
    return f"\n<!-- {now.astimezone(UTC):%Y-%m-%d %H:%M:%S} -->\n{text}\n"


def read(caller: Caller, ask: ReadScratchpad, store: Store, now: datetime) -> ScratchpadContent:
    with store.reading(caller, now) as reading:
        content = reading.workspace.scratchpad(ask.agent)
    return ScratchpadContent(
        agent=ask.agent,
        kind=scratchpad_kind(ask.agent),
        exists=content is not None,
        size=len((content or "").encode()),
        content=content or "",
    )


def listed(caller: Caller, store: Store, now: datetime) -> ListedScratchpads:
    with store.reading(caller, now) as reading:
        return ListedScratchpads(scratchpads=tuple(reading.workspace.scratchpads()))


def clear(caller: Caller, ask: ClearScratchpad, store: Store, now: datetime) -> ClearedScratchpad:
    with store.writing(caller, now) as writing:
        held = writing.workspace.scratchpad_size(ask.agent)
        if held:
            writing.workspace.clear(ask.agent)
            writing.note("clear_scratchpad", ask.agent)
    return ClearedScratchpad(agent=ask.agent, cleared=held)
