"""WHO asked, with which result, and how long did it take? Around every request: its id, its log line, its metrics."""

import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.surfaces.recent_requests import RecentRequests
from onrecord.surfaces.rest.problems import NO_METHOD, NO_ROUTE, Refusal, problem
from onrecord.surfaces.rest.request_runner import RequestState
from onrecord.surfaces.serving.metrics import Metrics

_SANE: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
#: For whatever is no page; pages say what they load, and send their own address to their own forms.
_SECURITY: Final = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_GONE: Final = 499

Log = Callable[..., Any]


def json_log() -> Log:
    """One line of JSON for each request. It names the caller and the route, never the content: no text, no query, no
    key.
    """
    logger = structlog.wrap_logger(
        structlog.WriteLogger(sys.stderr),
        processors=[_timestamp, structlog.processors.JSONRenderer(serializer=json.dumps)],
    )
    log: Log = logger.info
    return log


class LogHandler(logging.Handler):
    """Writes other log messages as lines of the same log. Of an error only its kind: its message may contain text."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields = {"level": record.levelname.lower(), "from": record.name, "said": record.getMessage()}
        if record.exc_info and record.exc_info[0]:
            fields["error"] = record.exc_info[0].__name__
        self._log("note", **fields)


def _timestamp(logger: Any, name: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    return {"at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"), **event}


class AccessLog:
    """The outermost layer: every response has an id, and every error has our shape.

    Plain ASGI, since Starlette's middleware would buffer streams and could not see how they ended.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Log, recent: RecentRequests) -> None:
        self._app, self._metrics, self._log, self._recent = app, metrics, log, recent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        # If the scope has an application, Starlette raises errors instead of answering them in plain text.
        scope["app"] = self
        state = scope["onrecord.request"] = RequestState(given if _SANE.fullmatch(given) else uuid4().hex)
        started, status = time.perf_counter(), 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message, state)
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, send_on)
        except Exception as error:
            self._note(error, state)
            if status:
                # A part of the response is sent already, so the connection can only be closed.
                raise
            conditional = "if-match" in Headers(scope=scope)
            refusal = _refusal(error)
            response = (
                problem(refusal, state.request, conditional=conditional)
                if state.show_problem is None
                else state.show_problem(refusal)
            )
            await response(scope, receive, send_on)
        finally:
            self._metrics.in_flight.dec()
            self._tell(scope, state, status or _GONE, time.perf_counter() - started)

    def _tell(self, scope: Scope, state: RequestState, status: int, took_s: float) -> None:
        route = getattr(scope.get("route"), "path_format", None) or "unknown"
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.note(route, method, status, took_s)
        tenant, user = ("", "") if state.caller is None else (state.caller.tenant, state.caller.user)
        self._recent.note(route, method, status, took_s, tenant=tenant, user=user, request=state.request)
        fields = {"method": method, "route": route, "status": status, "ms": round(took_s * 1_000, 1)}
        fields["request"] = state.request
        if state.caller is not None:
            fields |= {"tenant": state.caller.tenant, "user": state.caller.user}
        self._log("request", **fields)

    def _note(self, error: Exception, state: RequestState) -> None:
        """Log an unexpected failure, without its message, which may contain what was sent."""
        if isinstance(error, StoreUnavailable):
            self._log("unavailable", request=state.request, reason=str(error))
        elif not isinstance(error, OnRecordError | HTTPException):
            frames = traceback.extract_tb(error.__traceback__)
            where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
            self._log("failed", request=state.request, error=type(error).__name__, where=where)


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _refusal(error: Exception) -> Exception:
    """An error of Starlette's own routing, in our shape."""
    if not isinstance(error, HTTPException) or error.status_code not in (404, 405):
        return error
    headers = error.headers or {}
    if error.status_code == 404:
        return Refusal(NO_ROUTE, "There is nothing at this address.", headers)
    return Refusal(NO_METHOD, f"Allowed here: {headers.get('Allow', 'other methods')}.", headers)


def _add_headers(message: Message, state: RequestState) -> None:
    headers = MutableHeaders(scope=message)
    headers.update({"x-request-id": state.request, "x-content-type-options": "nosniff"})
    for name, value in _SECURITY.items():
        headers.setdefault(name, value)
    if state.budget is not None:
        headers["ratelimit-limit"] = str(state.budget.limit)
        headers["ratelimit-remaining"] = str(state.budget.remaining)
        headers["ratelimit-reset"] = str(state.budget.reset)
