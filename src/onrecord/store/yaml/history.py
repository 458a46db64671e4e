"""WHAT was before? The lines of memories.history.jsonl: every version and every relation, one transaction after
another.

A transaction is some lines and a last one with the digest of memories.yaml after it; without that line it was never
finished. The end of a version is not written, since the next one gives it. So lines are only added; only forgetting
rewrites the whole. The lines of two branches may be merged in any order.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from onrecord.errors import Fault, Invalid, invalid
from onrecord.model import ids, rules
from onrecord.model.collections import Home
from onrecord.model.memory import Memory, Relation, Version
from onrecord.model.record import RELATION
from onrecord.model.shapes import Faults
from onrecord.model.tiers import credited
from onrecord.model.wire import write_instant
from onrecord.store.ports.archive import Counters, MemoryHistory
from onrecord.store.yaml.entries import memory_of, record_of

FORMAT: Final = 1
_COMMIT: Final = b'{"commit":'
#: What the ends of a relation are called here.
_NAMES: Final = {"from": "source", "to": "target"}
_NUMBER: Final = rules.Integer(1, 2**31 - 1)
_LAST_ID: Final = rules.Counted(0)
_LAST: Final = rules.Integer(0, 2**62)


def digest_of(content: bytes | None) -> str:
    """The digest of a file's bytes; empty for a file that does not exist."""
    return "" if content is None else hash_of(content).hexdigest()


def hash_of(content: bytes) -> "hashlib.blake2b":
    return hashlib.blake2b(content, digest_size=16)


class Commit(NamedTuple):
    """The end of a transaction: the digest of memories.yaml after it, and before."""

    yaml: str
    over: str


@dataclass(slots=True)
class ReadHistory:
    """Everything in a history, in the order in which it was saved."""

    histories: dict[Home, list[MemoryHistory]] = field(default_factory=dict)
    edges: dict[Home, list[Relation]] = field(default_factory=dict)
    counters: dict[Home, Counters] = field(default_factory=dict)
    #: Whether lines of two branches were merged, so that versions were renumbered.
    is_mended: bool = False

    @property
    def homes(self) -> set[Home]:
        return {*self.histories, *self.edges, *self.counters}


class Tail(NamedTuple):
    """The end of a history: how much of it is sound, and its last commit."""

    sound: int
    commit: Commit | None


# Writing


def head_line() -> bytes:
    return _line({"history": FORMAT})


def version_line(home: Home, version: Version) -> bytes:
    memory = version.memory
    record = record_of(memory) | {"author": memory.author}
    if memory.updated_at != memory.created_at:
        record["updated_at"] = write_instant(memory.updated_at)
    return _line(
        {
            "tenant": home.spelled,
            "id": memory.id,
            "version": version.number,
            "change": version.change,
            "by": version.by,
            "as": version.origin,
            "at": write_instant(version.at),
            "memory": record,
        }
    )


def relation_line(home: Home, edge: Relation) -> bytes:
    edge_fields = {"id": edge.id, "from": edge.source, "relation": edge.relation, "to": edge.target}
    edge_fields |= {"created_at": write_instant(edge.created_at), "created_by": edge.created_by}
    if edge.removed_at is not None and edge.removed_by is not None:
        edge_fields |= {"removed_at": write_instant(edge.removed_at), "removed_by": edge.removed_by}
    return _line({"tenant": home.spelled, "edge": edge_fields})


def commit_line(commit: Commit, counters: Mapping[Home, Counters]) -> bytes:
    spelled = {home.spelled: counts for home, counts in counters.items()}
    return _line({"commit": commit.yaml, "over": commit.over, "counters": spelled})


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


# Reading


def tail_of(content: bytes) -> Tail:
    """Where the last finished transaction ends. One that a crash has torn does not count."""
    end = len(content)
    while (found := content.rfind(_COMMIT, 0, end)) >= 0:
        end, stop = found, content.find(b"\n", found)
        begins_line = found == 0 or content[found - 1 : found] == b"\n"
        if stop >= 0 and begins_line:
            commit = _read_commit(content[found:stop])
            if commit is not None and _is_whole(content, found):
                return Tail(stop + 1, commit)
    return Tail(0, None)


def _is_whole(content: bytes, commit: int) -> bool:
    """Whether all lines of the transaction that ends here were written: after a loss of power some may be missing."""
    begin = content.rfind(b"\n" + _COMMIT, 0, max(commit - 1, 0))
    begin = 0 if begin < 0 else content.find(b"\n", begin + 1) + 1
    return b"\0" not in content[begin:commit]


def _read_commit(line: bytes) -> Commit | None:
    try:
        value = json.loads(line)
        return Commit(str(value["commit"]), str(value["over"]))
    except (ValueError, KeyError, TypeError):
        return None


def read_history(content: bytes, sound: int, name: str) -> ReadHistory:
    """Everything that is sound. Invalid names the line that cannot be read."""
    reader, at = _HistoryReader(name), 0
    for number, line in enumerate(content.split(b"\n"), 1):
        at += len(line) + 1
        if not line.strip():
            continue
        if at <= sound:
            reader.take(number, line)
        elif at <= len(content) and b"\0" not in line:
            # Of a torn transaction only the last line is cut. Anything else did not come from us.
            reader.glance(number, line)
    return reader.history()


