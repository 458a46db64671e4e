"""WHAT must be known of a catalog to resolve a reference? The port that resolution reads through."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from onrecord.model.catalog import Model
from onrecord.model.near_names import NearNames

#: The hint if nothing was found because the catalog is empty.
INGEST_FIRST: Final = "the catalog is empty: ingest a source first"


class Lookup(Protocol):
    """A catalog as one caller sees it.

    None, an empty list and False mean that something certainly does not exist; retired models are not returned. A
    lookup that fails for another reason raises, and the caller lets it pass: a failure says nothing about what
    exists.
    """

    @property
    def near_names(self) -> NearNames:
        """Finds the known names that an unknown name may mean; limited to a few calls for each lookup."""

    def datasources(self) -> Collection[str]:
        """The names of all datasources."""

    def priority(self) -> tuple[str, ...]:
        """Only the datasources with a rank, highest first; the others come after them, by name."""

    def model(self, datasource: str, name: str) -> Model | None:
        """The model of exactly this name."""

    def model_names(self) -> Sequence[str]:
        """The canonical names of the models that are not hidden, sorted."""

    def datasources_of(self, model: str) -> Sequence[str]:
        """The datasources that hold a model of this name, sorted."""

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        """The models of a datasource that have a column, measure or aggregation of this name, sorted."""

    def canonical_of(self, alias: str) -> str | None:
        """The canonical name for `urn:li:dataset:(…)` or another name from elsewhere."""

    def has_memory(self, id: str) -> bool:
        """Whether there is a memory of this id, as people see it."""

    def has_system(self, name: str) -> bool:
        """Whether there is a system of this name."""


@dataclass(frozen=True, slots=True)
class NoCatalog:
    """A catalog into which nothing was ever ingested: only memories can be referred to."""

    memory_exists: Callable[[str], bool]
    near_names: NearNames = field(default_factory=NearNames)

    def datasources(self) -> Collection[str]:
        return ()

    def priority(self) -> tuple[str, ...]:
        return ()

    def model(self, datasource: str, name: str) -> Model | None:
        return None

    def model_names(self) -> Sequence[str]:
        return ()

    def datasources_of(self, model: str) -> Sequence[str]:
        return ()

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        return ()

    def canonical_of(self, alias: str) -> str | None:
        return None

    def has_memory(self, id: str) -> bool:
        return self.memory_exists(id)

    def has_system(self, name: str) -> bool:
        return False
