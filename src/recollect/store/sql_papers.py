"""HOW does what is kept beside memories lie in rows? The port of papers over any SQL back end."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, delete, func, insert, select, update

from recollect.errors import Fault, Invalid
from recollect.model import ids
from recollect.model.answers import ShownAgent
from recollect.model.caller import Caller
from recollect.model.memory import Change, Memory
from recollect.model.papers import AgentSettings, Artifact, Conversation, Scratchpad, pad_kind
from recollect.model.requests import ListConversations
from recollect.store.ledger import SqlLedger
from recollect.store.papers import File, Usage
from recollect.store.rows import AnyRow
from recollect.store.tables import (
    agent_settings,
    artifacts,
    conversations,
    memories,
    numbers,
    scratchpads,
)
from recollect.store.writing import SqlWriting

Read = TypeVar("Read")

_CONVERSATION: Final = "conversation"
_CONVERSATION_ROW: Final = "conversation row"
_ARTIFACT: Final = "artifact"
_BLOCK: Final = "scratchpad block"
#: A number that a program chose moves the tenant's own on, as far as every reader of JSON can still count.
_COUNTED: Final = 2**53
_MARK_DIGITS: Final = 18


class Hands(NamedTuple):
    """What a transaction writes with. The writing holds the tenant's row, so that no one else writes there."""

    writing: SqlWriting
    ledger: SqlLedger


