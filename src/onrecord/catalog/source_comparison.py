"""WHAT differs between a source and the catalog? Models that are new or changed, and what the source no longer has.

A model whose fingerprint is known is not read again.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from onrecord.catalog.records import (
    HIDDEN,
    RECORD_VERSION,
    Record,
    canonical_of,
    entity_of,
    records_of_model,
    samples_of,
    with_samples,
)
from onrecord.model.catalog import Datasource, Model
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.operation import Call, Progress
from onrecord.store.ports.records import Reading

if TYPE_CHECKING:
    from onrecord.catalog.sources import Source


class Comparison(NamedTuple):
    """A source compared with the catalog: what it lists, and its records of each model that differs."""

    datasources: Sequence[Datasource]
    #: What the source listed before and no longer lists.
    vanished: list[str]
    known: Mapping[str, "KnownModel"]
    fingerprints: Mapping[str, str]
    models: dict[str, list[Record]]
    #: The models that the source does not list, and that are not certainly gone.
    still_known: Set[str] = frozenset()

    @property
    def roots(self) -> list[str]:
        return [datasource.name for datasource in self.datasources]

    @property
    def gone(self) -> set[str]:
        """The models that the source no longer has."""
        return set(self.known.keys() - self.there)

    @property
    def there(self) -> Set[str]:
        """The models that the source has, as far as is known."""
        return self.fingerprints.keys() | self.still_known

    @property
    def touched(self) -> list[str]:
        """The datasources in which something may be gone."""
        return sorted({*self.roots, *self.vanished, *(name.partition(".")[0] for name in self.gone)})


def compared(call: Call, source: "Source") -> Comparison:
    """Read the source, while no database connection is held, and the catalog."""
    datasources = source.datasources()
    fingerprints = {name: f"{RECORD_VERSION}.{each}" for name, each in source.fingerprints().items()}
    roots = [datasource.name for datasource in datasources]
    with call.reading() as reading:
        catalog = reading.reading_of(ENTITIES)
        vanished = vanished_datasources(catalog, source.origin, roots)
        known = known_models(catalog, [*roots, *vanished])
    still_known = _still_known(source, {name: known[name] for name in known.keys() - fingerprints.keys()})
    vanished = [name for name in vanished if not any(each.startswith(f"{name}.") for each in still_known)]
    models = differing_models(source, fingerprints, known, call.progress)
    return Comparison(datasources, vanished, known, fingerprints, models, still_known)


def _still_known(source: "Source", missing: Mapping[str, "KnownModel"]) -> Set[str]:
    """Of the models that a source does not list, those that are not certainly gone."""
    from onrecord.catalog.sources import LaggingSource

    if not missing or not isinstance(source, LaggingSource):
        return frozenset()
    return source.still_known({name: model.aliases for name, model in missing.items()})


class KnownModel(NamedTuple):
    """What decides whether a known model must be read again."""

    fingerprint: str
    hidden: bool
    samples: Mapping[str, Any]
    aliases: tuple[str, ...]

    def has_fingerprint(self, fingerprint: str, *, but_for_samples: bool) -> bool:
        """Whether the model still has this fingerprint. Ours may also have samples, which this one lacks."""
        known = self.fingerprint
        return known == fingerprint or (but_for_samples and known.startswith(f"{fingerprint}."))

    def kept_by(self, model: Model, fingerprint: str) -> tuple[Model, str]:
        """A changed model and its fingerprint, with the samples of an earlier ingest."""
        if not self.samples:
            return model, fingerprint
        _, _, *of_samples = self.fingerprint.split(".")
        return with_samples(model, self.samples), ".".join([fingerprint, *of_samples])


def vanished_datasources(catalog: Reading, origin: str | None, roots: Sequence[str]) -> list[str]:
    """The datasources that this source listed before and no longer lists."""
    if origin is None:
        return []
    every = catalog.filed_memories(entity_facet("is", "datasource"))
    listed_before = [canonical_of(record) for record in every if entity_of(record).get("origin") == origin]
    return sorted(set(listed_before).difference(roots))


def known_models(catalog: Reading, datasources: Sequence[str]) -> dict[str, KnownModel]:
    inside = chain.from_iterable(catalog.filed_memories(entity_facet("in", name)) for name in datasources)
    return {
        canonical_of(record): KnownModel(
            entity_of(record).get("fingerprint", ""),
            record.status_reason == HIDDEN,
            samples_of(record),
            record.entities[1:],
        )
        for record in inside
    }


def differing_models(
    source: "Source", fingerprints: Mapping[str, str], known: Mapping[str, KnownModel], progress: Progress
) -> dict[str, list[Record]]:
    """The records of each model that is new or changed, read while no database connection is held."""
    wanted = {
        name
        for name, fingerprint in fingerprints.items()
        if name not in known
        or not known[name].has_fingerprint(fingerprint, but_for_samples=source.leaves_samples)
    }
    read = {}
    for number, model in enumerate(source.models(wanted) if wanted else (), 1):
        name, fingerprint = model.canonical, fingerprints[model.canonical]
        if source.leaves_samples and name in known:
            model, fingerprint = known[name].kept_by(model, fingerprint)
        read[name] = list(records_of_model(model, fingerprint))
        progress("reading models", number, len(wanted))
    return read
