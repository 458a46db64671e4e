"""WHICH memories are linked to the best hits? Those joined to them by a relation, a reference, lineage or shared names.

A lead counts for what the joined memory says about those words of the question that the hits on the way do not contain.
So a question that one memory answers leads nowhere, and one that needs two or three finds the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onrecord.catalog.lineage import models_of, next_to
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import canonicals_of
from onrecord.recall.channels import eligible_of
from onrecord.recall.draft import RecallDraft, RecallTools, best_first, replace, with_part
from onrecord.recall.linked import with_linked
from onrecord.recall.references import rarity
from onrecord.recall.rerank import token_weights
from onrecord.store.ports.index import Key
from onrecord.text import identifiers
from onrecord.text.names import names_in, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: From how many of the best hits leads are followed, and from how many in all the second time. A question of several steps
#: may lead on from a hit that was itself led to, or that only partly fits.
_SEEDS: Final = 3
_FARTHER: Final = 10
#: What more memories than this share, and more than these, joins nothing.
_COMMON: Final = 0.02
_FEW: Final = 50
_MOST_HOLDERS: Final = 500
#: One shared column name may be a coincidence; this many are not.
_SHARED_IDENTIFIERS: Final = 2
_MOST_IDENTIFIERS: Final = 200
#: Lineage counts for less than a shared reference; of a model with very many neighbours, only some are followed.
_LINEAGE: Final = 0.5
_MOST_NEIGHBOURS: Final = 20
#: The value of a lead by itself, relative to what the joined memory adds. From farther hits it has none: most of what they
#: are joined to has nothing to do with the question.
_JOINED: Final = 0.17


class _Lead(NamedTuple):
    """A way from a hit to another memory, and its strength."""

    seed: Key
    target: Key
    strength: float
    by: str


class _Gain(NamedTuple):
    """What the best lead to a memory is worth, the hit that it comes from, and what joins them."""

    worth: float
    seed: Key
    by: str


def expand_links(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Follow leads from the very best hits; then, once those are raised, from the other good ones."""
    weight = draft.recipe.weights.get("graph", 0.0)
    if not weight or not (draft.met or draft.recipe.follows_blindly):
        return draft
    seeds = draft.ranked()[:_SEEDS]
    draft, gains = _followed(draft, tools, {seed: draft.score(seed) for seed in seeds}, {}, _JOINED)
    if not gains:
        return draft
    if draft.met:
        raised = _raised(draft, gains, weight)
        farther = [key for key in raised.ranked()[:_FARTHER] if key not in seeds]
        draft, gains = _followed(draft, tools, {seed: raised.score(seed) for seed in farther}, gains, 0.0)
    paths = {key: (draft.matches[gain.seed].id, gain.by) for key, gain in gains.items()}
    return replace(_raised(draft, gains, weight), paths=paths)


def _followed(
    draft: RecallDraft,
    tools: RecallTools,
    seeds: Mapping[Key, float],
    before: Mapping[Key, _Gain],
    joined: float,
) -> tuple[RecallDraft, Mapping[Key, _Gain]]:
    """The draft with what leads from some hits, given with their scores, have found, and the best gain of each memory."""
    ways = (_by_relations, _by_references, _by_lineage, _by_identifiers)
    leads = [lead for way in ways for lead in way(draft, tools, list(seeds))]
    unknown = sorted({lead.target for lead in leads} - draft.parts.keys())
    if unknown:
        draft = with_linked(draft, tools, eligible_of(draft, tools, unknown))
    return draft, _gains(draft, leads, seeds, before, joined)


def _raised(draft: RecallDraft, gains: Mapping[Key, _Gain], weight: float) -> RecallDraft:
    found = best_first({key: round(gain.worth, 6) for key, gain in gains.items()})
    return with_part(draft, "graph", found, [weight * each.score for each in found])


def _gains(
    draft: RecallDraft,
    leads: Sequence[_Lead],
    seeds: Mapping[Key, float],
    before: Mapping[Key, _Gain],
    joined: float,
) -> Mapping[Key, _Gain]:
    """The best gains so far and those of these leads: what a memory adds to its hit, and to the one that led there."""
    best = max((seeds[lead.seed] for lead in leads), default=0.0) or 1.0
    weights = token_weights(draft) if draft.met else None
    gains = dict(before)
    for lead in leads:
        if lead.target not in draft.matches:
            continue
        added = 0.0
        if weights is not None and lead.seed in draft.met and lead.target in draft.met:
            way = [lead.seed, *([before[lead.seed].seed] if lead.seed in before else ())]
            added = _added(
                draft.met[lead.target], [draft.met[key] for key in way if key in draft.met], weights
            )
        worth = lead.strength * min(seeds[lead.seed] / best, 1.0) * (joined + added)
        if worth > 0 and (lead.target not in gains or worth > gains[lead.target].worth):
            gains[lead.target] = _Gain(worth, lead.seed, lead.by)
    return gains


