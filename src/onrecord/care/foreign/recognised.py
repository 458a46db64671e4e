"""WHICH format does a store have? Recognised by its tables, its first line or its keys."""

import zipfile
from pathlib import Path

from onrecord.care.foreign.items import Unreadable, json_of, lines_of, object_of
from onrecord.care.foreign.markdown import files_in
from onrecord.store.foreign_tables import columns_of


def recognised(path: Path) -> str | None:
    """The name of the format, or None if it is not recognised."""
    try:
        if path.is_dir():
            return _of_folder(path)
        match path.suffix.lower():
            case ".jsonl" | ".ndjson":
                return _of_lines(path)
            case ".json":
                return _of_json(json_of(path))
            case ".csv":
                return "csv"
            case ".md" | ".markdown":
                return "markdown"
            case ".zip":
                return _of_archive(path)
        return _of_tables(path)
    except (Unreadable, OSError):
        return None


def _of_folder(path: Path) -> str | None:
    if (path / "conversations.json").exists():
        return _of_json(json_of(path / "conversations.json"))
    if any(path.rglob("storage.sqlite")):
        return "mem0"
    if (path / "memory.jsonl").exists():
        return "server-memory"
    return "markdown" if files_in(path) else None


def _of_lines(path: Path) -> str | None:
    first = next((entry for _, line in lines_of(path) if (entry := object_of(line))), {})
    if first.get("type") in ("entity", "relation"):
        return "server-memory"
    if "fact" in first or "source_node_uuid" in first:
        return "graphiti"
    return "jsonl"


def _of_json(held: object) -> str | None:
    if isinstance(held, dict):
        if "results" in held or "memories" in held:
            return "mem0"
        return "graphiti" if {"edges", "entity_edges", "facts"} & held.keys() else None
    first = held[0] if isinstance(held, list) and held and isinstance(held[0], dict) else {}
    if "mapping" in first:
        return "chatgpt"
    if "chat_messages" in first:
        return "claude"
    if "fact" in first:
        return "graphiti"
    return "mem0" if "memory" in first else None


def _of_archive(path: Path) -> str | None:
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        names = {each.rpartition("/")[2] for each in archive.namelist()}
    if "conversations.json" not in names:
        return None
    from onrecord.care.foreign.chats import held_in

    return _of_json(held_in(path, "conversations.json"))


def _of_tables(path: Path) -> str | None:
    there = columns_of(path)
    if "content_hash" in there.get("memories", ()):
        return "mcp-memory-service"
    if {"prefix", "value"} <= there.get("store", frozenset()):
        return "langgraph"
    return "mem0" if "history" in there or "points" in there else None
