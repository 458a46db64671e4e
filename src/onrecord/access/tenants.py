"""WHICH tenants are there? They are made, listed, and erased with everything of theirs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from onrecord.errors import Fault, Forbidden, NotFound, invalid
from onrecord.model.advice import NOTHING, STANDING, Nothing, Standing
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.collections import ENTITIES, MEMORIES, Home
from onrecord.model.ledger import TenantSettings
from onrecord.model.limits import ENTITIES_OF, GLOBAL_TENANT
from onrecord.model.request import Request, ask
from onrecord.model.rules import FLAG, NAME, Choice, ListOf, OrNone
from onrecord.operation import Call, operation
from onrecord.store.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant(Answer):
    """A tenant, how much it holds, and its settings of who may change what."""

    name: str
    memories: int
    entities: int
    settings: TenantSettings = TenantSettings()


@dataclass(frozen=True, slots=True)
class CreateTenant(Request):
    """Make a tenant before anything is saved there."""

    name: str = ask(NAME, "What to call it.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedTenant(Answer):
    """A tenant; `created` is false if it existed before."""

    tenant: Tenant
    created: bool


@dataclass(frozen=True, slots=True)
class ListTenants(Request):
    """List the tenants of the store and how much each holds; only the caller's own unless the caller runs the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTenants(Answer):
    """Tenants by name."""

    tenants: tuple[Tenant, ...]


@dataclass(frozen=True, slots=True)
class SetTenant(Request):
    """Say who may change what in the caller's tenant, and what an advisor does there; only what is given changes.

    By default an agent may correct memories by agents of the same owner, and only the owner may retire a shared
    memory.
    """

    agents_share: bool | None = ask(
        OrNone(FLAG), "All agents share one tier, and may correct each other's shared memories.", None
    )
    members_retire: bool | None = ask(
        OrNone(FLAG), "Members may retire and supersede what others shared, within their tier.", None
    )
    advice: Sequence[Standing | Nothing] | None = ask(
        OrNone(ListOf(Choice((*STANDING, NOTHING)), at_most=len(STANDING))),
        f"What an advisor does where requests leave it open: {', '.join(STANDING)}, or {NOTHING}.",
        None,
    )
    keep_questions: bool | None = ask(
        OrNone(FLAG),
        "Feedback on a hit keeps the question, so that your own store can be measured. Ending this removes those that "
        "were kept.",
        None,
    )


@dataclass(frozen=True, slots=True)
class EraseTenant(Request):
    """Erase everything of a tenant, with its catalog, its keys and its history, and check that nothing is left."""

    name: str = ask(NAME, "The tenant to erase.", positional=True)
    confirm: str = ask(NAME, "Its name once more, so that no other is meant.")

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.confirm != self.name:
            yield Fault("confirm", f"must be {self.name!a} too: everything in it is erased for good")
        if self.name != caller.tenant and not caller.operator:
            yield Fault("name", "only the operator of the store may erase another tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedTenant(Answer):
    """What was erased, by table, and what a search afterwards still found: nothing, if all is well. `warnings` says
    what stays in the database's files for a while.
    """

    name: str
    erased: Mapping[str, int]
    residue: Mapping[str, int]
    warnings: tuple[str, ...] = ()


@operation("write", "memory.admin", "POST /tenants", "tenants create", begins=True)
def create_tenant(call: Call, ask: CreateTenant) -> CreatedTenant:
    call.caller.require_operator("A new tenant")
    _refuse_reserved(ask.name)
    created = call.store.add_tenant(ask.name)
    if created:
        call.note("create_tenant", ask.name)
    return CreatedTenant(tenant=_counted(call.store, ask.name), created=created)


@operation("read", "memory.admin", "GET /tenants", "tenants list")
def list_tenants(call: Call, ask: ListTenants) -> ListedTenants:
    names = _names(call.store) if call.caller.operator else [call.caller.tenant]
    return ListedTenants(tenants=tuple(_counted(call.store, name) for name in names))


def _names(store: Store) -> list[str]:
    """The names of all tenants; some have only a catalog, some only a key."""
    with store.ledger(writes=False) as ledger:
        names = {key.tenant for key in ledger.all_keys()}
    with store.archive() as archive:
        names |= {home.tenant for home in archive.homes()}
    return sorted(names - {GLOBAL_TENANT})


@operation("write", "memory.admin", "PATCH /tenants", "tenants set", begins=True)
def set_tenant(call: Call, ask: SetTenant) -> Tenant:
    caller = call.caller
    _require_person(caller, "says who may change what")
    changed = {name: value for name, value in asdict(ask).items() if value is not None}
    if ask.advice is not None and NOTHING in ask.advice:
        changed["advice"] = ()
    with call.store.ledger(caller.tenant) as ledger:
        ledger.set(replace(ledger.settings(), **changed), caller.user, call.now)
        ledger.note(caller, "set_tenant", call.now)
    return _counted(call.store, caller.tenant)


@operation("destroy", "memory.admin", "DELETE /tenants/{name}", "tenants erase")
def erase_tenant(call: Call, ask: EraseTenant) -> ErasedTenant:
    """Erase a tenant and count what is left: an admin who must prove the erasure needs both numbers."""
    _refuse_reserved(ask.name)
    _require_person(call.caller, "erases a tenant")
    if not call.store.rows_of(ask.name):
        raise NotFound(f"No tenant {ask.name} here. List the tenants to see which there are.")
    erased, residue, waits = call.store.erase_tenant(ask.name)
    call.turns.clear_tenant(ask.name)
    if ask.name != call.caller.tenant:
        # Not in the erased tenant itself, which would then exist again.
        call.note("erase_tenant", ask.name)
    warnings = () if waits is None else (waits,)
    return ErasedTenant(name=ask.name, erased=erased, residue=residue, warnings=warnings)


def _counted(store: Store, name: str) -> Tenant:
    with store.archive() as archive:
        memories, entities = (archive.count(Home(name, each)) for each in (MEMORIES, ENTITIES))
    with store.ledger(name, writes=False) as ledger:
        settings = ledger.settings()
    return Tenant(name=name, memories=memories, entities=entities, settings=settings)


def _require_person(caller: Caller, what: str) -> None:
    if caller.actor != "person":
        raise Forbidden(f"Only a person {what}: use the key of a person.")


def _refuse_reserved(name: str) -> None:
    if name == GLOBAL_TENANT or name.startswith(ENTITIES_OF):
        raise invalid("name", f"{name!a} is reserved; choose another name")
