"""HOW are layers run? One after the other, each timed; a layer whose provider fails is skipped."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from onrecord.errors import ProviderError
from onrecord.model.answer import Note
from onrecord.recall.draft import RecallDraft, RecallTools

Layer = Callable[[RecallDraft, RecallTools], RecallDraft]


@dataclass(slots=True)
class Run:
    """One pass through the layers; times each, and skips one whose provider fails."""

    draft: RecallDraft
    explain: bool = False
    trace: list[Note] = field(default_factory=list)

    def through(self, layers: tuple[Layer, ...], tools: RecallTools) -> None:
        for layer in layers:
            if layer.__name__ in self.draft.recipe.without:
                continue
            started, failed = perf_counter(), None
            try:
                self.draft = layer(self.draft, tools)
            except ProviderError as problem:
                failed = str(problem)
            if self.explain or failed:
                ms = (perf_counter() - started) * 1000
                count = _count(self.draft)
                self.trace.append(Note(name=layer.__name__, ms=ms, candidates=count, failed=failed))


def _count(draft: RecallDraft) -> int:
    """How many candidates are left."""
    if draft.hits or draft.query_hits:
        return len(draft.hits) + len(draft.query_hits)
    if draft.parts:
        return len(draft.parts)
    return len(draft.matches) or len({each.key for found in draft.found.values() for each in found})
