"""HOW is a memory erased? With its history, its index entries, its relations and every reference to it, in one transaction."""

from dataclasses import dataclass

from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.remember.trial import tried


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


@operation("destroy", "memory.manage", "DELETE /memories/{id}")
def forget(call: Call, ask: Forget) -> Forgotten:
    with tried(ask.dry_run) as trial, call.writing(ask.id) as writing:
        memory = writing.target(ask.id)
        erased = writing.erase(memory, call.change("forget"))
        trial.end()
    return Forgotten(id=memory.id, **erased._asdict(), dry_run=ask.dry_run)
