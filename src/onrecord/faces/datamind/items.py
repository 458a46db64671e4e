"""WHAT does a memory look like to a user of datamind? An item of one of three scopes and one of six kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, cast, get_args

from onrecord.errors import invalid
from onrecord.model import limits, rules
from onrecord.model.conversation_names import called
from onrecord.model.limits import LIVE
from onrecord.model.memory import Memory
from onrecord.model.schema import output_schema
from onrecord.model.shapes import checked_field

ItemScope = Literal["session", "profile", "global"]
ItemKind = Literal["preference", "decision", "workflow", "summary", "skill", "fact"]

#: From the nearest to the widest: of two items that fit equally well, the one of the nearer scope comes first.
SCOPES: Final[tuple[ItemScope, ...]] = get_args(ItemScope)
KINDS: Final[tuple[ItemKind, ...]] = get_args(ItemKind)
MOST_RECALLED: Final = 20
RECALLED: Final = rules.Integer(1, MOST_RECALLED)
DEFAULT_RECALLED: Final = 8

_OUR_SCOPE: Final[Mapping[str, limits.Scope]] = {
    "session": "session",
    "profile": "tenant",
    "global": "global",
}
_THEIR_SCOPE: Final[Mapping[str, ItemScope]] = {"session": "session", "global": "global"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One item. `created_at` is a text of seconds since 1970; `namespace` is what older programs call its place.

    `author` wrote the content, and `tier` says as what; a store of someone's own may not know.
    """

    id: str
    scope: ItemScope
    profile: str | None = None
    session_id: str | None = None
    kind: ItemKind = "fact"
    status: Literal["active", "archived"] = "active"
    content: str
    score: float = 1.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""
    namespace: str = ""
    author: str | None = None
    tier: limits.Tier | None = None

    def as_json(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


#: The shape of an item, for tools and routes alike.
ITEM: Final = output_schema(MemoryItem)


def item_of(memory: Memory, score: float, user: str) -> MemoryItem:
    """A memory in the shape of an item, for this user: a session of another is called so that they find it."""
    scope = _THEIR_SCOPE.get(memory.scope, "profile")
    profile = memory.tenant if scope == "profile" else None
    session = called(memory.pinned, user) if memory.pinned and scope == "session" else None
    return MemoryItem(
        id=memory.id,
        scope=scope,
        profile=profile,
        session_id=session,
        kind=_kind_of(memory),
        status="active" if memory.status in LIVE else "archived",
        content=memory.content,
        score=score,
        metadata=dict(memory.metadata),
        created_at=str(memory.created_at.timestamp()),
        namespace=profile or session or "global",
        author=memory.author,
        tier=memory.tier,
    )


def item_from(given: object) -> MemoryItem:
    """The item that a store of someone's own returned: a MemoryItem, an object with the same fields, or a mapping of
    them.
    """
    if isinstance(given, MemoryItem):
        return given
    names = [each.name for each in fields(MemoryItem)]
    if isinstance(given, Mapping):
        return MemoryItem(**{name: given[name] for name in names if name in given})
    return MemoryItem(**{name: getattr(given, name) for name in names if hasattr(given, name)})


def _kind_of(memory: Memory) -> ItemKind:
    """The kind of the item. A kind that datamind does not know becomes a fact, so that its programs do not fail."""
    return next((kind for kind in KINDS if kind == memory.kind), "fact")


def our_scope(scope: object) -> limits.Scope:
    """Our name for a scope of datamind; Invalid for any other, including the scopes that only we have."""
    return _OUR_SCOPE[_one_of("scope", SCOPES, scope)]


def require_session(scope: object, session_id: str | None) -> None:
    """Invalid if the scope needs a session and none is given."""
    if our_scope(scope) == "session" and session_id is None:
        raise invalid("session_id", "is required when scope is session")


def our_scopes(scopes: object) -> tuple[limits.Scope, ...]:
    """The scopes that a filter keeps, by our names; without a filter, all three."""
    return tuple(_OUR_SCOPE[each] for each in (SCOPES if scopes is None else named_scopes(scopes)))


def named_scopes(scopes: object) -> tuple[str, ...]:
    """The scopes of a filter, by the names of datamind."""
    return _several("scope_filter", SCOPES, scopes)


def our_kind(kind: object) -> str:
    return _one_of("kind", KINDS, kind)


def our_kinds(kinds: object) -> tuple[str, ...]:
    """The kinds of ours that a filter keeps; `fact` includes every kind that is shown as a fact.

    Empty without a filter, which keeps all kinds.
    """
    if not kinds:
        return ()
    named = _several("kinds", KINDS, kinds)
    others = [kind for kind in limits.KINDS if kind not in KINDS] if "fact" in named else []
    return (*named, *others)


def how_many(top_k: object) -> int:
    return cast(int, checked_field("top_k", RECALLED, top_k))


def _one_of(name: str, options: tuple[str, ...], value: object) -> str:
    return cast(str, checked_field(name, rules.Choice(options), value))


def _several(name: str, options: tuple[str, ...], values: object) -> tuple[str, ...]:
    rule = rules.ListOf(rules.Choice(options), at_most=len(options))
    return cast(tuple[str, ...], checked_field(name, rule, values))
