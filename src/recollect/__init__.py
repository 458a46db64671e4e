"""Recollect: the memory layer for agents that work on real systems."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.aio import AsyncRecollect
    from recollect.app import connect, connect_async
    from recollect.model.caller import Caller
    from recollect.model.memory import Memory
    from recollect.service import Recollect

__all__ = ["AsyncRecollect", "Caller", "Memory", "Recollect", "connect", "connect_async"]
__version__ = "0.1.0"

_HOMES = {
    "AsyncRecollect": "recollect.aio",
    "Caller": "recollect.model.caller",
    "Memory": "recollect.model.memory",
    "Recollect": "recollect.service",
    "connect": "recollect.app",
    "connect_async": "recollect.app",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `recollect --help` need not wait for the database library."""
    if name not in _HOMES:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
