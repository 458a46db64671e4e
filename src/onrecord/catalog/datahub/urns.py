"""WHICH names do DataHub and we use for the same thing? Its URNs, and the names that follow from them."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from onrecord.catalog.naming import legal_name
from onrecord.model.catalog import Model
from onrecord.model.edits import Cell
from onrecord.model.limits import NAME_CHARACTERS

DATASET: Final = "urn:li:dataset:"
_DATASET_URN: Final = re.compile(
    r"urn:li:dataset:\(urn:li:dataPlatform:(?P<platform>[^,()]+),(?P<name>.+),(?P<env>[^,()]+)\)", re.DOTALL
)
#: The prefix of an item's name, for each field whose values are items.
PREFIXES: Final = {
    "tags": "urn:li:tag:",
    "terms": "urn:li:glossaryTerm:",
    "properties": "urn:li:structuredProperty:",
}
#: In the second form of a field's path, the types along it are in brackets.
_TYPE_IN_PATH: Final = re.compile(r"\[[^\]]*\]\.?")
_USUAL_ENV: Final = "PROD"


class Table(NamedTuple):
    """A dataset by its URN. A platform without databases has no catalog, one without schemas no schema."""

    platform: str
    catalog: str | None
    schema: str | None
    table: str
    env: str

    @property
    def address(self) -> str:
        """Its name inside the platform."""
        return ".".join(filter(None, (self.catalog, self.schema, self.table)))

    @property
    def datasource(self) -> str:
        """Our name for the place where it is. The platform is part of it: the table and the dbt model that makes it
        often have the same name.
        """
        env = "" if self.env == _USUAL_ENV else self.env.lower()
        return legal_name("_".join(filter(None, (self.platform, self.catalog, self.schema, env))))

    @property
    def canonical(self) -> str:
        return f"{self.datasource}.{legal_name(self.table)}"


def table_of(urn: str) -> Table | None:
    """The table that a URN names, `urn:li:dataset:(urn:li:dataPlatform:<p>,<catalog>.<schema>.<table>[.extra],ENV)`; None
    if it is no URN of a dataset. What follows the table belongs to its name. The name of a file or topic is not divided.
    """
    found = _DATASET_URN.fullmatch(urn)
    if found is None or not found["name"].strip(". "):
        return None
    platform, name, env = found["platform"], found["name"], found["env"]
    parts = [name] if "/" in name else [part for part in name.split(".") if part]
    match parts:
        case [catalog, schema, *rest] if rest:
            return Table(platform, catalog, schema, ".".join(rest), env)
        case [schema, table]:
            return Table(platform, None, schema, table, env)
    return Table(platform, None, None, parts[0], env)


def canonicals(urns: Iterable[str]) -> dict[str, str]:
    """A name of ours for each URN of a dataset; of two that would have the same, the second by its URN gets a number."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for urn in sorted(set(urns)):
        table = table_of(urn)
        if table is None:
            continue
        wanted, number = table.canonical, 1
        while (name := wanted if number == 1 else f"{wanted[: NAME_CHARACTERS * 2 - 9]}_{number}") in taken:
            number += 1
        names[urn] = name
        taken.add(name)
    return names


def simple_path(field_path: str) -> str:
    """The path of a field as people write it: `[version=2.0].[type=struct].address.[type=string].street` is
    `address.street`.
    """
    return _TYPE_IN_PATH.sub("", field_path) or field_path


def urn_of(model: Model | None) -> str | None:
    """The URN of a model's dataset, if it is known by one."""
    aliases = () if model is None else model.aliases
    return next((alias for alias in aliases if alias.startswith(DATASET)), None)


def field_urn(dataset: str, field_path: str) -> str:
    return f"urn:li:schemaField:({dataset},{field_path})"


def key_urn(cell: Cell) -> str:
    """The URN of the tag, term or property that a key names; a key may be the URN itself."""
    prefix, key = PREFIXES[cell.field], cell.key or ""
    return key if key.startswith(prefix) else prefix + key


def key_of(field: str, urn: str) -> str:
    """The name of a tag, term or property."""
    return urn.removeprefix(PREFIXES[field])
