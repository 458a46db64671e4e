"""WHAT changed between two times? Both side by side; and the moments at which something changed, for the time bar."""

from datetime import timedelta
from typing import Final

from starlette.responses import JSONResponse, Response

from onrecord.model.findings import Compared
from onrecord.model.wire import write_instant
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

_AT_ONCE: Final = 25
_USUAL: Final = timedelta(days=7)
#: The steps of a slider.
_MOMENTS: Final = 100


def compare(view: PageView) -> Response:
    since, until = view.query.one("since"), view.query.one("until")
    found = view.attempt(lambda: _compared(view))
    if found is not None and not since:
        since = write_instant(found.since)
    return view.html("compare.html", since=since, until=until, found=found)


def _compared(view: PageView) -> Compared:
    since = view.time("since") or (view.door.now - _USUAL).replace(microsecond=0)
    after = view.query.one("after") or None
    return view.door.diff(since, until=view.time("until"), after=after, limit=_AT_ONCE)


def moments(view: PageView) -> Response:
    """Those of memories; of the catalog or of everything, if the address says so."""
    kinds = {"catalog": (True,), "everything": (True, False)}.get(view.query.one("of"), (False,))
    found = {each for kind in kinds for each in view.door.moments(limit=_MOMENTS, catalog=kind).moments}
    return JSONResponse([write_instant(each) for each in sorted(found)[-_MOMENTS:]])


PAGES = (
    Page(path="/compare", show=compare, menu="Compare"),
    Page(path="/compare/moments", show=moments),
)
