"""WHICH stores of other systems can be read? One table of formats: a file for each, which turns what is there into items.

Reading one neither changes it nor runs anything of the program that wrote it.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple, cast

from onrecord.care.foreign.items import Item, Unread, Unreadable
from onrecord.errors import StoreUnavailable, invalid


class Format(NamedTuple):
    """A format: what it is, the file that reads it, and the name of its reader there."""

    title: str
    home: str
    reader: str = "read"


FORMATS: Final[dict[str, Format]] = {
    "server-memory": Format("the reference MCP server-memory: memory.jsonl", "server_memory"),
    "mem0": Format("mem0: an export as JSON, its history.db, or the folder of its local Qdrant", "mem0"),
    "basic-memory": Format("basic-memory: its folder of Markdown notes", "markdown"),
    "markdown": Format("any Markdown file or folder, with or without front matter", "markdown"),
    "chatgpt": Format(
        "a data export of ChatGPT: the zip, its folder or conversations.json", "chats", "chatgpt"
    ),
    "claude": Format("a data export of Claude: the zip, its folder or conversations.json", "chats", "claude"),
    "graphiti": Format("Graphiti or Zep: edges, nodes and episodes as JSON or JSON lines", "graphiti"),
    "mcp-memory-service": Format("mcp-memory-service: its SQLite file", "tables", "memory_service"),
    "langgraph": Format("LangGraph: the SQLite file of a SqliteStore", "tables", "langgraph"),
    "jsonl": Format('JSON lines such as {"content": "…"}', "rows", "json_lines"),
    "csv": Format("a CSV file whose header has a column content", "rows", "comma_separated"),
}


def read(name: str, path: str) -> Iterator[Item | Unread]:
    """What a store holds, in its own order; Invalid if there is no such format, or the file is not of it."""
    if name not in FORMATS:
        raise invalid("from", f"must be one of {', '.join(FORMATS)} (got {name!r})")
    form, file = FORMATS[name], Path(path).expanduser()
    if not file.exists():
        raise StoreUnavailable(f"{path} is not there.")
    reader = cast(
        Callable[[Path], Iterator[Item | Unread]],
        getattr(import_module(f"onrecord.care.foreign.{form.home}"), form.reader),
    )
    try:
        yield from reader(file)
    except OSError as problem:
        raise StoreUnavailable(
            f"{problem.filename or path} cannot be read: {problem.strerror or problem}."
        ) from None
    except Unreadable as problem:
        raise invalid("path", f"is not {form.title}: {problem}") from None


def format_of(path: str) -> str:
    """The format of a store, by what is there; Invalid if it is of none."""
    file = Path(path).expanduser()
    if not file.exists():
        raise StoreUnavailable(f"{path} is not there.")
    from onrecord.care.foreign.recognised import recognised

    name = recognised(file)
    if name is None:
        raise invalid(
            "path",
            f"has no format that OnRecord recognises; name the format with --from ({', '.join(FORMATS)})",
        )
    return name
