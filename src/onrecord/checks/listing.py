"""WHAT checks has a memory, and what came of them lately?"""

from dataclasses import dataclass

from onrecord.checks.observing import Observation, checkable, observed
from onrecord.errors import Forbidden, no_memory
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.checks import Check, CheckRun
from onrecord.model.connections import EVERY_TENANT
from onrecord.model.limits import CheckState
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation


@dataclass(frozen=True, slots=True)
class ListChecks(Request):
    """List the checks of a memory with their last runs, and what checks may read here."""

    id: str = ask(rules.ID, "The memory.", positional=True)
    observe: bool = ask(
        rules.FLAG,
        "For reviewers: if the memory has no checks, count the rows of the tables that it is about.",
        False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedConnection(Answer):
    """What checks may read here, by its name."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedChecks(Answer):
    """The checks of a memory and its last runs, the newest first; and the connections that checks may name.

    `checkable` lists what a memory without checks is about and a connection reads, so that its claim could be checked.
    """

    memory: str
    state: CheckState | None
    checks: tuple[Check, ...]
    runs: tuple[CheckRun, ...]
    connections: tuple[NamedConnection, ...] = ()
    checkable: tuple[Observation, ...] = ()


@operation("read", "memory.read", "GET /memories/{id}/checks", "checks list")
def checks(call: Call, ask: ListChecks) -> ListedChecks:
    if ask.observe and not call.caller.lets_checks_run:
        raise Forbidden("Only a reviewer may have the rows of a table counted.")
    policy = call.policy.checks
    with call.reading() as reading:
        memory = reading.memory(ask.id, by_name=True)
        if memory is None:
            raise no_memory(ask.id)
        runs = reading.check_runs(memory)
        tables = checkable(memory, reading, policy)
    there = (call.caller.tenant, EVERY_TENANT)
    return ListedChecks(
        memory=memory.id,
        state=memory.check_state,
        checks=memory.checks,
        runs=runs,
        connections=tuple(
            NamedConnection(name=each.name, kind=each.kind)
            for each in policy.connections
            if each.tenant in there
        ),
        checkable=tuple(observed(each, memory, policy, asks=ask.observe) for each in tables),
    )
