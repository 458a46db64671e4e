"""WHICH columns has a dbt model? Those that people described and those that the database listed, as one list."""

from collections.abc import Sequence
from typing import NamedTuple

from onrecord.catalog.naming import legal_name, legal_names
from onrecord.catalog.sources.dbt_artifacts import NOTHING, ArtifactPart
from onrecord.model.catalog import Part


class Column(NamedTuple):
    """One column as people wrote its name, with what they noted and what the database listed."""

    spelled: str
    noted: ArtifactPart
    listed: ArtifactPart


def columns_of(node: ArtifactPart, listing: ArtifactPart) -> list[Column]:
    """In the database's order, then those it does not have. Case is ignored: some databases write every name in
    capitals.
    """
    noted = {column.needed("name").casefold(): column for column in node.pieces("columns").values()}
    listed = sorted(listing.pieces("columns").values(), key=lambda column: column.number("index"))
    columns: dict[str, Column] = {}
    for column in listed:
        name = column.needed("name")
        described = noted.get(name.casefold(), NOTHING)
        columns.setdefault(name.casefold(), Column(described.text("name") or name, described, column))
    for folded, column in noted.items():
        columns.setdefault(folded, Column(column.needed("name"), column, NOTHING))
    return list(columns.values())


class ColumnNames:
    """What each column is called in references."""

    def __init__(self, columns: Sequence[Column]) -> None:
        names = legal_names(column.spelled for column in columns)
        self._names = {spelled.casefold(): name for spelled, name in names.items()}

    def of(self, spelled: str) -> str:
        return self._names.get(spelled.casefold()) or legal_name(spelled)


def parts_of(node: ArtifactPart, columns: Sequence[Column]) -> tuple[Part, ...]:
    names, key = ColumnNames(columns), _key_of(node)
    return tuple(
        _part(column, names.of(column.spelled), column.spelled.casefold() in key) for column in columns
    )


def _part(column: Column, name: str, is_key: bool) -> Part:
    quoted = column.spelled.replace('"', '""')
    details = {
        "sql": f'"{quoted}"' if name != column.spelled else None,
        "primary_key": is_key,
        "meta": column.noted.meta(),
    }
    return Part(
        name=name,
        description=column.noted.text("description") or column.listed.text("comment"),
        type=column.listed.text("type") or column.noted.text("data_type"),
        tags=column.noted.tags(),
        details={what: value for what, value in details.items() if value},
    )


def _key_of(node: ArtifactPart) -> set[str]:
    """The key that dbt found, or that a constraint names, for the model or at the column."""
    found = node.texts("primary_key")
    for constraint in node.several("constraints"):
        if constraint.text("type") == "primary_key":
            found += constraint.texts("columns")
    for column in node.pieces("columns").values():
        if any(constraint.text("type") == "primary_key" for constraint in column.several("constraints")):
            found.append(column.needed("name"))
    return {name.casefold() for name in found}