def _by_relations(draft: RecallDraft, tools: RecallTools, seeds: Sequence[Key]) -> Iterator[_Lead]:
    for seed, relation, target in tools.reading.relations.joined(seeds, draft.when):
        yield _Lead(seed, target, 1.0, relation)


def _by_references(draft: RecallDraft, tools: RecallTools, seeds: Sequence[Key]) -> Iterator[_Lead]:
    """Leads along references that few memories share and that the question does not name itself."""
    named = set(names_in(draft.ask.question))
    held = {
        seed: {each for each in draft.matches[seed].entities if named.isdisjoint(names_of(each))}
        for seed in seeds
    }
    wanted = sorted({reference for references in held.values() for reference in references})
    if not wanted:
        return
    about = tools.index.about(wanted, most=_MOST_HOLDERS)
    rare = {
        reference: _strength(count, about.memories)
        for reference, count in about.counts.items()
        if 2 <= count <= _common(about.memories)
    }
    for target, references in sorted(about.holders.items()):
        for seed in seeds:
            shared = [each for each in references if each in held[seed] and each in rare]
            if shared and seed != target:
                best = max(shared, key=lambda each: (rare[each], each))
                yield _Lead(seed, target, rare[best], best)


def _by_lineage(draft: RecallDraft, tools: RecallTools, seeds: Sequence[Key]) -> Iterator[_Lead]:
    """Leads along lineage: memories about the neighbouring model, or about a part of it."""
    models = {seed: models_of(draft.matches[seed].entities) for seed in seeds}
    if not any(models.values()):
        return
    catalog = StoredCatalog(tools.reading)
    if catalog.is_empty:
        return
    ways = {name: next_to(name, catalog) for name in sorted(set(chain.from_iterable(models.values())))}
    neighbours = sorted({neighbour for found in ways.values() for neighbour in found})[:_MOST_NEIGHBOURS]
    inside = {each: name for name in neighbours for each in _inside(name, catalog)}
    if not inside:
        return
    about = tools.index.about(sorted(inside), most=_MOST_HOLDERS)
    for target, references in sorted(about.holders.items()):
        rare = [each for each in references if about.counts[each] <= _common(about.memories)]
        for reference in sorted(rare):
            strength = _LINEAGE * _strength(about.counts[reference], about.memories)
            for seed in seeds:
                steps = [ways[name].get(inside[reference]) for name in models[seed]]
                if seed != target and (step := next(filter(None, steps), None)):
                    yield _Lead(seed, target, strength, step)


def _inside(canonical: str, catalog: StoredCatalog) -> Iterator[str]:
    home, _, name = canonical.partition(".")
    model = catalog.model(home, name)
    return iter(()) if model is None else canonicals_of(model)


def _by_identifiers(draft: RecallDraft, tools: RecallTools, seeds: Sequence[Key]) -> Iterator[_Lead]:
    """Leads along two shared identifiers as programs write them: the keys by which tables are joined."""
    texts = tools.reading.read([draft.matches[seed] for seed in seeds], draft.when)
    held = {
        memory.place[:2]: sorted(identifiers(memory.content))[:_MOST_IDENTIFIERS]
        for memory in texts
        if memory.place is not None
    }
    wanted = sorted({term for terms in held.values() for term in terms})
    if not wanted:
        return
    memories = tools.reading.size
    holders = tools.index.holders(wanted, most=int(_common(memories)))
    for seed, terms in held.items():
        shared: dict[Key, list[tuple[float, str]]] = {}
        for term in terms:
            strength = _strength(len(holders.get(term, ())), memories)
            for target in holders.get(term, ()):
                shared.setdefault(target, []).append((strength, term))
        for target, found in sorted(shared.items()):
            if len(found) >= _SHARED_IDENTIFIERS and target != seed:
                strength, term = sorted(found, reverse=True)[_SHARED_IDENTIFIERS - 1]
                yield _Lead(seed, target, strength, term)


def _common(memories: int) -> float:
    return max(_FEW, _COMMON * memories)


def _strength(count: int, memories: int) -> float:
    """1 for what two memories share, less for what more share."""
    return min(rarity(count, memories) / rarity(2, memories), 1.0)


def _added(target: "NDArray[Any]", way: Sequence["NDArray[Any]"], weights: "NDArray[Any]") -> float:
    """How much of the question the target matches beyond what the hits on the way to it match."""
    import numpy as np

    return float(np.maximum(target - np.maximum.reduce(way), 0) @ weights)
