"""WHICH memories have a similar meaning? Those whose vectors are near the question's, filtered before they are
ranked.
"""

from collections import Counter
from collections.abc import Sequence

from onrecord.model.embedding import EmbeddingModel
from onrecord.providers.embedding import unrelated_score
from onrecord.recall.channels import asked
from onrecord.recall.draft import RecallDraft, RecallTools, best_first, replace
from onrecord.store.ports.index import Found, Near
from onrecord.store.ports.records import Reading


def knows_most(reading: Reading, current: EmbeddingModel) -> EmbeddingModel:
    """The model that has most vectors: after a change the old one, until the new one has caught up."""
    known: Counter[EmbeddingModel] = Counter()
    for each in reading.index.coverage():
        known[each.model] += each.memories
    best = max(known, key=lambda each: (known[each], each == current), default=current)
    return best if known[best] > known[current] else current


def coverage_gap(reading: Reading, model: EmbeddingModel, noun: str) -> str:
    """How many memories the model has not embedded yet, and what will embed them; empty if none."""
    missing = reading.size - sum(each.memories for each in reading.index.coverage() if each.model == model)
    if missing <= 0:
        return ""
    return f"{missing} of {reading.size} {noun} have no vectors yet; a worker makes them, `embed-missing` at once"


def search_semantic(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    if draft.vector is None or draft.model is None:
        return draft
    vector, model = draft.vector.vector, draft.model
    # What scores no more than any two texts do is not near.
    unrelated = unrelated_score(tools.embedder)
    nearest: dict[tuple[int, int], Near] = {}

    def search(most: int) -> Sequence[Found]:
        near = [each for each in tools.index.near(vector, model, most=most) if each.score >= unrelated]
        nearest.update((each.key, each) for each in near)
        return [Found(each.key, each.score) for each in near]

    return replace(asked(draft, "semantic", search), nearest=nearest)


def compare_others(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """The similarity of memories that other channels found: this channel has a score for them too."""
    if draft.vector is None or draft.model is None:
        return draft
    others = [key for key in draft.matches if key not in draft.nearest]
    near = tools.index.similarity(draft.vector.vector, draft.model, others) if others else []
    nearest = {**draft.nearest, **{each.key: each for each in near}}
    draft = replace(draft, nearest=nearest)
    if "semantic" not in draft.found:
        return draft
    ranked = best_first({key: each.score for key, each in nearest.items() if key in draft.matches})
    return replace(draft, found={**draft.found, "semantic": ranked})
