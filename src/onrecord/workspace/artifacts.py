"""HOW are artifacts kept? At a path of their conversation, within quotas that hold even with many writers."""

from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from typing import Final

from onrecord.errors import Conflict, Fault, Invalid, NotFound
from onrecord.model import ids, limits, rules, workspace
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.conversation_names import MAYBE_CONVERSATION, called
from onrecord.model.limits import ARTIFACT_BYTES, CONVERSATION_BYTES, TENANT_BYTES
from onrecord.model.memory import Memory
from onrecord.model.paths import normalised
from onrecord.model.request import IN_CONVERSATION, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.unset import Unset
from onrecord.model.workspace import Artifact, ConversationKey, Encoding
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub_bytes
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.workspace import NewArtifact, Workspace
from onrecord.workspace import conversations

_PATH: Final = rules.Text(at_least=1, at_most=4 * limits.PATH_CHARACTERS, line=True)


# In base64 three bytes take four characters, and line breaks may separate them.
_CONTENT: Final = rules.Text(at_most_bytes=limits.ARTIFACT_BYTES * 3 // 2)


MEDIA_TYPE: Final = rules.Text(at_least=1, at_most=limits.MEDIA_TYPE_CHARACTERS, line=True, strip=True)


@dataclass(frozen=True, slots=True)
class WriteArtifact(Request):
    """Keep an artifact with a conversation. An artifact at the same path is overwritten and keeps its id.

    Secrets are taken out of texts before anything is stored.
    """

    path: str = ask(_PATH, "Where, such as notes/plan.md.", positional=True)
    content: str = ask(_CONTENT, "What is in it (up to 1 MiB).", positional=True)
    encoding: Encoding = ask(rules.Choice(workspace.ENCODINGS), "text, or base64 for binary content.", "text")
    media_type: str = ask(
        MEDIA_TYPE,
        "Its media type.",
        workspace.MEDIA_TYPE,
    )
    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenArtifact(Answer):
    """An artifact that is on disk; `created` is false if it replaced another. `scrubbed` counts its secrets."""

    artifact: Artifact
    created: bool
    scrubbed: int = 0


@dataclass(frozen=True, slots=True)
class ReadArtifact(Request):
    """Read an artifact of a conversation that you are a member of, or through another's memory that links to it.

    From inside a conversation, an artifact of another one is read through a memory alone.
    """

    id: str = ask(rules.ID, "The artifact to read.", positional=True)
    via: str | None = ask(OrNone(rules.ID), "A memory that is linked to it.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactContent(Answer):
    """An artifact: as text if it is one, else in base64."""

    artifact: Artifact
    content: str
    encoding: Encoding

    @property
    def raw(self) -> bytes:
        """The bytes of the artifact."""
        return self.content.encode() if self.encoding == "text" else b64decode(self.content)


@dataclass(frozen=True, slots=True)
class ListArtifacts(Request):
    """List the artifacts of a conversation, by path; without one, those of all that you are a member of."""

    conversation: str | None = ask(MAYBE_CONVERSATION, IN_CONVERSATION, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedArtifacts(Answer):
    """Artifacts, and how many bytes they take together."""

    artifacts: tuple[Artifact, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class DeleteArtifact(Request):
    """Delete an artifact. Memories that were linked to it stay, without the link."""

    id: str = ask(rules.ID, "The artifact to delete.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedArtifact(Answer):
    """A deleted artifact, and how many memories that you see were linked to it."""

    artifact: Artifact
    unlinked: int


@operation("write", "memory.manage", "POST /workspace/artifacts", "artifacts write", begins=True)
def write_artifact(call: Call, ask: WriteArtifact) -> WrittenArtifact:
    """Keep an artifact; slow work is done before the transaction."""
    file, scrubbed = _file(ask)
    with call.writing() as writing:
        file = file._replace(conversation=_home(ask.conversation, writing))
        before = writing.workspace.artifact_at(file.conversation, file.path)
        _check_quotas(writing.workspace, file, 0 if before is None else before.size)
        kept = writing.workspace.keep(file)
        writing.note("write_artifact", kept.id)
        shown = _as_called(call.caller, kept)
        return call.done(writing, WrittenArtifact(artifact=shown, created=before is None, scrubbed=scrubbed))


def _file(ask: WriteArtifact) -> tuple[NewArtifact, int]:
    """The artifact without its conversation, and how many secrets were taken out of it."""
    faults, path, content = [], "", b""
    try:
        path = normalised(ask.path)
    except ValueError as reason:
        faults.append(Fault("path", str(reason)))
    try:
        content = _bytes(ask)
    except ValueError as reason:
        faults.append(Fault("content", f"is not base64: {reason}"))
    scrubbed = 0
    if len(content) <= ARTIFACT_BYTES and not faults:
        # With placeholders it may be longer.
        content, scrubbed = scrub_bytes(content)
    if len(content) > ARTIFACT_BYTES:
        faults.append(Fault("content", f"must have at most {ARTIFACT_BYTES} bytes (has {len(content)})"))
    if faults:
        raise Invalid(faults)
    return NewArtifact(ConversationKey("", ""), path, ask.media_type, content), scrubbed


def _bytes(ask: WriteArtifact) -> bytes:
    if ask.encoding == "text":
        return ask.content.encode()
    return b64decode("".join(ask.content.split()), validate=True)


def _home(named: str | None, writing: Writing) -> ConversationKey:
    """The conversation of an artifact: the one that the caller is in, or for a caller outside of any a known one."""
    here = writing.workspace.here
    if named is None and here is None:
        raise Invalid([Fault("conversation", "is required, since you are not in a conversation")])
    if here is not None and (named is None or writing.workspace.named(named).key == here.key):
        return (conversations.enter(writing) or here).key
    return _reachable(named or "", writing.workspace)


def _reachable(named: str, workspace: Workspace) -> ConversationKey:
    """From inside a conversation the artifacts of another are out of reach."""
    if workspace.here is not None and workspace.named(named).key != workspace.here.key:
        raise NotFound(f"No conversation {named} whose artifacts can be reached from this one.")
    return conversations.known(workspace, named).key


def _check_quotas(workspace: Workspace, file: NewArtifact, replaced: int) -> None:
    """Conflict beyond a quota. Making an artifact smaller is never refused, even if a quota was lowered since."""
    size = len(file.content)
    if size <= replaced:
        return
    here, everyones = workspace.usage(file.conversation).bytes - replaced, workspace.usage().bytes - replaced
    no_room = f"No room for {file.path} ({size} bytes): the artifacts of"
    if here + size > CONVERSATION_BYTES:
        raise Conflict(
            f"{no_room} conversation {file.conversation.id} take {here} of {CONVERSATION_BYTES} bytes without it. "
            "Delete some first."
        )
    if everyones + size > TENANT_BYTES:
        # How much others keep is theirs to know.
        raise Conflict(f"{no_room} this tenant may take {TENANT_BYTES} bytes together. Delete some first.")


@operation("read", "memory.read", "GET /workspace/artifacts/{id}", "artifacts read")
def read_artifact(call: Call, ask: ReadArtifact) -> ArtifactContent:
    caller = call.caller
    with call.reading() as reading:
        linked_by = _owner_of_link(caller, ask, reading)
        found = reading.workspace.artifact(ask.id, linked_by)
        if found is None or not (linked_by or _is_near(found, reading.workspace)):
            raise _missing(caller, ask.id)
        content = reading.workspace.content(found.id)
    shown = _as_called(caller, found)
    try:
        text = content.decode()
        rules.storable(text)
    except ValueError:
        return ArtifactContent(artifact=shown, content=b64encode(content).decode(), encoding="base64")
    return ArtifactContent(artifact=shown, content=text, encoding="text")


def _owner_of_link(caller: Caller, ask: ReadArtifact, reading: Reading) -> str | None:
    """The owner of the memory given in `via`, if the caller sees it and it links to the artifact.

    A link opens an artifact only while that owner is a member of its conversation. So a user who loses access cannot
    return by a link of theirs or another's.
    """
    memory = None if ask.via is None else reading.memory(ask.via, by_name=True)
    number = ask.id.removeprefix("#")
    leads = memory is not None and (memory.tenant, memory.artifact) == (caller.tenant, number)
    return memory.owner if memory is not None and leads else None


def _is_near(artifact: Artifact, workspace: Workspace) -> bool:
    """Whether the caller is in no other conversation now than that of an artifact which they can reach."""
    return workspace.here is None or workspace.here.key == _home_of(artifact)


def _as_called(caller: Caller, artifact: Artifact) -> Artifact:
    """An artifact with the name by which the caller finds its conversation."""
    return replace(artifact, conversation=called(_home_of(artifact), caller.user))


def _home_of(artifact: Artifact) -> ConversationKey:
    assert artifact.conversation_by is not None, "it comes from the store"
    return ConversationKey(artifact.conversation_by, artifact.conversation)


@operation("read", "memory.read", "GET /workspace/artifacts", "artifacts list")
def artifacts(call: Call, ask: ListArtifacts) -> ListedArtifacts:
    with call.reading() as reading:
        workspace = reading.workspace
        here = None if workspace.here is None else workspace.here.key
        wanted = here
        if ask.conversation is not None and workspace.named(ask.conversation).key != here:
            wanted = _reachable(ask.conversation, workspace)
        found = workspace.artifacts(wanted)
    shown = tuple(_as_called(call.caller, each) for each in found)
    return ListedArtifacts(artifacts=shown, bytes=sum(each.size for each in found))


@operation("destroy", "memory.manage", "DELETE /workspace/artifacts/{id}", "artifacts delete")
def delete_artifact(call: Call, ask: DeleteArtifact) -> DeletedArtifact:
    with call.writing() as writing:
        found = writing.workspace.artifact(ask.id)
        if found is None or not _is_near(found, writing.workspace):
            raise _missing(call.caller, ask.id)
        unlinked = conversations.unlink(writing, call, found.id)
        writing.workspace.drop_artifact(found.id)
        writing.note("delete_artifact", found.id)
        return call.done(writing, DeletedArtifact(artifact=_as_called(call.caller, found), unlinked=unlinked))


def of_memory(caller: Caller, memory: Memory, reading: Reading) -> Artifact | None:
    """The artifact that a memory is linked to. Numbers are those of the memory's own tenant."""
    if memory.artifact is None or memory.tenant != caller.tenant:
        return None
    found = reading.workspace.artifact(memory.artifact, memory.owner)
    return None if found is None else _as_called(caller, found)


def linked_file(link: str | None | Unset, writing: Writing) -> str | None:
    """The number of our artifact that a link names, or None. Raises Invalid if no conversation of the caller has it:
    all who see the memory can read the artifact.

    Any other text names a file elsewhere, which we do not look up. The check runs in the transaction that writes the
    link: until its end nobody deletes the artifact, and a later deletion removes the link.
    """
    if isinstance(link, Unset) or link is None or ids.whole_number(link.removeprefix("#")) is None:
        return None
    number = link.removeprefix("#")
    if writing.workspace.artifact(number) is None:
        reason = f"there is no artifact {number} in a conversation that you are in; write it first"
        raise Invalid([Fault("artifact", reason)])
    return number


def _missing(caller: Caller, id: str) -> NotFound:
    reach = "this conversation can reach" if caller.conversation else "you can reach"
    return NotFound(
        f"No artifact {id} that {reach}. To read an artifact of another conversation, name a memory that links to it (via). List the artifacts."
    )
