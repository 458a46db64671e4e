"""HOW MANY are told? The best, in an order that never depends on chance."""

from dataclasses import replace

from recollect.model.answers import Hit
from recollect.recall.draft import Draft, Tools


def cut(draft: Draft, tools: Tools) -> Draft:
    """Best score first; where two are equal, the order in which they were saved decides."""
    best = sorted(draft.candidates, key=lambda candidate: (-candidate.score, candidate.match.key))
    return replace(draft, candidates=tuple(best[: draft.ask.limit]))


def read_hits(draft: Draft, tools: Tools) -> Draft:
    """Only now is the text of a memory read: most candidates never need it."""
    memories = tools.reading.read([candidate.match for candidate in draft.candidates], draft.when)
    hits = (
        Hit(memory=memory, score=candidate.score, why=candidate.why)
        for memory, candidate in zip(memories, draft.candidates, strict=True)
    )
    return replace(draft, hits=tuple(hits))
