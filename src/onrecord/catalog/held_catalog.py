"""WHAT does a catalog know that is held in memory? A few models as they were at some time, for resolving references."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from onrecord.model.catalog import Model
from onrecord.model.near_names import NearNames


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCatalog:
    """A catalog in memory, which implements `Lookup`."""

    models: tuple[Model, ...] = ()
    #: Datasources without models.
    more_datasources: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    memories: frozenset[str] = frozenset()
    systems: frozenset[str] = frozenset()

    @property
    def near_names(self) -> NearNames:
        """A new one each time, since one of them answers only a few questions and this catalog answers many."""
        return NearNames()

    def datasources(self) -> Collection[str]:
        return frozenset((*self.more_datasources, *(model.datasource for model in self.models)))

    def priority(self) -> tuple[str, ...]:
        return self.ranked

    def model(self, datasource: str, name: str) -> Model | None:
        found = (model for model in self.models if (model.datasource, model.name) == (datasource, name))
        return next(found, None)

    def model_names(self) -> Sequence[str]:
        return sorted(model.canonical for model in self.models if not model.hidden)

    def datasources_of(self, model: str) -> Sequence[str]:
        return sorted(each.datasource for each in self.models if each.name == model)

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        return sorted(
            each.name for each in self.models if each.datasource == datasource and each.part(part) is not None
        )

    def canonical_of(self, alias: str) -> str | None:
        return next((model.canonical for model in self.models if alias in model.aliases), None)

    def has_memory(self, id: str) -> bool:
        return id in self.memories

    def has_system(self, name: str) -> bool:
        return name in self.systems
