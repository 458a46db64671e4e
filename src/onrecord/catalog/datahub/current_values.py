"""WHICH value does DataHub hold at a place? The value, and what is needed to write and restore it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from onrecord.catalog.datahub.answers import Answer, each_in, inside, maybe, need, unreadable, whole_list
from onrecord.catalog.datahub.client import DatahubClient
from onrecord.catalog.datahub.datasets import edited_fields_of, fields_of, tags_in, terms_in
from onrecord.catalog.datahub.properties import Property, property_of, value_of
from onrecord.catalog.datahub.urns import DATASET, field_urn, key_of, key_urn
from onrecord.catalog.targets import CurrentValue
from onrecord.model.edits import Cell, same_value

_MOST: Final = 1_000
_TAGS: Final = "tags { tags { tag { urn } } }"
_TERMS: Final = "glossaryTerms { terms { term { urn } } }"
_PROPERTIES: Final = """structuredProperties { properties {
  structuredProperty { urn } values { ... on StringValue { stringValue } ... on NumberValue { numberValue } }
} }"""
_INCIDENT: Final = "urn title description status { state }"
_INCIDENTS: Final = (
    f"incidents(state: ACTIVE, start: 0, count: {_MOST}) {{ total incidents {{ {_INCIDENT} }} }}"
)
_DOCUMENT: Final = "urn exists info { title contents { text } }"
_QUERY: Final = "urn properties { name description statement { value } }"


def _of_fields(selection: str) -> str:
    return (
        f"schemaMetadata {{ fields {{ fieldPath {selection} }} }} "
        f"editableSchemaMetadata {{ editableSchemaFieldInfo {{ fieldPath {selection} }} }}"
    )


#: What is read of a dataset for each field of an edit.
_OF_DATASET: Final[Mapping[str, str]] = {
    "description": "properties { description } editableProperties { description } "
    + _of_fields("description"),
    "tags": _TAGS + _of_fields(_TAGS),
    "terms": _TERMS + _of_fields(_TERMS),
    "links": "institutionalMemory { elements { url label } }",
    "properties": _PROPERTIES + " schemaMetadata { fields { fieldPath } }",
    "documents": f"relatedDocuments(input: {{start: 0, count: {_MOST}}}) {{ total documents {{ {_DOCUMENT} }} }}",
    "incidents": _INCIDENTS + " schemaMetadata { fields { fieldPath } }",
    "queries": "",
}
_OF_COLUMN: Final[Mapping[str, str]] = {"properties": _PROPERTIES, "incidents": _INCIDENTS}
_QUERIES: Final = f"""
listQueries(input: {{datasetUrn: $urn, source: MANUAL, start: 0, count: {_MOST}}}) {{ total queries {{ {_QUERY} }} }}"""
_ITEMS: Final = """
query onrecordItems($urns: [String!]!) { entities(urns: $urns) { urn %s } }"""
_ITEM: Final[Mapping[str, str]] = {
    "queries": f"... on QueryEntity {{ {_QUERY} }}",
    "documents": f"... on Document {{ {_DOCUMENT} }}",
    "incidents": f"... on Incident {{ {_INCIDENT} }}",
}


class Place(NamedTuple):
    """A dataset, or one of its fields."""

    dataset: str
    path: str | None = None

    @property
    def urn(self) -> str:
        return self.dataset if self.path is None else field_urn(self.dataset, self.path)

    @property
    def resource(self) -> dict[str, Any]:
        """How mutations name it."""
        if self.path is None:
            return {"resourceUrn": self.dataset}
        return {
            "resourceUrn": self.dataset,
            "subResourceType": "DATASET_FIELD",
            "subResource": self.path,
        }


class Wanted(NamedTuple):
    """What is to be read: a cell, its place, and the URN of the item that is known to be there, if any."""

    cell: Cell
    place: Place
    item: str | None = None


def has_place(under: Mapping[str, Any] | None) -> bool:
    """Whether a place was noted; an imported file may hold anything here."""
    return str((under or {}).get("dataset", "")).startswith(DATASET)


def place_in(under: Mapping[str, Any] | None) -> Place:
    """The place that was noted when a value was read."""
    known = under or {}
    return Place(known["dataset"], known.get("path"))


def current_values(client: DatahubClient, wanted: Sequence[Wanted]) -> dict[Cell, CurrentValue]:
    """The values at some places, without those of missing datasets and fields. A value that cannot be read raises; it
    never counts as empty.
    """
    found: dict[Cell, CurrentValue] = {}
    for dataset in dict.fromkeys(each.place.dataset for each in wanted):
        own = [each for each in wanted if each.place.dataset == dataset]
        read = _read(client, dataset, {each.cell.field for each in own})
        if read is not None:
            places = {each.place.path: each.place for each in own}
            columns = {path: _read_column(client, place, read) for path, place in places.items() if path}
            found |= _found(client, own, read, columns)
    return found


def _read(client: DatahubClient, dataset: str, fields: Iterable[str]) -> Answer | None:
    """All that is asked of one dataset; None if it is not there."""
    selection = " ".join(_OF_DATASET[field] for field in sorted(fields))
    also = _QUERIES if "queries" in fields else ""
    answer = client.read(
        f"query onrecordStanding($urn: String!) {{ entity(urn: $urn) {{ urn ... on Dataset {{ exists "
        f"status {{ removed }} {selection} }} }} {also} }}",
        urn=dataset,
    )
    entity = need(answer, "entity", dict)
    if not need(entity, "exists", bool) or maybe(inside(entity, "status"), "removed", bool):
        return None
    return {**entity, "fields": frozenset(fields), "listQueries": answer.get("listQueries")}


def _read_column(client: DatahubClient, place: Place, dataset: Answer) -> Answer | None:
    """What DataHub keeps of a field as a thing of its own; None if the dataset has no such field."""
    if place.path not in fields_of(dataset):
        return None
    selection = " ".join(_OF_COLUMN[field] for field in sorted(dataset["fields"] & _OF_COLUMN.keys()))
    if not selection:
        return {}
    answer = client.read(
        f"query onrecordColumn($urn: String!) {{ entity(urn: $urn) {{ urn ... on SchemaFieldEntity {{ {selection} }} }} }}",
        urn=place.urn,
    )
    return need(answer, "entity", dict)


def _found(
    client: DatahubClient,
    wanted: Sequence[Wanted],
    dataset: Answer,
    columns: Mapping[str, Answer | None],
) -> dict[Cell, CurrentValue]:
    properties = _definitions(client, [each.cell for each in wanted if each.cell.field == "properties"])
    items = _items(client, [each for each in wanted if each.item is not None])
    found = {}
    for each in wanted:
        field, path = each.cell.field, each.place.path
        holder = dataset if path is None else columns[path]
        if holder is None or (path is not None and field not in COLUMN_FIELDS):
            continue
        if field in ("description", "tags", "terms"):
            value, more = _SIMPLE[field](each.cell, dataset, path)
        elif field == "properties":
            value, more = _property(each.cell, holder, properties[key_urn(each.cell)])
        elif field == "links":
            value, more = _link(each.cell, dataset), {}
        else:
            value, more = _item(each, holder, items)
        under = {"dataset": each.place.dataset, "path": path, **more}
        found[each.cell] = CurrentValue(
            value, {key: detail for key, detail in under.items() if detail is not None}
        )
    return found


#: The fields that DataHub keeps of a column too.
COLUMN_FIELDS: Final = frozenset({"description", "tags", "terms", "properties", "incidents"})


def _description(cell: Cell, dataset: Answer, path: str | None) -> tuple[Any, dict[str, Any]]:
    if path is None:
        own, ingested = inside(dataset, "editableProperties"), inside(dataset, "properties")
    else:
        own, ingested = edited_fields_of(dataset).get(path, {}), fields_of(dataset)[path]
    edited, original = maybe(own, "description", str), maybe(ingested, "description", str)
    return edited or original or None, {"ingested": bool(original) or None, "edited": bool(edited) or None}


def _names_of(
    listed: Callable[[Answer], list[str]],
) -> Callable[[Cell, Answer, str | None], tuple[Any, dict[str, Any]]]:
    def read(cell: Cell, dataset: Answer, path: str | None) -> tuple[Any, dict[str, Any]]:
        key = key_of(cell.field, key_urn(cell))
        if path is None:
            return (True if key in listed(dataset) else None), {}
        # What was ingested with the schema cannot be taken away here.
        is_ingested = key in listed(fields_of(dataset)[path])
        is_edited = key in listed(edited_fields_of(dataset).get(path, {}))
        return (True if is_ingested or is_edited else None), {"ingested": is_ingested or None}

    return read


_SIMPLE: Final[Mapping[str, Callable[[Cell, Answer, str | None], tuple[Any, dict[str, Any]]]]] = {
    "description": _description,
    "tags": _names_of(tags_in),
    "terms": _names_of(terms_in),
}


def _link(cell: Cell, dataset: Answer) -> str | None:
    for each in each_in(inside(dataset, "institutionalMemory"), "elements"):
        if need(each, "url", str) == cell.key:
            return need(each, "label", str)
    return None


def _definitions(client: DatahubClient, cells: Sequence[Cell]) -> dict[str, Property | None]:
    urns = sorted({key_urn(cell) for cell in cells})
    return {urn: property_of(client, urn) for urn in urns}


def _property(cell: Cell, holder: Answer, known: Property | None) -> tuple[Any, dict[str, Any]]:
    more = {} if known is None else {"type": known.type, "several": known.several}
    for each in each_in(inside(holder, "structuredProperties"), "properties"):
        if need(need(each, "structuredProperty", dict), "urn", str) == key_urn(cell):
            return value_of(need(each, "values", list)), more
    return None, more


def _items(client: DatahubClient, wanted: Sequence[Wanted]) -> Mapping[str, Answer]:
    """Queries, documents and incidents by their URNs: the lists that name them lag behind."""
    urns = sorted({each.item for each in wanted if each.item is not None})
    if not urns:
        return {}
    selections = " ".join(_ITEM[field] for field in sorted({each.cell.field for each in wanted}))
    answer = client.read(_ITEMS % selections, urns=urns)
    found = {need(each, "urn", str): each for each in each_in(answer, "entities")}
    if found.keys() != set(urns):
        raise unreadable("it left out some of what it was asked for")
    return found


def _item(wanted: Wanted, holder: Answer, items: Mapping[str, Answer]) -> tuple[Any, dict[str, Any]]:
    """The value of a query, document or incident, and its URN."""
    field, key = wanted.cell.field, wanted.cell.key
    if wanted.item is not None:
        value = _ITEM_VALUES[field](items[wanted.item], key)
        if value is not None:
            return value, {"item": wanted.item}
    # Also if the one that was known is gone: what is put back after it was deleted is another.
    where, listed = _LISTS[field]
    for each in whole_list(holder, where, listed, _MOST):
        value = _ITEM_VALUES[field](each, key)
        if value is not None:
            return value, {"item": need(each, "urn", str)}
    return None, {"item": wanted.item}


_LISTS: Final[Mapping[str, tuple[str, str]]] = {
    "queries": ("listQueries", "queries"),
    "documents": ("relatedDocuments", "documents"),
    "incidents": ("incidents", "incidents"),
}


def _query_value(item: Answer, title: str | None) -> Any:
    properties = inside(item, "properties")
    if maybe(properties, "name", str) != title:
        return None
    query = {
        "sql": need(need(properties, "statement", dict), "value", str),
        "description": maybe(properties, "description", str),
    }
    return {name: text for name, text in query.items() if text}


def _document_value(item: Answer, title: str | None) -> str | None:
    info = inside(item, "info")
    if maybe(item, "exists", bool) is False or maybe(info, "title", str) != title:
        return None
    return need(need(info, "contents", dict), "text", str)


def _incident_value(item: Answer, title: str | None) -> str | None:
    if maybe(item, "title", str) != title or maybe(inside(item, "status"), "state", str) != "ACTIVE":
        return None
    return maybe(item, "description", str) or ""


_ITEM_VALUES: Final[Mapping[str, Callable[[Answer, str | None], Any]]] = {
    "queries": _query_value,
    "documents": _document_value,
    "incidents": _incident_value,
}


def is_same(cell: Cell, one: Any, other: Any, under: Mapping[str, Any] | None) -> bool:
    """Whether two values are the same as DataHub keeps them: a property has numbers or texts and nothing else."""
    if cell.field == "properties" and one is not None and other is not None:
        known = Property((under or {}).get("type"), True)
        return known.written(one) == known.written(other)
    return same_value(one, other)
