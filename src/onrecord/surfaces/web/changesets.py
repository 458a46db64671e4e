"""HOW do approved changes reach the catalog, and how are they undone? Plans, changesets, and their ends."""

from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from onrecord.model.limits import AFTER_ROLL_BACK, CHANGESET_STATES
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page

_AT_ONCE: Final = 25
_FILTERS: Final = ("entity", "states", "by", "skip")
_PLAN: Final = ("entity", "memories", "unknown")


def changesets(view: PageView) -> Response:
    """What was applied, and what is approved and waits to be."""
    found = view.attempt(
        lambda: view.door.changesets(
            **view.fields("changesets", view.query, *_FILTERS), **_until(view), limit=_AT_ONCE
        )
    )
    # What was approved and waited then is not known any more.
    approved = None
    if not view.is_past:
        approved = view.door.browse(proposal="approved", order="oldest", limit=_AT_ONCE, count=True)
    return view.html(
        "changesets.html", found=found, approved=approved, states=CHANGESET_STATES, at_once=_AT_ONCE
    )


def _until(view: PageView) -> dict[str, Any]:
    """Those of a page of the past: applied at its time or before."""
    then = view.known_at.get("known_at")
    return {} if then is None else {"before": then + timedelta.resolution}


def changeset(view: PageView) -> Response:
    found = view.door.changesets(view.path["id"])
    return view.html(
        "changeset.html",
        changeset=found.changesets[0],
        urns=found.urns,
        decides=_decides(view),
        endings=AFTER_ROLL_BACK,
    )


def _roll_back(view: PageView, form: Form) -> Response:
    done = view.door.roll_back(view.path["id"], **view.fields("roll_back", form, "reason", "then"))
    return view.go("/changeset/{}", done.changeset.id, done="partly" if done.kept else "rolled_back")


def plan(view: PageView) -> Response:
    """What would be applied to an entity, as things are now."""
    planned = view.attempt(lambda: view.door.plan(**view.fields("plan", view.query, *_PLAN)))
    return view.html("plan.html", planned=planned, decides=_decides(view))


def _apply(view: PageView, form: Form) -> Response:
    """Apply the plan that was on screen; if it is another one by now, that is refused and shown."""
    fields = view.fields("apply", view.query, *_PLAN) | view.fields("apply", form, "mark", "reason")
    applied = view.door.apply(**fields)
    return view.go("/changeset/{}", applied.changeset.id, done="left" if applied.left else "applied")


def _decides(view: PageView) -> bool:
    return view.may("memory.review") and view.door.caller.actor == "person"


PAGES = (
    Page(path="/changeset", show=changesets, part_of="/review"),
    Page(
        path="/changeset/{id}",
        show=changeset,
        part_of="/review",
        acts={"roll_back": _roll_back},
        done={
            "applied": "Applied. The next ingest keeps it.",
            "left": "Applied. More approved proposals are left for the next changeset.",
            "rolled_back": "Rolled back: what stood there before stands there again.",
            "partly": "Rolled back, except for what was changed since: see below.",
        },
    ),
    Page(path="/plan", show=plan, acts={"apply": _apply}, part_of="/review"),
)
