"""HOW does a workspace leave a store and come back? One item after another, in the order of rows."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any, Final, Literal

from sqlalchemy import Column, select

from onrecord.model.agent import ShownAgent
from onrecord.model.changesets import Changeset, without_effect
from onrecord.model.workspace import (
    TENANTS_AGENTS,
    Artifact,
    Conversation,
    ConversationKey,
    ScratchpadEntry,
    StoredArtifact,
    StoredScratchpad,
    WorkspaceNumbers,
)
from onrecord.store.ports.workspace import WorkspaceItem
from onrecord.store.records.changesets import ChangesetRows
from onrecord.store.records.workspace_rows import (
    ARTIFACT,
    BLOCK,
    CHANGESET,
    CONVERSATION,
    CONVERSATIONS,
    WorkspaceRows,
    read_artifact,
    whole,
)
from onrecord.store.tables import agent_settings, agent_users, artifacts, conversations, scratchpads

_ROWS_AT_ONCE: Final = 500
#: A file may be large, and a few in memory are enough.
_FILES_AT_ONCE: Final = 4


class SqlWorkspaceArchive(WorkspaceRows):
    """Everything in a tenant's workspace; restoring holds the tenant's lock, so that no one else writes there."""

    def every(self) -> Iterator[WorkspaceItem]:
        yield from self._conversations()
        yield from self._stored_artifacts()
        for agent in sorted({*self._agents(scratchpads.c.agent), *self._bare_agents()}):
            yield self._stored_scratchpad(agent)
        for agent in self._agents(agent_settings.c.agent):
            if (shown := self.agent(agent)) is not None:
                yield shown
        yield from self._changesets.every()

    @property
    def _changesets(self) -> ChangesetRows:
        return ChangesetRows(self._connection, self._tenant)

    def numbers(self) -> WorkspaceNumbers:
        return WorkspaceNumbers(
            conversation=self._last(CONVERSATION),
            artifact=self._last(ARTIFACT),
            changeset=self._last(CHANGESET),
        )

    def compare(self, item: WorkspaceItem) -> Literal["absent", "same", "different"]:
        here = [each for each in self._in_place_of(item) if each is not None]
        if not here:
            return "absent"
        # A digest stands for the content of a file.
        wanted = item.artifact if isinstance(item, StoredArtifact) else _as_compared(item)
        return "same" if all(_as_compared(each) == wanted for each in here) else "different"

    def restore(self, item: WorkspaceItem) -> bool:
        match item:
            case Conversation():
                self._begin(item)
            case StoredArtifact():
                return self._restore_artifact(item)
            case StoredScratchpad():
                self._restore_scratchpad(item)
            case ShownAgent():
                values = asdict(item)
                del values["users"]
                self._add(agent_settings, **values)
                # Exports of earlier versions do not say who uses it.
                self._take_users(item.agent, item.users or (item.updated_by or "",))
            case Changeset():
                self._changesets.restore(item)
        return True

    def count(self, numbers: WorkspaceNumbers) -> None:
        self._count_to(CONVERSATION, numbers.conversation)
        self._count_to(ARTIFACT, numbers.artifact)
        self._count_to(CHANGESET, numbers.changeset)

    def _conversations(self) -> Iterator[Conversation]:
        every = CONVERSATIONS.where(conversations.c.tenant == self._tenant).order_by(conversations.c.row)
        found = self._connection.execute(every.execution_options(yield_per=_ROWS_AT_ONCE))
        for rows in found.partitions():
            yield from self._with_members(rows)

    def _stored_artifacts(self) -> Iterator[StoredArtifact]:
        every = self._artifacts().add_columns(artifacts.c.content).order_by(artifacts.c.id)
        for row in self._connection.execute(every.execution_options(yield_per=_FILES_AT_ONCE)):
            yield StoredArtifact(artifact=read_artifact(row), content=bytes(row.content))

    def _bare_agents(self) -> set[str]:
        """Agents that have users, and neither notes nor settings that would name them."""
        set_here = self._agents(agent_settings.c.agent)
        return {*self._agents(agent_users.c.agent)}.difference(set_here)

    def _agents(self, column: Column[Any]) -> list[str]:
        """Names in an order that does not depend on the database, so that equal stores give equal exports."""
        named = select(column).where(column.table.c.tenant == self._tenant).distinct()
        return sorted(self._connection.execute(named).scalars())

    def _stored_scratchpad(self, agent: str) -> StoredScratchpad:
        blocks = select(scratchpads.c.written_at, scratchpads.c.text)
        rows = self._all(blocks.where(self._of_agent(scratchpads, agent)).order_by(scratchpads.c.number))
        return StoredScratchpad(
            agent=agent,
            notes=tuple(ScratchpadEntry(written_at=at, text=text) for at, text in rows),
            users=self.users_of(agent),
        )

    def _in_place_of(self, item: WorkspaceItem) -> list[WorkspaceItem | Artifact | None]:
        match item:
            case Conversation():
                return [self.conversation(item.key)]
            case StoredArtifact(artifact=file):
                numbered = self._artifacts(artifacts.c.id == (whole(file.id) or 0))
                return [self._one(numbered, read_artifact), self.artifact_at(_home_of(file), file.path)]
            case StoredScratchpad(notes=()):
                # It lists only users; whatever the users here, it is the same agent.
                return [item] if self.users_of(item.agent) else []
            case StoredScratchpad():
                here = self._stored_scratchpad(item.agent)
                return [here] if here.notes else []
            case ShownAgent():
                return [self.agent(item.agent)]
            case Changeset():
                return [self._changesets.one(item.id)]

    def _restore_artifact(self, file: StoredArtifact) -> bool:
        home = self._row_of(_home_of(file.artifact))
        if home is None:
            return False
        number = int(file.artifact.id)
        values = asdict(file.artifact) | {"id": number, "conversation": home, "content": file.content}
        del values["conversation_by"]
        self._add(artifacts, **values)
        self._count_to(ARTIFACT, number)
        return True

    def let_in(self, key: ConversationKey, user: str) -> None:
        row, there = self._row_of(key), self.conversation(key)
        if row is not None and there is not None and not there.has_member(user):
            self._add_member(row, user)

    def _take_users(self, agent: str, users: Iterable[str]) -> None:
        """Say who uses an agent, unless it has users here; the tenant's have none."""
        if agent not in TENANTS_AGENTS and not self.users_of(agent):
            for user in dict.fromkeys(users):
                self._let_use(agent, user)

    def _restore_scratchpad(self, item: StoredScratchpad) -> None:
        self._take_users(item.agent, item.users)
        for note in item.notes:
            self._add(
                scratchpads,
                agent=item.agent,
                number=self._next(BLOCK),
                size=len(note.text.encode()),
                written_at=note.written_at,
                text=note.text,
            )


def _home_of(file: Artifact) -> ConversationKey:
    return ConversationKey(file.conversation_by or "", file.conversation)


def _as_compared(item: WorkspaceItem | Artifact) -> WorkspaceItem | Artifact:
    """The item without fields that may differ: members and users change, older exports do not say who gave a number,
    and a changeset's values may be in another catalog.
    """
    match item:
        case Conversation():
            return replace(item, members=(), numbered=False)
        case StoredScratchpad() | ShownAgent():
            return replace(item, users=())
        case Changeset():
            return without_effect(item)
    return item
