"""WHICH memories hold the words? BM25 over title, hint, tags, content and source."""

from dataclasses import replace
from typing import Final

from recollect.model.answers import Why
from recollect.recall.draft import Candidate, Draft, Tools

# Later layers reorder these, so there are more than are asked for.
_POOL: Final = 30
_POOL_PER_HIT: Final = 3


def search_lexical(draft: Draft, tools: Tools) -> Draft:
    most = max(_POOL, _POOL_PER_HIT * draft.ask.limit)
    matches = tools.reading.match(draft.terms, most=most, when=draft.when, statuses=draft.ask.statuses)
    candidates = tuple(
        Candidate(
            match=match,
            score=match.score,
            why=Why(lexical=match.score, terms=tuple(sorted(match.positions))),
        )
        for match in matches
    )
    return replace(draft, candidates=candidates)
