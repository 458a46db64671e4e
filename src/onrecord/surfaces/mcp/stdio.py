"""HOW does an agent on this machine reach us? Over the standard streams of a process that it started."""

import logging
from collections.abc import Callable
from typing import Any, Final

import anyio
import mcp_types as protocol
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from onrecord.errors import OnRecordError, StoreUnavailable
from onrecord.surfaces.mcp.server import build_server
from onrecord.surfaces.mcp.subscriptions import Subscriptions
from onrecord.surfaces.mcp.tool_request import ToolRequest

_LOG: Final = logging.getLogger(__name__)


def serve_stdio(opened: Callable[[], ToolRequest]) -> None:
    """Answer until the other side closes. `opened` opens the store and the tools, at the first request that needs
    them.

    If that fails, the request gets an error, and the next one tries again: a database may come back.
    """

    def state_of(context: Any) -> ToolRequest:
        try:
            return opened()
        except StoreUnavailable as problem:
            _LOG.error("The store could not be opened: %s", problem)
            raise MCPError(code=protocol.INTERNAL_ERROR, message=str(StoreUnavailable())) from None
        except OnRecordError as problem:
            raise MCPError(code=protocol.INTERNAL_ERROR, message=str(problem)) from None

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            server = build_server(state_of, Subscriptions(state_of, tasks))
            await server.run(incoming, outgoing, server.create_initialization_options())
            tasks.cancel_scope.cancel()

    anyio.run(run)
