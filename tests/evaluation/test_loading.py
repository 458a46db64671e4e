"""WHAT becomes of a document? Each part of it in its field, and nothing in it that stops a measurement."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import Caller
from onrecord.evaluation.data import EvalDocument
from onrecord.evaluation.loading import datasource_of, memory_of
from onrecord.model.limits import CONTENT_BYTES, ENTITIES
from onrecord.model.request import checked
from onrecord.model.rules import Reference
from onrecord.model.unset import UNSET
from onrecord.remember.remember import Remember
from onrecord.text.names import datasources_in

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = Caller(tenant="acme", user="ann")

texts = st.text(st.characters(exclude_categories=()), max_size=50)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


def told(meta: dict[str, Any], text: str = "x") -> tuple[dict[str, Any], Counter[str]]:
    notices: Counter[str] = Counter()
    return memory_of(EvalDocument("1", text, meta), NOW, notices), notices


@given(
    texts.filter(str.strip), st.dictionaries(st.sampled_from(["entities", "date", "role"]) | texts, values)
)
def test_whatever_a_document_holds_can_be_remembered(text: str, meta: dict[str, Any]) -> None:
    fields, _ = told(meta, text)
    if fields["content"].strip():
        checked(Remember(**fields), ANN)


@given(texts)
def test_a_database_is_the_datasource_that_a_document_is_about(database: str) -> None:
    (name,) = datasource_of(EvalDocument("1", "x", {"db": database}))
    assert datasources_in([Reference()(name)]) == (name,)
    assert datasource_of(EvalDocument("1", "x", {"db": 7})) == []


@pytest.mark.parametrize(
    ("date", "read"),
    [
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        ("2023/04/10 (Mon) 23:07", datetime(2023, 4, 10, 23, 7, tzinfo=UTC)),
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2027-01-01", UNSET),
        ("some day", UNSET),
        (20230508, UNSET),
        (None, UNSET),
    ],
)
def test_a_date_that_is_past_says_since_when_it_is_true(date: Any, read: object) -> None:
    fields, _ = told({"date": date, "speaker": "Ann"})
    assert fields["valid_from"] == read
    assert fields["metadata"] == {"date": date, "speaker": "Ann"}


def test_entities_become_references_each_once() -> None:
    fields, notices = told(
        {"entities": ["Ann  Lee", "memory:7", "", "Ann Lee", "a\x07b", 12], "role": "user"}
    )
    assert fields["entities"] == ["thing:Ann Lee", "thing:memory:7", "thing:12"]
    assert fields["metadata"] == {"role": "user"}
    assert notices == {"Entities that cannot be references, left out": 1}


def test_more_entities_than_a_memory_may_have_are_counted() -> None:
    fields, notices = told({"entities": [f"name {number}" for number in range(ENTITIES + 3)]})
    assert len(fields["entities"]) == ENTITIES
    assert list(notices.values()) == [3]


def test_a_long_text_is_cut_at_a_whole_character() -> None:
    fields, notices = told({}, "é" * CONTENT_BYTES)
    assert fields["content"] == "é" * (CONTENT_BYTES // 2)
    assert list(notices.values()) == [1]


def test_metadata_beyond_the_limits_is_left_out() -> None:
    fields, notices = told({"triples": ["x" * 70_000]})
    assert fields["metadata"] == {}
    assert list(notices.values()) == [1]
