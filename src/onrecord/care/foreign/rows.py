"""WHAT do plain files hold? Lines of JSON or of CSV, one thing each, whose fields have the names that they have here."""

import csv
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from onrecord.care.foreign.items import (
    Item,
    Unread,
    Unreadable,
    lines_of,
    moment,
    object_of,
    text_of,
    words,
)
from onrecord.model.limits import KINDS, Kind

_CONTENTS: Final = ("content", "text", "memory", "fact")
_CREATED: Final = ("created_at", "createdAt", "timestamp", "date", "created")
_UPDATED: Final = ("updated_at", "updatedAt", "updated", "modified")
_TAKEN: Final = frozenset(
    {
        *_CONTENTS,
        *_CREATED,
        *_UPDATED,
        "id",
        "title",
        "hint",
        "kind",
        "tags",
        "category",
        "entities",
        "metadata",
    }
)


def json_lines(path: Path) -> Iterator[Item | Unread]:
    read = False
    for place, line in lines_of(path):
        entry = object_of(line)
        if entry is None:
            yield Unread(place, "is not a JSON object")
            continue
        item = item_of(entry, place)
        read |= isinstance(item, Item)
        yield item
    if not read and lines_of(path):
        raise Unreadable("no line has a content")


def comma_separated(path: Path) -> Iterator[Item | Unread]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = csv.DictReader(file, strict=True)
            if not set(_CONTENTS) & set(rows.fieldnames or ()):
                raise Unreadable(f"its header has no column {_CONTENTS[0]}")
            for row in rows:
                entry = {name: value for name, value in row.items() if name is not None and value}
                yield item_of(entry, f"{path.name} line {rows.line_num}")
        except (csv.Error, UnicodeDecodeError) as problem:
            raise Unreadable(f"it cannot be read as CSV ({problem})") from None


def item_of(entry: Mapping[str, Any], place: str) -> Item | Unread:
    content = next((text for name in _CONTENTS if (text := text_of(entry.get(name))).strip()), None)
    if content is None:
        return Unread(place, "has no content")
    kind = entry.get("kind")
    more = entry.get("metadata")
    return Item(
        key=str(entry.get("id") or sha256(content.encode()).hexdigest()[:24]),
        place=place,
        content=content,
        title=text_of(entry.get("title")) or None,
        hint=text_of(entry.get("hint")) or None,
        kind=cast(Kind, kind) if kind in KINDS else "fact",
        tags=words(entry.get("tags")),
        category=text_of(entry.get("category")) or None,
        about=words(entry.get("entities")),
        created_at=next((found for name in _CREATED if (found := moment(entry.get(name)))), None),
        updated_at=next((found for name in _UPDATED if (found := moment(entry.get(name)))), None),
        metadata={
            **(more if isinstance(more, dict) else {}),
            **{name: value for name, value in entry.items() if name not in _TAKEN and value is not None},
        },
    )
