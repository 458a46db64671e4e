"""WHAT do Markdown notes hold? Each file is one item: its front matter says title, tags and times, and the rest is its text.

The notes of basic-memory say relations in lines such as `- implements [[Other note]]`; a `[[Name]]` elsewhere is one, too.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from onrecord.care.foreign.items import Item, Link, Unread, Unreadable, moment, text_of, words
from onrecord.yaml_reader import UnreadableYaml, json_of, parse

_ENDINGS: Final = (".md", ".markdown")
_FRONT: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LINK: Final = re.compile(r"\[\[([^\[\]\n|#]+)[^\[\]\n]*\]\]")
_RELATION: Final = re.compile(r"^[ \t]*[-*][ \t]+([^\[\]\n]{0,80}?)[ \t]*\[\[([^\[\]\n|#]+)", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_HEADING: Final = re.compile(r"^#[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)
_CREATED: Final = ("created", "created_at", "date")
_UPDATED: Final = ("updated", "updated_at", "modified", "last_modified")
_TAKEN: Final = frozenset({*_CREATED, *_UPDATED, "title", "tags"})


class MarkdownNote(NamedTuple):
    """A Markdown text: what its front matter says, and the text after it."""

    fields: Mapping[str, Any]
    text: str


def read(path: Path) -> Iterator[Item | Unread]:
    root = path if path.is_dir() else path.parent
    files = files_in(path) if path.is_dir() else [path]
    if not files:
        raise Unreadable("there is no Markdown file in it")
    for file in files:
        place = file.relative_to(root).as_posix()
        try:
            note = read_note(file.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError:
            yield Unread(place, "is not UTF-8")
            continue
        except UnreadableYaml as problem:
            yield Unread(place, f"line {problem.line + 1} of its front matter {problem.reason}")
            continue
        yield _item(note, file, place)


def files_in(folder: Path) -> list[Path]:
    """The Markdown files of a folder, in a stable order, without what is hidden."""
    return sorted(
        each
        for each in folder.rglob("*")
        if each.suffix.lower() in _ENDINGS
        and each.is_file()
        and not any(part.startswith(".") for part in each.relative_to(folder).parts)
    )


def read_note(text: str) -> MarkdownNote:
    """A text with its front matter; UnreadableYaml if that cannot be read."""
    front = _FRONT.match(text)
    if front is None:
        return MarkdownNote({}, text)
    root = parse(front[1]).root if front[1].strip() else None
    held = json_of(root) if root is not None else {}
    if not isinstance(held, dict):
        # A rule at the beginning, and no front matter.
        return MarkdownNote({}, text)
    return MarkdownNote(held, text[front.end() :])


def _item(note: MarkdownNote, file: Path, place: str) -> Item | Unread:
    content = note.text.strip()
    if not content:
        return Unread(place, "has no text")
    fields, stat = note.fields, file.stat()
    heading = _HEADING.search(content)
    key = text_of(fields.get("permalink")).strip() or place.rpartition(".")[0]
    return Item(
        key=key,
        place=place,
        content=content,
        title=text_of(fields.get("title")).strip() or (heading[1] if heading else None) or file.stem,
        tags=words(fields.get("tags")),
        category=text_of(fields.get("type")).strip() or None,
        created_at=next((found for name in _CREATED if (found := moment(fields.get(name)))), None)
        or datetime.fromtimestamp(stat.st_mtime, UTC),
        updated_at=next((found for name in _UPDATED if (found := moment(fields.get(name)))), None),
        metadata={name: value for name, value in fields.items() if name not in _TAKEN},
        links=_links(content),
    )


def _links(content: str) -> tuple[Link, ...]:
    text = _CODE.sub("", content)
    named = {Link(found[1].strip() or "links_to", found[2].strip()) for found in _RELATION.finditer(text)}
    others = {found[1].strip() for found in _LINK.finditer(text)} - {link.target for link in named}
    return tuple(sorted(named | {Link("links_to", each) for each in others}))
