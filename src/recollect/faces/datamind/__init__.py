"""HOW does a user of datamind speak to us? Profiles and sessions, memory_save and its kin, a store and a service."""

from recollect.faces.datamind.items import KINDS, SCOPES, MemoryItem
from recollect.faces.datamind.legacy import Migrated, migrate, migrate_storage
from recollect.faces.datamind.service import MemoryService, open_memory
from recollect.faces.datamind.short_term import ShortTermMemory
from recollect.faces.datamind.stores import (
    MemoryStore,
    RecollectMemoryStore,
    SQLiteMemoryStore,
    memory_registry,
)

__all__ = [
    "KINDS",
    "SCOPES",
    "MemoryItem",
    "MemoryService",
    "MemoryStore",
    "Migrated",
    "RecollectMemoryStore",
    "SQLiteMemoryStore",
    "ShortTermMemory",
    "memory_registry",
    "migrate",
    "migrate_storage",
    "open_memory",
]
