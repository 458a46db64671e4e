"""HOW is a memory corrected? In one transaction, and only in what is given; the old text stays in its history."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from onrecord.catalog.extraction import ReadQuery
from onrecord.errors import Fault, Forbidden, VersionConflict, invalid
from onrecord.jobs.missing_vectors import embed_batch
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.collections import Home
from onrecord.model.conversation_names import MAYBE_CONVERSATION
from onrecord.model.edits import EDITS, Edit
from onrecord.model.embedding import embedded_text
from onrecord.model.findings import RejectedProposal
from onrecord.model.limits import Confidence, Dimension, Kind, Status, Unknown
from onrecord.model.memory import Memory, changed_fields, pinned_to
from onrecord.model.request import ENTITIES, MAYBE_INSTANT, MAYBE_NAME, TAGS, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.tiers import written
from onrecord.model.unset import UNSET, Unset, given
from onrecord.operation import Call, operation
from onrecord.remember.check import given_values
from onrecord.remember.embed import TOO_LONG, deferred, takes_long
from onrecord.remember.propose import Proposer, propose_revision
from onrecord.remember.refer import has_catalog, read_ahead, referred, with_meant
from onrecord.remember.save import asks_to_be_injected, refuse_edits, refuse_retired, with_derived
from onrecord.remember.scrub import scrub_memory
from onrecord.store.ports.records import Writing
from onrecord.text import cut_ahead
from onrecord.workspace import conversations
from onrecord.workspace.artifacts import linked_file


@dataclass(frozen=True, slots=True)
class Revise(Request):
    """Correct what a memory says. Only what is given changes; the old text stays in its history."""

    id: str = ask(rules.ID, "The memory to correct.", positional=True)
    expected_version: int | None = ask(
        OrNone(rules.Integer(1, 2**31 - 1)),
        "Fail rather than overwrite if it is no longer at this version.",
        None,
    )
    content: str | Unset = ask(rules.CONTENT, "The new content.", UNSET)
    title: str | Unset = ask(rules.TITLE, "The new title.", UNSET)
    hint: str | None | Unset = ask(OrNone(rules.HINT), "The new hint.", UNSET)
    kind: Kind | Unset = ask(rules.KIND, "The new kind.", UNSET)
    dimension: Dimension | Unset = ask(rules.DIMENSION, "The new dimension.", UNSET)
    tags: Sequence[str] | Unset = ask(TAGS, "The new tags, replacing the old.", UNSET)
    category: str | None | Unset = ask(OrNone(rules.CATEGORY), "The new category.", UNSET)
    confidence: Confidence | Unset = ask(rules.CONFIDENCE, "high, medium or low.", UNSET)
    source: str | None | Unset = ask(OrNone(rules.SOURCE), "The new source.", UNSET)
    metadata: Mapping[str, Any] | Unset = ask(rules.Json(), "The new metadata, replacing the old.", UNSET)
    entities: Sequence[str] | Unset = ask(ENTITIES, "The new references, replacing the old.", UNSET)
    query: Mapping[str, Any] | str | None | Unset = ask(
        OrNone(rules.Json(text_too=True)), "The new example query.", UNSET
    )
    artifact: str | None | Unset = ask(MAYBE_NAME, "The new artifact.", UNSET)
    edits: Sequence[Edit | Mapping[str, Any]] | Unset = ask(
        EDITS, "Of a proposal that is not applied yet: the new changes that it proposes.", UNSET
    )
    conversation: str | None | Unset = ask(
        MAYBE_CONVERSATION, "The conversation to pin it to; null unpins.", UNSET
    )
    valid_from: datetime | Unset = ask(rules.INSTANT, "Since when it is true.", UNSET)
    verified_at: datetime | None | Unset = ask(MAYBE_INSTANT, "When someone last checked it.", UNSET)
    always_inject: bool | Unset = ask(
        rules.FLAG, "Give this to agents without asking; if an agent sets it, it waits for a person.", UNSET
    )
    status: Status | Unset = ask(
        rules.Choice(("active", "stale")), "active or stale; use retire to end a memory.", UNSET
    )
    status_reason: str | None | Unset = ask(OrNone(rules.REASON), "Why it has this status.", UNSET)
    unknown: Unknown = ask(
        rules.Choice(limits.UNKNOWN),
        "Things that the catalog does not know: refuse them, or keep them as given with a warning.",
        "refuse",
    )
    what_is_new: str | None = ask(
        OrNone(rules.REASON),
        "If the same was proposed and rejected before: what has changed since, for the reviewer.",
        None,
    )
    vouch: bool = ask(rules.FLAG, "As a person: vouch for the text as if you had written it.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.vouch and caller.actor != "person":
            yield Fault("vouch", "only a person may vouch for a memory; leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised(Answer):
    """A memory after its correction; `changed` names the changed fields, and is empty if nothing was different.

    If its text is of a higher tier than the caller, it stays as it is, and `proposal` waits for a person. If the same was
    rejected before and nothing is new, `rejected` lists by whom and why, and `proposal` is the rejected one.
    """

    memory: Memory
    changed: tuple[str, ...]
    proposal: Memory | None = None
    rejected: tuple[RejectedProposal, ...] = ()
    scrubbed: int = 0
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@operation("write", "memory.manage", "PATCH /memories/{id}")
def revise(call: Call, ask: Revise) -> Revised:
    """Correct a memory. A changed text loses its vectors; new ones are made at once if that is quick, else by a job."""
    caller, now, embedder = call.caller, call.now, call.embedders.current
    ahead = _prepared(call, ask)
    with call.writing(ask.id) as writing:
        if number := linked_file(ask.artifact, writing):
            ask = replace(ask, artifact=number)
        before = writing.named(ask.id, by_name=True)
        if ask.expected_version not in (None, before.version):
            raise VersionConflict(before.id, ask.expected_version or 0, before.version)
        refuse_retired(before)
        _refuse(ask, before)
        if ahead is None or ahead.before != before:
            # Someone else has changed the memory since, so the prepared correction is made again.
            ahead = _Prepared(before, *_cleaned(caller, ask, before, now))
        after, scrubbed = ahead.after, ahead.scrubbed
        if number:
            after = replace(after, artifact=number)
        after = _pinned(after, ask, writing)
        after = written(before, after, caller, now)
        after, warnings = _referred(before, after, ask, writing, ahead.read)
        after = _true_again(ask, before, after)
        changed = changed_fields(before, after)
        if not changed:
            same = Revised(memory=before, changed=(), scrubbed=scrubbed, warnings=warnings)
            return call.done(writing, same)
        if writing.is_outranked(before) or asks_to_be_injected(caller, before, after):
            proposed = propose_revision(Proposer.of(call, ask.what_is_new), writing, before, after)
            waits = Revised(
                memory=before,
                changed=(),
                proposal=proposed.memory,
                rejected=proposed.rejected,
                scrubbed=scrubbed,
                warnings=(*warnings, *proposed.notes),
            )
            return call.done(writing, waits)
        if before.proposes is not None and before.proposes.change == "revise":
            fields = tuple(dict.fromkeys((*before.proposes.fields, *changed)))
            after = replace(after, proposes=replace(before.proposes, fields=fields))
        after = replace(after, updated_at=max(now, before.updated_at))
        saved = writing.replace(before, after, call.change("revise"))
        is_new = embedder is not None and embedded_text(saved) != embedded_text(before)
        if is_new:
            writing.embed(saved, None, ())
        revised = call.done(
            writing, Revised(memory=saved, changed=changed, scrubbed=scrubbed, warnings=warnings)
        )
    return replace(revised, degraded=embed_again(call, saved)) if is_new else revised


#: A caller who changes one of these, or vouches, says that the memory is true now.
_SAID: Final = frozenset({"title", "hint", "content", "entities", "query", "approved_by"})


def _true_again(ask: Revise, before: Memory, after: Memory) -> Memory:
    """A stale memory that is restated, or was verified since it went stale, becomes active again, unless its status is
    given; its status reason is cleared.
    """
    if before.status != "stale" or ask.status == "stale":
        return after
    active = replace(after, status="active", status_reason=given(ask.status_reason, None))
    if ask.status == "active":
        return active
    is_checked = not isinstance(ask.verified_at, Unset) and ask.verified_at is not None
    if is_checked and before.place is not None:
        is_checked = ask.verified_at >= before.place.recorded_at  # type: ignore[operator]
    if not is_checked and not ask.vouch and _SAID.isdisjoint(changed_fields(before, after)):
        return after
    return active


def _pinned(after: Memory, ask: Revise, writing: Writing) -> Memory:
    """The correction with who began the conversation that it is pinned to."""
    if isinstance(ask.conversation, Unset):
        return after
    if ask.conversation is None:
        return pinned_to(after, None)
    return pinned_to(after, conversations.writable(writing.workspace, ask.conversation).key)


def embed_again(call: Call, saved: Memory) -> tuple[str, ...]:
    """Make the vectors of a changed text at once if that is quick; otherwise its job does."""
    if call.embedders.current is None:
        return ()
    if takes_long(embedded_text(saved)):
        return (TOO_LONG,)
    # If this fails, the job remains.
    failures = embed_batch(call.store, call.embedders.current, Home(saved.tenant), [saved]).failures
    return tuple(deferred(reason) for reason in failures)


class _Prepared(NamedTuple):
    """The memory after its correction, made before the transaction."""

    before: Memory
    after: Memory
    scrubbed: int
    read: ReadQuery | None = None


def _prepared(call: Call, ask: Revise) -> _Prepared | None:
    """None if the caller does not see the memory; the transaction then reports it."""
    with call.reading() as reading:
        before = reading.memory(ask.id, by_name=True)
        is_compared = has_catalog(reading)
    if before is None:
        return None
    after, scrubbed = _cleaned(call.caller, ask, before, call.now)
    cut_ahead(after.content)
    return _Prepared(before, after, scrubbed, read_ahead(after) if is_compared and _refers(ask) else None)


def _refers(ask: Revise) -> bool:
    return not all(isinstance(each, Unset) for each in (ask.entities, ask.query, ask.edits))


def _referred(
    before: Memory, after: Memory, ask: Revise, writing: Writing, read: ReadQuery | None
) -> tuple[Memory, tuple[str, ...]]:
    if not isinstance(ask.entities, Unset):
        after = with_meant(after, writing, before)
    return referred(after, writing, read, ask.unknown) if _refers(ask) else (after, ())


def _cleaned(caller: Caller, ask: Revise, before: Memory, now: datetime) -> tuple[Memory, int]:
    changes = _changes(caller, ask, now)
    return scrub_memory(with_derived(before, replace(before, **changes), set(changes)))


def _changes(caller: Caller, ask: Revise, now: datetime) -> dict[str, Any]:
    changes = given_values(ask)
    for name in ("conversation", "status", "status_reason"):
        value = getattr(ask, name)
        if not isinstance(value, Unset):
            changes[name] = value
    if ask.vouch:
        changes |= {"approved_by": caller.user, "approved_at": now}
    return changes


def _refuse(ask: Revise, before: Memory) -> None:
    if not isinstance(ask.conversation, Unset) and before.scope == "session":
        raise invalid("conversation", "a session memory belongs to its conversation; save a new one")
    if not isinstance(ask.edits, Unset):
        refuse_edits(before)
    if given(ask.conversation, None) is not None and before.scope == "global":
        raise invalid(
            "conversation",
            "must be left out: a global memory belongs to no conversation, since every tenant would read its name",
        )
    if not isinstance(ask.status, Unset) and before.status == "pending":
        raise Forbidden(f"Memory {before.id} waits for review: a person approves or rejects it.")
