"""WHAT does the store know of a reference? The catalog of the caller's tenant, read in one state of the store."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Final

from onrecord.catalog.amendments import amended, amendments_of
from onrecord.catalog.naming import folded, table_parts
from onrecord.catalog.records import (
    HIDDEN,
    canonical_of,
    canonical_of_id,
    datasource_of,
    entity_of,
    model_of,
    record_id,
)
from onrecord.model.catalog import SYSTEM_PREFIX, Datasource, Model
from onrecord.model.collections import ENTITIES, entity_facet
from onrecord.model.memory import Memory
from onrecord.model.near_names import NearNames
from onrecord.model.when import NOW, When
from onrecord.store.index.entries import reference_facet
from onrecord.store.ports.records import Reading

#: The record of the tenant's own order of datasources; no datasource can have this name.
PRIORITY: Final = "priority="


class StoredCatalog:
    """The lookup of resolution over one reading; it caches what it was asked. With a time, the catalog as it was known
    then; other names of its entities are those of today.
    """

    def __init__(self, reading: Reading, when: When = NOW) -> None:
        self._memories, self._when = reading, when
        self._records = reading.reading_of(ENTITIES)
        self._models: dict[str, Model | None] = {}
        self._loaded: dict[str, Memory | None] = {}
        self.near_names = NearNames()

    def load(self, canonicals: Sequence[str]) -> None:
        """Read the records of these names by one statement, for someone who will ask for many of them."""
        assert self._when.known_at is None, "of the past, records are read one by one"
        found = {} if self.is_empty else self._filed_under(canonicals)
        self._loaded |= {name: found.get(name) for name in canonicals}

    def _filed_under(self, canonicals: Sequence[str]) -> dict[str, Memory]:
        records = self._records.filed_under(list(map(reference_facet, canonicals)))
        return {str(entity_of(record)["canonical"]): record for record in records}

    @cached_property
    def is_empty(self) -> bool:
        return not self._records.size

    def datasources(self) -> Collection[str]:
        return self._datasources

    @cached_property
    def _datasources(self) -> list[str]:
        return sorted(self._filed("is", "datasource"))

    def priority(self) -> tuple[str, ...]:
        return self._priority

    @cached_property
    def _priority(self) -> tuple[str, ...]:
        record = None if self.is_empty else self._records.memory(PRIORITY, self._when)
        return () if record is None else tuple(entity_of(record)["document"].get("datasources", ()))

    def datasource(self, name: str) -> Datasource | None:
        record = self.record(name)
        return (
            amended(datasource_of(record), amendments_of(record))
            if record is not None and entity_of(record)["kind"] == "datasource"
            else None
        )

    def model(self, datasource: str, name: str) -> Model | None:
        canonical = f"{datasource}.{name}"
        if canonical not in self._models:
            record = self.record(canonical)
            is_model = record is not None and entity_of(record)["kind"] == "model"
            if record is not None and is_model:
                self._models[canonical] = amended(model_of(record), amendments_of(record))
            else:
                self._models[canonical] = None
        return self._models[canonical]

    def model_names(self) -> list[str]:
        """The names of the models that are not hidden."""
        return self._model_names

    @cached_property
    def _model_names(self) -> list[str]:
        return sorted(canonical_of(each) for each in self._model_records if each.status_reason != HIDDEN)

    @cached_property
    def _model_records(self) -> Sequence[Memory]:
        return [] if self.is_empty else self._records.filed_memories(entity_facet("is", "model"), self._when)

    def tables(self) -> dict[str, list[str]]:
        """The models over each table, hidden ones too, by the table's name without its schema and in one case."""
        found: dict[str, list[str]] = {}
        for record in self._model_records:
            canonical = canonical_of(record)
            sql_table = entity_of(record)["document"].get("details", {}).get("sql_table")
            names = [
                canonical.partition(".")[2],
                *(table_parts(sql_table)[-1:] if isinstance(sql_table, str) else ()),
            ]
            for name in dict.fromkeys(map(folded, names)):
                found.setdefault(name, []).append(canonical)
        return found

    def datasources_of(self, model: str) -> Sequence[str]:
        return sorted(name.removesuffix("." + model) for name in self._filed("model", model))

    def models_with(self, datasource: str, part: str) -> Sequence[str]:
        above = (name.removesuffix("." + part) for name in self._filed("part", part))
        return sorted(
            name.removeprefix(datasource + ".") for name in above if name.startswith(datasource + ".")
        )

    def canonical_of(self, alias: str) -> str | None:
        found = self._named(reference_facet(alias))
        return found[0] if found else None

    def had_source(self, name: str) -> bool:
        """Whether any source has ever had an entity of this name, even a retired one."""
        return not self.is_empty and bool(self._records.filed_memories(reference_facet(name), gone=True))

    def is_editable(self, canonical: str) -> bool:
        """Whether it is a model or a datasource, whose record keeps what is promoted of it and its parts."""
        record = self.record(canonical)
        return record is not None and entity_of(record)["kind"] in ("datasource", "model")

    def downstream(self, canonical: str) -> list[str]:
        """The models that are made from this one, sorted."""
        if self._when.known_at is None:
            return sorted(self._filed("from", canonical))
        # What a model was made from then may not be what it is filed under now.
        then = ((canonical_of(each), entity_of(each).get("upstream", ())) for each in self._model_records)
        return sorted(name for name, upstream in then if canonical in upstream)

    def has_memory(self, id: str) -> bool:
        try:
            return self._memories.memory(id) is not None
        except ValueError:
            return False

    def has_system(self, name: str) -> bool:
        return self.record(SYSTEM_PREFIX + name) is not None

    def record(self, canonical: str) -> Memory | None:
        """The record of an entity that is not retired."""
        if self.is_empty:
            return None
        if canonical in self._loaded:
            return self._loaded[canonical]
        record = self._records.memory(record_id(canonical), self._when)
        return record if record is not None and record.is_live and canonical != PRIORITY else None

    def _filed(self, what: str, name: str) -> list[str]:
        return self._named(entity_facet(what, name))

    def _named(self, facet: str) -> list[str]:
        if self.is_empty:
            return []
        if self._when.known_at is not None:
            return list(map(canonical_of, self._records.filed_memories(facet, self._when)))
        return self._names(self._records.filed(facet))

    def _names(self, ids: Sequence[str]) -> list[str]:
        return [canonical_of_id(id) or self._name_in_record(id) for id in ids]

    def _name_in_record(self, id: str) -> str:
        record = self._records.memory(id)
        assert record is not None
        return str(entity_of(record)["canonical"])
