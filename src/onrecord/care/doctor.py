"""IS the store sound? Every invariant is checked against the rows, and each problem says how to mend it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from onrecord import private_files
from onrecord.care import homes
from onrecord.care.reindex import Reindex, reindex
from onrecord.errors import StoreUnavailable
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.collections import Home
from onrecord.model.findings import Problem
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation


@dataclass(frozen=True, slots=True)
class Doctor(Request):
    """Check that windows, versions, index and edges agree with the rows, and list what does not."""

    fix: bool = ask(
        rules.FLAG,
        "Mend what can be derived from the rows, as a reindex does, and close files that others on this machine can read.",
        False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined(Answer):
    """What the doctor found, and what it has mended.

    The operator of the store also sees its files: others on this machine can read `open_files`, and could read
    `closed_files` until now.
    """

    memories: int
    problems: tuple[Problem, ...] = ()
    fixed: tuple[Problem, ...] = ()
    open_files: tuple[str, ...] = ()
    closed_files: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        return not self.problems


@operation("write", "memory.admin", "POST /doctor")
def doctor(call: Call, ask: Doctor) -> Examined:
    """Check the caller's tenant; for the operator of the store, all tenants and the store as a whole."""
    found = _examined(call)
    files = call.store.open_files() if homes.examined(call) is None else []
    # Not for agents: a text that they read could make them do it, and the files belong to the machine.
    closes = ask.fix and call.caller.actor == "person"
    if closes:
        _close(files)
    named = tuple(map(str, files))
    found = replace(found, closed_files=named) if closes else replace(found, open_files=named)
    if found.healthy or not ask.fix:
        return found
    reindex(call, Reindex())
    left = _examined(call).problems
    return replace(found, problems=left, fixed=tuple(each for each in found.problems if each not in left))


def _examined(call: Call) -> Examined:
    store, wanted = call.store, homes.examined(call)
    problems: list[Problem] = []
    counts: dict[Home, int] = {}
    if wanted is None:
        with _noting(problems, store.location):
            problems += store.store_problems()
    with _noting(problems, store.location), store.archive() as archive:
        counts = {home: archive.count(home) for home in archive.homes() if wanted is None or home in wanted}
    done, total = 0, sum(counts.values())
    for home, count in counts.items():
        call.progress("examining", done, total)
        with _noting(problems, str(home)):
            problems += store.problems(home)
        done += count
    call.progress("examining", done, total)
    return Examined(memories=total, problems=tuple(problems))


def _close(files: Iterable[Path]) -> None:
    for path in files:
        try:
            private_files.close(path)
        except OSError as problem:
            raise StoreUnavailable(f"{path} cannot be made private: {problem.strerror or problem}.") from None


@contextmanager
def _noting(problems: list[Problem], where: str) -> Iterator[None]:
    """An unreadable record is a finding too; the examination goes on with the rest."""
    try:
        yield
    except StoreUnavailable as broken:
        problems.append(
            Problem(check="database", where=where, detail=str(broken), cure="restore a backup or an export")
        )
