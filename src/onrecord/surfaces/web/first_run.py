"""WHAT does someone do first? Three things, on the first page of a store that holds nothing; and the demo shop."""

from typing import Literal

from starlette.responses import Response

from onrecord import demo
from onrecord.surfaces.web.page_view import Form, PageView

#: What the first page offers: the first things to do, or to take out the demo shop again.
Offer = Literal["first things", "demo"]
DONE = {
    "loaded": "The demo shop is loaded: what a small team and its agents learned in seven months.",
    "removed": "The demo shop is gone, and nothing else.",
}


def offer(view: PageView) -> Offer | None:
    """What to offer to whoever asks nothing yet."""
    if view.query.one("question").strip() or view.is_past:
        return None
    if not view.door.tally("status").total:
        return "first things"
    return "demo" if view.may("memory.admin") and demo.is_loaded(view.door) else None


def _load(view: PageView, form: Form) -> Response:
    view.door.caller.require_person("Loading the demo shop")
    demo.load(view.door)
    return view.go("/", done="loaded")


def _remove(view: PageView, form: Form) -> Response:
    view.door.caller.require_person("Removing the demo shop")
    view.door.caller.require("memory.admin")
    demo.remove(view.door)
    return view.go("/", done="removed")


ACTS = {"load_demo": _load, "remove_demo": _remove}
