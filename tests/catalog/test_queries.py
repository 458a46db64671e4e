"""Is a query read as it was meant, written back as it was read, and refused with all of its faults at once?"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.catalog.queries import (
    Dimension,
    InlineModel,
    ModelExtension,
    ModelQuery,
    Ordering,
    QueryMeasure,
    TimeDimension,
    read_query,
    to_json,
)
from onrecord.errors import Invalid
from onrecord.model.catalog import Join, Part

EVERYTHING: dict[str, Any] = {
    "version": 3,
    "name": "monthly",
    "source_model": "orders",
    "measures": [
        "*:count",
        {
            "formula": "amount:sum / *:count",
            "name": "aov",
            "label": "Average",
            "description": "",
            "type": "DOUBLE",
            "meta": {"owner": ["ann"]},
        },
    ],
    "dimensions": [
        "status",
        "customers.regions.name",
        {"name": "name", "model": "customers", "label": "Who"},
    ],
    "time_dimensions": [
        {
            "dimension": "ordered_at",
            "granularity": "month",
            "date_range": ["2026-01-01", "2026-02-01"],
            "label": "Month",
        }
    ],
    "main_time_dimension": "ordered_at",
    "filters": ["status = '{wanted}'", "amount > 100"],
    "variables": {"wanted": "paid", "least": 3},
    "order": [{"column": "*:count", "direction": "desc"}, {"column": {"name": "name", "model": "customers"}}],
    "limit": 10,
    "offset": 0,
    "whole_periods_only": True,
}
INLINE: dict[str, Any] = {
    "version": 6,
    "name": "big_orders",
    "sql": "SELECT * FROM orders WHERE amount > 100",
    "data_source": "mydb",
    "columns": [
        {"name": "id", "type": "INT", "primary_key": True, "hidden": False, "format": {"digits": 0}},
        {
            "name": "amount",
            "sql": "amount / 100",
            "allowed_aggregations": ["sum"],
            "sampled": "1 … 9",
            "meta": {},
        },
    ],
    "measures": [{"name": "aov", "formula": "amount:sum / *:count"}],
    "aggregations": [
        {"name": "sum", "params": [{"name": "weight", "sql": "amount"}]},
        {"name": "score", "formula": "sum({value})"},
    ],
    "joins": [{"target_model": "customers", "join_pairs": [["customer_id", "id"]], "join_type": "inner"}],
    "filters": ["amount > 0"],
    "default_time_dimension": "ordered_at",
    "description": "Large ones",
    "hidden": False,
    "meta": {"a": 1},
    "query_variables": {"x": 1},
}


def query(**fields: Any) -> dict[str, Any]:
    return {"source_model": "orders", **fields}


def faults(value: Any) -> dict[str, str]:
    """What is wrong with a query, by place."""
    with pytest.raises(Invalid) as caught:
        read_query(value)
    return {fault.field: fault.message for fault in caught.value.faults}


def test_every_field_of_a_query_is_read() -> None:
    assert read_query(EVERYTHING) == ModelQuery(
        name="monthly",
        source_model="orders",
        measures=(
            QueryMeasure(formula="*:count"),
            QueryMeasure(
                formula="amount:sum / *:count",
                name="aov",
                label="Average",
                description="",
                type="DOUBLE",
                meta={"owner": ["ann"]},
            ),
        ),
        dimensions=(
            Dimension(name="status"),
            Dimension(name="name", model="customers.regions"),
            Dimension(name="name", model="customers", label="Who"),
        ),
        time_dimensions=(
            TimeDimension(
                dimension=Dimension(name="ordered_at"),
                granularity="month",
                date_range=("2026-01-01", "2026-02-01"),
                label="Month",
            ),
        ),
        main_time_dimension="ordered_at",
        filters=("status = '{wanted}'", "amount > 100"),
        variables={"wanted": "paid", "least": 3},
        order=(Ordering(column="*:count", direction="desc"), Ordering(column="customers.name")),
        limit=10,
        offset=0,
        whole_periods_only=True,
    )


def test_a_query_needs_no_more_than_its_source() -> None:
    small = read_query({"source_model": "orders"})
    assert small == ModelQuery(source_model="orders")
    assert to_json(small) == {"version": 3, "source_model": "orders"}


def test_nothing_and_left_out_are_the_same() -> None:
    assert read_query(dict.fromkeys(EVERYTHING) | {"source_model": "orders"}) == ModelQuery(
        source_model="orders"
    )


@pytest.mark.parametrize(
    "value",
    [
        EVERYTHING,
        query(source_model=INLINE),
        query(source_model={"source_name": "orders", "columns": [{"name": "x"}]}),
        query(source_model={"name": "staged", "source_queries": [query(name="a"), {"source_model": "a"}]}),
        query(limit=0, variables={}, measures=[], whole_periods_only=False),
    ],
)
def test_a_query_written_down_is_read_as_the_same_query(value: dict[str, Any]) -> None:
    read = read_query(value)
    assert read_query(to_json(read)) == read


def test_an_inline_model_is_read_with_its_parts_and_joins() -> None:
    model = read_query(query(source_model=INLINE)).source_model
    assert isinstance(model, InlineModel)
    assert (model.name, model.data_source, model.sql_table) == ("big_orders", "mydb", None)
    assert [(part.name, part.kind) for part in model.parts] == [
        ("id", "column"),
        ("amount", "column"),
        ("aov", "measure"),
        ("sum", "aggregation"),
        ("score", "aggregation"),
    ]
    assert model.joins == (Join(target="customers", pairs=(("customer_id", "id"),), kind="inner"),)
    assert to_json(read_query(query(source_model=INLINE)))["source_model"] == INLINE


def test_an_extension_is_read_with_what_it_adds() -> None:
    extension = {
        "source_name": "mydb.orders",
        "columns": [{"name": "bucket", "sql": "CASE WHEN amount > 5 THEN 1 END", "type": "INT"}],
        "measures": [{"name": "total", "formula": "amount:sum"}],
        "joins": [{"target_model": "invoices", "join_pairs": [["id", "id"]]}],
    }
    model = read_query(query(source_model=extension)).source_model
    assert model == ModelExtension(
        source_name="mydb.orders",
        parts=(
            Part(name="bucket", type="INT", details={"sql": "CASE WHEN amount > 5 THEN 1 END"}),
            Part(name="total", kind="measure", details={"formula": "amount:sum"}),
        ),
        joins=(Join(target="invoices", pairs=(("id", "id"),)),),
        definition=extension,
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("orders", "a text"),
        (3, "a number"),
        (None, "nothing"),
        (["orders"], "a list"),
        ([("source_model", "orders")], "a list"),
    ],
)
def test_what_is_no_object_is_refused_with_its_type(value: Any, kind: str) -> None:
    assert faults(value) == {"query": f"must be a query, which is an object, not {kind}"}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (query(mesures=[]), "mesures"),
        (query(measures=[{"formula": "x:sum", "foo": 1}]), "measures[0].foo"),
        (query(dimensions=[{"name": "x", "foo": 1}]), "dimensions[0].foo"),
        (
            query(time_dimensions=[{"dimension": "x", "granularity": "day", "foo": 1}]),
            "time_dimensions[0].foo",
        ),
        (
            query(time_dimensions=[{"dimension": {"name": "x", "foo": 1}, "granularity": "day"}]),
            "time_dimensions[0].dimension.foo",
        ),
        (query(order=[{"column": "x", "foo": 1}]), "order[0].foo"),
        (query(source_model={"source_name": "orders", "foo": 1}), "source_model.foo"),
        (query(source_model={**INLINE, "foo": 1}), "source_model.foo"),
        (
            query(source_model={"source_name": "orders", "columns": [{"name": "x", "foo": 1}]}),
            "source_model.columns[0].foo",
        ),
        (
            query(
                source_model={
                    **INLINE,
                    "aggregations": [{"name": "sum", "params": [{"name": "x", "sql": "y", "z": 1}]}],
                }
            ),
            "source_model.aggregations[0].params[0].z",
        ),
        (
            query(source_model={"name": "s", "source_queries": [query(foo=1)]}),
            "source_model.source_queries[0].foo",
        ),
    ],
)
def test_a_field_that_does_not_exist_is_refused_at_every_level(value: dict[str, Any], place: str) -> None:
    found = faults(value)
    assert list(found) == [place]
    assert "is not a field of" in found[place]


def test_a_near_miss_is_offered() -> None:
    assert "did you mean measures?" in faults(query(mesures=[]))["mesures"]


def test_all_faults_are_said_at_once() -> None:
    found = faults(
        {
            "version": 2,
            "measures": ["", {"name": "a.b"}, 3],
            "dimensions": "status",
            "time_dimensions": [
                {"dimension": "x", "granularity": "fortnight", "date_range": ["2026"]},
                "ordered_at",
            ],
            "filters": ["status = 'paid", 3],
            "order": [{"column": "x", "direction": "up"}, "amount"],
            "limit": -1,
            "offset": True,
            "whole_periods_only": "yes",
            "variables": [],
            "nonsense": 1,
        }
    )
    assert set(found) == {
        "version",
        "source_model",
        "measures[0].formula",
        "measures[1].formula",
        "measures[1].name",
        "measures[2]",
        "dimensions",
        "time_dimensions[0].granularity",
        "time_dimensions[0].date_range",
        "time_dimensions[1]",
        "filters[0]",
        "filters[1]",
        "order[0].direction",
        "order[1]",
        "limit",
        "offset",
        "whole_periods_only",
        "variables",
        "nonsense",
    }
    assert found["source_model"] == "is missing"
    assert "month" in found["time_dimensions[0].granularity"]


@pytest.mark.parametrize("name", ["a__b", "a.b", "a:b", "", "  "])
def test_a_name_holds_no_mark_that_parts_a_path(name: str) -> None:
    assert list(faults(query(name=name))) == ["name"]
    assert list(faults(query(measures=[{"formula": "x:sum", "name": name}]))) == ["measures[0].name"]
    assert list(faults(query(source_model={**INLINE, "name": name}))) == ["source_model.name"]
    column = {"source_name": "orders", "columns": [{"name": name}]}
    assert list(faults(query(source_model=column))) == ["source_model.columns[0].name"]


@pytest.mark.parametrize("name", ["a__b", "a:sum", ".a", "a.", "a..b", "x.a__b", "x:y.a", "."])
def test_a_dimension_is_a_path_of_plain_names(name: str) -> None:
    assert "dimensions[0]" in faults(query(dimensions=[name]))
    assert "dimensions[0]" in faults(query(dimensions=[{"name": name}]))
    assert "order[0].column" in faults(query(order=[{"column": {"name": name}}]))


def test_the_path_of_a_dimension_is_given_once() -> None:
    assert "twice" in faults(query(dimensions=[{"name": "a.b", "model": "c"}]))["dimensions[0].model"]
    assert "dimensions[0]" in faults(query(dimensions=[{"name": "b", "model": "c..d"}]))


@pytest.mark.parametrize(
    "text", ["sum(amount) OVER (PARTITION BY status) > 1", "x over(order by y)", "rank() Over\n() < 3"]
)
def test_window_functions_in_a_filter_are_refused(text: str) -> None:
    assert "window function" in faults(query(filters=[text]))["filters[0]"]
    assert "measures[0].formula" in faults(query(measures=[text]))


@pytest.mark.parametrize(
    "text", ["status = 'OVER (x)'", "rollover(amount) > 1", "over_time = 1", 'x = "over (y)"']
)
def test_the_word_over_alone_is_no_window_function(text: str) -> None:
    assert read_query(query(filters=[text])).filters == (text,)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"sql": None}, "source_model"),
        ({"sql_table": "orders"}, "source_model.sql_table"),
        ({"data_source": None}, "source_model.data_source"),
        ({"name": None}, "source_model.name"),
        ({"version": 5}, "source_model.version"),
        ({"columns": [{"name": "a"}, {"name": "aov"}]}, "source_model.measures[0].name"),
        ({"aggregations": [{"name": "mine"}]}, "source_model.aggregations[0].formula"),
        ({"joins": [{"target_model": "x", "join_pairs": []}]}, "source_model.joins[0].join_pairs"),
        ({"joins": [{"target_model": "x", "join_pairs": [["a"]]}]}, "source_model.joins[0].join_pairs[0]"),
        ({"joins": [{"join_pairs": [["a", "b"]]}]}, "source_model.joins[0].target_model"),
        ({"measures": [{"formula": "x:sum"}]}, "source_model.measures[0].name"),
        ({"sql": None, "source_queries": []}, "source_model.source_queries"),
    ],
)
def test_an_inline_model_is_whole(changes: dict[str, Any], place: str) -> None:
    assert place in faults(query(source_model={**INLINE, **changes}))


@pytest.mark.parametrize("source", [3, [], True, ""])
def test_a_source_is_a_name_a_model_or_an_extension(source: Any) -> None:
    assert list(faults(query(source_model=source))) == ["source_model"]


@pytest.mark.parametrize(
    "value", [{"source_model": "a\x00"}, {1: 2}, query(limit=float("nan")), query(name=b"x")]
)
def test_what_json_does_not_have_is_refused(value: Any) -> None:
    assert "query" in faults(value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["orders", "x:sum"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*EVERYTHING, *INLINE, "source_name", "formula", "column"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from([*EVERYTHING, "foo"]), JSON).map(lambda fields: query() | fields) | JSON
)
def test_no_value_makes_anything_but_our_own_errors(value: Any) -> None:
    try:
        read = read_query(value)
    except Invalid as error:
        assert error.faults
        assert all(fault.field and fault.message for fault in error.faults)
    else:
        assert read_query(to_json(read)) == read
