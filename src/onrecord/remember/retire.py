"""HOW does a memory end? It is no longer true from a time on, and stays readable in the past."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from onrecord.errors import Fault, Invalid
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.findings import RejectedProposal
from onrecord.model.memory import Memory
from onrecord.model.request import MAYBE_INSTANT, Request, ask
from onrecord.model.rules import OrNone
from onrecord.operation import Call, operation
from onrecord.remember.propose import Proposer, propose_end
from onrecord.remember.supersede import end


@dataclass(frozen=True, slots=True)
class Retire(Request):
    """Say that a memory is no longer true. It stays readable in the past; a second call changes nothing."""

    id: str = ask(rules.ID, "The memory to retire.", positional=True)
    at: datetime | None = ask(MAYBE_INSTANT, "When it stopped being true; now when left out.", None)
    reason: str | None = ask(OrNone(rules.REASON), "Why it is retired.", None)
    what_is_new: str | None = ask(
        OrNone(rules.REASON),
        "If the same was proposed and rejected before: what has changed since, for the reviewer.",
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired(Answer):
    """A memory that is no longer true; `changed` is false if it was retired before.

    If its text is of a higher tier than the caller, it stays as it is, and `proposal` waits for a person. If the same was
    rejected before and nothing is new, `rejected` lists by whom and why, and `proposal` is the rejected one.
    """

    memory: Memory
    changed: bool
    proposal: Memory | None = None
    rejected: tuple[RejectedProposal, ...] = ()
    warnings: tuple[str, ...] = ()


@operation("write", "memory.manage", "POST /memories/{id}/retire")
def retire(call: Call, ask: Retire) -> Retired:
    with call.writing(ask.id) as writing:
        memory = writing.named(ask.id, ends=True, by_name=True)
        if not memory.is_live:
            return call.done(writing, Retired(memory=memory, changed=False))
        at = ask.at or max(call.now, memory.valid_from)
        faults = list(_end_faults(ask.at, memory, call.now))
        if faults:
            raise Invalid(faults)
        if writing.is_outranked(memory):
            by = Proposer.of(call, ask.what_is_new)
            proposed = propose_end(by, writing, memory, "retire", ask.reason, ask.at)
            waits = Retired(
                memory=memory,
                changed=False,
                proposal=proposed.memory,
                rejected=proposed.rejected,
                warnings=proposed.notes,
            )
            return call.done(writing, waits)
        if memory.status == "pending":
            # A pending memory never counted as true.
            at = memory.valid_from
        ended = end(writing, memory, "archived", at, ask.reason, call.change("retire"))
        return call.done(writing, Retired(memory=ended, changed=True))


def _end_faults(at: datetime | None, memory: Memory, now: datetime) -> Iterator[Fault]:
    if at is not None and at > now:
        yield Fault("at", f"must not be in the future (it is {now.isoformat()} now)")
    if at is not None and at < memory.valid_from:
        yield Fault("at", f"must not be before the memory became true ({memory.valid_from.isoformat()})")
