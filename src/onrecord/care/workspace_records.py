"""IS this item of a workspace sound? The rules for whole items that come from outside."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.agent import AGENT_NAME, ShownAgent, agent_faults
from onrecord.model.paths import normalised
from onrecord.model.request import request_fields
from onrecord.model.rules import Counted, ListOf, OrNone, Rule
from onrecord.model.shapes import kept_faults
from onrecord.model.workspace import Conversation, StoredArtifact, StoredScratchpad
from onrecord.workspace.agents import SetAgent
from onrecord.workspace.artifacts import MEDIA_TYPE

_MOST_FILES: Final = 2**53


def _path(value: Any) -> str:
    return normalised(rules.Text()(value))


# Times need no rule: a datetime in UTC is all that the records can hold.
_CONVERSATION: Final[Mapping[str, Rule]] = {
    "id": rules.NAME,
    "agent": OrNone(rules.NAME),
    "title": OrNone(rules.TITLE),
    "created_by": rules.NAME,
    "members": ListOf(rules.NAME, at_most=None),
}
_USERS: Final[Mapping[str, Rule]] = {"users": ListOf(rules.NAME, at_most=None)}
_ARTIFACT: Final[Mapping[str, Rule]] = {
    "id": Counted(1, _MOST_FILES - 1),
    "conversation": rules.NAME,
    "conversation_by": OrNone(rules.NAME),
    "path": _path,
    "media_type": MEDIA_TYPE,
    "written_by": rules.NAME,
}
_SETTINGS: Final[Mapping[str, Rule]] = {each.name: each.metadata["rule"] for each in request_fields(SetAgent)}


def conversation_faults(conversation: Conversation) -> Iterable[Fault]:
    return kept_faults(_CONVERSATION, asdict(conversation))


def artifact_faults(file: StoredArtifact) -> Iterator[Fault]:
    yield from kept_faults(_ARTIFACT, asdict(file.artifact))
    if len(file.content) > limits.ARTIFACT_BYTES:
        yield Fault("content", f"must have at most {limits.ARTIFACT_BYTES} bytes (has {len(file.content)})")


def scratchpad_faults(item: StoredScratchpad) -> Iterator[Fault]:
    yield from _agent_faults(item.agent)
    yield from kept_faults(_USERS, {"users": item.users})
    text = rules.Text()
    faults = [fault for each in item.notes for fault in kept_faults({"text": text}, {"text": each.text})]
    yield from faults
    if not item.notes and not item.users:
        yield Fault("notes", "must not be empty")
    size = 0 if faults else sum(len(each.text.encode()) for each in item.notes)
    if size > limits.SCRATCHPAD_BYTES:
        yield Fault("notes", f"must have at most {limits.SCRATCHPAD_BYTES} bytes together (have {size})")


def settings_faults(shown: ShownAgent) -> Iterator[Fault]:
    yield from _agent_faults(shown.agent)
    yield from kept_faults(_SETTINGS, asdict(shown.settings))
    yield from kept_faults({"updated_by": rules.NAME}, {"updated_by": shown.updated_by})
    yield from kept_faults(_USERS, {"users": shown.users})
    if shown.updated_at is None:
        yield Fault("updated_at", "is missing")


def _agent_faults(agent: Any) -> Iterable[Fault]:
    return kept_faults({"agent": AGENT_NAME}, {"agent": agent}) or list(agent_faults(agent))
