"""HOW do the answers of saving, changing and reviewing memories look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import (
    Part,
    advice_lines,
    arrow,
    many,
    many_memories,
    minute,
    named,
    put_off_lines,
    says,
    scrubbed_line,
    shows,
)

if TYPE_CHECKING:
    from onrecord.remember.extract import Extracted
    from onrecord.remember.forget import Forgotten
    from onrecord.remember.judge import Judged
    from onrecord.remember.remember import Remembered
    from onrecord.remember.remember_many import RememberedMany
    from onrecord.remember.retire import Retired
    from onrecord.remember.review import Reviewed
    from onrecord.remember.revise import Revised


@shows
def _(answer: "Remembered") -> Iterator[Part]:
    verb = {
        "created": "Remembered",
        "updated": "Updated",
        "unchanged": "Already known as",
        "proposed": "Proposed",
        "rejected": "Rejected before:",
    }[answer.outcome]
    if answer.dry_run:
        yield "Nothing was saved (dry run). It would be:"
    yield f"{verb} {named(answer.memory.id)}  {answer.memory.title}"
    yield from scrubbed_line(answer.scrubbed)
    if answer.superseded:
        yield "Superseded: " + ", ".join(named(id) for id in answer.superseded)
    for each in answer.similar:
        yield f"Nearly the same: {named(each.id)}  {each.title}  ({each.likeness:.2f})"
    yield from advice_lines(answer.advice)
    yield from put_off_lines(answer.degraded)
    yield from answer.warnings


@shows
def _(answer: "RememberedMany") -> Iterator[Part]:
    if answer.dry_run:
        yield "Nothing was saved (dry run). It would be:"
    known = len(answer.memories) - answer.saved - answer.skipped
    yield f"Saved {many_memories(answer.saved)}; {known} known already or rejected before, {answer.skipped} skipped."
    yield from scrubbed_line(sum(each.scrubbed for each in answer.memories))
    for place, each in enumerate(answer.memories, 1):
        yield from (f"{place} was skipped: {fault}" for fault in each.faults)
        yield from (f"{place} is nearly the same as {named(id)}" for id in each.similar)
    put_off = [reason for each in answer.memories for reason in each.degraded]
    yield from put_off_lines(list(dict.fromkeys(put_off)))


@shows
def _(answer: "Revised") -> Iterator[Part]:
    what = ", ".join(answer.changed)
    if answer.proposal is not None:
        yield from answer.warnings
        return
    yield (
        f"Revised {named(answer.memory.id)} ({what}), now version {answer.memory.version}."
        if what
        else "Nothing to change."
    )
    yield from put_off_lines(answer.degraded)


@shows
def _(answer: "Retired") -> Iterator[Part]:
    if answer.proposal is not None:
        yield from answer.warnings
        return
    done = "Retired" if answer.changed else "Nothing changed: already retired"
    yield f"{done} {named(answer.memory.id)}, true until {minute(answer.memory.valid_to)}. It stays readable in the past."


@shows
def _(answer: "Forgotten") -> Iterator[Part]:
    if answer.proposal is not None:
        yield from answer.warnings
        return
    yield (
        f"{'Would erase' if answer.dry_run else 'Erased'} {named(answer.id)} with {many(answer.versions, 'version')}, {many(answer.relations, 'relation')} "
        f"and {many(answer.references, 'reference')} to it."
    )
    yield from answer.warnings


@shows
def _(answer: "Reviewed") -> Iterator[Part]:
    memory = answer.memory
    settled = "Approved" if memory.is_live else "Rejected"
    yield f"{settled if answer.changed else f'{settled} already:'} {named(memory.id)}  {memory.title}"
    if not memory.is_live and memory.status_reason:
        yield f"Reason: {memory.status_reason}"
    if answer.restored:
        yield "Brought back: " + ", ".join(named(id) for id in answer.restored)


@shows
def _(answer: "Extracted") -> Iterator[Part]:
    yield f"Extracted {many(len(answer.facts), 'fact')}."
    yield from (f"- {named(fact.id)}  {fact.text}  [{fact.outcome}]" for fact in answer.facts)
    yield from advice_lines(answer.advice)
    yield from (f"Not saved: {reason}" for reason in answer.degraded)


@shows
def _(answer: "Judged") -> Iterator[Part]:
    if answer.verdict is None:
        yield from advice_lines((answer.advice,))
        return
    of = f" of {', '.join(named(id) for id in answer.about)}" if answer.about else ""
    yield f"{named(answer.id)}: {answer.verdict}{of}, as {answer.advice.model} thinks ({answer.advice.took()})."
    if answer.why:
        yield answer.why
    yield "Nothing was decided by it: approve or reject it yourself."


says(
    Related=lambda a: f"{'Related' if a.created else 'Already related'}: {arrow(a.relation)}",
    Unrelated=lambda a: f"No longer related: {arrow(a.relation)}",
)
