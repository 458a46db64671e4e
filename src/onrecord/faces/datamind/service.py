"""HOW does an agent of datamind use its memory? In `agent.memory`: the last turns, and the saved items."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onrecord.config import Config, load, read_choice, read_number
from onrecord.errors import invalid
from onrecord.faces.datamind import items
from onrecord.faces.datamind.items import MemoryItem
from onrecord.faces.datamind.short_term import ShortTermMemory
from onrecord.faces.datamind.stores import MemoryStore, OnRecordMemoryStore, memory_registry
from onrecord.model.limits import MOST_TURNS


class MemoryService:
    """The memory of one agent. A call that names no profile means the profile that the agent works for.

    Without a store there are only the last turns: a recall finds nothing, and a save is refused.
    """

    def __init__(
        self, store: MemoryStore | None, *, profile: str, short_term: ShortTermMemory | None = None
    ) -> None:
        self.store = store
        self.profile = profile
        self.short_term = short_term or ShortTermMemory()

    async def save(
        self,
        content: str,
        *,
        scope: str = "profile",
        profile: str | None = None,
        session_id: str | None = None,
        kind: str = "fact",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        if self.store is None:
            raise invalid("long_term", "is switched off, so nothing can be saved; set it to yes")
        # Checked here too, so that no store, also one of a third party, gets a value that would break it later.
        items.require_session(scope, session_id)
        items.our_kind(kind)
        return await self.store.save(
            content,
            scope=scope,
            # A session belongs to its profile: another profile may have a session of the same name.
            profile=profile if scope == "global" else profile or self.profile,
            session_id=session_id if scope == "session" else None,
            kind=kind,
            metadata=metadata,
        )

    async def recall(
        self,
        query: str,
        *,
        profile: str | None = None,
        session_id: str | None = None,
        top_k: int = items.DEFAULT_RECALLED,
        kinds: Sequence[str] | None = None,
        scope_filter: Sequence[str] | None = None,
        include_archived: bool = False,
    ) -> list[MemoryItem]:
        """The items about the question in this session, in this profile and for everyone; none of other sessions or
        profiles.
        """
        wanted = items.named_scopes(scope_filter) if scope_filter else items.SCOPES
        items.our_kinds(kinds)
        items.how_many(top_k)
        if self.store is None:
            return []
        asked: dict[str, Any] = {
            "profile": profile or self.profile,
            "session_id": session_id if "session" in wanted else None,
            "kinds": kinds,
            "include_archived": include_archived,
        }
        if isinstance(self.store, OnRecordMemoryStore):
            return await self.store.recall(query, top_k=top_k, scope_filter=wanted, **asked)
        # The protocol of stores has no filter by scope, so we ask for more: unwanted items would crowd out the others.
        most = items.MOST_RECALLED if scope_filter else top_k
        found = map(items.item_from, await self.store.recall(query, top_k=most, **asked))
        return [each for each in found if each.scope in wanted][:top_k]

    async def forget(self, item_id: str, *, hard: bool = False) -> bool:
        return False if self.store is None else await self.store.forget(item_id, hard=hard)

    async def list_profiles(self) -> list[str]:
        return [] if self.store is None else await self.store.list_profiles()

    async def extract_and_save(
        self,
        user_turn: str,
        assistant_turn: str,
        *,
        scope: str = "session",
        profile: str | None = None,
        session_id: str | None = None,
    ) -> list[str]:
        """Save the facts that an advisor finds in a turn, and return those that are new. Without an advisor, or if it gives
        no usable answer, there are none. A store of someone's own gets none either: it has no advisor.
        """
        items.require_session(scope, session_id)
        if not isinstance(self.store, OnRecordMemoryStore):
            return []
        return await self.store.extract(
            user_turn, assistant_turn, scope=scope, profile=profile or self.profile, session_id=session_id
        )


def open_memory(
    dsn: str | None = None,
    *,
    profile: str | None = None,
    storage: str | Path = "storage",
    environment: Mapping[str, str] | None = None,
) -> MemoryService:
    """The memory as it is configured, by our variables or by those of datamind.

    It takes over what an older datamind left in the files of its profiles, in the folder `storage`.
    """
    config = load(environment, db=dsn, tenant=profile)
    turns = read_number("turns", config.turns, 1, MOST_TURNS)
    store = _open_store(config, storage) if read_choice("long_term", config.of_faces["long_term"]) else None
    return MemoryService(store, profile=config.tenant, short_term=ShortTermMemory(turns))


def _open_store(config: Config, storage: str | Path) -> MemoryStore:
    if is_ours(config):
        return OnRecordMemoryStore(config.db, profile=config.tenant, storage=storage)
    return memory_registry.create(config.of_faces["backend"], dsn=config.db, profile=config.tenant)


def is_ours(config: Config) -> bool:
    """Whether the configured backend is a store of ours; Invalid if it is postgres but the DSN is not."""
    backend = config.of_faces["backend"]
    if backend == "postgres" and not config.db.startswith("postgres"):
        raise invalid("db", "must be a PostgreSQL DSN (postgresql://…) when backend is postgres")
    return memory_registry.is_made_by(backend, OnRecordMemoryStore)
