"""WHICH hits are shown? The best, with places kept for each circle of people, within the tokens that the request
allows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from onrecord.model.limits import Scope
from onrecord.model.memory import Memory
from onrecord.recall.draft import PageMark, RecallDraft, RecallTools, replace
from onrecord.recall.hits import Hit, ScorePart, Why
from onrecord.store.ports.index import Key
from onrecord.text.tokens import count_tokens

if TYPE_CHECKING:
    from onrecord.recall.recall import Recall

T = TypeVar("T")

#: Which circle a scope belongs to: what is for one user, persona or system counts with its tenant's own.
CIRCLE: Final[Mapping[Scope, str]] = {
    "session": "conversation",
    "tenant": "tenant",
    "persona": "tenant",
    "user": "tenant",
    "system": "tenant",
    "global": "global",
}

_NEARNESS: Final[Mapping[str, int]] = {"conversation": 0, "tenant": 1, "global": 2}


def share_places(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Share out the places; learnings and example queries have places of their own if the request separates them."""
    ranked = _nearer_first(draft)
    if draft.ask.query_limit is None:
        return _with_page(draft, ranked)
    learnings = [key for key in ranked if not draft.matches[key].has_query]
    if draft.ask.after is not None:
        return _with_page(draft, learnings)
    queries = [key for key in ranked if draft.matches[key].has_query]
    return replace(
        _with_page(draft, learnings), queries=tuple(_shared(draft, queries, draft.ask.query_limit))
    )


def _with_page(draft: RecallDraft, ranked: Sequence[Key]) -> RecallDraft:
    """Choose the hits of a page. Circles have places on the first; later pages follow the ranking."""
    page = draft.page
    first = _shared(draft, ranked, page.first)
    shown = set(first)
    rest = [key for key in ranked if key not in shown]
    if draft.ask.after is None:
        chosen, followed = first, 0
    else:
        followed = page.followed + draft.ask.limit
        chosen = rest[page.followed : followed]
    # Hits that do not fit into the tokens are dropped for good, so there is no next page.
    goes_on = followed < len(rest) and draft.ask.max_tokens is None
    following = str(PageMark(page.first, followed)) if goes_on else None
    return replace(draft, chosen=tuple(chosen), next=following)


def _nearer_first(draft: RecallDraft) -> list[Key]:
    """Best first; of two equal ones, the one of the smaller circle, and then the one saved first. Where all that is about
    something is worth the same, its own order counts.
    """
    matches, order = draft.matches, dict[Key, int]()
    if draft.recipe.fusion == "absolute":
        order = {each.key: rank for rank, each in enumerate(draft.found.get("references", ()))}
    ranked = [
        (
            key in draft.farther,
            -draft.score(key),
            _NEARNESS[CIRCLE[matches[key].scope]],
            order.get(key, len(order)),
            key,
        )
        for key in draft.parts
    ]
    return [key for *_, key in sorted(ranked)]


def _shared(draft: RecallDraft, ranked: Sequence[Key], limit: int) -> list[Key]:
    return share(ranked, lambda key: CIRCLE[draft.matches[key].scope], limit, budgets_of(draft.ask))


def budgets_of(ask: "Recall") -> dict[str, int]:
    return {"conversation": ask.conversation_places, "tenant": ask.tenant_places, "global": ask.global_places}


def share(
    ranked: Sequence[T], circle_of: Callable[[T], str], limit: int, budgets: Mapping[str, int]
) -> list[T]:
    """The best, with at least its places for each circle; places that a circle does not need go to the others.

    If there are fewer places than are promised, each circle gets its share of them.
    """
    promised = sum(budgets.values())
    kept = {circle: places * limit // max(promised, limit, 1) for circle, places in budgets.items()}
    certain: set[int] = set()
    for at, each in enumerate(ranked):
        circle = circle_of(each)
        if kept.get(circle, 0) > 0:
            kept[circle] -= 1
            certain.add(at)
    free = limit - len(certain)
    others = [at for at in range(min(len(ranked), limit)) if at not in certain][: max(free, 0)]
    return [ranked[at] for at in sorted(certain.union(others))]


def read_hits(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Read the texts of the chosen memories; most candidates never need it."""
    keys = [*draft.chosen, *draft.queries]
    shown = {
        key: Hit(
            memory=memory,
            score=draft.score(key),
            relevance=round(draft.relevance.get(key, 1.0), 4),
            why=_why(draft, key),
        )
        for key, memory in with_texts(draft, tools, keys).read.items()
    }
    return replace(
        draft,
        hits=tuple(shown[key] for key in draft.chosen if key in shown),
        query_hits=tuple(shown[key] for key in draft.queries if key in shown),
    )


def with_texts(draft: RecallDraft, tools: RecallTools, keys: Sequence[Key]) -> RecallDraft:
    """The draft with the memories of these keys, of which those are read that were not yet."""
    lacking = [draft.matches[key] for key in keys if key not in draft.read]
    memories = tools.reading.read(lacking, draft.when) if lacking else []
    return replace(draft, read={**draft.read, **{_key(memory): memory for memory in memories}})


def _why(draft: RecallDraft, key: Key) -> Why:
    return Why(
        parts=tuple(
            ScorePart(channel=channel, rank=rank, score=score, share=share)
            for channel, rank, score, share in draft.parts[key]
        ),
        boosts=draft.boosts.get(key, ()),
        path=draft.paths.get(key, ()),
    )


def fit_tokens(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Leave out what does not fit any more; a shorter one further down may still fit."""
    most = draft.ask.max_tokens
    left = float("inf") if most is None else most
    used = 0
    kept: list[list[Hit]] = []
    for hits in (draft.hits, draft.query_hits):
        fitting: list[Hit] = []
        for hit in hits:
            size = tokens_of_hits(hit.memory)
            if used + size <= left:
                used += size
                fitting.append(hit)
        kept.append(fitting)
    return replace(draft, hits=tuple(kept[0]), query_hits=tuple(kept[1]), tokens=used)


def tokens_of_hits(memory: Memory) -> int:
    """What a memory costs an agent to read: its title and its content."""
    return count_tokens(memory.title) + count_tokens(memory.content)


def _key(memory: Memory) -> Key:
    assert memory.place is not None
    return memory.place[:2]
