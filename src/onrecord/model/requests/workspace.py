"""WHAT can be asked about conversations, their artifacts, scratchpads, and how an agent is set?"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from onrecord.errors import Fault
from onrecord.model import limits, rules, workspace
from onrecord.model.caller import Caller
from onrecord.model.requests.base import MAYBE_NAME, PLACES, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.workspace import AgentSettings, Encoding

_IN: Final = "Which conversation; the caller's own when left out."
_WHOSE: Final = "Whose scratchpad; the one that all share when left out."
_AGENT: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
AGENT_NAME: Final = rules.Text(at_least=1, at_most=limits.AGENT_CHARACTERS, line=True)
_PATH: Final = rules.Text(at_least=1, at_most=4 * limits.PATH_CHARACTERS, line=True)
# In base64 three bytes take four characters, and line breaks may stand between them.
_CONTENT: Final = rules.Text(at_most_bytes=limits.ARTIFACT_BYTES * 3 // 2)
MEDIA_TYPE: Final = rules.Text(at_least=1, at_most=limits.MEDIA_TYPE_CHARACTERS, line=True, strip=True)
_DEFAULT: Final = AgentSettings()


def agent_faults(agent: str | None) -> Iterator[Fault]:
    """The name of an agent is also a part of addresses."""
    if agent is not None and not _AGENT.fullmatch(agent):
        yield Fault("agent", f"must be made of letters, digits, - and _ alone (got {agent!a})")


@dataclass(frozen=True, slots=True)
class RegisterConversation(Request):
    """Make a conversation known to the tenant, so that artifacts and pinned memories can belong to it.

    One that is known already is answered as it stands. The first save or turn from inside a conversation does the same.
    """

    id: str | None = ask(
        MAYBE_NAME, "What its program calls it; left out, it is the next whole number.", None, positional=True
    )
    title: str | None = ask(OrNone(rules.TITLE), "A short name for people.", None)
    agent: str | None = ask(MAYBE_NAME, "The agent that leads it.", None)


@dataclass(frozen=True, slots=True)
class ListConversations(Request):
    """The conversations of the tenant, newest first."""

    agent: str | None = ask(MAYBE_NAME, "Only those of this agent.", None)
    limit: int = ask(rules.Integer(1, limits.BROWSE_LIMIT), "How many on a page.", 50)
    after: str | None = ask(MAYBE_NAME, "Go on after the page that gave this mark.", None)


@dataclass(frozen=True, slots=True)
class ShowConversation(Request):
    """One conversation, and how many artifacts belong to it."""

    id: str = ask(rules.NAME, "The conversation.", positional=True)


@dataclass(frozen=True, slots=True)
class DeleteConversation(Request):
    """Delete a conversation with its artifacts. Memories pinned to it stay and are pinned no longer.

    What was for the eyes of this conversation alone is retired, since nobody else may see it.
    """

    id: str = ask(rules.NAME, "The conversation to delete.", positional=True)


@dataclass(frozen=True, slots=True)
class WriteArtifact(Request):
    """Keep an artifact with a conversation. An artifact at the same path is written over and keeps its id.

    Secrets are taken out of texts before anything is stored.
    """

    path: str = ask(_PATH, "Where, such as notes/plan.md.", positional=True)
    content: str = ask(_CONTENT, "What is in it (up to 1 MiB).", positional=True)
    encoding: Encoding = ask(
        rules.Choice(workspace.ENCODINGS), "text, or base64 for one that is no text.", "text"
    )
    media_type: str = ask(
        MEDIA_TYPE,
        "Its media type.",
        workspace.MEDIA_TYPE,
    )
    conversation: str | None = ask(MAYBE_NAME, _IN, None)


@dataclass(frozen=True, slots=True)
class ReadArtifact(Request):
    """Read an artifact. From inside one conversation, an artifact of another is read by way of a memory that is linked to it."""

    id: str = ask(rules.ID, "The artifact to read.", positional=True)
    via: str | None = ask(OrNone(rules.ID), "A memory that is linked to it.", None)


@dataclass(frozen=True, slots=True)
class ListArtifacts(Request):
    """The artifacts of a conversation, by path; without one, those of all conversations."""

    conversation: str | None = ask(MAYBE_NAME, _IN, None)


@dataclass(frozen=True, slots=True)
class DeleteArtifact(Request):
    """Delete an artifact. Memories that were linked to it stay, without the link."""

    id: str = ask(rules.ID, "The artifact to delete.", positional=True)


@dataclass(frozen=True, slots=True)
class AppendScratchpad(Request):
    """Add to the scratchpad of an agent, or to the one that all agents share, under the time of now.

    Notes are read as a whole and are not searched; what is worth finding again is remembered instead.
    """

    content: str = ask(
        rules.Text(at_least=1, at_most_bytes=limits.SCRATCHPAD_BYTES), "What to note.", positional=True
    )
    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_PAD)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class ReadScratchpad(Request):
    """The scratchpad of an agent, or the one that all agents share; what was never written is empty."""

    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_PAD, positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class ListScratchpads(Request):
    """Whose scratchpads there are, and how large they are."""


@dataclass(frozen=True, slots=True)
class ClearScratchpad(Request):
    """Throw away the scratchpad of an agent, or the one that all agents share."""

    agent: str = ask(AGENT_NAME, _WHOSE, workspace.SHARED_PAD, positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class SetAgent(Request):
    """Say how an agent searches and saves where its requests leave it open. What is left out here takes its default."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)
    intent: bool = ask(
        rules.FLAG, "Let cue words of a question raise the kinds they speak of.", _DEFAULT.intent
    )
    decay: bool = ask(rules.FLAG, "Let old memories weigh less.", _DEFAULT.decay)
    half_life_days: int = ask(
        rules.Integer(1, 36_500), "How fast they do, with decay.", _DEFAULT.half_life_days
    )
    decay_floor: float = ask(
        rules.Fraction(), "What is left of the oldest, with decay.", _DEFAULT.decay_floor
    )
    limit: int = ask(rules.Integer(1, limits.RECALL_LIMIT), "How many hits at most.", _DEFAULT.limit)
    session_places: int = ask(
        PLACES, "Places kept for its conversation's own memories.", _DEFAULT.session_places
    )
    profile_places: int = ask(PLACES, "Places kept for the tenant's memories.", _DEFAULT.profile_places)
    global_places: int = ask(PLACES, "Places kept for global memories.", _DEFAULT.global_places)
    max_tokens: int | None = ask(
        OrNone(rules.Integer(0, 10_000_000)),
        "How many tokens its hits may cost to read.",
        _DEFAULT.max_tokens,
    )
    advisor: str | None = ask(MAYBE_NAME, "The model that advises it.", _DEFAULT.advisor)
    search_expand: bool = ask(
        rules.FLAG, "Let the advisor put questions in other words too.", _DEFAULT.search_expand
    )
    rerank: bool = ask(rules.FLAG, "Let the advisor put the hits in order.", _DEFAULT.rerank)
    auto_tag: bool = ask(rules.FLAG, "Let the advisor add tags to what it saves.", _DEFAULT.auto_tag)
    auto_supersede: bool = ask(
        rules.FLAG, "Let the advisor retire what a save contradicts.", _DEFAULT.auto_supersede
    )

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class ShowAgent(Request):
    """How an agent is set; one that nobody has set has the defaults."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
