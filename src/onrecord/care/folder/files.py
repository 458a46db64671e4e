"""WHAT does a memory look like as a file? Front matter with its fields, then its text; one file each, named by its id."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from onrecord import private_files
from onrecord.care.foreign.items import text_of, words
from onrecord.care.foreign.markdown import MarkdownNote, files_in, read_note
from onrecord.errors import StoreUnavailable, invalid
from onrecord.model.memory import Memory
from onrecord.yaml_reader import UnreadableYaml

#: What was written last: the memories of the folder with their versions then.
MANIFEST: Final = ".onrecord.json"
#: What of a long id stands in the name of its file: names of files have at most 255 bytes, also while they are written.
_LONGEST_NAME: Final = 200
#: The fields that may be edited in a file, beside the text.
FIELDS: Final = ("title", "hint", "kind", "tags", "category", "confidence", "source", "entities")
_LISTS: Final = ("tags", "entities")
#: Where a file keeps its own value of a field that was changed on both sides, until someone decides.
UNRESOLVED: Final = "unresolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """A file as someone left it. Without an id it is something new."""

    path: Path
    id: str | None
    version: int | None
    values: Mapping[str, Any]
    unresolved: Mapping[str, Any]


def values_of(memory: Memory) -> dict[str, Any]:
    """What a file shows of a memory, and may change."""
    values = {name: getattr(memory, name) for name in FIELDS}
    if not memory.has_own_title:
        # It follows the text.
        values["title"] = None
    for name in _LISTS:
        values[name] = tuple(values[name])
    return values | {"content": memory.content.strip("\n")}


def written(memory: Memory, values: Mapping[str, Any], unresolved: Mapping[str, Any] | None = None) -> str:
    fields: dict[str, Any] = {"id": memory.id, "version": memory.version}
    for name in FIELDS:
        if values[name] not in (None, ()):
            fields[name] = list(values[name]) if name in _LISTS else values[name]
    if unresolved:
        fields[UNRESOLVED] = {
            name: list(value) if isinstance(value, tuple) else value for name, value in unresolved.items()
        }
    front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=1_000)
    return f"---\n{front}---\n\n{values['content']}\n"


def path_of(folder: Path, id: str) -> Path:
    name = quote(id, safe=" ~")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}~{sha256(id.encode()).hexdigest()[:16]}"
    return folder / f"{name}.md"


def read_file(path: Path, folder: Path) -> MemoryFile:
    """A file; Invalid with its name if it cannot be read."""
    place = path.relative_to(folder).as_posix()
    try:
        note = read_note(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise invalid(place, "is not UTF-8; save it in that encoding") from None
    except UnreadableYaml as problem:
        raise invalid(place, f"line {problem.line + 1} {problem.reason}") from None
    fields, version = note.fields, note.fields.get("version")
    id = fields.get("id")
    unresolved = fields.get(UNRESOLVED)
    return MemoryFile(
        path=path,
        id=None if id is None else str(id),
        version=version if type(version) is int else None,
        values=_values(note),
        unresolved=unresolved if isinstance(unresolved, dict) else {},
    )


def _values(note: MarkdownNote) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in FIELDS:
        given = note.fields.get(name)
        values[name] = words(given) if name in _LISTS else text_of(given).strip() or None
    return values | {"content": note.text.strip("\n")}


def memory_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise StoreUnavailable(f"{folder} is not a folder; `onrecord folder write` makes one.")
    return files_in(folder)


def read_manifest(folder: Path) -> dict[str, int]:
    try:
        held = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {str(id): int(version) for id, version in held["memories"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise invalid(
            MANIFEST, "cannot be read; take it from git again, or write into another folder"
        ) from None


def write_manifest(folder: Path, memories: Mapping[str, int]) -> None:
    held = {"memories": dict(sorted(memories.items()))}
    replace_file(folder / MANIFEST, json.dumps(held, indent=1, ensure_ascii=False) + "\n")


def replace_file(path: Path, text: str) -> None:
    """The whole text or the file as it was."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with private_files.replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise StoreUnavailable(f"{path} cannot be written: {problem.strerror or problem}.") from None
