"""WHAT is known of one system? A card that a page of another system shows in a frame, and nothing else."""

from typing import Final

from starlette.responses import Response

from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

_SHOWN: Final = 20


def _card(view: PageView) -> Response:
    system = view.path["id"]
    found = view.door.browse(
        system=system, scopes=["system"], statuses=["active", "stale"], limit=_SHOWN, **view.times
    )
    return view.html("embed.html", system=system, found=found)


PAGES = (Page(path="/embed/system/{id}", show=_card),)
