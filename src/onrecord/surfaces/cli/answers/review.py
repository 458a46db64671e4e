"""HOW do plans and changesets look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import Part, edit_line, minute, named, shows, written

if TYPE_CHECKING:
    from onrecord.model.changesets import Changeset
    from onrecord.review.applying import Applied
    from onrecord.review.listing import ListedChangesets
    from onrecord.review.planning import Planned
    from onrecord.review.rolling_back import RolledBack


@shows
def _(answer: "Planned") -> Iterator[Part]:
    for each in answer.changes:
        yield f"{edit_line(each.edit)}  (now: {written(each.before)}; from {', '.join(map(named, each.memories))})"
        if each.conflict:
            yield f"  conflict: {each.conflict}"
    for anew in answer.said_anew:
        what = " ".join(filter(None, (anew.edit.entity, anew.edit.field, anew.edit.key)))
        yield f"{what} was promoted (changeset {anew.changeset}); its source now says: {written(anew.source)}"
    if answer.changes:
        yield f"Apply it with: onrecord apply {answer.entity} --mark {answer.mark}"
        yield from _more(answer.left)
    else:
        yield f"No approved proposal changes {answer.entity}."


@shows
def _(answer: "Applied") -> Iterator[Part]:
    yield from _changeset(answer.changeset)
    yield f"Take it back with: onrecord roll-back {answer.changeset.id}"
    yield from _more(answer.left)


def _more(left: int) -> Iterator[Part]:
    if left:
        yield f"{left:,} more approved proposals are left for the next time."


@shows
def _(answer: "RolledBack") -> Iterator[Part]:
    yield f"Rolled back changeset {answer.changeset.id} of {answer.changeset.entity}."
    yield from (f"Stays as it is: {each}" for each in answer.kept)


@shows
def _(answer: "ListedChangesets") -> Iterator[Part]:
    if not answer.changesets:
        yield "Nothing was applied."
    for each in answer.changesets:
        yield from _changeset(each)
    yield f"{answer.total:,} in all."


def _changeset(changeset: "Changeset") -> Iterator[Part]:
    from_ids = ", ".join(named(id) for id in changeset.memories)
    yield (
        f"Changeset {changeset.id} of {changeset.entity}: {changeset.state}, by {changeset.by} "
        f"{minute(changeset.at)}" + (f", from {from_ids}" if from_ids else "")
    )
    if changeset.ended_reason:
        yield f"  {changeset.state}: {changeset.ended_reason}"
    for each in changeset.changes:
        yield f"  {edit_line(each.edit)}  (before: {written(each.before)})" + (
            f"; {each.note}" if each.note else ""
        )
