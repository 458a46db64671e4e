"""HOW do programs of the data platform curate knowledge? Insights and changesets, for admins; one's own insights, for all."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Conflict, invalid
from onrecord.faces.data_platform.changesets import changeset_named, changeset_of
from onrecord.faces.data_platform.fields import (
    LISTED,
    MOST_LISTED,
    OF_INSIGHTS,
    check_choices,
    check_content,
    clamped,
    in_its_words,
    refuse,
)
from onrecord.faces.data_platform.insights import found_insights, insight_of, insights_in
from onrecord.faces.data_platform.keeping import update
from onrecord.faces.data_platform.knowledge import move, rolled_back, shown_insight
from onrecord.faces.data_platform.records import insight_status_of
from onrecord.faces.data_platform.route_parts import (
    ADMIN,
    COUNT,
    COUNTS,
    CUT,
    PAGE,
    PAGED,
    PART,
    PORTAL,
    SINCE,
    STATUS,
    UNTIL,
    choice,
    criteria,
    cut_of,
    how_many,
    page_of,
    read_fields,
    read_query,
)
from onrecord.model.limits import PROPOSAL_STATES
from onrecord.model.rules import Text
from onrecord.model.schema import closed_schema
from onrecord.model.shapes import Object
from onrecord.service import OnRecord
from onrecord.surfaces.rest.declared import (
    TEXT,
    FaceRoute,
    Parameter,
    RouteAnswer,
    get_route,
    object_schema,
    schema_named,
)

_INSIGHTS: Final = f"{ADMIN}/knowledge/insights"
_CHANGESETS: Final = f"{ADMIN}/knowledge/changesets"
_MINE: Final = f"{PORTAL}/knowledge/insights"
_MOVES: Final = ("approved", "rejected")


def _criteria(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a list in our words; without a status, insights in every state."""
    names = {
        "category": "categories",
        "confidence": "confidences",
        "source": "sources",
        "entity_urn": "entities",
        "captured_by": "owners",
    }
    return criteria(asked, names) | {"proposal": asked.get("status", "any")}


def _page(door: OnRecord, wanted: Mapping[str, Any]) -> dict[str, Any]:
    page = door.browse(**wanted, order="created", count=True, background=True)
    return {"data": insights_in(page), "total": page.total}


