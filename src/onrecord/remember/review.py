"""WHO approves? A proposal takes effect once a person approves it, in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from onrecord.errors import Conflict, VersionConflict, invalid
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.edits import EDITS, Edit
from onrecord.model.embedding import embedded_text
from onrecord.model.limits import REASON_CHARACTERS, ProposedChange
from onrecord.model.memory import Memory, changed_fields, pinned_to, unproven
from onrecord.model.request import Request, ask
from onrecord.model.rules import ID, REASON, Integer, OrNone
from onrecord.model.tiers import written
from onrecord.model.unset import UNSET, Unset
from onrecord.operation import Call, operation
from onrecord.remember.forget import erased, require_manager
from onrecord.remember.refer import referred
from onrecord.remember.revise import embed_again
from onrecord.remember.save import refuse_edits, refuse_retired, with_derived
from onrecord.remember.scrub import scrub_memory, scrub_reason
from onrecord.remember.supersede import brought_back, end, end_by
from onrecord.store.ports.records import Writing


@dataclass(frozen=True, slots=True)
class Approve(Request):
    """Let a proposal take effect, or vouch for a memory that an agent wrote; agents may then get it without asking.

    Approving a proposal makes its change and marks the result as approved. Whoever approves it in other words has written
    them; what was proposed stays in the history.
    """

    id: str = ask(ID, "The memory to approve.", positional=True)
    expected_version: int | None = ask(
        OrNone(Integer(1, 2**31 - 1)), "Fail rather than approve if it is no longer at this version.", None
    )
    reason: str | None = ask(OrNone(REASON), "Why.", None)
    content: str | Unset = ask(rules.CONTENT, "Of a proposal: approve this text in place of its own.", UNSET)
    title: str | Unset = ask(rules.TITLE, "Of a proposal: approve this title in place of its own.", UNSET)
    edits: Sequence[Edit | Mapping[str, Any]] | Unset = ask(
        EDITS, "Of a proposal to change the catalog: approve these changes in place of its own.", UNSET
    )


@dataclass(frozen=True, slots=True)
class Reject(Request):
    """Reject a proposal, or a new memory that was approved after it had waited. It stays readable in the past; a second
    call changes nothing.
    """

    id: str = ask(ID, "The proposal to reject.", positional=True)
    expected_version: int | None = ask(
        OrNone(Integer(1, 2**31 - 1)), "Fail rather than reject if it is no longer at this version.", None
    )
    reason: str | None = ask(OrNone(REASON), "Why.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed(Answer):
    """A memory after its review, or the one that a proposal has changed; `changed` is false if there was nothing to
    do.
    """

    memory: Memory
    changed: bool
    #: What an approval had superseded and its rejection brought back.
    restored: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


@operation("write", "memory.review", "POST /memories/{id}/approve")
def approve(call: Call, ask: Approve) -> Reviewed:
    """Make the change of a proposal, or vouch for a memory that is active already."""
    with call.writing(ask.id) as writing:
        memory = writing.reviewable(ask.id, by_name=True)
        refuse_retired(memory)
        _refuse_another(memory, ask.expected_version)
        if memory.status != "pending" and memory.approved_by is not None:
            return call.done(writing, Reviewed(memory=memory, changed=False))
        proposed, memory = memory, _corrected(call, writing, memory, ask)
        change = "save" if memory.proposes is None else memory.proposes.change
        saved = _TAKE_EFFECT[change](call, writing, memory, ask.reason)
        is_new = saved.id != memory.id or embedded_text(memory) != embedded_text(proposed)
        needs_vectors = is_new and saved.is_live and call.embedders.current is not None
        if needs_vectors:
            writing.embed(saved, None, ())
        reviewed = call.done(writing, Reviewed(memory=saved, changed=True))
    return replace(reviewed, degraded=embed_again(call, saved)) if needs_vectors else reviewed


#: What a reviewer may put in place of what was proposed.
_CORRECTED: Final = ("content", "title", "edits")


def _corrected(call: Call, writing: Writing, proposal: Memory, ask: Approve) -> Memory:
    """The proposal in the words of the reviewer, if there are any; the next version of it."""
    given = {name: value for name in _CORRECTED if not isinstance(value := getattr(ask, name), Unset)}
    if not given:
        return proposal
    if proposal.status != "pending" or proposal.proposes is None:
        raise invalid(next(iter(given)), f"memory {proposal.id} does not wait for review: revise it instead")
    if proposal.proposes.change in ("retire", "forget"):
        raise invalid(
            next(iter(given)), f"memory {proposal.id} proposes to {proposal.proposes.change}, in no words"
        )
    if "edits" in given:
        refuse_edits(proposal)
        given["edits"] = tuple(given["edits"])
    after, _ = scrub_memory(with_derived(proposal, replace(proposal, **given), set(given)))
    after = written(proposal, after, call.caller, call.now)
    if "edits" in given:
        after, _ = referred(after, writing, unknown="keep")
    changed = changed_fields(proposal, after)
    if not changed:
        return proposal
    if proposal.proposes.change == "revise":
        fields = tuple(dict.fromkeys((*proposal.proposes.fields, *changed)))
        after = replace(after, proposes=replace(proposal.proposes, fields=fields))
    after = replace(after, updated_at=max(call.now, proposal.updated_at))
    return writing.replace(proposal, after, call.change("revise"))


def _refuse_another(memory: Memory, expected: int | None) -> None:
    if expected not in (None, memory.version):
        raise VersionConflict(memory.id, expected or 0, memory.version)


def _approved(call: Call, memory: Memory) -> dict[str, Any]:
    return {
        "approved_by": call.caller.user,
        "approved_at": call.now,
        "updated_at": max(call.now, memory.updated_at),
    }


def _count(call: Call, writing: Writing, memory: Memory, reason: str | None) -> Memory:
    """Activate the memory; its author stays, and it is marked as approved. Who vouches for a stale one says that it is
    true now.
    """
    waited, was_stale = memory.status == "pending", memory.status == "stale"
    counts: dict[str, Any] = {"status": "active", "proposes": None} if waited else {}
    if was_stale:
        counts["status"] = "active"
    if waited or was_stale or reason is not None:
        counts["status_reason"] = scrub_reason(reason)
    return writing.replace(
        memory, replace(memory, **counts, **_approved(call, memory)), call.change("approve")
    )


def _supersede(call: Call, writing: Writing, memory: Memory, reason: str | None) -> Memory:
    olds = [old for old in _targets(writing, memory) if old.is_live]
    saved = _count(call, writing, memory, reason)
    for old in olds:
        end_by(writing, saved, old, call.change("supersede"))
    return saved


def _revise(call: Call, writing: Writing, memory: Memory, reason: str | None) -> Memory:
    """Make the proposed changes and no others; a new text is by its proposer."""
    assert memory.proposes is not None
    [before] = _targets(writing, memory)
    refuse_retired(before)
    fields = [name for name in memory.proposes.fields if name != "status"]
    changes = {name: getattr(memory, name) for name in fields}
    if "content" in changes:
        changes |= {"author": memory.author, "origin": memory.origin}
    if "status" in memory.proposes.fields:
        changes["status"] = "stale" if before.status == "active" else "active"
    after = replace(before, **changes, **_approved(call, before))
    if "conversation" in changes or "conversation_by" in changes:
        after = pinned_to(after, memory.pinned)
    saved = writing.replace(before, unproven(before, after, call.caller), call.change("approve"))
    _settle(call, writing, memory, reason)
    return saved


def _retire(call: Call, writing: Writing, memory: Memory, reason: str | None) -> Memory:
    assert memory.proposes is not None
    [before] = _targets(writing, memory)
    refuse_retired(before)
    at = max(memory.proposes.at or call.now, before.valid_from)
    ended = end(writing, before, "archived", at, reason or memory.status_reason, call.change("approve"))
    _settle(call, writing, memory, reason)
    return ended


def _forget(call: Call, writing: Writing, memory: Memory, reason: str | None) -> Memory:
    """Erase the memory with every proposal to change it, including this one."""
    [before] = _targets(writing, memory)
    require_manager(call.caller, before)
    erased(call, writing, before)
    return memory


_TAKE_EFFECT: Final[Mapping[ProposedChange, Callable[[Call, Writing, Memory, str | None], Memory]]] = {
    "save": _count,
    "revise": _revise,
    "supersede": _supersede,
    "retire": _retire,
    "forget": _forget,
}


#: The fields that hold what a memory says.
_WORDS: Final = ("title", "hint", "content")


def _targets(writing: Writing, proposal: Memory) -> list[Memory]:
    """The memories that a proposal would change, if their text is still the same: nobody has agreed to lose
    something newer, or to approve words that were put there since.
    """
    assert proposal.proposes is not None
    found = []
    for id, version in zip(proposal.proposes.of, proposal.proposes.versions, strict=True):
        memory = writing.reviewable(id)
        # An earlier text that the reviewer may not see cannot be compared with the present one.
        then = next((each.memory for each in writing.versions(id) if each.number == version), None)
        looked_at = dict.fromkeys((*_WORDS, *proposal.proposes.fields))
        if moved := [
            name for name in looked_at if then is None or getattr(then, name) != getattr(memory, name)
        ]:
            raise Conflict(
                f"Memory {id} has changed since this was proposed ({', '.join(moved)}). "
                f"Reject {proposal.id}, or revise {id} yourself."
            )
        found.append(memory)
    return found


def _settle(call: Call, writing: Writing, proposal: Memory, reason: str | None) -> None:
    """Archive a proposal that has taken effect; it was never part of an answer itself."""
    assert proposal.proposes is not None
    # Scrubbed before it is cut, or a part of a secret could stay.
    why = f": {scrub_reason(reason)}" if reason else ""
    done = f"taken into {', '.join(proposal.proposes.of)}{why}"[:REASON_CHARACTERS]
    end(writing, proposal, "archived", proposal.valid_from, done, call.change("approve"))


@operation("write", "memory.review", "POST /memories/{id}/reject")
def reject(call: Call, ask: Reject) -> Reviewed:
    """Archive a proposal, or a memory that was approved after it had waited, as never having been true."""
    with call.writing(ask.id) as writing:
        memory = writing.reviewable(ask.id, by_name=True)
        _refuse_another(memory, ask.expected_version)
        if memory.changeset is not None and memory.is_live:
            raise Conflict(
                f"The changes that memory {memory.id} proposes were applied (changeset {memory.changeset}): "
                "roll that changeset back instead."
            )
        if memory.status != "pending" and not _was_proposed(memory, writing):
            _refuse_settled(memory, writing)
            return call.done(writing, Reviewed(memory=memory, changed=False))
        reason = ask.reason or f"rejected by {call.caller.user}"
        change = call.change("reject")
        restored = () if memory.status == "pending" else tuple(brought_back(writing, memory, change))
        rejected = end(writing, memory, "archived", memory.valid_from, reason, change)
        ids = tuple(each.id for each in restored)
        return call.done(writing, Reviewed(memory=rejected, changed=True, restored=ids))


def _was_proposed(memory: Memory, writing: Writing) -> bool:
    """Whether a live memory began as a proposal, and nothing has happened to it since it was approved."""
    if not memory.is_live or memory.approved_by is None:
        return False
    if memory.edits is not None:
        return True
    versions = writing.versions(memory.id)
    return versions[0].memory.status == "pending" and versions[-1].change == "approve"


def _refuse_settled(memory: Memory, writing: Writing) -> None:
    """Conflict, unless the memory was rejected already."""
    if memory.is_live:
        raise Conflict(
            f"Memory {memory.id} is {memory.status} and does not wait for review. "
            "Retire it if it is no longer true, or forget it."
        )
    if not any(each.change == "reject" for each in writing.versions(memory.id)):
        raise Conflict(
            f"Memory {memory.id} was retired already ({memory.status}); there is nothing to reject."
        )
