"""WHO is calling? The Caller comes from trusted code; what a model sends may narrow it, never widen it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from onrecord.errors import Fault, Forbidden, Invalid
from onrecord.model import limits, rules
from onrecord.model.conversation_names import CONVERSATION, key_of
from onrecord.model.limits import Actor, Grant, Permission
from onrecord.model.rules import Choice, ListOf, OrNone, Rule
from onrecord.model.shapes import Kept, MapOf, faults_at
from onrecord.model.workspace import ConversationKey

EVERY_SYSTEM: Final = "*"
#: A part of the error for callers who may not change global memories.
GLOBAL_IS_GIVEN: Final = (
    f"needs the permission {limits.CHANGE_GLOBAL}, which is granted only on the server's machine"
)
_DEFAULT_PERMISSIONS: Final[frozenset[Permission]] = frozenset({"memory.read", "memory.manage"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls, for whom, from where, and what they may do."""

    tenant: str
    user: str
    personas: frozenset[str] = frozenset()
    permissions: frozenset[Permission] = _DEFAULT_PERMISSIONS
    systems: Mapping[str, Grant] = field(default_factory=lambda: MappingProxyType({}))
    conversation: str | None = None
    #: Who began it, once the store has looked whom the name means; None for the caller.
    conversation_by: str | None = None
    run: str | None = None
    actor: Actor = "person"
    #: The id of the key and of the request, for the audit.
    key: str | None = None
    request: str | None = None
    #: Whether the caller runs the store and so maintains every tenant. No key of a tenant and no token gives this.
    operator: bool = False
    #: Whether what an unattended run shares counts at once, within the limit of the run. Only a surface sets this.
    active_at_once: bool = False
    #: Whether an admin asks without an admin's view: they are still in whichever conversation they name.
    is_admin_aside: bool = False

    def __post_init__(self) -> None:
        if faults := list(_faults(self)):
            raise Invalid(faults)
        object.__setattr__(self, "personas", frozenset(self.personas))
        object.__setattr__(self, "permissions", _with_implied(frozenset(self.permissions)))
        object.__setattr__(self, "systems", MappingProxyType(dict(self.systems)))

    @property
    def is_admin(self) -> bool:
        return "memory.admin" in self.permissions

    @property
    def enters_all(self) -> bool:
        """Whether the caller is a member of every conversation in the tenant."""
        return self.is_admin or self.is_admin_aside

    @property
    def changes_global(self) -> bool:
        """Whether the caller may change global memories, as an admin may change those of a tenant."""
        return limits.CHANGE_GLOBAL in self.permissions

    def among(self, tenant: str) -> "Caller":
        """The same caller for the memories of its own or of the global tenant. In the global tenant the permission to change
        global memories decides who counts as an admin.
        """
        if tenant != limits.GLOBAL_TENANT or self.is_admin == self.changes_global:
            return self
        admin: frozenset[Permission] = frozenset({"memory.admin"})
        held = self.permissions | admin if self.changes_global else self.permissions - admin
        return replace(self, permissions=held)

    def reads(self, system: str) -> bool:
        return system in self.systems or EVERY_SYSTEM in self.systems

    def manages(self, system: str) -> bool:
        return "manage" in (self.systems.get(system), self.systems.get(EVERY_SYSTEM))

    def require(self, permission: Permission) -> None:
        """Forbidden unless the caller holds this permission."""
        if permission not in self.permissions:
            raise Forbidden(
                f"This needs the permission {permission}, which {self.user} does not hold here. Ask an admin for it."
            )

    @property
    def lets_checks_run(self) -> bool:
        """Whether a check runs because this caller says so."""
        return self.actor == "person" and "memory.review" in self.permissions

    def require_person(self, what: str) -> None:
        """Forbidden for agents and unattended runs; the operator of the store may do what a person may."""
        if self.actor != "person" and not self.operator:
            raise Forbidden(f"{what} is for a person or the host: use the API key of a person.")

    def require_operator(self, what: str) -> None:
        """Forbidden unless the caller runs the store."""
        if not self.operator:
            raise Forbidden(f"{what} affects every tenant: only the operator of the store may do that.")

    @property
    def spoken_in(self) -> ConversationKey | None:
        """The conversation that the caller names; the store decides whether they are a member."""
        if self.conversation is None:
            return None
        if self.conversation_by is None:
            return key_of(self.conversation, self.user)
        return ConversationKey(self.conversation_by, self.conversation)

    def inside(self, conversation: str | None, by: str | None = None) -> "Caller":
        """The same caller in another conversation, which `by` began if it is known."""
        return replace(self, conversation=conversation, conversation_by=by)


def _with_implied(held: frozenset[Permission]) -> frozenset[Permission]:
    """An admin may see and change everything in the tenant, and so has the permissions to read, manage and review
    too.
    """
    return held.union(limits.TENANT_PERMISSIONS) if "memory.admin" in held else held


def _tenant(value: object) -> str:
    name = _NAME(value)
    if name == limits.GLOBAL_TENANT:
        raise ValueError(f"{name} is reserved for memories that every tenant sees; choose another")
    if name.startswith(limits.ENTITIES_OF):
        raise ValueError(f"names that begin with {limits.ENTITIES_OF} are reserved for catalogs")
    return str(name)


# Not trimmed: a trimmed name might be another user's.
_NAME: Final = Kept(rules.NAME)
_RULES: Final[Mapping[str, Rule]] = {
    "tenant": _tenant,
    "user": _NAME,
    "personas": ListOf(_NAME, at_most=None),
    "permissions": ListOf(Choice(limits.PERMISSIONS), at_most=None),
    "systems": MapOf("an object of systems, each with read or manage", _NAME, rules.GRANTED),
    "conversation": OrNone(Kept(CONVERSATION)),
    **dict.fromkeys(("conversation_by", "run", "key", "request"), OrNone(_NAME)),
    "actor": Choice(limits.ACTORS),
    "operator": rules.FLAG,
}


def _faults(caller: Caller) -> Iterator[Fault]:
    for name, rule in _RULES.items():
        try:
            rule(getattr(caller, name))
        except ValueError as reason:
            yield from faults_at(name, reason)
