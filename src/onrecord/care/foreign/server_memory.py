"""WHAT does the reference MCP memory server keep? Entities with observations, and relations with names of their own.

Each observation becomes an item about its entity. A relation becomes an item that says it, `Ann works_at Acme`, about both:
its name stays, and can be searched for.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from onrecord.care.foreign.items import Item, Unread, Unreadable, lines_of, object_of, text_of


def read(path: Path) -> Iterator[Item | Unread]:
    if path.is_dir():
        path = path / "memory.jsonl"
    seen = 0
    for place, line in lines_of(path):
        entry = object_of(line)
        kind = entry.get("type") if entry else None
        if entry is None or kind not in ("entity", "relation"):
            yield Unread(place, "is neither an entity nor a relation")
            continue
        seen += 1
        if kind == "relation":
            yield _relation(entry, place)
        else:
            yield from _entity(entry, place)
    if not seen and lines_of(path):
        raise Unreadable("no line is an entity or a relation")


def _entity(entry: dict[str, object], place: str) -> Iterator[Item | Unread]:
    name, sort = text_of(entry.get("name")).strip(), text_of(entry.get("entityType")).strip()
    observations = entry.get("observations")
    if not name or not isinstance(observations, list):
        yield Unread(place, "is an entity without a name or without observations")
        return
    metadata = {"entity": name, "entity_type": sort}
    if not observations:
        # Only that it is there.
        yield Item(
            key=_key("entity", name), place=place, content=f"{name} ({sort})" if sort else name, about=(name,),
            category=sort or None, metadata=metadata,
        )  # fmt: skip
    for each in observations:
        text = text_of(each)
        yield Item(
            key=_key("observation", name, text),
            place=place,
            title=f"{name}: {text}",
            content=text,
            about=(name,),
            category=sort or None,
            metadata=metadata,
        )


def _relation(entry: dict[str, object], place: str) -> Item | Unread:
    source, name, target = (text_of(entry.get(each)).strip() for each in ("from", "relationType", "to"))
    if not (source and name and target):
        return Unread(place, "is a relation without from, to or relationType")
    return Item(
        key=_key("relation", source, name, target),
        place=place,
        content=f"{source} {name} {target}",
        about=(source, target),
        is_relation=True,
        metadata={"relation": {"from": source, "name": name, "to": target}},
    )


def _key(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:24]
