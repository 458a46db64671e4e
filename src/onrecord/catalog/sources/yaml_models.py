"""WHAT does a folder of YAML files say? One file a model, one a datasource, and which datasource goes first.

models/<datasource>/<model>.yaml, datasources/<datasource>.yaml and priority.yaml; whatever else lies there is not
for us.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from yaml.nodes import MappingNode, Node, SequenceNode

from onrecord.catalog.sources import yaml_nodes as nodes
from onrecord.catalog.sources.naming import why_no_name
from onrecord.catalog.sources.yaml_nodes import BAD, Entry, Shape, YamlFile
from onrecord.errors import Fault, Invalid
from onrecord.model.catalog import Datasource, Form, Join, Model, Part, PartKind, System
from onrecord.providers.scrubber import scrub

MODELS: Final = "models"
DATASOURCES: Final = "datasources"
_PRIORITY: Final = "priority.yaml"
_ENDINGS: Final = (".yaml", ".yml")
_NEWEST_VERSION: Final = 6
_DEFAULT_TYPE: Final = "TEXT"
_BUILT_IN_AGGREGATIONS: Final = frozenset(
    """
    sum avg min max count count_distinct first last weighted_avg median percentile stddev_samp stddev_pop
    var_samp var_pop corr covar_samp covar_pop
    """.split()
)
_FORM_OF: Final[Mapping[str, Form]] = {"sql_table": "table", "sql": "sql", "source_queries": "query"}
#: All that is kept of how a datasource is reached: where it is, never what opens it.
_PLACE: Final = ("type", "host", "port", "database", "schema", "schema_name")

_Read = TypeVar("_Read")


class YamlCatalog:
    """A folder of models and datasources. Each call reads the files as they are then."""

    kind = "yaml"
    #: A file that names no samples says that there are none.
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
        """Of the bytes of each file: whether it can be understood shows only when it is read."""
        return {
            canonical: hashlib.sha256(nodes.read_bytes(path)).hexdigest()
            for canonical, path in self._files().items()
        }

    def models(self, wanted: Collection[str] | None = None) -> Iterator[Model]:
        """From the first file with faults on nothing more comes out; the rest is still read, to tell of all."""
        files = self._files().items()
        return _every((path for name, path in files if wanted is None or name in wanted), _read_model)

    def systems(self) -> Sequence[System]:
        return ()

    def notes(self) -> Sequence[str]:
        return ()

    def _files(self) -> dict[str, Path]:
        return _yaml_files(self._root / MODELS, ("<datasource>", "<model>"))


def _yaml_files(root: Path, levels: tuple[str, ...]) -> dict[str, Path]:
    """The files by their canonical names, which their places say: each level down is one part of the name."""
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
            faults.append(Fault(str(path), f"says the same as {files[canonical].name}; keep one of the two"))
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


def _list_of(what: str, shapes: Mapping[str, Shape], needed: tuple[str, ...] = ("name",)) -> Shape:
    def read(file: YamlFile, node: Node, _: str) -> Any:
        part = nodes.entry(file, node, what, shapes)
        if part is None:
            return BAD
        for key in needed:
            if not part.has(key):
                file.refuse(part.line, f"{what} must have {key}")
        return part

    return nodes.listing(read)


def _pairs(file: YamlFile, node: Node, what: str) -> Any:
    if not isinstance(node, SequenceNode) or not node.value:
        return file.refuse(nodes.line_of(node), f"{what} must be a list of [column here, column there]")
    return [_pair(file, pair, what) for pair in node.value]


def _pair(file: YamlFile, node: Node, what: str) -> Any:
    if not isinstance(node, SequenceNode) or len(node.value) != 2:
        return file.refuse(nodes.line_of(node), f"{what} must hold pairs: [column here, column there]")
    columns = [nodes.text(file, column, what) for column in node.value]
    if not all(columns):
        return file.refuse(nodes.line_of(node), f"{what} must name both columns of a pair")
    return tuple(columns)


def _format(file: YamlFile, node: Node, what: str) -> Any:
    return (nodes.plain if isinstance(node, MappingNode) else nodes.text)(file, node, what)


def _sampled(file: YamlFile, node: Node, what: str) -> Any:
    """Values as one text, or as a list, which becomes one."""
    if not isinstance(node, SequenceNode):
        return nodes.text(file, node, what)
    values = [nodes.as_written(file, item, what) for item in node.value]
    return BAD if BAD in values else ", ".join(values)


def _version(file: YamlFile, node: Node, what: str) -> Any:
    version = nodes.whole_number(file, node, what)
    if version is BAD or 1 <= version <= _NEWEST_VERSION:
        return version
    return file.refuse(
        nodes.line_of(node), f"version {version} is unknown; 1 to {_NEWEST_VERSION} are understood"
    )


_TEXTS: Final = nodes.listing(nodes.text)
_DESCRIBED: Final[Mapping[str, Shape]] = {
    "name": nodes.name,
    "description": nodes.text,
    "label": nodes.text,
    "tags": _TEXTS,
    "meta": nodes.plain_mapping,
}
_COLUMN: Final[Mapping[str, Shape]] = {
    **_DESCRIBED,
    "sql": nodes.text,
    "type": nodes.text,
    "primary_key": nodes.flag,
    "hidden": nodes.flag,
    "format": _format,
    "allowed_aggregations": _TEXTS,
    "filter": nodes.text,
    "sampled": _sampled,
}
_MEASURE: Final[Mapping[str, Shape]] = {**_DESCRIBED, "formula": nodes.text, "type": nodes.text}
_AGGREGATION: Final[Mapping[str, Shape]] = {
    **{key: shape for key, shape in _DESCRIBED.items() if key != "label"},
    "formula": nodes.text,
    "params": _list_of("a parameter", {"name": nodes.name, "sql": nodes.text}, ("name", "sql")),
}
_JOIN: Final[Mapping[str, Shape]] = {
    "target_model": nodes.name,
    "join_pairs": _pairs,
    "join_type": nodes.choice(("left", "inner")),
}
_MODEL: Final[Mapping[str, Shape]] = {
    **_DESCRIBED,
    "version": _version,
    "sql_table": nodes.text,
    "sql": nodes.text,
    "source_queries": nodes.listing(nodes.plain_mapping),
    "data_source": nodes.name,
    "columns": _list_of("a column", _COLUMN),
    "measures": _list_of("a measure", _MEASURE),
    "aggregations": _list_of("an aggregation", _AGGREGATION),
    "joins": _list_of("a join", _JOIN, ("target_model", "join_pairs")),
    "filters": _TEXTS,
    "default_time_dimension": nodes.text,
    "hidden": nodes.flag,
    "query_variables": nodes.plain_mapping,
}
_DETAILS: Final[Mapping[PartKind, tuple[str, ...]]] = {
    "column": ("sql", "filter", "format", "allowed_aggregations", "primary_key", "sampled", "meta"),
    "measure": ("formula", "meta"),
    "aggregation": ("formula", "meta"),
}


def _read_model(path: Path) -> Model:
    file = YamlFile(path)
    given = nodes.entry(file, nodes.read_root(file), "a model", _MODEL)
    if given is not None:
        _check_model(file, given)
    file.settle()
    assert given is not None
    return Model(
        datasource=path.parent.name,
        name=given.get("name"),
        form=next(form for key, form in _FORM_OF.items() if given.get(key)),
        description=given.get("description") or None,
        label=given.get("label") or None,
        hidden=given.get("hidden", False),
        tags=_tags(given),
        state="deprecated" if given.get("meta", {}).get("deprecated") is True else "present",
        parts=(
            *(_part("column", each) for each in given.get("columns", ())),
            *(_part("measure", each) for each in given.get("measures", ())),
            *(_part("aggregation", each) for each in given.get("aggregations", ())),
        ),
        joins=tuple(map(_join, given.get("joins", ()))),
        details=given.kept(*_FORM_OF, "filters", "default_time_dimension", "query_variables", "meta"),
    )


def _part(kind: PartKind, given: Entry) -> Part:
    details = given.kept(*_DETAILS[kind])
    if params := given.get("params"):
        details["params"] = [param.kept("name", "sql") for param in params]
    return Part(
        name=given.get("name"),
        kind=kind,
        description=given.get("description") or None,
        label=given.get("label") or None,
        type=given.get("type", _DEFAULT_TYPE if kind == "column" else None),
        hidden=given.get("hidden", False),
        tags=_tags(given),
        details=details,
    )


def _join(given: Entry) -> Join:
    return Join(
        target=given.get("target_model"),
        pairs=tuple(given.get("join_pairs")),
        kind=given.get("join_type", "left"),
    )


def _tags(given: Entry) -> tuple[str, ...]:
    """Its own tags, then those that it has by way of `meta`."""
    noted = given.get("meta", {}).get("tags")
    is_texts = isinstance(noted, list) and all(isinstance(tag, str) for tag in noted)
    return tuple(dict.fromkeys([*given.get("tags", ()), *(noted if is_texts else ())]))


def _check_model(file: YamlFile, given: Entry) -> None:
    if not given.has("name"):
        file.refuse(given.line, "a model must have a name")
    if not given.has("data_source") and not given.has("source_queries"):
        file.refuse(given.line, "a model must name its data_source, unless it is made of source_queries")
    _check_place(file, given, "name", f"the file is called {file.path.name!r}", file.path.stem)
    _check_place(
        file, given, "data_source", f"the folder is called {file.path.parent.name!r}", file.path.parent.name
    )
    _check_origin(file, given)
    _check_names(file, _entries(given, "columns", "measures"), "columns and measures share their names")
    _check_names(file, _entries(given, "aggregations"), "each aggregation has a name of its own")
    for each in _entries(given, "aggregations"):
        if not each.has("formula") and each.get("name") not in (None, *_BUILT_IN_AGGREGATIONS):
            file.refuse(
                each.line, f"the aggregation {each.get('name')!r} is not built in, so it must have a formula"
            )


def _check_place(file: YamlFile, given: Entry, key: str, found: str, place: str) -> None:
    """Files are found by their places, so a model must be where its names say."""
    if given.get(key) not in (None, place):
        file.refuse(given.lines[key], f"{key} is {given.get(key)!r} but {found}; make them agree")


def _check_origin(file: YamlFile, given: Entry) -> None:
    origins = [key for key in _FORM_OF if given.has(key)]
    if len(origins) != 1:
        line = sorted(given.lines[key] for key in origins)[1] if origins else given.line
        found = f"it has {' and '.join(origins)}" if origins else "it has none"
        file.refuse(line, f"a model must have exactly one of sql_table, sql and source_queries; {found}")
    for key in origins:
        value = given.get(key)
        if value == [] or (isinstance(value, str) and not value.strip()):
            file.refuse(given.lines[key], f"{key} must not be empty")


def _check_names(file: YamlFile, parts: list[Entry], rule: str) -> None:
    seen: dict[str, int] = {}
    for part in parts:
        if (name := part.get("name")) is None:
            continue
        if name in seen:
            file.refuse(part.lines["name"], f"the name {name!r} is taken on line {seen[name]}; {rule}")
        seen.setdefault(name, part.lines["name"])


def _entries(given: Entry, *keys: str) -> list[Entry]:
    return [each for key in keys for each in given.get(key, ()) if isinstance(each, Entry)]


_DATASOURCE: Final[Mapping[str, Shape]] = {
    "name": nodes.name,
    "description": nodes.text,
    "hidden": nodes.flag,
    "tags": _TEXTS,
    "meta": nodes.plain_mapping,
    **dict.fromkeys(_PLACE, nodes.plain),
    # How it is reached may be said in any words, which are not even looked at: no fault may quote a password.
    "*": lambda file, node, what: BAD,
}


def _read_datasource(path: Path) -> Datasource:
    file = YamlFile(path)
    given = nodes.entry(file, nodes.read_root(file), "a datasource", _DATASOURCE)
    if given is not None:
        _check_place(file, given, "name", f"the file is called {path.name!r}", path.stem)
    file.settle()
    assert given is not None
    return Datasource(
        name=path.stem,
        description=given.get("description") or None,
        hidden=given.get("hidden", False),
        tags=_tags(given),
        details={key: value for key, value in given.kept(*_PLACE).items() if _is_harmless(value)},
    )


def _is_harmless(value: Any) -> bool:
    """Whether it only names a place: an address with a user in it may hold the password as well."""
    if isinstance(value, str):
        return "://" not in value and "@" not in value and not scrub(value).found
    return isinstance(value, int)


def _read_priority(path: Path) -> tuple[str, ...]:
    file = YamlFile(path)
    root = nodes.read_root(file)
    if isinstance(root, SequenceNode):
        names = nodes.listing(nodes.name)(file, root, "priority")
    else:
        given = nodes.entry(file, root, "the priority", {"priority": nodes.listing(nodes.name)})
        names = given.get("priority", []) if given else []
    file.settle()
    return tuple(dict.fromkeys(names))
