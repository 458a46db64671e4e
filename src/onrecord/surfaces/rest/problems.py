"""WHAT went wrong, in the words of HTTP? Every error leaves in one shape: problem details (RFC 9457)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from onrecord.access.resource_metadata import challenge
from onrecord.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    OnRecordError,
    OutcomeUnknown,
    ProviderError,
    StoreUnavailable,
    TooMany,
    Unauthenticated,
    VersionConflict,
)

PROBLEM: Final = "application/problem+json"
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A kind of problem: its status, its name in `type`, and its title."""

    status: int
    name: str
    title: str


class Refusal(OnRecordError):
    """What is wrong with a message before any field of it is read."""

    def __init__(self, kind: ProblemType, detail: str, headers: Mapping[str, str] | None = None) -> None:
        self.kind, self.headers = kind, headers or {}
        super().__init__(detail)


UNREADABLE: Final = ProblemType(400, "unreadable", "The body cannot be read")
MISDIRECTED: Final = ProblemType(421, "misdirected", "This server does not answer for that host")
BAD_HOST: Final = ProblemType(400, "bad-host", "The request names no host")
FOREIGN_ORIGIN: Final = ProblemType(403, "foreign-origin", "Requests from that origin are not allowed")
NO_ROUTE: Final = ProblemType(404, "not-found", "Not found")
NO_METHOD: Final = ProblemType(405, "method-not-allowed", "Method not allowed")
TOO_LARGE: Final = ProblemType(413, "too-large", "The body is too large")
WRONG_TYPE: Final = ProblemType(415, "unsupported-media-type", "The media type of the body is not supported")
PRECONDITION: Final = ProblemType(412, "precondition-failed", "The memory is no longer at that version")
INTERNAL: Final = ProblemType(500, "internal", "Internal error")

#: The first that matches counts.
KINDS: Final[tuple[tuple[type[OnRecordError], ProblemType], ...]] = (
    (Invalid, ProblemType(422, "invalid", "The request is invalid")),
    (NotFound, NO_ROUTE),
    (Forbidden, ProblemType(403, "forbidden", "The caller may not do that")),
    (Unauthenticated, ProblemType(401, "unauthenticated", "No valid API key or token was sent")),
    (TooMany, ProblemType(429, "too-many-requests", "Too many requests")),
    (VersionConflict, ProblemType(409, "version-conflict", "Someone else changed it first")),
    (Conflict, ProblemType(409, "conflict", "The request conflicts with what is stored")),
    (
        OutcomeUnknown,
        ProblemType(503, "outcome-unknown", "It is unknown whether the request was carried out"),
    ),
    (StoreUnavailable, ProblemType(503, "unavailable", "The store cannot be used right now")),
    (ProviderError, ProblemType(502, "provider-failed", "A service that this server calls failed")),
)
# Remote callers do not learn where our data lies.
_GUARDED: Final = {
    "outcome-unknown": "There was no answer in time, or the connection to the store broke during a commit. It is unknown whether the "
    "change was kept: look before you repeat it, or send it again with the same Idempotency-Key.",
    "unavailable": "The store cannot be used right now; nothing was changed. Try again in a moment.",
    "internal": "Something went wrong on the server. Its operator finds the reason in the log, under this request id.",
}


def problem(error: Exception, request: str, *, conditional: bool = False) -> Response:
    """The response to a failed request; `conditional` if it named the version it wanted."""
    kind = PRECONDITION if conditional and isinstance(error, VersionConflict) else kind_of(error)
    details: dict[str, Any] = {
        "type": f"urn:onrecord:{kind.name}",
        "title": kind.title,
        "status": kind.status,
        "detail": detail_of(error),
        "request": request,
    }
    if isinstance(error, Invalid):
        details["faults"] = [{"field": fault.field, "message": fault.message} for fault in error.faults]
    if isinstance(error, VersionConflict):
        details |= {"memory": error.memory, "expected": error.expected, "actual": error.actual}
    body = json.dumps(details, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(body, kind.status, headers_of(error), PROBLEM)


def kind_of(error: Exception) -> ProblemType:
    if isinstance(error, Refusal):
        return error.kind
    return next((kind for known, kind in KINDS if isinstance(error, known)), INTERNAL)


def detail_of(error: Exception) -> str:
    """The part of an error that the caller may know."""
    return _GUARDED.get(kind_of(error).name) or str(error)


def headers_of(error: Exception) -> Mapping[str, str]:
    if isinstance(error, Refusal):
        return error.headers
    if isinstance(error, Unauthenticated):
        return {"www-authenticate": challenge()}
    if isinstance(error, TooMany):
        return {"retry-after": str(error.retry_after)}
    return {"retry-after": "1"} if isinstance(error, StoreUnavailable) else {}
