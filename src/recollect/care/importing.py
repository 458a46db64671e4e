"""HOW does an export come back? Line by line, checked, in batches that are each one transaction."""

import gc
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from recollect.care.export import FORMAT, STANDARD
from recollect.errors import Conflict, Fault, Invalid, StoreUnavailable
from recollect.model import ids, rules
from recollect.model.answers import Imported
from recollect.model.caller import Caller
from recollect.model.limits import GLOBAL_TENANT, ID_CHARACTERS, ORIGINS
from recollect.model.memory import Relation, Version
from recollect.model.record import record_faults
from recollect.model.requests import Import
from recollect.model.wire import memory_from_json, read_instant
from recollect.remember.scrub import scrub_memory
from recollect.store.port import EMBED, Counters, Dossier, Store

_BATCH: Final = 1_000
_NAMED_CONFLICTS: Final = 5
_read_json: Final = json.JSONDecoder().decode
_ORIGIN: Final = rules.Choice(ORIGINS)
_VERSION: Final = rules.Whole(1, 2**31 - 1)

Progress = Callable[[str, int, int | None], None]


@dataclass(slots=True)
class _Section:
    """The part of a file that goes to one tenant, as far as it is read and not yet written."""

    tenant: str
    counters: Counters
    dossiers: list[Dossier] = field(default_factory=list)
    edges: list[Relation] = field(default_factory=list)


@dataclass(slots=True)
class _Tally:
    """What an import has done so far."""

    added: int = 0
    unchanged: int = 0
    relations: int = 0
    conflicts: list[str] = field(default_factory=list)
    skipped: set[tuple[str, str]] = field(default_factory=set)

    def has_skipped(self, tenant: str, edge: Relation) -> bool:
        """Whether an end of the edge was left alone, because its id holds another memory here."""
        return bool(self.skipped & {(tenant, edge.source), (tenant, edge.target)})


def import_from(
    store: Store, caller: Caller, ask: Import, progress: Progress, embed_from: datetime | None = None
) -> Imported:
    """What was imported stays when a later line fails, and a repeated import goes on from there.

    With a time, each batch leaves a job to embed whatever has no vectors, due from then on.
    """
    tally = _Tally()
    with _opened(ask.path) as file, _no_search_for_cycles():
        reader = _Reader(caller, ask)
        for section in reader.sections(file):
            _take_in(store, section, ask, tally, embed_from)
            progress("importing", tally.added + tally.unchanged + len(tally.conflicts), reader.expected)
    store.settle()
    return Imported(
        added=tally.added,
        unchanged=tally.unchanged,
        relations=tally.relations,
        conflicts=tuple(tally.conflicts),
    )


def _take_in(
    store: Store, section: _Section, ask: Import, tally: _Tally, embed_from: datetime | None
) -> None:
    """One transaction: what is new is added, what is here already in the same form is left alone."""
    with store.restoring(section.tenant) as restoring:
        here = {
            each.id: each
            for each in restoring.dossiers(section.tenant, [each.id for each in section.dossiers])
        }
        fresh: dict[str, Dossier] = {}
        differing = []
        for each in section.dossiers:
            # A file may say a thing twice; what it says first counts.
            held = here.get(each.id) or fresh.setdefault(each.id, each)
            if held != each:
                differing.append(each.id)
        if differing and not ask.skip_conflicts:
            raise Conflict(
                f"These ids hold other memories here: {', '.join(differing[:_NAMED_CONFLICTS])}"
                f"{' …' if len(differing) > _NAMED_CONFLICTS else ''}. {tally.added} memories before them were imported. "
                "Import into an empty tenant, or repeat with --skip-conflicts to keep what is here."
            )
        restoring.restore(fresh.values())
        tally.skipped |= {(section.tenant, id) for id in differing}
        # An edge between memories of the file says nothing of the others that hold their ids here.
        edges = [edge for edge in section.edges if not tally.has_skipped(section.tenant, edge)]
        related = restoring.restore_edges(edges, section.counters)
        if embed_from is not None and fresh:
            restoring.ask_for(EMBED, embed_from)
    tally.added += len(fresh)
    tally.unchanged += len(section.dossiers) - len(fresh) - len(differing)
    tally.conflicts += differing
    tally.relations += related


