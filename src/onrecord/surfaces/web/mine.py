"""WHAT is kept for me? One's own preferences, what is known of one's systems, and what became of one's insights."""

from typing import Any, Final

from starlette.responses import Response

from onrecord.model.ids import exactly
from onrecord.model.limits import PROPOSAL_FILTERS
from onrecord.model.memory import Memory
from onrecord.surfaces.web.memory_acts import RETURNS
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page

_AT_ONCE: Final = 50
_DONE: Final = {
    "always": "From now on agents get it without asking.",
    "not_always": "From now on agents get it only when they ask.",
    "waits": "The text is of a higher tier than yours: your change waits for a person.",
    "rejected": "The same was proposed and rejected before, and nothing is new: nothing was changed.",
    "forgotten": "Erased, with its history and every reference to it.",
}


def _preferences(view: PageView) -> Response:
    return _list(view, "mine", scopes=["user"], owners=[view.door.caller.user])


def _systems(view: PageView) -> Response:
    chosen = view.attempt(lambda: view.fields("browse", view.query, "system")) or {}
    return _list(view, "systems", scopes=["system"], **chosen)


def _list(view: PageView, shown: str, **which: Any) -> Response:
    page = view.attempt(lambda: view.fields("browse", view.query, "after"))
    found = view.attempt(
        lambda: view.door.browse(
            **which, **(page or {}), **view.times, statuses=["active", "stale"], limit=_AT_ONCE
        )
    )
    return view.html("mine.html", found=found, shown=shown, system=which.get("system"), **_rights(view))


def _rights(view: PageView) -> dict[str, Any]:
    """For which memories the page has a switch and a button; what is pressed, the operation still decides."""
    caller = view.door.caller
    may = view.may("memory.manage") and caller.actor == "person" and not view.is_past

    def manages(memory: Memory) -> bool:
        return may and (memory.scope != "system" or caller.is_admin or caller.manages(memory.system or ""))

    def revises(memory: Memory) -> bool:
        return may and (memory.owner == caller.user or manages(memory))

    return {"revises": revises, "forgets": manages}


def _always(view: PageView, form: Form) -> Response:
    """Switch on or off that agents get a memory without asking."""
    fields = view.fields("revise", form, "always_inject")
    if fields.get("always_inject"):
        view.door.caller.require_person("Applying a memory always")
    revised = view.door.revise(exactly(form.one("id")), **fields)
    done = "always" if fields.get("always_inject") else "not_always"
    if revised.proposal is not None:
        done = "waits"
    if revised.rejected:
        done = "rejected"
    kept = {name: view.query.one(name) or None for name in ("system", "after")}
    return view.go(view.request.url.path, done=done, **kept)


def _insights(view: PageView) -> Response:
    chosen = view.attempt(lambda: view.fields("browse", view.query, "proposal", "after"))
    which = {"proposal": "any"} | (chosen or {})
    found = view.attempt(
        lambda: view.door.browse(
            **which,
            **view.times,
            owners=[view.door.caller.user],
            order="created",
            limit=_AT_ONCE,
            background=True,
        )
    )
    insights = () if found is None else tuple(zip(found.memories, found.background, strict=True))
    return view.html(
        "insights.html", found=found, insights=insights, state=which["proposal"], states=PROPOSAL_FILTERS
    )


PAGES = (
    Page(path=RETURNS["mine"], show=_preferences, acts={"always": _always}, menu="My memory", done=_DONE),
    Page(path=RETURNS["systems"], show=_systems, acts={"always": _always}, done=_DONE),
    Page(path="/mine/insights", show=_insights),
)
