"""WHAT do the tools of the data platform share? Closed schemas without lists of values, and errors that are JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from onrecord.errors import OnRecordError
from onrecord.model.rules import Rule, Text
from onrecord.model.schema import closed_schema
from onrecord.model.shapes import Described, Object, Several, taken
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Arguments, Tool, ToolAnswer

TEXT: Final = Text()
TEXTS: Final = Several(TEXT)
NUMBER: Final = {"type": "integer"}
WORD: Final = {"type": "string"}
WORDS: Final = {"type": "array", "items": WORD}
#: The superseded and the similar memories of a save, and its warnings.
CHAIN: Final = {
    "superseded_ids": WORDS,
    "similar": {"type": "array", "items": {"type": "object"}},
    "warnings": WORDS,
}


def one_of(values: Sequence[str], help: str) -> Described:
    return Described(TEXT, f"{help}: {', '.join(values)}.")


def say_failure(problem: OnRecordError) -> str:
    """Errors are JSON here, like every other answer."""
    return json.dumps({"error": "; ".join(str(problem).splitlines())})


def tool(
    name: str,
    function: Callable[..., dict[str, Any]],
    takes: Mapping[str, Rule],
    needed: tuple[str, ...] = (),
    **more: Any,
) -> Tool:
    shape = Object("what this takes", takes, needed=needed)

    def handle(door: OnRecord, arguments: Arguments) -> ToolAnswer:
        return ToolAnswer(function(door, **taken(shape, arguments)))

    return Tool(name=name, takes=closed_schema(shape), handle=handle, say_failure=say_failure, **more)
