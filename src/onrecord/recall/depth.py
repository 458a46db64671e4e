"""WHAT follows the candidates of a recipe? Memories farther down, for whoever asks for more than a recipe looks at.

They come after all others, in the order that a deeper look gives them: so asking for more changes nothing before them.
"""

from typing import Final

from onrecord.model.limits import RECALL_LIMIT
from onrecord.recall.draft import RecallDraft, RecallTools, boosted, replace
from onrecord.recall.run import Layer, Run

#: How many results each channel brings to a deeper look: twice as many as can be asked for.
_DEPTH: Final = 2 * RECALL_LIMIT


def find_in_order(run: Run, layers: tuple[Layer, ...], tools: RecallTools) -> None:
    """Run the layers, and if more is asked for than they looked at, run them again on more."""
    placed = run.draft
    run.through(layers, tools)
    first = run.draft
    if first.parts and first.is_cut and first.wanted >= len(first.parts):
        deeper = Run(replace(placed, depth=_DEPTH))
        deeper.through(layers, tools)
        run.draft = _followed(first, deeper.draft)


def _followed(first: RecallDraft, deeper: RecallDraft) -> RecallDraft:
    """One order after the other; of the hits of both, the first one's view counts."""
    rest = {key: parts for key, parts in deeper.parts.items() if key not in first.parts}
    if not rest:
        return first
    lowest, highest = min(map(first.score, first.parts)), max(map(deeper.score, rest))
    least = min(first.relevance.values(), default=0.0)
    joined = replace(
        first,
        matches={**deeper.matches, **first.matches},
        parts={**first.parts, **rest},
        boosts={**first.boosts, **{key: deeper.boosts[key] for key in rest if key in deeper.boosts}},
        paths={**deeper.paths, **first.paths},
        relevance={**first.relevance, **{key: min(deeper.relevance[key], least) for key in rest}},
        farther=frozenset(rest),
    )
    if highest <= lowest:
        return joined
    return boosted(joined, "farther", dict.fromkeys(rest, max(lowest, 0.0) / highest))