class _Line(NamedTuple):
    number: int
    value: Mapping[str, Any]


class _Reader:
    """Turns lines into sections no larger than a batch."""

    def __init__(self, caller: Caller, ask: Import) -> None:
        self._caller = caller
        self._ask = ask
        self._homes: dict[str, str] = {}
        self.expected: int | None = None

    def sections(self, file: IO[str]) -> Iterator[_Section]:
        lines = _lines(file)
        self._read_header(next(lines, None))
        section: _Section | None = None
        for line in lines:
            if "last_id" in line.value:
                if section is not None:
                    yield section
                section = _Section(self._home(line), _counters(line))
                continue
            if section is None:
                raise _fault(line, "comes before the line of its tenant; this is not a whole export")
            if "relation" in line.value:
                section.edges.append(_relation(line, section.tenant))
            else:
                section.dossiers.append(_dossier(line, section.tenant))
            if len(section.dossiers) + len(section.edges) >= _BATCH:
                yield section
                section = _Section(section.tenant, section.counters)
        if section is not None:
            yield section

    def _read_header(self, line: _Line | None) -> None:
        if line is None:
            raise Invalid([Fault("path", "the file is empty; it is not an export of Recollect")])
        if line.value.get("recollect") != FORMAT:
            raise _fault(line, f"is not the head of an export of format {FORMAT}")
        expected = line.value.get("memories")
        self.expected = expected if isinstance(expected, int) else None

    def _home(self, line: _Line) -> str:
        """Where a tenant of the file goes: to its own name, to the caller, or to everyone."""
        name: str = _checked(line, "tenant", rules.NAME)
        if self._ask.keep_tenants or name == GLOBAL_TENANT:
            home = name
        else:
            home = self._caller.tenant
        if home in self._homes.values() and self._homes.get(name) != home:
            raise _fault(
                line, "is a second tenant; repeat with --keep-tenants to restore each under its own name"
            )
        self._homes[name] = home
        return home


def _lines(file: IO[str]) -> Iterator[_Line]:
    number = 0
    try:
        for number, text in enumerate(file, 1):
            if text.strip():
                value = _read_json(text)
                if not isinstance(value, dict):
                    raise _fault(_Line(number, {}), "is not a JSON object")
                yield _Line(number, value)
    except json.JSONDecodeError as problem:
        raise _fault(_Line(number, {}), f"is not JSON: {problem.msg} at column {problem.colno}") from None
    except UnicodeDecodeError:
        raise _fault(_Line(number + 1, {}), "is not UTF-8") from None
    except ValueError as problem:
        # A number of thousands of digits, which Python declines to read.
        raise _fault(_Line(number, {}), f"is not JSON that can be read: {problem}") from None
    except RecursionError:
        raise _fault(_Line(number, {}), "is nested too deeply") from None


def _counters(line: _Line) -> Counters:
    last_id = _checked(line, "last_id", rules.Text(at_least=1, at_most=ID_CHARACTERS))
    if ids.whole_number(last_id) is None:
        raise _fault(line, "last_id is not a whole number")
    return Counters(last_id, _checked(line, "last_relation", rules.Whole(0, 2**62)))


