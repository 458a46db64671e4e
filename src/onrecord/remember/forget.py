"""HOW is a memory erased? With its history, its index entries, its relations and every reference to it, in one transaction."""

from dataclasses import dataclass

from onrecord.errors import Forbidden
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.memory import Memory
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.remember.propose import Proposer, propose_end
from onrecord.remember.trial import tried
from onrecord.store.ports.records import Erased


@dataclass(frozen=True, slots=True)
class Forget(Request):
    """Erase a memory with its history, its index entries, its relations and every reference to it."""

    id: str = ask(rules.ID, "The memory to erase.", positional=True)
    dry_run: bool = ask(rules.FLAG, "Tell what would be erased, and erase nothing.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Answer):
    """What was erased with a memory, and in how many other memories a reference to it."""

    id: str
    versions: int
    relations: int
    references: int
    #: Nothing was erased.
    dry_run: bool = False
    #: Nothing was erased either: the text is of a higher tier than the caller, and this waits for a person.
    proposal: Memory | None = None
    warnings: tuple[str, ...] = ()


@operation("destroy", "memory.manage", "DELETE /memories/{id}")
def forget(call: Call, ask: Forget) -> Forgotten:
    with tried(ask.dry_run) as trial, call.writing(ask.id) as writing:
        memory, proposed = writing.named(ask.id), None
        _require_manager(call.caller, memory)
        if writing.is_outranked(memory):
            proposed = propose_end(Proposer.of(call, ask.dry_run), writing, memory, "forget")
            erased = Erased(0, 0, 0)
        else:
            erased = writing.erase(memory, call.change("forget"))
        trial.end()
    if proposed is not None:
        told = (proposed.told,)
        return Forgotten(
            id=memory.id, **erased._asdict(), dry_run=ask.dry_run, proposal=proposed.memory, warnings=told
        )
    return Forgotten(id=memory.id, **erased._asdict(), dry_run=ask.dry_run)


def _require_manager(caller: Caller, memory: Memory) -> None:
    """Who may read a system may add to what is known of it; to take away from it is for its managers, authors or not."""
    if memory.scope == "system" and not (caller.is_admin or caller.manages(memory.system or "")):
        raise Forbidden(
            f"Only whoever manages system {memory.system} erases what is known of it, as memory {memory.id} is; its author "
            "may retire it."
        )
