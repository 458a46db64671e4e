"""WHAT is in the SQLite store of a semantic layer? Its models and datasources, as their files would be; and its
notes.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnClause, Connection, column, select, table

from onrecord.catalog.model_shapes import model_faults
from onrecord.catalog.sources.database_access import access_to_file
from onrecord.catalog.sources.fingerprinting import fingerprint
from onrecord.catalog.sources.yaml_models import DATASOURCE, MODEL, datasource_from, model_from
from onrecord.errors import Fault, Invalid, invalid
from onrecord.model.catalog import Datasource, Model
from onrecord.model.rules import Rule
from onrecord.model.shapes import faults_at
from onrecord.store.sqlite_read_only import opened_read_only, table_names

_MODELS, _DATASOURCES, _SETTINGS, _MEMORIES = "models", "datasources", "settings", "memories"
#: The columns of a table of models; in older stores they lie in no datasource.
_OF_MODELS: Final = ({"data_source", "name", "data"}, {"name", "data"})
_PRIORITY: Final = "datasource_priority"


def is_model_store(path: Path) -> bool:
    """Whether a SQLite file is such a store: it has a table of models, stored as texts, and one of datasources."""
    try:
        with opened_read_only(path) as connection:
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({_MODELS})")}
            return columns in _OF_MODELS and _DATASOURCES in table_names(connection)
    except sqlite3.Error:
        return False


class _Held(NamedTuple):
    """Everything that a store holds, in one state."""

    models: tuple[Model, ...]
    datasources: tuple[Datasource, ...]
    priority: tuple[str, ...] | None
    memories: tuple[Mapping[str, Any], ...]


class ModelStore:
    """A store in one file. It is read once: open it again to see what has changed since."""

    kind = "model store"
    #: A model without samples has none.
    leaves_samples = False

    def __init__(self, path: Path) -> None:
        self._access = access_to_file(path)
        self.location = self._access.location
        self.origin = str(path.resolve())

    def datasources(self) -> Sequence[Datasource]:
        """Those that have a row, and those that have only models."""
        with_row = {each.name: each for each in self._held.datasources}
        homes = {model.datasource for model in self._held.models}
        return [with_row.get(name) or Datasource(name=name) for name in sorted(homes | with_row.keys())]

    def priority(self) -> tuple[str, ...] | None:
        return self._held.priority

    def fingerprints(self) -> Mapping[str, str]:
        return {model.canonical: fingerprint(model) for model in self._held.models}

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        return (model for model in self._held.models if wanted is None or model.canonical in wanted)

    def notes(self) -> Sequence[str]:
        count = len(self._held.memories)
        left = f"It also holds {count} memories, which an ingest leaves there; the face that speaks its language imports them"
        return [left] if count else ()

    def memories(self) -> Sequence[Mapping[str, Any]]:
        """The notes, as they are written there."""
        return self._held.memories

    @cached_property
    def _held(self) -> _Held:
        with self._access.reading() as connection:
            rows = {name: list(self._rows(connection, name)) for name in (_MODELS, _DATASOURCES, _MEMORIES)}
            priority = self._priority(connection)
        faults: list[Fault] = []
        models, datasources = [], []
        for place, given in rows[_MODELS]:
            if (read := _checked(place, replace(MODEL, between=model_faults), given, faults)) is None:
                continue
            if home := read.get("data_source"):
                models.append(model_from(home, read))
            else:
                faults.append(
                    Fault(f"{place}: data_source", "is missing; every model here belongs to a datasource")
                )
        for place, given in rows[_DATASOURCES]:
            # Connection fields are not read, so that no error can quote a password.
            harmless = {name: value for name, value in given.items() if name in DATASOURCE.fields}
            if (read := _checked(place, DATASOURCE, harmless, faults)) is not None:
                datasources.append(datasource_from(read["name"], read))
        if faults:
            raise Invalid(faults)
        models.sort(key=lambda model: model.canonical)
        return _Held(
            tuple(models), tuple(datasources), priority, tuple(given for _, given in rows[_MEMORIES])
        )

    def _rows(self, connection: Connection, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The objects that the rows of a table hold, each with its place; none where the store has no such table."""
        if connection.dialect.has_table(connection, name):
            data: ColumnClause[Any] = column("data")
            for written in connection.scalars(select(data).select_from(table(name))):
                given = _object(f"{self.location}, {name}", written)
                key = given.get("name", given.get("id"))
                yield f"{self.location}, {name} {key!r}", given

    def _priority(self, connection: Connection) -> tuple[str, ...] | None:
        if not connection.dialect.has_table(connection, _SETTINGS):
            return None
        settings = table(_SETTINGS, column("key"), column("value"))
        written = connection.scalar(select(settings.c.value).where(settings.c.key == _PRIORITY))
        try:
            order = None if written is None else json.loads(written)
        except ValueError:
            return None
        return tuple(map(str, order)) if isinstance(order, list) else None


def _object(place: str, written: object) -> Mapping[str, Any]:
    try:
        given = json.loads(str(written))
    except ValueError as problem:
        raise invalid(place, f"holds a row that is not JSON: {problem}") from None
    if not isinstance(given, dict):
        raise invalid(place, "holds a row that is not a JSON object")
    return given


def _checked(place: str, rule: Rule, given: Mapping[str, Any], faults: list[Fault]) -> Any:
    """The value of a row if it follows the rule; otherwise its faults are added to the others."""
    try:
        return rule(given)
    except ValueError as reason:
        faults += [Fault(f"{place}: {each.field}", each.message) for each in faults_at("", reason)]
        return None