def _dossier(line: _Line, tenant: str) -> Dossier:
    id = _checked(line, "id", rules.ID)
    _check_home(line, id, tenant)
    told = line.value.get("versions")
    if not isinstance(told, list) or not told:
        raise _fault(line, "has no versions")
    versions = tuple([_version(line, each, tenant) for each in told])
    if any(version.memory.id != id for version in versions):
        raise _fault(line, f"has versions that are not of memory {id}")
    if [version.number for version in versions] != list(range(1, len(versions) + 1)):
        raise _fault(line, "has versions that are not numbered 1, 2, 3 …")
    joined = [before.until == after.at >= before.at for before, after in pairwise(versions)]
    if not all(joined) or versions[-1].until is not None:
        raise _fault(line, "has versions whose times do not join")
    return Dossier(id, versions)


def _version(line: _Line, value: Any, tenant: str) -> Version:
    try:
        until = value["until"]
        memory = memory_from_json(value["memory"], tenant)
        version = Version(
            number=_VERSION(value["number"]),
            change=_name(value["change"]),
            by=_name(value["by"]),
            origin=_ORIGIN(value["origin"]),  # type: ignore[arg-type]
            at=read_instant(value["at"]),
            until=None if until is None else read_instant(until),
            memory=memory,
        )
    except KeyError as missing:
        raise _fault(line, f"has a version without {missing}") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as reason:
        raise _fault(line, f"has a version that cannot be read: {reason}") from None
    faults = [*record_faults(memory)]
    if type(memory.version) is not int or memory.version != version.number:
        faults.append(Fault("version", "differs from the number of its version"))
    if faults:
        raise Invalid(Fault(f"line {line.number}, {fault.field}", fault.message) for fault in faults)
    clean, secrets = scrub_memory(memory)
    return replace(version, memory=clean) if secrets else version


def _relation(line: _Line, tenant: str) -> Relation:
    value = line.value["relation"]
    try:
        edge = Relation(**value)
        removed = edge.removed_at
        edge = replace(
            edge,
            id=str(rules.Whole(1, 2**62)(int(edge.id))),
            source=rules.ID(edge.source),
            relation=rules.RELATION(edge.relation),  # type: ignore[arg-type]
            target=rules.ID(edge.target),
            created_at=rules.INSTANT(edge.created_at),
            created_by=rules.NAME(edge.created_by),
            removed_at=None if removed is None else rules.INSTANT(removed),
            removed_by=None if removed is None else rules.NAME(edge.removed_by),
        )
    except (TypeError, ValueError, OverflowError) as reason:
        raise _fault(line, f"has a relation that cannot be read: {reason}") from None
    if edge.source == edge.target:
        raise _fault(line, "relates a memory to itself")
    if edge.removed_at is not None and edge.removed_at < edge.created_at:
        raise _fault(line, "has a relation that was taken back before it was made")
    for end in (edge.source, edge.target):
        _check_home(line, end, tenant)
    return edge


def _check_home(line: _Line, id: str, tenant: str) -> None:
    """An id says whether it is a global one, and so does the section it stands in."""
    if ids.is_global(id) != (tenant == GLOBAL_TENANT):
        raise _fault(line, f"names memory {id}, which does not live in tenant {tenant}")


def _name(value: Any) -> str:
    return _known_name(value) if isinstance(value, str) else rules.NAME(value)


@lru_cache(maxsize=1_024)
def _known_name(value: str) -> str:
    """Few different people and changes stand in an export, so each name is looked at once."""
    return rules.NAME(value)


def _checked(line: _Line, name: str, rule: rules.Rule) -> Any:
    try:
        return rule(line.value.get(name))
    except ValueError as reason:
        raise _fault(line, f"{name} {reason}") from None


def _fault(line: _Line, message: str) -> Invalid:
    return Invalid([Fault(f"line {line.number}", message)])


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """What a batch is made of has no cycles, and looking for them among its many small parts takes time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    if path == STANDARD:
        yield sys.stdin
        return
    with ExitStack() as closing:
        try:
            file = closing.enter_context(Path(path).open(encoding="utf-8"))
        except OSError as problem:
            raise StoreUnavailable(f"{path} cannot be read: {problem.strerror or problem}.") from None
        yield file
