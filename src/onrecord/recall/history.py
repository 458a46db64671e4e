"""WHAT did we know before? The versions of a memory, and what changed between two times."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from onrecord.errors import Fault
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.findings import Compared
from onrecord.model.memory import Version
from onrecord.model.request import MAYBE_INSTANT, Request, ask
from onrecord.operation import Call, operation
from onrecord.recall.show import no_memory


@dataclass(frozen=True, slots=True)
class History(Request):
    """Every version of one memory: who changed what, and when."""

    id: str = ask(rules.ID, "The memory.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHistory(Answer):
    """The history of one memory, oldest version first."""

    id: str
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Diff(Request):
    """What changed in what we know between two times."""

    since: datetime = ask(rules.INSTANT, "The earlier time.", positional=True)
    until: datetime | None = ask(MAYBE_INSTANT, "The later time; now when left out.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.until is not None and self.until < self.since:
            yield Fault("until", "must not be before since")


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
        return reading.compare(ask.since, ask.until or call.now)
