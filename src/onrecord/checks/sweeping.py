"""WHICH checks run by themselves? Those whose last run is long enough ago, and those of memories about what changed.

A sweep may be done twice and may end at any place: what it has looked at says when, and the next one goes on with the
rest.
"""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Final

from onrecord.checks.marking import CHECKER, LOOKED_AT, checker, entity_findings, examined, marked
from onrecord.model import limits
from onrecord.model.checks import Check, CheckRun
from onrecord.model.collections import ENTITIES
from onrecord.model.connections import CheckPolicy
from onrecord.model.ids import is_global
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.model.memory import Memory
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.store import BEGINNING, Store

#: How many checks run at once: a check waits most of the time, and each is a process.
AT_ONCE: Final = 4
#: A claim of a worker ends after a minute; a sweep that is longer goes on with the next claim.
_LONGEST_S: Final = 40.0
_SOON: Final = timedelta(seconds=1)


def sweep(store: Store, policy: CheckPolicy, now: datetime) -> timedelta | None:
    """Run what is due in every tenant; returns when to come back, if some is left."""
    began = time.monotonic()
    for tenant in _tenants(store):
        due = _due(store, tenant, policy, now)
        for at in range(0, len(due), AT_ONCE):
            if time.monotonic() - began > _LONGEST_S:
                return _SOON
            check_all(store, tenant, due[at : at + AT_ONCE], policy, now)
    return None


def check_all(
    store: Store, tenant: str, memories: Iterable[Memory], policy: CheckPolicy, now: datetime
) -> None:
    """Run the approved checks of some memories of a tenant, and keep their states. What reads a connection that is not set up
    here stays for a worker that has it: it would only overwrite what that one saw.
    """

    def one(memory: Memory) -> None:
        checks = _can_run(memory, policy)
        with store.reading(checker(tenant), now) as reading:
            entities = entity_findings(memory, reading)
        marked(store, examined(memory, checks, entities, policy), CHECKER, now)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(one, (each for each in memories if _can_run(each, policy))))


def _can_run(memory: Memory, policy: CheckPolicy) -> list[Check]:
    """The approved checks of a memory that read nothing, or what is set up here."""
    return [
        each
        for each in memory.checks
        if each.approved_by is not None
        and (each.connection is None or policy.connection(memory.tenant, each.connection) is not None)
    ]


def _tenants(store: Store) -> list[str]:
    with store.archive() as archive:
        homes = [home for home in archive.homes() if home.collection is not ENTITIES]
    return sorted(home.tenant for home in homes if home.tenant != GLOBAL_TENANT)


def _due(store: Store, tenant: str, policy: CheckPolicy, now: datetime) -> Sequence[Memory]:
    """The memories with approved checks that nobody has looked at for long enough, or never."""
    due, mark = list[Memory](), None
    while True:
        with store.reading(checker(tenant), now) as reading:
            page, mark = reading.browse(
                MemoryFilter(
                    statuses=LOOKED_AT,
                    check_states=limits.CHECK_STATES,
                    limit=limits.BROWSE_LIMIT,
                    after=mark,
                )
            )
            for memory in page:
                checks = () if is_global(memory.id) else _can_run(memory, policy)
                if checks and _is_due(checks, reading.check_runs(memory), policy, now):
                    due.append(memory)
        if mark is None:
            return due


def _is_due(checks: Iterable[Check], runs: Sequence[CheckRun], policy: CheckPolicy, now: datetime) -> bool:
    """Whether one of them has not been looked at for long enough; another worker may have looked at others."""
    looked = {each.number: run.at for run in reversed(runs) for each in run.outcomes}
    return any(
        each.state == "unchecked" or looked.get(each.number, BEGINNING) + policy.every <= now
        for each in checks
    )
