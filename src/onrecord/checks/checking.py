"""WHAT do checks say now? Those of one memory or of all that the caller sees, run at once.

Only approved checks count. A reviewer may also have a proposed one run once: what it says is in the answer alone.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal

from onrecord.checks.marking import LOOKED_AT, ExaminedMemory, entity_findings, examined, marked
from onrecord.checks.queries import Examples, QueryFit, examples
from onrecord.checks.reporting import junit
from onrecord.checks.sweeping import AT_ONCE
from onrecord.errors import Fault, Forbidden, no_memory
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.checks import Check, CheckOutcome
from onrecord.model.ids import is_global
from onrecord.model.limits import CheckState
from onrecord.model.memory import Memory
from onrecord.model.request import Request, ask
from onrecord.model.rules import OrNone
from onrecord.operation import Call, operation
from onrecord.store.ports.filters import MemoryFilter

ReportFormat = Literal["plain", "junit"]


@dataclass(frozen=True, slots=True)
class RunChecks(Request):
    """Run the checks of a memory, or of all memories that you see, and say what came of them.

    With queries, every example query is parsed and resolved against the catalog, and those with a check are run.
    """

    id: str | None = ask(
        OrNone(rules.ID), "The memory to check; all of them with all.", None, positional=True
    )
    all: bool = ask(rules.FLAG, "Check every memory that you see and that has checks.", False)
    queries: bool = ask(
        rules.FLAG,
        "Look at every example query that you see: whether it fits the catalog, and its checks.",
        False,
    )
    format: ReportFormat = ask(
        rules.Choice(("plain", "junit")),
        "junit adds a report in XML, for a machine that runs tests.",
        "plain",
    )
    proposed: bool = ask(
        rules.FLAG,
        "For reviewers: run the proposed checks of the memory once. Only you see what they say.",
        False,
    )

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if [self.id is not None, self.all, self.queries].count(True) != 1:
            yield Fault("id", "give a memory to check, or all to check every one, or queries")
        if self.proposed and self.id is None:
            yield Fault("proposed", "is for one memory; name it")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedMemory(Answer):
    """A memory, its state after the run, and what came of each check."""

    memory: str
    title: str
    owner: str
    state: CheckState | None
    outcomes: tuple[CheckOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RanChecks(Answer):
    """What came of the checks, the worst first; each list holds the first thousand. `healthy` says that none failed and that
    every query that was looked at fits.
    """

    memories: tuple[CheckedMemory, ...]
    verified: int
    failed: int
    unverifiable: int
    healthy: bool
    queries: tuple[QueryFit, ...] = ()
    report: str | None = None


@operation("write", "memory.manage", "POST /check")
def check(call: Call, ask: RunChecks) -> RanChecks:
    """Run them, each in a process of its own, and keep their states."""
    if ask.proposed and not call.caller.lets_checks_run:
        raise Forbidden("Only a reviewer may run a check that nobody has approved.")
    found = examples(call) if ask.queries else Examples((), ())
    wanted = (
        [each for each in found.memories if each.check_state] if ask.queries else list(_wanted(call, ask))
    )
    done = run_checks(call, wanted, proposed=ask.proposed)
    with call.writing() as writing:
        return call.done(writing, _answer(done, found.fits, ask.format))


def run_checks(call: Call, memories: Sequence[Memory], *, proposed: bool = False) -> list[CheckedMemory]:
    """Run the checks of some memories, a few at a time."""

    def one(memory: Memory) -> CheckedMemory:
        looked = look(call, memory, _of(memory, proposed=proposed))
        state = memory.check_state
        if not proposed:
            state = marked(call.store, looked, call.caller.user, call.now).check_state
        return CheckedMemory(
            memory=memory.id, title=memory.title, owner=memory.owner, state=state, outcomes=looked.outcomes
        )

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(one, memories))


def look(call: Call, memory: Memory, checks: Sequence[Check]) -> ExaminedMemory:
    """What the checks of a memory say; the catalog is read first, and nothing is open while they run."""
    entities = {}
    if any(each.kind == "entity" for each in checks):
        with call.reading() as reading:
            entities = dict(entity_findings(memory, reading))
    return examined(memory, checks, entities, call.policy.checks)


def _of(memory: Memory, *, proposed: bool) -> list[Check]:
    return [each for each in memory.checks if (each.approved_by is None) == proposed]


def _wanted(call: Call, ask: RunChecks) -> Iterator[Memory]:
    with call.reading() as reading:
        if ask.id is not None:
            memory = reading.memory(ask.id, by_name=True)
            if memory is None:
                raise no_memory(ask.id)
            if _of(memory, proposed=ask.proposed) and memory.is_live:
                yield memory
            return
        mark = None
        while True:
            page, mark = reading.browse(
                MemoryFilter(
                    statuses=LOOKED_AT,
                    check_states=limits.CHECK_STATES,
                    order="oldest",
                    limit=limits.BROWSE_LIMIT,
                    after=mark,
                )
            )
            yield from (each for each in page if not is_global(each.id))
            if mark is None:
                return


_WORST_FIRST: Final = ("failed", "unverifiable", "unchecked", "verified", None)


def _answer(done: Sequence[CheckedMemory], fits: Sequence[QueryFit], format: ReportFormat) -> RanChecks:
    def many(state: CheckState) -> int:
        return sum(any(it.state == state for it in each.outcomes) for each in done)

    broken_first = sorted(fits, key=lambda each: each.problem is None)
    ordered = sorted(done, key=lambda each: _WORST_FIRST.index(_worst(each)))
    return RanChecks(
        memories=tuple(ordered[: limits.BROWSE_LIMIT]),
        verified=sum(_worst(each) == "verified" for each in done),
        failed=many("failed"),
        unverifiable=many("unverifiable"),
        healthy=not many("failed") and not any(each.problem for each in fits),
        queries=tuple(broken_first[: limits.BROWSE_LIMIT]),
        report=junit(ordered, broken_first) if format == "junit" else None,
    )


def _worst(each: CheckedMemory) -> CheckState | None:
    states = [it.state for it in each.outcomes]
    return min(states, key=_WORST_FIRST.index) if states else None
