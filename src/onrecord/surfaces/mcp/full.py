"""WHICH tools does the full face have? One for each operation that a model may use, derived from the operations."""

from typing import Final

from onrecord.access.keys import RevokeKey
from onrecord.access.tenants import SetTenant
from onrecord.catalog.operations import Prioritise
from onrecord.context.turns import ClearTurns
from onrecord.features import FOR_PEOPLE, OPERATIONS
from onrecord.model.schema import input_schema, output_schema
from onrecord.model.wire import to_json
from onrecord.operation import Operation
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Arguments, Tool, ToolAnswer
from onrecord.workspace.agents import SetAgent
from onrecord.workspace.artifacts import WriteArtifact
from onrecord.workspace.scratchpads import ClearScratchpad

#: These replace or end something without keeping a history.
_REPLACE: Final = (ClearScratchpad, ClearTurns, Prioritise, RevokeKey, SetAgent, SetTenant, WriteArtifact)


def _tool(operation: Operation) -> Tool:
    def handle(door: OnRecord, arguments: Arguments) -> ToolAnswer:
        return ToolAnswer(to_json(door.perform(operation, **arguments)))

    return Tool(
        name=operation.tool_name,
        title=operation.tool_name.replace("_", " ").capitalize(),
        description=operation.description,
        takes=input_schema(operation.request),
        gives=output_schema(operation.answer),
        operation=operation,
        handle=handle,
        is_idempotent=(operation.route or "").startswith(("PUT ", "DELETE ")),
        replaces=operation.request in _REPLACE,
        repeats=True,
    )


TOOLS: Final = tuple(_tool(each) for each in OPERATIONS if each.name not in FOR_PEOPLE)
