"""HOW do programs of the data platform look after vectors? What makes them, how many records have theirs, which jobs wait or
have failed, and how they are made anew.
"""

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from onrecord.errors import Conflict, Invalid, NotFound
from onrecord.faces.data_platform.route_parts import ADMIN, COUNT, read_fields, read_query
from onrecord.model.rules import Text
from onrecord.model.schema import closed_schema
from onrecord.model.shapes import Object
from onrecord.model.wire import write_instant
from onrecord.service import OnRecord
from onrecord.surfaces.rest.declared import TEXT, FaceRoute, Parameter, RouteAnswer, get_route, object_schema

#: The one kind of thing that is indexed here.
KIND: Final = "memory"
_STATES: Final = ("pending", "running", "succeeded", "failed")


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
        "kind": KIND,
        "verdict": "degraded" if is_degraded else "indexing" if is_behind else "healthy",
        "pending": tenant.waiting,
        "running": 0,
        "succeeded": indexed,
        "failed": tenant.failed,
        "unresolved_failures": tenant.failed,
        "coverage": {"indexed": indexed, "expected": expected, "expected_known": True},
    }


def _jobs(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _LISTED, {"status": _STATES})
    every = [] if asked.get("kind", KIND) != KIND else list(_rows(door))
    wanted = [each for each in every if asked.get("status") in (None, each["status"])]
    return JSONResponse({"jobs": wanted})


def _rows(door: OnRecord) -> list[dict[str, Any]]:
    """The jobs that wait or have failed, those of one reason together."""
    rows: list[dict[str, Any]] = []
    for tenant in _tenants(door):
        failing = [_failed(each) for each in tenant.failures]
        waiting = tenant.waiting - sum(each["items"] for each in failing if each["status"] == "pending")
        if waiting > 0:
            rows.append({"source_kind": KIND, "source_id": "embed", "status": "pending", "items": waiting})
        rows += failing
    return rows


def _tenants(door: OnRecord) -> list[Any]:
    return [each for each in door.status().tenants if each.collection == "memories"]


def _failed(group: Any) -> dict[str, Any]:
    fields = {
        "source_kind": KIND,
        "source_id": group.name,
        "status": "failed" if group.next_try is None else "pending",
        "items": group.jobs,
        "attempts": group.attempts,
        "last_error": group.error,
    }
    return fields | ({} if group.next_try is None else {"next_run_at": write_instant(group.next_try)})


def _failures(door: OnRecord, request: Request, body: bytes) -> Response:
    asked = read_query(request, _OF_KIND)
    failed = [
        {**_failed(group), "occurrences": group.jobs, "cure": group.cure}
        for tenant in _tenants(door)
        for group in tenant.failures
    ]
    return JSONResponse({"failures": failed if asked.get("kind", KIND) == KIND else []})


def _named(request: Request, body: bytes) -> dict[str, Any]:
    given = read_fields(request, body, _UNIT)
    if given["kind"] != KIND:
        raise NotFound(f"unknown kind {given['kind']!a}: there is {KIND}")
    return given


def _reindex(door: OnRecord, request: Request, body: bytes) -> Response:
    _named(request, body)
    try:
        done = door.embed_missing()
    except Invalid as problem:
        raise Conflict(f"index jobs are not available: {problem}") from None
    answer = {"status": "failed" if done.failures else "done", "kind": KIND, "embedded": done.embedded}
    return JSONResponse(answer, 202)


def _dismiss(door: OnRecord, request: Request, body: bytes) -> Response:
    given = _named(request, body)
    done = door.dismiss_failures(name=given.get("source_id") or None)
    return JSONResponse({"status": "resolved", "resolved": done.jobs})


_PROVIDER: Final = object_schema({"kind": TEXT, "model": TEXT, "dimension": COUNT, "status": TEXT})
_OF_KIND: Final = (Parameter("kind", f"Only of this kind; there is {KIND}."),)
_LISTED: Final = (*_OF_KIND, Parameter("status", f"Only in this state: {', '.join(_STATES)}."))
_UNIT: Final = Object(
    "a kind of what is indexed", {"kind": Text(at_least=1), "source_id": Text()}, needed=("kind",)
)
_ROWS: Final = {"type": "array", "items": {"type": "object"}}


def _post(path: str, name: str, summary: str, act: Any, answers: Mapping[int, RouteAnswer]) -> FaceRoute:
    return FaceRoute(
        method="POST",
        path=path,
        name=name,
        summary=summary,
        act=act,
        body=closed_schema(_UNIT),
        answers=answers,
        # Vectors are made and jobs forgotten tenant by tenant, and to do it again does no harm.
        is_one_write=False,
    )


ROUTES: Final = (
    get_route(
        f"{ADMIN}/embedding/status",
        "embedding_status",
        "For admins: what makes vectors here, if anything does.",
        _embedding_status,
        _PROVIDER,
    ),
    get_route(
        f"{ADMIN}/index-jobs",
        "index_jobs",
        "For admins: how many records have their vectors, and how many jobs wait or have failed.",
        _index_jobs,
        object_schema({"provider": _PROVIDER, "kinds": _ROWS}),
    ),
    get_route(
        f"{ADMIN}/index-jobs/jobs",
        "list_index_jobs",
        "For admins: the jobs that wait or have failed, those of one reason together.",
        _jobs,
        object_schema({"jobs": _ROWS}),
        *_LISTED,
    ),
    get_route(
        f"{ADMIN}/index-jobs/failures",
        "list_index_failures",
        "For admins: why jobs have failed, how often, and what helps.",
        _failures,
        object_schema({"failures": _ROWS}),
        *_OF_KIND,
    ),
    _post(
        f"{ADMIN}/index-jobs/reindex",
        "reindex",
        "For admins: make the vectors that are missing, failed ones too.",
        _reindex,
        {
            202: RouteAnswer(
                "They are made.", object_schema({"status": TEXT, "kind": TEXT, "embedded": COUNT})
            )
        },
    ),
    _post(
        f"{ADMIN}/index-jobs/dismiss",
        "dismiss_failures",
        "For admins: forget jobs that were given up.",
        _dismiss,
        {200: RouteAnswer("They are forgotten.", object_schema({"status": TEXT, "resolved": COUNT}))},
    ),
)
