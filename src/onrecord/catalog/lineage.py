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
    model = catalog.model(*canonical.split(".", 1))
    if model is None:
        return {}
    above = {each: f"{each} → {canonical}" for each in model.upstream}
    return {each: f"{canonical} → {each}" for each in catalog.downstream(canonical)} | above


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
