"""HOW is what is kept beside memories read and written? The port of the workspace over any SQL back end."""

import hashlib
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, select, update

from onrecord.errors import Fault, Invalid
from onrecord.model.agent import ShownAgent
from onrecord.model.caller import Caller
from onrecord.model.workspace import AgentSettings, Artifact, Conversation, Scratchpad, scratchpad_kind
from onrecord.store.ports.filters import ConversationFilter
from onrecord.store.ports.workspace import File
from onrecord.store.records.workspace_rows import (
    ARTIFACT,
    BLOCK,
    CONVERSATION,
    CONVERSATION_ROW,
    CONVERSATIONS,
    WorkspaceRows,
    read_artifact,
    read_conversation,
)
from onrecord.store.rows import AnyRow
from onrecord.store.tables import agent_settings, artifacts, conversations, scratchpads

_MARK_DIGITS: Final = 18


class SqlWorkspace(WorkspaceRows):
    """What a tenant keeps beside its memories, in one consistent state."""

    # Conversations

    def conversations(self, ask: ConversationFilter) -> tuple[list[Conversation], str | None]:
        wanted = [conversations.c.tenant == self._tenant]
        if ask.agent is not None:
            wanted.append(conversations.c.agent == ask.agent)
        if ask.after is not None:
            wanted.append(conversations.c.row < _number(ask.after))
        found = CONVERSATIONS.where(*wanted).order_by(conversations.c.row.desc())
        rows = self._all(found.limit(ask.limit + 1))
        page = rows[: ask.limit]
        return [read_conversation(row) for row in page], str(page[-1].row) if len(rows) > len(page) else None

    # Files

    def artifacts(self, conversation: str | None = None) -> list[Artifact]:
        named = () if conversation is None else (conversations.c.id == conversation,)
        rows = self._all(self._artifacts(*named))
        # Not in the statement, since databases order punctuation differently.
        return [read_artifact(row) for row in sorted(rows, key=lambda row: (row.conversation_row, row.path))]

    def content(self, id: str) -> bytes:
        content = select(artifacts.c.content).where(self._numbered(id))
        return bytes(self._connection.execute(content).scalar_one())

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

    def _numbered(self, id: str) -> ColumnElement[bool]:
        return and_(artifacts.c.tenant == self._tenant, artifacts.c.id == int(id))


class SqlWritableWorkspace(SqlWorkspace):
    """The same in one transaction that lets no other writer into the tenant."""

    def __init__(self, connection: Connection, tenant: int, caller: Caller, now: datetime) -> None:
        super().__init__(connection, tenant)
        self._caller = caller
        self._now = now
        #: Whether something went whose bytes must not linger.
        self.erased = False

    def register(self, id: str | None, agent: str | None, title: str | None) -> tuple[Conversation, bool]:
        known = None if id is None else self.conversation(id)
        if known is not None:
            return known, False
        made = Conversation(
            id=self._counted(id) if id else str(self._next(CONVERSATION)),
            agent=agent,
            title=title,
            created_at=self._now,
            created_by=self._caller.user,
        )
        self._add(conversations, row=self._next(CONVERSATION_ROW), **asdict(made))
        return made, True

    def drop_conversation(self, id: str) -> None:
        row = select(conversations.c.row).where(self._named(id)).scalar_subquery()
        its = and_(artifacts.c.tenant == self._tenant, artifacts.c.conversation == row)
        self._drop(artifacts, its)
        self._drop(conversations, self._named(id))

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
            values |= {"conversation": self._row_of(file.conversation), "path": file.path}
            self._add(artifacts, id=self._next(ARTIFACT), created_at=self._now, **values)
        else:
            self._connection.execute(update(artifacts).where(self._numbered(before.id)).values(values))
            self.erased = True
        kept = self.artifact_at(file.conversation, file.path)
        assert kept is not None
        return kept

    def drop_artifact(self, id: str) -> None:
        self._drop(artifacts, self._numbered(id))

    def append(self, agent: str, text: str) -> None:
        self._add(
            scratchpads,
            agent=agent,
            number=self._next(BLOCK),
            size=len(text.encode()),
            written_at=self._now,
            text=text,
        )

    def clear(self, agent: str) -> None:
        self._drop(scratchpads, self._of_agent(scratchpads, agent))

    def set_agent(self, agent: str, settings: AgentSettings) -> ShownAgent:
        self._drop(agent_settings, self._of_agent(agent_settings, agent))
        made = {"updated_at": self._now, "updated_by": self._caller.user}
        self._add(agent_settings, agent=agent, settings=asdict(settings), **made)
        return ShownAgent(agent=agent, settings=settings, updated_at=self._now, updated_by=self._caller.user)

    def _drop(self, table: Table, wanted: ColumnElement[bool]) -> None:
        self.erased |= bool(self._connection.execute(delete(table).where(wanted)).rowcount)


def _number(mark: str) -> int:
    if mark.isascii() and mark.isdigit() and len(mark) <= _MARK_DIGITS:
        return int(mark)
    raise Invalid([Fault("after", f"is not a mark of a page of conversations (got {mark[:40]!a})")])


def _scratchpad(row: AnyRow) -> Scratchpad:
    return Scratchpad(
        agent=row.agent, kind=scratchpad_kind(row.agent), size=int(row.size), updated_at=row.updated_at
    )
