"""WHAT did we know before? The versions of a memory, what changed between two times, and when anything changed."""

from dataclasses import dataclass
from datetime import datetime

from onrecord.errors import no_memory
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.collections import ENTITIES
from onrecord.model.findings import Compared
from onrecord.model.memory import Version
from onrecord.model.request import MAYBE_INSTANT, Request, ask
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import ChangeFilter
from onrecord.store.ports.records import Reading


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

    catalog: bool = ask(rules.FLAG, "Of what the catalog knows, instead of memories.", False)


@dataclass(frozen=True, slots=True)
class Moments(Request):
    """The latest moments at which a memory was saved, changed or ended."""

    before: datetime | None = ask(MAYBE_INSTANT, "Only moments before this one.", None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many at most.", 50)
    catalog: bool = ask(rules.FLAG, "When the catalog changed, instead of memories.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMoments(Answer):
    """Moments at which something changed that the caller sees, latest first, each once."""

    moments: tuple[datetime, ...]


@operation("read", "memory.read", "GET /memories/{id}/history")
def history(call: Call, ask: History) -> ShownHistory:
    with call.reading() as reading:
        versions = reading.versions(ask.id, by_name=True)
    if not versions:
        raise no_memory(ask.id)
    return ShownHistory(id=versions[-1].memory.id, versions=tuple(versions))


@operation("read", "memory.read", "GET /diff")
def diff(call: Call, ask: Diff) -> Compared:
    with call.reading() as reading:
        return _asked(reading, ask).compare(ask)


@operation("read", "memory.read", "GET /moments")
def moments(call: Call, ask: Moments) -> ShownMoments:
    with call.reading() as reading:
        found = _asked(reading, ask).moments(before=ask.before or call.now, most=ask.limit)
    return ShownMoments(moments=tuple(found))


def _asked(reading: Reading, ask: Diff | Moments) -> Reading:
    """What a question is about: memories, or the entities of the catalog, which are kept like them."""
    return reading.reading_of(ENTITIES) if ask.catalog else reading
