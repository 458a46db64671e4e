"""HOW is the workspace read and written? Its port over any SQL back end."""

import hashlib
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)

from onrecord.errors import no_such_page
from onrecord.model import ids
from onrecord.model.agent import ShownAgent
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import called
from onrecord.model.workspace import (
    TENANTS_AGENTS,
    AgentSettings,
    Artifact,
    Conversation,
    ConversationKey,
    Scratchpad,
    scratchpad_kind,
)
from onrecord.store.ports.filters import ConversationFilter
from onrecord.store.ports.workspace import NamedConversation, NewArtifact, WaitingTurn
from onrecord.store.records import membership
from onrecord.store.records.workspace_rows import (
    ARTIFACT,
    BLOCK,
    CONVERSATION,
    CONVERSATIONS,
    WorkspaceRows,
    read_artifact,
    whole,
)
from onrecord.store.rows import AnyRow
from onrecord.store.tables import (
    agent_settings,
    agent_users,
    artifacts,
    conversation_members,
    conversations,
    scratchpads,
    waiting_turns,
)

_TURN: Final = "waiting turn"
_MARK_DIGITS: Final = 18
_MEMBERS: Final = conversation_members


class SqlWorkspace(WorkspaceRows):
    """The workspace of a tenant, in one consistent state."""

    # Conversations

    def __init__(
        self, connection: Connection, tenant: int, caller: Caller, here: NamedConversation | None
    ) -> None:
        super().__init__(connection, tenant)
        self._caller = caller
        self.here = here

    def named(self, name: str) -> NamedConversation:
        if self.here is not None and name == called(self.here.key, self._caller.user):
            return self.here
        return membership.named(self._connection, self._tenant, self._caller, name)

    def conversations(self, ask: ConversationFilter) -> tuple[list[Conversation], str | None]:
        wanted = []
        if ask.agent is not None:
            wanted.append(conversations.c.agent == ask.agent)
        if ask.name is not None:
            wanted.append(conversations.c.id.in_((ask.name, ids.plain_conversation(ask.name))))
        if ask.after is not None:
            wanted.append(conversations.c.row < _number(ask.after))
        found = self._mine(*wanted)
        newest = found.order_by(found.selected_columns.row.desc())
        rows = self._connection.execute(newest.limit(ask.limit + 1), self._me).all()
        page = rows[: ask.limit]
        return self._with_members(page), str(page[-1].row) if len(rows) > len(page) else None

    # Files

    def artifact(self, id: str, through: str | None = None) -> Artifact | None:
        open_to = [membership.has_member(self._caller.enters_all)]
        if through is not None:
            open_to.append(membership.has_member(user="through"))
        its = self._artifacts(artifacts.c.id == (whole(id) or 0), or_(*open_to))
        row = self._connection.execute(its, self._me | {"through": through}).one_or_none()
        return None if row is None else read_artifact(row)

    def artifacts(self, conversation: ConversationKey | None = None) -> list[Artifact]:
        if conversation is not None:
            found = self._artifacts(self._keyed(conversation))
        elif self._caller.is_admin:
            found = self._artifacts()
        else:
            mine = self._mine()
            found = self._artifacts(
                artifacts.c.conversation.in_(mine.with_only_columns(mine.selected_columns.row))
            )
        rows = self._connection.execute(found, self._me).all()
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
        ).where(scratchpads.c.tenant == self._tenant, self._may_read(scratchpads.c.agent))
        pads = [_scratchpad(row) for row in self._all(found.group_by(scratchpads.c.agent))]
        return sorted(pads, key=lambda pad: (pad.kind != "shared", pad.agent))

    def _may_read(self, agent: ColumnElement[str]) -> ColumnElement[bool]:
        """Whether the caller uses an agent that has notes, or it is the tenant's."""
        if self._caller.is_admin:
            return literal(True)
        used = and_(agent_users.c.tenant == self._tenant, agent_users.c.agent == agent)
        own = exists().where(used, agent_users.c.user == self._caller.user)
        return or_(agent.in_(sorted(TENANTS_AGENTS)), own)

    @property
    def _me(self) -> dict[str, Any]:
        return {"in_tenant": self._tenant, "member": self._caller.user}

    def _mine(self, *wanted: ColumnElement[bool]) -> Select[Any]:
        """The conversations that the caller is a member of; for an admin all."""
        if self._caller.is_admin:
            return CONVERSATIONS.where(conversations.c.tenant == self._tenant, *wanted)
        return membership.of_member(*wanted)

    def _numbered(self, id: str) -> ColumnElement[bool]:
        return and_(artifacts.c.tenant == self._tenant, artifacts.c.id == int(id))


