"""WHAT must be known of a catalog to say what a reference means? The port that resolution reads through."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from onrecord.model.catalog import Model
from onrecord.model.near_names import NearNames

#: What is said where nothing can be found because nothing was ever read in.
INGEST_FIRST: Final = "the catalog is empty: ingest a source first"


class Lookup(Protocol):
    """A catalog as one caller sees it.

    None, an empty list and false mean "definitively not there", so a model that is gone is not given back. A
    lookup that fails for another reason raises, and whoever asks lets it pass: it says nothing about what exists.
    """

    @property
    def near_names(self) -> NearNames:
        """What looks for the names that unknown ones may stand for, a few times in the life of this lookup."""

    def datasources(self) -> Collection[str]:
        """The names of all datasources."""

    def priority(self) -> tuple[str, ...]:
        """Only the datasources that were given a rank, most wanted first; the rest come after, by name."""

    def model(self, datasource: str, name: str) -> Model | None:
        """The model of exactly this name."""

    def model_names(self) -> Sequence[str]:
        """The canonical names of the models that may be told of, sorted."""

    def datasources_of(self, model: str) -> Sequence[str]:
        """The datasources that hold a model of this name, sorted."""

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        """The models of a datasource that have a column, measure or aggregation of this name, sorted."""

    def canonical_of(self, alias: str) -> str | None:
        """The canonical name behind `urn:li:dataset:(…)` or another name from elsewhere."""

    def has_memory(self, id: str) -> bool:
        """Whether there is a memory of this id, spelt as ids are shown."""

    def has_system(self, name: str) -> bool:
        """Whether there is a system of this name."""


@dataclass(frozen=True, slots=True)
class NoCatalog:
    """Where nothing was ever read in: only memories can be referred to."""

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
