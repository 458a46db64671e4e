"""WHICH routes do programs of the data platform know? Those of an admin over all records, and those of a person over
their own; the face translates, the operations decide.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Conflict, Fault, Invalid, NotFound, OnRecordError
from onrecord.faces.data_platform.fields import (
    CHOICES,
    LISTED,
    MOST_LISTED,
    check_choices,
    clamped,
    in_its_words,
    refuse,
)
from onrecord.faces.data_platform.keeping import forget, own_memory, records_in, statuses_of, update
from onrecord.faces.data_platform.recalling import AS_IT_IS, RECIPE
from onrecord.faces.data_platform.records import RECORD, record_of, shown_status
from onrecord.model.limits import BROWSE_SKIP
from onrecord.model.limits import STATUSES as EVERY_STATUS
from onrecord.model.near_names import unknown_names
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import read_object
from onrecord.surfaces.rest.declared import TEXT, FaceHttp, FaceRoute, Parameter, RouteAnswer, schema_named
from onrecord.surfaces.rest.problems import detail_of, headers_of, kind_of

_ADMIN: Final = "/api/v1/admin"
_PORTAL: Final = "/api/v1/portal"
_KIND: Final = "memory"
_COUNT: Final = {"type": "integer"}
_COUNTS: Final = {"type": "object", "additionalProperties": _COUNT}
_ENDED: Final = "It is archived or superseded."
#: A fault of a request has this status on the platform, and another on our own routes.
_FAULTY: Final = 400
_NUMBERS: Final = frozenset({"page", "per_page", "limit", "offset"})


def _refuse(error: OnRecordError) -> Response:
    kind = kind_of(error)
    status = _FAULTY if isinstance(error, Invalid) else kind.status
    told = {"type": "about:blank", "title": kind.title, "status": status, "detail": detail_of(error)}
    return JSONResponse(told, status, headers_of(error))


def _read(request: Request, known: Sequence[Parameter]) -> dict[str, Any]:
    """The parameters in the address; Invalid lists those that are unknown, and numbers that are none."""
    names = [each.name for each in known]
    given = dict(request.query_params)
    faults = unknown_names(given, names, "is not known here", f"; there are {', '.join(names)}")
    for name in _NUMBERS & given.keys():
        if not (
            given[name].removeprefix("-").isdecimal() and given[name].isascii() and len(given[name]) < 10
        ):
            faults.append(Fault(name, f"must be a whole number (got {given[name]!a})"))
    if faults:
        raise Invalid(faults)
    refuse(check_choices({name: value for name, value in given.items() if name in CHOICES}))
    return {name: int(value) if name in _NUMBERS else value for name, value in given.items() if value}


def _criteria(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a list in our words; without a status, records of every status."""
    several = {
        "dimension": "dimensions",
        "category": "categories",
        "source": "sources",
        "entity_urn": "entities",
        "created_by": "owners",
    }
    one = {"persona": "persona", "since": "created_since", "until": "created_before"}
    wanted: dict[str, Any] = {ours: [asked[name]] for name, ours in several.items() if name in asked}
    wanted |= {ours: asked[name] for name, ours in one.items() if name in asked}
    return wanted | {"statuses": statuses_of(asked["status"]) if "status" in asked else EVERY_STATUS}


def _page(door: OnRecord, asked: Mapping[str, Any], limit: int, skip: int, **more: Any) -> dict[str, Any]:
    page = door.browse(
        **{**_criteria(asked), **more},
        order="created",
        limit=limit,
        skip=min(max(skip, 0), BROWSE_SKIP),
        count=True,
        background=True,
    )
    return {"data": records_in(page), "total": page.total}


