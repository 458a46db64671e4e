"""HOW does an agent on this machine reach us? Over the standard streams of a process that it started."""

from collections.abc import Mapping

import anyio
from mcp.server.stdio import stdio_server

from onrecord.service import OnRecord
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.surfaces.mcp.tools import Tool


def serve_stdio(door: OnRecord, tools: Mapping[str, Tool]) -> None:
    """Answer until the other side closes."""
    server = build_server(lambda context: ToolRequest(door, tools))

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
