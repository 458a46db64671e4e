"""HOW is a value written in DataHub? By one mutation for each field of an entity, and what it needs is made first.

The caller has compared the current values: nothing is compared here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

from onrecord.catalog.datahub.answers import Answer, need
from onrecord.catalog.datahub.client import DatahubClient, Refused
from onrecord.catalog.datahub.current_values import Place
from onrecord.catalog.datahub.properties import Property, definition_for
from onrecord.catalog.datahub.urns import key_of, key_urn
from onrecord.catalog.targets import CurrentValue
from onrecord.model.edits import Cell

_DOCUMENT: Final = "urn:li:document:"
#: The fields whose values are things of their own, which are made and deleted.
ITEMS: Final = frozenset({"queries", "documents", "incidents"})


class Put(NamedTuple):
    """A value to write at a place, and the one `now` there; `made` is the URN of an item to create for it."""

    cell: Cell
    place: Place
    value: Any
    now: CurrentValue
    made: str | None = None

    @property
    def item(self) -> str | None:
        """The URN of the item that is there, or was there last."""
        under: Mapping[str, Any] = self.now.under or {}
        return under.get("item")


def put(client: DatahubClient, puts: Sequence[Put]) -> str | None:
    """Write values of one field of one entity, None for nothing. Returns the URN of the thing that was made, if one was."""
    return _PUTS[puts[0].cell.field](client, puts)


def prepare(client: DatahubClient, puts: Sequence[Put]) -> None:
    """Make the tags, terms and properties that some values need and that are not there yet."""
    for each in puts:
        field = each.cell.field
        if each.value is not None and (field in _CREATED or (field == "properties" and _type(each) is None)):
            _ensure(client, each)


def new_item(put: Put) -> str | None:
    """The URN that a thing gets which is to be made, if we may choose it: then it is known before it is made."""
    is_new = put.cell.field == "documents" and put.value is not None and put.now.value is None
    return f"{_DOCUMENT}{uuid4()}" if is_new else None


def _changed(client: DatahubClient, name: str, input: Mapping[str, Any], **more: Any) -> Any:
    """What a mutation of one input answers, which must not be no."""
    kind, returns = _MUTATIONS[name]
    given = "".join(f", ${each}: String!" for each in more)
    passed = "".join(f", {each}: ${each}" for each in more)
    document = f"mutation onrecord($input: {kind}!{given}) {{ {name}(input: $input{passed}) {returns} }}"
    return _done(client.change(document, input=input, **more), name)


def _done(answer: Answer, name: str) -> Any:
    if not answer.get(name):
        raise Refused(f"DataHub answered that {name} was not done.")
    return answer[name]


_MUTATIONS: Final[Mapping[str, tuple[str, str]]] = {
    "updateDescription": ("DescriptionUpdateInput", ""),
    "batchAddTags": ("BatchAddTagsInput", ""),
    "batchRemoveTags": ("BatchRemoveTagsInput", ""),
    "batchAddTerms": ("BatchAddTermsInput", ""),
    "batchRemoveTerms": ("BatchRemoveTermsInput", ""),
    "createTag": ("CreateTagInput", ""),
    "createGlossaryTerm": ("CreateGlossaryEntityInput", ""),
    "addLink": ("AddLinkInput", ""),
    "updateLink": ("UpdateLinkInput", ""),
    "removeLink": ("RemoveLinkInput", ""),
    "createStructuredProperty": ("CreateStructuredPropertyInput", "{ urn }"),
    "upsertStructuredProperties": (
        "UpsertStructuredPropertiesInput",
        "{ properties { structuredProperty { urn } } }",
    ),
    "removeStructuredProperties": (
        "RemoveStructuredPropertiesInput",
        "{ properties { structuredProperty { urn } } }",
    ),
    "createQuery": ("CreateQueryInput", "{ urn }"),
    "updateQuery": ("UpdateQueryInput", "{ urn }"),
    "createDocument": ("CreateDocumentInput", ""),
    "updateDocumentContents": ("UpdateDocumentContentsInput", ""),
    "raiseIncident": ("RaiseIncidentInput", ""),
    "updateIncident": ("UpdateIncidentInput", ""),
    "updateIncidentStatus": ("IncidentStatusInput", ""),
}


def _delete(client: DatahubClient, name: str, urn: str | None) -> None:
    answer = client.change(f"mutation onrecord($urn: String!) {{ {name}(urn: $urn) }}", urn=urn)
    _done(answer, name)


def _ensure(client: DatahubClient, put: Put) -> None:
    """Make a tag, term or property unless it is there, also if someone else was faster."""
    field, urn = put.cell.field, key_urn(put.cell)
    if _exists(client, urn):
        return
    name = key_of(field, urn)
    try:
        if field in _CREATED:
            _changed(client, _CREATED[field], {"id": name, "name": name})
        else:
            kinds = [f"urn:li:entityType:datahub.{kind}" for kind in ("dataset", "schemaField")]
            known = {"id": name, "qualifiedName": name, "displayName": name, "entityTypes": kinds}
            _changed(client, "createStructuredProperty", known | definition_for(put.value))
    except Refused:
        if not _exists(client, urn):
            raise


_CREATED: Final = {"tags": "createTag", "terms": "createGlossaryTerm"}


def _type(put: Put) -> str | None:
    """The type of the values of a property, as it was when it was looked at."""
    under: Mapping[str, Any] = put.now.under or {}
    return under.get("type")


def _exists(client: DatahubClient, urn: str) -> bool:
    answer = client.read("query onrecordExists($urn: String!) { entityExists(urn: $urn) }", urn=urn)
    return need(answer, "entityExists", bool)


def _put_description(client: DatahubClient, puts: Sequence[Put]) -> None:
    for each in puts:
        # An empty text lets what was ingested show through; there is no way to have none.
        _changed(client, "updateDescription", {"description": each.value or "", **each.place.resource})


def _put_names(add: str, remove: str, listed: str) -> Callable[[DatahubClient, Sequence[Put]], None]:
    def write(client: DatahubClient, puts: Sequence[Put]) -> None:
        resources = [puts[0].place.resource]
        added = [key_urn(each.cell) for each in puts if each.value]
        removed = [key_urn(each.cell) for each in puts if not each.value]
        for mutation, urns in ((add, added), (remove, removed)):
            if urns:
                _changed(client, mutation, {listed: urns, "resources": resources})

    return write


def _put_links(client: DatahubClient, puts: Sequence[Put]) -> None:
    for each in puts:
        url, resource = each.cell.key, {"resourceUrn": each.place.dataset}
        if each.value is None:
            _changed(client, "removeLink", {"linkUrl": url, "label": each.now.value, **resource})
        elif each.now.value is None:
            _changed(client, "addLink", {"linkUrl": url, "label": each.value, **resource})
        else:
            known = {"currentUrl": url, "currentLabel": each.now.value}
            _changed(client, "updateLink", {**known, "linkUrl": url, "label": each.value, **resource})


def _put_properties(client: DatahubClient, puts: Sequence[Put]) -> None:
    asset = {"assetUrn": puts[0].place.urn}
    written = [
        {
            "structuredPropertyUrn": key_urn(each.cell),
            "values": Property(_type(each), True).written(each.value),
        }
        for each in puts
        if each.value is not None
    ]
    if written:
        _changed(client, "upsertStructuredProperties", {**asset, "structuredPropertyInputParams": written})
    if removed := [key_urn(each.cell) for each in puts if each.value is None]:
        _changed(client, "removeStructuredProperties", {**asset, "structuredPropertyUrns": removed})


def _put_query(client: DatahubClient, puts: Sequence[Put]) -> str | None:
    [each] = puts
    if each.value is None:
        _delete(client, "deleteQuery", each.item)
        return None
    properties = {
        "name": each.cell.key,
        "description": each.value.get("description", ""),
        "statement": {"value": each.value["sql"], "language": "SQL"},
    }
    if each.now.value is not None:
        _changed(client, "updateQuery", {"properties": properties}, urn=each.item)
        return None
    subjects = [{"datasetUrn": each.place.dataset}]
    made = _changed(client, "createQuery", {"properties": properties, "subjects": subjects})
    return need(made, "urn", str)


def _put_document(client: DatahubClient, puts: Sequence[Put]) -> str | None:
    [each] = puts
    if each.value is None:
        _delete(client, "deleteDocument", each.item)
        return None
    contents = {"text": each.value}
    if each.now.value is not None:
        _changed(client, "updateDocumentContents", {"urn": each.item, "contents": contents})
        return None
    made = each.made or new_item(each) or ""
    new = {"id": made.removeprefix(_DOCUMENT), "title": each.cell.key, "contents": contents}
    _changed(client, "createDocument", {**new, "state": "PUBLISHED", "relatedAssets": [each.place.dataset]})
    return made


def _put_incident(client: DatahubClient, puts: Sequence[Put]) -> str | None:
    [each] = puts
    if each.value is None:
        # DataHub forgets no incident.
        _changed(client, "updateIncidentStatus", {"state": "RESOLVED"}, urn=each.item)
    elif each.item is not None:
        update = {"title": each.cell.key, "description": each.value, "status": {"state": "ACTIVE"}}
        _changed(client, "updateIncident", update, urn=each.item)
    else:
        new = {"title": each.cell.key, "description": each.value, "resourceUrn": each.place.urn}
        return str(_changed(client, "raiseIncident", {"type": "OPERATIONAL", **new}))
    return None


_PUTS: Final[Mapping[str, Callable[[DatahubClient, Sequence[Put]], str | None]]] = {
    "description": _put_description,
    "tags": _put_names("batchAddTags", "batchRemoveTags", "tagUrns"),
    "terms": _put_names("batchAddTerms", "batchRemoveTerms", "termUrns"),
    "links": _put_links,
    "properties": _put_properties,
    "queries": _put_query,
    "documents": _put_document,
    "incidents": _put_incident,
}
