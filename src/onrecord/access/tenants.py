"""WHICH tenants are there? Made, listed, and erased with everything that is theirs."""

from datetime import datetime

from onrecord.access import auditing
from onrecord.errors import Fault, Invalid, NotFound
from onrecord.model.answers import CreatedTenant, ErasedTenant, ListedTenants, Tenant
from onrecord.model.caller import Caller
from onrecord.model.collections import ENTITIES, MEMORIES, Home
from onrecord.model.limits import ENTITIES_OF, GLOBAL_TENANT
from onrecord.model.requests import CreateTenant, EraseTenant
from onrecord.store.ports.archive import Archive
from onrecord.store.ports.store import Store


def create(caller: Caller, ask: CreateTenant, store: Store, now: datetime) -> CreatedTenant:
    _refuse_reserved(ask.name)
    created = store.make_room(ask.name)
    if created:
        auditing.note(caller, "create_tenant", store, now, ask.name)
    with store.archive() as archive:
        return CreatedTenant(tenant=_counted(archive, ask.name), created=created)


def listed(caller: Caller, store: Store) -> ListedTenants:
    names = _names(store) if caller.operator else [caller.tenant]
    with store.archive() as archive:
        return ListedTenants(tenants=tuple(_counted(archive, name) for name in names))


def _names(store: Store) -> list[str]:
    """Some have nothing but a catalog so far, some nothing but a key."""
    with store.ledger(writes=False) as ledger:
        names = {key.tenant for key in ledger.all_keys()}
    with store.archive() as archive:
        names |= {home.tenant for home in archive.homes()}
    return sorted(names - {GLOBAL_TENANT})


def erase(caller: Caller, ask: EraseTenant, store: Store, now: datetime) -> ErasedTenant:
    """What is found afterwards is told: whoever has to prove an erasure needs both numbers."""
    _refuse_reserved(ask.name)
    if not store.rows_of(ask.name):
        raise NotFound(f"No tenant {ask.name} here. List the tenants to see which there are.")
    erased, residue = store.erase_tenant(ask.name)
    if ask.name != caller.tenant:
        # In its own tenant the line would be the first thing to be there again.
        auditing.note(caller, "erase_tenant", store, now, ask.name)
    return ErasedTenant(name=ask.name, erased=erased, residue=residue)


def _counted(archive: Archive, name: str) -> Tenant:
    memories, entities = (archive.count(Home(name, each)) for each in (MEMORIES, ENTITIES))
    return Tenant(name=name, memories=memories, entities=entities)


def _refuse_reserved(name: str) -> None:
    if name == GLOBAL_TENANT or name.startswith(ENTITIES_OF):
        raise Invalid([Fault("name", f"{name!a} is reserved; choose a tenant that callers can be in")])
