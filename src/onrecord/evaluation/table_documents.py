"""WHICH documents are tables? Those written in this form; they become model files, and notes refer to them.

table TABLE (WHAT IT IS) in database DATABASE; columns: FIRST, SECOND, …
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from onrecord.catalog.naming import legal_names
from onrecord.errors import invalid
from onrecord.evaluation.data import EvalDocument, Task
from onrecord.evaluation.loading import storable

_TABLE: Final = re.compile(
    r"table (?P<name>.+?) \((?P<label>.*)\) in database (?P<database>.+?); columns: (?P<columns>.*)",
    re.DOTALL,
)
#: A name as a note writes it: in backticks, or a plain one with perhaps its table before it.
_NAME: Final = re.compile(r"`([^`]+)`|([^\W\d]\w*(?:\.[^\W\d]\w*)?)")


class ResultTable(NamedTuple):
    """A document that describes a table. Columns keep the names of the data."""

    document: str
    database: str
    name: str
    label: str
    columns: Mapping[str, str]


class Schema:
    """The tables of one haystack, under names that a reference can hold."""

    def __init__(self, tables: Iterable[ResultTable] = ()) -> None:
        self._tables = list(tables)
        _refuse_doubles(self._tables)
        self._datasources = legal_names(table.database for table in self._tables)
        self._models: dict[str, dict[str, str]] = {
            database: legal_names(table.name for table in self._tables if table.database == database)
            for database in self._datasources
        }

    def __len__(self) -> int:
        return len(self._tables)

    def canonical(self, table: ResultTable) -> str:
        return f"{self._datasources[table.database]}.{self._models[table.database][table.name]}"

    def documents(self) -> dict[str, str]:
        """The document behind each model."""
        return {self.canonical(table): table.document for table in self._tables}

    def datasource(self, database: object) -> str | None:
        return self._datasources.get(database) if isinstance(database, str) else None

    def write(self, folder: Path) -> None:
        """One file a model, as `ingest` reads them."""
        for table in self._tables:
            datasource, model = self.canonical(table).split(".")
            path = folder / "models" / datasource / f"{model}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                yaml.safe_dump(_model(table, datasource, model), sort_keys=False), encoding="utf-8"
            )

    def references(self, document: EvalDocument) -> list[str]:
        """What a note is about: its database, and each table or column that it names and whose name is unique."""
        database = document.meta.get("db")
        if (datasource := self.datasource(database)) is None:
            return []
        called: dict[str, set[str]] = {}
        for name, canonical in self._names(str(database)):
            called.setdefault(name, set()).add(canonical)
        written = (found[1] or found[2] for found in _NAME.finditer(storable(document.text)))
        meant = (called.get(name, set()) for name in written)
        return list(dict.fromkeys([datasource, *(next(iter(each)) for each in meant if len(each) == 1)]))

    def _names(self, database: str) -> Iterator[tuple[str, str]]:
        for table in self._tables:
            if table.database == database:
                model = self.canonical(table)
                yield table.name, model
                for written, column in table.columns.items():
                    yield from ((name, f"{model}.{column}") for name in (written, f"{table.name}.{written}"))


def schemas_of(tasks: Iterable[Task]) -> dict[str, Schema]:
    """The tables of every task, by haystack: notes of one task may be about tables of another."""
    found: dict[str, list[ResultTable]] = {}
    for task in tasks:
        for haystack in task.haystacks:
            found.setdefault(haystack.name, []).extend(filter(None, map(table_of, haystack.documents)))
    return {name: Schema(tables) for name, tables in found.items()}


def table_of(document: EvalDocument) -> ResultTable | None:
    """The table that a document describes, if it is one."""
    described = _TABLE.fullmatch(storable(document.text))
    if described is None:
        return None
    columns = [each.strip() for each in described["columns"].split(", ") if each.strip()]
    return ResultTable(
        document.id, described["database"], described["name"], described["label"], legal_names(columns)
    )


def _refuse_doubles(tables: Sequence[ResultTable]) -> None:
    """Refuse two documents for one table: a model has one record, so only one could be found by it."""
    described = Counter((table.database, table.name) for table in tables)
    if doubles := [f"{database}.{name}" for (database, name), count in described.items() if count > 1]:
        raise invalid("corpus.jsonl", f"describes more than once: {', '.join(sorted(doubles))}")


def _model(table: ResultTable, datasource: str, model: str) -> dict[str, Any]:
    return {
        "name": model,
        "label": table.label,
        "data_source": datasource,
        "sql_table": table.name.strip() or model,
        "columns": [
            {"name": name} if name == written else {"name": name, "label": written}
            for written, name in table.columns.items()
        ],
    }
