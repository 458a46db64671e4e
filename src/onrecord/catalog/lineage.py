"""WHICH models are upstream and downstream of a thing? Those it is made from and those made from it, by the catalog."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from onrecord.catalog.known_names import known_names
from onrecord.catalog.stored import StoredCatalog
from onrecord.store.ports.records import Reading

#: Of a model with very many neighbours, so many are looked at.
_MOST: Final = 200


def models_of(references: Sequence[str]) -> list[str]:
    """The models of references such as `shop.orders` and `shop.orders.amount`; references with a scheme are not
    models.
    """
    found = (each.split(".", 2)[:2] for each in references if "." in each and ":" not in each)
    return list(dict.fromkeys(map(".".join, found)))


def next_to(canonical: str, catalog: StoredCatalog) -> dict[str, str]:
    """The models that this one is made from, and those made from it; each with the direction of the data."""
    flows = reversed(_flows_of(canonical, catalog))
    return {above if above != canonical else below: f"{above} → {below}" for above, below in flows}


def _flows_of(canonical: str, catalog: StoredCatalog) -> list[tuple[str, str]]:
    """From which model to which the data flows: into this one, then out of it."""
    model = catalog.model(*canonical.split(".", 1)) if "." in canonical else None
    if model is None:
        return []
    below = [(canonical, each) for each in catalog.downstream(canonical)]
    return [*((each, canonical) for each in model.upstream), *below]


def lineage_of(canonical: str, steps: int, catalog: StoredCatalog) -> tuple[tuple[str, str], ...]:
    """From which model to which the data flows, within some steps up or down from one; of very many, the nearest."""
    found = dict[tuple[str, str], None]()
    seen, reached = {canonical}, [canonical]
    for _ in range(steps):
        beside = list[str]()
        for flow in (flow for model in reached for flow in _flows_of(model, catalog)):
            new = [each for each in flow if each not in seen]
            if len(seen) + len(new) <= _MOST:
                found[flow] = None
                seen.update(new)
                beside.extend(new)
        reached = beside
    return tuple(found)


def neighbours_of(references: Sequence[str], steps: int, reading: Reading) -> dict[str, str]:
    """Every name of the models within some steps up or down from some things, each with its adjacent model. The
    references are those of `known_names`.
    """
    reached = models_of(references) if steps else []
    if not reached:
        return {}
    catalog = StoredCatalog(reading)
    if catalog.is_empty:
        return {}
    seen = set(references)
    beside: dict[str, str] = {}
    for _ in range(steps):
        found: dict[str, str] = {}
        for model in reached:
            for each in sorted(next_to(model, catalog)):
                if each not in seen and each not in found and len(beside) + len(found) < _MOST:
                    found[each] = model
        seen.update(found)
        beside |= found
        reached = list(found)
    names = {name: beside[each] for each in islice(beside, _MOST) for name in known_names([each], reading)}
    return {name: model for name, model in names.items() if name not in references}
