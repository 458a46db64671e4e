"""WHEN are the facts of a turn extracted that waits? When a worker comes. Done twice, the job saves nothing twice: the
turn goes in the transaction that saves its facts.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from onrecord.model.advice import Advised
from onrecord.model.caller import Caller
from onrecord.operation import Call
from onrecord.remember.extract import Extract, SaidTurn, find_facts, save_facts
from onrecord.remember.put_off import KEPT_FIELDS
from onrecord.store.ports.jobs import Job
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store
from onrecord.store.ports.workspace import WaitingTurn

#: A budget that is used up lasts until the end of a day: twenty attempts take longer than that.
_FIRST_WAIT: Final = timedelta(minutes=1)
_LONGEST_WAIT: Final = timedelta(hours=3)

#: Makes the call of a caller at a time.
CallOf = Callable[[Caller, datetime], Call]


class _Facts(NamedTuple):
    """What a turn asks for, who asks, and what was said."""

    call: Call
    ask: Extract
    said: SaidTurn


def extract_waiting(
    store: Store, call_of: CallOf, jobs: Sequence[Job], now: datetime
) -> tuple[int, tuple[str, ...]]:
    """Do the jobs of one claim, all of one home; no vectors are made, and the failures are returned."""
    failures = list[str]()
    for job in jobs:
        failure = _extract(store, call_of, job, now)
        with store.restoring(job.home) as restoring:
            if failure is None:
                restoring.jobs.finish([job])
            else:
                failures.append(failure)
                restoring.jobs.postpone(job, now + wait_after(job.attempts), failure)
    return 0, tuple(failures)


def wait_after(attempts: int) -> timedelta:
    """How long to wait after a failure: twice as long each time, up to three hours."""
    return min(_FIRST_WAIT * 2.0 ** max(attempts - 1, 0), _LONGEST_WAIT)


def _extract(store: Store, call_of: CallOf, job: Job, now: datetime) -> str | None:
    """Extract the facts of a turn; returns why that is to be tried again."""
    with store.archive() as archive:
        turn = archive.waiting_turn(job.home.tenant, job.subject)
    if turn is None:
        return None
    call, ask, said = _read(call_of, turn, now)
    found = find_facts(call, ask, said)
    if not found.advice.applied and not _has_replied(found.advice):
        return found.advice.note or "There was no advice."

    def is_wanted(writing: Writing) -> bool:
        return writing.workspace.take_turn(job.subject)

    done = save_facts(call, found, is_wanted)
    if done.degraded:
        call.note("extract", f"{len(done.degraded)} facts of a turn that waited were refused")
    return None


def _has_replied(advised: Advised) -> bool:
    """Whether a model has read the turn: one whose reply is of no use says nothing better when it is asked again."""
    return bool(advised.tokens_in or advised.tokens_out)


def _read(call_of: CallOf, turn: WaitingTurn, now: datetime) -> _Facts:
    kept: dict[str, Any] = {**turn.caller}
    caller = Caller(**kept | {name: frozenset(kept[name]) for name in ("personas", "permissions")})
    asked = turn.asked
    ask = Extract(asked["user"], **{name: asked[name] for name in KEPT_FIELDS})
    said = SaidTurn(user=asked["user"], assistant=asked["assistant"], at=turn.at, sha256=asked["sha256"])
    return _Facts(call_of(caller, now), ask, said)
