"""WHICH routes do programs of the data platform know? Those of an admin over everything, and those of a person over their
own; the face translates, the operations decide.
"""

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Conflict, Invalid, NotFound, invalid
from onrecord.faces.data_platform import index_routes, knowledge_routes
from onrecord.faces.data_platform.changesets import CHANGESET
from onrecord.faces.data_platform.fields import LISTED, MOST_LISTED, clamped, in_its_words
from onrecord.faces.data_platform.insights import INSIGHT
from onrecord.faces.data_platform.keeping import forget, own_memory, records_in, statuses_of, update
from onrecord.faces.data_platform.recalling import AS_IT_IS, RECIPE
from onrecord.faces.data_platform.records import RECORD, record_of, shown_status
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
    refused,
)
from onrecord.model.limits import STATUSES as EVERY_STATUS
from onrecord.model.rules import Json, Text
from onrecord.model.schema import closed_schema
from onrecord.model.shapes import Object
from onrecord.service import OnRecord
from onrecord.surfaces.rest.declared import (
    TEXT,
    FaceHttp,
    FaceRoute,
    Parameter,
    RouteAnswer,
    get_route,
    object_schema,
    schema_named,
)

_ENDED: Final = "It is archived or superseded."


def _criteria(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a list in our words; without a status, records of every status."""
    names = {
        "dimension": "dimensions",
        "category": "categories",
        "source": "sources",
        "entity_urn": "entities",
        "created_by": "owners",
    }
    persona = {"persona": asked["persona"]} if "persona" in asked else {}
    statuses = statuses_of(asked["status"]) if "status" in asked else EVERY_STATUS
    return criteria(asked, names) | persona | {"statuses": statuses}


def _page(door: OnRecord, asked: Mapping[str, Any], cut: Mapping[str, int], **more: Any) -> dict[str, Any]:
    wanted = {**_criteria(asked), **more, **cut}
    page = door.browse(**wanted, order="created", count=True, background=True)
    return {"data": records_in(page), "total": page.total}


def _stats(door: OnRecord, asked: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    wanted = {**_criteria(asked), **more}
    stats: dict[str, Any] = {}
    for field in ("dimension", "category", "status"):
        tallied = door.tally(field, limit=1_000, **wanted)
        counts: dict[str, int] = {}
        for group in tallied.groups:
            value = shown_status(group.value) if field == "status" else group.value or ""  # type: ignore[arg-type]
            counts[value] = counts.get(value, 0) + group.memories
        stats[f"by_{field}"] = counts
    return stats | {"total": tallied.total}


@in_its_words()
def _list_records(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    asked = read_query(request, _LISTED_BY_ADMIN)
    cut, page_fields = page_of(asked)
    return JSONResponse(_page(door, asked, cut) | page_fields)


@in_its_words()
def _record_stats(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    return JSONResponse(_stats(door, read_query(request, _FILTERS)))


def _get_record(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    try:
        found = door.show(request.path_params["id"], background=True)
    except (Invalid, NotFound):
        raise NotFound("record not found") from None
    assert found.background is not None
    return JSONResponse(record_of(found.memory, found.background))


def _put_record(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    given = read_fields(request, body, _CHANGED)
    id = request.path_params["id"]
    if not _record(door, id).is_live:
        raise Conflict("cannot update an archived record")
    return _done(update(door, id, **given))


def _delete_record(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    id = request.path_params["id"]
    _record(door, id)
    return _done(forget(door, id))


def _record(door: OnRecord, id: str) -> Any:
    try:
        return own_memory(door, id, "update")
    except NotFound:
        raise NotFound("record not found") from None


def _done(answer: Mapping[str, Any]) -> Response:
    return JSONResponse({"status": "pending" if "proposal_id" in answer else "ok"})


@in_its_words()
def _my_records(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _LISTED_BY_OWNER)
    cut, page_fields = cut_of(asked)
    return JSONResponse(_page(door, asked, cut, owners=[door.caller.user]) | page_fields)


@in_its_words()
def _my_stats(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(_stats(door, read_query(request, _OWN_FILTERS), owners=[door.caller.user]))


@in_its_words()
def _search_mine(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _SEARCHED)
    words = asked.get("q", "").strip()
    if not words:
        raise invalid("q", "query parameter 'q' is required")
    size = clamped(asked.get("limit"), LISTED, MOST_LISTED)
    found = door.recall(
        words,
        recipe=RECIPE,
        limit=size,
        only_owners=[door.caller.user],
        only_dimensions=[asked["dimension"]] if "dimension" in asked else [],
        statuses=statuses_of(asked.get("status", "active")),
        **AS_IT_IS,
    )
    data = [
        record_of(hit.memory, background) | {"score": hit.score}
        for hit, background in zip(found.hits, found.background, strict=True)
    ]
    return JSONResponse({"data": data, "total": len(data), "limit": size, "offset": 0})


_OWN_FILTERS: Final = (
    *map(choice, ("dimension", "category", "status")),
    Parameter("source", "Only from this source."),
)
_FILTERS: Final = (
    Parameter("persona", "Only of this persona."),
    *_OWN_FILTERS,
    Parameter("entity_urn", "Only about this entity."),
    Parameter("created_by", "Only of this user, by email."),
    SINCE,
    UNTIL,
)
_LISTED_BY_ADMIN: Final = (*_FILTERS, *PAGED)
_LISTED_BY_OWNER: Final = (*_OWN_FILTERS, *CUT)
_SEARCHED: Final = (
    Parameter("q", "The question, in plain words."),
    choice("dimension"),
    choice("status"),
    how_many("limit"),
)
_ID: Final = Parameter("id", "The id of a record.")


_CHANGED: Final = Object(
    "a change of a record",
    {**dict.fromkeys(("content", "category", "confidence", "dimension"), Text()), "metadata": Json()},
)
_RECORD: Final = schema_named("DataPlatformRecord")
_RECORDS: Final = {"data": {"type": "array", "items": _RECORD}, "total": COUNT}
_STATS: Final = object_schema(
    {**dict.fromkeys(("by_dimension", "by_category", "by_status"), COUNTS), "total": COUNT}
)
HTTP: Final = FaceHttp(
    face="data_platform",
    refuse=refused,
    error=object_schema({"type": TEXT, "title": TEXT, "status": COUNT, "detail": TEXT}),
    schemas={
        "DataPlatformRecord": RECORD,
        "DataPlatformInsight": INSIGHT,
        "DataPlatformChangeset": CHANGESET,
    },
    routes=(
        get_route(
            f"{ADMIN}/memory/records",
            "list_records",
            "For admins: the records of everyone, newest first.",
            _list_records,
            object_schema({**_RECORDS, **PAGE}),
            *_LISTED_BY_ADMIN,
        ),
        get_route(
            f"{ADMIN}/memory/records/stats",
            "record_stats",
            "For admins: how many records there are of each dimension, category and status.",
            _record_stats,
            _STATS,
            *_FILTERS,
        ),
        get_route(
            f"{ADMIN}/memory/records/{{id}}",
            "get_record",
            "For admins: one record, of whichever status.",
            _get_record,
            _RECORD,
            _ID,
        ),
        FaceRoute(
            method="PUT",
            path=f"{ADMIN}/memory/records/{{id}}",
            name="put_record",
            summary="For admins: change what is given of a record.",
            act=_put_record,
            parameters=(_ID,),
            body=closed_schema(_CHANGED),
            answers={200: RouteAnswer("It is changed, or its change waits for a person.", STATUS)},
            refusals={409: _ENDED},
        ),
        FaceRoute(
            method="DELETE",
            path=f"{ADMIN}/memory/records/{{id}}",
            name="delete_record",
            summary="For admins: archive a record.",
            act=_delete_record,
            parameters=(_ID,),
            answers={200: RouteAnswer("It is archived, or its end waits for a person.", STATUS)},
        ),
        get_route(
            f"{PORTAL}/memory/records",
            "my_records",
            "One's own records, newest first.",
            _my_records,
            object_schema({**_RECORDS, **PART}),
            *_LISTED_BY_OWNER,
        ),
        get_route(
            f"{PORTAL}/memory/records/stats",
            "my_record_stats",
            "How many of one's own records there are of each dimension, category and status.",
            _my_stats,
            _STATS,
            *_OWN_FILTERS,
        ),
        get_route(
            f"{PORTAL}/memory/records/search",
            "search_my_records",
            "One's own records about a question, best first, each with its score.",
            _search_mine,
            object_schema({**_RECORDS, **PART}),
            *_SEARCHED,
        ),
        *knowledge_routes.ROUTES,
        *index_routes.ROUTES,
    ),
)
