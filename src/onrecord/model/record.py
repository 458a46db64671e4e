"""IS this record sound? The rules of a whole stored memory that comes from outside."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model import ids, limits, rules
from onrecord.model.checks import CHECKS, state_of
from onrecord.model.edits import EDITS
from onrecord.model.memory import Memory, Proposal, Relation
from onrecord.model.rules import Choice, Counted, Json, ListOf, OrNone, Reference, Rule
from onrecord.model.shapes import Object, Several, kept_fault, kept_faults
from onrecord.model.wire import to_json

_MAYBE_NAME: Final = OrNone(rules.NAME)
GLOBAL_CHECKS: Final = "read what one tenant reads, so a global memory cannot have them"
GLOBAL_EDITS: Final = "change the catalog of one tenant, so a global memory cannot have them"

_PROPOSAL: Final = Object(
    "a proposal",
    {
        "change": Choice(limits.PROPOSED_CHANGES),
        "of": ListOf(rules.STORED_ID, at_most=limits.SUPERSEDED_AT_ONCE),
        "versions": Several(rules.Integer(1, 2**31 - 1)),
        "fields": ListOf(rules.NAME, at_most=None),
        "at": OrNone(rules.INSTANT),
        "what_is_new": OrNone(rules.REASON),
    },
    needed=("change",),
    build=Proposal,
)


class ReadProposal(Json):
    """A proposal, given as a JSON object or as a `Proposal`."""

    def __call__(self, value: Any, /) -> Any:
        return _PROPOSAL(to_json(value))


class ReadEdits(Json):
    """The edits of a proposal, each given as a JSON object or as an `Edit`."""

    def __call__(self, value: Any, /) -> Any:
        return EDITS(value)


class ReadChecks(Json):
    """The checks of a memory, each given as a JSON object or as a `Check`."""

    def __call__(self, value: Any, /) -> Any:
        return CHECKS(value)


# Times need no rule: a datetime in UTC is all that the record can hold.
RECORD_RULES: Final[Mapping[str, Rule]] = {
    "id": rules.STORED_ID,
    "kind": rules.KIND,
    "dimension": rules.DIMENSION,
    "title": rules.TITLE,
    "hint": OrNone(rules.HINT),
    "content": rules.CONTENT,
    "tags": ListOf(rules.TAG, at_most=limits.TAGS),
    "category": OrNone(rules.CATEGORY),
    "confidence": rules.CONFIDENCE,
    "source": OrNone(rules.SOURCE),
    "metadata": Json(),
    "entities": ListOf(Reference(), at_most=limits.ENTITIES),
    "query": OrNone(Json(text_too=True)),
    "artifact": _MAYBE_NAME,
    "scope": rules.SCOPE,
    "owner": rules.NAME,
    "persona": _MAYBE_NAME,
    "system": _MAYBE_NAME,
    "conversation": _MAYBE_NAME,
    "conversation_by": _MAYBE_NAME,
    "author": rules.NAME,
    "origin": rules.ORIGIN,
    "status": rules.STATUS,
    "status_reason": OrNone(rules.REASON),
    "always_inject": rules.FLAG,
    "approved_by": _MAYBE_NAME,
    "proposes": OrNone(ReadProposal()),
    "edits": OrNone(ReadEdits()),
    "changeset": OrNone(rules.NAME),
    "checks": ReadChecks(),
    "check_state": OrNone(Choice(limits.CHECK_STATES)),
}


# A store has few different values of these fields, so each combination is checked once.
_OFTEN_REPEATED: Final = ("kind", "dimension", "confidence", "scope", "owner", "author", "origin", "status")
_often_repeated: Final = attrgetter(*_OFTEN_REPEATED)
_RARELY_REPEATED: Final = tuple(item for item in RECORD_RULES.items() if item[0] not in _OFTEN_REPEATED)
_rarely_repeated: Final = attrgetter(*(name for name, _ in _RARELY_REPEATED))
_NOTHING: Final = object()
# The empty values of optional fields; these need no check.
_EMPTY: Final = tuple(
    None
    if isinstance(rule, OrNone)
    else ()
    if isinstance(rule, ListOf)
    else {}
    if isinstance(rule, Json)
    else _NOTHING
    for _, rule in _RARELY_REPEATED
)


def record_faults(memory: Memory) -> Iterable[Fault]:
    """Every way in which a record breaks the rules of the model."""
    faults = []
    for (name, rule), value, empty in zip(_RARELY_REPEATED, _rarely_repeated(memory), _EMPTY, strict=True):
        if value != empty and (message := kept_fault(rule, value)) is not None:
            faults.append(Fault(name, message))
    repeated = _often_repeated(memory)
    # A value of a wrong type may not be hashable.
    look = _known_faults if set(map(type, repeated)) == {str} else _repeated_faults
    faults += look(repeated)
    return faults or list(invariant_faults(memory))


def _repeated_faults(values: tuple[object, ...]) -> tuple[Fault, ...]:
    named = dict(zip(_OFTEN_REPEATED, values, strict=True))
    return tuple(kept_faults({name: RECORD_RULES[name] for name in named}, named))


_known_faults: Final = lru_cache(maxsize=1_024)(_repeated_faults)


def invariant_faults(memory: Memory) -> Iterator[Fault]:
    """What must hold between the fields of a sound record."""
    if (memory.valid_to is None) != memory.is_live:
        yield Fault(
            "valid_to", f"must be {'empty' if memory.is_live else 'set'} when status is {memory.status}"
        )
    if memory.valid_to is not None and memory.valid_to < memory.valid_from:
        yield Fault("valid_to", "must not be before valid_from")
    needed = {"persona": "persona", "system": "system", "session": "conversation"}.get(memory.scope)
    if needed is not None and getattr(memory, needed) is None:
        yield Fault(needed, f"is required when scope is {memory.scope}")
    if (memory.scope == "global") != ids.is_global(memory.id):
        yield Fault("scope", "global memories, and only those, have an id that begins with global:")
    if memory.scope == "global" and memory.edits is not None:
        yield Fault("edits", GLOBAL_EDITS)
    if memory.changeset is not None and memory.edits is None:
        yield Fault("changeset", "is only for a memory that proposes edits")
    if memory.scope == "global" and memory.checks:
        yield Fault("checks", GLOBAL_CHECKS)
    if memory.check_state != (state := state_of(memory.checks)):
        yield Fault("check_state", f"must be {state or 'empty'}, the state of its checks")


def _relation_faults(given: Mapping[str, Any], _asked: Mapping[str, Any]) -> Iterator[Fault]:
    if given.get("source") == given.get("target"):
        yield Fault("target", "must be another memory than its source")
    if (removed := given.get("removed_at")) is not None:
        if given.get("removed_by") is None:
            yield Fault("removed_by", "is missing")
        if removed < given.get("created_at", removed):
            yield Fault("removed_at", "must not be before created_at")


RELATION: Final = Object(
    "a relation",
    {
        "id": Counted(1, 2**62),
        "source": rules.STORED_ID,
        "relation": rules.RELATION,
        "target": rules.STORED_ID,
        "created_at": rules.INSTANT,
        "created_by": rules.NAME,
        "removed_at": rules.INSTANT,
        "removed_by": rules.NAME,
    },
    needed=("id", "source", "relation", "target", "created_at", "created_by"),
    build=Relation,
    between=_relation_faults,
)
