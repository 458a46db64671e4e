"""WHERE do datamind's items live? In a store of ours, or in one of your own that implements the protocol."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

from onrecord.app import connect
from onrecord.errors import Conflict, Invalid, NotFound, OnRecordError, invalid
from onrecord.faces.datamind import asking, items
from onrecord.faces.datamind.items import MemoryItem
from onrecord.faces.datamind.legacy import migrate_own, migrate_storage
from onrecord.service import OnRecord


class MemoryStore(Protocol):
    """What a store of items can do. A recall without a profile finds no items of profiles, and one without a session
    none of sessions.

    A session belongs to the profile that is named with it; two profiles may each have a session of the same name.
    """

    async def save(
        self,
        content: str,
        *,
        scope: str,
        profile: str | None = None,
        session_id: str | None = None,
        kind: str = "fact",
        metadata: Mapping[str, Any] | None = None,
    ) -> str: ...

    async def recall(
        self,
        query: str,
        *,
        profile: str | None = None,
        session_id: str | None = None,
        top_k: int = 8,
        kinds: Sequence[str] | None = None,
        include_archived: bool = False,
    ) -> list[MemoryItem]: ...

    async def forget(self, item_id: str, *, hard: bool = False) -> bool: ...

    async def list_profiles(self) -> list[str]: ...


#: The name that datamind has for an error.
CapabilityError = OnRecordError
#: Makes a store; it gets `dsn` and `profile` as keyword arguments.
StoreFactory = Callable[..., MemoryStore]
Registered = TypeVar("Registered", bound=StoreFactory)


class Registry:
    """Stores by name, so that a setting can choose a store that others wrote."""

    def __init__(self) -> None:
        self._factories: dict[str, StoreFactory] = {}

    def register(self, name: str) -> Callable[[Registered], Registered]:
        """A decorator for a class or another factory. Conflict if the name is taken."""

        def keep(factory: Registered) -> Registered:
            if self._factories.setdefault(name, factory) is not factory:
                raise Conflict(f"There is a store {name} already; choose another name for yours.")
            return factory

        return keep

    def create(self, name: str, **given: Any) -> MemoryStore:
        """Make the store of that name, with those of the given arguments that its factory takes, or none."""
        factory = self._factory(name)
        takes = signature(factory).parameters.values()
        if not any(each.kind is Parameter.VAR_KEYWORD for each in takes):
            names = {each.name for each in takes}
            given = {name: value for name, value in given.items() if name in names}
        return factory(**given)

    def is_made_by(self, name: str, factory: StoreFactory) -> bool:
        return self._factory(name) is factory

    def _factory(self, name: str) -> StoreFactory:
        """The factory of that name. A module before it, as in `my_stores:redis`, is imported first, to register it."""
        module, _, plain = name.rpartition(":")
        if module:
            try:
                import_module(module)
            except ImportError as problem:
                reason = f"the module {module!a} of {name!a} cannot be read: {problem}"
                raise invalid("backend", reason) from None
        if plain not in self._factories:
            known = ", ".join(sorted(self._factories))
            raise invalid("backend", f"{plain!a} is not registered; there are {known}")
        return self._factories[plain]

    def __contains__(self, name: str) -> bool:
        return name in self._factories


memory_registry: Final = Registry()


@memory_registry.register("postgres")
@memory_registry.register("sqlite")
class OnRecordMemoryStore:
    """A store of ours, for code that uses it directly. Each profile is a tenant of it; all profiles share global items.

    When it is opened, it takes over the items in the files of an older datamind: those in its own file and, with
    `storage`, those in the `memory.db` of every profile's folder in there.
    """

    def __init__(
        self,
        dsn: str | Path | OnRecord | None = None,
        *,
        profile: str | None = None,
        storage: str | Path | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self.door = dsn if isinstance(dsn, OnRecord) else connect(dsn)
        self.profile = profile or self.door.caller.tenant
        self._home = self._at(self.profile)
        self._new_id = new_id
        self.migrated = migrate_own(self._home, self.profile)
        if storage is not None:
            self.take_over(storage)

    def take_over(self, storage: str | Path) -> None:
        """Move what an older datamind left in a folder of profiles into this store."""
        self.migrated += migrate_storage(self._home, storage)

    def _at(self, profile: str) -> OnRecord:
        """The store as a caller of that profile sees it."""
        caller = self.door.caller
        if profile == caller.tenant:
            return self.door
        caller.require_operator(f"Profile {profile}")
        return self.door.as_caller(replace(caller, tenant=profile))

    async def save(
        self,
        content: str,
        *,
        scope: str,
        profile: str | None = None,
        session_id: str | None = None,
        kind: str = "fact",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        if items.our_scope(scope) == "tenant" and profile is None:
            raise invalid("profile", "is required when scope is profile")
        items.require_session(scope, session_id)
        door = self._at(profile or self.profile)
        session = session_id if scope == "session" else None
        saved = await asyncio.to_thread(
            asking.save, door, content, scope, kind, None, session, metadata, self._new_id()
        )
        return saved.id

    async def recall(
        self,
        query: str,
        *,
        profile: str | None = None,
        session_id: str | None = None,
        top_k: int = items.DEFAULT_RECALLED,
        kinds: Sequence[str] | None = None,
        include_archived: bool = False,
        scope_filter: Sequence[str] | None = None,
        per_scope: Mapping[str, int] | None = None,
    ) -> list[MemoryItem]:
        wanted = set(items.SCOPES if scope_filter is None else items.named_scopes(scope_filter))
        if profile is None:
            wanted -= {"profile"}
        if session_id is None:
            wanted -= {"session"}
        asked: dict[str, Any] = {
            "top_k": top_k,
            "kinds": kinds,
            "session_id": session_id,
            "include_archived": include_archived,
            "per_scope": per_scope,
        }

        there = self._at(profile or self.profile)
        return await asyncio.to_thread(asking.recall, there, query, scope_filter=sorted(wanted), **asked)

    async def extract(
        self,
        user_turn: str,
        assistant_turn: str,
        *,
        scope: str,
        profile: str | None = None,
        session_id: str | None = None,
    ) -> list[str]:
        """Save the facts of a turn; returns those that were not known."""
        there = self._at(profile or self.profile)
        return await asyncio.to_thread(
            asking.extract, there, user_turn, assistant_turn, scope=scope, session_id=session_id
        )

    async def forget(self, item_id: str, *, hard: bool = False, profile: str | None = None) -> bool:
        """Forget an item in whichever profile has it. Conflict if several have it and none is named."""
        return await asyncio.to_thread(self._forget, item_id, hard, profile)

    def _forget(self, item_id: str, hard: bool, profile: str | None) -> bool:
        doors = [self._at(profile)] if profile else [self._at(name) for name in self._profiles()]
        holding = [door for door in doors if _has(door, item_id)]
        if len(holding) > 1 and not item_id.startswith("global:"):
            names = ", ".join(door.caller.tenant for door in holding)
            raise Conflict(f"Several profiles have an item {item_id}: {names}. Choose one with profile=….")
        return bool(holding) and asking.forget(holding[0], item_id, hard).deleted

    async def list_profiles(self) -> list[str]:
        return await asyncio.to_thread(
            lambda: [name for each in self._profiles() for name in asking.list_profiles(self._at(each))]
        )

    async def count(
        self,
        scope: str | None = None,
        profile: str | None = None,
        session_id: str | None = None,
        include_archived: bool = False,
    ) -> int:
        """How many items: in one profile or in all, of one session or of all.

        Without a scope, a named session means its items, and a named profile alone those of the profile.
        """
        return await asyncio.to_thread(self._count, scope, profile, session_id, include_archived)

    def _count(
        self, scope: str | None, profile: str | None, session_id: str | None, include_archived: bool
    ) -> int:
        doors = [self._at(name) for name in ([profile] if profile else self._profiles())]
        if scope is None and (session_id is not None or profile is not None):
            scope = "profile" if session_id is None else "session"
        scopes = items.SCOPES if scope is None else items.named_scopes([scope])
        return sum(
            asking.count(door, each, session_id, include_archived)
            for each in scopes
            # Items for everyone are the same in every profile, so count them once.
            for door in (doors[:1] if each == "global" else doors)
        )

    def _profiles(self) -> list[str]:
        caller = self.door.caller
        if not caller.operator:
            return [caller.tenant]
        names = {tenant.name for tenant in self.door.list_tenants().tenants}
        return sorted(names | {self.profile})

    def close(self) -> None:
        self.door.close()


#: The name that datamind has for it.
SQLiteMemoryStore = OnRecordMemoryStore


def _has(door: OnRecord, item_id: str) -> bool:
    try:
        door.show(item_id)
    except (NotFound, Invalid):
        return False
    return True
