"""HOW is a whole store copied? While others go on writing, into a file that appears only when it is complete."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onrecord.care.export import atomic_file, refuse_itself, write_homes
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation


@dataclass(frozen=True, slots=True)
class Backup(Request):
    """Write a consistent copy of the whole store while others go on writing."""

    path: str = ask(rules.Text(at_least=1), "The file to write.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp(Answer):
    """Where the copy is."""

    path: str
    bytes: int


_MIB: Final = 1024 * 1024


@operation("read", "memory.admin")
def backup(call: Call, ask: Backup) -> BackedUp:
    """Copy the database if it can copy itself, otherwise export every tenant."""
    call.caller.require_operator("A backup")
    refuse_itself(call.store, ask.path)
    path = Path(ask.path)

    def report(done: int, total: int) -> None:
        call.progress("copying MiB", done // _MIB, total // _MIB)

    with atomic_file(path) as partial:
        if not call.store.backup(partial, report):
            with call.store.archive() as archive, partial.open("w", encoding="utf-8") as file:
                write_homes(archive, file, archive.homes(), ask.path, call)
    return BackedUp(path=str(path), bytes=path.stat().st_size)
