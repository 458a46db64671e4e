"""HOW do the memories of an older datamind come here? Each row becomes a record, the records are imported, and only
then are the rows removed there.

A warning names each row that cannot be taken over completely; the old table then stays under another name.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign.converting import cut
from onrecord.care.foreign.taking_in import take_in
from onrecord.errors import NotFound
from onrecord.faces.datamind.items import KINDS
from onrecord.model import ids, rules
from onrecord.model.conversation_names import is_reserved
from onrecord.model.limits import CONTENT_BYTES, DIMENSION_OF, ENTITIES_OF, GLOBAL_TENANT, Kind, Scope
from onrecord.model.memory import Memory, derive_title
from onrecord.model.record import record_faults
from onrecord.service import OnRecord
from onrecord.store import legacy_tables
from onrecord.store.legacy_tables import FoundTables, Row

_FILE: Final = "memory.db"
_OLD, _NEW = "memory", "memory_v2"
_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EMPTY: Final = "(empty)"
#: The metadata keeps a value that fits no field here, under a key with this prefix.
_ODD: Final = "_legacy_"
_SCOPES: Final[Mapping[object, Scope]] = {"global": "global", "profile": "tenant", "session": "session"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """The result for one file: how many rows were taken over now, and warnings about odd ones."""

    path: str
    taken: int = 0
    warnings: tuple[str, ...] = ()


def migrate_storage(door: OnRecord, storage: str | Path) -> list[Migrated]:
    """Take over every profile's file in a folder: `<storage>/<profile>/memory.db`."""
    files = sorted(Path(storage).glob(f"*/{_FILE}"))
    return [migrate(door, file, file.parent.name) for file in files]


def migrate_own(door: OnRecord, profile: str) -> list[Migrated]:
    """Take over what an older datamind left in the file of the store itself; nothing if the store is not a file."""
    own = Path(door.location)
    return [migrate(door, own, profile)] if own.is_file() else []


def migrate(door: OnRecord, path: str | Path, profile: str) -> Migrated:
    """Take over what an older datamind keeps in a file; a second call finds nothing left to do.

    The sessions in the file belong to `profile`, and so do the rows that name no profile.
    """
    path = Path(path)
    taken, warnings = 0, list[str]()
    while True:
        found = legacy_tables.read(path)
        source, rows = _source_of(found)
        left_alone = source != _OLD and bool(found.rows.get(_OLD))
        if not found.rows or (source is None and left_alone):
            return Migrated(path=str(path), taken=taken, warnings=tuple(warnings))
        if rows:
            door.caller.require_operator("The memories of an older datamind")
        reader = _FormerItems(door.caller.user, profile)
        memories = [memory for row in rows for memory in reader.memories(row)]
        taken += _take_over(door, memories)
        warnings += reader.warnings
        if left_alone:
            warnings.append(f"{path}: the table {_OLD} was not taken over, since {_NEW} has rows")
        stays = {source} if rows and (reader.lost or left_alone) else set()
        gone = [name for name in found.rows if name not in stays and not (left_alone and name == _OLD)]
        if legacy_tables.take_away(path, found, gone, [name for name in stays if name]):
            return Migrated(path=str(path), taken=taken, warnings=tuple(dict.fromkeys(warnings)))


def _source_of(found: FoundTables) -> tuple[str | None, Sequence[Row]]:
    """The newer table and its rows if it has or had any, else the older table."""
    if rows := found.rows.get(_NEW):
        return _NEW, rows
    if _NEW + legacy_tables.KEPT not in found.names and _OLD in found.rows:
        return _OLD, found.rows[_OLD]
    return (_NEW, ()) if _NEW in found.rows else (None, ())