def _stats(door: OnRecord, asked: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """How many insights there are in each state, and of all that match by their category and confidence."""
    wanted = {**_criteria(asked), **more}
    states = {
        state: door.tally("confidence", **{**wanted, "proposal": state}).total
        for state in PROPOSAL_STATES
        if wanted["proposal"] in ("any", state)
    }
    stats: dict[str, Any] = {"total_pending": states.get("pending", 0)}
    for field in ("category", "confidence"):
        groups = door.tally(field, limit=1_000, **wanted).groups
        stats[f"by_{field}"] = {group.value or "": group.memories for group in groups}
    return stats | {"by_status": {state: number for state, number in states.items() if number}}


@in_its_words()
def _list_insights(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    asked = read_query(request, _LISTED_BY_ADMIN, OF_INSIGHTS)
    cut, page_fields = page_of(asked)
    return JSONResponse(_page(door, _criteria(asked) | cut) | page_fields)


@in_its_words()
def _insight_stats(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    return JSONResponse(_stats(door, read_query(request, _FILTERS, OF_INSIGHTS)))


def _get_insight(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    return JSONResponse(insight_of(*shown_insight(door, request.path_params["id"])))


def _put_insight(door: OnRecord, request: Request, body: bytes) -> Response:
    """Change what an insight says; what is applied stays as people have approved it."""
    door.caller.require("memory.admin")
    given = read_fields(request, body, _CHANGED)
    memory, background = shown_insight(door, request.path_params["id"])
    status = insight_status_of(memory, background)
    if status == "applied" or not memory.is_live:
        raise Conflict(f"cannot edit an insight that is {status}")
    text = given.pop("insight_text", None)
    refuse(
        check_choices(given, OF_INSIGHTS),
        check_content(text, "insight_text") if text else iter(()),
    )
    updated = update(door, memory.id, content=text, **given)
    return JSONResponse({"status": "pending" if "proposal_id" in updated else "updated"})


@in_its_words()
def _put_status(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    given = read_fields(request, body, _MOVED)
    if given.get("status") not in _MOVES:
        raise invalid("status", "must be 'approved' or 'rejected'")
    move(door, request.path_params["id"], given["status"], given.get("review_notes"))
    return JSONResponse({"status": "updated"})


@in_its_words()
def _list_changesets(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    asked = read_query(request, _LISTED_CHANGESETS, {"rolled_back": ("true", "false")})
    cut, page_fields = page_of(asked)
    wanted: dict[str, Any] = {"entity": asked.get("entity_urn"), "by": asked.get("applied_by"), **cut}
    wanted |= {"since": asked.get("since"), "before": asked.get("until")}
    if "rolled_back" in asked:
        wanted["states"] = _TAKEN_BACK if asked["rolled_back"] == "true" else _NOT_TAKEN_BACK
    page = door.changesets(**wanted)
    data = [changeset_of(each, page.urns.get(each.entity, each.entity)) for each in page.changesets]
    return JSONResponse({"data": data, "total": page.total} | page_fields)


_TAKEN_BACK: Final = ("rolled_back",)
_NOT_TAKEN_BACK: Final = ("applying", "applied", "taking_back", "failed", "rolling_back")


def _get_changeset(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    return JSONResponse(changeset_of(*changeset_named(door, request.path_params["id"])))


def _roll_back(door: OnRecord, request: Request, body: bytes) -> Response:
    """Every change can be taken back here, so none is refused for its type."""
    door.caller.require("memory.admin")
    known, urn = changeset_named(door, request.path_params["id"])
    return JSONResponse(rolled_back(door, known, urn, None))


@in_its_words()
def _my_insights(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _LISTED_BY_OWNER, OF_INSIGHTS)
    cut, page_fields = cut_of(asked)
    return JSONResponse(_page(door, _criteria(asked) | cut | {"owners": [door.caller.user]}) | page_fields)


@in_its_words()
def _my_stats(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _OWN_FILTERS, OF_INSIGHTS)
    return JSONResponse(_stats(door, asked, owners=[door.caller.user]))


@in_its_words()
def _search_mine(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _SEARCHED, OF_INSIGHTS)
    if not asked.get("q", "").strip():
        raise invalid("q", "query parameter 'q' is required")
    size = clamped(asked.get("limit"), LISTED, MOST_LISTED)
    found, _ = found_insights(door, asked["q"], asked.get("status"), size)
    data = [insight | {"score": score} for insight, score in found]
    return JSONResponse({"data": data, "total": len(data), "limit": size, "offset": 0})


_OWN_FILTERS: Final = (
    *(choice(name, OF_INSIGHTS) for name in ("status", "category", "confidence", "source")),
    Parameter("entity_urn", "Only about this entity."),
    SINCE,
    UNTIL,
)
_FILTERS: Final = (*_OWN_FILTERS, Parameter("captured_by", "Only of this user, by email."))
_LISTED_BY_ADMIN: Final = (*_FILTERS, *PAGED)
_LISTED_BY_OWNER: Final = (*_OWN_FILTERS, *CUT)
_SEARCHED: Final = (
    Parameter("q", "The question, in plain words."),
    choice("status", OF_INSIGHTS),
    how_many("limit"),
)
_LISTED_CHANGESETS: Final = (
    Parameter("entity_urn", "Only of this entity."),
    Parameter("applied_by", "Only applied by this user."),
    Parameter("rolled_back", "Only those that are rolled back (true), or that are not (false)."),
    SINCE,
    UNTIL,
    *PAGED,
)
_ID: Final = Parameter("id", "The id of an insight.")
_CHANGESET_ID: Final = Parameter("id", "The id of a changeset.")


_CHANGED: Final = Object(
    "a change of an insight", dict.fromkeys(("insight_text", "category", "confidence"), Text())
)
_MOVED: Final = Object("a decision", dict.fromkeys(("status", "review_notes"), Text()))
_INSIGHT: Final = schema_named("DataPlatformInsight")
_CHANGESET: Final = schema_named("DataPlatformChangeset")
_FOUND: Final = {"data": {"type": "array", "items": _INSIGHT}, "total": COUNT}
_STATS: Final = object_schema(
    {"total_pending": COUNT, "by_category": COUNTS, "by_confidence": COUNTS, "by_status": COUNTS}
)
_UPDATED: Final = RouteAnswer("It is changed, or its change waits for a person.", STATUS)
_ROLLED_BACK: Final = object_schema(
    {
        **dict.fromkeys(("changeset_id", "target_urn", "rolled_back_by"), TEXT),
        **{name: {"type": "array", "items": TEXT} for name in ("reverted_changes", "skipped_changes")},
        "insights_rolled_back": COUNT,
    },
    "skipped_changes",
)

ROUTES: Final = (
    get_route(
        _INSIGHTS,
        "list_insights",
        "For admins: the insights of everyone, newest first.",
        _list_insights,
        object_schema({**_FOUND, **PAGE}),
        *_LISTED_BY_ADMIN,
    ),
    get_route(
        f"{_INSIGHTS}/stats",
        "insight_stats",
        "For admins: how many insights there are in each state, category and confidence.",
        _insight_stats,
        _STATS,
        *_FILTERS,
    ),
    get_route(f"{_INSIGHTS}/{{id}}", "get_insight", "For admins: one insight.", _get_insight, _INSIGHT, _ID),
    FaceRoute(
        method="PUT",
        path=f"{_INSIGHTS}/{{id}}",
        name="put_insight",
        summary="For admins: change what is given of an insight that is not applied.",
        act=_put_insight,
        parameters=(_ID,),
        body=closed_schema(_CHANGED),
        answers={200: _UPDATED},
        refusals={409: "It is applied, or no longer counts."},
    ),
    FaceRoute(
        method="PUT",
        path=f"{_INSIGHTS}/{{id}}/status",
        name="put_insight_status",
        summary="For admins in person: approve or reject an insight.",
        act=_put_status,
        parameters=(_ID,),
        body=closed_schema(_MOVED),
        answers={200: _UPDATED},
        refusals={409: "Its state does not allow that."},
    ),
    get_route(
        _CHANGESETS,
        "list_changesets",
        "For admins: what was applied to the catalog, newest first.",
        _list_changesets,
        object_schema({"data": {"type": "array", "items": _CHANGESET}, "total": COUNT, **PAGE}),
        *_LISTED_CHANGESETS,
    ),
    get_route(
        f"{_CHANGESETS}/{{id}}",
        "get_changeset",
        "For admins: one changeset, with what stood there before.",
        _get_changeset,
        _CHANGESET,
        _CHANGESET_ID,
    ),
    FaceRoute(
        method="POST",
        path=f"{_CHANGESETS}/{{id}}/rollback",
        name="roll_back_changeset",
        summary="For admins in person: take back what a changeset has written.",
        act=_roll_back,
        parameters=(_CHANGESET_ID,),
        answers={200: RouteAnswer("It is rolled back.", _ROLLED_BACK)},
        refusals={409: "It is rolled back already, or a later one has changed the same."},
    ),
    get_route(
        _MINE,
        "my_insights",
        "One's own insights, newest first.",
        _my_insights,
        object_schema({**_FOUND, **PART}),
        *_LISTED_BY_OWNER,
    ),
    get_route(
        f"{_MINE}/stats",
        "my_insight_stats",
        "How many of one's own insights there are in each state, category and confidence.",
        _my_stats,
        _STATS,
        *_OWN_FILTERS,
    ),
    get_route(
        f"{_MINE}/search",
        "search_my_insights",
        "One's own insights about a question, best first, each with its score.",
        _search_mine,
        object_schema({**_FOUND, **PART}),
        *_SEARCHED,
    ),
)
