"""DOES the server do what its description says? The document itself, and a fuzzer over all of it."""

import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from onrecord.faces import TABLE
from onrecord.features import OPERATIONS
from onrecord.surfaces.rest.declared import of_faces
from onrecord.surfaces.rest.openapi import document
from tests.soak import tries

load_all_checks()
DOCUMENT = document()
CHECKED = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    ]
)
REFUSED = CHECKS.get_by_names(["negative_data_rejection"])
OPERATED = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
#: What no schema can say, and a request that fits its schema may be told: how fields go together, which names there
OF_CHECKS = ("/v1/memories/{id}/checks", "/v1/check")
#: are, what a mark looks like, what is inside a text.
EXPLAINED = re.compile(
    r"is required|is not a (page mark|recipe|persona|system)|must not be before|must be another memory|from inside its"
    r"|is given by If-Match|must (not )?be in the future|everything in it is erased|only the operator of the store"
    r"|must be the name of a system|identifier segment|letters, digits|is not a way of searching|must not contain|is not base64"
    r"|must be relative|must not name|between two slashes|must not be empty|are not known|removes the order"
    r"|none is configured|is not an export|is not JSON|give either a path|is the new name of one column|waits for a new name"
    r"|is not in the catalog|could not be read as SQL|contains a NUL"
    r"|is not the conversation that|there is no artifact|not found|must be from 1 to|is the same user"
)
#: By path and method, the face whose words a route speaks.
FACE_OF = {
    (route.path.replace(":path", ""), route.method.lower()): http.face
    for http in of_faces()
    for route in http.routes
}
#: The arbiter runtime takes what it can: it passes over fields that it does not know, and counts as usual instead of a
#: limit that is none. So what its description does not speak of need not be refused.
LENIENT = ("arbiter",)
OWN = [each for each in OPERATED if each not in FACE_OF]
each_operation = pytest.mark.parametrize(("path", "method"), OPERATED, ids=lambda part: str(part))
few = settings(
    max_examples=tries(2, soaking=20),
    deadline=None,
    phases=[Phase.generate],
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@schemathesis.serializer("application/jsonl")
def lines(context: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


#: No text that the fuzzer sends is longer.
LONG = 4_000


def _without_long_limits(schema: Any) -> Any:
    """A text of 65,536 characters is never sent, and yet the fuzzer works for seconds on what such a limit means."""
    if isinstance(schema, dict):
        return {
            name: _without_long_limits(each)
            for name, each in schema.items()
            if name != "maxLength" or each <= LONG
        }
    return [_without_long_limits(each) for each in schema] if isinstance(schema, list) else schema


def _as_sent(told: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_long_limits(each) if name == "requestBody" else each for name, each in told.items()
    }


@pytest.fixture(scope="module")
def api(fuzzed: Any) -> Any:
    paths = {
        path: {method: _as_sent(told) for method, told in methods.items()}
        for path, methods in DOCUMENT["paths"].items()
    }
    schema = schemathesis.openapi.from_dict(DOCUMENT | {"paths": paths})
    schema.config.update(base_url=fuzzed.url)
    return schema


def asked(api: Any, path: str, method: str, mode: GenerationMode, data: st.DataObject) -> Any:
    """A request that the fuzzer has thought of, and what was said to it."""
    case = data.draw(api[path][method.upper()].as_strategy(generation_mode=mode))
    # One key is for one request: the fuzzer sends the same for many.
    case.headers.pop("Idempotency-Key", None)
    said = case.call()
    case.validate_response(said, checks=CHECKED)
    return case, said


class TestTheServerKeepsItsWord:
    @each_operation
    @few
    @given(data=st.data())
    def test_what_fits_is_answered_and_what_is_refused_is_explained(
        self, api: Any, path: str, method: str, data: st.DataObject
    ) -> None:
        _, said = asked(api, path, method, GenerationMode.POSITIVE, data)
        # A face may say 400 of what is wrong with a field.
        assert said.status_code not in (405, 413, 415, 421), said.text
        assert said.status_code != 400 or (path, method) in FACE_OF, said.text
        if said.status_code == 422:
            for fault in said.json()["faults"]:
                # What an edit may hold depends on its field, and a check on its kind, which a schema does not tell.
                depends = "edits[" in fault["field"] or path in OF_CHECKS
                assert depends or EXPLAINED.search(fault["message"]), fault

    @each_operation
    @few
    @given(data=st.data())
    def test_what_does_not_fit_is_refused_and_never_fails(
        self, api: Any, path: str, method: str, data: st.DataObject
    ) -> None:
        if (
            not DOCUMENT["paths"][path][method].get("parameters")
            and "requestBody" not in DOCUMENT["paths"][path][method]
        ):
            return  # There is nothing that could be wrong.
        case, said = asked(api, path, method, GenerationMode.NEGATIVE, data)
        # White space around a parameter does not count, and one that is blank counts as left out.
        is_exact = all(str(each).strip() == str(each) != "" for each in (case.query or {}).values())
        # What is wrong with one of many is said in its place, and the others are saved.
        skips = isinstance(case.body, dict) and case.body.get("on_fault") == "skip"
        if is_exact and not skips and FACE_OF.get((path, method)) not in LENIENT:
            case.validate_response(said, checks=REFUSED)


class TestTheDocument:
    def test_every_operation_with_a_route_is_in_it_once(self) -> None:
        told = {(method.upper(), path) for path, method in OWN if path.startswith("/v1")}
        assert told == {
            (method, "/v1" + path)
            for method, path in (each.route.split(" ") for each in OPERATIONS if each.route)
        }
        ids = [DOCUMENT["paths"][path][method]["operationId"] for path, method in OPERATED]
        assert len(ids) == len(set(ids))

    def test_every_route_of_a_face_is_in_it(self) -> None:
        faces = [face.name for face in TABLE if face.routes]
        told = {each: DOCUMENT["paths"][each[0]][each[1]]["tags"][0] for each in OPERATED if each not in OWN}
        assert told == FACE_OF
        assert sorted(set(told.values())) == sorted(faces)

    def test_it_is_what_the_standard_calls_a_description(self) -> None:
        assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []

    def test_every_schema_in_it_is_sound_and_every_reference_leads_somewhere(self) -> None:
        for name, schema in DOCUMENT["components"]["schemas"].items():
            Draft202012Validator.check_schema(schema)
            assert re.fullmatch(r"[A-Za-z0-9.\-_]+", name)
        for reference in re.findall(r"'\$ref': '([^']+)'", str(DOCUMENT)):
            assert reference.removeprefix("#/components/schemas/") in DOCUMENT["components"]["schemas"]

    def test_every_parameter_is_described(self) -> None:
        for path, method in OPERATED:
            told = DOCUMENT["paths"][path][method]
            assert told["summary"]
            names = [each["name"] for each in told.get("parameters", ())]
            assert set(re.findall(r"\{(\w+)\}", path)) <= set(names)
            assert all(each["description"] for each in told.get("parameters", ()))

    def test_it_says_how_to_prove_who_asks_and_what_problems_look_like(self, server: Any) -> None:
        told = server.client.get("/openapi.json").json()
        assert told["openapi"].startswith("3.1")
        assert told["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
        for path, method in OWN:
            if path.startswith("/v1"):
                responses = told["paths"][path][method]["responses"]
                assert {"401", "403", "404", "422", "429", "503"} <= set(responses)
                assert "application/problem+json" in responses["422"]["content"]
