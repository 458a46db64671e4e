"""WHAT does one memory say, now or at another time?"""

from dataclasses import dataclass
from datetime import datetime

from onrecord.errors import NotFound, no_memory
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.findings import Background, Edge
from onrecord.model.ledger import TenantSettings
from onrecord.model.memory import Memory
from onrecord.model.request import AS_OF, KNOWN_AT, MAYBE_INSTANT, Request, ask
from onrecord.model.rights import Right, rights_of
from onrecord.model.when import When
from onrecord.model.workspace import Artifact
from onrecord.operation import Call, operation
from onrecord.recall.background import BACKGROUND, background_of
from onrecord.store.ports.filters import RelationWalk
from onrecord.store.ports.records import Reading
from onrecord.workspace.artifacts import of_memory


@dataclass(frozen=True, slots=True)
class Show(Request):
    """Read one memory with its relations, whatever its status; with a time, as it was then."""

    id: str = ask(rules.ID, "The memory to read.", positional=True)
    as_of: datetime | None = ask(MAYBE_INSTANT, AS_OF, None)
    known_at: datetime | None = ask(MAYBE_INSTANT, KNOWN_AT, None)
    background: bool = ask(rules.FLAG, BACKGROUND, False)
    rights: bool = ask(rules.FLAG, "Also say what you may do with it.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Answer):
    """One memory, the relations that touch it, and the artifact that it is linked to; if it was asked for, also what the
    caller may do with it: `propose` says that this waits for a person.
    """

    memory: Memory
    edges: tuple[Edge, ...] = ()
    artifact: Artifact | None = None
    background: Background | None = None
    may: tuple[Right, ...] = ()


@operation("read", "memory.read", "GET /memories/{id}")
def show(call: Call, ask: Show) -> Shown:
    around = RelationWalk(ask.id, as_of=ask.as_of, known_at=ask.known_at)
    with call.reading() as reading:
        memory = memory_at(reading, ask.id, ask.as_of, ask.known_at)
        edges = tuple(reading.relations.around(memory, around)[: around.limit])
        artifact = of_memory(call.caller, memory, reading)
        background = background_of([memory], reading)[0] if ask.background else None
    may = rights_of(call.caller, memory, _settings(call)) if ask.rights else ()
    return Shown(memory=memory, edges=edges, artifact=artifact, background=background, may=may)


def _settings(call: Call) -> TenantSettings:
    with call.store.ledger(call.caller.tenant, writes=False) as ledger:
        return ledger.settings()


def memory_at(reading: Reading, id: str, as_of: datetime | None, known_at: datetime | None) -> Memory:
    """The memory at a time; those who may see it get a different error for "none" and for "not then"."""
    memory = reading.memory(id, When(as_of, known_at), by_name=True)
    if memory is not None:
        return memory
    today = reading.memory(id, by_name=True)
    if today is None:
        raise no_memory(id)
    # After a widening, the caller sees only versions since then.
    first = next(iter(reading.versions(today.id)), None)
    since = today.created_at if first is None or first.number == 1 else first.at
    until = f" until {today.valid_to.isoformat()}" if today.valid_to else ""
    raise NotFound(
        f"Memory {id} did not exist at that time: it was recorded on {since.isoformat()} and is "
        f"true from {today.valid_from.isoformat()}{until}. Ask for a time within, or leave the time out."
    )
