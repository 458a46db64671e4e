"""HOW is an item of the workspace read from a line? As a whole, checked, and without secrets, like a memory."""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from onrecord.care import workspace_records
from onrecord.care.lines import ExportLine
from onrecord.errors import Fault
from onrecord.model import ids, rules
from onrecord.model.agent import ShownAgent
from onrecord.model.changesets import CHANGESET, Changeset, FieldChange
from onrecord.model.limits import GLOBAL_TENANT, TITLE_CHARACTERS
from onrecord.model.shapes import Object
from onrecord.model.wire import shape_of, to_json
from onrecord.model.workspace import (
    Artifact,
    Conversation,
    StoredArtifact,
    StoredScratchpad,
    WorkspaceNumbers,
    with_new_names,
)
from onrecord.providers.scrubber import scrub, scrub_bytes, scrub_value

Item = TypeVar("Item")

_LAST: Final = rules.Integer(0, 2**53 - 1)
_NUMBERS: Final = Object(
    "numbers",
    {"conversation": _LAST, "artifact": _LAST, "changeset": _LAST},
    needed=("conversation", "artifact"),
    build=WorkspaceNumbers,
    passes_over=True,
)


def read_numbers(line: ExportLine, tenant: str) -> WorkspaceNumbers:
    return cast(WorkspaceNumbers, line.checked("numbers", _NUMBERS))


def read_conversation(line: ExportLine, tenant: str) -> Conversation:
    _check_home(line, tenant)
    conversation = _read(line, "conversation", Conversation)
    _sound(line, "conversation", conversation, workspace_records.conversation_faults)
    if "numbered" not in line.value["conversation"]:
        # Exports of earlier versions do not say: nearly every number was given by the tenant.
        conversation = replace(conversation, numbered=ids.whole_number(conversation.id) is not None)
    if conversation.title is None or not (clean := scrub(conversation.title)).found:
        return conversation
    return replace(conversation, title=clean.text[:TITLE_CHARACTERS].rstrip())


def read_artifact(line: ExportLine, tenant: str) -> StoredArtifact:
    _check_home(line, tenant)
    artifact = _read(line, "artifact", Artifact)
    stored = StoredArtifact(artifact=artifact, content=_content(line))
    digest = hashlib.sha256(stored.content).hexdigest()
    if (artifact.sha256, artifact.size) != (digest, len(stored.content)):
        raise line.fault(
            "has an artifact whose content does not match its sha256 and size; it was changed or damaged"
        )
    clean, secrets = scrub_bytes(stored.content)
    if secrets:
        digest = hashlib.sha256(clean).hexdigest()
        stored = StoredArtifact(artifact=replace(artifact, sha256=digest, size=len(clean)), content=clean)
    return _sound(line, "artifact", stored, workspace_records.artifact_faults)


def write_artifact(file: StoredArtifact) -> dict[str, Any]:
    return {**to_json(file.artifact), "content": b64encode(file.content).decode()}


def _content(line: ExportLine) -> bytes:
    written = line.value["artifact"].get("content")
    try:
        return b64decode(rules.Text()(written), validate=True)
    except ValueError as reason:
        raise line.fault(f"has an artifact whose content cannot be read as base64: {reason}") from None


def read_scratchpad(line: ExportLine, tenant: str) -> StoredScratchpad:
    _check_home(line, tenant)
    scratchpad = _sound(
        line, "scratchpad", _read(line, "scratchpad", StoredScratchpad), workspace_records.scratchpad_faults
    )
    clean = tuple(replace(each, text=scrub(each.text).text) for each in scratchpad.notes)
    return _sound(line, "scratchpad", replace(scratchpad, notes=clean), workspace_records.scratchpad_faults)


def read_settings(line: ExportLine, tenant: str) -> ShownAgent:
    _check_home(line, tenant)
    agent = line.value["agent"]
    if isinstance(agent, dict) and isinstance(agent.get("settings"), dict):
        agent = {**agent, "settings": with_new_names(agent["settings"])}
        line = line._replace(value={**line.value, "agent": agent})
    return _sound(line, "agent", _read(line, "agent", ShownAgent), workspace_records.settings_faults)


def read_changeset(line: ExportLine, tenant: str) -> Changeset:
    _check_home(line, tenant)
    changeset = cast(Changeset, line.checked("changeset", CHANGESET))
    return replace(changeset, changes=tuple(map(_clean_change, changeset.changes)))


def _clean_change(change: FieldChange) -> FieldChange:
    """A change whose new and previous values are scrubbed of secrets."""
    key = change.edit.key or ""
    clean = {name: scrub_value(key, getattr(change, name))[0] for name in ("before", "after", "under")}
    edit = replace(change.edit, value=scrub_value(key, change.edit.value)[0])
    return replace(change, edit=edit, **clean)  # type: ignore[arg-type]


def _read(line: ExportLine, key: str, kind: type[Item]) -> Item:
    return cast(Item, line.checked(key, shape_of(cast(Any, kind))))


def _sound(line: ExportLine, key: str, item: Item, faults_of: Callable[[Item], Iterable[Fault]]) -> Item:
    if faults := list(faults_of(item)):
        raise line.faults(faults, under=key)
    return item


def _check_home(line: ExportLine, tenant: str) -> None:
    """The global tenant has no workspace, since no caller is in it."""
    if tenant == GLOBAL_TENANT:
        raise line.fault(
            f"is listed under tenant {tenant}, which holds only memories; conversations, artifacts, scratchpads and "
            "settings belong to the tenant of a caller"
        )
