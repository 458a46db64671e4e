"""HOW is a server put together? One application: REST, MCP, health and metrics behind one guard and one log."""

import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from starlette.requests import Request
from starlette.routing import Match, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from onrecord.app import ServerParts, is_loopback, open_server_parts
from onrecord.config import Config, load, read_choice, read_origin, read_several
from onrecord.surfaces import rest, web
from onrecord.surfaces.background_worker import background_worker
from onrecord.surfaces.mcp.faces import OpenedFaces
from onrecord.surfaces.mcp.http import CHECKED_BEFORE, mcp_app
from onrecord.surfaces.recent_requests import RecentRequests
from onrecord.surfaces.rest import declared, openapi
from onrecord.surfaces.rest.problems import NO_ROUTE, Refusal
from onrecord.surfaces.rest.request_runner import COMPUTING_THREADS, THREADS, RequestRunner
from onrecord.surfaces.serving import health
from onrecord.surfaces.serving.access_log import AccessLog, Log, LogHandler, json_log
from onrecord.surfaces.serving.connections import request_timeout
from onrecord.surfaces.serving.host_guard import LOOPBACK, HostGuard
from onrecord.surfaces.serving.metrics import Metrics
from onrecord.surfaces.web.sign_in import ComingIn

#: The loggers whose messages go into our log.
_SPEAKERS: Final = ("onrecord", "uvicorn")
#: How long a thread keeps the interpreter while others want it: the loop that reads and sends must not wait long.
_SWITCH_S: Final = 0.000_5


def from_environment() -> ASGIApp:
    """The application by its configuration, for those who start it by its name, such as `--workers`."""
    config = load()
    return application(config, open_server_parts(config))


def application(config: Config, parts: ServerParts, *, log: Log | None = None) -> ASGIApp:
    """The whole server. It closes its parts when it ends."""
    log = log or json_log()
    readers = THREADS if _waits_for_others(config) else COMPUTING_THREADS
    runner = RequestRunner(
        parts.door,
        parts.store,
        parts.authenticator,
        parts.throttle,
        readers=readers,
        within_s=request_timeout(config),
    )
    metrics, recent = Metrics(), RecentRequests()
    metrics.watch_advisor(parts.door.advisor)
    coming = ComingIn(
        public_url=None if config.public_url is None else read_origin("public_url", config.public_url),
        code_flow=parts.code_flow,
        embed_origins=[read_origin("embed_origins", each) for each in read_several(config.embed_origins)],
    )
    faces = OpenedFaces(config, parts.door)
    mcp = mcp_app(
        runner,
        faces,
        speaks=read_several(config.faces),
        issuer=config.oidc_issuer,
        security=CHECKED_BEFORE,
        pages=coming.address,
    )
    pages = web.routes(runner, coming, faces, recent, config)
    router = Router(
        [
            *rest.routes(runner),
            *openapi.routes(),
            *health.routes(runner, metrics),
            *mcp.router.routes,
            *(route for http in declared.of_faces() for route in http.open(runner)),
            *pages,
        ],
        redirect_slashes=False,
        default=_nothing_here,
        lifespan=_lifespan(config, parts, log, [lambda: mcp.router.lifespan_context(mcp)]),
    )
    here = (*LOOPBACK, config.host) if is_loopback(config.host) else None
    hosts = read_several(config.allowed_hosts) or here
    guarded = HostGuard(
        router,
        hosts=hosts,
        origins=read_several(config.allowed_origins),
        is_linked=lambda scope: any(each.matches(scope)[0] is Match.FULL for each in pages),
    )
    return AccessLog(guarded, metrics, log, recent)


def _waits_for_others(config: Config) -> bool:
    """Whether answers depend on a database, a model or an identity service elsewhere."""
    keys = config.oidc_jwks or config.oidc_issuer or ""
    return (
        config.db.startswith("postgres")
        or config.embedder.startswith(("openai:", "ollama:"))
        or config.advisor != "none"
        or any(each.startswith(("http:", "https:")) for each in (keys, config.grants or ""))
    )


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})
        return
    web.show_to_browsers(Request(scope))
    raise Refusal(NO_ROUTE, "There is nothing at this address. See /openapi.json for what there is.")


def _lifespan(
    config: Config, parts: ServerParts, log: Log, inner: list[Callable[[], Any]]
) -> Callable[[Any], Any]:
    """From start to end: run the worker, and close the store at the end."""
    works = read_choice("worker", config.worker)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        handler = LogHandler(log)
        for name in _SPEAKERS:
            logging.getLogger(name).addHandler(handler)
        try:
            async with AsyncExitStack() as stack:
                for each in inner:
                    await stack.enter_async_context(each())
                if works:
                    stack.enter_context(background_worker(parts.door))
                yield
        finally:
            sys.setswitchinterval(interval)
            parts.close()
            for name in _SPEAKERS:
                logging.getLogger(name).removeHandler(handler)

    return lifespan
