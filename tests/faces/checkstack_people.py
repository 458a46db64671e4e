"""WHO tries the checkstack face? Assistants with the real client, whose person may be there to be asked."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitResult

from onrecord import Caller, OnRecord
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server

ERAS = ("auto", "legacy")
THREE = ["ai.searchMemory", "ai.saveMemory", "ai.deleteMemory"]
FIVE = [*THREE, "ai.listMemories", "ai.setMemoryAlwaysInject"]


class Person:
    """Sits before a client: is shown a form, and fills it in as they were told to.

    `says` is what else is said to a form that holds a word; `meanwhile` is what happens once before the first answer.
    """

    def __init__(
        self,
        answer: str = "yes",
        says: Mapping[str, str] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self.answer, self._says, self._meanwhile = answer, says or {}, meanwhile
        self.asked: list[str] = []

    async def __call__(self, context: Any, form: Any) -> ElicitResult:
        assert isinstance(form, ElicitRequestFormParams)
        self.asked.append(form.message)
        if self._meanwhile is not None:
            happens, self._meanwhile = self._meanwhile, None
            happens()
        answer = next((said for word, said in self._says.items() if word in form.message), self.answer)
        if answer == "never":
            await anyio.sleep_forever()
        if answer in ("decline", "cancel"):
            return ElicitResult(action=answer)
        return ElicitResult(action="accept", content={"confirm": answer == "yes"})


class Assistant:
    """The real client, for tests that wait for each answer."""

    def __init__(self, portal: Any, client: Client) -> None:
        self._portal, self.client = portal, client

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        result = self._portal.call(lambda: self.client.call_tool(tool, arguments))
        assert isinstance(result, CallToolResult)
        return result

    def did(self, tool: str, /, **arguments: Any) -> Any:
        result = self.call(f"ai.{tool}", **arguments)
        assert not result.is_error, said(result)
        return result.structured_content

    def at_once(self, tool: str, /, *calls: dict[str, Any]) -> list[Any]:
        """The answers to several calls that are all under way before any is answered."""
        told: dict[int, Any] = {}

        async def call(at: int) -> None:
            told[at] = (await self.client.call_tool(f"ai.{tool}", calls[at])).structured_content

        async def all_of_them() -> None:
            async with anyio.create_task_group() as group:
                for at in range(len(calls)):
                    group.start_soon(call, at)

        self._portal.call(all_of_them)
        return [told[at] for at in range(len(calls))]

    def refused(self, tool: str, /, **arguments: Any) -> str:
        result = self.call(f"ai.{tool}", **arguments)
        assert result.is_error, said(result)
        return said(result)

    def save(self, hint: str, content: str = "a note", **more: Any) -> Any:
        return self.did("saveMemory", **{"scope": "user", "recallHint": hint, "content": content} | more)

    def about(self, system: str, hint: str, content: str = "a note", **more: Any) -> Any:
        return self.save(hint, content, scope="system", systemId=system, **more)

    def found(self, query: str, **more: Any) -> list[Any]:
        memories: list[Any] = self.did("searchMemory", query=query, **more)["memories"]
        return memories

    @property
    def tools(self) -> list[Any]:
        listed: list[Any] = self._portal.call(self.client.list_tools).tools
        return listed

    @property
    def offered(self) -> list[str]:
        return [tool.name for tool in self.tools]


def said(result: CallToolResult) -> str:
    [content] = result.content
    return str(getattr(content, "text"))  # noqa: B009


def someone(user: str = "ann", **more: Any) -> Caller:
    return Caller(**{"tenant": "acme", "user": user, "actor": "agent", **more})


class Office:
    """Where assistants come in: one server in this process, or whatever a client speaks to."""

    def __init__(self, door: OnRecord, portal: Any, leaving: ExitStack) -> None:
        self.door, self._portal, self._leaving = door, portal, leaving

    def meet(self, client: Client) -> Assistant:
        self._leaving.enter_context(self._portal.wrap_async_context_manager(client))
        return Assistant(self._portal, client)

    def __call__(
        self, user: str = "ann", *, era: str = "auto", person: Person | None = None, **more: Any
    ) -> Assistant:
        """The assistant of someone; with a person, its client can show them a form."""
        tool_request = ToolRequest(self.door.as_caller(someone(user, **more)), chosen(["checkstack"]))
        server = build_server(lambda context: tool_request)
        return self.meet(Client(server, mode=era, elicitation_callback=person))


Open = Callable[[OnRecord], Office]


def offices() -> Iterator[Open]:
    with start_blocking_portal() as portal, ExitStack() as leaving:
        yield lambda door: Office(door, portal, leaving)
