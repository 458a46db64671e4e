"""WHO gets which tools? Everyone who may use them, or those whose personas allow them, as it is set.

The setting names personas and the tools that each may use: `analyst: memory_*, capture_insight; steward: *`. Under the
persona `*` stand the tools of everyone, also of who has no persona.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from onrecord.config import Config
from onrecord.errors import invalid
from onrecord.faces.data_platform.tools import TOOLS
from onrecord.model.caller import Caller
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Tool

EVERYONE = "*"


def is_kept_elsewhere(config: Config) -> bool:
    """Whether these tools keep nothing in the store that is served; they always do."""
    return False


def tools(config: Config, door: OnRecord) -> Sequence[Tool]:
    """The tools as configured."""
    allowed = read_allowed(config.of_faces["tools_allow"])
    return TOOLS if allowed is None else [replace(tool, is_for=_allows(allowed, tool.name)) for tool in TOOLS]


def read_allowed(text: str) -> Mapping[str, Sequence[str]] | None:
    """The patterns of tools by persona; None if nothing is set, and everyone gets all."""
    allowed: dict[str, list[str]] = {}
    for entry in filter(None, map(str.strip, text.split(";"))):
        persona, colon, patterns = (part.strip() for part in entry.partition(":"))
        if not persona or not colon:
            raise invalid("tools_allow", f"{entry!a} names no persona; write analyst: memory_*, …")
        allowed[persona] = [each.strip() for each in patterns.split(",") if each.strip()]
    return allowed or None


def _allows(allowed: Mapping[str, Sequence[str]], tool: str) -> Callable[[Caller], bool]:
    return partial(_is_allowed, allowed, tool)


def _is_allowed(allowed: Mapping[str, Sequence[str]], tool: str, caller: Caller) -> bool:
    """Whether one of the caller's personas allows a tool; an admin is offered all."""
    patterns = (each for persona in (EVERYONE, *caller.personas) for each in allowed.get(persona, ()))
    return caller.is_admin or any(fnmatchcase(tool, pattern) for pattern in patterns)
