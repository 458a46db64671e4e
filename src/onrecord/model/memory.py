"""WHAT is remembered? The one record, its versions, and the edges between records."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple

from onrecord.model.caller import Caller
from onrecord.model.checks import Check, proposed, state_of, unchecked
from onrecord.model.edits import Edit
from onrecord.model.limits import (
    LIVE,
    TITLE_CHARACTERS,
    CheckState,
    Confidence,
    Dimension,
    Kind,
    Origin,
    ProposedChange,
    RelationName,
    Scope,
    Status,
    Tier,
)
from onrecord.model.workspace import ConversationKey

_ELLIPSIS: Final = "…"
_ENOUGH_FOR_A_TITLE: Final = 10 * TITLE_CHARACTERS
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class RowPlace(NamedTuple):
    """Where the store keeps a row, and at which version. Only the store looks inside."""

    tenant: int
    row: int
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a pending memory will change once a person approves it.

    `of` names the memories that it would change, and `versions` the version of each when this was proposed. `fields`
    are those that a revision changes; the pending memory holds their new values. Nothing changes before the approval.
    """

    change: ProposedChange
    of: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()
    at: datetime | None = None
    #: What has changed since the same was rejected, for the reviewer.
    what_is_new: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One remembered thing. `author` wrote its present text, in the role that `origin` names; `owner` is the user it
    belongs to.
    """

    #: Properties that answers show in addition to the fields.
    DERIVED: ClassVar[tuple[str, ...]] = ("tier",)

    tenant: str
    id: str
    version: int = 1

    kind: Kind
    dimension: Dimension
    title: str
    hint: str | None = None
    content: str
    tags: tuple[str, ...] = ()
    category: str | None = None
    confidence: Confidence
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    entities: tuple[str, ...] = ()
    query: Mapping[str, Any] | str | None = None
    artifact: str | None = None

    scope: Scope
    owner: str
    persona: str | None = None
    system: str | None = None
    conversation: str | None = None
    #: Who began that conversation, where it was not the owner.
    conversation_by: str | None = None
    author: str
    origin: Origin

    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    verified_at: datetime | None = None

    status: Status
    status_reason: str | None = None

    always_inject: bool = False
    approved_by: str | None = None
    approved_at: datetime | None = None
    proposes: Proposal | None = None
    #: The changes to the catalog that it proposes; empty if it was proposed without any, None if it is no proposal.
    edits: tuple[Edit, ...] | None = None
    #: The changeset that applied them.
    changeset: str | None = None
    #: What proves it, and what came of that.
    checks: tuple[Check, ...] = ()
    check_state: CheckState | None = None

    place: RowPlace | None = field(default=None, compare=False, repr=False)

    @property
    def pinned(self) -> ConversationKey | None:
        """The conversation that it belongs to or is pinned to."""
        if self.conversation is None:
            return None
        return ConversationKey(self.conversation_by or self.owner, self.conversation)

    @property
    def is_live(self) -> bool:
        """Not retired: pending, active or stale."""
        return self.status in LIVE

    @property
    def tier(self) -> Tier:
        """How far its text is trusted: approved by a person, or else the tier of its author."""
        return self.origin if self.approved_by is None else "approved"

    @property
    def check_seen(self) -> str | None:
        """What was seen by the check that gives it its state, where that is bad news."""
        return next((each.seen for each in self.checks if each.seen and each.state == self.check_state), None)

    @property
    def waits(self) -> bool:
        """It waits for review or was rejected there: only its owner and reviewers see it."""
        return self.status == "pending" or self.proposes is not None

    @property
    def has_own_title(self) -> bool:
        """Whether someone chose the title; otherwise it was cut from the hint or the content."""
        if self.hint is None and self.title == self.content:
            return False
        return self.title != derive_title(self.hint, self.content)


class Change(NamedTuple):
    """Who changed a memory, how and when."""

    name: str
    by: str
    origin: Origin
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The state of a memory from one change (`at`) to the next (`until`), and who made that change."""

    number: int
    change: str
    by: str
    origin: Origin
    at: datetime
    until: datetime | None
    memory: Memory
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A typed, directed edge between two memories; `removed_at` is set once it is removed."""

    id: str
    source: str
    relation: RelationName
    target: str
    created_at: datetime
    created_by: str
    removed_at: datetime | None = None
    removed_by: str | None = None


_NOT_CONTENT: Final = frozenset({"tenant", "id", "version", "place", "updated_at"})
_COMPARED: Final = tuple(each.name for each in fields(Memory) if each.name not in _NOT_CONTENT)


def pinned_to(memory: Memory, there: ConversationKey | None) -> Memory:
    """The memory in a conversation, or in none. Who began it is recorded only if that is not the owner."""
    if there is None:
        return replace(memory, conversation=None, conversation_by=None)
    by = None if there.by == memory.owner else there.by
    return replace(memory, conversation=there.id, conversation_by=by)


def changed_fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """The fields in which two states of a memory differ, without bookkeeping."""
    return tuple(name for name in _COMPARED if getattr(before, name) != getattr(after, name))


def with_checks(memory: Memory, checks: Iterable[Check]) -> Memory:
    """The memory with these checks, and the state that they give it."""
    kept = tuple(checks)
    return replace(memory, checks=kept, check_state=state_of(kept))


def unproven(before: Memory, after: Memory, caller: Caller) -> Memory:
    """A memory after a change by this caller: if it says something else, what came of its checks is of the old text.

    They were approved as the proof of that one: unless the caller may approve them, they wait for it again. One that runs
    the query knows the columns of the old one. Its rows stay as they are expected.
    """
    if not after.checks or claim(before) == claim(after):
        return after
    checks = unchecked(after.checks)
    if before.query != after.query:
        checks = tuple(each.of_new_query() for each in checks)
    return with_checks(after, checks if caller.lets_checks_run else map(proposed, checks))


def claim(memory: Memory) -> tuple[Any, ...]:
    """What a check was approved as the proof of."""
    return memory.content, memory.title, memory.query


def derive_title(hint: str | None, content: str) -> str:
    """The first line of the hint, or of the content, cut to a title's length at a word."""
    for text in (hint, content):
        for line in (text or "").lstrip()[:_ENOUGH_FOR_A_TITLE].splitlines():
            if words := _CONTROL.sub(" ", line).split():
                return _cut(" ".join(words))
    return _ELLIPSIS


def _cut(text: str) -> str:
    if len(text) <= TITLE_CHARACTERS:
        return text
    head = text[: TITLE_CHARACTERS - 1]
    whole_words = head.rpartition(" ")[0]
    return (whole_words if len(whole_words) > TITLE_CHARACTERS // 2 else head).rstrip() + _ELLIPSIS
