"""WHAT changed between two times, in the memories or in the catalog? Both times side by side; and the moments at which
something changed, for the time bar.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from starlette.responses import JSONResponse, Response

from onrecord.catalog.records import canonical_of
from onrecord.catalog.stored import PRIORITY
from onrecord.model.findings import Compared, Difference
from onrecord.model.wire import write_instant
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

_AT_ONCE: Final = 25
_USUAL: Final = timedelta(days=7)
#: The steps of a slider.
_MOMENTS: Final = 100
_CATALOG: Final = "catalog"


def compare(view: PageView) -> Response:
    since, until = view.query.one("since"), view.query.one("until")
    found = view.attempt(lambda: _compared(view))
    if found is not None and not since:
        since = write_instant(found.since)
    of = _CATALOG if _is_of_catalog(view) else None
    return view.html("compare.html", since=since, until=until, found=found, of=of, canonical_of=canonical_of)


def _is_of_catalog(view: PageView) -> bool:
    return view.query.one("of") == _CATALOG


def _compared(view: PageView) -> Compared:
    since = view.time("since") or (view.door.now - _USUAL).replace(microsecond=0)
    after = view.query.one("after") or None
    catalog = _is_of_catalog(view)
    found = view.door.diff(since, until=view.time("until"), after=after, limit=_AT_ONCE, catalog=catalog)
    if not catalog:
        return found
    return replace(found, memories=tuple(each for each in found.memories if _is_read(each)))


def _is_read(difference: Difference) -> bool:
    """Whether what one reads of an entity has changed, and not only what the catalog notes for itself."""
    if canonical_of(difference.after) == PRIORITY:
        return False
    return difference.change != "revised" or "content" in difference.changed


def moments(view: PageView) -> Response:
    """Those of memories; of the catalog or of everything, if the address says so."""
    kinds = {_CATALOG: (True,), "everything": (True, False)}.get(view.query.one("of"), (False,))
    found = {each for kind in kinds for each in view.door.moments(limit=_MOMENTS, catalog=kind).moments}
    return JSONResponse([write_instant(each) for each in sorted(found)[-_MOMENTS:]])


PAGES = (
    Page(path="/compare", show=compare, menu="Compare"),
    Page(path="/compare/moments", show=moments),
)
