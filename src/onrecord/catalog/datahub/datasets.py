"""WHAT does DataHub know of a dataset? The documents that list and read datasets, and a model made of what they answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from onrecord.catalog.datahub.answers import Answer, each_in, inside, maybe, need, unreadable
from onrecord.catalog.datahub.client import DatahubClient, Refused
from onrecord.catalog.datahub.urns import DATASET, key_of, simple_path, table_of
from onrecord.catalog.naming import legal_names
from onrecord.model.catalog import Model, Part

#: How many URNs are listed, and datasets read, at a time; and how many there may be.
LISTED_AT_ONCE: Final = 500
READ_AT_ONCE: Final = 50
MOST_DATASETS: Final = 1_000_000
_MOST_UPSTREAM: Final = 1_000

_LISTING: Final = """
query onrecordListing($scroll: String, $count: Int!) {
  scrollAcrossEntities(input: {types: [DATASET], query: "*", scrollId: $scroll, count: $count}) {
    nextScrollId
    searchResults { entity { urn } }
  }
}"""
_PRESENCE: Final = """
query onrecordPresence($urns: [String!]!) {
  entities(urns: $urns) { urn ... on Dataset { exists status { removed } } }
}"""
_TAGGED: Final = "tags { tags { tag { urn } } } glossaryTerms { terms { term { urn } } }"
_DATASETS: Final = f"""
query onrecordDatasets($urns: [String!]!, $upstream: LineageInput!) {{
  entities(urns: $urns) {{
    urn
    ... on Dataset {{
      exists
      status {{ removed }}
      platform {{ name }}
      properties {{ description }}
      editableProperties {{ description }}
      subTypes {{ typeNames }}
      {_TAGGED}
      deprecation {{ deprecated note %s }}
      schemaMetadata {{
        fields {{ fieldPath nativeDataType description isPartOfKey {_TAGGED} }}
      }}
      editableSchemaMetadata {{
        editableSchemaFieldInfo {{ fieldPath description {_TAGGED} }}
      }}
      lineage(input: $upstream) {{
        relationships {{
          entity {{ urn ... on DataJob {{ lineage(input: $upstream) {{ relationships {{ entity {{ urn }} }} }} }} }}
        }}
      }}
    }}
  }}
}}"""
_REPLACEMENT: Final = "replacement { urn }"


def listed_urns(client: DatahubClient) -> Iterator[str]:
    """The URNs of all datasets in the search index, page by page. It lags behind: an unlisted dataset may exist."""
    scroll, seen = None, 0
    while True:
        answer = client.read(_LISTING, scroll=scroll, count=LISTED_AT_ONCE)
        page = maybe(answer, "scrollAcrossEntities", dict)
        if page is None:
            raise unreadable("the listing is missing")
        found = [need(need(each, "entity", dict), "urn", str) for each in each_in(page, "searchResults")]
        yield from (urn for urn in found if urn.startswith(DATASET))
        seen += len(found)
        following = maybe(page, "nextScrollId", str)
        if not found or following is None:
            return
        if following == scroll or seen > MOST_DATASETS:
            raise unreadable("its listing does not end")
        scroll = following


def presence(client: DatahubClient, urns: Sequence[str]) -> dict[str, bool]:
    """Whether each of some datasets exists, as far as DataHub answers that."""
    answer = client.read(_PRESENCE, urns=list(urns))
    found = {}
    for each in _entities(answer, urns):
        if (is_there := _is_there(each)) is not None:
            found[need(each, "urn", str)] = is_there
    return found


class DatasetReader:
    """Reads datasets by their URNs. Older servers do not know what replaces a deprecated one, and are not asked."""

    def __init__(self, client: DatahubClient) -> None:
        self._client = client
        self._document = _DATASETS % _REPLACEMENT

    def read(self, urns: Sequence[str]) -> list[dict[str, Any]]:
        """DataHub's records of some datasets, without those that are gone."""
        upstream = {"direction": "UPSTREAM", "start": 0, "count": _MOST_UPSTREAM}
        try:
            answer = self._client.read(self._document, urns=list(urns), upstream=upstream)
        except Refused as refusal:
            if "replacement" not in str(refusal) or _REPLACEMENT not in self._document:
                raise
            self._document = _DATASETS % ""
            return self.read(urns)
        found = list(_entities(answer, urns))
        if unclear := [need(each, "urn", str) for each in found if _is_there(each) is None]:
            raise unreadable(f"it does not say whether {unclear[0]} exists")
        return [each for each in found if _is_there(each)]


