"""Is a query about exactly what its fields name, and is a name that means nothing an error?"""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.formulas import (
    NameInFormula,
    UnreadableFormula,
    mentions_in_filter,
    mentions_in_formula,
)
from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.queries import ModelQuery, QueryMeasure, read_query
from onrecord.catalog.resolution import Ambiguous, AmbiguousModel, Entities, Unresolved
from onrecord.errors import Invalid, StoreUnavailable
from onrecord.model.catalog import Model
from onrecord.testing.catalog_fixture import CUSTOMERS, ORDERS, columns, join, shop

SHOP = shop()


def entities(catalog: HeldCatalog = SHOP, **fields: Any) -> Entities:
    return entities_of_query(read_query({"source_model": "orders", **fields}), catalog)


def about(**fields: Any) -> list[str]:
    """What a query is about beside its source, which comes first; there are no warnings."""
    found = entities(**fields)
    assert found.warnings == ()
    assert found.canonicals[0] == "mydb.orders"
    return [canonical.removeprefix("mydb.") for canonical in found.canonicals[1:]]


def refused(**fields: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        entities(**fields)
    return {fault.field: fault.message for fault in caught.value.faults}


def names(text: str) -> list[str]:
    return [mention.name for mention in mentions_in_filter(text)]


# Formulas and filters


@pytest.mark.parametrize(
    ("formula", "mentions"),
    [
        ("amount:sum", [("amount", "sum")]),
        ("*:count", [("*", "count")]),
        ("customers.*:count", [("customers.*", "count")]),
        ("aov", [("aov", None)]),
        ("amount:sum / *:count", [("amount", "sum"), ("*", "count")]),
        ("2 * *:count", [("*", "count")]),
        ("(amount:sum - tax:sum) ** 2 / 1.5e3", [("amount", "sum"), ("tax", "sum")]),
        ("amount:weighted_avg(weight=quantity)", [("amount", "weighted_avg")]),
        ("amount:sum(window='90d', by=f(x:y))+tax:avg", [("amount", "sum"), ("tax", "avg")]),
        ("customers.regions.population:sum", [("customers.regions.population", "sum")]),
        ("cumsum(change(amount:sum))", [("amount", "sum")]),
        ("time_shift(amount:sum, -1, 'year')", [("amount", "sum")]),
        ("rank(amount:sum, partition_by=status)", [("amount", "sum"), ("status", None)]),
        ("ntile(amount:sum, n=4)", [("amount", "sum")]),
        ("consecutive_periods(amount:sum > 0 and not aov == 3)", [("amount", "sum"), ("aov", None)]),
        ("amount:sum + amount:sum", [("amount", "sum")]),
        ("größe:sum", [("größe", "sum")]),
        ("12.5", []),
    ],
)
def test_a_formula_mentions_what_it_is_computed_from(
    formula: str, mentions: list[tuple[str, str | None]]
) -> None:
    assert [(each.name, each.aggregation) for each in mentions_in_formula(formula)] == mentions


@pytest.mark.parametrize(
    ("formula", "place"),
    [
        ("amount:sum(", 11),
        ("(amount:sum", 1),
        ("amount:sum)", 11),
        ("amount:sum $ 3", 12),
        ("amount:sum ; x", 12),
        ("f('x)", 3),
        ("amount : sum", 8),
        ("sum(x) over (y)", 8),
        ("`amount`:sum", 1),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused_with_the_place(formula: str, place: int) -> None:
    with pytest.raises(UnreadableFormula, match=f"at character {place} "):
        mentions_in_formula(formula)


@pytest.mark.parametrize("formula", ["", " ", "\n"])
def test_an_empty_formula_is_refused(formula: str) -> None:
    with pytest.raises(UnreadableFormula, match="empty"):
        mentions_in_formula(formula)


@pytest.mark.parametrize(
    ("condition", "mentioned"),
    [
        ("status = 'paid'", ["status"]),
        ("status = \"paid\" and note <> 'it''s amount'", ["status", "note"]),
        ("amount > 100 AND amount<1e3", ["amount"]),
        ("status = '{status_val}' OR x = {other}", ["status", "x"]),
        ("{status_val}", []),
        ("amount:sum > 5", ["amount"]),
        ("amount:weighted_avg(weight=tax) > 5", ["amount"]),
        ("*:count > 3", ["*"]),
        ("customers.regions.name in ('EU', 'US')", ["customers.regions.name"]),
        ("lower(status) like '%x%' escape '!'", ["status"]),
        ("coalesce (a, b) is not null", ["a", "b"]),
        ("my_function(a) = 1 and schema.fn(b)", ["a", "b"]),
        ("not (a in (1, 2) or b between c and d)", ["a", "b", "c", "d"]),
        ("case when a then b else c end", ["a", "b", "c"]),
        ("cast(a as numeric) > b::decimal(10, 2)", ["a", "b"]),
        ("a > date '2026-01-01' - interval '1 day'", ["a"]),
        ("a = N'x' and b = TRUE", ["a", "b"]),
        ("rank(a:sum, partition_by=b) <= 3", ["a", "b"]),
        ("a = :parameter and b", ["a", "b"]),
        ("a ~ 'x' and b -> 'c' @> d[1]", ["a", "b", "d"]),
        ("a || ' ' || b = 'x'", ["a", "b"]),
        ("[a] = `b`", ["a", "b"]),
        ("0x1F = a", ["a"]),
    ],
)
def test_a_filter_mentions_only_what_may_be_a_column(condition: str, mentioned: list[str]) -> None:
    assert names(condition) == mentioned


@pytest.mark.parametrize("condition", ["status = 'paid", 'x = "', "(a", "a)", "a:sum(b", "''' "])
def test_a_filter_with_something_left_open_is_refused(condition: str) -> None:
    with pytest.raises(UnreadableFormula):
        mentions_in_filter(condition)


def test_a_word_of_the_language_may_be_a_column_as_well() -> None:
    assert mentions_in_filter("date > current_date") == (
        NameInFormula(name="date", soft=True),
        NameInFormula(name="current_date", soft=True),
    )
    assert mentions_in_formula("count:sum") == (NameInFormula(name="count", aggregation="sum"),)


@given(st.text() | st.text("ab.*:(),'\"{}=+- 1"))
@example("(" * 60_000)
@example("a(" * 30_000)
@example("a." * 30_000)
@example(":" * 60_000)
@example("'" * 59_999)
def test_no_text_makes_a_tokenizer_fail_in_its_own_way(text: str) -> None:
    for mentions in (mentions_in_formula, mentions_in_filter):
        try:
            found = mentions(text)
        except UnreadableFormula as error:
            assert error.reason
        else:
            assert all(mention.name in text for mention in found)


# Queries


def test_the_source_is_always_tagged_and_counting_its_rows_adds_nothing() -> None:
    assert about() == []
    assert about(measures=["*:count"]) == []
    assert about(measures=["orders.*:count"], filters=["*:count > 3"]) == []
    assert entities(source_model="mydb.orders").canonicals == ("mydb.orders",)
    assert entities(source_model="mydb").canonicals == ("other.mydb",)
    assert entities(source_model="users").canonicals == ("other.users",)


def test_every_field_that_names_something_is_read() -> None:
    assert about(
        dimensions=["status", {"name": "name", "model": "customers.regions"}],
        time_dimensions=[{"dimension": "ordered_at", "granularity": "month"}],
        measures=[{"formula": "amount:sum / *:count"}, "aov", "cumsum(customers.region_id:max)"],
        filters=["customer_id > 3"],
        order=[{"column": "id"}],
    ) == [
        "orders.status",
        "regions.name",
        "orders.ordered_at",
        "orders.amount",
        "orders.aov",
        "customers.region_id",
        "orders.customer_id",
    ]


def test_a_named_measure_is_not_taken_apart() -> None:
    assert about(measures=["aov"]) == ["orders.aov"]
    assert about(measures=["change(aov) * 1.1"]) == ["orders.aov"]


def test_the_aggregation_itself_is_not_tagged() -> None:
    assert about(measures=["amount:weighted_score(weight=customer_id)"]) == ["orders.amount"]


def test_a_filter_tags_its_columns_on_the_source_model() -> None:
    assert about(filters=["status = 'paid'", "amount > 100"]) == ["orders.status", "orders.amount"]
    assert about(filters=["status = '{status_val}'", "amount > {least}"]) == [
        "orders.status",
        "orders.amount",
    ]
    assert about(filters=['status = "customers"']) == ["orders.status"]
    assert about(filters=["amount:sum > 3 and lower(customers.name) = 'x'"]) == [
        "orders.amount",
        "customers.name",
    ]


@pytest.mark.parametrize("path", ["status", "orders.status", "mydb.orders.status"])
def test_a_column_of_the_source_may_be_written_with_its_path(path: str) -> None:
    assert about(dimensions=[path]) == ["orders.status"]
    assert about(filters=[f"{path} = 1"]) == ["orders.status"]


def test_counting_the_rows_of_a_joined_model_tags_it() -> None:
    assert about(measures=["customers.*:count"]) == ["customers"]
    assert about(filters=["customers.regions.*:count > 1"]) == ["regions"]


def test_a_dotted_name_may_leave_the_source_model() -> None:
    assert about(dimensions=["invoices.amount"]) == ["invoices.amount"]
    assert entities(dimensions=["other.users.name"]).canonicals[1] == "other.users.name"


def test_a_bare_name_from_elsewhere_is_tagged_with_a_warning() -> None:
    found = entities(filters=["region_id = 3"])
    assert found.canonicals == ("mydb.orders", "mydb.customers.region_id")
    [warning] = found.warnings
    assert "'region_id' is not a part of model 'orders'" in warning


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"filters": ["no_such_column = 1"]}, "filters[0]"),
        ({"filters": ["status = 1", "status = 2 or nope = 1"]}, "filters[1]"),
        ({"dimensions": ["nope"]}, "dimensions[0]"),
        ({"dimensions": ["customers.nope"]}, "dimensions[0]"),
        ({"time_dimensions": [{"dimension": "nope", "granularity": "day"}]}, "time_dimensions[0].dimension"),
        ({"measures": ["nope:sum"]}, "measures[0].formula"),
        ({"measures": ["nope"]}, "measures[0].formula"),
        ({"measures": [{"formula": "nope:sum", "name": "nope"}]}, "measures[0].formula"),
        ({"measures": [{"formula": "nope", "name": "nope"}]}, "measures[0].formula"),
        ({"measures": ["*:sum"]}, "measures[0].formula"),
        ({"measures": ["customers.*:sum"]}, "measures[0].formula"),
        ({"filters": ["customers.* = 1"]}, "filters[0]"),
        ({"source_model": "nope"}, "source_model"),
        ({"source_model": "orders.amount"}, "source_model"),
        ({"source_model": "memory:1"}, "source_model"),
        ({"filters": ["mydb = 1"]}, "filters[0]"),
        ({"filters": ["name = 'x'"]}, "filters[0]"),
    ],
)
def test_a_name_that_means_nothing_is_an_error_at_its_place(fields: dict[str, Any], place: str) -> None:
    assert list(refused(**fields)) == [place]


