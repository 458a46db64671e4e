"""WHICH jobs does a worker do? The jobs of a store by name, and how often the periodic ones run."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from onrecord.jobs.embedding import do_jobs
from onrecord.jobs.reconciling import Reconciler
from onrecord.jobs.worker import Doer, Periodic
from onrecord.operation import StorePolicy
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.jobs import EMBED, RECONCILE, SETTLE, SWEEP, WATCH
from onrecord.store.ports.store import Store

RECONCILE_EVERY: Final = timedelta(minutes=15)
_SWEEP_EVERY: Final = timedelta(hours=1)
_SETTLE_EVERY: Final = timedelta(minutes=5)


def doers(store: Store, embedders: Embedders, policy: StorePolicy) -> dict[str, Doer | Periodic]:
    """What a worker with these means can do. What it cannot do stays for another worker."""
    known: dict[str, Doer | Periodic] = {}
    embedder, audit_kept = embedders.current, policy.audit_kept
    if embedder is not None:
        known[EMBED] = partial(do_jobs, store, embedder)
        missing = Reconciler(store, embedder)
        known[RECONCILE] = Periodic(missing, RECONCILE_EVERY, missing.is_wanted)
    known[SETTLE] = Periodic(partial(_settle, store, embedder is not None, policy), _SETTLE_EVERY)
    if policy.watch is not None:
        known[WATCH] = Periodic(
            partial(_watch, store, embedders, policy), policy.watch.every, partial(_is_due, store, WATCH)
        )
    if audit_kept is not None:
        known[SWEEP] = Periodic(lambda now: store.sweep_audit(now - audit_kept), _SWEEP_EVERY)
    return known


def _settle(store: Store, embeds: bool, policy: StorePolicy, now: datetime) -> None:
    # Every command looks whether there is work, and few have any of this kind: it is loaded when it is done.
    from onrecord.review.settling import settle_all

    settle_all(store, now, embeds=embeds, datahub=policy.datahub)


def _watch(store: Store, embedders: Embedders, policy: StorePolicy, now: datetime) -> None:
    from onrecord.care.watching import watch

    watch(store, embedders, policy, now)


def _is_due(store: Store, name: str) -> bool:
    """Whether a worker that looked after this before should have come back."""
    with store.archive() as archive:
        due = archive.due_next(name)
    return due is not None and due <= datetime.now(UTC)
