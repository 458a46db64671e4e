"""WHICH jobs does a worker do? The jobs of a store by name, and how often the periodic ones run."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from onrecord.jobs.missing_vectors import do_jobs
from onrecord.jobs.reconciling import Reconciler
from onrecord.jobs.worker import Did, Doer, Periodic
from onrecord.operation import StorePolicy
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.jobs import CHECK, EMBED, EXTRACT, RECONCILE, SETTLE, SWEEP, WATCH, Job
from onrecord.store.ports.store import Store

if TYPE_CHECKING:
    from onrecord.remember.extract_waiting import CallOf

RECONCILE_EVERY: Final = timedelta(minutes=15)
_SWEEP_EVERY: Final = timedelta(hours=1)
_SETTLE_EVERY: Final = timedelta(minutes=5)


def doers(
    store: Store, embedders: Embedders, policy: StorePolicy, call_of: "CallOf | None" = None
) -> dict[str, Doer | Periodic]:
    """What a worker with these means can do. What it cannot do stays for another worker. `call_of` makes the calls of jobs
    that ask an advisor; it is None where there is none.
    """
    known: dict[str, Doer | Periodic] = {}
    embedder = embedders.current
    if embedder is not None:
        known[EMBED] = partial(do_jobs, store, embedder)
        missing = Reconciler(store, embedder)
        known[RECONCILE] = Periodic(missing, RECONCILE_EVERY, missing.is_wanted)
    if call_of is not None:
        known[EXTRACT] = partial(_extract, store, call_of)
    known[SETTLE] = Periodic(partial(_settle, store, embedder is not None, policy), _SETTLE_EVERY)
    if policy.watch is not None:
        known[WATCH] = Periodic(
            partial(_watch, store, embedders, policy), policy.watch.every, partial(_is_due, store, WATCH)
        )
    known[CHECK] = Periodic(
        partial(_check, store, policy),
        policy.checks.every,
        # Without a connection nothing is worth a process that a command leaves behind.
        lambda: bool(policy.checks.connections) and _is_due(store, CHECK),
    )
    if policy.audit_kept is not None or policy.feedback_kept is not None:
        known[SWEEP] = Periodic(partial(_sweep, store, policy), _SWEEP_EVERY)
    return known


def _sweep(store: Store, policy: StorePolicy, now: datetime) -> None:
    if policy.audit_kept is not None:
        store.sweep_audit(now - policy.audit_kept)
    if policy.feedback_kept is not None:
        store.sweep_feedback(now - policy.feedback_kept)


def _extract(store: Store, call_of: "CallOf", jobs: Sequence[Job], now: datetime) -> Did:
    # Few stores have any of this kind, and it loads the whole search.
    from onrecord.remember.extract_waiting import extract_waiting

    return extract_waiting(store, call_of, jobs, now)


def _settle(store: Store, embeds: bool, policy: StorePolicy, now: datetime) -> None:
    # Every command looks whether there is work, and few have any of this kind: it is loaded when it is done.
    from onrecord.review.settling import settle_all

    settle_all(store, now, embeds=embeds, datahub=policy.datahub)


def _watch(store: Store, embedders: Embedders, policy: StorePolicy, now: datetime) -> None:
    from onrecord.care.watching import watch

    watch(store, embedders, policy, now)


def _check(store: Store, policy: StorePolicy, now: datetime) -> timedelta | None:
    from onrecord.checks.sweeping import sweep

    return sweep(store, policy.checks, now)


def _is_due(store: Store, name: str) -> bool:
    """Whether a worker that looked after this before should have come back."""
    with store.archive() as archive:
        due = archive.due_next(name)
    return due is not None and due <= datetime.now(UTC)
