"""OnRecord: the memory layer for agents that work on real systems."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onrecord.aio import AsyncOnRecord
    from onrecord.app import connect, connect_async
    from onrecord.model.caller import Caller
    from onrecord.model.memory import Memory
    from onrecord.service import OnRecord

__all__ = ["AsyncOnRecord", "Caller", "Memory", "OnRecord", "connect", "connect_async"]
__version__ = "0.1.0"

_HOMES = {
    "AsyncOnRecord": "onrecord.aio",
    "Caller": "onrecord.model.caller",
    "Memory": "onrecord.model.memory",
    "OnRecord": "onrecord.service",
    "connect": "onrecord.app",
    "connect_async": "onrecord.app",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `onrecord --help` need not wait for the database library."""
    if name not in _HOMES:
        raise AttributeError(f"module 'onrecord' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, also those that are not loaded yet, so that completion at a prompt lists them."""
    return sorted({*globals(), *__all__})
