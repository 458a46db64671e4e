"""HOW does an agent of the data platform speak to us? Memory records of people and personas, about entities of a data
catalog, and two tools to keep and to find them.
"""

from onrecord.faces.data_platform.keeping import memory_manage
from onrecord.faces.data_platform.recalling import memory_recall
from onrecord.faces.data_platform.records import record_of

__all__ = ["memory_manage", "memory_recall", "record_of"]
