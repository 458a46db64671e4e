"""WHAT is the state of the store? What has vectors, which jobs wait, and which have failed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast

from onrecord.care import homes
from onrecord.catalog.ingest import without_password
from onrecord.errors import ProviderError
from onrecord.jobs.waiting_switch import is_to_be_measured
from onrecord.model import rules
from onrecord.model.advice import MICROS, Task, Usage
from onrecord.model.answer import Answer
from onrecord.model.collections import Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.providers.advising import AdvisorState
from onrecord.store.ports.archive import Archive
from onrecord.store.ports.jobs import EMBED, EXTRACT, RECONCILE, STORE, WATCH
from onrecord.store.ports.ledger import Spending
from onrecord.store.ports.store import BEGINNING

#: A worker that has not looked for so long after its time does not run.
_OVERDUE: Final = timedelta(minutes=2)
_TRIED_AGAIN: Final = "a worker tries again by itself; if the error stays, run `onrecord doctor`"
_GIVEN_UP: Final = "given up; `onrecord embed-missing` tries again, and so does the next worker that starts"
_MEASURED_FIRST: Final = (
    "no worker makes them: another model is in use here, and `onrecord embed-missing` first measures the new one on the "
    "questions that people judged"
)
_EMBEDDER: Final = "a worker tries again by itself; see that the embedder can be reached (`onrecord config` shows its settings)"
_SOURCES: Final = (
    "a worker tries again by itself; see that the sources can be read (`onrecord config` shows them)"
)
_NOBODY_WATCHES: Final = (
    "nobody looks whether memories have gone stale: a server, `onrecord work` or `onrecord mcp` looks by itself once it "
    "runs with ONRECORD_WATCH=yes, and `onrecord work --once` looks at once"
)
_ADVISOR: Final = (
    "a worker tries again by itself; see that the advisor can be reached and its budget is not used up"
)
_TURNS_GIVEN_UP: Final = (
    "given up; `onrecord embed-missing` tries again, and `onrecord dismiss-failures` drops the turns"
)
_CURES: Final = {EMBED: _EMBEDDER, RECONCILE: _EMBEDDER, WATCH: _SOURCES, EXTRACT: _ADVISOR}
_LAST_CURES: Final = {EXTRACT: _TURNS_GIVEN_UP}


@dataclass(frozen=True, slots=True)
class ShowStatus(Request):
    """Show the state of the store: where it is, which vectors it has, when it was last watched, and failed jobs."""

    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCoverage(Answer):
    """How many memories have vectors of a model; `current` is the one that new memories get. What is archived or
    superseded is not expected to have any, though it gets them, since one can ask about the past.
    """

    model: str
    indexed: int
    expected: int
    current: bool
    #: What makes those that are missing.
    cure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJobs(Answer):
    """Jobs that failed for one reason: how many, how often they were tried, when they are tried again, and what helps."""

    name: str
    jobs: int
    attempts: int
    error: str
    #: None if they were given up.
    next_try: datetime | None
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStatus(Answer):
    """The state of a tenant: its memories, waiting jobs, and failed ones."""

    tenant: str
    #: What is counted: `memories`, or `entities`, the records of what they are about.
    collection: str
    memories: int
    waiting: int
    failed: int
    models: tuple[ModelCoverage, ...]
    failures: tuple[FailedJobs, ...] = ()
    #: How many turns wait until their facts are extracted, and of how many that was given up.
    turns_waiting: int = 0
    turns_failed: int = 0
    #: Of how many memories a check has failed, could not be run, or has not run yet.
    checks_failed: int = 0
    checks_unverifiable: int = 0
    checks_waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantAdvice(Answer):
    """What an advisor was asked today in a tenant, by whom, for which agent; and what all of it took."""

    tenant: str
    calls: int
    cost: float
    usage: tuple[Usage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching(Answer):
    """When the watcher last looked and looks again; None if it never did or nobody will. `cure` says what helps if its time
    is over.
    """

    last_look: datetime | None
    next_look: datetime | None
    cure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus(Answer):
    """The state of the store. Without an embedder, `embedder` is None."""

    location: str
    embedder: str | None
    tenants: tuple[TenantStatus, ...]
    degraded: tuple[str, ...] = ()
    #: Jobs of the whole store that failed, for its operator.
    failures: tuple[FailedJobs, ...] = ()
    #: How many numbers a vector of the embedder has.
    dimensions: int | None = None
    #: Who gives advice, and what it was asked today in the tenants that are shown.
    advisor: AdvisorState | None = None
    advice: tuple[TenantAdvice, ...] = ()
    #: Whether what memories are about is watched, and when; None if it is not.
    watching: Watching | None = None
    #: What can be ingested from here, without passwords; None if anything can.
    sources: tuple[str, ...] | None = None


@operation("read", "memory.admin", "GET /status")
def status(call: Call, ask: ShowStatus) -> StoreStatus:
    there = homes.embedded(call, "The status of all tenants", ask.all_tenants)
    current, degraded = None, tuple[str, ...]()
    if call.embedders.current is not None:
        try:
            current = call.embedders.current.model
        except ProviderError as problem:
            degraded = (f"embedder: {problem}",)
    with call.store.archive() as archive:
        cure = _makes_vectors(archive.due_next(RECONCILE), call.now)
        here = [_tenant(archive, home, current, cure) for home in there]
        failures = _failures(archive, STORE) if call.caller.operator else ()
        next_look = archive.due_next(WATCH)
    return StoreStatus(
        location=call.store.location,
        embedder=None if current is None else current.name,
        tenants=tuple(here),
        degraded=degraded,
        failures=failures,
        dimensions=None if current is None else current.dimensions,
        advisor=call.advisor.state(None if call.caller.operator else call.caller.tenant),
        advice=tuple(_advice(call, dict.fromkeys(home.tenant for home in there))),
        watching=None if call.policy.watch is None else _watching(call, next_look),
        sources=None if call.policy.sources is None else tuple(map(without_password, call.policy.sources)),
    )


def _advice(call: Call, tenants: Iterable[str]) -> Iterator[TenantAdvice]:
    for tenant in tenants:
        with call.store.ledger(tenant, writes=False) as ledger:
            spent = ledger.spent(call.now.toordinal())
        if spent:
            usage = tuple(_usage(each) for each in spent)
            yield TenantAdvice(
                tenant=tenant,
                calls=sum(each.calls for each in spent),
                cost=sum(each.micros for each in spent) / MICROS,
                usage=usage,
            )


def _usage(each: Spending) -> Usage:
    return Usage(
        user=each.user,
        agent=each.agent or None,
        task=cast(Task, each.task),
        model=each.model,
        calls=each.calls,
        failed=each.failed,
        tokens_in=each.tokens_in,
        tokens_out=each.tokens_out,
        cost=each.micros / MICROS,
    )


def _watching(call: Call, next_look: datetime | None) -> Watching:
    looked = call.store.watched()
    is_late = next_look is None or next_look <= call.now - _OVERDUE
    return Watching(
        # An import makes the next look begin at the beginning.
        last_look=None if looked == BEGINNING else looked,
        next_look=None if is_late else next_look,
        cure=_NOBODY_WATCHES if is_late else None,
    )


def _tenant(archive: Archive, home: Home, current: EmbeddingModel | None, cure: str) -> TenantStatus:
    memories, (waiting, failed) = archive.count(home), archive.job_counts(home)
    turns_waiting, turns_failed = archive.job_counts(home, EXTRACT)
    models = dict.fromkeys(each.model for each in archive.coverage(home) if each.memories)
    if current is not None:
        models.setdefault(current)
    expected, indexed = archive.present(home, list(models))
    checks = archive.check_states(home)
    if current is not None and is_to_be_measured(archive, home, current):
        cure = _MEASURED_FIRST
    return TenantStatus(
        tenant=home.tenant,
        collection=home.collection.name,
        memories=memories,
        waiting=waiting,
        failed=failed,
        models=tuple(
            ModelCoverage(
                model=model.name,
                indexed=count,
                expected=expected,
                current=model == current,
                cure=cure if model == current and count < expected else None,
            )
            for model, count in indexed.items()
        ),
        failures=_failures(archive, home),
        turns_waiting=turns_waiting,
        turns_failed=turns_failed,
        checks_failed=checks.get("failed", 0),
        checks_unverifiable=checks.get("unverifiable", 0),
        checks_waiting=checks.get("unchecked", 0),
    )


def _makes_vectors(next_look: datetime | None, now: datetime) -> str:
    """What makes missing vectors: a worker, if one has looked lately."""
    if next_look is not None and next_look > now - _OVERDUE:
        return (
            f"a worker makes them by itself and looks again at {next_look:%H:%M} UTC; `onrecord embed-missing` "
            "makes them at once"
        )
    return (
        "no worker looks after this store: a server, `onrecord work` or `onrecord mcp` makes them by itself once it "
        "runs, and `onrecord embed-missing` makes them at once"
    )


def _failures(archive: Archive, home: Home) -> tuple[FailedJobs, ...]:
    return tuple(
        FailedJobs(
            name=each.name,
            jobs=each.jobs,
            attempts=each.attempts,
            error=each.error,
            next_try=None if each.is_given_up else each.due,
            cure=_LAST_CURES.get(each.name, _GIVEN_UP)
            if each.is_given_up
            else _CURES.get(each.name, _TRIED_AGAIN),
        )
        for each in archive.troubled(home)
    )