@dataclass(slots=True)
class _FormerItems:
    """Makes records of rows, whatever they contain, and collects warnings about odd values."""

    user: str
    profile: str
    warnings: list[str] = field(default_factory=list)
    #: Whether some content of a row could not be taken over and is only in the old table.
    lost: bool = False

    def memories(self, row: Row) -> Iterator[Memory]:
        """One record, or several if the content is too long for one."""
        odd: dict[str, Any] = {}
        name = f"Row {row['id']}"
        metadata = self._metadata(name, row.get("metadata"))
        kind = self._kind(name, row, odd)
        scope = self._scope(name, row, odd)
        created = self._moment(name, row.get("created_at"), odd)
        ended = self._moment(name, row.get("updated_at") or row.get("created_at"), odd)
        archived = row.get("status") == "archived"
        whole = Memory(
            tenant=self._tenant(name, row, scope),
            id=self._id(row, odd),
            kind=kind,
            dimension=DIMENSION_OF[kind],
            title="",
            content="",
            confidence="medium",
            scope=scope,
            owner=self.user,
            author=self.user,
            conversation=self._session(name, row, odd) if scope == "session" else None,
            origin="import",
            created_at=created,
            updated_at=max(created, ended) if archived else created,
            valid_from=created,
            valid_to=max(created, ended) if archived else None,
            status="archived" if archived else "active",
        )
        whole = replace(whole, id=ids.spell(whole.tenant, whole.id))
        for number, part in enumerate(self._parts(name, row.get("content")), 1):
            memory = replace(
                whole,
                id=whole.id if number == 1 else f"{whole.id}-part-{number}",
                title=derive_title(None, part),
                content=part,
                metadata=metadata | odd,
            )
            if faults := list(record_faults(memory)):
                self._lose(name, f"could not be taken over: {'; '.join(map(str, faults))}")
            else:
                yield memory

    def _note(self, name: str, message: str) -> None:
        self.warnings.append(f"{name} {message}")

    def _lose(self, name: str, message: str) -> None:
        self._note(name, f"{message}; it stays in the old table")
        self.lost = True

    def _kind(self, name: str, row: Row, odd: dict[str, Any]) -> Kind:
        kind = row.get("kind", "fact")
        for known in KINDS:
            if kind == known:
                return known
        odd[f"{_ODD}kind"] = str(kind)
        self._note(name, f"was of the kind {kind!a}, which does not exist here; it is a fact now")
        return "fact"

    def _scope(self, name: str, row: Row, odd: dict[str, Any]) -> Scope:
        scope = row.get("scope", "profile")
        if scope in _SCOPES:
            return _SCOPES[scope]
        odd[f"{_ODD}scope"] = str(scope)
        self._note(
            name, f"was of the scope {scope!a}, which does not exist here; it belongs to its profile now"
        )
        return "tenant"

    def _tenant(self, name: str, row: Row, scope: Scope) -> str:
        if scope == "global":
            return GLOBAL_TENANT
        given = row.get("profile", row.get("namespace")) if scope == "tenant" else None
        wanted = self.profile if given in (None, "") else str(given)
        if _is_name(wanted) and wanted != GLOBAL_TENANT and not wanted.startswith(ENTITIES_OF):
            return wanted
        # Each unusable name gets a tenant of its own, so its rows never mix with those of another name.
        made = f"profile-{_digest(wanted)}"
        self._note(
            name, f"was of the profile {wanted!a}, which is not a valid name here; it is in {made} now"
        )
        return made

    def _session(self, name: str, row: Row, odd: dict[str, Any]) -> str:
        given = str(row.get("session_id") or "")
        if _is_name(given) and not is_reserved(given):
            return given
        odd[f"{_ODD}session_id"] = given
        made = f"session-{_digest(given)}"
        self._note(name, f"was of the session {given!a}, which is not a valid name here; it is in {made} now")
        return made

    def _id(self, row: Row, odd: dict[str, Any]) -> str:
        given = str(row["id"])
        try:
            return ids.plain_id(given)
        except ValueError:
            odd[f"{_ODD}id"] = given
            return f"legacy-{_digest(given)}"

    def _moment(self, name: str, given: object, odd: dict[str, Any]) -> datetime:
        try:
            return datetime.fromtimestamp(float(str(given)), UTC)
        except (ValueError, OverflowError, OSError):
            pass
        try:
            return rules.INSTANT(given)
        except ValueError:
            odd[f"{_ODD}created_at"] = str(given)
            self._note(name, f"has no time that can be read ({given!a}); it is from 1970 now")
            return _LONG_AGO

    def _metadata(self, name: str, given: object) -> dict[str, Any]:
        if given in (None, "", b""):
            return {}
        text = given.decode(errors="replace") if isinstance(given, bytes) else str(given)
        try:
            metadata = json.loads(text)
            if metadata is None:
                return {}
            clean: dict[str, Any] = rules.Json()(
                metadata if isinstance(metadata, dict) else {f"{_ODD}metadata": metadata}
            )
            return clean
        except (ValueError, RecursionError):
            self._lose(name, "has metadata that cannot be read here")
            return {}

    def _parts(self, name: str, given: object) -> Iterable[str]:
        text = given.decode(errors="replace") if isinstance(given, bytes) else str(given or "")
        try:
            rules.storable(text)
        except ValueError as reason:
            self._lose(name, str(reason))
            text = text.replace("\x00", "\ufffd")
        if "\ufffd" in text:
            self._lose(name, "has characters that cannot be stored as text")
        if not text.strip():
            self._note(name, f"is empty; its content is {_EMPTY!a} now")
            return [_EMPTY]
        parts = list(cut(text))
        if len(parts) > 1:
            self._note(name, f"is longer than {CONTENT_BYTES} bytes; it is in {len(parts)} parts now")
        return parts


def _is_name(text: str) -> bool:
    try:
        return rules.NAME(text) == text
    except ValueError:
        return False


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def _take_over(door: OnRecord, memories: Iterable[Memory]) -> int:
    """Import each memory into its tenant, and count those that were not here before."""
    by_tenant: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        by_tenant[memory.tenant].append(memory)
    taken = 0
    for tenant, theirs in by_tenant.items():
        there = door
        if tenant not in (GLOBAL_TENANT, door.caller.tenant):
            there = door.as_caller(replace(door.caller, tenant=tenant))
        imported = take_in(there, theirs)
        taken += imported.added
        others = [
            replace(memory, id=f"{memory.id}-{_digest(memory.content)}")
            for memory in theirs
            if memory.id in imported.conflicts and not _came_before(there, memory)
        ]
        if others:
            taken += take_in(there, others).added
    return taken


def _came_before(door: OnRecord, memory: Memory) -> bool:
    """Whether the memory with this id is the same row, taken over earlier and changed since."""
    try:
        first = door.history(ids.exactly(memory.id)).versions[0].memory
    except NotFound:
        return False
    return first.origin == "import" and first.created_at == memory.created_at
