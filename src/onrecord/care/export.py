"""HOW does a store leave? As lossless JSONL, whose lines `care/kinds.py` lists, while others go on writing."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from onrecord import private_files
from onrecord.care.kinds import FORMAT, HEAD, KINDS, STANDARD, WITH_CATALOG, kind_for
from onrecord.errors import StoreUnavailable, invalid
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.collections import ENTITIES, MEMORIES, Home
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.model.request import Request, ask
from onrecord.model.wire import write_instant
from onrecord.model.workspace import WorkspaceNumbers
from onrecord.operation import Call, operation
from onrecord.store.ports.archive import Archive, Counters, MemoryHistory
from onrecord.store.ports.store import Store


@dataclass(frozen=True, slots=True)
class Export(Request):
    """Write everything of this tenant and the global memories to a JSONL file, with the history."""

    path: str = ask(rules.Text(at_least=1), "The file to write; - is standard output.", positional=True)
    all_tenants: bool = ask(rules.FLAG, "Every tenant of the store, not only the caller's.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported(Answer):
    """How much an export wrote, and where. `scratchpads` and `agents` count those with content or settings."""

    path: str
    memories: int
    versions: int
    relations: int
    conversations: int = 0
    artifacts: int = 0
    scratchpads: int = 0
    agents: int = 0
    changesets: int = 0
    feedback: int = 0


@operation("read", "memory.admin", "GET /export")
def export(call: Call, ask: Export) -> Exported:
    if ask.all_tenants:
        call.caller.require_operator("An export of all tenants")
    refuse_itself(call.store, ask.path)
    with call.store.archive() as archive, _replacing(ask.path) as file:
        return write_homes(archive, file, _homes(archive, call.caller, ask.all_tenants), ask.path, call)


def refuse_itself(store: Store, path: str) -> None:
    """Refuse a path of the store's own files: the copy would destroy what it copies."""
    own = Path(store.location).resolve()
    atomic_file = [f"{own.name}-wal", f"{own.name}-shm"]
    if own.suffix in (".yaml", ".yml"):
        atomic_file.append(f"{own.stem}.history.jsonl")
    if Path(path).resolve() in (own, *map(own.with_name, atomic_file)):
        raise invalid("path", "is the store itself; choose another file")


def _homes(archive: Archive, caller: Caller, everyone: bool) -> list[Home]:
    known = archive.homes()
    if everyone:
        return known
    # Global proposals and old versions are only for callers who may change global memories.
    held = {caller.tenant, GLOBAL_TENANT} if caller.changes_global else {caller.tenant}
    return [each for each in known if each in map(Home, held)]


def write_homes(archive: Archive, file: IO[str], homes: Sequence[Home], path: str, call: Call) -> Exported:
    total = sum(map(archive.count, homes))
    counts, versions = Counter[str](), 0
    # A tenant without a catalog leaves none behind.
    left = {each.tenant for each in archive.homes() if each.collection is ENTITIES and each not in homes}
    left.add(GLOBAL_TENANT)
    _line(file, {HEAD: FORMAT, "exported_at": write_instant(call.now), "memories": total})
    for home in homes:
        for held in _holdings(archive, home):
            kind = kind_for(held)
            fields = {"tenant": home.spelled, **_spelled(home, kind.written(held))}
            if isinstance(held, Counters) and home.collection is MEMORIES and home.tenant not in left:
                fields[WITH_CATALOG] = True
            _line(file, fields)
            counts[kind.key] += 1
            if isinstance(held, MemoryHistory):
                versions += len(held.versions)
                call.progress("exporting", counts[kind.key], total)
    return exported(path, counts, versions)


def _spelled(home: Home, fields: dict[str, Any]) -> dict[str, Any]:
    """Records of another collection, with the tenant name that their line has."""
    for version in fields.get("versions", ()) if home.collection is not MEMORIES else ():
        version["memory"]["tenant"] = home.spelled
    return fields


def _holdings(archive: Archive, home: Home) -> Iterator[object]:
    """Everything in a home, in the order of an export; with the memories also the tenant's workspace.

    The workspace comes before the memories that point into it, so that a reader knows by then what could not be
    imported.
    """
    yield archive.counters(home)
    if home.collection is MEMORIES:
        workspace = archive.workspace(home.tenant)
        if (numbers := workspace.numbers()) != WorkspaceNumbers():
            yield numbers
        yield from workspace.every()
    yield from archive.histories(home)
    yield from archive.edges(home)
    if home.collection is MEMORIES:
        yield from archive.feedback(home.tenant).every()


def exported(path: str, counts: Counter[str], versions: int) -> Exported:
    """The summary of an export, from the number of lines of each kind."""
    counted = {kind.counted_as: counts[kind.key] for kind in KINDS if kind.counted_as}
    return Exported(path=path, versions=versions, **counted)


def _line(file: IO[str], value: dict[str, Any]) -> None:
    # On a terminal as ASCII, so that no invisible or control character reaches it.
    file.write(json.dumps(value, ensure_ascii=file.isatty(), separators=(",", ":")) + "\n")


@contextmanager
def _replacing(path: str) -> Iterator[IO[str]]:
    if path == STANDARD:
        yield sys.stdout
    else:
        with atomic_file(Path(path)) as partial, partial.open("w", encoding="utf-8") as file:
            yield file


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A file that replaces the target only when it is complete, so that a good one is never half overwritten."""
    try:
        with private_files.replacing(path) as partial:
            yield partial
    except OSError as problem:
        raise StoreUnavailable(f"{path} cannot be written: {problem.strerror or problem}.") from None
