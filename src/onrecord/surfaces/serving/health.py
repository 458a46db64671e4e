"""IS it alive, is it ready, how is it doing? Operators see details; strangers only yes or no."""

import asyncio
import json
import time
from contextlib import suppress
from typing import Any, Final

from anyio import CapacityLimiter, move_on_after, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from onrecord import __version__
from onrecord.access.identity import is_from_here
from onrecord.errors import OnRecordError, Unauthenticated
from onrecord.surfaces.rest.problems import JSON
from onrecord.surfaces.rest.request_runner import RequestRunner
from onrecord.surfaces.serving.metrics import CONTENT_TYPE, Metrics

_LOOK_AGAIN_S: Final = 1.0
#: Whoever asks whether we are ready gives up after two seconds, and takes that for a no.
_ANSWERS_S: Final = 0.9


def routes(runner: RequestRunner, metrics: Metrics) -> list[BaseRoute]:
    health = _Health(runner, metrics)
    return [
        Route("/health/live", health.live, methods=["GET"]),
        Route("/health/ready", health.ready, methods=["GET"]),
        Route("/metrics", health.metrics, methods=["GET"]),
    ]


class _Health:
    def __init__(self, runner: RequestRunner, metrics: Metrics) -> None:
        self._runner, self._metrics = runner, metrics
        self._looked_at, self._is_ready = -_LOOK_AGAIN_S, False
        self._looking: asyncio.Future[bool] | None = None

    async def live(self, request: Request) -> Response:
        """Whether this process answers; the store is not asked."""
        return _response(200, {"status": "live"})

    async def ready(self, request: Request) -> Response:
        """Whether the store answers; details are for callers with the permission."""
        ready = await self._is_ready_soon()
        state: dict[str, Any] = {"status": "ready" if ready else "unavailable"}
        if ready and "authorization" in request.headers and await self._is_admin_soon(request):
            state |= {"version": __version__, "location": self._runner.store.location}
        return _response(200 if ready else 503, state)

    async def metrics(self, request: Request) -> Response:
        """The metrics; from other machines they need the admin permission."""
        peer = request.client.host if request.client else None
        if not is_from_here(request.headers.__contains__, peer, unknown=False):
            await self._runner.call(request, lambda door: door.caller.require("memory.admin"))
        body = await self._runner.run(self._metrics.exposition)
        return Response(body, media_type=CONTENT_TYPE)

    async def _is_ready_soon(self) -> bool:
        """Check the store for a short time; while one check hangs, no other is started, and the answer is no."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(
                to_thread.run_sync(self._look, limiter=CapacityLimiter(1), abandon_on_cancel=True)
            )
        done, _ = await asyncio.wait({self._looking}, timeout=_ANSWERS_S)
        return bool(done) and self._looking.result()

    async def _is_admin_soon(self, request: Request) -> bool:
        with move_on_after(_ANSWERS_S), suppress(Unauthenticated):
            return (await self._runner.authenticate(request)).caller.is_admin
        return False

    def _look(self) -> bool:
        now = time.monotonic()
        # Strangers may ask as often as they like: the store is not asked each time.
        if now - self._looked_at >= _LOOK_AGAIN_S:
            self._looked_at = now
            try:
                with self._runner.store.reading(self._runner.door.caller, self._runner.clock()) as reading:
                    self._is_ready = reading.size >= 0
            except OnRecordError:
                self._is_ready = False
        return self._is_ready


def _response(status: int, state: dict[str, Any]) -> Response:
    return Response(json.dumps(state), status, media_type=JSON)
