"""WHAT would a folder change, and what did the store change meanwhile? A step for each memory where they differ.

Three texts are compared: the one that was written into the file, which the history of the store still has; the file; and the
store. What only one of the two changed is taken; what both changed comes together line by line, or is left to a person.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from onrecord.care.folder.files import (
    FIELDS,
    MemoryFile,
    memory_files,
    path_of,
    read_file,
    read_manifest,
    values_of,
)
from onrecord.errors import Fault, Invalid, NotFound
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_LIMIT
from onrecord.model.memory import Memory
from onrecord.operation import Progress, unshown
from onrecord.text.merging import has_marks, merged

#: save, revise and retire change the store; write and remove the folder; merge both. A conflict waits for a person.
Action = Literal["save", "revise", "merge", "retire", "write", "remove", "conflict"]
STATUSES: Final = ["active", "stale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """What becomes of one memory, and why."""

    action: Action
    file: str
    id: str | None
    why: str
    #: What to save, or what changes in the memory.
    changes: Mapping[str, Any] = field(default_factory=dict)
    memory: Memory | None = None
    #: What the file shall hold then, and the values of the file that a person must choose from.
    values: Mapping[str, Any] = field(default_factory=dict)
    unresolved: Mapping[str, Any] = field(default_factory=dict)


def memories_of(door: Any, progress: Progress = unshown) -> dict[str, Memory]:
    """What a folder holds: the memories of the caller's tenant that count."""
    found: dict[str, Memory] = {}
    after: str | None = None
    while True:
        page = door.browse(statuses=STATUSES, limit=BROWSE_LIMIT, order="oldest", after=after)
        found |= {each.id: each for each in page.memories if each.scope != "global" and not each.waits}
        progress("reading memories", len(found), None)
        after = page.next
        if after is None:
            return found


def plan(door: Any, folder: Path, progress: Progress = unshown) -> list[PlannedStep]:
    """The steps, in the order of the files; Invalid names every file that cannot be read."""
    here, known = memories_of(door, progress), read_manifest(folder)
    files = _read(folder)
    steps = [step for each in files if (step := _of_file(door, each, here, folder)) is not None]
    held = {each.id for each in files}
    for id in sorted(here.keys() - held):
        steps.append(_without_file(here[id], known.get(id), folder))
    return steps


def _read(folder: Path) -> list[MemoryFile]:
    files: list[MemoryFile] = []
    faults: list[Fault] = []
    seen: dict[str, Path] = {}
    for path in memory_files(folder):
        try:
            file = read_file(path, folder)
        except Invalid as problem:
            faults += problem.faults
            continue
        if file.id is not None and (other := seen.setdefault(file.id, path)) != path:
            faults += _twice(path, other, folder)
        files.append(file)
    if faults:
        raise Invalid(faults)
    return files


def _twice(path: Path, other: Path, folder: Path) -> Iterator[Fault]:
    yield Fault(
        path.relative_to(folder).as_posix(),
        f"has the id of {other.relative_to(folder).as_posix()}; take the id out of one to save it as a memory of its own",
    )


def _without_file(memory: Memory, version: int | None, folder: Path) -> PlannedStep:
    name = path_of(folder, memory.id).name
    if version is None or version != memory.version:
        why = (
            "is new in the store"
            if version is None
            else "was removed here and changed in the store, which keeps it"
        )
        return PlannedStep(
            action="write", file=name, id=memory.id, why=why, memory=memory, values=values_of(memory)
        )
    return PlannedStep(
        action="retire", file=name, id=memory.id, why="was removed from the folder", memory=memory
    )


def _of_file(door: Any, file: MemoryFile, here: Mapping[str, Memory], folder: Path) -> PlannedStep | None:
    name = file.path.relative_to(folder).as_posix()
    if file.unresolved or has_marks(file.values["content"]):
        why = "still has marks of a conflict: choose a side, and take the marks and `unresolved` out"
        return PlannedStep(action="conflict", file=name, id=file.id, why=why)
    if file.id is None:
        changes = {field: value for field, value in file.values.items() if value not in (None, ())}
        if not changes.get("content"):
            return PlannedStep(action="conflict", file=name, id=None, why="has no text")
        return PlannedStep(action="save", file=name, id=None, why="is new here", changes=changes)
    memory = here.get(file.id)
    base = _base(door, file.id, file.version)
    if memory is None:
        return _ended(file, base, name)
    return _compared(file, memory, base, name)


def _base(door: Any, id: str, version: int | None) -> dict[str, Any] | None:
    """What was written into the file, as the history has it."""
    try:
        versions = door.history(exactly(id)).versions
    except NotFound:
        return None
    return next((values_of(each.memory) for each in versions if each.number == version), None)


def _ended(file: MemoryFile, base: Mapping[str, Any] | None, name: str) -> PlannedStep:
    if base == file.values:
        return PlannedStep(action="remove", file=name, id=file.id, why="has ended in the store")
    why = "was changed here and has ended in the store: take its id out to save it anew, or remove the file"
    return PlannedStep(action="conflict", file=name, id=file.id, why=why)


def _compared(
    file: MemoryFile, memory: Memory, base: Mapping[str, Any] | None, name: str
) -> PlannedStep | None:
    ours, theirs = values_of(memory), dict(file.values)
    if base is None:
        # Nobody knows what it was: what differs may have been changed on either side.
        base = {each: value if theirs[each] == value else object() for each, value in ours.items()}
    values, unresolved = dict(ours), dict[str, Any]()
    for each in FIELDS:
        if theirs[each] != base[each]:
            if ours[each] in (base[each], theirs[each]):
                values[each] = theirs[each]
            else:
                unresolved[each] = theirs[each]
    text = merged(
        base["content"] if isinstance(base["content"], str) else "", ours["content"], theirs["content"]
    )
    values["content"] = text.text
    asked: dict[str, Any] = {"file": name, "id": memory.id, "memory": memory, "values": values}
    if unresolved or text.conflicts:
        which = ", ".join([*unresolved, *(["text"] if text.conflicts else [])])
        return PlannedStep(
            action="conflict",
            why=f"was changed here and in the store: {which}",
            unresolved=unresolved,
            **asked,
        )
    changes = {each: value for each, value in values.items() if value != ours[each]}
    if changes:
        both = memory.version != file.version
        why = f"was changed {'here and in the store' if both else 'here'}: {', '.join(changes)}"
        return PlannedStep(action="merge" if both else "revise", why=why, changes=changes, **asked)
    if memory.version != file.version or values != theirs:
        return PlannedStep(action="write", why="was changed in the store", **asked)
    return None
