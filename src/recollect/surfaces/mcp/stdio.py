"""HOW does an agent on this machine reach us? Over the standard streams of a process that it started."""

from collections.abc import Mapping

import anyio
from mcp.server.stdio import stdio_server

from recollect.service import Recollect
from recollect.surfaces.mcp.server import Visit, build_server
from recollect.surfaces.mcp.tools import Tool


def serve_stdio(door: Recollect, tools: Mapping[str, Tool]) -> None:
    """Answer until the other side closes."""
    server = build_server(lambda context: Visit(door, tools))

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
