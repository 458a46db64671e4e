"""WHAT did we know before? The versions of a memory, and what changed between two times."""

from dataclasses import dataclass

from onrecord.errors import no_memory
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.findings import Compared
from onrecord.model.memory import Version
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import ChangeFilter


@dataclass(frozen=True, slots=True)
class History(Request):
    """The versions of one memory that the caller may see: who changed what, and when."""

    id: str = ask(rules.ID, "The memory.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHistory(Answer):
    """The history of one memory, oldest version first."""

    id: str
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Diff(ChangeFilter):
    """What changed in what we know between two times."""


@operation("read", "memory.read", "GET /memories/{id}/history")
def history(call: Call, ask: History) -> ShownHistory:
    with call.reading() as reading:
        versions = reading.versions(ask.id)
    if not versions:
        raise no_memory(ask.id)
    return ShownHistory(id=versions[-1].memory.id, versions=tuple(versions))


@operation("read", "memory.read", "GET /diff")
def diff(call: Call, ask: Diff) -> Compared:
    with call.reading() as reading:
        return reading.compare(ask)