def _stats(door: OnRecord, asked: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    wanted = {**_criteria(asked), **more}
    told: dict[str, Any] = {}
    for field in ("dimension", "category", "status"):
        tallied = door.tally(field, limit=1_000, **wanted)
        counts: dict[str, int] = {}
        for group in tallied.groups:
            value = shown_status(group.value) if field == "status" else group.value or ""  # type: ignore[arg-type]
            counts[value] = counts.get(value, 0) + group.memories
        told[f"by_{field}"] = counts
    return told | {"total": tallied.total}


@in_its_words()
def _list_records(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    asked = _read(request, _LISTED_BY_ADMIN)
    size, number = clamped(asked.get("per_page"), LISTED, MOST_LISTED), max(asked.get("page", 1), 1)
    return JSONResponse(_page(door, asked, size, size * (number - 1)) | {"page": number, "per_page": size})


@in_its_words()
def _record_stats(door: OnRecord, request: Request, body: bytes) -> Response:
    door.caller.require("memory.admin")
    return JSONResponse(_stats(door, _read(request, _FILTERS)))


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
    given = read_object(request.headers, body)
    known = _CHANGED["properties"]
    if faults := unknown_names(given, known, "is not a field here", f"; there are {', '.join(known)}"):
        raise Invalid(faults)
    faults = [
        Fault(name, f"must be {'an object' if name == 'metadata' else 'a text'}")
        for name, value in given.items()
        if value is not None and not isinstance(value, dict if name == "metadata" else str)
    ]
    if faults:
        raise Invalid(faults)
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


def _done(told: Mapping[str, Any]) -> Response:
    return JSONResponse({"status": "pending" if "proposal_id" in told else "ok"})


@in_its_words()
def _my_records(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = _read(request, _LISTED_BY_OWNER)
    size, skip = clamped(asked.get("limit"), LISTED, MOST_LISTED), max(asked.get("offset", 0), 0)
    mine = _page(door, asked, size, skip, owners=[door.caller.user])
    return JSONResponse(mine | {"limit": size, "offset": skip})


@in_its_words()
def _my_stats(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(_stats(door, _read(request, _OWN_FILTERS), owners=[door.caller.user]))


@in_its_words()
def _search_mine(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = _read(request, _SEARCHED)
    words = asked.get("q", "").strip()
    if not words:
        raise Invalid([Fault("q", "query parameter 'q' is required")])
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


def _embedding_status(door: OnRecord, request: Request, body: bytes) -> Response:
    return JSONResponse(_provider(door.status()))


def _provider(status: Any) -> dict[str, Any]:
    """What makes vectors here: unconfigured if nothing does, unavailable if it does not answer."""
    name = status.embedder or ""
    kind, _, model = name.partition(":") if ":" in name else ("built-in" if name else "noop", "", name)
    state = "ok" if name else "unavailable" if status.degraded else "unconfigured"
    return {"kind": kind, "model": model, "dimension": status.dimensions or 0, "status": state}


def _index_jobs(door: OnRecord, request: Request, body: bytes) -> Response:
    status = door.status()
    provider = _provider(status)
    mine = [each for each in status.tenants if each.collection == "memories"]
    kinds = [] if provider["status"] == "unconfigured" else [_summed(each, provider) for each in mine]
    return JSONResponse({"provider": provider, "kinds": kinds})


def _summed(tenant: Any, provider: Mapping[str, Any]) -> dict[str, Any]:
    """How far the vectors of the records are, of the model in use."""
    current = next((each for each in tenant.models if each.current), None)
    indexed, expected = (current.indexed, current.expected) if current else (0, tenant.memories)
    is_degraded = bool(tenant.failed) or provider["status"] != "ok"
    is_behind = bool(tenant.waiting) or indexed < expected
    return {
        "kind": _KIND,
        "verdict": "degraded" if is_degraded else "indexing" if is_behind else "healthy",
        "pending": tenant.waiting,
        "running": 0,
        "succeeded": indexed,
        "failed": tenant.failed,
        "unresolved_failures": tenant.failed,
        "coverage": {"indexed": indexed, "expected": expected, "expected_known": True},
    }


def _choice(name: str) -> Parameter:
    return Parameter(name, f"Only of this {name}: {', '.join(CHOICES[name])}.")


def _how_many(name: str, most: int) -> Parameter:
    return Parameter(name, f"How many at most, up to {most}.", {**_COUNT, "default": LISTED})


_OWN_FILTERS: Final = (
    *map(_choice, ("dimension", "category", "status")),
    Parameter("source", "Only from this source."),
)
_FILTERS: Final = (
    Parameter("persona", "Only of this persona."),
    *_OWN_FILTERS,
    Parameter("entity_urn", "Only about this entity."),
    Parameter("created_by", "Only of this user, by email."),
    Parameter("since", "Only written down at or after this time (RFC 3339)."),
    Parameter("until", "Only written down before this time (RFC 3339)."),
)
_LISTED_BY_ADMIN: Final = (
    *_FILTERS,
    Parameter("page", "Which page, from 1.", {**_COUNT, "default": 1}),
    _how_many("per_page", MOST_LISTED),
)
_LISTED_BY_OWNER: Final = (
    *_OWN_FILTERS,
    _how_many("limit", MOST_LISTED),
    Parameter("offset", "How many to leave out before them.", {**_COUNT, "default": 0}),
)
_SEARCHED: Final = (
    Parameter("q", "The question, in plain words."),
    _choice("dimension"),
    _choice("status"),
    _how_many("limit", MOST_LISTED),
)
_ID: Final = Parameter("id", "The id of a record.")


def _object(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    needed = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": needed}


_CHANGED: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("content", "category", "confidence", "dimension"), TEXT),
        "metadata": {"type": "object"},
    },
    "additionalProperties": False,
}
_RECORD: Final = schema_named("DataPlatformRecord")
_RECORDS: Final = {"data": {"type": "array", "items": _RECORD}, "total": _COUNT}
_STATS: Final = _object(
    {**dict.fromkeys(("by_dimension", "by_category", "by_status"), _COUNTS), "total": _COUNT}
)
_PAGED: Final = {"limit": _COUNT, "offset": _COUNT}
_PROVIDER: Final = _object({"kind": TEXT, "model": TEXT, "dimension": _COUNT, "status": TEXT})
_STATUS: Final = _object({"status": TEXT})


def _get(
    path: str, name: str, summary: str, act: Callable[..., Response], shape: Any, *parameters: Parameter
) -> FaceRoute:
    return FaceRoute(
        method="GET",
        path=path,
        name=name,
        summary=summary,
        act=act,
        parameters=parameters,
        answers={200: RouteAnswer(summary, shape)},
    )


HTTP: Final = FaceHttp(
    face="data_platform",
    refuse=_refuse,
    error=_object({"type": TEXT, "title": TEXT, "status": _COUNT, "detail": TEXT}),
    schemas={"DataPlatformRecord": RECORD},
    routes=(
        _get(
            f"{_ADMIN}/memory/records",
            "list_records",
            "For admins: the records of everyone, newest first.",
            _list_records,
            _object({**_RECORDS, "page": _COUNT, "per_page": _COUNT}),
            *_LISTED_BY_ADMIN,
        ),
        _get(
            f"{_ADMIN}/memory/records/stats",
            "record_stats",
            "For admins: how many records there are of each dimension, category and status.",
            _record_stats,
            _STATS,
            *_FILTERS,
        ),
        _get(
            f"{_ADMIN}/memory/records/{{id}}",
            "get_record",
            "For admins: one record, of whichever status.",
            _get_record,
            _RECORD,
            _ID,
        ),
        FaceRoute(
            method="PUT",
            path=f"{_ADMIN}/memory/records/{{id}}",
            name="put_record",
            summary="For admins: change what is given of a record.",
            act=_put_record,
            parameters=(_ID,),
            body=_CHANGED,
            answers={200: RouteAnswer("It is changed, or its change waits for a person.", _STATUS)},
            refusals={409: _ENDED},
        ),
        FaceRoute(
            method="DELETE",
            path=f"{_ADMIN}/memory/records/{{id}}",
            name="delete_record",
            summary="For admins: archive a record.",
            act=_delete_record,
            parameters=(_ID,),
            answers={200: RouteAnswer("It is archived, or its end waits for a person.", _STATUS)},
        ),
        _get(
            f"{_PORTAL}/memory/records",
            "my_records",
            "One's own records, newest first.",
            _my_records,
            _object({**_RECORDS, **_PAGED}),
            *_LISTED_BY_OWNER,
        ),
        _get(
            f"{_PORTAL}/memory/records/stats",
            "my_record_stats",
            "How many of one's own records there are of each dimension, category and status.",
            _my_stats,
            _STATS,
            *_OWN_FILTERS,
        ),
        _get(
            f"{_PORTAL}/memory/records/search",
            "search_my_records",
            "One's own records about a question, best first, each with its score.",
            _search_mine,
            _object({**_RECORDS, **_PAGED}),
            *_SEARCHED,
        ),
        _get(
            f"{_ADMIN}/embedding/status",
            "embedding_status",
            "For admins: what makes vectors here, if anything does.",
            _embedding_status,
            _PROVIDER,
        ),
        _get(
            f"{_ADMIN}/index-jobs",
            "index_jobs",
            "For admins: how many records have their vectors, and which jobs wait or have failed.",
            _index_jobs,
            _object({"provider": _PROVIDER, "kinds": {"type": "array", "items": {"type": "object"}}}),
        ),
    ),
)