class SqlPapers:
    """One transaction in one tenant; without hands it only reads."""

    def __init__(
        self, connection: Connection, caller: Caller, now: datetime, hands: Hands | None = None
    ) -> None:
        self._connection = connection
        self._caller = caller
        self._tenant = caller.tenant
        self._now = now
        self._given_hands = hands
        #: Whether something went whose bytes must not linger.
        self.erased = False

    # Conversations

    def conversation(self, id: str) -> Conversation | None:
        return self._one(_CONVERSATIONS.where(self._named(id)), _conversation)

    def conversations(self, ask: ListConversations) -> tuple[list[Conversation], str | None]:
        wanted = [conversations.c.tenant == self._tenant]
        if ask.agent is not None:
            wanted.append(conversations.c.agent == ask.agent)
        if ask.after is not None:
            wanted.append(conversations.c.row < _number(ask.after))
        found = _CONVERSATIONS.where(*wanted).order_by(conversations.c.row.desc())
        rows = self._all(found.limit(ask.limit + 1))
        page = rows[: ask.limit]
        return [_conversation(row) for row in page], str(page[-1].row) if len(rows) > len(page) else None

    def register(self, id: str | None, agent: str | None, title: str | None) -> tuple[Conversation, bool]:
        known = None if id is None else self.conversation(id)
        if known is not None:
            return known, False
        made = Conversation(
            id=self._counted(id) if id else str(self._next(_CONVERSATION)),
            agent=agent,
            title=title,
            created_at=self._now,
            created_by=self._caller.user,
        )
        self._add(conversations, row=self._next(_CONVERSATION_ROW), **asdict(made))
        return made, True

    def drop_conversation(self, id: str) -> None:
        row = select(conversations.c.row).where(self._named(id)).scalar_subquery()
        its = and_(artifacts.c.tenant == self._tenant, artifacts.c.conversation == row)
        self._drop(artifacts, its)
        self._drop(conversations, self._named(id))

    # Files

    def artifact(self, id: str) -> Artifact | None:
        return self._one(self._artifacts(artifacts.c.id == (_whole(id) or 0)), _artifact)

    def artifact_at(self, conversation: str, path: str) -> Artifact | None:
        there = self._artifacts(conversations.c.id == conversation, artifacts.c.path == path)
        return self._one(there, _artifact)

    def artifacts(self, conversation: str | None = None) -> list[Artifact]:
        named = () if conversation is None else (conversations.c.id == conversation,)
        rows = self._all(self._artifacts(*named))
        # Not in the statement, since databases order punctuation differently.
        return [_artifact(row) for row in sorted(rows, key=lambda row: (row.conversation_row, row.path))]

    def content(self, id: str) -> bytes:
        content = select(artifacts.c.content).where(self._numbered(id))
        return bytes(self._connection.execute(content).scalar_one())

    def usage(self, conversation: str | None = None) -> Usage:
        held = select(func.count(), func.coalesce(func.sum(artifacts.c.size), 0))
        held = held.where(artifacts.c.tenant == self._tenant)
        if conversation is not None:
            row = select(conversations.c.row).where(self._named(conversation)).scalar_subquery()
            held = held.where(artifacts.c.conversation == row)
        count, size = self._connection.execute(held).one()
        return Usage(int(count), int(size))

    def keep(self, file: File) -> Artifact:
        before = self.artifact_at(file.conversation, file.path)
        values: dict[str, Any] = {
            "sha256": hashlib.sha256(file.content).hexdigest(),
            "media_type": file.media_type,
            "size": len(file.content),
            "updated_at": self._now,
            "written_by": self._caller.user,
            "content": file.content,
        }
        if before is None:
            row = select(conversations.c.row).where(self._named(file.conversation))
            values |= {"conversation": self._connection.execute(row).scalar_one(), "path": file.path}
            self._add(artifacts, id=self._next(_ARTIFACT), created_at=self._now, **values)
        else:
            self._connection.execute(update(artifacts).where(self._numbered(before.id)).values(values))
            self.erased = True
        kept = self.artifact_at(file.conversation, file.path)
        assert kept is not None
        return kept

    def drop_artifact(self, id: str) -> None:
        self._drop(artifacts, self._numbered(id))

    # Working notes

    def scratchpad(self, agent: str) -> str | None:
        blocks = select(scratchpads.c.text).where(self._of_agent(scratchpads, agent))
        return "".join(self._connection.execute(blocks.order_by(scratchpads.c.number)).scalars()) or None

    def scratchpad_size(self, agent: str) -> int:
        total = select(func.coalesce(func.sum(scratchpads.c.size), 0))
        return int(self._connection.execute(total.where(self._of_agent(scratchpads, agent))).scalar_one())

    def scratchpads(self) -> list[Scratchpad]:
        found = select(
            scratchpads.c.agent,
            func.sum(scratchpads.c.size).label("size"),
            func.max(scratchpads.c.written_at).label("updated_at"),
        ).where(scratchpads.c.tenant == self._tenant)
        pads = [_scratchpad(row) for row in self._all(found.group_by(scratchpads.c.agent))]
        return sorted(pads, key=lambda pad: (pad.kind != "shared", pad.agent))

    def append(self, agent: str, text: str) -> None:
        self._add(
            scratchpads,
            agent=agent,
            number=self._next(_BLOCK),
            size=len(text.encode()),
            written_at=self._now,
            text=text,
        )

    def clear(self, agent: str) -> None:
        self._drop(scratchpads, self._of_agent(scratchpads, agent))

    # Agents

    def agent(self, agent: str) -> ShownAgent | None:
        found = select(agent_settings).where(self._of_agent(agent_settings, agent))
        return self._one(found, _shown_agent)

    def set_agent(self, agent: str, settings: AgentSettings) -> ShownAgent:
        self._drop(agent_settings, self._of_agent(agent_settings, agent))
        made = {"updated_at": self._now, "updated_by": self._caller.user}
        self._add(agent_settings, agent=agent, settings=asdict(settings), **made)
        return ShownAgent(agent=agent, settings=settings, updated_at=self._now, updated_by=self._caller.user)

    # Memories that belong to them, and the audit

    def pinned(self, conversation: str) -> list[Memory]:
        return self._hands.writing.every(memories.c.conversation == conversation)

    def linked(self, ids: Sequence[str]) -> list[Memory]:
        return self._hands.writing.every(memories.c.artifact.in_(ids)) if ids else []

    def change(self, before: Memory, after: Memory, operation: str) -> None:
        made = Change(operation, self._caller.user, self._caller.actor, self._now)
        self._hands.writing.replace(before, after, made)

    def note(self, operation: str, subject: str) -> None:
        self._hands.ledger.note(self._caller, operation, self._now, subject)

    # What they share

    @property
    def _hands(self) -> Hands:
        assert self._given_hands is not None, "a reading changes nothing"
        return self._given_hands

    def _all(self, statement: Select[Any]) -> Sequence[AnyRow]:
        return self._connection.execute(statement).all()

    def _one(self, statement: Select[Any], read: Callable[[AnyRow], Read]) -> Read | None:
        row = self._connection.execute(statement).one_or_none()
        return None if row is None else read(row)

    def _add(self, table: Table, **values: Any) -> None:
        self._connection.execute(insert(table), {"tenant": self._tenant, **values})

    def _drop(self, table: Table, wanted: ColumnElement[bool]) -> None:
        self.erased |= bool(self._connection.execute(delete(table).where(wanted)).rowcount)

    def _named(self, id: str) -> ColumnElement[bool]:
        return and_(conversations.c.tenant == self._tenant, conversations.c.id == id)

    def _numbered(self, id: str) -> ColumnElement[bool]:
        return and_(artifacts.c.tenant == self._tenant, artifacts.c.id == int(id))

    def _artifacts(self, *wanted: ColumnElement[bool]) -> Select[Any]:
        return _ARTIFACTS.where(artifacts.c.tenant == self._tenant, *wanted)

    def _of_agent(self, table: Table, agent: str) -> ColumnElement[bool]:
        return and_(table.c.tenant == self._tenant, table.c.agent == agent)

    def _next(self, name: str) -> int:
        """A number that the tenant has never given before."""
        return self._count(name, self._last(name) + 1)

    def _counted(self, id: str) -> str:
        """An id that a program chose: the tenant's own numbers go on after it."""
        number = _whole(id)
        if number is not None and number > self._last(_CONVERSATION):
            self._count(_CONVERSATION, number)
        return id

    def _last(self, name: str) -> int:
        last = select(numbers.c.last).where(self._counter(name))
        return int(self._connection.execute(last).scalar_one_or_none() or 0)

    def _count(self, name: str, number: int) -> int:
        moved = self._connection.execute(update(numbers).where(self._counter(name)).values(last=number))
        if not moved.rowcount:
            self._add(numbers, name=name, last=number)
        return number

    def _counter(self, name: str) -> ColumnElement[bool]:
        return and_(numbers.c.tenant == self._tenant, numbers.c.name == name)


