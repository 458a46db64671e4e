"""WHAT have the others noted? The memories of this conversation, for an agent that gets a part of the work.

Only titles and ids: the agent reads in full what looks relevant.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from onrecord.context.frame import enclosed, one_line
from onrecord.context.parts import ContextPiece, ContextSection
from onrecord.model.limits import BRIEFED, BROWSE_LIMIT
from onrecord.model.memory import Memory
from onrecord.model.tiers import WORDS
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Reading

_OPENING: Final = "[DELEGATION CONTEXT]"
_CLOSING: Final = "[END DELEGATION CONTEXT]"
HEADING: Final = (
    "Pipeline memory (entries written earlier in this conversation; "
    "read one in full by its #id before you search, or restate from training):"
)


def briefing(reading: Reading, conversation: str) -> ContextSection:
    """Memories pinned to a conversation or visible only there, the latest first; unpinned ones are not part of it."""
    every = list(_pinned(reading, conversation))
    newest = sorted(every, key=lambda memory: (memory.created_at, memory.place or ()), reverse=True)[:BRIEFED]
    pieces = [ContextPiece(text=_pointer(memory), memory=memory) for memory in newest]
    return ContextSection(name="briefing", pieces=pieces, render=partial(_rendered, len(every)))


def _pinned(reading: Reading, conversation: str) -> Iterator[Memory]:
    after: str | None = None
    while True:
        page, after = reading.browse(MemoryFilter(conversation=conversation, limit=BROWSE_LIMIT, after=after))
        yield from page
        if after is None:
            return


def _pointer(memory: Memory) -> str:
    line = f"- #{one_line(memory.id)} [{memory.kind}, {WORDS[memory.tier]}] {one_line(memory.title)}"
    tags = ", ".join(map(one_line, memory.tags))
    return f"{line} [{tags}]" if tags else line


def _rendered(total: int, lines: Sequence[str]) -> str:
    counted = f"{len(lines)} {'entry' if len(lines) == 1 else 'entries'} (newest first):"
    # Where the tokens of the frame alone are counted the lines are empty, and all may still be left out.
    left = total - sum(map(bool, lines))
    more = (
        [f"({left} more of this conversation {'is' if left == 1 else 'are'} not listed here)"] if left else []
    )
    return f"{_OPENING}\n{enclosed(HEADING, [counted, *lines, *more])}\n{_CLOSING}"
