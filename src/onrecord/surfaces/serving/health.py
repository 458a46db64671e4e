"""IS it alive, is it ready, how is it doing? For those who run it; strangers learn yes or no and nothing more."""

import json
import time
from typing import Any, Final

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

    async def live(self, request: Request) -> Response:
        """That this process answers; the store is not asked."""
        return _told(200, {"status": "live"})

    async def ready(self, request: Request) -> Response:
        """Whether the store answers; where it is and what runs here is for those who may care for it."""
        ready = await self._runner.run(self._look)
        told: dict[str, Any] = {"status": "ready" if ready else "unavailable"}
        if "authorization" in request.headers and (await self._runner.run(self._is_admin, request)):
            told |= {"version": __version__, "location": self._runner.store.location}
        return _told(200 if ready else 503, told)

    async def metrics(self, request: Request) -> Response:
        """The figures; from elsewhere they take the permission of whoever cares for the store."""
        peer = request.client.host if request.client else None
        if not is_from_here(request.headers.__contains__, peer, unknown=False):
            await self._runner.call(request, lambda door: door.caller.require("memory.admin"))
        body = await self._runner.run(self._metrics.exposition)
        return Response(body, media_type=CONTENT_TYPE)

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

    def _is_admin(self, request: Request) -> bool:
        try:
            return self._runner.admit(request).caller.is_admin
        except Unauthenticated:
            return False


def _told(status: int, told: dict[str, Any]) -> Response:
    return Response(json.dumps(told), status, media_type=JSON)
