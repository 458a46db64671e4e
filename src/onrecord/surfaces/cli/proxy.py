"""HOW is the proxy started? `onrecord proxy -- COMMAND…` in the place of the command, or `--url` in the place of the address."""

import logging
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import click

from onrecord.errors import invalid
from onrecord.model import limits
from onrecord.surfaces.cli.commands import (
    COMMON,
    IN_CONVERSATION,
    common_options,
    config_of,
    opened_door,
    reached_door,
)
from onrecord.surfaces.cli.mcp import agent_of
from onrecord.surfaces.cli.serve import address_of, announce, listen, require_packages, serve

if TYPE_CHECKING:
    from onrecord.config import Config
    from onrecord.doors import Door
    from onrecord.surfaces.proxy.relay import Relay

_HELP: Final = """Stand in front of any MCP server, and add what is known to the answers of its tools.

\b
  onrecord proxy -- COMMAND…     in the place of the command that a host starts
  onrecord proxy --url ADDRESS   on a port of this machine, for a server over HTTP

Every message passes as it came. The result of a tool call gets one text more if this store knows something about what
it mentions, within the deadline. What the server says of its tools is kept, and a change is reported.
"""
_LONGEST_DEADLINE_MS: Final = 60_000


def proxy_command() -> click.Command:
    return click.Command(
        "proxy",
        params=[
            click.Argument(["command"], nargs=-1, type=click.UNPROCESSED),
            click.Option(["--url"], help="The address of a server over HTTP, in the place of a command."),
            click.Option(["--port"], help="With --url: on which port; a free one when left out."),
            click.Option(
                ["--skip"], multiple=True, help="A tool whose answers are left as they are. May be repeated."
            ),
            click.Option(
                ["--limit"],
                type=click.IntRange(1, limits.ATTACHED),
                default=5,
                show_default=True,
                help="How many memories an answer gets at most.",
            ),
            click.Option(
                ["--max-tokens"],
                type=click.IntRange(1, 1_000_000),
                default=600,
                show_default=True,
                help="How many tokens the text may cost to read.",
            ),
            click.Option(
                ["--deadline"],
                type=click.IntRange(1, _LONGEST_DEADLINE_MS),
                default=200,
                show_default=True,
                help="After so many milliseconds an answer passes without.",
            ),
            click.Option(
                ["--learn"],
                is_flag=True,
                help="Propose what is learned when a call fails and nearly the same one then works; a person reviews it.",
            ),
            click.Option(
                ["--accept-tools"], is_flag=True, help="Trust what the server now says of its tools."
            ),
            IN_CONVERSATION,
            # Here --url names the server behind.
            *(option for option in COMMON if option.name != "url"),
        ],
        help=_HELP,
        short_help="Add what is known to the answers of another MCP server",
        callback=click.pass_context(_run),
    )


def _run(
    context: click.Context, command: tuple[str, ...], url: str | None, port: str | None, **given: Any
) -> None:
    if bool(command) == (url is not None):
        raise invalid("COMMAND", "name either the command that starts the server, after --, or its --url")
    if url is not None and not _is_over_http(url):
        raise invalid("url", "is no address over HTTP, such as https://mcp.example.com/mcp")
    if command and port is not None:
        raise invalid("port", "goes with --url; what a host starts is reached over standard input and output")
    require_packages(f"onrecord.surfaces.proxy.{'over_stdio' if url is None else 'over_http'}")
    # Standard output belongs to the protocol.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="onrecord proxy: %(message)s")
    with ExitStack() as at_end:
        relay = _relay(context, given, url or " ".join(command), at_end)
        if url is None:
            from onrecord.surfaces.forced_exit import end_within
            from onrecord.surfaces.proxy.over_stdio import proxy_stdio
            from onrecord.surfaces.proxy.session import Session

            code = proxy_stdio(command, relay, Session(f"mcp-{uuid4().hex}"))
            # A store that hangs must not keep us.
            end_within(0)
            at_end.close()
            context.exit(code)
        _serve(config_of(common_options(context, given), host="127.0.0.1", port=port or "0"), url, relay)


def _is_over_http(url: str) -> bool:
    try:
        there = urlsplit(url)
        return there.scheme in ("http", "https") and bool(there.hostname) and there.port != 0
    except ValueError:
        return False


def _serve(config: "Config", url: str, relay: "Relay") -> None:
    import httpx2

    from onrecord.surfaces.forced_exit import shutdown_timeout
    from onrecord.surfaces.proxy.over_http import proxy_app

    settings = {
        "log_config": None,
        "log_level": "warning",
        "access_log": False,
        # The headers are those of the server behind.
        "server_header": False,
        "date_header": False,
        "ws": "none",
        "lifespan": "on",
        "timeout_graceful_shutdown": shutdown_timeout(config),
    }
    # An answer may take as long as the tool does.
    client = httpx2.AsyncClient(
        timeout=httpx2.Timeout(30, read=None),
        # Each session keeps a stream open, and none may wait for another's.
        limits=httpx2.Limits(max_connections=None),
        follow_redirects=False,
    )
    with listen(config) as listening:
        announce(f"The proxy is at {address_of(listening)}{urlsplit(url).path}; Ctrl-C ends it.")
        serve(proxy_app(url, relay, client), settings, listening)


def _relay(context: click.Context, given: dict[str, Any], server: str, at_end: ExitStack) -> "Relay":
    from onrecord.config import default_store
    from onrecord.surfaces.proxy.lessons import Lessons
    from onrecord.surfaces.proxy.pins import Pins
    from onrecord.surfaces.proxy.relay import Limits, OpeningDoor, Relay

    common = common_options(context, given)
    # Closed after what is still to be saved there.
    doors = at_end.enter_context(ExitStack())
    # Faults of the settings are reported before anything is started.
    config = config_of(common)

    def opened() -> "Door":
        from onrecord.app import policy_of

        if config.url is not None:
            # The key says who that is.
            return doors.enter_context(reached_door(common))
        owner = doors.enter_context(opened_door(common, create=given["learn"]))
        return owner.as_caller(agent_of(owner.caller), policy_of(config))

    limits_of = Limits(
        memories=given["limit"],
        max_tokens=given["max_tokens"],
        deadline_s=given["deadline"] / 1000,
        skip=frozenset(given["skip"]),
    )
    door = OpeningDoor(opened)
    lessons = Lessons() if given["learn"] else None
    if lessons is not None:
        at_end.callback(lessons.close)
    pins = Pins(default_store().parent / "tools", server, accepts=given["accept_tools"])
    return Relay(door, limits_of, pins=pins, lessons=lessons)