def test_an_ambiguous_name_says_which_models_it_may_be_of() -> None:
    with pytest.raises(Ambiguous) as caught:
        entities(filters=["name = 'x'"])
    assert caught.value.candidates == ("customers", "regions")
    twice = HeldCatalog(models=tuple(Model(datasource=where, name="orders") for where in ("dsa", "dsb")))
    with pytest.raises(AmbiguousModel):
        entities(twice)


def test_all_unknown_names_are_said_at_once() -> None:
    found = refused(dimensions=["nope"], measures=["nada:sum"], filters=["zilch = 1 and status = 2"])
    assert list(found) == ["dimensions[0]", "measures[0].formula", "filters[0]"]
    assert "'zilch'" in found["filters[0]"]


def test_what_cannot_be_read_is_an_error_though_it_was_never_checked() -> None:
    query = ModelQuery(source_model="orders", filters=("status = 'x",))
    with pytest.raises(UnreadableFormula) as caught:
        entities_of_query(query, SHOP)
    assert caught.value.faults[0].field == "filters[0]"


def test_a_filter_may_speak_of_what_the_query_computes() -> None:
    measures = [{"formula": "change(amount:sum)", "name": "growth"}, {"formula": "*:count", "name": "status"}]
    assert about(measures=measures, filters=["growth < 0"]) == ["orders.amount"]
    # A column of the same name comes first.
    assert about(measures=measures, filters=["status = 1"]) == ["orders.amount", "orders.status"]
    assert list(refused(measures=measures, filters=["growth:sum < 0"])) == ["filters[0]"]


