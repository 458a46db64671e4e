"""HOW is a memory read from a line? With all its versions, and each of them checked; so are relations and counters."""

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from onrecord.care.lines import Line
from onrecord.errors import Fault
from onrecord.model import ids, rules
from onrecord.model.limits import GLOBAL_TENANT, ID_CHARACTERS, ORIGINS
from onrecord.model.memory import Relation, Version
from onrecord.model.record import record_faults
from onrecord.model.wire import memory_from_json, read_instant
from onrecord.remember.scrub import scrub_memory
from onrecord.store.ports.archive import Counters, MemoryHistory

_ORIGIN: Final = rules.Choice(ORIGINS)
_VERSION: Final = rules.Integer(1, 2**31 - 1)


def read_counters(line: Line, tenant: str) -> Counters:
    last_id = line.checked("last_id", rules.Text(at_least=1, at_most=ID_CHARACTERS))
    if ids.whole_number(last_id) is None:
        raise line.fault("last_id is not a whole number")
    return Counters(last_id, line.checked("last_relation", rules.Integer(0, 2**62)))


def read_history(line: Line, tenant: str) -> MemoryHistory:
    id = line.checked("id", rules.ID)
    _check_home(line, id, tenant)
    told = line.value.get("versions")
    if not isinstance(told, list) or not told:
        raise line.fault("has no versions")
    versions = tuple([_version(line, each, tenant) for each in told])
    if any(version.memory.id != id for version in versions):
        raise line.fault(f"has versions that are not of memory {id}")
    if [version.number for version in versions] != list(range(1, len(versions) + 1)):
        raise line.fault("has versions that are not numbered 1, 2, 3 …")
    joined = [before.until == after.at >= before.at for before, after in pairwise(versions)]
    if not all(joined) or versions[-1].until is not None:
        raise line.fault("has versions whose times do not join")
    return MemoryHistory(id, versions)


def _version(line: Line, value: Any, tenant: str) -> Version:
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
        raise line.fault(f"has a version without {missing}") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as reason:
        raise line.fault(f"has a version that cannot be read: {reason}") from None
    faults = [*record_faults(memory)]
    if type(memory.version) is not int or memory.version != version.number:
        faults.append(Fault("version", "differs from the number of its version"))
    if faults:
        raise line.faults(faults)
    clean, secrets = scrub_memory(memory)
    return replace(version, memory=clean) if secrets else version


def read_relation(line: Line, tenant: str) -> Relation:
    value = line.value["relation"]
    try:
        edge = Relation(**value)
        removed = edge.removed_at
        edge = replace(
            edge,
            id=str(rules.Integer(1, 2**62)(int(edge.id))),
            source=rules.ID(edge.source),
            relation=rules.RELATION(edge.relation),  # type: ignore[arg-type]
            target=rules.ID(edge.target),
            created_at=rules.INSTANT(edge.created_at),
            created_by=rules.NAME(edge.created_by),
            removed_at=None if removed is None else rules.INSTANT(removed),
            removed_by=None if removed is None else rules.NAME(edge.removed_by),
        )
    except (TypeError, ValueError, OverflowError) as reason:
        raise line.fault(f"has a relation that cannot be read: {reason}") from None
    if edge.source == edge.target:
        raise line.fault("relates a memory to itself")
    if edge.removed_at is not None and edge.removed_at < edge.created_at:
        raise line.fault("has a relation that was taken back before it was made")
    for end in (edge.source, edge.target):
        _check_home(line, end, tenant)
    return edge


def _check_home(line: Line, id: str, tenant: str) -> None:
    """An id says whether it is a global one, and so does the section it stands in."""
    if ids.is_global(id) != (tenant == GLOBAL_TENANT):
        raise line.fault(f"names memory {id}, which does not live in tenant {tenant}")


def _name(value: Any) -> str:
    return _known_name(value) if isinstance(value, str) else rules.NAME(value)


@lru_cache(maxsize=1_024)
def _known_name(value: str) -> str:
    """Few different people and changes stand in an export, so each name is looked at once."""
    return rules.NAME(value)
