"""HOW does an assistant of the checkstack platform speak to us? Memories of a user or of a system, each with a hint."""

from onrecord.faces.checkstack.memories import (
    SaveArguments,
    delete_memory,
    list_memories,
    preamble,
    save_memory,
    search_memory,
    set_memory_always_inject,
    summarise_delete,
    summarise_save,
)

__all__ = [
    "SaveArguments",
    "delete_memory",
    "list_memories",
    "preamble",
    "save_memory",
    "search_memory",
    "set_memory_always_inject",
    "summarise_delete",
    "summarise_save",
]
