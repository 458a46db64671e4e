"""HOW does an agent of the data platform speak to us? Memory records of people and personas, about entities of a data
catalog; insights that people review; and what is known of the entities in other tools' answers.
"""

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
