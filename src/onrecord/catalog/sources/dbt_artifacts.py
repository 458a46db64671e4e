"""HOW are dbt's files read? Only what we use is checked; every fault is reported with its place in the file."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from onrecord.catalog.sources.regular_files import read_regular
from onrecord.errors import Invalid, invalid
from onrecord.model import rules
from onrecord.model.shapes import checked_field

MANIFEST: Final = "manifest.json"
SEMANTIC_MANIFEST: Final = "semantic_manifest.json"
CATALOG: Final = "catalog.json"
PROJECT: Final = "dbt_project.yml"
_KNOWN: Final = {"manifest": range(9, 13), "catalog": range(1, 2)}
_SCHEMA: Final = re.compile(r"https://schemas\.getdbt\.com/dbt/([\w-]+)/v(\d+)\.json")
_META: Final = rules.Json()
_NUMBER: Final = rules.Integer()
_TEXT: Final = rules.Text()


@dataclass(frozen=True, slots=True)
class ArtifactPart:
    """An object somewhere in a file, which knows its place for error messages."""

    place: str
    values: Mapping[str, Any]

    def __bool__(self) -> bool:
        return bool(self.values)

    def piece(self, key: str) -> Self:
        """The object under this key; an empty one where there is none."""
        return self._as_piece(key, self.values.get(key))

    def pieces(self, key: str) -> dict[str, Self]:
        """The objects in the object under this key, in the order of the file."""
        inner = self.piece(key)
        return {name: inner.piece(name) for name in inner.values}

    def several(self, key: str) -> list[Self]:
        """The objects in the list under this key."""
        return [self._as_piece(f"{key}[{place}]", item) for place, item in enumerate(self._list(key))]

    def text(self, key: str) -> str | None:
        """None where there is no text, or an empty one."""
        value = self.values.get(key)
        return None if value is None else self._as_text(key, value) or None

    def needed(self, key: str) -> str:
        if (value := self.text(key)) is None:
            raise self._wrong(key, "a text")
        return value

    def texts(self, key: str) -> list[str]:
        return [self._as_text(f"{key}[{place}]", item) for place, item in enumerate(self._list(key))]

    def number(self, key: str) -> int:
        """0 where there is none."""
        value = self.values.get(key)
        return 0 if value is None else int(checked_field(f"{self.place}.{key}", _NUMBER, value))

    def meta(self) -> dict[str, Any]:
        """People's own notes, wherever this version of dbt keeps them."""
        given = self.piece("meta") or self.piece("config").piece("meta")
        return dict(checked_field(given.place, _META, given.values))

    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.texts("tags"), *self.piece("config").texts("tags")]))

    def _list(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if value is None:
            return []
        # dbt allows a single tag for a list of one.
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def _as_piece(self, key: str, value: Any) -> Self:
        if not isinstance(value, Mapping | None):
            raise self._wrong(key, "an object")
        return type(self)(f"{self.place}.{key}", value or {})

    def _as_text(self, key: str, value: Any) -> str:
        return str(checked_field(f"{self.place}.{key}", _TEXT, value))

    def _wrong(self, key: str, wanted: str) -> Invalid:
        return invalid(f"{self.place}.{key}", f"must be {wanted}; let dbt write the file anew")


NOTHING: Final = ArtifactPart("", {})


def read_manifest(path: Path) -> ArtifactPart:
    if not path.exists():
        raise invalid(
            str(path), "is not there yet: run `dbt docs generate` in the project, or give the file itself"
        )
    return _read(path, "manifest")


def read_catalog(beside: Path) -> ArtifactPart:
    """The catalog.json beside a manifest; an empty one where dbt has written none."""
    path = beside.with_name(CATALOG)
    return _read(path, "catalog") if path.exists() else ArtifactPart(str(path), {})


def _read(path: Path, kind: str) -> ArtifactPart:
    artifact = ArtifactPart(str(path), _object_in(path))
    schema = artifact.piece("metadata").text("dbt_schema_version") or ""
    found = _SCHEMA.fullmatch(schema)
    if found is None or found[1] != kind:
        says = (
            f"it says that it is {schema}" if schema else "it does not say which version of dbt's files it is"
        )
        raise invalid(str(path), f"is not a {kind}.json of dbt: {says}")
    if int(found[2]) not in _KNOWN[kind]:
        first, last = _KNOWN[kind][0], _KNOWN[kind][-1]
        known = f"v{first} to v{last}" if first != last else f"v{first}"
        raise invalid(str(path), f"is a {kind} of version v{found[2]}, which is unknown; we can read {known}")
    return artifact


def _object_in(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(read_regular(path))
    except OSError as problem:
        reason = f"cannot be read: {problem.strerror or problem}"
    except json.JSONDecodeError as problem:
        reason = f"is not JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}"
    except (ValueError, RecursionError) as problem:
        reason = f"is not JSON that can be read: {problem}"
    else:
        if isinstance(value, dict):
            return value
        reason = "is not a JSON object"
    raise invalid(str(path), reason)