class SqlWritableWorkspace(SqlWorkspace):
    """The same in one transaction that lets no other writer into the tenant."""

    def __init__(
        self,
        connection: Connection,
        tenant: int,
        caller: Caller,
        here: NamedConversation | None,
        now: datetime,
    ) -> None:
        super().__init__(connection, tenant, caller, here)
        self._now = now
        #: Whether something went whose bytes must not linger.
        self.erased = False

    def register(self, id: str | None, agent: str | None, title: str | None) -> Conversation:
        made = Conversation(
            id=id or self._next_conversation(),
            agent=agent,
            title=title,
            created_at=self._now,
            created_by=self._caller.user,
            numbered=id is None,
        )
        self._begin(made)
        if self.here is not None and self.here.key == made.key:
            self.here = NamedConversation(made.key, made.created_at)
        return made

    def _next_conversation(self) -> str:
        """The tenant's next number that the caller has not chosen. Others' choices are not skipped: a gap would reveal them."""
        while True:
            number = str(self._next(CONVERSATION))
            if self._row_of(ConversationKey(self._caller.user, number)) is None:
                return number

    def share(self, key: ConversationKey, user: str) -> bool:
        row = self._row_of(key)
        if row is None or key.by == user or self._all(select(_MEMBERS).where(self._shared(row, user))):
            return False
        self._add_member(row, user)
        return True

    def unshare(self, key: ConversationKey, user: str) -> bool:
        row = self._row_of(key)
        return row is not None and self._drop(_MEMBERS, self._shared(row, user))

    def _shared(self, row: int, user: str) -> ColumnElement[bool]:
        return and_(
            _MEMBERS.c.tenant == self._tenant, _MEMBERS.c.conversation == row, _MEMBERS.c.user == user
        )

    def drop_conversation(self, key: ConversationKey) -> None:
        row = select(conversations.c.row).where(self._keyed(key)).scalar_subquery()
        for table in (artifacts, _MEMBERS, waiting_turns):
            self._drop(table, and_(table.c.tenant == self._tenant, table.c.conversation == row))
        self._drop(conversations, self._keyed(key))

    def keep_turn(self, turn: WaitingTurn) -> int:
        """Keep a turn until its facts are extracted; returns its number."""
        number, here = self._next(_TURN), self.here
        row = None if here is None else self._row_of(here.key)
        self._add(waiting_turns, number=number, conversation=row, **turn._asdict())
        return number

    def take_turn(self, number: int) -> bool:
        its = and_(waiting_turns.c.tenant == self._tenant, waiting_turns.c.number == number)
        return self._drop(waiting_turns, its)

    def drop_turns(self, key: ConversationKey) -> None:
        row = self._row_of(key)
        its = and_(waiting_turns.c.tenant == self._tenant, waiting_turns.c.conversation == row)
        self._drop(waiting_turns, its)

    def keep(self, file: NewArtifact) -> Artifact:
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
        made: dict[str, Any] = {"updated_at": self._now, "updated_by": self._caller.user}
        self._add(agent_settings, agent=agent, settings=asdict(settings), **made)
        users = self.users_of(agent)
        return ShownAgent(agent=agent, settings=settings, users=users, **made)

    def share_agent(self, agent: str, user: str) -> bool:
        if user in self.users_of(agent):
            return False
        self._let_use(agent, user)
        return True

    def unshare_agent(self, agent: str, user: str) -> bool:
        its = and_(self._of_agent(agent_users, agent), agent_users.c.user == user)
        return self._drop(agent_users, its)

    def _drop(self, table: Table, wanted: ColumnElement[bool]) -> bool:
        gone = bool(self._connection.execute(delete(table).where(wanted)).rowcount)
        self.erased |= gone
        return gone


def _number(mark: str) -> int:
    if mark.isascii() and mark.isdigit() and len(mark) <= _MARK_DIGITS:
        return int(mark)
    raise no_such_page()


def _scratchpad(row: AnyRow) -> Scratchpad:
    return Scratchpad(
        agent=row.agent, kind=scratchpad_kind(row.agent), size=int(row.size), updated_at=row.updated_at
    )
