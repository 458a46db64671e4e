"""WHO asks? The Caller comes from trusted code; what a model sends may narrow it, never widen it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from onrecord.errors import Fault, Forbidden, Invalid
from onrecord.model import limits, rules
from onrecord.model.limits import Actor, Grant, Permission

EVERY_SYSTEM: Final = "*"
_DEFAULT_PERMISSIONS: Final[frozenset[Permission]] = frozenset({"memory.read", "memory.manage"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, for whom, from where, and what they may do."""

    tenant: str
    user: str
    personas: frozenset[str] = frozenset()
    permissions: frozenset[Permission] = _DEFAULT_PERMISSIONS
    systems: Mapping[str, Grant] = field(default_factory=lambda: MappingProxyType({}))
    conversation: str | None = None
    run: str | None = None
    actor: Actor = "person"
    #: The id of the key that was shown, and of the request that is answered: for the audit.
    key: str | None = None
    request: str | None = None
    #: Holds the database itself, and so cares for every tenant in it; no key or token makes one.
    operator: bool = False
    #: What it shares unattended counts at once, for as long as the cap of its run lasts; said by a surface, never asked.
    active_at_once: bool = False

    def __post_init__(self) -> None:
        faults = list(_shape_faults(self)) or list(_faults(self))
        if faults:
            raise Invalid(faults)
        object.__setattr__(self, "personas", frozenset(self.personas))
        object.__setattr__(self, "permissions", _with_implied(frozenset(self.permissions)))
        object.__setattr__(self, "systems", MappingProxyType(dict(self.systems)))

    @property
    def is_admin(self) -> bool:
        return "memory.admin" in self.permissions

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

    def require_operator(self, what: str) -> None:
        """Forbidden unless the caller holds the whole store."""
        if not self.operator:
            raise Forbidden(f"{what} touches every tenant of the store, which is for whoever runs it.")

    def inside(self, conversation: str | None) -> "Caller":
        """The same caller, speaking in another conversation."""
        return replace(self, conversation=conversation)


def _with_implied(held: frozenset[Permission]) -> frozenset[Permission]:
    """An admin sees all of the tenant and may change all of it, and so reads, manages and reviews there too."""
    return frozenset(limits.PERMISSIONS) if "memory.admin" in held else held


def _shape_faults(caller: Caller) -> Iterable[Fault]:
    """A single text is a collection too, of its letters: nobody means that."""
    for name in ("personas", "permissions"):
        value = getattr(caller, name)
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            yield Fault(name, "must be a set of names")
    if not isinstance(caller.systems, Mapping):
        yield Fault("systems", "must map the name of each system to read or manage")
    if not isinstance(caller.operator, bool):
        yield Fault("operator", "must be true or false")


def _faults(caller: Caller) -> Iterable[Fault]:
    for name in ("tenant", "user"):
        yield from _name_faults(name, getattr(caller, name))
    for name in ("conversation", "run", "key", "request"):
        if getattr(caller, name) is not None:
            yield from _name_faults(name, getattr(caller, name))
    if caller.tenant == limits.GLOBAL_TENANT:
        yield Fault(
            "tenant",
            f"{limits.GLOBAL_TENANT} is reserved for memories that every tenant sees; choose another",
        )
    if str(caller.tenant).startswith(limits.ENTITIES_OF):
        yield Fault(
            "tenant",
            f"names that begin with {limits.ENTITIES_OF} are reserved for catalogs",
        )
    for name, choices, values in (
        ("actor", limits.ACTORS, (caller.actor,)),
        ("permissions", limits.PERMISSIONS, caller.permissions),
        ("systems", ("read", "manage"), caller.systems.values()),
    ):
        for value in sorted(set(map(str, values)) - set(choices)):
            yield Fault(name, f"must be of {', '.join(choices)} (got {value!a})")
    for name, names in (("personas", caller.personas), ("systems", caller.systems.keys())):
        for value in names:
            yield from _name_faults(name, value)


def _name_faults(field_name: str, value: object) -> Iterable[Fault]:
    try:
        if rules.NAME(value) != value:
            yield Fault(field_name, "must not begin or end with white space")
    except ValueError as reason:
        yield Fault(field_name, str(reason))
