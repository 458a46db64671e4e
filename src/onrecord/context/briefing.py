"""WHAT have the others noted? The entries of this conversation, for an agent that work is delegated to.

Pointers, not a copy: the agent reads in full what looks relevant.
"""

from collections.abc import Sequence
from typing import Final

from onrecord.context.frame import enclosed, one_line
from onrecord.context.parts import ContextPiece, ContextSection
from onrecord.model.limits import BRIEFED
from onrecord.model.memory import Memory
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Reading

_OPENING: Final = "[DELEGATION CONTEXT]"
_CLOSING: Final = "[END DELEGATION CONTEXT]"
HEADING: Final = (
    "Pipeline memory (entries written earlier in this conversation; "
    "read one in full by its #id before you search, or restate from training):"
)


def briefing(reading: Reading, conversation: str) -> ContextSection:
    """What is pinned to a conversation or said in it alone; what is pinned nowhere is no part of it."""
    found, _ = reading.browse(MemoryFilter(conversation=conversation, limit=BRIEFED))
    pieces = [ContextPiece(text=_pointer(memory), memory=memory.id) for memory in found]
    return ContextSection(name="briefing", pieces=pieces, render=_rendered)


def _pointer(memory: Memory) -> str:
    line = f"- #{one_line(memory.id)} [{memory.kind}] {one_line(memory.title)}"
    tags = ", ".join(map(one_line, memory.tags))
    return f"{line} [{tags}]" if tags else line


def _rendered(lines: Sequence[str]) -> str:
    counted = f"{len(lines)} {'entry' if len(lines) == 1 else 'entries'} (newest first):"
    return f"{_OPENING}\n{enclosed(HEADING, [counted, *lines])}\n{_CLOSING}"
