"""IS this item of a workspace sound? The rules of what is kept beside memories, for what comes from outside as a whole."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model import ids, limits, rules
from onrecord.model.answers import ShownAgent
from onrecord.model.paths import normalised
from onrecord.model.requests import SetAgent, request_fields
from onrecord.model.requests.workspace import AGENT_NAME, MEDIA_TYPE, agent_faults
from onrecord.model.rules import OrNone, Rule
from onrecord.model.workspace import Conversation, StoredArtifact, StoredScratchpad

_MOST_FILES: Final = 2**53


def _file_number(value: Any) -> str:
    number = ids.whole_number(rules.Text(at_most=limits.ID_CHARACTERS)(value))
    if number is None or not 0 < number < _MOST_FILES:
        raise ValueError(f"must be a whole number from 1 on, as a text (got {value[:40]!a})")
    return str(number)


def _path(value: Any) -> str:
    return normalised(rules.Text()(value))


# Times need no rule: a datetime in UTC is all that the records can hold.
_CONVERSATION: Final[Mapping[str, Rule]] = {
    "id": rules.NAME,
    "agent": OrNone(rules.NAME),
    "title": OrNone(rules.TITLE),
    "created_by": rules.NAME,
}
_ARTIFACT: Final[Mapping[str, Rule]] = {
    "id": _file_number,
    "conversation": rules.NAME,
    "path": _path,
    "media_type": MEDIA_TYPE,
    "written_by": rules.NAME,
}
_SETTINGS: Final[Mapping[str, Rule]] = {each.name: each.metadata["rule"] for each in request_fields(SetAgent)}


def conversation_faults(conversation: Conversation) -> Iterable[Fault]:
    return _broken(_CONVERSATION, asdict(conversation))


def artifact_faults(file: StoredArtifact) -> Iterator[Fault]:
    yield from _broken(_ARTIFACT, asdict(file.artifact))
    if len(file.content) > limits.ARTIFACT_BYTES:
        yield Fault("content", f"must have at most {limits.ARTIFACT_BYTES} bytes (has {len(file.content)})")


def scratchpad_faults(item: StoredScratchpad) -> Iterator[Fault]:
    yield from _agent_faults(item.agent)
    text = rules.Text()
    told = [fault for each in item.notes for fault in _broken({"text": text}, {"text": each.text})]
    yield from told
    if not item.notes:
        yield Fault("notes", "must not be empty")
    size = 0 if told else sum(len(each.text.encode()) for each in item.notes)
    if size > limits.SCRATCHPAD_BYTES:
        yield Fault("notes", f"must have at most {limits.SCRATCHPAD_BYTES} bytes together (have {size})")


def settings_faults(shown: ShownAgent) -> Iterator[Fault]:
    yield from _agent_faults(shown.agent)
    yield from _broken(_SETTINGS, asdict(shown.settings))
    yield from _broken({"updated_by": rules.NAME}, {"updated_by": shown.updated_by})
    if shown.updated_at is None:
        yield Fault("updated_at", "is missing")


def _agent_faults(agent: Any) -> Iterable[Fault]:
    return _broken({"agent": AGENT_NAME}, {"agent": agent}) or list(agent_faults(agent))


def _broken(known: Mapping[str, Rule], values: Mapping[str, Any]) -> list[Fault]:
    """A value that a rule would write otherwise was never written by us."""
    faults = []
    for name, rule in known.items():
        if name not in values:
            continue
        try:
            clean = rule(values[name])
        except ValueError as reason:
            faults.append(Fault(name, str(reason)))
        else:
            if clean != values[name]:
                faults.append(Fault(name, f"must be written as {clean!a}"))
    return faults
