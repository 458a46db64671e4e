"""HOW do a folder and a store come to the same? The steps of a plan, one by one; each is done whole or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onrecord.care.folder.files import (
    path_of,
    read_manifest,
    replace_file,
    values_of,
    write_manifest,
    written,
)
from onrecord.care.folder.planning import PlannedStep, memories_of, plan
from onrecord.errors import OnRecordError, invalid
from onrecord.model.answer import Answer
from onrecord.model.ids import exactly
from onrecord.model.memory import Memory, derive_title
from onrecord.operation import Progress, unshown


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderStep(Answer):
    """One step of a plan; `outcome` says what became of it, and is None while it is only planned."""

    action: str
    file: str
    id: str | None
    why: str
    changed: tuple[str, ...] = ()
    outcome: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSteps(Answer):
    """What differs between a folder and the store, or what was done about it."""

    folder: str
    steps: tuple[FolderStep, ...]

    @property
    def healthy(self) -> bool:
        return all(each.action != "conflict" for each in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderWritten(Answer):
    """How many memories a folder holds now."""

    folder: str
    memories: int


def write(door: Any, folder: Path, progress: Progress = unshown) -> FolderWritten:
    """Write every memory into a new folder, or one that agrees with the store."""
    if folder.is_dir() and any(folder.iterdir()):
        left = [each for each in plan(door, folder, progress) if each.action not in ("write", "remove")]
        if left:
            raise invalid(
                "folder",
                f"has changes that are not applied yet ({left[0].file} {left[0].why}); see `onrecord folder plan`",
            )
        apply(door, folder, progress)
    here = memories_of(door, progress)
    for number, memory in enumerate(here.values(), 1):
        progress("writing files", number, len(here))
        path = path_of(folder, memory.id)
        text = written(memory, values_of(memory))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            replace_file(path, text)
    write_manifest(folder, {id: memory.version for id, memory in here.items()})
    return FolderWritten(folder=str(folder), memories=len(here))


def planned(door: Any, folder: Path, progress: Progress = unshown) -> FolderSteps:
    return FolderSteps(folder=str(folder), steps=tuple(map(_answer_of, plan(door, folder, progress))))


def apply(door: Any, folder: Path, progress: Progress = unshown) -> FolderSteps:
    """Do what is planned. If the store refuses a step, its outcome says so, and the next steps follow."""
    done: list[FolderStep] = []
    known = read_manifest(folder)
    steps = plan(door, folder, progress)
    for number, step in enumerate(steps, 1):
        progress("applying", number, len(steps))
        try:
            outcome = _DO[step.action](door, folder, step, known)
        except OnRecordError as problem:
            outcome = f"refused: {problem}"
        done.append(_answer_of(step, outcome))
        # One by one: what is killed in between goes on from there.
        write_manifest(folder, known)
    return FolderSteps(folder=str(folder), steps=tuple(done))


def _answer_of(step: PlannedStep, outcome: str | None = None) -> FolderStep:
    return FolderStep(
        action=step.action,
        file=step.file,
        id=step.id,
        why=step.why,
        changed=tuple(step.changes),
        outcome=outcome,
    )


def _save(door: Any, folder: Path, step: PlannedStep, known: dict[str, int]) -> str:
    saved = door.remember(**step.changes, unknown="keep")
    memory = saved.memory
    _keep(folder, memory, known)
    if path_of(folder, memory.id) != folder / step.file:
        (folder / step.file).unlink()
    return f"#{memory.id} {saved.outcome}"


def _revise(door: Any, folder: Path, step: PlannedStep, known: dict[str, int]) -> str:
    assert step.memory is not None
    changes: dict[str, Any] = dict(step.changes)
    if changes.get("title", "") is None:
        # It follows the text again: a title like the one that would be cut from it.
        changes["title"] = derive_title(step.values["hint"], step.values["content"])
    for name in ("kind", "confidence"):
        if changes.get(name, "") is None:
            del changes[name]
    revised = door.revise(
        exactly(step.memory.id), expected_version=step.memory.version, unknown="keep", **changes
    )
    if revised.proposal is not None:
        return "waits for a person to approve it"
    _keep(folder, revised.memory, known, folder / step.file)
    return f"version {revised.memory.version}"


def _retire(door: Any, folder: Path, step: PlannedStep, known: dict[str, int]) -> str:
    retired = door.retire(exactly(str(step.id)), reason="removed from the folder")
    if retired.proposal is not None:
        return "waits for a person to approve it"
    known.pop(str(step.id), None)
    return "retired"


def _write(door: Any, folder: Path, step: PlannedStep, known: dict[str, int]) -> str:
    assert step.memory is not None
    _keep(folder, step.memory, known, folder / step.file)
    return "written"


def _remove(door: Any, folder: Path, step: PlannedStep, known: dict[str, int]) -> str:
    (folder / step.file).unlink()
    known.pop(str(step.id), None)
    return "removed"


def _mark(door: Any, folder: Path, step: PlannedStep, known: dict[str, int]) -> str:
    if step.memory is None:
        return "left as it is"
    replace_file(folder / step.file, written(step.memory, step.values, step.unresolved))
    known[step.memory.id] = step.memory.version
    return "marked in the file"


def _keep(folder: Path, memory: Memory, known: dict[str, int], path: Path | None = None) -> None:
    replace_file(path or path_of(folder, memory.id), written(memory, values_of(memory)))
    known[memory.id] = memory.version


_DO: Mapping[str, Any] = {
    "save": _save,
    "revise": _revise,
    "merge": _revise,
    "retire": _retire,
    "write": _write,
    "remove": _remove,
    "conflict": _mark,
}