def _whole(id: str) -> int | None:
    number = ids.whole_number(id)
    return number if number is not None and number < _COUNTED else None


def _number(mark: str) -> int:
    if mark.isascii() and mark.isdigit() and len(mark) <= _MARK_DIGITS:
        return int(mark)
    raise Invalid([Fault("after", f"is not a mark of a page of conversations (got {mark[:40]!a})")])


def _conversation(row: AnyRow) -> Conversation:
    return Conversation(
        id=row.id, agent=row.agent, title=row.title, created_at=row.created_at, created_by=row.created_by
    )


def _artifact(row: AnyRow) -> Artifact:
    return Artifact(
        id=str(row.id),
        conversation=row.conversation,
        path=row.path,
        sha256=row.sha256,
        media_type=row.media_type,
        size=row.size,
        created_at=row.created_at,
        updated_at=row.updated_at,
        written_by=row.written_by,
    )


def _scratchpad(row: AnyRow) -> Scratchpad:
    return Scratchpad(
        agent=row.agent, kind=pad_kind(row.agent), size=int(row.size), updated_at=row.updated_at
    )


def _shown_agent(row: AnyRow) -> ShownAgent:
    """Settings that an older version did not know take their defaults, and those that are gone say nothing."""
    known = {name: value for name, value in row.settings.items() if name in _SETTINGS}
    return ShownAgent(
        agent=row.agent,
        settings=AgentSettings(**known),
        updated_at=row.updated_at,
        updated_by=row.updated_by,
    )


_SETTINGS: Final = frozenset(each.name for each in fields(AgentSettings))
_CONVERSATIONS: Final = select(conversations)
_ARTIFACTS: Final = select(
    *(column for column in artifacts.columns if column.name not in ("tenant", "conversation", "content")),
    artifacts.c.conversation.label("conversation_row"),
    conversations.c.id.label("conversation"),
).join_from(
    artifacts,
    conversations,
    and_(conversations.c.tenant == artifacts.c.tenant, conversations.c.row == artifacts.c.conversation),
)
