"""WHAT must never be stored? Secrets, which are taken out of every text field before anything else sees them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from onrecord.model.checks import Check
from onrecord.model.edits import Edit
from onrecord.model.limits import (
    CHECK_SEEN_CHARACTERS,
    CONTENT_BYTES,
    ENTITY_CHARACTERS,
    NAME_CHARACTERS,
    PATH_CHARACTERS,
    REASON_CHARACTERS,
    TAG_CHARACTERS,
    TITLE_CHARACTERS,
)
from onrecord.model.memory import Memory, derive_title
from onrecord.model.record import RECORD_RULES
from onrecord.model.rules import OrNone, Text
from onrecord.providers import scrubber
from onrecord.remember.draft import SaveDraft, SaveTools

#: Names that are compared letter by letter, so they stay as they are.
_NAMES: Final = frozenset({"persona", "system", "conversation", "conversation_by", "approved_by"})
# A placeholder may be longer than the secret it replaces; what then exceeds a limit is cut.
_CHARACTERS: Final = {
    name: rule.rule.at_most
    for name, rule in RECORD_RULES.items()
    if isinstance(rule, OrNone) and isinstance(rule.rule, Text) and name not in _NAMES
}
_optional: Final = attrgetter(*_CHARACTERS)


def scrub(draft: SaveDraft, tools: SaveTools) -> SaveDraft:
    clean, count = scrub_memory(draft.ready)
    return replace(draft, memory=clean, scrubbed=count, what_is_new=scrub_reason(draft.ask.what_is_new))


def scrub_memory(memory: Memory) -> tuple[Memory, int]:
    """The memory with every secret replaced by its placeholder, and how many there were."""
    if not (
        memory.metadata
        or memory.query
        or memory.edits
        or memory.checks
        or any(map(scrubber.may_hold_secrets, _texts_of(memory)))
    ):
        return memory, 0
    cleaner = _Cleaner()
    changes: dict[str, Any] = {}
    for name, most in _CHARACTERS.items():
        if text := getattr(memory, name):
            changes[name] = cleaner.text(text, most)
    changes["content"] = cleaner.text(memory.content)
    changes["tags"] = cleaner.words(memory.tags, TAG_CHARACTERS)
    changes["entities"] = cleaner.words(memory.entities, ENTITY_CHARACTERS)
    changes["metadata"] = cleaner.json(memory.metadata)
    changes["query"] = cleaner.json(memory.query)
    if memory.proposes is not None and (new := memory.proposes.what_is_new):
        new = cleaner.text(new, REASON_CHARACTERS)
        changes["proposes"] = replace(memory.proposes, what_is_new=new)
    changes["edits"] = cleaner.edits(memory.edits)
    changes["checks"] = tuple(map(cleaner.check, memory.checks))
    own_title = memory.has_own_title
    if own_title:
        changes["title"] = cleaner.text(memory.title, TITLE_CHARACTERS)
    if not cleaner.count:
        return memory, 0
    changes["content"] = _fit_bytes(changes["content"], CONTENT_BYTES)
    if not own_title:
        # Cut from text that is clean by now, so that its secrets are not counted twice.
        changes["title"] = derive_title(changes.get("hint", memory.hint), changes["content"])
    return replace(memory, **changes), cleaner.count


def scrub_reason(reason: str | None) -> str | None:
    """Why something was ended or approved, without secrets."""
    return _Cleaner().text(reason, REASON_CHARACTERS)


def scrub_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits without secrets."""
    return _Cleaner().edits(tuple(edits)) or ()


def _texts_of(memory: Memory) -> list[str]:
    """Every text of a memory; a title that is part of the content is not checked again."""
    title = () if memory.title in memory.content else (memory.title,)
    new = memory.proposes and memory.proposes.what_is_new
    optional = filter(None, (*_optional(memory), new))
    return [memory.content, *title, *optional, *memory.tags, *memory.entities]


class _Cleaner:
    """Scrubs one value after another and keeps count."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, value: str | None, most: int | None = None) -> str | None:
        if not value:
            return value
        scrubbed = scrubber.scrub(value)
        self.count += len(scrubbed.found)
        if not scrubbed.found:
            return value
        return scrubbed.text if most is None else scrubbed.text[:most].rstrip()

    def words(self, values: tuple[str, ...], most: int) -> tuple[str, ...]:
        if not values:
            return values
        return tuple(dict.fromkeys(self.text(value, most) or value for value in values))

    def json(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            clean, found = scrubber.scrub_value("", value) if value else (value, ())
            self.count += len(found)
            return clean
        return value

    def edits(self, edits: tuple[Edit, ...] | None) -> tuple[Edit, ...] | None:
        return edits and tuple(map(self._edit, edits))

    def check(self, check: Check) -> Check:
        value = check.expect.value
        kept = replace(check.expect, value=self.text(value) if isinstance(value, str) else value)
        return replace(
            check,
            sql=self.text(check.sql),
            path=self.text(check.path, PATH_CHARACTERS),
            seen=self.text(check.seen, CHECK_SEEN_CHARACTERS),
            expect=kept,
        )

    def _edit(self, edit: Edit) -> Edit:
        value, found = scrubber.scrub_value(edit.key or "", edit.value)
        self.count += len(found)
        return replace(edit, key=self.text(edit.key, NAME_CHARACTERS), value=value)


def _fit_bytes(text: str, most: int) -> str:
    raw = text.encode()
    return text if len(raw) <= most else raw[:most].decode(errors="ignore")
