"""HOW is feedback kept? A row for each user, hit and question, newest last; it goes with its memory."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Final, NamedTuple, Self

from sqlalchemy import ColumnElement, Connection, and_, delete, func, select

from onrecord.errors import no_such_page
from onrecord.model import ids
from onrecord.model.caller import Caller
from onrecord.model.collections import MEMORIES
from onrecord.model.feedback import Feedback, digest_of
from onrecord.model.limits import FEEDBACK_OF_ONE, GLOBAL_TENANT
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.filters import FeedbackFilter
from onrecord.store.records.ledger import settings_of
from onrecord.store.records.workspace_rows import WorkspaceRows
from onrecord.store.rows import AnyRow
from onrecord.store.tables import feedback, memories, tenants
from onrecord.store.timestamps import datetime_of, microseconds_of

_NUMBER: Final = "feedback"
_HELD: Final = select(memories.c.id).where(
    memories.c.collection == MEMORIES.number, one_of(memories.c.id, "named")
)
_COLUMNS: Final = tuple(feedback.c[each.name] for each in fields(Feedback))
_DIGITS: Final = re.compile(r"[0-9]{1,17}", re.ASCII)
_ROWS_AT_ONCE: Final = 1_000
_NEWEST_FIRST: Final = (feedback.c.at.desc(), feedback.c.number.desc())
#: How many rows one transaction deletes, and those of the same moment.
_SWEPT_AT_ONCE: Final = 10_000


class _Mark(NamedTuple):
    """Where a page goes on: at a time, after so many of that time. It reveals nothing of what others said."""

    at: int
    shown: int

    @classmethod
    def read(cls, text: str) -> Self:
        parts = [int(part) for part in text.split("-") if _DIGITS.fullmatch(part)]
        if len(parts) != 2 or text != f"{parts[0]}-{parts[1]}":
            raise no_such_page()
        return cls(*parts)

    @classmethod
    def behind(cls, page: Sequence[Feedback], before: Self | None) -> Self:
        at = microseconds_of(page[-1].at)
        shown = sum(each.at == page[-1].at for each in page)
        return cls(at, shown + (before.shown if before is not None and before.at == at else 0))

    def __str__(self) -> str:
        return f"{self.at}-{self.shown}"


class FeedbackRows(WorkspaceRows):
    """The rows of one tenant within one transaction."""

    def _put(self, given: Feedback) -> None:
        self._add(feedback, number=self._next(_NUMBER), **asdict(given))


class SqlFeedback(FeedbackRows):
    """The feedback of a tenant, as far as one caller may see it."""

    def __init__(self, connection: Connection, tenant: int, caller: Caller) -> None:
        super().__init__(connection, tenant)
        self._caller = caller

    def page(self, ask: FeedbackFilter) -> tuple[list[Feedback], str | None]:
        wanted = [feedback.c.tenant == self._tenant]
        if not self._caller.is_admin:
            wanted.append(feedback.c.user == self._caller.user)
        if ask.id is not None:
            wanted.append(feedback.c.memory == ask.id)
        if ask.question is not None:
            wanted.append(feedback.c.digest == digest_of(ask.question))
        if ask.verdict is not None:
            wanted.append(feedback.c.verdict == ask.verdict)
        if ask.user is not None:
            wanted.append(feedback.c.user == ask.user)
        mark = None if ask.after is None else _Mark.read(ask.after)
        if mark is not None:
            wanted.append(feedback.c.at <= datetime_of(mark.at))
        found = select(*_COLUMNS).where(*wanted).order_by(*_NEWEST_FIRST)
        rows = self._all(found.offset(mark.shown if mark else 0).limit(ask.limit + 1))
        page = [_read(row) for row in rows[: ask.limit]]
        return page, str(_Mark.behind(page, mark)) if len(rows) > len(page) else None


class SqlWritableFeedback(SqlFeedback):
    """The same in one transaction that holds the lock of the tenant."""

    def own(self, memory: str, digest: str) -> Feedback | None:
        return self._one(select(*_COLUMNS).where(self._of(memory, self._caller.user, digest)), _read)

    def keep(self, given: Feedback) -> Feedback:
        # Asked for under the lock: whoever ends the keeping of questions takes it too.
        keeps = settings_of(self._connection, self._tenant).keep_questions
        kept = given if keeps else replace(given, question=None)
        before = self.own(given.memory, given.digest)
        if before is not None and replace(kept, at=before.at) == before:
            return before
        self.withdraw(kept)
        self._put(kept)
        self._make_room(kept.user)
        return kept

    def withdraw(self, given: Feedback) -> None:
        self._connection.execute(delete(feedback).where(self._of(given.memory, given.user, given.digest)))

    def _make_room(self, user: str) -> None:
        its = (feedback.c.tenant == self._tenant, feedback.c.user == user)
        newest = select(feedback.c.number).where(*its).order_by(*_NEWEST_FIRST)
        oldest = self._connection.execute(newest.offset(FEEDBACK_OF_ONE).limit(1)).scalar_one_or_none()
        if oldest is not None:
            self._connection.execute(delete(feedback).where(*its, feedback.c.number == oldest))

    def _of(self, memory: str, user: str, digest: str) -> ColumnElement[bool]:
        return and_(
            feedback.c.tenant == self._tenant,
            feedback.c.memory == memory,
            feedback.c.user == user,
            feedback.c.digest == digest,
        )


class SqlFeedbackArchive(FeedbackRows):
    """All feedback of a tenant; restoring holds the tenant's lock."""

    def every(self) -> Iterator[Feedback]:
        found = select(*_COLUMNS).where(feedback.c.tenant == self._tenant).order_by(feedback.c.number)
        for row in self._connection.execute(found.execution_options(yield_per=_ROWS_AT_ONCE)):
            yield _read(row)

    def questions(self) -> int:
        its = (feedback.c.tenant == self._tenant, feedback.c.verdict == "useful")
        asked = select(func.count(feedback.c.digest.distinct())).where(*its, feedback.c.question.is_not(None))
        return int(self._connection.execute(asked).scalar_one())

    def restore(self, given: Sequence[Feedback]) -> int:
        held = held_memories(self._connection, self._tenant, {each.memory for each in given})
        said = set(self._said(held)) if held else set()
        added = 0
        for each in given:
            whose = (each.memory, each.user, each.digest)
            if each.memory in held and whose not in said:
                said.add(whose)
                self._put(each)
                added += 1
        return added

    def _said(self, about: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        for memory in about:
            its = (feedback.c.tenant == self._tenant, feedback.c.memory == memory)
            found = select(feedback.c.user, feedback.c.digest).where(*its)
            for user, digest in self._connection.execute(found):
                yield memory, user, digest


def drop_feedback_of(connection: Connection, touched: Iterable[int], memory: str) -> None:
    """Remove what anybody said of a memory, in each of these tenants."""
    for tenant in touched:
        connection.execute(delete(feedback).where(feedback.c.tenant == tenant, feedback.c.memory == memory))


def sweep_feedback(connection: Connection, tenant: int, before: datetime) -> int:
    """Delete feedback of a tenant from before this time, at most _SWEPT_AT_ONCE rows; returns how many."""
    old = (feedback.c.tenant == tenant, feedback.c.at < before)
    some = select(feedback.c.at).where(*old).order_by(feedback.c.at).limit(_SWEPT_AT_ONCE)
    times = connection.execute(some).scalars().all()
    if not times:
        return 0
    gone = delete(feedback).where(feedback.c.tenant == tenant, feedback.c.at <= times[-1])
    return connection.execute(gone).rowcount


def drop_strays(connection: Connection, tenant: int) -> None:
    """Remove feedback about memories that are gone."""
    for memory in stray_memories(connection, tenant):
        drop_feedback_of(connection, [tenant], memory)


def stray_memories(connection: Connection, tenant: int) -> list[str]:
    """The memories that feedback of a tenant names and that are not here."""
    named = select(feedback.c.memory).where(feedback.c.tenant == tenant).distinct()
    wanted = set(connection.execute(named).scalars())
    return sorted(wanted - held_memories(connection, tenant, wanted))


def held_memories(connection: Connection, tenant: int, wanted: Iterable[str]) -> set[str]:
    """Which of these memories are in a tenant, or among the global ones."""
    everyones = connection.execute(select(tenants.c.key).where(tenants.c.name == GLOBAL_TENANT)).scalar()
    held: set[str] = set()
    for spelled, home in (("", tenant), (GLOBAL_TENANT, everyones or 0)):
        its = [ids.address(id).id for id in wanted if ids.is_global(id) == bool(spelled)]
        found = _HELD.where(memories.c.tenant == home)
        held |= {ids.spell(spelled, id) for id in connection.execute(found, {"named": its}).scalars()}
    return held


def _read(row: AnyRow) -> Feedback:
    return Feedback(**{column.name: getattr(row, column.name) for column in _COLUMNS})
