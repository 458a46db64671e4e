"""WAS it rejected before? The answer to a proposal like a rejected one says who rejected it, when and why; the same one waits
again only if it says what is new.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from onrecord.model.findings import RejectedProposal
from onrecord.model.limits import DIGITS_OF_LIKENESS
from onrecord.model.memory import Memory, Proposal, Version
from onrecord.remember.alike import is_about_the_same, says_the_same
from onrecord.remember.draft import SaveDraft
from onrecord.store.ports.records import Alike, Reading

_MOST_LISTED: Final = 5
#: The fields whose words are compared; of the others the values are.
_TEXTS: Final = frozenset({"title", "hint", "content"})


def look_back(draft: SaveDraft, reading: Reading, wanted: Memory, proposal: Proposal) -> SaveDraft:
    """List rejected proposals that are like this one. If one is the same and nothing is new, the save ends here."""
    near = [each for each in draft.alike if each.rejected is not None]
    known = {each.memory.id: each for each in (*near, *reading.rejected_with_content(wanted))}
    found = rejected_like(wanted, proposal, known.values())
    draft = replace(draft, rejected=tuple(found))
    if not found or not found[0].is_same or draft.what_is_new is not None:
        return replace(draft, warnings=(*draft.warnings, *map(like_it, found)))
    warnings = (*draft.warnings, not_again(found[0]))
    return replace(draft, memory=known[found[0].id].memory, outcome="rejected", warnings=warnings)


def rejected_like(wanted: Memory, proposal: Proposal, known: Iterable[Alike]) -> list[RejectedProposal]:
    """Of memories that were rejected, those that a proposal is like: the same ones first, then the nearest."""
    found = [_as_found(wanted, proposal, each) for each in known if _is_a_text(each.memory)]
    return sorted(found, key=lambda each: (not each.is_same, -each.likeness))[:_MOST_LISTED]


def look_back_at(draft: SaveDraft, reading: Reading, waiting: Memory) -> SaveDraft:
    """Warn why a proposal was rolled back, if a save repeats it while it is pending again."""
    if waiting.status != "pending" or waiting.status_reason is None:
        return draft
    last = next((each for each in reversed(reading.versions(waiting.id)) if each.change == "roll_back"), None)
    if last is None:
        return draft
    rolled_back = _as_same(waiting, last)
    warning = f"#{waiting.id} waits for review again: {' '.join(waiting.status_reason.split())}"
    return replace(draft, rejected=(rolled_back,), warnings=(*draft.warnings, warning))


class RejectedBefore(NamedTuple):
    """A rejected proposal, and how answers show it."""

    memory: Memory
    finding: RejectedProposal


def rejected_before(reading: Reading, target: Memory, wanted: Memory) -> RejectedBefore | None:
    """The last rejected proposal to change a memory in this way; first of all one to do the very same, while the memory
    has the same text as then.
    """
    assert wanted.proposes is not None
    found = []
    for old in reversed(reading.proposals(target.id, gone=True)):
        alike = old.proposes is not None and old.proposes.change == wanted.proposes.change
        last = _rejection(reading, old) if alike and not old.is_live else None
        if last is not None:
            finding = replace(_as_same(old, last), is_same=_does_the_same(reading, target, wanted, old))
            found.append(RejectedBefore(old, finding))
    return next((each for each in found if each.finding.is_same), found[0] if found else None)


def _rejection(reading: Reading, ended: Memory) -> Version | None:
    return next((each for each in reversed(reading.versions(ended.id)) if each.change == "reject"), None)


def _does_the_same(reading: Reading, target: Memory, wanted: Memory, old: Memory) -> bool:
    new, then = wanted.proposes, old.proposes
    assert new is not None
    assert then is not None
    if (new.change, new.of, set(new.fields), new.at) != (then.change, then.of, set(then.fields), then.at):
        return False
    if any(getattr(wanted, name) != getattr(old, name) for name in new.fields):
        return False
    before = next((each for each in reading.versions(target.id) if each.number == then.versions[0]), None)
    return before is not None and before.memory.content == target.content


def _as_same(memory: Memory, last: Version) -> RejectedProposal:
    return RejectedProposal(
        id=memory.id,
        title=memory.title,
        likeness=1.0,
        by=last.by,
        at=last.at,
        reason=memory.status_reason,
        is_same=True,
    )


def _as_found(wanted: Memory, proposal: Proposal, old: Alike) -> RejectedProposal:
    assert old.rejected is not None
    same_text = wanted.content == old.memory.content or says_the_same(wanted, old)
    return RejectedProposal(
        id=old.memory.id,
        title=old.memory.title,
        likeness=round(old.score, DIGITS_OF_LIKENESS),
        by=old.rejected.by,
        at=old.rejected.at,
        reason=old.rejected.reason,
        is_same=same_text and _proposes_the_same(wanted, proposal, old.memory),
    )


def _is_a_text(rejected: Memory) -> bool:
    """Whether it holds a text of its own, and not only the request to end another memory."""
    return rejected.proposes is None or rejected.proposes.change not in ("retire", "forget")


def _proposes_the_same(wanted: Memory, proposal: Proposal, old: Memory) -> bool:
    # What was rejected after its approval had proposed to be saved.
    then = old.proposes or Proposal(change="save")
    if (proposal.change, proposal.of, set(proposal.fields)) != (then.change, then.of, set(then.fields)):
        return False
    others = set(proposal.fields) - _TEXTS
    return is_about_the_same(wanted, old) and all(
        getattr(wanted, name) == getattr(old, name) for name in others
    )


def _who(each: RejectedProposal) -> str:
    given = None if each.reason == f"rejected by {each.by}" else each.reason
    reason = f" ({' '.join(given.split())})" if given else ""
    return f"rejected by {each.by} on {each.at:%Y-%m-%d}{reason}."


def like_it(each: RejectedProposal) -> str:
    how = "The same as" if each.is_same else "Like"
    return f"{how} #{each.id}, {_who(each)}"


def not_again(each: RejectedProposal) -> str:
    return f"Not proposed again: the same as #{each.id}, {_who(each)} To propose it all the same, say what_is_new."
