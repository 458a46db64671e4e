"""HOW is a changeset read and written? The port of changesets over any SQL back end, and their rows in an export."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, or_, select, update

from onrecord.model.changesets import UNSETTLED, Changeset, FieldChange
from onrecord.model.wire import from_json, to_json
from onrecord.store.ports.filters import ChangesetFilter
from onrecord.store.records.workspace_rows import CHANGESET, WorkspaceRows, whole
from onrecord.store.rows import AnyRow, as_stored
from onrecord.store.tables import changesets

_ROWS_AT_ONCE: Final = 100


class ChangesetRows(WorkspaceRows):
    """The changesets of one tenant within one transaction."""

    def one(self, id: str) -> Changeset | None:
        return self._one(select(changesets).where(self._numbered(id)), _read)

    def page(self, ask: ChangesetFilter) -> tuple[list[Changeset], int]:
        wanted = [changesets.c.tenant == self._tenant]
        if ask.entity is not None:
            wanted.append(changesets.c.entity == ask.entity)
        if ask.states:
            wanted.append(changesets.c.state.in_(ask.states))
        if ask.by is not None:
            wanted.append(changesets.c.by == ask.by)
        if ask.since is not None:
            wanted.append(changesets.c.at >= ask.since)
        if ask.before is not None:
            wanted.append(changesets.c.at < ask.before)
        found = select(changesets).where(*wanted).order_by(changesets.c.id.desc())
        total = select(func.count()).select_from(changesets).where(*wanted)
        rows = self._all(found.offset(ask.skip).limit(ask.limit))
        return [_read(row) for row in rows], int(self._connection.execute(total).scalar_one())

    def naming(self, memory: str) -> list[Changeset]:
        written = json.dumps(memory, ensure_ascii=False)
        # The text of the list narrows the search, the list decides.
        holding = as_stored(changesets.c.memories).contains(written, autoescape=True)
        return [each for each in self._where(holding) if memory in each.memories]

    def of_entity(self, entity: str) -> list[Changeset]:
        return self._where(changesets.c.entity == entity)

    def applied_under(self, target: str, prefix: str) -> list[Changeset]:
        named = or_(changesets.c.target == target, changesets.c.entity.startswith(prefix, autoescape=True))
        return self._where(and_(changesets.c.state == "applied", named))

    def _where(self, wanted: ColumnElement[bool]) -> list[Changeset]:
        found = select(changesets).where(changesets.c.tenant == self._tenant, wanted)
        return [_read(row) for row in self._all(found.order_by(changesets.c.id))]

    def unsettled(self, before: datetime | None = None) -> list[Changeset]:
        wanted = [changesets.c.tenant == self._tenant, changesets.c.state.in_(UNSETTLED)]
        if before is not None:
            wanted.append(changesets.c.updated_at < before)
        return [_read(row) for row in self._all(select(changesets).where(*wanted).order_by(changesets.c.id))]

    def begin(self, changeset: Changeset) -> Changeset:
        begun = replace(changeset, id=str(self._next(CHANGESET)))
        self._add(changesets, **_row(begun))
        return begun

    def replace(self, changeset: Changeset) -> Changeset:
        self._connection.execute(
            update(changesets).where(self._numbered(changeset.id)).values(_row(changeset))
        )
        return changeset

    def every(self) -> Iterator[Changeset]:
        """All of them by number, one at a time."""
        every = select(changesets).where(changesets.c.tenant == self._tenant).order_by(changesets.c.id)
        for row in self._connection.execute(every.execution_options(yield_per=_ROWS_AT_ONCE)):
            yield _read(row)

    def restore(self, changeset: Changeset) -> None:
        """Add one from elsewhere under its own number."""
        self._add(changesets, **_row(changeset))
        self._count_to(CHANGESET, int(changeset.id))

    def _numbered(self, id: str) -> ColumnElement[bool]:
        return and_(changesets.c.tenant == self._tenant, changesets.c.id == (whole(id) or 0))


def _row(changeset: Changeset) -> dict[str, Any]:
    known: dict[str, Any] = {name: getattr(changeset, name) for name in Changeset.__slots__}
    return known | {"id": int(changeset.id), "changes": to_json(changeset.changes)}


def _read(row: AnyRow) -> Changeset:
    known: dict[str, Any] = {name: row._mapping[name] for name in Changeset.__slots__}
    changes = tuple(from_json(FieldChange, each) for each in row.changes)
    return Changeset(**known | {"id": str(row.id), "changes": changes})
