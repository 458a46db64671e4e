"""HOW does an agent's host start us? `onrecord mcp`: the Model Context Protocol over standard input and output."""

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.errors import invalid
from onrecord.faces import USUAL, WITH_TOOLS
from onrecord.surfaces.cli.commands import (
    COMMON,
    IN_CONVERSATION,
    client_needed,
    common_options,
    config_of,
    opened_door,
    refuse_names,
)
from onrecord.surfaces.cli.faces import FACE, endpoint, names_in

if TYPE_CHECKING:
    from onrecord.config import Config
    from onrecord.model.caller import Caller
    from onrecord.surfaces.mcp.tool_request import ToolRequest
    from onrecord.surfaces.mcp.tools import Tool

#: An agent's first questions are answered before missing vectors are made.
_FIRST_ANSWERS_S: Final = 2.0

_HELP = """Serve this store to an agent over standard input and output, in the Model Context Protocol.

An agent's host starts this command itself; it ends when the host closes the stream. With --url the store is a server's,
and every message goes on to it: so hosts that start only local programs use a team's store.
"""


def mcp_command() -> click.Command:
    return click.Command(
        "mcp",
        params=[
            FACE,
            click.Option(
                ["--run"],
                help="No person looks on: the name of this run, which may save little and erase nothing.",
            ),
            IN_CONVERSATION,
            *COMMON,
        ],
        help=_HELP,
        short_help="Serve an agent on this machine (MCP over stdio)",
        callback=click.pass_context(_run),
    )


def tools_of(faces: Sequence[str]) -> "Mapping[str, Tool]":
    """The tools of these faces, or of the usual one; Invalid for an unknown face, or if the MCP library is missing."""
    with _mcp_needed():
        from onrecord.surfaces.mcp.faces import chosen

        return chosen(faces or [USUAL])


@contextmanager
def _mcp_needed() -> Iterator[None]:
    """Turn a missing MCP library into Invalid, which names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as problem:
        if problem.name not in ("mcp", "mcp_types"):
            raise
        reason = "needs one more package: pip install 'onrecord[server]'"
        raise invalid("mcp", reason) from None


def agent_of(owner: "Caller", run: str | None = None) -> "Caller":
    """The agent as a caller of its own: it may do less than the person at this machine."""
    return replace(owner, actor="agent" if run is None else "unattended", run=run, operator=False)


def _run(context: click.Context, faces: tuple[str, ...], run: str | None, **given: Any) -> None:
    common = common_options(context, given)
    names = names_in(faces) or [USUAL]
    if names != [USUAL]:
        # Unknown faces are reported before a store is opened or made.
        tools_of(names)
    with _mcp_needed():
        from onrecord.surfaces.mcp.stdio import serve_stdio
    config = config_of(common)
    # Standard output belongs to the protocol.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    if config.url is not None:
        refuse_names(common)
        _bridge(config, run, names_in(faces))
        return
    if all(_is_kept_elsewhere(name, config) for name in names):
        common["db"] = ":memory:"

    with ExitStack() as at_end:

        @cache
        def opened() -> "ToolRequest":
            # Here, not above: the greeting is answered before the store and the tools are loaded.
            from onrecord.app import policy_of
            from onrecord.config import read_choice, read_origin
            from onrecord.surfaces.background_worker import background_worker
            from onrecord.surfaces.mcp.faces import OpenedFaces, chosen
            from onrecord.surfaces.mcp.tool_request import ToolRequest

            owner = at_end.enter_context(opened_door(common, create=True))
            if read_choice("worker", config.worker):
                at_end.enter_context(background_worker(owner, gently=True, after_s=_FIRST_ANSWERS_S))
            door = owner.as_caller(agent_of(owner.caller, run), policy_of(config))
            tools = chosen(names, OpenedFaces(config, owner))
            return ToolRequest(
                door, tools, pages=config.public_url and read_origin("public_url", config.public_url)
            )

        if any(WITH_TOOLS[name].opening is not None for name in names):
            # Faults of its settings are reported at once, too.
            opened()
        serve_stdio(opened)


def _bridge(config: "Config", run: str | None, faces: Sequence[str]) -> None:
    assert config.url is not None
    with client_needed():
        from onrecord.client.address import credentials, narrowing, read_address
    from onrecord.surfaces.mcp.bridge import serve_bridge

    headers: dict[str, str | bytes] = {**credentials(config.key), **narrowing(config.conversation, run)}
    serve_bridge(endpoint(read_address(config.url), faces), headers)


def _is_kept_elsewhere(name: str, config: "Config") -> bool:
    face = WITH_TOOLS[name]
    return face.opening is not None and bool(face.load("opening").is_kept_elsewhere(config))
