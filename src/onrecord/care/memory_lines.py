"""HOW is a memory read from a line? With all its versions, each of them checked; so are relations and counters."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, cast

from onrecord.care.lines import ExportLine
from onrecord.errors import Fault
from onrecord.model import ids, rules
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.model.memory import Memory, Relation, Version
from onrecord.model.record import RELATION, record_faults
from onrecord.model.rules import Counted, OrNone
from onrecord.model.shapes import Object, Several
from onrecord.model.tiers import credited
from onrecord.model.wire import shape_of
from onrecord.remember.scrub import scrub_memory
from onrecord.store.ports.archive import Counters, MemoryHistory

#: Who began a conversation, in an export of an earlier version.
UNRECORDED: Final = ""

_COUNTERS: Final = Object(
    "counters",
    {"last_id": Counted(0), "last_relation": rules.Integer(0, 2**62)},
    needed=("last_id", "last_relation"),
    build=Counters,
    passes_over=True,
)


def read_counters(line: ExportLine, tenant: str) -> Counters:
    return cast(Counters, line.read(_COUNTERS))


def read_history(line: ExportLine, tenant: str) -> MemoryHistory:
    id = line.checked("id", rules.STORED_ID)
    _check_home(line, id, tenant)
    credited_versions = credited(line.checked("versions", _VERSIONS))
    versions = tuple(
        [_sound(line, place, version, tenant) for place, version in enumerate(credited_versions)]
    )
    if any(version.memory.id != id for version in versions):
        raise line.fault(f"has versions that are not of memory {id}")
    if [version.number for version in versions] != list(range(1, len(versions) + 1)):
        raise line.fault("has versions that are not numbered 1, 2, 3 …")
    joined = [before.until == after.at >= before.at for before, after in pairwise(versions)]
    if not all(joined) or versions[-1].until is not None:
        raise line.fault("has versions whose times do not follow each other without a gap")
    return MemoryHistory(id, versions)


def _sound(line: ExportLine, place: int, version: Version, tenant: str) -> Version:
    memory = version.memory
    if memory.tenant != tenant:
        memory = replace(memory, tenant=tenant)
    is_recorded = memory.conversation_by != UNRECORDED
    faults = [*record_faults(memory if is_recorded else replace(memory, conversation_by=None))]
    if type(memory.version) is not int or memory.version != version.number:
        faults.append(Fault("version", "differs from the number of its version"))
    if faults:
        raise line.faults(faults, under=f"versions[{place}].memory")
    clean, _ = scrub_memory(memory)
    return version if clean is version.memory else replace(version, memory=clean)


def read_relation(line: ExportLine, tenant: str) -> Relation:
    edge: Relation = line.checked("relation", RELATION)
    for end in (edge.source, edge.target):
        _check_home(line, end, tenant)
    return edge


def _check_home(line: ExportLine, id: str, tenant: str) -> None:
    """An id and its section must agree whether it is a global memory."""
    if ids.is_global(id) != (tenant == GLOBAL_TENANT):
        raise line.fault(f"names memory {id}, which does not belong to tenant {tenant}")


def _name(value: Any) -> str:
    return _known_name(value) if isinstance(value, str) else rules.NAME(value)


@lru_cache(maxsize=1_024)
def _known_name(value: str) -> str:
    """Check each name once: an export holds few different people and changes."""
    return rules.NAME(value)


def _memory(**given: Any) -> Memory:
    """An empty name is not in the file: the versions give the author, and the conversations who began them."""
    return Memory(**{"author": "", **_unrecorded(given), **given})


def _unrecorded(given: Mapping[str, Any]) -> dict[str, str]:
    return {"conversation_by": UNRECORDED} if given.get("conversation") is not None else {}


_MEMORY: Final = shape_of(Memory)
_LATER: Final = ("author", "proposes", "conversation_by", "edits", "changeset", "checks", "check_state")
_VERSIONS: Final = Several(
    Object(
        "a version",
        {
            "number": rules.Integer(1, 2**31 - 1),
            "change": _name,
            "by": _name,
            "origin": rules.ORIGIN,
            "at": rules.INSTANT,
            "until": OrNone(rules.INSTANT),
            # A missing field means damage, except for fields that older exports do not have.
            "memory": replace(
                _MEMORY, needed=tuple(name for name in _MEMORY.fields if name not in _LATER), build=_memory
            ),
        },
        needed=("number", "change", "by", "origin", "at", "until", "memory"),
        build=Version,
        passes_over=True,
    ),
    at_least=1,
)
