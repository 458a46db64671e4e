"""WHICH memories are there? Pages of them, by their fields."""

from dataclasses import dataclass

from onrecord.model.answer import Answer
from onrecord.model.memory import Memory
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import MemoryFilter


@dataclass(frozen=True, slots=True)
class Browse(MemoryFilter):
    """List memories, last updated first. Here kinds, tags and the rest are filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsed(Answer):
    """A page of memories; `next` asks for the following page."""

    memories: tuple[Memory, ...]
    next: str | None = None


@operation("read", "memory.read", "GET /memories")
def browse(call: Call, ask: Browse) -> Browsed:
    with call.reading() as reading:
        memories, mark = reading.browse(ask)
    return Browsed(memories=tuple(memories), next=mark)
