"""Is the text of an entity what is to be searched, and no more, whatever the catalog holds?"""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.catalog.rendering import (
    TEXT_BYTES,
    cut,
    description_in,
    in_words,
    text_of_datasource,
    text_of_model,
    text_of_part,
)
from onrecord.model.catalog import Datasource, Join, Model, Part
from onrecord.testing.catalog_fixture import MYDB, ORDERS, columns

AMOUNT = Part(
    name="amount",
    type="DOUBLE",
    label="Order value",
    description="What was\n\tpaid",
    details={
        "sql": "gross - tax",
        "filter": "status <> 'void'",
        "format": {"type": "currency", "precision": 2},
        "allowed_aggregations": ["sum", "avg"],
        "primary_key": True,
        "sampled": "9.99, 20.00",
        "meta": {"owner": "finance"},
    },
)
HALF_A_MEGABYTE = "word " * 100_000

ODD_TEXTS = st.text() | st.sampled_from(["\ud800", "a\u2028# b", "\x00\x1b[0m", "`|`", "word " * 3_000])
ODD_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD_TEXTS | st.dates() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(ODD_TEXTS, inner, max_size=3)
        | st.sets(st.integers() | st.text(), max_size=3)
    ),
    max_leaves=8,
)
PART_DETAILS = (
    "sql",
    "filter",
    "format",
    "allowed_aggregations",
    "primary_key",
    "sampled",
    "formula",
    "params",
)
MODEL_DETAILS = ("sql_table", "sql", "source_queries", "filters", "default_time_dimension")


def details(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), ODD_VALUES)


ODD_PARTS = st.builds(
    Part,
    name=ODD_TEXTS,
    kind=st.sampled_from(["column", "measure", "aggregation"]),
    description=st.none() | ODD_TEXTS,
    label=st.none() | ODD_TEXTS,
    type=st.none() | ODD_TEXTS,
    hidden=st.booleans(),
    details=details(PART_DETAILS),
)
ODD_MODELS = st.builds(
    Model,
    datasource=ODD_TEXTS,
    name=ODD_TEXTS,
    description=st.none() | ODD_TEXTS,
    label=st.none() | ODD_TEXTS,
    parts=st.lists(ODD_PARTS, max_size=3).map(tuple),
    joins=st.lists(
        st.builds(
            Join, target=ODD_TEXTS, pairs=st.lists(st.tuples(ODD_TEXTS, ODD_TEXTS), max_size=2).map(tuple)
        ),
        max_size=2,
    ).map(tuple),
    upstream=st.lists(ODD_TEXTS, max_size=2).map(tuple),
    details=details(MODEL_DETAILS),
)


def size(text: str) -> int:
    return len(text.encode())


# What is said


def test_a_datasource_is_its_name_its_description_and_its_models() -> None:
    assert text_of_datasource(MYDB, ["orders", "customers"]) == (
        "mydb\ndescription: The shop\nmodels: customers, orders"
    )


def test_a_model_names_its_parts_and_tells_its_filters_in_full() -> None:
    model = replace(
        ORDERS,
        label="Orders",
        upstream=("raw.orders",),
        details={
            "sql_table": "public.orders",
            "filters": ["deleted = 0", "test\n= 0"],
            "meta": {"owner": "finance"},
        },
    )
    assert text_of_model(model).splitlines() == [
        "mydb.orders",
        "label: Orders",
        "description: One row per order",
        "filters: deleted = 0; test = 0",
        "table: public.orders",
        "columns: id, amount, status, customer_id, ordered_at",
        "measures: aov",
        "aggregations: weighted_score",
        "joins: customers (customer_id = id)",
        "made from: raw.orders",
    ]


def test_a_part_says_everything_that_is_known_of_it() -> None:
    assert text_of_part(ORDERS, AMOUNT).splitlines() == [
        "mydb.orders.amount",
        "column, DOUBLE, primary key",
        "label: Order value",
        "description: What was paid",
        "format: precision 2, type currency",
        "allowed aggregations: sum, avg",
        "filter: status <> 'void'",
        "sql: gross - tax",
        "values: 9.99, 20.00",
    ]


def test_a_measure_says_its_formula() -> None:
    aov = ORDERS.part("aov")
    assert aov is not None
    assert text_of_part(ORDERS, aov) == "mydb.orders.aov\nmeasure\nformula: amount:sum / *:count"


