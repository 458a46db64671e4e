"""WHAT do Graphiti and Zep keep? Facts between entities, each with the times at which it was true; entities with a summary; and
the episodes that they were taken from.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign.items import (
    Item,
    Unread,
    Unreadable,
    json_of,
    lines_of,
    moment,
    object_of,
    text_of,
    words,
)

_FACTS: Final = ("edges", "entity_edges", "facts", "relations")
_NODES: Final = ("nodes", "entity_nodes", "entities")
_EPISODES: Final = ("episodes", "episodic_nodes")


def read(path: Path) -> Iterator[Item | Unread]:
    entries = list(_entries(path))
    names = {
        text_of(each.get("uuid")): text_of(each.get("name"))
        for _, each in entries
        if "fact" not in each and each.get("name")
    }
    read = False
    for place, each in entries:
        item = _item(each, names, place)
        read |= isinstance(item, Item)
        yield item
    if entries and not read:
        raise Unreadable("no entry has a fact, a summary or a content")


def _entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".jsonl":
        for place, line in lines_of(path):
            yield place, object_of(line) or {}
        return
    held = json_of(path)
    lists = {"": held} if isinstance(held, list) else held if isinstance(held, dict) else {}
    for name in ("", *_NODES, *_FACTS, *_EPISODES):
        found = lists.get(name)
        for number, each in enumerate(found if isinstance(found, list) else (), 1):
            yield f"{path.name} {name or 'entry'} {number}", each if isinstance(each, dict) else {}


def _item(entry: Mapping[str, Any], names: Mapping[str, str], place: str) -> Item | Unread:
    key = text_of(entry.get("uuid") or entry.get("id"))
    fact, name = text_of(entry.get("fact")), text_of(entry.get("name"))
    content = fact or text_of(entry.get("summary")) or text_of(entry.get("content"))
    if not content.strip() or not key:
        return Unread(place, "has no text or no uuid")
    metadata = {
        each: entry[each]
        for each in ("group_id", "episodes", "labels", "source_description", "attributes")
        if entry.get(each)
    }
    created = moment(entry.get("created_at"))
    if not fact:
        is_node = bool(entry.get("summary"))
        return Item(
            key=key, place=place, content=content, title=name or None, tags=words(entry.get("labels")),
            kind="fact" if is_node else "context", category="entity" if is_node else "episode",
            about=(name,) if name and is_node else (), created_at=created,
            valid_from=moment(entry.get("valid_at")), metadata=metadata,
        )  # fmt: skip
    source, target = (
        names.get(text_of(entry.get(f"{end}_node_uuid"))) or text_of(entry.get(f"{end}_node_name"))
        for end in ("source", "target")
    )
    return Item(
        key=key,
        place=place,
        content=fact,
        about=tuple(filter(None, (source, target))),
        is_relation=True,
        created_at=created,
        valid_from=moment(entry.get("valid_at")),
        ended_at=moment(entry.get("invalid_at")) or moment(entry.get("expired_at")),
        metadata={**metadata, "relation": {"from": source, "name": name, "to": target}},
    )
