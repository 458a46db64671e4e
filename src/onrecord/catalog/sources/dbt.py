"""WHAT does dbt know? Models with their measures, seeds, snapshots and sources from its manifest.json, types from the
catalog.json beside it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Final

from onrecord.catalog.naming import legal_name
from onrecord.catalog.sources.dbt_artifacts import NOTHING, ArtifactPart, read_catalog, read_manifest
from onrecord.catalog.sources.dbt_columns import ColumnNames, columns_of, parts_of
from onrecord.catalog.sources.dbt_semantics import DbtSemantics
from onrecord.catalog.sources.fingerprinting import fingerprint
from onrecord.errors import invalid
from onrecord.model.catalog import COLUMNS_KNOWN, Datasource, Form, Join, Model

#: The resource types that become models; earlier ones get their names first.
_KINDS: Final = ("model", "seed", "snapshot", "source")
_LEFT_OUT: Final = ("saved_queries", "functions")


class DbtCatalog:
    """One dbt project with everything it builds and reads. It is read once: open it again to see what has changed.

    Unless named, the datasource has the name of the project, which is the same wherever it is built. A source's table
    is called <source>_<table>, a version of a model <model>_v<version>. A model with a deprecation date counts as
    deprecated as soon as the date is known.
    """

    kind = "dbt"
    origin = None
    leaves_samples = True

    def __init__(self, manifest: Path, *, datasource: str | None = None) -> None:
        self._path = manifest
        self._asked = datasource
        self.location = str(manifest)

    def datasources(self) -> Sequence[Datasource]:
        platform = self._read.platform
        return [Datasource(name=self._read.datasource, details={"type": platform} if platform else {})]

    def priority(self) -> None:
        return None

    def fingerprints(self) -> Mapping[str, str]:
        return {model.canonical: fingerprint(model) for model in self._models}

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        return (model for model in self._models if wanted is None or model.canonical in wanted)

    def notes(self) -> Sequence[str]:
        return self._read.notes()

    @cached_property
    def _read(self) -> "_Project":
        return _Project(read_manifest(self._path), read_catalog(self._path), self._asked)

    @cached_property
    def _models(self) -> tuple[Model, ...]:
        return tuple(sorted(self._read.models(), key=lambda model: model.canonical))


class _Project:
    """A manifest with its catalog, and a name for everything in it that has rows."""

    def __init__(self, manifest: ArtifactPart, catalog: ArtifactPart, datasource: str | None) -> None:
        self._manifest = manifest
        self._nodes = manifest.pieces("nodes") | manifest.pieces("sources")
        self._listed = catalog.pieces("nodes") | catalog.pieces("sources")
        self._errors = catalog.texts("errors")
        metadata = manifest.piece("metadata")
        self.platform = metadata.text("adapter_type")
        self._package = metadata.text("project_name")
        self.datasource = datasource or self._project_name()
        self._names = self._all_names()
        self._semantics = DbtSemantics(manifest, self._names)
        self._columns = {
            unique_id: columns_of(self._nodes[unique_id], self._listing(unique_id))
            for unique_id in self._names
        }

    def _project_name(self) -> str:
        """The project's name; old manifests lack it, but their contents may show it."""
        packages = {node.text("package_name") for node in self._nodes.values()}
        name = self._package or (packages.pop() if len(packages) == 1 else None)
        if name is None:
            raise invalid(
                "datasource",
                f"{self._manifest.place} does not contain the project's name; give a name for the datasource",
            )
        return legal_name(name)

    def _all_names(self) -> dict[str, str]:
        """A name for each unique id; if a name is taken, the next one gets a longer name."""
        chosen: dict[str, str] = {}
        taken: set[str] = set()
        for unique_id in sorted(filter(self._has_rows, self._nodes), key=self._rank):
            names = self._possible_names(self._nodes[unique_id])
            chosen[unique_id] = next(name for name in names if name not in taken)
            taken.add(chosen[unique_id])
        return chosen

    def _has_rows(self, unique_id: str) -> bool:
        """Whether it has rows of its own: an ephemeral model exists only inside the queries of others."""
        node = self._nodes[unique_id]
        return node.text("resource_type") in _KINDS and _materialized(node) != "ephemeral"

    def _rank(self, unique_id: str) -> tuple[int, bool, str]:
        node = self._nodes[unique_id]
        is_foreign = node.text("package_name") != self._package
        return _KINDS.index(node.text("resource_type") or ""), is_foreign, unique_id

    def _possible_names(self, node: ArtifactPart) -> Iterator[str]:
        called = node.needed("name")
        version = node.values.get("version")
        if source := node.text("source_name"):
            name, prefix = legal_name(f"{source}_{called}"), "source"
        else:
            name = legal_name(called if version is None else f"{called}_v{version}")
            prefix = node.text("package_name") or "other"
        yield name
        yield legal_name(f"{prefix}_{name}")
        yield from (f"{name}_{number}" for number in count(2))

    def models(self) -> Iterator[Model]:
        joins, known = self._all_joins(), set[str]()
        for unique_id in self._names:
            model = self._model(unique_id)
            # A seed may fill the very table that is declared as a source; the first of the two keeps the alias.
            aliases = tuple(alias for alias in model.aliases if alias not in known)
            known.update(aliases)
            model = replace(model, aliases=aliases, joins=tuple(joins.get(unique_id, ())))
            yield self._semantics.added_to(unique_id, model)

    def _model(self, unique_id: str) -> Model:
        node, listing = self._nodes[unique_id], self._listing(unique_id)
        meta, deprecated_on, address = node.meta(), node.text("deprecation_date"), _address(node)
        details = {
            "sql_table": address,
            "unique_id": unique_id,
            "resource_type": node.text("resource_type"),
            "materialized": _materialized(node),
            "deprecation_date": deprecated_on,
            "meta": meta,
            # Without what the database lists, only those are known that people described.
            COLUMNS_KNOWN: None if listing.pieces("columns") else "described",
        }
        return Model(
            datasource=self.datasource,
            name=self._names[unique_id],
            form=_form(node, listing),
            description=node.text("description") or listing.piece("metadata").text("comment"),
            hidden=node.piece("docs").values.get("show") is False,
            tags=node.tags(),
            state="deprecated" if deprecated_on or meta.get("deprecated") is True else "present",
            parts=parts_of(node, self._columns[unique_id]),
            upstream=tuple(sorted(f"{self.datasource}.{name}" for name in self._parents(node))),
            aliases=_urns(self.platform, address),
            details={key: value for key, value in details.items() if value},
        )

    def _parents(self, node: ArtifactPart) -> set[str]:
        """What it is made from; an ephemeral parent is replaced by its own parents."""
        found, seen = set[str](), set[str]()
        waiting = node.piece("depends_on").texts("nodes")
        while waiting:
            parent = waiting.pop()
            if parent in self._names:
                found.add(self._names[parent])
            elif parent in self._nodes and parent not in seen:
                seen.add(parent)
                waiting += self._nodes[parent].piece("depends_on").texts("nodes")
        return found

    def _all_joins(self) -> dict[str, list[Join]]:
        """A join for each test that the values of a column exist in another model."""
        joins: dict[str, list[Join]] = {}
        for test in self._nodes.values():
            metadata = test.piece("test_metadata")
            asked = metadata.piece("kwargs")
            column, field = asked.values.get("column_name"), asked.values.get("field")
            here, there = test.text("attached_node"), self._tested_against(test)
            if metadata.text("name") != "relationships" or here not in self._names or there is None:
                continue
            if isinstance(column, str) and isinstance(field, str):
                pair = (self._column_name(here, column), self._column_name(there, field))
                joins.setdefault(here, []).append(Join(target=self._names[there], pairs=(pair,)))
        return {
            here: sorted(set(found), key=lambda join: (join.target, join.pairs))
            for here, found in joins.items()
        }

    def _tested_against(self, test: ArtifactPart) -> str | None:
        """The other model of a test; the same one where a column points into its own table."""
        here, both = test.text("attached_node"), test.piece("depends_on").texts("nodes")
        there = next((unique_id for unique_id in both if unique_id != here), here)
        return there if there in self._names else None

    def _column_name(self, unique_id: str, spelled: str) -> str:
        return ColumnNames(self._columns[unique_id]).of(spelled)

    def _listing(self, unique_id: str) -> ArtifactPart:
        return self._listed.get(unique_id, NOTHING)

    def notes(self) -> list[str]:
        notes = [
            f"What is defined under {what} is left out ({len(found)}): it holds no rows of its own"
            for what in _LEFT_OUT
            if (found := self._manifest.pieces(what))
        ]
        notes += self._semantics.notes()
        if not self._listed:
            notes.append(
                "There is no catalog.json, so types are known only where people wrote them down; "
                "`dbt docs generate` writes one"
            )
        return notes + [f"dbt could not list everything: {error}" for error in self._errors]


def _materialized(node: ArtifactPart) -> str | None:
    return node.piece("config").text("materialized")


def _form(node: ArtifactPart, listing: ArtifactPart) -> Form:
    """The form that the database reports, or else the one that was configured."""
    reported = listing.piece("metadata").text("type") or _materialized(node) or ""
    return "view" if "view" in reported.casefold() else "table"


def _address(node: ArtifactPart) -> str:
    """The table's full name; not every platform has databases above its schemas."""
    called = node.text("identifier") or node.text("alias") or node.needed("name")
    return ".".join(filter(None, (node.text("database"), node.text("schema"), called)))


def _urns(platform: str | None, address: str) -> tuple[str, ...]:
    return (f"urn:li:dataset:(urn:li:dataPlatform:{platform},{address},PROD)",) if platform else ()