# What is not said


def test_meta_is_never_rendered_however_deep_it_lies() -> None:
    inner = {"measures": [{"formula": "amount:sum", "meta": {"owner": "finance"}}]}
    model = replace(ORDERS, details={"source_queries": [inner], "meta": "finance"})
    assert "amount:sum" in text_of_model(model)
    assert "finance" not in text_of_model(model)
    assert "finance" not in text_of_part(ORDERS, AMOUNT)


def test_a_hidden_part_is_not_named_by_its_model_not_even_in_a_join() -> None:
    parts = tuple(replace(part, hidden=part.name in {"customer_id", "aov"}) for part in ORDERS.parts)
    text = text_of_model(replace(ORDERS, parts=parts))
    assert "customer_id" not in text
    assert "aov" not in text
    assert "joins: customers" in text


# How long it may be


def test_a_datasource_of_five_thousand_models_stays_small_and_names_whole_models() -> None:
    names = [f"warehouse_model_{number:04}" for number in range(5_000)]
    text = text_of_datasource(Datasource(name="big", description=HALF_A_MEGABYTE), names)
    assert size(text) < TEXT_BYTES
    shown = text.rpartition("models: ")[2].removesuffix("…").split(", ")
    assert len(shown) > 100
    assert shown == names[: len(shown)]


def test_the_order_in_which_models_are_given_does_not_matter() -> None:
    assert text_of_datasource(MYDB, ["b", "a", "b"]) == text_of_datasource(MYDB, ["a", "b"])


def test_half_a_megabyte_of_description_leaves_room_for_the_rest() -> None:
    text = text_of_model(replace(ORDERS, description=HALF_A_MEGABYTE, details={"sql": HALF_A_MEGABYTE}))
    assert "columns: id, amount" in text
    assert "word…" in text
    assert size(text) <= TEXT_BYTES


def test_filters_are_told_in_full_where_other_values_would_be_cut() -> None:
    filters = [f"column_{number} is not null" for number in range(200)]
    assert filters[-1] in text_of_model(replace(ORDERS, details={"filters": filters}))


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 12, "one two…"),
        ("one, two, three", 13, "one, two…"),
        ("unbroken", 7, "unbr…"),
        ("ééééé", 8, "éé…"),
    ],
)
def test_a_text_is_cut_at_a_word_if_it_has_any(text: str, most: int, expected: str) -> None:
    assert cut(text, most) == expected


# Odd values


def test_odd_values_are_said_as_well_as_they_can_be() -> None:
    holds_itself: list[Any] = ["a"]
    holds_itself.append(holds_itself)
    assert in_words(holds_itself) == "a, a, a, a"
    assert in_words(1 << 50_000) == ""
    assert in_words({"since": date(2024, 3, 1), "none": None}) == "since 2024-03-01"
    assert in_words({"b", "a"}) == "a, b"
    assert in_words("a\r\n\x00\u2028 b\ud800") == "a b"


def test_the_description_is_found_again_in_the_text() -> None:
    told = replace(ORDERS, description="What was\nbought.", label="description: not this")
    assert description_in(text_of_model(told)) == "What was bought."
    assert description_in(text_of_model(replace(told, description=None))) is None


def test_the_order_of_a_mapping_does_not_matter() -> None:
    assert in_words({"a": 1, "b": 2}) == in_words({"b": 2, "a": 1})


@given(ODD_MODELS, ODD_PARTS)
@example(ORDERS, AMOUNT)
def test_no_text_fails_or_exceeds_its_size_or_changes(model: Model, part: Part) -> None:
    for render in (
        lambda: text_of_model(model),
        lambda: text_of_part(model, part),
        lambda: text_of_datasource(
            Datasource(name=model.name, description=model.description), model.upstream
        ),
    ):
        text = render()
        assert size(text) <= TEXT_BYTES
        assert text == render()
        assert "\n\n" not in text
        assert all(line.isprintable() or not line.isascii() for line in text.split("\n"))


@given(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), unique=True, min_size=1))
def test_every_visible_name_and_no_hidden_one_is_in_the_text(names: list[str]) -> None:
    parts = tuple(replace(part, hidden=place % 2 == 1) for place, part in enumerate(columns(" ".join(names))))
    line = text_of_model(Model(datasource="d", name="m", parts=parts)).splitlines()[-1]
    assert line == "columns: " + ", ".join(names[::2])
