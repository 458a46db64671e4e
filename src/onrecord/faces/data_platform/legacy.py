"""HOW do the records of an original data platform come here? Its tables memory_records and knowledge_changesets are read,
from PostgreSQL or as JSON lines, and imported; they stay as they are, and a second time finds nothing new.

A warning names each row that cannot be taken over, or not completely. What a person approved there counts as approved
here; everything else has the tier of an import.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign.taking_in import take_in
from onrecord.care.reassigning import FORMER_OWNER
from onrecord.errors import NotFound, invalid
from onrecord.faces.data_platform.actions import TYPES, edits_of, subject_of
from onrecord.faces.data_platform.fields import CATEGORIES, SOURCES
from onrecord.faces.data_platform.records import ACTIONS, COLUMNS, without_derived
from onrecord.model import ids, rules
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.edits import EDITS, Edit
from onrecord.model.limits import CONFIDENCES, DIMENSIONS, LIVE, PROPOSAL_STATES, REASON_CHARACTERS, Status
from onrecord.model.memory import Memory, Proposal, Relation, derive_title
from onrecord.model.record import record_faults
from onrecord.service import OnRecord

Row = Mapping[str, Any]
RECORDS: Final = "memory_records"
CHANGESETS: Final = "knowledge_changesets"
#: Vectors are made anew, by the model that is used here.
_WITHOUT: Final[Mapping[str, Sequence[str]]] = {RECORDS: ("embedding",), CHANGESETS: ()}
_TARGET: Final = "amendments"
#: How the reason of a changeset begins that came from there; its id there follows.
_CALLED: Final = "changeset there: "
_STATUSES: Final[Mapping[str, Status]] = {
    "pending": "pending",
    "approved": "active",
    "applied": "active",
    "rejected": "archived",
    "rolled_back": "archived",
    "superseded": "superseded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MigratedTables:
    """How many rows there are, how many of them were not here before, and warnings about odd ones."""

    records: int
    changesets: int
    taken: int
    by_status: Mapping[str, int]
    warnings: tuple[str, ...] = ()
    #: Nothing was imported.
    dry_run: bool = False


def migrate(door: OnRecord, source: str, *, dry_run: bool = False) -> MigratedTables:
    """Take over the records of a platform: from a PostgreSQL database, a file of JSON lines, or a folder of such files."""
    door.caller.require("memory.admin")
    rows = _rows(source)
    reader = _RowReader(door, {str(row.get("id")): row for row in rows[CHANGESETS]})
    memories = [memory for row in rows[RECORDS] if (memory := reader.memory(row)) is not None]
    fresh = [memory for memory in memories if not _is_here(door, memory.id)]
    migrated = MigratedTables(
        records=len(rows[RECORDS]),
        changesets=len(rows[CHANGESETS]),
        taken=len(fresh),
        by_status=dict(Counter(memory.status for memory in memories)),
        warnings=tuple(reader.warnings),
        dry_run=dry_run,
    )
    if dry_run or not fresh:
        return migrated
    imported = take_in(door, fresh, reader.new_changesets(), list(_chain(memories)))
    return replace(migrated, taken=imported.added)


def _rows(source: str) -> dict[str, list[Row]]:
    if "://" in source:
        # Here, not above: a file needs no driver.
        from onrecord.store.postgres.foreign_rows import foreign_rows

        return foreign_rows(source, _WITHOUT)
    path = Path(source).expanduser()
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    rows: dict[str, list[Row]] = {RECORDS: [], CHANGESETS: []}
    for file in files:
        for row in _lines(file):
            rows[CHANGESETS if "target_urn" in row else RECORDS].append(row)
    return rows


def _lines(file: Path) -> Iterator[Row]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise invalid("source", f"{file} cannot be read: {problem}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise invalid("source", f"line {number} of {file} is not a JSON object; nothing was imported")
        yield row


def _is_here(door: OnRecord, id: str) -> bool:
    try:
        door.show(id)
    except NotFound:
        return False
    return True


def _chain(memories: Sequence[Memory]) -> Iterator[Relation]:
    """What superseded what, as far as both came."""
    known = {each.id: each for each in memories}
    found = ((each, known[by]) for each in memories if (by := each.metadata.get("superseded_by")) in known)
    for number, (old, new) in enumerate(found, 1):
        yield Relation(
            id=str(number),
            source=new.id,
            relation="supersedes",
            target=old.id,
            created_at=old.valid_to or new.created_at,
            created_by=new.owner,
        )


@dataclass(slots=True)
class _RowReader:
    """Makes memories of rows, and collects warnings about odd values."""

    door: OnRecord
    changesets: Mapping[str, Row]
    warnings: list[str] = field(default_factory=list)
    _numbers: dict[str, str] | None = None
    _made: dict[str, Changeset] = field(default_factory=dict)

    def memory(self, row: Row) -> Memory | None:
        """The memory of a row; None, with a warning, if it cannot be one."""
        name = f"Record {row.get('id')!a}"
        try:
            memory = self._read(row, name)
        except ValueError as problem:
            self._warn(name, f"was left out: {problem}")
            return None
        if faults := list(record_faults(memory)):
            self._warn(name, f"was left out: {'; '.join(map(str, faults))}")
            return None
        return memory

    def _read(self, row: Row, name: str) -> Memory:
        metadata = self._metadata(row.get("metadata"), name)
        state = str(metadata.get("insight_status") or "")
        if state not in PROPOSAL_STATES:
            state = ""
        status = self._status(row, state)
        created, updated = _moment(row["created_at"]), _moment(row.get("updated_at") or row["created_at"])
        persona, urns = str(row.get("persona") or "") or None, list(row.get("entity_urns") or ())
        dimension = str(row.get("dimension") or "knowledge")
        owner = str(row.get("created_by") or self.door.caller.user)
        return Memory(
            tenant=self.door.caller.tenant,
            id=ids.plain_id(str(row["id"])),
            kind="preference" if dimension == "preference" else "fact",
            dimension=_known(dimension, DIMENSIONS),  # type: ignore[arg-type]
            title=derive_title(None, str(row["content"])),
            content=str(row["content"]),
            category=_known(str(row.get("category") or CATEGORIES[1]), CATEGORIES),
            confidence=_known(str(row.get("confidence") or "medium"), CONFIDENCES),  # type: ignore[arg-type]
            source=_known(str(row.get("source") or SOURCES[0]), SOURCES),
            metadata=self._kept(row, metadata),
            entities=tuple(dict.fromkeys(map(str, urns))),
            scope="persona" if persona else "tenant",
            persona=persona,
            owner=owner,
            author=owner,
            origin="import",
            created_at=created,
            updated_at=max(created, updated),
            valid_from=created,
            valid_to=None if status in LIVE else max(created, updated),
            verified_at=_moment(row["last_verified"]) if row.get("last_verified") else None,
            status=status,
            status_reason=str(row.get("stale_reason") or metadata.get("review_notes") or "")[
                :REASON_CHARACTERS
            ]
            or None,
            **(self._proposed(state, metadata, urns, name) if state else {}),
        )

    def _proposed(self, state: str, metadata: Row, urns: Sequence[str], name: str) -> dict[str, Any]:
        """What makes it a proposal in the state that it was in."""
        fields: dict[str, Any] = {"edits": self._edits(metadata, urns, name)}
        if state in ("pending", "rejected"):
            fields["proposes"] = Proposal(change="save")
        if state in ("approved", "applied", "rolled_back"):
            by = metadata.get("reviewed_by") or metadata.get("applied_by") or self.door.caller.user
            fields |= {"approved_by": str(by), "approved_at": _maybe(metadata.get("reviewed_at"))}
        if state in ("applied", "rolled_back") and (ref := metadata.get("changeset_ref")):
            fields["changeset"] = self._changeset(str(ref))
        return fields

    def _edits(self, metadata: Row, urns: Sequence[str], name: str) -> tuple[Edit, ...]:
        edits: list[dict[str, Any]] = []
        for action in metadata.get(ACTIONS) or ():
            urn = subject_of(action, urns)
            if action.get("action_type") not in TYPES or urn is None:
                continue
            made = edits_of(action, "action_type", urn)
            try:
                EDITS(made)
                edits += made
            except ValueError as problem:
                self._warn(
                    name,
                    f"suggests a change that cannot be written here; the suggestion stays in its metadata: {problem}",
                )
        return tuple(EDITS(edits))

    def _metadata(self, given: Any, name: str) -> dict[str, Any]:
        """Metadata that was null, or became a list when it was merged with something."""
        read = json.loads(given) if isinstance(given, str) and given else given
        if read is None or read == "":
            return {}
        if isinstance(read, list):
            self._warn(name, "has a list as its metadata; the objects in the list were merged")
            return {key: value for each in read if isinstance(each, dict) for key, value in each.items()}
        return dict(read) if isinstance(read, dict) else {"metadata": read}

    def _kept(self, row: Row, metadata: Row) -> dict[str, Any]:
        kept = without_derived(metadata)
        if columns := row.get("related_columns"):
            kept[COLUMNS] = columns
        if was := metadata.get("legacy_created_by"):
            kept[FORMER_OWNER] = was
        if by := metadata.get("superseded_by"):
            # Shown by the relation, if what superseded it came too.
            kept["superseded_by"] = by
        clean: dict[str, Any] = rules.Json()(kept)
        return clean

    def _status(self, row: Row, state: str) -> Status:
        if state:
            given = str(row.get("status") or "")
            return "stale" if given == "stale" and _STATUSES[state] == "active" else _STATUSES[state]
        return _known(str(row.get("status") or "active"), ("active", "stale", "superseded", "archived"))  # type: ignore[return-value]

    def _changeset(self, ref: str) -> str | None:
        """The number here of a changeset there; None, with a warning, if it did not come."""
        if ref not in self.changesets:
            self._warn(f"Changeset {ref!a}", "is not in its table; its insights count as approved")
            return None
        numbers = self._known_numbers()
        if ref not in numbers:
            numbers[ref] = str(max(map(int, numbers.values()), default=0) + 1)
            self._made[ref] = self._changeset_of(self.changesets[ref], numbers[ref])
        return numbers[ref]

    def _known_numbers(self) -> dict[str, str]:
        """The numbers of changesets that came before, by their ids there; and of our own."""
        if self._numbers is None:
            self._numbers, skip = {}, 0
            while page := self.door.changesets(limit=1_000, skip=skip).changesets:
                for each in page:
                    called = (each.reason or "").removeprefix(_CALLED)
                    self._numbers[called if called != each.reason else f"here: {each.id}"] = each.id
                skip += len(page)
        return self._numbers

    def new_changesets(self) -> list[Changeset]:
        return list(self._made.values())

    def _changeset_of(self, row: Row, number: str) -> Changeset:
        at = _moment(row["created_at"])
        was_taken_back = bool(row.get("rolled_back"))
        ended = _maybe(row.get("rolled_back_at")) or at
        return Changeset(
            id=number,
            entity=str(row["target_urn"]),
            target=_TARGET,
            state="rolled_back" if was_taken_back else "applied",
            changes=tuple(_changes(row)),
            memories=tuple(map(str, row.get("source_insight_ids") or ())),
            by=str(row.get("applied_by") or self.door.caller.user),
            at=at,
            updated_at=ended if was_taken_back else at,
            reason=f"{_CALLED}{row['id']}",
            ended_by=str(row.get("rolled_back_by") or self.door.caller.user) if was_taken_back else None,
            ended_at=ended if was_taken_back else None,
        )

    def _warn(self, name: str, message: str) -> None:
        self.warnings.append(f"{name} {message}")


def _changes(row: Row) -> Iterator[FieldChange]:
    """The changes that can be read off what was written: each type with its target and detail, wherever they are."""
    before = row.get("previous_value")
    was: Row = before if isinstance(before, dict) else {}
    new = row.get("new_value")
    every = list(new.values()) if isinstance(new, dict) else list(new or ())
    for change in [new, *every]:
        if not isinstance(change, dict) or change.get("change_type") not in TYPES:
            continue
        try:
            edits = EDITS(edits_of(change, "change_type", str(row["target_urn"])))
        except ValueError:
            continue
        for edit in edits:
            stood = was.get("description") or None if edit.field == "description" else None
            if edit.field == "tags" and edit.key in [
                str(each).removeprefix("urn:li:tag:") for each in was.get("tags") or ()
            ]:
                stood = True
            memories = tuple(map(str, row.get("source_insight_ids") or ()))
            yield FieldChange(edit=edit, before=stood, after=edit.after, memories=memories)


def _known(value: str, values: Sequence[str]) -> str:
    if value not in values:
        raise ValueError(f"{value!a} is none of {', '.join(values)}")
    return value


def _moment(value: Any) -> datetime:
    moment: datetime = rules.INSTANT(value)
    return moment.astimezone(UTC)


def _maybe(value: Any) -> datetime | None:
    return _moment(value) if value else None
