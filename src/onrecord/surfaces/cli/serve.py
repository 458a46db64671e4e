"""HOW is a server started from a shell? `onrecord serve` runs until it is stopped; without keys, only for this
machine.
"""

import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.config import Config, as_environment, read_number, read_several
from onrecord.errors import OnRecordError, StoreUnavailable, invalid
from onrecord.surfaces.cli.commands import COMMON, common_options, config_of
from onrecord.surfaces.cli.faces import FACE, names_in

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from onrecord.app import ServerParts

_HELP: Final = """Serve the store: pages at /, REST at /v1, MCP at /mcp, /health, /metrics and /openapi.json.

It listens on this machine alone unless you set another host, and elsewhere only once there is a key (onrecord keys create)
or an issuer of tokens (ONRECORD_OIDC_ISSUER). Stopped, it finishes what it has begun.
"""
_APPLICATION: Final = "onrecord.surfaces.serving:from_environment"
_BACKLOG: Final = 2048
_MOST_WORKERS: Final = 64


def serve_command() -> click.Command:
    return click.Command(
        "serve",
        params=[
            click.Option(["--host"], help="Where to listen; else ONRECORD_HOST, else 127.0.0.1."),
            click.Option(
                ["--port"], help="On which port; 0 takes a free one. Else ONRECORD_PORT, else 8321."
            ),
            click.Option(
                ["--workers"],
                type=click.IntRange(1, _MOST_WORKERS),
                default=1,
                show_default=True,
                help="How many processes.",
            ),
            click.Option(["--no-worker"], is_flag=True, help="Leave what is put off to `onrecord work`."),
            FACE,
            click.Option(
                ["--ingest-on-startup"],
                is_flag=True,
                help="Let the catalog learn from the configured sources first.",
            ),
            *COMMON,
        ],
        help=_HELP,
        short_help="Serve the store to agents and programs",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, workers: int, ingest_on_startup: bool, **given: Any) -> None:
    require_packages()
    from onrecord.app import open_server_parts
    from onrecord.surfaces.serving import application
    from onrecord.surfaces.serving.connections import server_settings
    from onrecord.surfaces.serving.workers import Workers

    config = _config(context, given)
    if workers > 1 and config.db == ":memory:":
        raise invalid("workers", "only one process can use a store in memory; name a file, or leave it at 1")
    parts = open_server_parts(config)
    try:
        _refuse_open_doors(config, parts)
        if ingest_on_startup:
            _ingest(config, parts)
        # Made here even if other processes make their own, so that wrong settings are reported before anyone listens.
        app, settings = application(config, parts), server_settings(config)
        listening = listen(config)
    except BaseException:
        parts.close()
        raise
    announcement = _announcement(parts, listening)
    with listening:
        if workers == 1:
            announce(announcement)
            serve(app, settings, listening)
        else:
            parts.close()
            with _shared_by_all(config):
                several = Workers(_APPLICATION, settings, listening, workers)
                with _stoppable(several.stop):
                    several.run(ready=lambda: announce(announcement))


def require_packages(*modules: str) -> None:
    """StoreUnavailable unless what these modules need is installed; by default, those of a server."""
    try:
        for module in modules or ("onrecord.surfaces.serving.workers", "onrecord.surfaces.serving"):
            import_module(module)
    except ModuleNotFoundError as missing:
        raise StoreUnavailable(
            f"This needs more packages ({missing.name} is missing): pip install 'onrecord[server]'."
        ) from None


def serve(app: "ASGIApp", settings: dict[str, Any], listening: socket.socket) -> None:
    """Answer until a signal ends us."""
    import uvicorn

    from onrecord.surfaces.serving.ending import EndingServer

    with _stoppable(lambda *_: None):
        EndingServer(uvicorn.Config(app, **settings)).run(sockets=[listening])


@contextmanager
def _shared_by_all(config: Config) -> Iterator[None]:
    """What other processes get through the environment: the configuration, and where they count together."""
    with tempfile.TemporaryDirectory(prefix="onrecord-together-") as together:
        figures = Path(together, "figures")
        figures.mkdir()
        shared = {
            "PROMETHEUS_MULTIPROC_DIR": str(figures),
            "ONRECORD_RATES_FILE": str(Path(together, "rates.db")),
        }
        os.environ.pop("ONRECORD_URL", None)
        os.environ.update(shared | as_environment(config))
        yield


def _config(context: click.Context, given: dict[str, Any]) -> Config:
    return config_of(
        common_options(context, given),
        host=given["host"],
        port=given["port"],
        faces=",".join(names_in(given["faces"])) or None,
        worker="no" if given["no_worker"] else None,
    )


def _refuse_open_doors(config: Config, parts: "ServerParts") -> None:
    """Refuse to listen for other machines while no key is needed."""
    from onrecord.access.keys import has_keys
    from onrecord.app import is_loopback

    if is_loopback(config.host) or config.oidc_issuer or has_keys(parts.store):
        return
    raise invalid(
        "host",
        f"{config.host} can be reached from other machines, and no key protects this store. Make one first with "
        "`onrecord keys create`, set ONRECORD_OIDC_ISSUER, or listen on 127.0.0.1",
    )


def _ingest(config: Config, parts: "ServerParts") -> None:
    sources = read_several(config.sources)
    if not sources:
        raise invalid(
            "sources", "none are set; name them in ONRECORD_SOURCES, or leave out --ingest-on-startup"
        )
    for source in sources:
        try:
            ingested = parts.door.ingest(source)
        except OnRecordError as problem:
            raise StoreUnavailable(f"The source {source} could not be read: {problem}") from problem
        added = ingested.added.models
        click.echo(f"Learned from {source}: {added} new {'model' if added == 1 else 'models'}.", err=True)


def listen(config: Config) -> socket.socket:
    """A socket where the configuration wants it; StoreUnavailable if that is taken."""
    port = read_number("port", config.port, 0, 65_535)
    host = config.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise StoreUnavailable(
            f"Cannot listen on {config.host} port {port}: {reason}. Choose another --port."
        ) from None


def _announcement(parts: "ServerParts", listening: socket.socket) -> str:
    where = address_of(listening)
    return f"Listening on {where} (REST at /v1, MCP at /mcp); the store is {parts.door.location}."


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    where = f"[{host}]" if ":" in host else host
    return f"http://{where}:{port}"


def announce(announcement: str) -> None:
    click.echo(announcement)
    sys.stdout.flush()


@contextmanager
def _stoppable(on_signal: Callable[..., None]) -> Iterator[None]:
    """The server ends itself on a signal; the same signal must not end us a second time."""
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
