"""WHO asks, and for which tools? What a server knows of one request of the protocol."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import anyio.to_thread

from onrecord.service import OnRecord
from onrecord.surfaces.mcp.prompts import Prompt
from onrecord.surfaces.mcp.tools import Tool


async def in_thread(work: Callable[..., Any], *given: Any, slow: bool = False) -> Any:
    """Run it in a thread, since the door is synchronous; the event loop goes on meanwhile."""
    return await anyio.to_thread.run_sync(work, *given)


class ToolRequest(NamedTuple):
    """The caller's door, the tools of its faces, and the function that runs a call in a thread. `pages` is the address
    under which people open pages, if they can.

    `door_now` is for what lasts: it asks once more who this is, and raises Unauthenticated once a key is revoked.
    `on_listening` is called before an answer that goes on until one side has enough.
    """

    door: OnRecord
    tools: Mapping[str, Tool]
    run: Callable[..., Awaitable[Any]] = in_thread
    pages: str | None = None
    door_now: Callable[[], OnRecord] | None = None
    on_listening: Callable[[], None] = lambda: None

    @property
    def offered(self) -> dict[str, Tool]:
        return {name: tool for name, tool in self.tools.items() if tool.is_offered_to(self.door.caller)}

    @property
    def prompts(self) -> list[Prompt]:
        """Those that come with the offered tools."""
        return [prompt for tool in self.offered.values() for prompt in tool.prompts]