def test_a_column_called_like_a_word_of_the_language_is_tagged_where_there_is_one() -> None:
    dated = Model(datasource="d", name="orders", parts=columns("date first id"))
    found = entities(HeldCatalog(models=(dated,)), filters=["date > current_date", "year(first) = year"])
    assert found == (("d.orders", "d.orders.date", "d.orders.first"), ())


def test_the_source_model_comes_before_a_datasource_of_the_same_name() -> None:
    source = Model(datasource="d", name="orders", parts=columns("shop"), joins=(join("eu", "id"),))
    joined = Model(datasource="d", name="eu", parts=columns("name"))
    catalog = HeldCatalog(models=(source, joined), more_datasources=("shop", "eu"))
    found = entities(catalog, dimensions=["shop", "eu.name"])
    assert found == (("d.orders", "d.orders.shop", "d.eu.name"), ())


def test_joins_are_followed_in_the_datasource_of_the_source() -> None:
    catalog = HeldCatalog(
        models=(
            Model(datasource="b", name="orders", joins=(join("customers", "id"),)),
            Model(datasource="a", name="customers", parts=columns("name")),
            Model(datasource="b", name="customers", parts=columns("name")),
        ),
        ranked=("a", "b"),
    )
    assert entities(catalog, dimensions=["customers.name"]).canonicals == ("b.orders", "b.customers.name")