class _HistoryReader:
    """Collects lines in any order and puts them together at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._versions: dict[tuple[Home, str], dict[bytes, Version]] = {}
        self._edges: dict[Home, dict[tuple[str, ...], Relation]] = {}
        self._counters: dict[Home, Counters] = {}

    def glance(self, number: int, line: bytes) -> None:
        """Check that a line is one of ours at all."""
        try:
            json.loads(line)
        except ValueError as reason:
            raise self._fault(number, f"cannot be read: {reason}") from None

    def take(self, number: int, line: bytes) -> None:
        try:
            self._take(json.loads(line), line)
        except Faults as wrong:
            raise Invalid(
                Fault(f"{self._name}, line {number}, {fault.field}", fault.message) for fault in wrong.faults
            ) from None
        except KeyError as missing:
            raise self._fault(number, f"has no {missing.args[0]}") from None
        except (ValueError, TypeError, AttributeError, RecursionError) as reason:
            raise self._fault(number, f"cannot be read: {reason}") from None

    def _fault(self, number: int, reason: str) -> Invalid:
        cure = (
            "If a merge left conflict markers there, keep the lines of both sides and delete the markers; "
            "else restore the file."
        )
        return invalid(f"{self._name}, line {number}", f"{reason}. {cure}")

    def _take(self, value: Any, line: bytes) -> None:
        if "commit" in value:
            for tenant, (last_id, last_relation) in value["counters"].items():
                self._count(_home(tenant), _LAST_ID(last_id), _LAST(last_relation))
        elif "history" in value:
            if value["history"] != FORMAT:
                raise ValueError("it was written by a newer OnRecord; update OnRecord to open it")
        elif "edge" in value:
            edge = RELATION({_NAMES.get(name, name): each for name, each in value["edge"].items()})
            # A second line for the same relation says that it was removed.
            same = (edge.id, edge.source, edge.relation, edge.target, write_instant(edge.created_at))
            self._edges.setdefault(_home(value["tenant"]), {})[same] = edge
        else:
            version = _version(value)
            key = (Home(version.memory.tenant, _home(value["tenant"]).collection), version.memory.id)
            self._versions.setdefault(key, {}).setdefault(line, version)

    def _count(self, home: Home, last_id: str, last_relation: int) -> None:
        known = self._counters.get(home, Counters("0", 0))
        self._counters[home] = Counters(
            max(known.last_id, last_id, key=int), max(known.last_relation, last_relation)
        )

    def history(self) -> ReadHistory:
        read = ReadHistory(counters=self._counters)
        for (home, id), lines in self._versions.items():
            versions = _joined(lines.values())
            read.histories.setdefault(home, []).append(MemoryHistory(id, versions))
            read.is_mended |= {each.number for each in lines.values()} != {each.number for each in versions}
        for home, edges in self._edges.items():
            here = {history.id for history in read.histories.get(home, ())}
            whole = [edge for edge in edges.values() if {edge.source, edge.target} <= here]
            active = [edge[1:4] for edge, at in edges.items() if at.removed_at is None]
            read.edges[home] = whole
            read.is_mended |= len({edge.id for edge in whole}) < len(edges) or len({*active}) < len(active)
        return read


def _joined(versions: Iterable[Version]) -> tuple[Version, ...]:
    """Versions in the order of their times, each ending where the next begins; those of two branches are renumbered."""
    ordered = sorted(versions, key=lambda version: (version.at, version.number))
    ends: Sequence[datetime | None] = [*(version.at for version in ordered[1:]), None]
    return tuple(
        replace(version, number=number, until=until, memory=replace(version.memory, version=number))
        for number, (version, until) in enumerate(zip(credited(ordered), ends, strict=True), 1)
    )


def _version(value: Mapping[str, Any]) -> Version:
    at = rules.INSTANT(value["at"])
    memory = _memory(value, at)
    return Version(
        number=_NUMBER(value["version"]),
        change=rules.NAME(value["change"]),
        by=rules.NAME(value["by"]),
        origin=rules.ORIGIN(value["as"]),  # type: ignore[arg-type]
        at=at,
        until=None,
        memory=memory,
    )


def _home(spelled: Any) -> Home:
    return Home.named(rules.NAME(spelled))


def _memory(value: Mapping[str, Any], at: datetime) -> Memory:
    tenant = _home(value["tenant"]).tenant
    entry = dict(value["memory"]) | {"id": value["id"]}
    memory = memory_of(entry if ids.is_global(value["id"]) else entry | {"tenant": tenant}, at)
    return memory if "author" in entry else replace(memory, author="")


def lines_of(homes: Iterable[tuple[Home, Iterable[MemoryHistory], Iterable[Relation]]]) -> Iterator[bytes]:
    """All lines of a history, without its commit."""
    yield head_line()
    for home, histories, edges in homes:
        for history in histories:
            yield from (version_line(home, version) for version in history.versions)
        yield from (relation_line(home, edge) for edge in edges)
