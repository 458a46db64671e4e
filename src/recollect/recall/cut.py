"""HOW MANY are told? The best, in an order that never depends on chance."""

from dataclasses import replace

from recollect.recall.draft import Draft, Tools


def cut(draft: Draft, tools: Tools) -> Draft:
    """Best score first; where two are equal, the order in which they were saved decides."""
    best = sorted(draft.hits, key=lambda hit: (-hit.score, hit.memory.place))
    return replace(draft, hits=tuple(best[: draft.ask.limit]))
