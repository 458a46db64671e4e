"""WHICH kinds of lines has an export? One table: the key of a line, what it holds, how it is read and written.

The head comes first. Then for each tenant: its counters, the last numbers of its workspace, the workspace
(conversations, artifacts, scratchpads, settings, changesets), a line for each memory with all its versions, a line for each
relation, including removed ones, and a line for each piece of feedback.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from onrecord.care.feedback_lines import read_feedback
from onrecord.care.lines import ExportLine
from onrecord.care.memory_lines import read_counters, read_history, read_relation
from onrecord.care.workspace_lines import (
    read_artifact,
    read_changeset,
    read_conversation,
    read_numbers,
    read_scratchpad,
    read_settings,
    write_artifact,
)
from onrecord.model.agent import ShownAgent
from onrecord.model.changesets import Changeset
from onrecord.model.feedback import Feedback
from onrecord.model.memory import Relation
from onrecord.model.wire import to_json
from onrecord.model.workspace import (
    Conversation,
    StoredArtifact,
    StoredScratchpad,
    WorkspaceNumbers,
)
from onrecord.store.ports.archive import Counters, MemoryHistory

FORMAT: Final = 1
HEAD: Final = "onrecord"
#: How an export of the project's former name begins.
FORMER_HEAD: Final = "recollect"
STANDARD: Final = "-"
#: Where a tenant begins: whether its catalog, with what was promoted there, comes later in the file.
WITH_CATALOG: Final = "with_catalog"


class Kind(NamedTuple):
    """A kind of line. `counted_as` is the field of the summary that counts it."""

    key: str
    holds: type
    read: Callable[[ExportLine, str], Any]
    written: Callable[[Any], dict[str, Any]]
    meaning: str
    counted_as: str | None = None


def _under(key: str, write: Callable[[Any], Any] = to_json) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {key: write(value)}


def _write_history(history: MemoryHistory) -> dict[str, Any]:
    return {"id": history.id, "versions": to_json(history.versions)}


#: In the order of an export. Where a line has the keys of several, the first counts.
KINDS: Final = (
    Kind(
        "last_id",
        Counters,
        read_counters,
        Counters._asdict,
        "Begins a tenant: the last numbers given to memories (`last_id`) and relations (`last_relation`); `with_catalog` if "
        "its catalog comes later in the file.",
    ),
    Kind(
        "numbers",
        WorkspaceNumbers,
        read_numbers,
        _under("numbers"),
        "The last numbers given to conversations, artifacts and changesets.",
    ),
    Kind(
        "conversation",
        Conversation,
        read_conversation,
        _under("conversation"),
        "A conversation; conversations are in the order in which they began.",
        "conversations",
    ),
    Kind(
        "artifact",
        StoredArtifact,
        read_artifact,
        _under("artifact", write_artifact),
        "An artifact of a conversation that comes before it, with its `content` in base64.",
        "artifacts",
    ),
    Kind(
        "scratchpad",
        StoredScratchpad,
        read_scratchpad,
        _under("scratchpad"),
        "The scratchpad of an agent, each addition with its time.",
        "scratchpads",
    ),
    Kind(
        "agent",
        ShownAgent,
        read_settings,
        _under("agent"),
        "How an agent is set, since when and by whom.",
        "agents",
    ),
    Kind(
        "changeset",
        Changeset,
        read_changeset,
        _under("changeset"),
        "A changeset: what was applied to the catalog, with the values before.",
        "changesets",
    ),
    Kind(
        "versions",
        MemoryHistory,
        read_history,
        _write_history,
        "A memory (`id`) with every version of it, the oldest first.",
        "memories",
    ),
    Kind(
        "relation",
        Relation,
        read_relation,
        _under("relation"),
        "A relation between memories that come before it; a removed one says when and by whom.",
        "relations",
    ),
    Kind(
        "feedback",
        Feedback,
        read_feedback,
        _under("feedback"),
        "Whether a memory that comes before it was useful for a question; without the question if the tenant kept none.",
        "feedback",
    ),
)
_BY_KEY: Final = {kind.key: kind for kind in KINDS}
_BY_TYPE: Final = {kind.holds: kind for kind in KINDS}
_MEMORY: Final = _BY_TYPE[MemoryHistory]


def kind_of(value: Mapping[str, Any]) -> Kind:
    """The kind of a line; a line without a known key counts as a memory, whose reader says what is missing."""
    keys = _BY_KEY.keys() & value.keys()
    if len(keys) == 1:
        return _BY_KEY[keys.pop()]
    return next((kind for kind in KINDS if kind.key in keys), _MEMORY)


def kind_for(holding: object) -> Kind:
    """The kind of line that a value is written as."""
    return _BY_TYPE[type(holding)]
