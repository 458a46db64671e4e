"""WHAT would a catalog know after a change? The stored one, with models and datasources as they would be."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import Model
from onrecord.model.near_names import NearNames


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCatalog:
    """The lookup of resolution over a catalog that is not there yet."""

    stored: StoredCatalog
    #: The models that would be new or changed, and None for those that would be gone.
    models: Mapping[str, Model | None]
    gone_datasources: frozenset[str] = frozenset()

    @property
    def near_names(self) -> NearNames:
        return self.stored.near_names

    def datasources(self) -> Collection[str]:
        new = {model.datasource for model in self.models.values() if model}
        return (set(self.stored.datasources()) | new) - self.gone_datasources

    def priority(self) -> tuple[str, ...]:
        return self.stored.priority()

    def model(self, datasource: str, name: str) -> Model | None:
        canonical = f"{datasource}.{name}"
        if canonical in self.models:
            return self.models[canonical]
        return self.stored.model(datasource, name)

    def model_names(self) -> Sequence[str]:
        kept = (name for name in self.stored.model_names() if name not in self.models)
        return sorted([*kept, *(name for name, model in self.models.items() if model and not model.hidden)])

    def datasources_of(self, model: str) -> Sequence[str]:
        kept = (each for each in self.stored.datasources_of(model) if f"{each}.{model}" not in self.models)
        planned = (each.datasource for each in self.models.values() if each and each.name == model)
        return sorted([*kept, *planned])

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        kept = (
            name
            for name in self.stored.models_with(datasource, part)
            if f"{datasource}.{name}" not in self.models
        )
        planned = (
            each.name
            for each in self.models.values()
            if each and each.datasource == datasource and each.part(part)
        )
        return sorted([*kept, *planned])

    def canonical_of(self, alias: str) -> str | None:
        planned = (each.canonical for each in self.models.values() if each and alias in each.aliases)
        known = self.stored.canonical_of(alias)
        return next(planned, None) or (known if known not in self.models else None)

    def has_memory(self, id: str) -> bool:
        return self.stored.has_memory(id)

    def has_system(self, name: str) -> bool:
        return self.stored.has_system(name)