def test_an_extension_adds_names_but_no_entities() -> None:
    extension = {
        "source_name": "orders",
        "columns": [{"name": "bucket", "sql": "amount / 10"}, {"name": "status"}],
        "measures": [{"name": "total", "formula": "amount:sum"}],
        "joins": [{"target_model": "invoices", "join_pairs": [["id", "id"]]}],
    }
    found = entities(
        source_model=extension,
        dimensions=["bucket", "orders.bucket", "customers.name", "invoices.id", "status"],
        measures=["total / *:count", "amount:sum"],
        filters=["bucket > 3"],
    )
    assert found == (
        ("mydb.orders", "mydb.customers.name", "mydb.invoices.id", "mydb.orders.amount"),
        (),
    )
    assert list(refused(source_model=extension, dimensions=["nope"])) == ["dimensions[0]"]
    assert list(refused(source_model={"source_name": "nope"})) == ["source_model"]


def inline(**changes: Any) -> dict[str, Any]:
    return {
        "name": "mine",
        "data_source": "mydb",
        "columns": [{"name": "amount"}, {"name": "x"}],
        "measures": [{"name": "total", "formula": "amount:sum"}],
        "joins": [{"target_model": "customers", "join_pairs": [["x", "id"]]}],
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "grounds"),
    [
        ({"sql_table": "orders"}, ["mydb.orders"]),
        ({"sql_table": '"public"."ORDERS"'}, ["mydb.orders"]),
        ({"sql": "SELECT o.amount FROM orders o JOIN invoices USING (id)"}, ["mydb.orders", "mydb.invoices"]),
        ({"name": "regions", "sql": "SELECT 1 AS x FROM orders"}, ["mydb.regions", "mydb.orders"]),
    ],
)
def test_an_inline_model_stands_for_the_models_it_is_made_from(
    changes: dict[str, Any], grounds: list[str]
) -> None:
    found = entities(
        source_model=inline(**changes),
        dimensions=["x", "customers.name"],
        measures=["total", "amount:sum", "*:count"],
        filters=["amount > 3"],
    )
    assert found == ((*grounds, "mydb.customers.name"), ())


def test_an_inline_model_made_of_queries_stands_on_their_sources() -> None:
    stages = [
        {"name": "a", "source_model": "orders", "measures": ["amount:sum"]},
        {"name": "b", "source_model": "a"},
        {"source_model": {"source_name": "b", "joins": []}},
        {"source_model": {"source_name": "invoices"}},
    ]
    staged = {"name": "mine", "source_queries": stages, "columns": [{"name": "x"}]}
    assert entities(source_model=staged, dimensions=["x"]) == (("mydb.orders", "mydb.invoices"), ())


def test_an_inline_model_on_unknown_ground_is_told_of() -> None:
    found = entities(source_model=inline(sql_table="elsewhere"), dimensions=["customers.name"])
    assert found.canonicals == ("mydb.customers.name",)
    assert "'mine' uses no model" in found.warnings[0]
    assert list(refused(source_model=inline(sql_table="orders", data_source="nope"))) == ["source_model"]
    assert list(refused(source_model=inline(sql_table="orders"), dimensions=["nope"])) == ["dimensions[0]"]


class Unreachable(HeldCatalog):
    def datasources_of(self, model: str) -> list[str]:
        raise StoreUnavailable


def test_a_catalog_out_of_reach_is_never_taken_for_not_found() -> None:
    with pytest.raises(StoreUnavailable):
        entities(Unreachable(models=(ORDERS, CUSTOMERS)))


HOSTILE = st.text() | st.sampled_from(
    [
        "__import__('os').system('x')",
        "1; DROP TABLE orders; --",
        "{0.__class__}",
        "amount:sum(",
        "' OR 1=1 --",
    ]
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_hostile_texts_make_nothing_but_our_own_errors(source: str, formula: str, condition: str) -> None:
    for name in (source, "orders"):
        query = ModelQuery(source_model=name, measures=(QueryMeasure(formula=formula),), filters=(condition,))
        try:
            found = entities_of_query(query, SHOP)
        except Invalid as error:
            assert isinstance(error, Unresolved | UnreadableFormula) or len(error.faults) > 1
        else:
            assert all("." in canonical for canonical in found.canonicals)
