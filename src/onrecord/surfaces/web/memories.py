"""WHICH memories are there? A list with filters, at any time."""

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from onrecord.model.limits import (
    CONFIDENCES,
    DIMENSIONS,
    KINDS,
    LIST_ORDERS,
    PROPOSAL_FILTERS,
    SCOPES,
    STATUSES,
    TallyBy,
)
from onrecord.recall.browse import Browsed, Tallied
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

_SEVERAL: Final = (
    *("kinds", "statuses", "tags", "entities", "owners", "scopes", "dimensions", "categories"),
    *("confidences", "sources"),
)
_CRITERIA: Final = (
    *_SEVERAL,
    *("persona", "system", "conversation", "proposal", "has_query"),
    *("created_since", "created_before", "updated_since", "updated_before"),
)
_AT_ONCE: Final = 50
_CHOICES: Final = {
    "kinds": KINDS,
    "statuses": STATUSES,
    "scopes": SCOPES,
    "dimensions": DIMENSIONS,
    "confidences": CONFIDENCES,
    "proposal": PROPOSAL_FILTERS,
    "order": LIST_ORDERS,
}
#: What the counts beside a list are by, and the filter that each of them leads to.
_COUNTED: Final[dict[TallyBy, str]] = {"kind": "kinds", "status": "statuses"}


def memories(view: PageView) -> Response:
    found = view.attempt(lambda: _browsed(view))
    counts = _counts(view) if found is not None and view.query.has("counts") else ()
    filters = [(name, value) for name, value in view.query.pairs if name in _CRITERIA and value]
    return view.html("memories.html", found=found, counts=counts, filters=filters, choices=_CHOICES)


def _criteria(view: PageView) -> dict[str, Any]:
    return view.fields("browse", view.query, *_CRITERIA) | view.times


def _browsed(view: PageView) -> Browsed:
    page = view.fields("browse", view.query, "order", "after")
    return view.door.browse(**_criteria(view), **page, limit=_AT_ONCE)


def _counts(view: PageView) -> Sequence[tuple[str, str, Tallied]]:
    """How many memories match, by each of some fields, with the filter that leads to them."""
    return [(by, name, view.door.tally(by, **_criteria(view))) for by, name in _COUNTED.items()]


PAGES = (
    Page(
        path="/memory",
        show=memories,
        menu="Memories",
        done={"forgotten": "Erased, with its history and every reference to it."},
    ),
)
