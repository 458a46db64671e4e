"""IS an embedder to be measured before it is in use? Where another one is, and enough of the tenant's own questions are known."""

from onrecord.model.collections import MEMORIES, Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.limits import OWN_QUESTIONS
from onrecord.store.ports.archive import Archive


def model_in_use(archive: Archive, home: Home, new: EmbeddingModel) -> EmbeddingModel | None:
    """The model that searches go by until the new one has vectors of as many memories; None if they go by the new one."""
    counts = {each.model: each.memories for each in archive.coverage(home) if each.memories}
    best = max(counts, key=lambda each: (counts[each], each == new), default=new)
    return None if best == new or counts[best] <= counts.get(new, 0) else best


def is_to_be_measured(archive: Archive, home: Home, new: EmbeddingModel) -> bool:
    """Whether no worker may make the new model take over by itself: `embed-missing` measures it first."""
    if home.collection is not MEMORIES or model_in_use(archive, home, new) is None:
        return False
    return archive.feedback(home.tenant).questions() >= OWN_QUESTIONS
