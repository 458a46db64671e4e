"""WHAT does mem0 keep? Short texts of a user, an agent or a run: in an export, in a local Qdrant, or in its history."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign.items import Item, Unread, Unreadable, json_of, moment, text_of, words
from onrecord.care.foreign.pickled import Inert, data_of
from onrecord.store.foreign_tables import columns_of, rows_of

#: Of these there is a field here, or they are derived from the text.
_KNOWN: Final = frozenset(
    {
        "id",
        "data",
        "memory",
        "hash",
        "created_at",
        "updated_at",
        "metadata",
        "categories",
        "text_lemmatized",
        "score",
    }
)
_STORAGE: Final = "storage.sqlite"


def read(path: Path) -> Iterator[Item | Unread]:
    if path.is_dir():
        yield from _folder(path)
    elif path.suffix == ".json":
        yield from _export(path)
    elif "history" in columns_of(path):
        yield from _history(path)
    elif "points" in columns_of(path):
        yield from _points(path)
    else:
        raise Unreadable("it has neither the table history nor the table points")


def _folder(path: Path) -> Iterator[Item | Unread]:
    files = [
        each
        for each in sorted(path.rglob(_STORAGE))
        # What mem0 keeps of its own use is no memory.
        if each.parent.name != "mem0migrations"
    ]
    if not files:
        raise Unreadable(f"there is no {_STORAGE} of a local Qdrant in it")
    for each in files:
        yield from _points(each)


def _export(path: Path) -> Iterator[Item | Unread]:
    held = json_of(path)
    found = held.get("results", held.get("memories")) if isinstance(held, dict) else held
    if not isinstance(found, list):
        raise Unreadable("it holds no list of results")
    for number, entry in enumerate(found, 1):
        yield _item(entry, f"{path.name} result {number}")
    for number, each in enumerate(held.get("relations") or () if isinstance(held, dict) else (), 1):
        yield _relation(each, f"{path.name} relation {number}")


def _points(path: Path) -> Iterator[Item | Unread]:
    for number, row in enumerate(rows_of(path, "points"), 1):
        place = f"{path.parent.name} point {number}"
        try:
            point = data_of(bytes(row["point"]))
        except Unreadable as problem:
            yield Unread(place, str(problem))
            continue
        fields = (
            point.state.get("__dict__", point.state)
            if isinstance(point, Inert) and isinstance(point.state, dict)
            else {}
        )
        payload = fields.get("payload")
        yield _item({**payload, "id": fields.get("id")} if isinstance(payload, dict) else None, place)


def _history(path: Path) -> Iterator[Item | Unread]:
    """What the log of changes leads to."""
    present: dict[str, dict[str, Any]] = {}
    for row in rows_of(path, "history"):
        id = str(row["memory_id"])
        if row["event"] == "DELETE" or row["is_deleted"]:
            present.pop(id, None)
        elif row["new_memory"]:
            began = present.get(id, {}).get("created_at", row["created_at"])
            present[id] = {
                "id": id,
                "memory": row["new_memory"],
                "created_at": began,
                "updated_at": row["updated_at"] or row["created_at"],
            }
    for number, entry in enumerate(present.values(), 1):
        yield _item(entry, f"{path.name} memory {number}")


def _item(entry: Any, place: str) -> Item | Unread:
    if not isinstance(entry, Mapping):
        return Unread(place, "is no memory")
    content = text_of(entry.get("memory") or entry.get("data") or entry.get("text"))
    if not content.strip() or entry.get("id") is None:
        return Unread(place, "has no text or no id")
    given = entry.get("metadata")
    more: dict[str, Any] = given if isinstance(given, dict) else {}
    categories = words(entry.get("categories")) or words(more.get("category"))
    return Item(
        key=str(entry["id"]),
        place=place,
        content=content,
        tags=categories,
        created_at=moment(entry.get("created_at")),
        updated_at=moment(entry.get("updated_at")),
        metadata={
            **more,
            **{name: value for name, value in entry.items() if name not in _KNOWN and value is not None},
        },
    )


def _relation(entry: Any, place: str) -> Item | Unread:
    if not isinstance(entry, Mapping):
        return Unread(place, "is no relation")
    source, name = text_of(entry.get("source")), text_of(entry.get("relationship") or entry.get("relation"))
    target = text_of(entry.get("target") or entry.get("destination"))
    if not (source and name and target):
        return Unread(place, "is a relation without source, relationship or target")
    return Item(
        key=f"{source}-{name}-{target}",
        place=place,
        content=f"{source} {name} {target}",
        about=(source, target),
        is_relation=True,
        metadata={"relation": {"from": source, "name": name, "to": target}},
    )
