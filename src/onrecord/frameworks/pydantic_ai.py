"""HOW does a Pydantic AI agent use a memory? `OnRecordToolset` gives it the operations as tools.

from onrecord import connect
from onrecord.frameworks.pydantic_ai import OnRecordToolset
from pydantic_ai import Agent

agent = Agent("openai:…", toolsets=[OnRecordToolset(connect("memory.db"))])
"""

from typing import Any

from onrecord.doors import AsyncDoor, Door
from onrecord.errors import Invalid, OnRecordError
from onrecord.frameworks.operations import USUAL, Chosen, offered

try:
    from pydantic_ai import ApprovalRequired, ModelRetry, RunContext, ToolDefinition, ToolFailed
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ModuleNotFoundError as missing:
    if missing.name != "pydantic_ai":
        raise
    raise ModuleNotFoundError(
        "This toolset needs one more package: pip install 'onrecord[pydantic-ai]'.", name="pydantic_ai"
    ) from None

# What is in it the rules of the operation check, as at every door.
_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class OnRecordToolset(AbstractToolset[AgentDepsT]):
    """Operations of a store as tools. What erases waits for the approval of a person, as deferred tools do."""

    def __init__(
        self,
        memory: Door | AsyncDoor,
        tools: Chosen = USUAL,
        *,
        id: str | None = "onrecord",
        max_retries: int = 1,
    ) -> None:
        self._door, self._id, self._max_retries = memory, id, max_retries
        self._tools = {each.name: each for each in offered(tools)}

    @property
    def id(self) -> str | None:
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name,
                    description=each.description,
                    parameters_json_schema=dict(each.takes),
                ),
                max_retries=self._max_retries,
                args_validator=_OBJECT,
            )
            for name, each in self._tools.items()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        if self._tools[name].asks_first and not ctx.tool_call_approved:
            raise ApprovalRequired
        try:
            return await self._tools[name].call(self._door, tool_args)
        except Invalid as problem:
            raise ModelRetry(str(problem)) from problem
        except OnRecordError as problem:
            raise ToolFailed(str(problem)) from problem
