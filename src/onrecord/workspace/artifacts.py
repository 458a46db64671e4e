"""HOW are artifacts kept? At a path of their conversation, within quotas that hold whoever else writes."""

from base64 import b64decode, b64encode
from datetime import datetime

from onrecord.errors import Conflict, Fault, Invalid, NotFound
from onrecord.model import ids, rules
from onrecord.model.answers import ArtifactContent, DeletedArtifact, ListedArtifacts, WrittenArtifact
from onrecord.model.caller import Caller
from onrecord.model.limits import ARTIFACT_BYTES, CONVERSATION_BYTES, TENANT_BYTES
from onrecord.model.memory import Memory
from onrecord.model.paths import normalised
from onrecord.model.requests import DeleteArtifact, ListArtifacts, ReadArtifact, WriteArtifact
from onrecord.model.unset import Unset
from onrecord.model.workspace import Artifact
from onrecord.providers.scrubber import scrub_bytes
from onrecord.store.ports.records import Reading, Writing
from onrecord.store.ports.store import Store
from onrecord.store.ports.workspace import File, Workspace
from onrecord.workspace import conversations


def write(caller: Caller, ask: WriteArtifact, store: Store, now: datetime) -> WrittenArtifact:
    """What takes long is done before anyone has to wait for the transaction."""
    file, scrubbed = _file(ask)
    with store.writing(caller, now) as writing:
        file = file._replace(conversation=_home(caller, ask.conversation, writing))
        before = writing.workspace.artifact_at(file.conversation, file.path)
        _check_quotas(writing.workspace, file, 0 if before is None else before.size)
        kept = writing.workspace.keep(file)
        writing.note("write_artifact", kept.id)
    return WrittenArtifact(artifact=kept, created=before is None, scrubbed=scrubbed)


def _file(ask: WriteArtifact) -> tuple[File, int]:
    """The file without its conversation, and how many secrets were taken out of it."""
    faults, path, content = [], "", b""
    try:
        path = normalised(ask.path)
    except ValueError as reason:
        faults.append(Fault("path", str(reason)))
    try:
        content = _bytes(ask)
    except ValueError as reason:
        faults.append(Fault("content", f"is not base64: {reason}"))
    content, scrubbed = scrub_bytes(content)
    if len(content) > ARTIFACT_BYTES:
        faults.append(Fault("content", f"must have at most {ARTIFACT_BYTES} bytes (has {len(content)})"))
    if faults:
        raise Invalid(faults)
    return File("", path, ask.media_type, content), scrubbed


def _bytes(ask: WriteArtifact) -> bytes:
    if ask.encoding == "text":
        return ask.content.encode()
    return b64decode("".join(ask.content.split()), validate=True)


def _home(caller: Caller, named: str | None, writing: Writing) -> str:
    """The conversation that a file goes to: the caller's own, or from outside of any a known one."""
    wanted = conversations.plain(named) or caller.conversation
    if wanted is None:
        raise Invalid([Fault("conversation", "is required from outside of a conversation")])
    if wanted == caller.conversation:
        conversations.enter(caller, writing)
        return wanted
    return _reachable(caller, wanted, writing.workspace)


def _reachable(caller: Caller, named: str, workspace: Workspace) -> str:
    """From inside a conversation the files of another are not there."""
    if caller.conversation not in (None, conversations.plain(named)):
        raise NotFound(f"No conversation {named} whose artifacts can be reached from this one.")
    return conversations.known(workspace, named).id


def _check_quotas(workspace: Workspace, file: File, replaced: int) -> None:
    """Whoever makes a file smaller is never refused, even where a quota was set lower since."""
    size = len(file.content)
    if size <= replaced:
        return
    for held, most, whose in (
        (workspace.usage(file.conversation).bytes, CONVERSATION_BYTES, f"conversation {file.conversation}"),
        (workspace.usage().bytes, TENANT_BYTES, "this tenant"),
    ):
        if held - replaced + size > most:
            raise Conflict(
                f"No room for {file.path} ({size} bytes): the artifacts of {whose} take {held - replaced} of {most} "
                "bytes without it. Delete some first."
            )


def read(caller: Caller, ask: ReadArtifact, store: Store, now: datetime) -> ArtifactContent:
    with store.reading(caller, now) as reading:
        found = reading.workspace.artifact(ask.id)
        if found is None or not (_is_near(caller, found) or _is_linked(caller, found, ask.via, reading)):
            raise _missing(caller, ask.id)
        content = reading.workspace.content(found.id)
    try:
        text = content.decode()
        rules.storable(text)
    except ValueError:
        return ArtifactContent(artifact=found, content=b64encode(content).decode(), encoding="base64")
    return ArtifactContent(artifact=found, content=text, encoding="text")


def _is_linked(caller: Caller, artifact: Artifact, via: str | None, reading: Reading) -> bool:
    """Whether the memory that is given as the way to a file is seen, and leads there."""
    memory = None if via is None else reading.memory(via)
    return memory is not None and (memory.tenant, memory.artifact) == (caller.tenant, artifact.id)


def _is_near(caller: Caller, artifact: Artifact) -> bool:
    return caller.conversation in (None, artifact.conversation)


def listed(caller: Caller, ask: ListArtifacts, store: Store, now: datetime) -> ListedArtifacts:
    wanted = conversations.plain(ask.conversation) or caller.conversation
    with store.reading(caller, now) as reading:
        if wanted is not None and wanted != caller.conversation:
            _reachable(caller, wanted, reading.workspace)
        found = reading.workspace.artifacts(wanted)
    return ListedArtifacts(artifacts=tuple(found), bytes=sum(each.size for each in found))


def delete(caller: Caller, ask: DeleteArtifact, store: Store, now: datetime) -> DeletedArtifact:
    with store.writing(caller, now) as writing:
        found = writing.workspace.artifact(ask.id)
        if found is None or not _is_near(caller, found):
            raise _missing(caller, ask.id)
        unlinked = conversations.unlink(writing, caller, found.id, now)
        writing.workspace.drop_artifact(found.id)
        writing.note("delete_artifact", found.id)
    return DeletedArtifact(artifact=found, unlinked=unlinked)


def of_memory(caller: Caller, memory: Memory, reading: Reading) -> Artifact | None:
    """The file that a memory is linked to. Numbers are those of the memory's own tenant."""
    if memory.artifact is None or memory.tenant != caller.tenant:
        return None
    return reading.workspace.artifact(memory.artifact)


def linked_file(link: str | None | Unset, writing: Writing) -> str | None:
    """The number of the file of ours that a link names, or None; Invalid if the tenant has no such file.

    Any other text is the name of a file elsewhere, which is not ours to look up. Whoever writes the link looks in the
    same transaction: until its end nobody deletes the file, and who deletes it then finds the link and takes it away.
    """
    if isinstance(link, Unset) or link is None or ids.whole_number(link.removeprefix("#")) is None:
        return None
    number = link.removeprefix("#")
    if writing.workspace.artifact(number) is None:
        raise Invalid([Fault("artifact", f"there is no artifact {number} in this tenant; write it first")])
    return number


def _missing(caller: Caller, id: str) -> NotFound:
    from_inside = " that this conversation can reach; one of another is read via a memory linked to it"
    return NotFound(
        f"No artifact {id} in this tenant{from_inside if caller.conversation else ''}. List the artifacts."
    )
