"""WHAT is in the SQLite files of others? The table of mcp-memory-service, and that of a store of LangGraph."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign.items import Item, Link, Unread, Unreadable, moment, text_of, words
from onrecord.store.foreign_tables import columns_of, rows_of

#: Under these names a value of LangGraph holds its text.
_TEXTS: Final = ("content", "text", "memory", "data", "value")


def memory_service(path: Path) -> Iterator[Item | Unread]:
    there = columns_of(path)
    if not {"content_hash", "content"} <= there.get("memories", frozenset()):
        raise Unreadable("it has no table memories with content_hash and content")
    links: dict[str, list[Link]] = {}
    for row in rows_of(path, "memory_graph") if "memory_graph" in there else ():
        for name in words(_value(row["connection_types"])) or ("related",):
            links.setdefault(str(row["source_hash"]), []).append(Link(name, str(row["target_hash"])))
    for row in rows_of(path, "memories"):
        key, content = str(row["content_hash"]), text_of(row["content"])
        place = f"{path.name} memory {row.get('id', key)}"
        if not content.strip():
            yield Unread(place, "has no text")
            continue
        metadata = _value(row.get("metadata"))
        created = row.get("created_at") or row.get("created_at_iso")
        yield Item(
            key=key,
            place=place,
            content=content,
            tags=words(row.get("tags")),
            category=text_of(row.get("memory_type")).strip() or None,
            created_at=moment(created),
            updated_at=moment(row.get("updated_at") or row.get("updated_at_iso")),
            ended_at=moment(row.get("deleted_at")),
            metadata=metadata if isinstance(metadata, dict) else {},
            links=links.get(key, ()),
        )


def langgraph(path: Path) -> Iterator[Item | Unread]:
    if not {"prefix", "key", "value"} <= columns_of(path).get("store", frozenset()):
        raise Unreadable("it has no table store with prefix, key and value")
    for row in rows_of(path, "store"):
        namespace, key = str(row["prefix"]), str(row["key"])
        value = _value(row["value"])
        held = value if isinstance(value, dict) else {}
        name = next((each for each in _TEXTS if isinstance(held.get(each), str) and held[each].strip()), None)
        yield Item(
            key=f"{namespace}.{key}",
            place=f"{path.name} {namespace} {key}",
            content=text_of(value) if name is None else held[name],
            tags=words(held.get("tags")),
            category=namespace or None,
            created_at=moment(row.get("created_at")),
            updated_at=moment(row.get("updated_at")),
            ended_at=moment(row.get("expires_at")),
            metadata={
                "namespace": namespace.split("."),
                "key": key,
                **({} if name is None else {each: held[each] for each in held if each not in (name, "tags")}),
            },
        )


def _value(given: Any) -> Any:
    """A column that holds JSON, as a text or as bytes."""
    if isinstance(given, bytes):
        given = given.decode(errors="replace")
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given