def _entities(answer: Answer, urns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The entities of an answer, which must be those that were asked for."""
    found = list(each_in(answer, "entities"))
    if {need(each, "urn", str) for each in found} != set(urns):
        raise unreadable("it left out some of what it was asked for")
    return iter(found)


def _is_there(dataset: Answer) -> bool | None:
    """Whether a dataset exists and is not removed; None if DataHub does not say."""
    exists = maybe(dataset, "exists", bool)
    if maybe(inside(dataset, "status"), "removed", bool):
        return False
    return exists


def model_from(dataset: Answer, names: Mapping[str, str]) -> Model:
    """The model that a dataset is to us; `names` are ours for the datasets that are listed."""
    urn = need(dataset, "urn", str)
    table = table_of(urn)
    if table is None:
        raise unreadable(f"{urn} is not the URN of a dataset")
    datasource, _, name = names.get(urn, table.canonical).partition(".")
    deprecation = inside(dataset, "deprecation")
    is_deprecated = maybe(deprecation, "deprecated", bool) or False
    kinds = maybe(inside(dataset, "subTypes"), "typeNames", list) or []
    details = {
        "sql_table": table.address,
        "platform": maybe(inside(dataset, "platform"), "name", str) or table.platform,
        "env": table.env,
        "terms": terms_in(dataset),
        "deprecation": _deprecation(deprecation, names) if is_deprecated else None,
    }
    return Model(
        datasource=datasource,
        name=name,
        form="view" if any("view" in str(kind).lower() for kind in kinds) else "table",
        description=_described(dataset),
        tags=tuple(tags_in(dataset)),
        state="deprecated" if is_deprecated else "present",
        parts=tuple(_parts(dataset)),
        upstream=tuple(
            sorted({_named(each, names) for each in _upstream(dataset)} - {f"{datasource}.{name}"})
        ),
        aliases=(urn,),
        details={key: value for key, value in details.items() if value},
    )


def _described(dataset: Answer) -> str | None:
    """What people wrote counts over what was ingested; an empty text is none."""
    descriptions = (
        maybe(inside(dataset, where), "description", str) for where in ("editableProperties", "properties")
    )
    return next(filter(None, descriptions), None)


def tags_in(holder: Answer) -> list[str]:
    return [
        key_of("tags", need(need(each, "tag", dict), "urn", str))
        for each in each_in(inside(holder, "tags"), "tags")
    ]


def terms_in(holder: Answer) -> list[str]:
    found = each_in(inside(holder, "glossaryTerms"), "terms")
    return [key_of("terms", need(need(each, "term", dict), "urn", str)) for each in found]


def fields_of(dataset: Answer) -> dict[str, Answer]:
    """The fields that were ingested, by their paths."""
    found = each_in(inside(dataset, "schemaMetadata"), "fields")
    return {need(each, "fieldPath", str): each for each in found}


def edited_fields_of(dataset: Answer) -> dict[str, Answer]:
    """What people wrote about fields, by their paths."""
    found = each_in(inside(dataset, "editableSchemaMetadata"), "editableSchemaFieldInfo")
    return {need(each, "fieldPath", str): each for each in found}


def _parts(dataset: Answer) -> Iterator[Part]:
    fields, edited = fields_of(dataset), edited_fields_of(dataset)
    names = legal_names(map(simple_path, fields))
    seen = set()
    for path, ingested in fields.items():
        name, own = names[simple_path(path)], edited.get(path, {})
        if name in seen:
            # A union has a field for each of its types, all with one path in words.
            continue
        seen.add(name)
        details = {
            "field_path": path if path != name else None,
            "primary_key": maybe(ingested, "isPartOfKey", bool),
            "terms": list(dict.fromkeys((*terms_in(own), *terms_in(ingested)))),
        }
        yield Part(
            name=name,
            description=maybe(own, "description", str) or maybe(ingested, "description", str) or None,
            type=maybe(ingested, "nativeDataType", str) or None,
            tags=tuple(dict.fromkeys((*tags_in(own), *tags_in(ingested)))),
            details={key: value for key, value in details.items() if value},
        )


def _upstream(holder: Answer) -> Iterator[str]:
    """The datasets that something is made from, also through a job."""
    for each in each_in(inside(holder, "lineage"), "relationships"):
        entity = inside(each, "entity")
        urn = maybe(entity, "urn", str) or ""
        if urn.startswith(DATASET):
            yield urn
        else:
            yield from _upstream(entity)


def _deprecation(deprecation: Answer, names: Mapping[str, str]) -> dict[str, str]:
    """Why it is deprecated, and what to use instead."""
    urn = maybe(inside(deprecation, "replacement"), "urn", str)
    known = {"note": maybe(deprecation, "note", str), "replacement": _named(urn, names) if urn else None}
    return {name: text for name, text in known.items() if text}


def _named(urn: str, names: Mapping[str, str]) -> str:
    """What we call something that DataHub names by its URN; the URN itself if it is no dataset."""
    table = table_of(urn)
    return names.get(urn) or (urn if table is None else table.canonical)
