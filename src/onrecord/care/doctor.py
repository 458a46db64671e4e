"""IS the store sound? Every invariant is checked against the rows, and each problem says what mends it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from onrecord.errors import StoreUnavailable
from onrecord.model.answers import Examined, Problem
from onrecord.model.collections import Home
from onrecord.store.ports.store import Store


def examine(
    store: Store, homes: Sequence[Home] | None, progress: Callable[[str, int, int | None], None]
) -> Examined:
    """Some tenants, or where none are named all of them and the store as a whole."""
    problems: list[Problem] = []
    counts: dict[Home, int] = {}
    if homes is None:
        with _noting(problems, store.location):
            problems += store.store_problems()
    with _noting(problems, store.location), store.archive() as archive:
        there = archive.homes()
        wanted = there if homes is None else [home for home in homes if home in there]
        counts = {home: archive.count(home) for home in wanted}
    done, total = 0, sum(counts.values())
    for home, count in counts.items():
        progress("examining", done, total)
        with _noting(problems, str(home)):
            problems += store.problems(home)
        done += count
    progress("examining", done, total)
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
