"""HOW does an agent of the data platform speak to us? Memory records of people and personas, about entities of a data
catalog; insights that people review; and what is known of the entities in other tools' answers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from onrecord.faces.data_platform.enriching import enrich, memory_context
    from onrecord.faces.data_platform.insights import capture_insight, insight_of, recall_insight
    from onrecord.faces.data_platform.keeping import memory_manage
    from onrecord.faces.data_platform.knowledge import apply_knowledge
    from onrecord.faces.data_platform.recalling import memory_recall
    from onrecord.faces.data_platform.records import record_of

__all__ = [
    "apply_knowledge",
    "capture_insight",
    "enrich",
    "insight_of",
    "memory_context",
    "memory_manage",
    "memory_recall",
    "recall_insight",
    "record_of",
]
#: The module of each public name.
_HOMES: Final = {
    "apply_knowledge": "knowledge",
    "capture_insight": "insights",
    "enrich": "enriching",
    "insight_of": "insights",
    "memory_context": "enriching",
    "memory_manage": "keeping",
    "memory_recall": "recalling",
    "recall_insight": "insights",
    "record_of": "records",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `onrecord --help` lists the commands of this face without the library for MCP."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
