"""WHERE does a catalog come from? Model files, a store of models, a database, files of dbt, or DataHub; the kind is recognised by looking."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from onrecord.catalog.datahub import NAME as DATAHUB
from onrecord.catalog.naming import named_datasource
from onrecord.catalog.sources.database import DatabaseCatalog
from onrecord.catalog.sources.database_access import URL_SCHEMES
from onrecord.catalog.sources.datahub import DatahubCatalog
from onrecord.catalog.sources.dbt import DbtCatalog
from onrecord.catalog.sources.dbt_artifacts import MANIFEST, PROJECT, SEMANTIC_MANIFEST
from onrecord.catalog.sources.model_store import ModelStore, is_model_store
from onrecord.catalog.sources.yaml_models import DATASOURCES, MODELS, YamlCatalog
from onrecord.errors import Fault, Invalid, invalid
from onrecord.model.catalog import Datasource, Model
from onrecord.model.service_address import ServiceAddress
from onrecord.store.sqlite_read_only import is_sqlite

MOST_SAMPLE_VALUES: Final = 100
_KEYWORDS: Final = re.compile(r"\b(host|dbname|port|user|password|service)=\S")
_UNDERSTOOD: Final = (
    f"understood are a folder with {MODELS}/ or {DATASOURCES}/ of YAML files, a dbt project with its target/{MANIFEST}, "
    f"that folder or file itself, a SQLite file, an address ({', '.join(URL_SCHEMES)}), and {DATAHUB}"
)


class Source(Protocol):
    """Reads a catalog from elsewhere and changes nothing there. The same input gives the same values in sorted order."""

    @property
    def kind(self) -> str: ...

    @property
    def location(self) -> str:
        """The given path or address as people see it, without passwords."""

    @property
    def origin(self) -> str | None:
        """What identifies this source, if it names its datasources itself.

        None if the user names the datasource: one database can be read under several names, so a datasource that is
        not listed is not gone.
        """

    @property
    def leaves_samples(self) -> bool:
        """Whether it has looked at no values, so that the samples of an earlier ingest stay."""

    def datasources(self) -> Sequence[Datasource]: ...

    def priority(self) -> tuple[str, ...] | None:
        """Which datasource comes first where several have a name; None if the source does not say."""

    def fingerprints(self) -> Mapping[str, str]:
        """For each model's canonical name a hash that changes with the model, followed by a dot and a hash of its
        samples if samples were taken.
        """

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        """The models of these canonical names, or all. Raises Invalid if a model cannot be understood."""

    def notes(self) -> Sequence[str]:
        """What was left out, and why, for the person who asked."""


@runtime_checkable
class LaggingSource(Protocol):
    """A source whose listing may lag behind: an unlisted model is asked for by name before it counts as gone."""

    def still_known(self, missing: Mapping[str, Sequence[str]]) -> Set[str]:
        """Of models that were known, each with its other names, and are not listed now, those that are not certainly gone."""


def open_source(
    given: str,
    *,
    datasource: str | None = None,
    sample_values: int = 0,
    schema: str | None = None,
    datahub: ServiceAddress | None = None,
) -> Source:
    """The source at a path or address, or the DataHub of the settings. Only a database and dbt can be given a name, and only
    databases have the rest.
    """
    _check_options(given, datasource, sample_values)
    if given == DATAHUB:
        _refuse_for_files(given, sample_values=sample_values, schema=schema, datasource=datasource)
        if datahub is None:
            raise invalid(
                "datahub_url",
                f"is not set; set it to ingest from DataHub. A folder of this name is ./{given}",
            )
        return DatahubCatalog(datahub)
    if "://" in given:
        return DatabaseCatalog(given, datasource=datasource, schema=schema, sample_values=sample_values)
    path = Path(given).expanduser()
    if is_sqlite(path) and is_model_store(path):
        _refuse_for_files(given, sample_values=sample_values, schema=schema, datasource=datasource)
        return ModelStore(path)
    if is_sqlite(path):
        return DatabaseCatalog(path, datasource=datasource, schema=schema, sample_values=sample_values)
    manifest = _manifest_of(path)
    folder = None if manifest else _yaml_folder(path)
    _refuse_for_files(
        given, sample_values=sample_values, schema=schema, datasource=datasource if folder else None
    )
    if manifest:
        return DbtCatalog(manifest, datasource=datasource)
    if folder:
        return YamlCatalog(folder)
    raise invalid(given, f"{_seen(path)}; {_UNDERSTOOD}")


def _check_options(given: str, datasource: str | None, sample_values: int) -> None:
    if not given.strip():
        raise invalid("catalog", f"must not be empty; {_UNDERSTOOD}")
    if "://" not in given and _KEYWORDS.search(given):
        # It is not repeated, since it may hold a password.
        raise invalid("catalog", "Write the address of a database as postgresql://user@host/name.")
    if datasource is not None:
        named_datasource(datasource)
    if not 0 <= sample_values <= MOST_SAMPLE_VALUES:
        raise invalid("sample_values", f"must be between 0 and {MOST_SAMPLE_VALUES} (got {sample_values})")


def _refuse_for_files(given: str, **options: str | int | None) -> None:
    """Refuse options that this kind of source would silently ignore."""
    faults = [
        Fault(option, f"does not apply to {given}; leave it out")
        for option, value in options.items()
        if value
    ]
    if faults:
        raise Invalid(faults)


def _manifest_of(path: Path) -> Path | None:
    """The path of dbt's manifest, if this is a dbt project; checked first, since dbt projects have a models/ too."""
    if path.is_file():
        if path.name == SEMANTIC_MANIFEST and path.with_name(MANIFEST).exists():
            # It repeats a part of the manifest, and knows no columns.
            return path.with_name(MANIFEST)
        return path if path.suffix == ".json" else None
    in_target = path / "target" / MANIFEST
    if (path / PROJECT).exists() or in_target.exists():
        return in_target
    beside = path / MANIFEST
    return beside if beside.exists() and not _yaml_folder(path) else None


def _yaml_folder(path: Path) -> Path | None:
    return path if any((path / folder).is_dir() for folder in (MODELS, DATASOURCES)) else None


def _seen(path: Path) -> str:
    if path.is_dir():
        return "is a folder without any of these"
    if path.exists():
        return "is a file that is neither a SQLite database nor a JSON file"
    return "does not exist"
