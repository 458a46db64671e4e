"""WHAT does a folder of YAML files contain? A file for each model and datasource, and the order of datasources.

models/<datasource>/<model>.yaml, datasources/<datasource>.yaml and priority.yaml; other files are ignored.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from onrecord.catalog.model_shapes import (
    FORM_OF,
    MODEL_VERSION,
    NOTE,
    NOTES,
    OBJECT,
    kept,
    measure_of_model,
    model_faults,
    model_fields,
    parts_of,
    tags_of,
)
from onrecord.catalog.naming import reference_name, why_no_name
from onrecord.catalog.sources.regular_files import read_regular
from onrecord.errors import Fault, Invalid, invalid
from onrecord.model.catalog import Datasource, Model
from onrecord.model.rules import FLAG, Integer, Rule, anything
from onrecord.model.shapes import Object, Several, faults_at
from onrecord.providers.scrubber import scrub
from onrecord.yaml_reader import MappingNode, UnreadableYaml, decoded, located, parse

MODELS: Final = "models"
DATASOURCES: Final = "datasources"
_PRIORITY: Final = "priority.yaml"
_ENDINGS: Final = (".yaml", ".yml")
#: The only connection fields that are kept: where the database is, never its credentials.
_PLACE: Final = ("type", "host", "port", "database", "schema", "schema_name")

_UNQUOTED: Final = ("must be a text, not a number", "must be a text, not true or false")

_Read = TypeVar("_Read")


class YamlCatalog:
    """A folder of models and datasources. Each call reads the files as they are then."""

    kind = "yaml"
    #: A file without samples has none.
    leaves_samples = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self.location = str(root)
        self.origin = str(root.resolve())

    def datasources(self) -> Sequence[Datasource]:
        """Those that have a file, and those that have only models."""
        files = _yaml_files(self._root / DATASOURCES, ("<datasource>",))
        read = {datasource.name: datasource for datasource in _every(files.values(), _read_datasource)}
        folders = {canonical.partition(".")[0] for canonical in self._files()}
        return [read.get(name) or Datasource(name=name) for name in sorted(folders | read.keys())]

    def priority(self) -> tuple[str, ...] | None:
        path = self._root / _PRIORITY
        return _read_priority(path) if path.exists() else None

    def fingerprints(self) -> Mapping[str, str]:
        """A hash of the bytes of each file; whether it can be understood shows only when it is read."""
        return {
            canonical: hashlib.sha256(_read_bytes(path)).hexdigest()
            for canonical, path in self._files().items()
        }

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        """After the first file with faults no more models are returned, but the rest is read to report all faults."""
        files = self._files().items()
        return _every((path for name, path in files if wanted is None or name in wanted), _read_model)

    def notes(self) -> Sequence[str]:
        return ()

    def _files(self) -> dict[str, Path]:
        return _yaml_files(self._root / MODELS, ("<datasource>", "<model>"))


def _yaml_files(root: Path, levels: tuple[str, ...]) -> dict[str, Path]:
    """The files by canonical name, which follows from their path: each level is one part of the name."""
    faults: list[Fault] = []
    files: dict[str, Path] = {}
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root)
        if path.suffix not in _ENDINGS or any(part.startswith(".") for part in place.parts) or path.is_dir():
            continue
        parts = place.with_suffix("").parts
        canonical = ".".join(parts)
        if len(parts) != len(levels):
            faults.append(Fault(str(path), f"must lie at {root.name}/{'/'.join(levels)}.yaml to be read"))
        elif reason := next(filter(None, map(why_no_name, parts)), None):
            faults.append(Fault(str(path), f"is a name in references, so it {reason}"))
        elif canonical in files:
            faults.append(
                Fault(str(path), f"defines the same as {files[canonical].name}; keep one of the two")
            )
        else:
            files[canonical] = path
    if faults:
        raise Invalid(faults)
    return dict(sorted(files.items()))


def _every(paths: Iterable[Path], read: Callable[[Path], _Read]) -> Iterator[_Read]:
    faults: list[Fault] = []
    for path in paths:
        try:
            value = read(path)
        except Invalid as problem:
            faults += problem.faults
            continue
        if not faults:
            yield value
    if faults:
        raise Invalid(faults)


_NAMES: Final = Several(reference_name)
_MEASURE: Final = measure_of_model(
    {
        "name": reference_name,
        "description": NOTE,
        "label": NOTE,
        "tags": NOTES,
        "meta": OBJECT,
        "formula": NOTE,
        "type": NOTE,
    },
    needed=("name",),
)
MODEL: Final = Object(
    "a model",
    {
        "version": Integer(1, MODEL_VERSION),
        "data_source": reference_name,
        **model_fields(reference_name, OBJECT, _MEASURE),
    },
    needed=("name",),
)
DATASOURCE: Final = Object(
    "a datasource",
    {
        "name": reference_name,
        "description": NOTE,
        "hidden": FLAG,
        "tags": NOTES,
        "meta": OBJECT,
        **dict.fromkeys(_PLACE, anything),
    },
)
_PRIORITY_FILE: Final = Object("the priority", {"priority": _NAMES})


def _read_bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as problem:
        raise invalid(str(path), f"cannot be read: {problem.strerror or problem}") from None


def _checked(path: Path, rule: Rule, only: Collection[str] | None = None) -> Any:
    """The content of a file, if it follows the rule; otherwise Invalid with all faults from top to bottom, each with its
    line.

    With `only`, other fields are ignored.
    """
    try:
        text = decoded(_read_bytes(path))
        root = parse(text).root
        if root is None:
            raise UnreadableYaml(1, "is empty; remove the file or fill it")
        if only is not None and isinstance(root, MappingNode):
            root = replace(root, items=[each for each in root.fields() if each[0].text in only])
        read = located(root, len(text))
    except UnreadableYaml as broken:
        raise invalid(f"{path}, line {broken.line}", broken.reason) from None
    try:
        return rule(read.value)
    except ValueError as reason:
        located_faults = [
            (read.line_of(each.field), f"{each.field} {each.message}{_cure(each.message)}".strip())
            for each in faults_at("", reason)
        ]
        raise Invalid(
            Fault(f"{path}, line {line}", message) for line, message in sorted(located_faults)
        ) from None


def _cure(message: str) -> str:
    """A hint to use quotes: YAML reads `5` as a number and `no` as false."""
    return "; put it in quotes" if message in _UNQUOTED else ""


def _read_model(path: Path) -> Model:
    def between(given: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[Fault]:
        yield from model_faults(given, asked)
        yield from _place_faults(given, "name", f"the file is called {path.name!r}", path.stem)
        folder = path.parent.name
        yield from _place_faults(given, "data_source", f"the folder is called {folder!r}", folder)

    return model_from(path.parent.name, _checked(path, replace(MODEL, between=between)))


def model_from(datasource: str, given: Mapping[str, Any]) -> Model:
    """The model that its checked fields describe."""
    return Model(
        datasource=datasource,
        name=given["name"],
        form=next(form for key, form in FORM_OF.items() if key in given),
        description=given.get("description") or None,
        label=given.get("label") or None,
        hidden=given.get("hidden", False),
        tags=tags_of(given),
        state="deprecated" if given.get("meta", {}).get("deprecated") is True else "present",
        parts=parts_of(given),
        joins=given.get("joins", ()),
        details=kept(
            given,
            *(*FORM_OF, "backing_query_sql", "filters", "default_time_dimension", "query_variables", "meta"),
        ),
    )


def _place_faults(given: Mapping[str, Any], key: str, found: str, place: str) -> Iterator[Fault]:
    """A model must be in the folder and file of its names."""
    if given.get(key) not in (None, place):
        yield Fault(key, f"is {given[key]!r} but {found}; make them agree")


def _read_datasource(path: Path) -> Datasource:
    def between(given: Mapping[str, Any], _asked: Mapping[str, Any]) -> Iterator[Fault]:
        return _place_faults(given, "name", f"the file is called {path.name!r}", path.stem)

    # Connection fields are not read, so that no error can quote a password.
    return datasource_from(
        path.stem, _checked(path, replace(DATASOURCE, between=between), only=DATASOURCE.fields)
    )


def datasource_from(name: str, given: Mapping[str, Any]) -> Datasource:
    """The datasource that its checked fields describe."""
    return Datasource(
        name=name,
        description=given.get("description") or None,
        hidden=given.get("hidden", False),
        tags=tags_of(given),
        details={key: value for key, value in kept(given, *_PLACE).items() if _is_harmless(value)},
    )


def _is_harmless(value: Any) -> bool:
    """Whether it only names a place: an address with a user may also hold the password."""
    if isinstance(value, str):
        return "://" not in value and "@" not in value and not scrub(value).found
    return isinstance(value, int)


def _read_priority(path: Path) -> tuple[str, ...]:
    """A list, alone or under its name."""

    def read(value: Any) -> Iterable[str]:
        found = _NAMES(value) if isinstance(value, list) else _PRIORITY_FILE(value).get("priority", ())
        return cast(tuple[str, ...], found)

    return tuple(dict.fromkeys(_checked(path, read)))
