"""WHAT waits for a person? Proposals, the oldest first, each with what one needs to decide on it; and renamed columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from onrecord.checks.observing import Observation
from onrecord.errors import OnRecordError, invalid
from onrecord.model.edits import Edit
from onrecord.model.ids import exactly
from onrecord.model.memory import Memory
from onrecord.remember.judge import Judged
from onrecord.review.planning import PlannedChange
from onrecord.surfaces.web.page_view import REFUSALS, Form, PageView
from onrecord.surfaces.web.site import Page

_PERMISSION: Final = "memory.review"
#: For each of them what is near is looked up, and what it would change.
_AT_ONCE: Final = 10
_DONE: Final = {
    "approved": "Approved. It counts from now on.",
    "corrected": "Approved in your words. What was proposed stays in its history.",
    "rejected": "Rejected. It stays readable, with your reason.",
    "many_approved": "Approved all that you had chosen.",
    "many_rejected": "Rejected all that you had chosen, with your reason.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMemory:
    """A memory that a proposal would change, as it is now; `moved` if it has changed since it was proposed."""

    memory: Memory
    moved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEntry:
    """A proposal with what one needs to decide on it, or only to read it on a page of the past; `problem` says why its changes
    to the catalog cannot be shown; `checkable` what nobody checks and could be asked.
    """

    memory: Memory
    judged: Judged | None = None
    targets: Sequence[TargetMemory] = ()
    changes: Sequence[PlannedChange] = ()
    problem: str | None = None
    checkable: Sequence[Observation] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedProposal:
    """A proposal that was chosen and not decided, and why."""

    id: str
    why: str


def review(
    view: PageView,
    *,
    advised: Judged | None = None,
    observed: str = "",
    kept: Sequence[UndecidedProposal] = (),
) -> Response:
    after = view.query.one("after") or None
    found = view.attempt(
        lambda: view.door.browse(
            **_wanted(view), **view.known_at, order="oldest", limit=_AT_ONCE, after=after, count=True
        )
    )
    entries = [_entry(view, each, advised, observed) for each in found.memories] if found is not None else []
    refused = view.refused.form.one("id") if view.refused is not None else ""
    return view.html(
        "review.html",
        found=found,
        entries=entries,
        kept=kept,
        chosen=refused or view.query.one("chosen"),
        decides=view.door.caller.actor == "person" and not view.is_past,
        advises=view.door.advisor.is_there,
    )


def _wanted(view: PageView) -> dict[str, Any]:
    """What waits; or insights alone, some of which count as texts already."""
    return {"proposal": "pending"} if view.query.one("of") == "insights" else {"statuses": ["pending"]}


def _entry(view: PageView, memory: Memory, advised: Judged | None, observed: str) -> ReviewEntry:
    if view.is_past:
        # What was near it then, and what its plan was, nothing says.
        return ReviewEntry(memory=memory, targets=tuple(_targets(view, memory)))
    known = advised is not None and advised.id == memory.id
    judged = advised if known and advised else view.door.judge(exactly(memory.id), advisor="no")
    checkable = view.door.checks(exactly(memory.id), observe=memory.id == observed).checkable
    entry = ReviewEntry(
        memory=memory, judged=judged, targets=tuple(_targets(view, memory)), checkable=checkable
    )
    try:
        return replace(entry, changes=tuple(_changes(view, memory)))
    except OnRecordError as error:
        # What stands in a catalog elsewhere may be out of reach; the text can be decided on without it.
        return replace(entry, problem=str(error))


def _targets(view: PageView, memory: Memory) -> Sequence[TargetMemory]:
    if memory.proposes is None:
        return ()
    present = [view.door.show(exactly(id), **view.known_at).memory for id in memory.proposes.of]
    versions = memory.proposes.versions
    return [
        TargetMemory(memory=each, moved=each.version != version)
        for each, version in zip(present, versions, strict=True)
    ]


def _changes(view: PageView, memory: Memory) -> Sequence[PlannedChange]:
    """What its edits would change, with what stands there now: a plan for each entity that they touch."""
    found = list[PlannedChange]()
    planned = set[str]()
    for edit in memory.edits or ():
        plan = view.door.plan(edit.entity, memories=[exactly(memory.id)], unknown="keep")
        if plan.entity not in planned:
            planned.add(plan.entity)
            found += [each for each in plan.changes if _is_inside(each.edit.entity, plan.entity)]
    return found


def _is_inside(entity: str, root: str) -> bool:
    """Whether an entity is the one that a plan is for, or a part of it."""
    return entity == root or entity.startswith(f"{root}.")


def _id(form: Form) -> str:
    """The memory of a form, which got its id from an answer."""
    return exactly(form.one("id"))


def _approve(view: PageView, form: Form) -> Response:
    view.door.approve(_id(form), **view.fields("approve", form, "expected_version", "reason"))
    return _next(view, form, "approved")


def _correct(view: PageView, form: Form) -> Response:
    """Approve it in the words of the form, of which those count that differ from what was proposed."""
    memory = view.door.show(_id(form)).memory
    fields = view.fields("approve", form, "expected_version", "reason", "content", "title")
    same = [name for name in ("content", "title") if fields.get(name) == getattr(memory, name)]
    fields = {name: value for name, value in fields.items() if name not in same}
    if memory.edits and (edits := _edits(memory.edits, form)) != memory.edits:
        fields["edits"] = edits
    view.door.approve(_id(form), **fields)
    return _next(view, form, "corrected")


def _edits(edits: Sequence[Edit], form: Form) -> tuple[Edit, ...]:
    """The edits with the texts of the form."""
    names = [f"value.{place}" for place in range(len(edits))]
    return tuple(
        replace(each, value=form.one(name).replace("\r\n", "\n")) if form.has(name) else each
        for each, name in zip(edits, names, strict=True)
    )


def _reject(view: PageView, form: Form) -> Response:
    fields = view.fields("reject", form, "expected_version", "reason")
    view.door.reject(_id(form), **_with_reason(fields))
    return _next(view, form, "rejected")


def _with_reason(fields: dict[str, Any]) -> dict[str, Any]:
    """A person who is asked why always says why: whoever proposed it, and whoever proposes it again, reads that."""
    if not (fields.get("reason") or "").strip():
        raise invalid("reason", "say why it is rejected: whoever proposed it reads that")
    return fields


def _next(view: PageView, form: Form, done: str) -> Response:
    """Lead to the entry after the one that was decided; after the last one, to the first."""
    following = form.one("following") or None
    after = (view.query.one("after") or None) if following else None
    return view.go("/review", done=done, of=view.query.one("of") or None, after=after, chosen=following)


def _advise(view: PageView, form: Form) -> Response:
    return review(view, advised=view.door.judge(_id(form)))


def _observe(view: PageView, form: Form) -> Response:
    """Show the page with what one query says about what one proposal is about."""
    return review(view, observed=form.one("id"))


def _approve_many(view: PageView, form: Form) -> Response:
    def act(id: str, version: int) -> object:
        return view.door.approve(id, expected_version=version)

    return _many(view, form, "many_approved", act)


def _reject_many(view: PageView, form: Form) -> Response:
    fields = _with_reason(view.fields("reject", form, "reason"))

    def act(id: str, version: int) -> object:
        return view.door.reject(id, expected_version=version, **fields)

    return _many(view, form, "many_rejected", act)


def _many(view: PageView, form: Form, done: str, act: Callable[[str, int], object]) -> Response:
    """Decide on each that was chosen, in the version that was on screen. What cannot be decided stays, with the reason."""
    kept = list[UndecidedProposal]()
    for id, version in _chosen(form):
        try:
            act(exactly(id), version)
        except REFUSALS as error:
            kept.append(UndecidedProposal(id=id, why=str(error)))
    if not kept:
        return view.go("/review", done=done, of=view.query.one("of") or None)
    response = review(view, kept=kept)
    response.status_code = 409
    return response


def _chosen(form: Form) -> Sequence[tuple[str, int]]:
    chosen = [each.rpartition(" ") for each in form.all("chosen")]
    if not chosen:
        raise invalid("chosen", "tick at least one proposal")
    try:
        return [(id, int(version)) for id, _, version in chosen]
    except ValueError:
        raise invalid("chosen", "names a proposal without its version; open the page again") from None


def renames(view: PageView) -> Response:
    return view.html(
        "renames.html",
        renames=view.door.renames().renames,
        decides=view.door.caller.actor == "person",
        accepted=None,
    )


def _accept(view: PageView, form: Form) -> Response:
    """Accept one rename, to another name if one is typed; or all that wait."""
    fields = view.fields("accept_renames", form, "entities", "to")
    accepted = view.door.accept_renames(**fields)
    return view.html("renames.html", renames=view.door.renames().renames, decides=True, accepted=accepted)


PAGES = (
    Page(
        path="/review",
        show=review,
        acts={
            "approve": _approve,
            "correct": _correct,
            "reject": _reject,
            "advise": _advise,
            "observe": _observe,
            "approve_many": _approve_many,
            "reject_many": _reject_many,
        },
        menu="Review",
        permission=_PERMISSION,
        done=_DONE,
    ),
    Page(path="/review/renames", show=renames, acts={"accept": _accept}, permission=_PERMISSION),
)
