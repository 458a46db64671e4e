"""IS the store sound? Every invariant is checked against the rows, and each problem says what mends it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

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
    """Check that windows, versions, index and edges agree with the rows, and say what does not."""

    fix: bool = ask(
        rules.FLAG, "Mend what can be derived from the rows, as a reindex does, and look again.", False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined(Answer):
    """What the doctor found, and what was found before and has been mended."""

    memories: int
    problems: tuple[Problem, ...] = ()
    fixed: tuple[Problem, ...] = ()

    @property
    def healthy(self) -> bool:
        return not self.problems


@operation("write", "memory.admin", "POST /doctor")
def doctor(call: Call, ask: Doctor) -> Examined:
    """The caller's tenant; for whoever runs the store all of them, and the store as a whole."""
    found = _examined(call)
    if found.healthy or not ask.fix:
        return found
    reindex(call, Reindex())
    left = _examined(call)
    return replace(left, fixed=tuple(each for each in found.problems if each not in left.problems))


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


@contextmanager
def _noting(problems: list[Problem], where: str) -> Iterator[None]:
    """What cannot even be read is a finding; the examination goes on with the rest."""
    try:
        yield
    except StoreUnavailable as broken:
        problems.append(
            Problem(check="database", where=where, detail=str(broken), cure="restore a backup or an export")
        )
