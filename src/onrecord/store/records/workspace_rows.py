"""HOW is the workspace stored in rows? What using a tenant's workspace and moving it have in common."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, insert, select, update

from onrecord.model import ids
from onrecord.model.agent import ShownAgent
from onrecord.model.workspace import AgentSettings, Artifact, Conversation, ConversationKey, with_new_names
from onrecord.store.list_parameters import one_of
from onrecord.store.ports.workspace import ArtifactUsage
from onrecord.store.rows import AnyRow
from onrecord.store.tables import (
    agent_settings,
    agent_users,
    artifacts,
    conversation_members,
    conversations,
    numbers,
)

Read = TypeVar("Read")

CONVERSATION: Final = "conversation"
CONVERSATION_ROW: Final = "conversation row"
ARTIFACT: Final = "artifact"
BLOCK: Final = "scratchpad block"
CHANGESET: Final = "changeset"
#: Numbers are counted as far as every reader of JSON can.
_COUNTED: Final = 2**53


class WorkspaceRows:
    """The rows of one tenant within one transaction."""

    def __init__(self, connection: Connection, tenant: int) -> None:
        self._connection = connection
        self._tenant = tenant

    def conversation(self, key: ConversationKey) -> Conversation | None:
        """One conversation; None if nobody has begun it."""
        found = self._with_members(self._all(CONVERSATIONS.where(self._keyed(key))))
        return found[0] if found else None

    def artifact_at(self, conversation: ConversationKey, path: str) -> Artifact | None:
        there = self._artifacts(self._keyed(conversation), artifacts.c.path == path)
        return self._one(there, read_artifact)

    def usage(self, conversation: ConversationKey | None = None) -> ArtifactUsage:
        held = select(func.count(), func.coalesce(func.sum(artifacts.c.size), 0))
        held = held.where(artifacts.c.tenant == self._tenant)
        if conversation is not None:
            row = select(conversations.c.row).where(self._keyed(conversation)).scalar_subquery()
            held = held.where(artifacts.c.conversation == row)
        count, size = self._connection.execute(held).one()
        return ArtifactUsage(int(count), int(size))

    def agent(self, agent: str) -> ShownAgent | None:
        found = self._one(select(agent_settings).where(self._of_agent(agent_settings, agent)), _read_agent)
        return None if found is None else replace(found, users=self.users_of(agent))

    def users_of(self, agent: str) -> tuple[str, ...]:
        users = select(agent_users.c.user).where(self._of_agent(agent_users, agent))
        return tuple(self._connection.execute(users.order_by(agent_users.c.place)).scalars())

    def _let_use(self, agent: str, user: str) -> None:
        """Make someone a user of an agent, after those who are."""
        last = select(func.coalesce(func.max(agent_users.c.place), 0))
        place = self._connection.execute(last.where(self._of_agent(agent_users, agent))).scalar_one()
        self._add(agent_users, agent=agent, user=user, place=place + 1)

    def _with_members(self, rows: Sequence[AnyRow]) -> list[Conversation]:
        """The conversations in some rows, with whom each was shared."""
        shared: dict[int, list[str]] = {}
        if rows:
            its = and_(
                conversation_members.c.tenant == self._tenant,
                one_of(conversation_members.c.conversation, "rows"),
            )
            statement = select(conversation_members.c.conversation, conversation_members.c.user).where(its)
            for row, user in self._connection.execute(statement, {"rows": [each.row for each in rows]}):
                shared.setdefault(row, []).append(user)
        return [_read_conversation(row, shared.get(row.row, ())) for row in rows]

    def _begin(self, made: Conversation) -> None:
        """Add a conversation with its members."""
        if made.numbered:
            self._count_to(CONVERSATION, whole(made.id) or 0)
        row = self._next(CONVERSATION_ROW)
        values = asdict(made)
        for user in values.pop("members"):
            self._add_member(row, user)
        self._add(conversations, row=row, **values)

    def _add_member(self, row: int, user: str) -> None:
        self._add(conversation_members, conversation=row, user=user)

    def _all(self, statement: Select[Any]) -> Sequence[AnyRow]:
        return self._connection.execute(statement).all()

    def _one(self, statement: Select[Any], read: Callable[[AnyRow], Read]) -> Read | None:
        row = self._connection.execute(statement).one_or_none()
        return None if row is None else read(row)

    def _add(self, table: Table, **values: Any) -> None:
        self._connection.execute(insert(table), {"tenant": self._tenant, **values})

    def _row_of(self, key: ConversationKey) -> int | None:
        """The row of a conversation, which its artifacts and members refer to."""
        row = select(conversations.c.row).where(self._keyed(key))
        return self._connection.execute(row).scalar_one_or_none()

    def _keyed(self, key: ConversationKey) -> ColumnElement[bool]:
        return and_(
            conversations.c.tenant == self._tenant,
            conversations.c.created_by == key.by,
            conversations.c.id == key.id,
        )

    def _artifacts(self, *wanted: ColumnElement[bool]) -> Select[Any]:
        return _ARTIFACTS.where(artifacts.c.tenant == self._tenant, *wanted)

    def _of_agent(self, table: Table, agent: str) -> ColumnElement[bool]:
        return and_(table.c.tenant == self._tenant, table.c.agent == agent)

    def _next(self, name: str) -> int:
        """A number that the tenant has never used before."""
        last = self._last(name)
        self._move_on(name, last, last + 1)
        return last + 1

    def _count_to(self, name: str, number: int) -> None:
        """Continue numbers after this one, unless they are past it."""
        last = self._last(name)
        if number > last:
            self._move_on(name, last, number)

    def _last(self, name: str) -> int:
        last = select(numbers.c.last).where(self._counter(name))
        return int(self._connection.execute(last).scalar_one_or_none() or 0)

    def _move_on(self, name: str, last: int, number: int) -> None:
        if last:
            self._connection.execute(update(numbers).where(self._counter(name)).values(last=number))
        else:
            self._add(numbers, name=name, last=number)

    def _counter(self, name: str) -> ColumnElement[bool]:
        return and_(numbers.c.tenant == self._tenant, numbers.c.name == name)


def whole(id: str) -> int | None:
    number = ids.whole_number(id)
    return number if number is not None and number < _COUNTED else None


def _read_conversation(row: AnyRow, members: Iterable[str]) -> Conversation:
    return Conversation(
        id=row.id,
        agent=row.agent,
        title=row.title,
        created_at=row.created_at,
        created_by=row.created_by,
        members=tuple(sorted(members)),
        numbered=row.numbered,
    )


def read_artifact(row: AnyRow) -> Artifact:
    return Artifact(
        id=str(row.id),
        conversation=row.conversation,
        conversation_by=row.conversation_by,
        path=row.path,
        sha256=row.sha256,
        media_type=row.media_type,
        size=row.size,
        created_at=row.created_at,
        updated_at=row.updated_at,
        written_by=row.written_by,
    )


def _read_agent(row: AnyRow) -> ShownAgent:
    """The settings in a row. Missing ones take their defaults, and unknown ones are ignored."""
    known = {name: value for name, value in with_new_names(row.settings).items() if name in _SETTINGS}
    return ShownAgent(
        agent=row.agent,
        settings=AgentSettings(**known),
        updated_at=row.updated_at,
        updated_by=row.updated_by,
    )


_SETTINGS: Final = frozenset(each.name for each in fields(AgentSettings))
CONVERSATIONS: Final = select(conversations)
_ARTIFACTS: Final = select(
    *(column for column in artifacts.columns if column.name not in ("tenant", "conversation", "content")),
    artifacts.c.conversation.label("conversation_row"),
    conversations.c.id.label("conversation"),
    conversations.c.created_by.label("conversation_by"),
).join_from(
    artifacts,
    conversations,
    and_(conversations.c.tenant == artifacts.c.tenant, conversations.c.row == artifacts.c.conversation),
)
