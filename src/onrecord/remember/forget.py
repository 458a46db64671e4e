"""HOW is a memory erased? With its history, its index entries, its relations and every reference to it, in one transaction."""

from dataclasses import dataclass, replace

from onrecord.catalog.erasing_promoted import erase_proposed_values
from onrecord.errors import Forbidden
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.findings import RejectedProposal
from onrecord.model.memory import Memory
from onrecord.model.request import Request, ask
from onrecord.model.rules import OrNone
from onrecord.operation import Call, operation
from onrecord.remember.dry_run import dry_run
from onrecord.remember.propose import Proposer, propose_end
from onrecord.store.ports.records import Erased, Writing


@dataclass(frozen=True, slots=True)
class Forget(Request):
    """Erase a memory with its history, its index entries, its relations and every reference to it; also from changesets and
    from the past of the catalog. What it proposed and is applied must be rolled back first.
    """

    id: str = ask(rules.ID, "The memory to erase.", positional=True)
    what_is_new: str | None = ask(
        OrNone(rules.REASON),
        "If the same was proposed and rejected before: what has changed since, for the reviewer.",
        None,
    )
    dry_run: bool = ask(rules.FLAG, "Say what would be erased, and erase nothing.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Answer):
    """What was erased with a memory, and how many other memories lost a reference to it, as far as the caller sees
    them.
    """

    id: str
    versions: int
    relations: int
    references: int
    #: Nothing was erased.
    dry_run: bool = False
    #: Nothing was erased either: the text is of a higher tier than the caller, and this waits for a person, unless the same
    #: was rejected before.
    proposal: Memory | None = None
    rejected: tuple[RejectedProposal, ...] = ()
    warnings: tuple[str, ...] = ()


@operation("destroy", "memory.manage", "DELETE /memories/{id}")
def forget(call: Call, ask: Forget) -> Forgotten:
    with dry_run(ask.dry_run) as trial, call.writing(ask.id) as writing:
        memory = writing.named(ask.id, erases=True, by_name=True)
        require_manager(call.caller, memory)
        gone = Forgotten(id=memory.id, versions=0, relations=0, references=0, dry_run=ask.dry_run)
        if writing.is_outranked(memory):
            by = Proposer.of(call, ask.what_is_new, tries=ask.dry_run)
            proposed = propose_end(by, writing, memory, "forget")
            before = proposed.rejected
            gone = replace(gone, proposal=proposed.memory, rejected=before, warnings=proposed.notes)
        else:
            gone = replace(gone, **erased(call, writing, memory)._asdict())
        call.done(writing, gone)
        trial.end()
    return gone if writing.residue is None else replace(gone, warnings=(*gone.warnings, writing.residue))


def erased(call: Call, writing: Writing, memory: Memory) -> Erased:
    """Erase a memory, and every copy of what it proposed; raises Conflict if it is applied."""
    erase_proposed_values(writing, memory)
    return writing.erase(memory, call.change("forget"))


def require_manager(caller: Caller, memory: Memory) -> None:
    """Readers of a system may add memories about it; only its managers and admins erase them, even their own."""
    if memory.scope == "system" and not (caller.is_admin or caller.manages(memory.system or "")):
        raise Forbidden(
            f"Only a manager of system {memory.system} may erase memory {memory.id}, which is about it; its author may "
            "retire it."
        )
