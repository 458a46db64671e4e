"""WHICH tools does the full face have? One for each operation, read off the operations themselves."""

from typing import Final

from onrecord.care.backup import Backup
from onrecord.care.export import Export
from onrecord.care.importing import Import
from onrecord.features import OPERATIONS
from onrecord.model.schema import input_schema, output_schema
from onrecord.model.wire import to_json
from onrecord.operation import Operation
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Arguments, Tool, ToolAnswer

#: These name a file, and over a network that would be one of the server's.
_OF_THIS_MACHINE: Final = (Export, Import, Backup)


def _tool(operation: Operation) -> Tool:
    name = operation.name.rstrip("_")

    def handle(door: OnRecord, arguments: Arguments) -> ToolAnswer:
        return ToolAnswer(to_json(door.perform(operation, **arguments)))

    return Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=" ".join((operation.request.__doc__ or "").split()),
        takes=input_schema(operation.request),
        gives=output_schema(operation.answer),
        operation=operation,
        handle=handle,
        is_idempotent=(operation.route or "").startswith(("PUT ", "DELETE ")),
        is_local=operation.request in _OF_THIS_MACHINE,
        repeats=True,
    )


TOOLS: Final = tuple(_tool(each) for each in OPERATIONS if each.route or each.command)
