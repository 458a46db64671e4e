"""HOW does an agent's host start us? `recollect mcp`: the Model Context Protocol over standard input and output."""

import logging
import sys
from dataclasses import replace
from typing import Any

import click

from recollect.errors import Fault, Invalid
from recollect.surfaces.cli.commands import COMMON, common_options

_HELP = """Serve this store to an agent over standard input and output, in the Model Context Protocol.

An agent's host starts this command itself; it ends when the host closes the stream.
"""


def mcp_command() -> click.Command:
    return click.Command(
        "mcp",
        params=[
            click.Option(
                ["--face", "faces"],
                multiple=True,
                help="Which tools: native (the default), full, slayer, checkstack; may be repeated, or with commas between.",
            ),
            click.Option(
                ["--run"],
                help="No person looks on: the name of this run, which may save little and erase nothing.",
            ),
            click.Option(
                ["--in-conversation"], help="The conversation you speak in; else RECOLLECT_CONVERSATION."
            ),
            *COMMON,
        ],
        help=_HELP,
        short_help="Serve an agent on this machine (MCP over stdio)",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, faces: tuple[str, ...], run: str | None, **given: Any) -> None:
    common = common_options(context, given)
    try:
        from recollect.surfaces.mcp.faces import DEFAULT, chosen
        from recollect.surfaces.mcp.stdio import serve_stdio
    except ModuleNotFoundError as problem:
        if problem.name not in ("mcp", "mcp_types"):
            raise
        reason = "needs one more package: pip install 'recollect[server]'"
        raise Invalid([Fault("mcp", reason)]) from None
    from recollect.app import connect, local_caller
    from recollect.config import load

    tools = chosen([name.strip() for each in faces for name in each.split(",")] or [DEFAULT])
    names = ("db", "tenant", "user")
    config = load(**{name: common[name] for name in names}, conversation=common["in_conversation"])
    # What an agent does is not what the person who runs the store does, though both sit at this machine.
    caller = replace(
        local_caller(config), actor="agent" if run is None else "unattended", run=run, operator=False
    )
    # Standard output belongs to the protocol.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with connect(config.db, caller=caller) as door:
        serve_stdio(door, tools)
