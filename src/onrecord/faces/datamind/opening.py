"""WHERE do the tools of datamind keep things? As configured: in the served store, in one of your own, or nowhere.

Before the first call, the store takes over what an older datamind left in its file.
"""

import asyncio
import logging
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

from onrecord.config import Config, read_choice
from onrecord.context.conversation import inside
from onrecord.errors import Forbidden, invalid
from onrecord.faces.datamind import asking, items
from onrecord.faces.datamind.items import MemoryItem
from onrecord.faces.datamind.legacy import migrate_own
from onrecord.faces.datamind.service import MemoryService, is_ours
from onrecord.faces.datamind.stores import memory_registry
from onrecord.faces.datamind.tools import TOOLS, tools_over
from onrecord.model.caller import GLOBAL_IS_GIVEN
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Tool

_LOG: Final = logging.getLogger(__name__)
Answer = TypeVar("Answer")


def is_kept_elsewhere(config: Config) -> bool:
    """Whether these tools keep nothing in the store that is served, so that it need not be created."""
    return not (_is_kept(config) and is_ours(config))


def tools(config: Config, door: OnRecord) -> Sequence[Tool]:
    """The tools as configured. `door` acts for the operator of the store."""
    if not _is_kept(config):
        return tools_over(OwnMemory(None))
    if not is_ours(config):
        own = memory_registry.create(config.of_faces["backend"], dsn=config.db, profile=config.tenant)
        return tools_over(OwnMemory(MemoryService(own, profile=config.tenant)))
    for migrated in migrate_own(door, door.caller.tenant):
        for warning in migrated.warnings:
            _LOG.warning("%s", warning)
    return TOOLS


def _is_kept(config: Config) -> bool:
    return read_choice("long_term", config.of_faces["long_term"])


class OwnMemory:
    """Items in a store of someone's own, or in none at all. The profile is the caller's tenant.

    It has the functions that `asking` has for a store of ours.
    """

    def __init__(self, service: MemoryService | None) -> None:
        self._service = service or MemoryService(None, profile="")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn = threading.Lock()

    def save(
        self,
        door: OnRecord,
        content: str,
        scope: str = "profile",
        kind: str = "fact",
        profile: str | None = None,
        session_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> asking.Saved:
        caller = inside(door.caller, session_id)
        if profile not in (None, caller.tenant):
            raise Forbidden(f"Profile {profile!a} is not this caller's own; leave it out to save in yours.")
        if scope == "global" and not caller.changes_global:
            raise invalid("scope", f"saving for everyone {GLOBAL_IS_GIVEN}; use profile")
        there = {"profile": caller.tenant, "session_id": caller.conversation}
        kept = self._service.save(content, scope=scope, kind=kind, metadata=metadata, **there)
        return asking.Saved(self._wait(kept))

    def recall(
        self,
        door: OnRecord,
        query: str,
        top_k: int = items.DEFAULT_RECALLED,
        scope_filter: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        profile: str | None = None,
        session_id: str | None = None,
        include_archived: bool = False,
    ) -> list[MemoryItem]:
        caller = inside(door.caller, session_id)
        wanted = set(items.SCOPES if scope_filter is None else items.named_scopes(scope_filter))
        if profile not in (None, caller.tenant):
            wanted &= {"global"}
        if not wanted:
            return []
        return self._wait(
            self._service.recall(
                query,
                profile=caller.tenant,
                session_id=caller.conversation,
                top_k=top_k,
                kinds=kinds,
                scope_filter=sorted(wanted),
                include_archived=include_archived,
            )
        )

    def forget(self, door: OnRecord, item_id: str, hard: bool = False) -> asking.Deletion:
        return asking.Deletion(self._wait(self._service.forget(str(item_id), hard=hard)))

    def list_profiles(self, door: OnRecord) -> list[str]:
        return [name for name in self._wait(self._service.list_profiles()) if name == door.caller.tenant]

    def _wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run it on the one event loop of this store and wait: connections belong to the loop that opened them."""
        with self._turn:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
