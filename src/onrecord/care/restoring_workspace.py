"""HOW does a workspace come back? Each item under its own name and path, if nothing else is there, within the quotas."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from onrecord.care.kinds import kind_for
from onrecord.care.lines import ExportLine
from onrecord.errors import Conflict
from onrecord.model.agent import ShownAgent
from onrecord.model.changesets import Changeset
from onrecord.model.limits import CONVERSATION_BYTES, TENANT_BYTES
from onrecord.model.workspace import (
    Conversation,
    ConversationKey,
    StoredArtifact,
    StoredScratchpad,
    WorkspaceNumbers,
)
from onrecord.store.ports.workspace import WorkspaceItem, WorkspaceRestoring


@dataclass(slots=True)
class WorkspaceBatch:
    """Items of a workspace that are read but not yet written, each with the place of its line."""

    numbers: WorkspaceNumbers = field(default_factory=WorkspaceNumbers)
    items: list[tuple[ExportLine, WorkspaceItem]] = field(default_factory=list)
    #: The size of their contents.
    bytes: int = 0

    def put(self, item: WorkspaceItem, line: ExportLine) -> None:
        self.items.append((line.without_value, item))
        if isinstance(item, StoredArtifact):
            self.bytes += len(item.content)
        elif isinstance(item, StoredScratchpad):
            self.bytes += sum(len(note.text) for note in item.notes)


@dataclass(slots=True)
class BatchResult:
    """The result of a batch: how many items are new, by the field that counts them, and which conflict."""

    added: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    differing: list[str] = field(default_factory=list)

    def add(self, more: "BatchResult") -> None:
        self.added += more.added
        self.unchanged += more.unchanged
        self.differing += more.differing


@dataclass(slots=True)
class LegacyConversations:
    """The conversations of an export from an earlier version, which had one conversation of a name and no members.

    Everyone who used a name there becomes a member of that conversation. A conversation of the same name that is not in
    the file is another one: nobody becomes its member.
    """

    #: Whether members may be added to a conversation that was here before, perhaps from an earlier import of the file.
    adds_to_known: bool
    _began: dict[str, str] = field(default_factory=dict)
    _same: set[str] = field(default_factory=set)
    _open: set[str] = field(default_factory=set)

    def note(self, conversation: Conversation, found: Literal["absent", "same", "different"]) -> None:
        """Note a conversation of the file, and what was found here in its place."""
        if self._began.setdefault(conversation.id, conversation.created_by) != conversation.created_by:
            return
        if found != "different":
            self._same.add(conversation.id)
        if found == "absent" or (found == "same" and self.adds_to_known):
            self._open.add(conversation.id)

    def owner_of_artifact_home(self, name: str, writer: str) -> str:
        """Who began the conversation of an artifact."""
        return self._began.get(name, writer)

    def owner_of_pin(self, name: str, owner: str) -> str:
        """Who began the conversation of a memory: its owner, unless the file's conversation is here."""
        return self._began[name] if name in self._same else owner

    def let_in(self, restoring: WorkspaceRestoring, name: str, user: str) -> None:
        """Make someone who used the name a member."""
        if name in self._open:
            restoring.let_in(ConversationKey(self._began[name], name), user)


def import_workspace(
    restoring: WorkspaceRestoring,
    batch: WorkspaceBatch,
    was_left: Callable[[str], bool],
    legacy: LegacyConversations,
) -> BatchResult:
    """Add absent items. An artifact of a conversation that was skipped is skipped too: the conversation here is
    another one.
    """
    done, grown = BatchResult(), set[ConversationKey]()
    restoring.count(batch.numbers)
    for line, read in batch.items:
        item, home = read, None
        name = name_of(item)
        if isinstance(item, StoredArtifact):
            item = _with_owner(item, restoring, legacy)
            home = ConversationKey(item.artifact.conversation_by or "", item.artifact.conversation)
            left = _conversation_name(home)
            if was_left(left) or left in done.differing:
                done.differing.append(name)
                continue
        found = restoring.compare(item)
        if isinstance(item, Conversation):
            legacy.note(item, found)
        match found:
            case "same":
                done.unchanged += 1
            case "different":
                done.differing.append(name)
            case "absent":
                if not restoring.restore(item):
                    where = None if home is None else _conversation_name(home)
                    raise line.fault(
                        f"is an artifact of {where}, which neither exists here nor comes earlier in the file"
                    )
                done.added[kind_for(item).counted_as or ""] += 1
                grown |= set() if home is None else {home}
    _check_quotas(restoring, grown)
    return done


def name_of(item: WorkspaceItem) -> str:
    """The name of an item for people. It cannot be confused with a memory's id, which has no spaces."""
    match item:
        case Conversation():
            return _conversation_name(item.key)
        case StoredArtifact():
            return file_name(item.artifact.id)
        case StoredScratchpad():
            return f"scratchpad of {item.agent}"
        case ShownAgent():
            return f"settings of {item.agent}"
        case Changeset():
            return f"changeset {item.id}"


def _with_owner(
    file: StoredArtifact, restoring: WorkspaceRestoring, legacy: LegacyConversations
) -> StoredArtifact:
    """The artifact with who began its conversation; an older export does not say, so it is looked up by name."""
    artifact = file.artifact
    if artifact.conversation_by is not None:
        return file
    by = legacy.owner_of_artifact_home(artifact.conversation, artifact.written_by)
    legacy.let_in(restoring, artifact.conversation, artifact.written_by)
    return replace(file, artifact=replace(artifact, conversation_by=by))


def _conversation_name(key: ConversationKey) -> str:
    return f"conversation {key.id}" + (f" of {key.by}" if key.by else "")


def file_name(id: str) -> str:
    return f"artifact {id}"


def _check_quotas(restoring: WorkspaceRestoring, grown: set[ConversationKey]) -> None:
    """Check quotas once for a whole batch, since adding up sizes takes longer the more there are."""
    if not grown:
        return
    for whose, held, most in (
        *(
            (_conversation_name(each), restoring.usage(each).bytes, CONVERSATION_BYTES)
            for each in sorted(grown)
        ),
        ("this tenant", restoring.usage().bytes, TENANT_BYTES),
    ):
        if held > most:
            raise Conflict(
                f"No room: with those of the export, the artifacts of {whose} would take {held} of {most} bytes. "
                "Delete some first, or import into an empty tenant."
            )
