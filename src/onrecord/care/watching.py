"""WHICH memories does a change of the catalog make stale, and which are true again? A job looks, and marks them.

It first reads the server's configured sources again. If one fails, the catalog stays as it was, and the job reports
why. Then it checks the memories about everything that changed in the catalog since its last run; running twice changes
nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from onrecord.attached_buffer import AttachedBuffer
from onrecord.catalog.ingest import READ_AS, source_key, taken_in
from onrecord.catalog.judging import ACTIVE_AGAIN, STALE, JudgedMemory, Pasts, gathered, in_batches
from onrecord.catalog.records import canonical_of, entity_of
from onrecord.catalog.stored import StoredCatalog
from onrecord.checks.marking import BROKEN_QUERY, LOOKED_AT
from onrecord.checks.sweeping import check_all
from onrecord.errors import NotFound, OnRecordError
from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.model.limits import GLOBAL_TENANT, TENANT_PERMISSIONS
from onrecord.model.memory import Change, Memory
from onrecord.operation import Call, StorePolicy
from onrecord.providers.advising import NO_ADVISORS
from onrecord.providers.embedding import Embedders
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import BEGINNING, Store
from onrecord.turn_buffer import TurnBuffer

WATCHER: Final = "watcher"
#: A change bears the time at which its ingest began, and may be seen as much later.
_LONGEST_INGEST: Final = timedelta(hours=1)
#: How many records are read, and how many memories are written, at a time.
_READ_AT_ONCE: Final = 1_000
_WRITTEN_AT_ONCE: Final = 50
#: Entities with a record of their own; the record of their model covers the others.
_WHOLES: Final = ("datasource", "model", "system")


class SourcesFailed(OnRecordError):
    """Some sources could not be read again; what was read from them before still counts."""


def watch(store: Store, embedders: Embedders, policy: StorePolicy, now: datetime) -> None:
    """Look once at every tenant. Raises what went wrong with sources, after everything else was done."""
    failures = list(_read_sources(store, embedders, policy, now))
    looked = store.watched()
    since = BEGINNING if looked is None else looked - _LONGEST_INGEST
    for tenant in _watched_tenants(store):
        look(store, tenant, since, policy, now)
    if looked is None or looked < now:
        store.note_watched(now)
    if failures:
        raise SourcesFailed("; ".join(failures))


def _watched_tenants(store: Store) -> list[str]:
    """The tenants that have a catalog."""
    with store.archive() as archive:
        return sorted(
            home.tenant
            for home in archive.homes()
            if home.collection is ENTITIES and home.tenant != GLOBAL_TENANT
        )


def watcher(tenant: str) -> Caller:
    """The caller that sees everything in a tenant."""
    return Caller(
        tenant=tenant,
        user=WATCHER,
        permissions=frozenset(TENANT_PERMISSIONS),
        systems={EVERY_SYSTEM: "manage"},
    )


def look(store: Store, tenant: str, since: datetime, policy: StorePolicy, now: datetime) -> None:
    """Mark what has gone stale in a tenant by what changed since then, and what is true again; and run the checks of what is about it."""
    pasts = Pasts(store, tenant)
    for some in in_batches(list(_changed(store, tenant, since, now))):
        pasts.load(some)
        with store.reading(watcher(tenant), now) as reading:
            found = pasts.memories_about(reading, some)
        for evidence in gathered(store, tenant, _judgeable(found), pasts):
            with store.reading(watcher(tenant), now) as reading:
                lookup = StoredCatalog(reading)
                lookup.load(evidence.subjects)
                changed = [each for each in evidence.judged(lookup) if _becomes(each)]
            _mark(store, tenant, changed, now)
        # After that, since a check looks at the memory as it is by now.
        check_all(store, tenant, _checked(store, tenant, found, now), policy.checks, now)


def _checked(store: Store, tenant: str, found: Sequence[Memory], now: datetime) -> list[Memory]:
    """Those of some memories that have checks, as they are now."""
    wanted = [each.id for each in found if each.check_state is not None]
    with store.reading(watcher(tenant), now) as reading:
        there = [reading.memory(id) for id in wanted]
    return [each for each in there if each is not None and each.status in LOOKED_AT]


def _judgeable(memories: Sequence[Memory]) -> list[Memory]:
    return [memory for memory in memories if memory.status in ("active", "stale")]


def _changed(store: Store, tenant: str, since: datetime, now: datetime) -> Iterator[str]:
    """The names of what was added, changed or removed."""
    after = 0
    while True:
        with store.reading(watcher(tenant), now) as reading:
            page = reading.reading_of(ENTITIES).recorded_since(since, most=_READ_AT_ONCE, after=after)
        yield from (canonical_of(each) for each in page if entity_of(each)["kind"] in _WHOLES)
        if len(page) < _READ_AT_ONCE:
            return
        assert page[-1].place is not None
        since, after = page[-1].place.recorded_at, page[-1].place.row


def _becomes(each: JudgedMemory) -> dict[str, Any] | None:
    """What changes in a memory; nothing if it stays what it is, or if it is not the watcher's to change."""
    memory, reason = each.memory, each.reason
    if memory.status == "active":
        return None if reason is None else {"status": "stale", "status_reason": reason}
    if reason is not None and (memory.status_reason or "").startswith(BROKEN_QUERY):
        # What its check has found has a cause by now, perhaps with a new name.
        return {"status_reason": reason}
    if not each.is_marked or reason == memory.status_reason:
        return None
    if reason is None:
        return {"status": "active", "status_reason": None}
    return {"status_reason": reason}


