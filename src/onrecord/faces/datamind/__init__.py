"""HOW does a user of datamind speak to us? With profiles and sessions, tools such as memory_save, a store and a
service.
"""

from onrecord.faces.datamind.items import KINDS, SCOPES, MemoryItem
from onrecord.faces.datamind.legacy import Migrated, migrate, migrate_storage
from onrecord.faces.datamind.service import MemoryService, open_memory
from onrecord.faces.datamind.short_term import ShortTermMemory
from onrecord.faces.datamind.stores import (
    CapabilityError,
    MemoryStore,
    OnRecordMemoryStore,
    SQLiteMemoryStore,
    memory_registry,
)

__all__ = [
    "KINDS",
    "SCOPES",
    "CapabilityError",
    "MemoryItem",
    "MemoryService",
    "MemoryStore",
    "Migrated",
    "OnRecordMemoryStore",
    "SQLiteMemoryStore",
    "ShortTermMemory",
    "memory_registry",
    "migrate",
    "migrate_storage",
    "open_memory",
]
