"""A DataHub for tests: a loopback server that validates and executes our documents over the types of its schema.

It keeps what DataHub keeps, apart in what was ingested and what people wrote. What it does wrong is scripted: answers that
fail, hang, lie or come too late, mutations that do half, and people who edit in between.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from graphql import (
    GraphQLError,
    GraphQLSchema,
    build_schema,
    execute_sync,
    get_operation_ast,
    parse,
    validate,
)
from graphql.language import FieldNode

TOKEN = "datahub-token-3f9c1b7e"
_SCHEMA = Path(__file__).with_name("datahub_schema.graphql")
_FIELD_URN = re.compile(r"urn:li:schemaField:\((urn:li:dataset:\(.*\)),([^()]+)\)")
_TYPES = {
    "dataset": "Dataset",
    "dataJob": "DataJob",
    "query": "QueryEntity",
    "document": "Document",
    "incident": "Incident",
}


def dataset_urn(name: str, platform: str = "snowflake", env: str = "PROD") -> str:
    return f"urn:li:dataset:(urn:li:dataPlatform:{platform},{name},{env})"


@dataclass
class State:
    """Everything that a DataHub keeps."""

    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, list[str]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    terms: dict[str, str] = field(default_factory=dict)
    properties: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: By the URN of a dataset or field, then by that of the property.
    values: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    incidents: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class _Event:
    """Something that happens at the nth request of a kind."""

    wanted: Callable[[str], bool]
    nth: int
    times: int
    happens: Callable[[Callable[[], bytes]], tuple[int, Mapping[str, str], bytes]]
    seen: int = 0

    def is_due(self, name: str) -> bool:
        if not self.wanted(name):
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


class Datahub:
    """The state, what happens when, and the requests that came: the names of their first fields."""

    def __init__(self, *, has_replacement: bool = True) -> None:
        self.state = State()
        self.requests: list[str] = []
        self.unlisted: set[str] = set()
        self.half: str | None = None
        #: How many reads after a write still see what was there before it.
        self.lag = 0
        self.page = 0
        self._before: tuple[State, int] | None = None
        self._events: list[_Event] = []
        self._lock = Lock()
        self._numbers = count(1)
        self.schema = _schema(has_replacement)
        self.closing = Event()
        self.url = ""

    # What a test arranges.

    def add(self, name: str, platform: str = "snowflake", env: str = "PROD", **told: Any) -> str:
        """A dataset; fields are given as `path: type` or `path: {type, description, tags, terms, key}`."""
        urn = dataset_urn(name, platform, env)
        fields = {
            path: {"type": each} if isinstance(each, str) else each
            for path, each in told.pop("fields", {"id": "NUMBER"}).items()
        }
        known = {
            "description": None, "edited": None, "tags": [], "terms": [], "links": [], "upstream": [],
            "deprecation": None, "removed": False, "exists": True, "kinds": [], "edits": {},
        }  # fmt: skip
        self.state.datasets[urn] = {**known, "name": name, "platform": platform, "fields": fields, **told}
        return urn

    def fail(
        self, status: int, on: str = "", *, nth: int = 1, times: int = 1, done: bool = False, **headers: str
    ) -> None:
        """Answer with an HTTP status; `done` if the request is done all the same."""

        def happens(perform: Callable[[], bytes]) -> tuple[int, Mapping[str, str], bytes]:
            if done:
                perform()
            return status, headers, f"no luck, {TOKEN}".encode()

        self._on(on, nth, times, happens)

    def answer(self, body: bytes, on: str = "", *, nth: int = 1, times: int = 1) -> None:
        """Answer with this instead."""
        self._on(on, nth, times, lambda perform: (200, {}, body))

    def hang(self, on: str = "", *, nth: int = 1, times: int = 1, done: bool = False) -> None:
        """Do not answer."""

        def happens(perform: Callable[[], bytes]) -> tuple[int, Mapping[str, str], bytes]:
            if done:
                perform()
            self.closing.wait(30)
            return 503, {}, b""

        self._on(on, nth, times, happens)

    def meanwhile(self, edit: Callable[[], object], on: str = "", *, nth: int = 1) -> None:
        """Someone edits just before a request is done."""

        def happens(perform: Callable[[], bytes]) -> tuple[int, Mapping[str, str], bytes]:
            edit()
            return 200, {}, perform()

        self._on(on, nth, 1, happens)

    def _on(self, on: str, nth: int, times: int, happens: Any) -> None:
        self._events.append(_Event(lambda name: re.search(on, name) is not None, nth, times, happens))

    def calm(self) -> None:
        """Nothing is scripted any more."""
        self._events.clear()
        self.half, self.lag, self._before = None, 0, None

    # What a request does.

    def serve(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        sent = json.loads(body)
        document = _parsed(sent["query"])
        operation = get_operation_ast(document)
        assert operation is not None
        names = [
            each.name.value for each in operation.selection_set.selections if isinstance(each, FieldNode)
        ]
        with self._lock:
            self.requests.append(names[0])
            due = [each for each in self._events if each.is_due(names[0])]
        perform = partial(self._performed, sent, operation.operation.value)
        return due[0].happens(perform) if due else (200, {}, perform())

    def _performed(self, sent: Mapping[str, Any], kind: str) -> bytes:
        document = _parsed(sent["query"])
        with self._lock:
            if faults := _faults(self.schema, sent["query"]):
                return json.dumps({"errors": [{"message": each} for each in faults]}).encode()
            earlier = deepcopy(self.state) if kind == "mutation" and self.lag else None
            root = _Root(self, self._seen() if kind == "query" else self.state)
            told = execute_sync(self.schema, document, root, variable_values=sent.get("variables"))
            if earlier is not None and self._before is None:
                self._before = earlier, self.lag
        return json.dumps(told.formatted).encode()

    def _seen(self) -> State:
        if self._before is None:
            return self.state
        earlier, left = self._before
        self._before = (earlier, left - 1) if left > 1 else None
        return earlier

    def number(self) -> int:
        return next(self._numbers)


@cache
def _schema(has_replacement: bool) -> GraphQLSchema:
    text = _SCHEMA.read_text(encoding="utf-8")
    return build_schema(text if has_replacement else text.replace(" replacement: Entity", ""))


@cache
def _parsed(query: str) -> Any:
    return parse(query)


@cache
def _faults(schema: GraphQLSchema, query: str) -> tuple[str, ...]:
    return tuple(each.message for each in validate(schema, _parsed(query)))


class _Root:
    """What queries and mutations do, under the names that the schema gives them."""

    def __init__(self, hub: Datahub, state: State) -> None:
        self._hub, self._state = hub, state

    def entity(self, info: Any, urn: str) -> Any:
        return self._shown(urn)

    def entities(self, info: Any, urns: list[str], **flags: Any) -> Any:
        return [self._shown(urn) for urn in urns]

    def entityExists(self, info: Any, urn: str) -> bool:  # noqa: N802
        state = self._state
        return urn in state.tags or urn in state.terms or urn in state.properties or urn in state.datasets

    def structuredProperty(self, info: Any, urn: str) -> Any:  # noqa: N802
        return self._property(urn) if urn in self._state.properties else None

    def scrollAcrossEntities(self, info: Any, input: dict[str, Any]) -> Any:  # noqa: N802
        assert input["types"] == ["DATASET"]
        datasets = self._state.datasets
        listed = [
            urn for urn in sorted(datasets) if urn not in self._hub.unlisted and not datasets[urn]["removed"]
        ]
        at, most = int(input.get("scrollId") or 0), self._hub.page or input.get("count") or 10
        page = listed[at : at + most]
        following = str(at + most) if at + most < len(listed) else None
        found = [{"entity": {"__typename": "Dataset", "urn": urn}} for urn in page]
        return {"nextScrollId": following, "count": len(page), "total": len(listed), "searchResults": found}

    def listQueries(self, info: Any, input: dict[str, Any]) -> Any:  # noqa: N802
        found = [
            self._shown(urn)
            for urn, each in self._state.queries.items()
            if input["datasetUrn"] in each["datasets"]
        ]
        return _paged("queries", found, input)

    def _shown(self, urn: str) -> Any:
        kind = _TYPES.get(urn.split(":")[2])
        if kind == "Dataset":
            return self._dataset(urn)
        if found := _FIELD_URN.fullmatch(urn):
            shown = {
                "__typename": "SchemaFieldEntity",
                "urn": urn,
                "type": "SCHEMA_FIELD",
                "fieldPath": found[2],
            }
            return shown | {
                "structuredProperties": self._values(urn),
                "incidents": partial(self._incidents, urn),
            }
        if kind == "DataJob":
            return {
                "__typename": kind,
                "urn": urn,
                "lineage": partial(self._lineage, self._state.jobs.get(urn, [])),
            }
        if kind == "QueryEntity":
            return self._query(urn)
        if kind == "Document":
            return self._document(urn)
        if kind == "Incident":
            return self._incident(urn)
        raise GraphQLError(f"no entity of this kind: {urn}")

    def _dataset(self, urn: str) -> Any:
        held = self._state.datasets.get(urn)
        if held is None:
            return {"__typename": "Dataset", "urn": urn, "type": "DATASET", "exists": False, "platform": {"name": "?"},
                    "lineage": partial(self._lineage, []), "incidents": partial(self._incidents, urn),
                    "relatedDocuments": partial(self._documents, urn)}  # fmt: skip
        if held.get("broken"):
            raise GraphQLError(f"an aspect of {urn} cannot be read")
        shown = {
            "__typename": "Dataset",
            "urn": urn,
            "type": "DATASET",
            "exists": held["exists"],
            "status": {"removed": held["removed"]},
            "platform": {"name": held["platform"]},
            "properties": {"name": held["name"], "description": held["description"]},
            "editableProperties": {"description": held["edited"]},
            "subTypes": {"typeNames": held["kinds"]},
            "deprecation": held["deprecation"] and self._deprecation(held["deprecation"]),
            "schemaMetadata": {"fields": [self._field(path, each) for path, each in held["fields"].items()]},
            "editableSchemaMetadata": {
                "editableSchemaFieldInfo": [self._field(path, each) for path, each in held["edits"].items()]
            },
            "institutionalMemory": {
                "elements": [{"url": url, "label": label} for url, label in held["links"]]
            },
            "structuredProperties": self._values(urn),
            "lineage": partial(self._lineage, held["upstream"]),
            "relatedDocuments": partial(self._documents, urn),
            "incidents": partial(self._incidents, urn),
        }
        return shown | _tagged(held)

    def _deprecation(self, told: Mapping[str, Any]) -> Any:
        replacement = told.get("replacement")
        return {**told, "deprecated": True, "replacement": replacement and self._shown(replacement)}

    def _field(self, path: str, told: Mapping[str, Any]) -> Any:
        shown = {
            "fieldPath": path,
            "nativeDataType": told.get("type"),
            "description": told.get("description"),
        }
        return shown | {"isPartOfKey": told.get("key", False)} | _tagged(told)

    def _values(self, urn: str) -> Any:
        held = self._state.values.get(urn, {})
        return {"properties": [{"structuredProperty": self._property(each), "values": [
            {"__typename": "StringValue", "stringValue": value} if isinstance(value, str)
            else {"__typename": "NumberValue", "numberValue": value} for value in values
        ]} for each, values in held.items()]}  # fmt: skip

    def _property(self, urn: str) -> Any:
        held = self._state.properties[urn]
        definition = {"valueType": {"urn": held["valueType"]}, "cardinality": held.get("cardinality")}
        return {
            "__typename": "StructuredPropertyEntity",
            "urn": urn,
            "exists": True,
            "definition": definition,
        }

    def _lineage(self, upstream: Sequence[str], info: Any, input: dict[str, Any]) -> Any:
        assert input["direction"] == "UPSTREAM"
        found = [{"type": "DownstreamOf", "entity": self._shown(urn), "degree": 1} for urn in upstream]
        return {"start": 0, "count": len(found), "total": len(found), "relationships": found}

    def _documents(self, urn: str, info: Any, input: dict[str, Any]) -> Any:
        found = [
            self._document(each) for each, held in self._state.documents.items() if urn in held["assets"]
        ]
        return _paged("documents", found, input)

    def _incidents(self, urn: str, info: Any, state: str, **page: Any) -> Any:
        held = self._state.incidents
        found = [
            self._incident(each) for each in held if held[each]["on"] == urn and held[each]["state"] == state
        ]
        return _paged("incidents", found, page)

    def _query(self, urn: str) -> Any:
        held = self._state.queries.get(urn)
        properties = held and {
            "name": held["name"],
            "description": held["description"],
            "statement": {"value": held["sql"], "language": "SQL"},
        }
        return {"__typename": "QueryEntity", "urn": urn, "properties": properties}

    def _document(self, urn: str) -> Any:
        held = self._state.documents.get(urn)
        info = held and {"title": held["title"], "contents": {"text": held["text"]}}
        return {"__typename": "Document", "urn": urn, "exists": held is not None, "info": info}

    def _incident(self, urn: str) -> Any:
        held = self._state.incidents[urn]
        shown = {
            "__typename": "Incident",
            "urn": urn,
            "title": held["title"],
            "description": held["description"],
        }
        return shown | {"incidentType": "OPERATIONAL", "status": {"state": held["state"]}}

    # Mutations.

    def updateDescription(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        if (path := input.get("subResource")) is None:
            self._held(input)["edited"] = input["description"]
        else:
            self._edited(input, path)["description"] = input["description"]
        return True

    def batchAddTags(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        return self._name("tags", self._state.tags, input["tagUrns"], input["resources"])

    def batchRemoveTags(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        return self._unname("tags", input["tagUrns"], input["resources"])

    def batchAddTerms(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        return self._name("terms", self._state.terms, input["termUrns"], input["resources"])

    def batchRemoveTerms(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        return self._unname("terms", input["termUrns"], input["resources"])

    def _name(self, what: str, known: Mapping[str, str], urns: list[str], resources: list[Any]) -> bool:
        if missing := [urn for urn in urns if urn not in known]:
            raise GraphQLError(f"Failed to add {what}: {missing[0]} does not exist")
        for number, urn in enumerate(urns):
            for resource in resources:
                held = self._holder(resource)
                held.setdefault(what, [])
                if urn not in held[what]:
                    held[what].append(urn)
            if self._hub.half == what and not number:
                raise GraphQLError("the connection to the store was lost")
        return True

    def _unname(self, what: str, urns: list[str], resources: list[Any]) -> bool:
        for resource in resources:
            held = self._holder(resource)
            held[what] = [urn for urn in held.get(what, []) if urn not in urns]
        return True

    def createTag(self, info: Any, input: dict[str, Any]) -> str:  # noqa: N802
        return self._create("urn:li:tag:", self._state.tags, input)

    def createGlossaryTerm(self, info: Any, input: dict[str, Any]) -> str:  # noqa: N802
        return self._create("urn:li:glossaryTerm:", self._state.terms, input)

    def _create(self, prefix: str, known: dict[str, str], input: dict[str, Any]) -> str:
        urn = prefix + (input.get("id") or str(self._hub.number()))
        if urn in known:
            raise GraphQLError("This already exists!")
        known[urn] = input["name"]
        return urn

    def addLink(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        links, link = self._held(input)["links"], (input["linkUrl"], input["label"])
        if link in links:
            raise GraphQLError("The link already exists")
        links.append(link)
        return True

    def updateLink(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        links = self._held(input)["links"]
        at = links.index((input["currentUrl"], input["currentLabel"]))
        links[at] = (input["linkUrl"], input["label"])
        return True

    def removeLink(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        self._held(input)["links"].remove((input["linkUrl"], input["label"]))
        return True

    def createStructuredProperty(self, info: Any, input: dict[str, Any]) -> Any:  # noqa: N802
        urn = "urn:li:structuredProperty:" + input["id"]
        if urn in self._state.properties:
            raise GraphQLError("A structured property already exists with this urn")
        self._state.properties[urn] = dict(input)
        return self._property(urn)

    def upsertStructuredProperties(self, info: Any, input: dict[str, Any]) -> Any:  # noqa: N802
        for each in input["structuredPropertyInputParams"]:
            definition = self._state.properties.get(each["structuredPropertyUrn"])
            if definition is None:
                raise GraphQLError("the property does not exist")
            values = [value.get("stringValue", value.get("numberValue")) for value in each["values"]]
            kind = float if definition["valueType"].endswith("number") else str
            if not all(isinstance(value, kind) for value in values):
                raise GraphQLError(f"the property takes {kind.__name__}")
            if len(values) > 1 and definition.get("cardinality") != "MULTIPLE":
                raise GraphQLError("the property takes one value")
            self._state.values.setdefault(input["assetUrn"], {})[each["structuredPropertyUrn"]] = values
        return self._values(input["assetUrn"])

    def removeStructuredProperties(self, info: Any, input: dict[str, Any]) -> Any:  # noqa: N802
        held = self._state.values.setdefault(input["assetUrn"], {})
        for urn in input["structuredPropertyUrns"]:
            held.pop(urn, None)
        return self._values(input["assetUrn"])

    def createQuery(self, info: Any, input: dict[str, Any]) -> Any:  # noqa: N802
        urn = f"urn:li:query:{self._hub.number()}"
        told, subjects = input["properties"], [each["datasetUrn"] for each in input["subjects"]]
        self._state.queries[urn] = {"datasets": subjects, **_query_of(told)}
        return self._query(urn)

    def updateQuery(self, info: Any, urn: str, input: dict[str, Any]) -> Any:  # noqa: N802
        self._state.queries[urn] |= _query_of(input["properties"])
        return self._query(urn)

    def deleteQuery(self, info: Any, urn: str) -> bool:  # noqa: N802
        return self._state.queries.pop(urn, None) is not None

    def createDocument(self, info: Any, input: dict[str, Any]) -> str:  # noqa: N802
        urn = f"urn:li:document:{input['id']}"
        if urn in self._state.documents:
            raise GraphQLError("Document with this id already exists")
        told = {"title": input["title"], "text": input["contents"]["text"], "assets": input["relatedAssets"]}
        self._state.documents[urn] = told
        return urn

    def updateDocumentContents(self, info: Any, input: dict[str, Any]) -> bool:  # noqa: N802
        self._state.documents[input["urn"]]["text"] = input["contents"]["text"]
        return True

    def deleteDocument(self, info: Any, urn: str) -> bool:  # noqa: N802
        return self._state.documents.pop(urn, None) is not None

    def raiseIncident(self, info: Any, input: dict[str, Any]) -> str:  # noqa: N802
        urn = f"urn:li:incident:{self._hub.number()}"
        told = {"title": input["title"], "description": input["description"], "on": input["resourceUrn"]}
        self._state.incidents[urn] = told | {"state": "ACTIVE"}
        return urn

    def updateIncident(self, info: Any, urn: str, input: dict[str, Any]) -> bool:  # noqa: N802
        told = {
            "title": input["title"],
            "description": input["description"],
            "state": input["status"]["state"],
        }
        self._state.incidents[urn] |= told
        return True

    def updateIncidentStatus(self, info: Any, urn: str, input: dict[str, Any]) -> bool:  # noqa: N802
        self._state.incidents[urn]["state"] = input["state"]
        return True

    def _held(self, input: Mapping[str, Any]) -> dict[str, Any]:
        held = self._state.datasets.get(input["resourceUrn"])
        if held is None:
            raise GraphQLError(f"{input['resourceUrn']} does not exist")
        return held

    def _edited(self, input: Mapping[str, Any], path: str) -> dict[str, Any]:
        held = self._held(input)
        if path not in held["fields"]:
            raise GraphQLError(f"Field {path} does not exist in the dataset")
        edited: dict[str, Any] = held["edits"].setdefault(path, {})
        return edited

    def _holder(self, resource: Mapping[str, Any]) -> dict[str, Any]:
        path = resource.get("subResource")
        return self._held(resource) if path is None else self._edited(resource, path)


def _query_of(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": told["name"], "description": told.get("description"), "sql": told["statement"]["value"]}


def _tagged(held: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tags": {"tags": [{"tag": {"urn": urn}} for urn in held.get("tags", [])]},
        "glossaryTerms": {"terms": [{"term": {"urn": urn}} for urn in held.get("terms", [])]},
    }


def _paged(what: str, found: list[Any], page: Mapping[str, Any]) -> dict[str, Any]:
    start, size = page.get("start") or 0, page.get("count") or 10
    return {"start": start, "count": size, "total": len(found), what: found[start : start + size]}


@contextmanager
def serving(hub: Datahub) -> Iterator[Datahub]:
    """The server, on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Authorization") != f"Bearer {TOKEN}" or self.path != "/api/graphql":
                status, headers, answer = 401, {}, b"who are you?"
            else:
                status, headers, answer = hub.serve(body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle(self) -> None:
            # Whoever asked may not have waited.
            with suppress(ConnectionError):
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=partial(server.serve_forever, 0.05), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