def _mark(store: Store, tenant: str, changed: Sequence[JudgedMemory], now: datetime) -> None:
    for start in range(0, len(changed), _WRITTEN_AT_ONCE):
        with store.writing(watcher(tenant), now) as writing:
            for each in changed[start : start + _WRITTEN_AT_ONCE]:
                _mark_one(writing, each, now)


def _mark_one(writing: Writing, each: JudgedMemory, now: datetime) -> None:
    try:
        memory = writing.named(each.memory.id)
    except NotFound:
        return
    changes = _becomes(each)
    if changes is None or memory.version != each.memory.version:
        # A change made meanwhile restated it, or left it for the next run.
        return
    name = STALE if each.reason is not None else ACTIVE_AGAIN
    writing.replace(memory, replace(memory, **changes), Change(name, WATCHER, "tool", now))


def _read_sources(store: Store, embedders: Embedders, policy: StorePolicy, now: datetime) -> Iterator[str]:
    """Take in again what was taken in from the sources that are set, in every tenant; yields what went wrong."""
    from onrecord.catalog.sources import open_source

    assert policy.watch is not None
    paths: dict[str, str] = {}
    for path in policy.watch.sources:
        try:
            paths[source_key(open_source(path, datahub=policy.datahub))] = path
        except Exception as problem:
            yield str(problem)
    for tenant in _watched_tenants(store) if paths else ():
        call = _call(store, embedders, policy, watcher(tenant), now)
        for read_as in _readings(call):
            known = paths.get(str(read_as.get("source")))
            if known is None:
                continue
            options = {name: value for name, value in read_as.items() if name != "source"}
            try:
                if taken_in(call, open_source(known, datahub=policy.datahub, **options), read_as).plan.size:
                    call.note("ingest", options.get("datasource"))
            except Exception as problem:
                # Of whatever kind: another source and another tenant have nothing to do with it.
                yield f"{tenant}: {problem}"


def _call(store: Store, embedders: Embedders, policy: StorePolicy, caller: Caller, now: datetime) -> Call:
    return Call(
        caller=caller,
        now=now,
        store=store,
        embedders=embedders,
        advisor=NO_ADVISORS,
        turns=TurnBuffer(),
        attached=AttachedBuffer(),
        policy=policy,
        progress=lambda what, done, total: None,
    )


def _readings(call: Call) -> list[dict[str, Any]]:
    """How the datasources of a tenant were read, each way once."""
    with call.reading() as reading:
        records = reading.reading_of(ENTITIES).filed_memories(entity_facet("is", "datasource"))
    found: list[dict[str, Any]] = []
    for record in records:
        read_as = entity_of(record).get("document", {}).get("details", {}).get(READ_AS)
        if read_as and read_as not in found:
            found.append(dict(read_as))
    return found
