"""DOES what is written down fit its schema and come back the same? Every request and every answer of the table."""

import json
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from onrecord.features import OPERATIONS
from onrecord.model import rules
from onrecord.model.request import request_fields
from onrecord.model.schema import Definitions, input_schema, output_schema, rule_schema
from onrecord.model.unset import Unset
from onrecord.model.wire import from_json, to_json
from onrecord.operation import Operation
from tests.soak import tries

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
TIMES = st.datetimes(timezones=st.just(UTC))
each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that an answer has."""
    if is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        parts = {each.name: values(hints[each.name]) for each in fields(hint) if each.name != "place"}
        return st.builds(hint, **parts)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        if inner[1:] == (...,):
            return st.lists(values(inner[0]), max_size=2).map(tuple)
        return st.tuples(*map(values, inner))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(st.text(), values(inner[1]), max_size=2)
    if inner:
        return st.one_of(*map(values, inner))
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(),
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        datetime: TIMES,
        type(None): st.none(),
        Any: JSON,
    }
    return plain[hint]


@cache
def announced(answer: type) -> Draft202012Validator:
    return Draft202012Validator(output_schema(answer))


@each_operation
@settings(max_examples=tries(4, soaking=40))
@given(data=st.data())
def test_an_answer_fits_its_schema_and_comes_back_the_same(operation: Operation, data: st.DataObject) -> None:
    answer = data.draw(values(operation.answer))
    written = json.loads(json.dumps(to_json(answer)))
    announced(operation.answer).validate(written)
    assert from_json(operation.answer, written) == answer


@each_operation
def test_the_schema_of_a_request_is_sound_and_knows_its_fields(operation: Operation) -> None:
    for exact in (False, True):
        schema = input_schema(operation.request, exact=exact)
        Draft202012Validator.check_schema(schema)
        asked = request_fields(operation.request)
        assert list(schema["properties"]) == [each.name for each in asked]
        assert schema.get("required", []) == [each.name for each in asked if each.default is MISSING]
        assert schema["additionalProperties"] is False


@each_operation
def test_the_defaults_of_a_request_fit_its_schema(operation: Operation) -> None:
    schema = input_schema(operation.request, exact=True)
    for each in request_fields(operation.request):
        if each.default is not MISSING and not isinstance(each.default, Unset):
            value = list(each.default) if isinstance(each.default, tuple) else each.default
            Draft202012Validator(schema["properties"][each.name]).validate(value)


def test_fields_can_be_left_out_of_a_schema() -> None:
    schema = input_schema(OPERATIONS[0].request, without=("content", "dedupe"))
    assert "content" not in schema["properties"]
    assert "required" not in schema


HOSTILE = st.one_of(
    JSON,
    st.floats(0, 1),
    TIMES.map(datetime.isoformat),
    st.sampled_from(["fact", "1", "#7", " ", "a\nb", "\0"]),
)
PERMISSIONS = {
    repr(each.metadata["rule"]): each.metadata["rule"]
    for operation in OPERATIONS
    for each in request_fields(operation.request)
}


EXACT = {name: Draft202012Validator(rule_schema(rule, exact=True)) for name, rule in PERMISSIONS.items()}


@pytest.mark.parametrize("rule", PERMISSIONS.values(), ids=lambda rule: type(rule).__name__)
@given(value=HOSTILE)
def test_what_fits_the_exact_schema_of_a_field_is_taken_by_its_rule(rule: rules.Rule, value: Any) -> None:
    if isinstance(getattr(rule, "rule", rule), rules.Timestamp | rules.SystemGrant | rules.Json):
        return  # These say more than a schema can: which dates there are, what stands behind a sign, how deep it goes.
    if isinstance(getattr(rule, "each", None), rules.SystemGrant):
        return
    if EXACT[repr(rule)].is_valid(value) and not _is_whole(value):
        rule(value)


def _is_whole(value: Any) -> bool:
    """JSON Schema calls 1.0 a whole number; a rule does not."""
    return isinstance(value, float) and value.is_integer()


def test_two_answers_of_one_name_are_not_taken_for_each_other() -> None:
    definitions = Definitions()
    definitions.refer(type("Note", (), {"__dataclass_fields__": {}, "__doc__": ""}))
    with pytest.raises(ValueError, match="Two answer classes are called Note"):
        definitions.refer(type("Note", (), {"__dataclass_fields__": {}, "__doc__": ""}))


def test_an_answer_of_a_newer_server_is_read_as_far_as_it_is_known() -> None:
    from onrecord.remember.forget import Forgotten

    written = {"id": "1", "versions": 1, "relations": 0, "references": 0, "moons": 3}
    assert from_json(Forgotten, written) == Forgotten(id="1", versions=1, relations=0, references=0)
    with pytest.raises(ValueError, match="versions is missing"):
        from_json(Forgotten, {"id": "1"})
    with pytest.raises(ValueError, match="must be Forgotten, which is an object, not a list"):
        from_json(Forgotten, ["1"])
