"""WHICH memories are linked to the best hits? Those joined to them by a relation, a reference, lineage or shared names.

A lead counts for what the joined memory says about those words of the question that the first hit does not contain.
So a question that one memory answers leads nowhere, and one that needs two finds the second.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onrecord.catalog.lineage import models_of, next_to
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import canonicals_of
from onrecord.recall.channels import eligible_of
from onrecord.recall.draft import RecallDraft, RecallTools, replace, with_part
from onrecord.recall.linked import with_linked
from onrecord.recall.references import rarity
from onrecord.recall.rerank import token_weights
from onrecord.store.ports.index import Found, Key
from onrecord.text import identifiers
from onrecord.text.names import names_in, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: From how many of the best hits leads are followed.
_SEEDS: Final = 5
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
#: The value of a lead by itself, relative to what the joined memory adds.
_JOINED: Final = 0.15


class _Lead(NamedTuple):
    """A way from a hit to another memory, and its strength."""

    seed: Key
    target: Key
    strength: float
    by: str


def expand_links(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    weight = draft.recipe.weights.get("graph", 0.0)
    if not weight or not (draft.met or draft.recipe.follows_blindly):
        return draft
    seeds = draft.ranked()[:_SEEDS]
    leads = list(
        chain(
            _by_relations(draft, tools, seeds),
            _by_references(draft, tools, seeds),
            _by_lineage(draft, tools, seeds),
            _by_identifiers(draft, tools, seeds),
        )
    )
    if not leads:
        return draft
    unknown = sorted({lead.target for lead in leads} - draft.parts.keys())
    draft = with_linked(draft, tools, eligible_of(draft, tools, unknown) if unknown else {})
    found, paths = _gains(draft, leads)
    followed = with_part(draft, "graph", found, [weight * each.score for each in found])
    return replace(followed, paths=paths)


def _gains(draft: RecallDraft, leads: Sequence[_Lead]) -> tuple[list[Found], dict[Key, tuple[str, ...]]]:
    """The value of the best lead to each memory, and where it comes from."""
    seeds = {lead.seed: draft.score(lead.seed) for lead in leads}
    best = max(seeds.values()) or 1.0
    weights = token_weights(draft) if draft.met else None
    gains: dict[Key, float] = {}
    paths: dict[Key, tuple[str, ...]] = {}
    for lead in leads:
        if lead.target not in draft.matches:
            continue
        added = 0.0
        if weights is not None and lead.seed in draft.met and lead.target in draft.met:
            added = _added(draft.met[lead.target], draft.met[lead.seed], weights)
        gain = lead.strength * min(seeds[lead.seed] / best, 1.0) * (_JOINED + added)
        if gain > gains.get(lead.target, 0.0):
            gains[lead.target] = gain
            paths[lead.target] = (draft.matches[lead.seed].id, lead.by)
    found = [Found(key, round(gain, 6)) for key, gain in gains.items()]
    return sorted(found, key=lambda each: (-each.score, each.key)), paths


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


def _added(target: "NDArray[Any]", seed: "NDArray[Any]", weights: "NDArray[Any]") -> float:
    """How much of the question the target matches beyond what the seed matches."""
    import numpy as np

    return float(np.maximum(target - seed, 0) @ weights)
