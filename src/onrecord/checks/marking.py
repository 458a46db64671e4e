"""WHAT becomes of a memory after its checks have run? A new version where a state has changed, and a run beside it.

An example query that fails leaves recall as *stale*, and comes back when it runs again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from onrecord.checks import judging
from onrecord.checks.judging import EntityFinding, JudgedCheck
from onrecord.errors import NotFound
from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.model.checks import Check, CheckOutcome, CheckRun, state_of
from onrecord.model.connections import CheckPolicy
from onrecord.model.limits import REASON_CHARACTERS, TENANT_PERMISSIONS, Status
from onrecord.model.memory import Change, Memory, with_checks
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store

CHECKER: Final = "checker"
#: What is looked at: everything that is known and has not ended.
LOOKED_AT: Final[tuple[Status, ...]] = ("active", "stale", "pending")
#: How the reason of a memory begins that went stale by its own check; only such a one comes back by it.
BROKEN_QUERY: Final = "Its example query no longer does what it did: "


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedMemory:
    """A memory as it was looked at, and what came of each check that ran."""

    memory: Memory
    judged: Sequence[JudgedCheck]

    @property
    def outcomes(self) -> tuple[CheckOutcome, ...]:
        return tuple(each.outcome for each in self.judged)


def checker(tenant: str) -> Caller:
    """The caller in whose name states are written: it sees everything in a tenant."""
    return Caller(
        tenant=tenant,
        user=CHECKER,
        permissions=frozenset(TENANT_PERMISSIONS),
        systems={EVERY_SYSTEM: "manage"},
    )


def entity_findings(memory: Memory, reading: Reading) -> Mapping[int, EntityFinding]:
    """What the catalog says for the checks of a memory that ask it."""
    return {
        each.number: judging.entity_finding(each, reading) for each in memory.checks if each.kind == "entity"
    }


def examined(
    memory: Memory, checks: Sequence[Check], entities: Mapping[int, EntityFinding], policy: CheckPolicy
) -> ExaminedMemory:
    """Run some checks of a memory, one after the other. No connection to the store is held meanwhile."""
    done = []
    for each in checks:
        if each.kind == "entity":
            state, seen = entities[each.number]
            done.append(JudgedCheck(CheckOutcome(number=each.number, state=state, seen=seen)))
        else:
            done.append(judging.judged(each, memory, policy))
    return ExaminedMemory(memory=memory, judged=done)


def marked(store: Store, examined: ExaminedMemory, by: str, now: datetime) -> Memory:
    """Keep what came of the checks, unless the memory says something else by now: then the next run looks at that."""
    before = examined.memory
    with store.writing(checker(before.tenant), now) as writing:
        try:
            memory = writing.named(before.id)
        except NotFound:
            return before
        if not _is_still(before, memory):
            return memory
        after = _after(memory, examined)
        if _states(after) != _states(memory) or after.status != memory.status:
            memory = writing.replace(memory, after, Change("check", CHECKER, "tool", now))
        writing.keep_check_run(memory, CheckRun(at=now, by=by, outcomes=examined.outcomes))
        return memory


def _is_still(one: Memory, other: Memory) -> bool:
    """Whether both say and check the same."""

    def of(memory: Memory) -> tuple[Any, ...]:
        return memory.content, memory.query, tuple(each.definition for each in memory.checks)

    return of(one) == of(other) and other.is_live


def _states(memory: Memory) -> tuple[Any, ...]:
    return tuple((each.number, each.state, each.expect) for each in memory.checks)


def _after(memory: Memory, examined: ExaminedMemory) -> Memory:
    came = {each.outcome.number: each for each in examined.judged}
    checks = [
        judging.after(each, came[each.number]) if each.number in came else each for each in memory.checks
    ]
    return _in_recall(with_checks(memory, checks))


def _in_recall(memory: Memory) -> Memory:
    """The memory stale if its example query is broken, and active again if it is mended."""
    of_query = [each for each in memory.checks if each.kind == "query" and each.approved_by is not None]
    broken = next((each for each in of_query if each.state == "failed"), None)
    is_ours = memory.status == "stale" and (memory.status_reason or "").startswith(BROKEN_QUERY)
    if broken is not None and memory.status == "active":
        reason = f"{BROKEN_QUERY}{broken.seen}"[:REASON_CHARACTERS]
        return replace(memory, status="stale", status_reason=reason)
    if is_ours and state_of(of_query) == "verified":
        return replace(memory, status="active", status_reason=None)
    return memory
