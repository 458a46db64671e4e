"""HOW does a memory change, end, and join others? Each is one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from onrecord.errors import Fault, Forbidden, Invalid, NotFound, VersionConflict
from onrecord.jobs.embedding import embed_batch
from onrecord.model import ids
from onrecord.model.answers import Forgotten, Related, Retired, Revised, Unrelated
from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.embedding import embedded_text
from onrecord.model.memory import Change, Memory, changed_fields
from onrecord.model.requests import Forget, Relate, RemoveRelation, Retire, Revise, Unrelate
from onrecord.model.unset import Unset
from onrecord.providers.embedding import Embedder
from onrecord.remember.check import given_values
from onrecord.remember.embed import QUICK_CHARACTERS, TOO_LONG, told_later
from onrecord.remember.refer import referred
from onrecord.remember.save import refuse_retired, with_approval, with_derived
from onrecord.remember.scrub import scrub_memory
from onrecord.remember.supersede import end
from onrecord.remember.trial import tried
from onrecord.store.ports.records import Writing
from onrecord.store.ports.store import Store
from onrecord.workspace.artifacts import linked_file


def revise(
    caller: Caller, ask: Revise, store: Store, now: datetime, embedder: Embedder | None = None
) -> Revised:
    """A text that has changed loses its vectors; new ones are made at once where that is quick, else by a job."""
    with _writing(caller, ask.id, store, now) as writing:
        if number := linked_file(ask.artifact, writing):
            ask = replace(ask, artifact=number)
        before = writing.target(ask.id)
        if ask.expected_version not in (None, before.version):
            raise VersionConflict(before.id, ask.expected_version or 0, before.version)
        refuse_retired(before)
        changes = _revision(caller, ask, before, now)
        after, scrubbed = scrub_memory(with_derived(before, replace(before, **changes), set(changes)))
        after = with_approval(before, after, caller.actor)
        warnings: tuple[str, ...] = ()
        if {"entities", "query"} & changes.keys():
            after, warnings = referred(after, writing)
        changed = changed_fields(before, after)
        if not changed:
            return Revised(memory=before, changed=(), scrubbed=scrubbed, warnings=warnings)
        after = replace(after, updated_at=max(now, before.updated_at))
        saved = writing.replace(before, after, _change("revise", caller, now))
        is_new = embedder is not None and embedded_text(saved) != embedded_text(before)
        if is_new:
            writing.embed(saved, None, ())
    if embedder is None or not is_new:
        return Revised(memory=saved, changed=changed, scrubbed=scrubbed, warnings=warnings)
    put_off: tuple[str, ...] = (TOO_LONG,)
    if len(embedded_text(saved)) <= QUICK_CHARACTERS:
        # If this fails, the job stands.
        failures = embed_batch(store, embedder, Home(saved.tenant), [saved]).failures
        put_off = tuple(told_later(reason) for reason in failures)
    return Revised(memory=saved, changed=changed, scrubbed=scrubbed, degraded=put_off, warnings=warnings)


def _revision(caller: Caller, ask: Revise, before: Memory, now: datetime) -> dict[str, Any]:
    changes = given_values(ask)
    for name in ("conversation", "status", "status_reason"):
        value = getattr(ask, name)
        if not isinstance(value, Unset):
            changes[name] = value
    if "conversation" in changes and before.scope == "session":
        raise Invalid([Fault("conversation", "a session memory belongs to its conversation; save a new one")])
    if ask.vouch:
        changes |= {"approved_by": caller.user, "approved_at": now}
    reviews = caller.actor != "unattended" and "memory.review" in caller.permissions
    if "status" in changes and before.status == "pending" and not reviews:
        raise Forbidden(f"Memory {before.id} waits for review, which needs the permission memory.review.")
    return changes


def retire(caller: Caller, ask: Retire, store: Store, now: datetime) -> Retired:
    with _writing(caller, ask.id, store, now) as writing:
        memory = writing.target(ask.id)
        if not memory.is_live:
            return Retired(memory=memory, changed=False)
        at = ask.at or max(now, memory.valid_from)
        faults = list(_end_faults(ask.at, memory, now))
        if faults:
            raise Invalid(faults)
        ended = end(writing, memory, "archived", at, ask.reason, _change("retire", caller, now))
    return Retired(memory=ended, changed=True)


def _end_faults(at: datetime | None, memory: Memory, now: datetime) -> Iterator[Fault]:
    if at is not None and at > now:
        yield Fault("at", f"must not be in the future (it is {now.isoformat()} now)")
    if at is not None and at < memory.valid_from:
        yield Fault("at", f"must not be before the memory became true ({memory.valid_from.isoformat()})")


def forget(caller: Caller, ask: Forget, store: Store, now: datetime) -> Forgotten:
    if caller.actor == "unattended":
        raise Forbidden("An unattended run cannot erase a memory; retire it, or let a person do it.")
    with tried(ask.dry_run) as trial, _writing(caller, ask.id, store, now) as writing:
        memory = writing.target(ask.id)
        erased = writing.erase(memory, _change("forget", caller, now))
        trial.end()
    return Forgotten(id=memory.id, **erased._asdict(), dry_run=ask.dry_run)


def relate(caller: Caller, ask: Relate, store: Store, now: datetime) -> Related:
    with _writing(caller, ask.source, store, now) as writing:
        source, target = _ends(writing, ask)
        edge, created = writing.relate(source, ask.relation, target, _change("relate", caller, now))
    return Related(relation=edge, created=created)


def unrelate(caller: Caller, ask: Unrelate, store: Store, now: datetime) -> Unrelated:
    with _writing(caller, ask.source, store, now) as writing:
        source, target = _ends(writing, ask)
        edge = writing.unrelate(source, ask.relation, target, _change("unrelate", caller, now))
        if edge is None:
            raise NotFound(f"No edge {source.id} {ask.relation} {target.id}. See `neighbours {source.id}`.")
    return Unrelated(relation=edge)


def remove_relation(caller: Caller, ask: RemoveRelation, store: Store, now: datetime) -> Unrelated:
    with store.writing(caller, now) as writing:
        found = writing.relations.one(ask.id)
        target = None if found is None else writing.memory(found.target)
        if found is None or target is None:
            raise NotFound(f"No edge {ask.id} between memories that you can see. List the relations.")
        source = writing.target(found.source)
        edge = writing.unrelate(source, found.relation, target, _change("unrelate", caller, now))
    assert edge is not None
    return Unrelated(relation=edge)


def _ends(writing: Writing, ask: Relate | Unrelate) -> tuple[Memory, Memory]:
    """Both ends, or one answer for every way in which an end can be missing. The edge belongs to its source."""
    source, target = writing.memory(ask.source), writing.memory(ask.target)
    if source is None or target is None or source.tenant != target.tenant:
        raise NotFound(
            "One or both memories do not exist here. Both ends of a relation must be in one tenant."
        )
    return writing.target(source.id), target


@contextmanager
def _writing(caller: Caller, id: str, store: Store, now: datetime) -> Iterator[Writing]:
    """A transaction in the tenant that an id lives in."""
    with store.writing(caller, now, ids.address(id).tenant or caller.tenant) as writing:
        yield writing


def _change(name: str, caller: Caller, now: datetime) -> Change:
    return Change(name, caller.user, caller.actor, now)
