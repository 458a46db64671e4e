"""Does a reference mean the one thing that its order of rules says, and is everything else refused with a cure?"""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from onrecord.catalog.extraction import entities_of_query
from onrecord.catalog.queries import read_query
from onrecord.catalog.resolution import (
    Ambiguous,
    AmbiguousModel,
    Entities,
    Resolved,
    Unresolved,
    probe,
    resolve,
    resolve_all,
    resolve_leniently,
    resolve_model,
)
from onrecord.errors import Invalid, StoreUnavailable
from onrecord.model.catalog import Model, canonicals_of
from onrecord.model.limits import ENTITY_CHARACTERS
from onrecord.testing.catalog_fixture import (
    CUSTOMERS,
    DATASOURCES,
    MODELS,
    ORDERS,
    HeldCatalog,
    columns,
    join,
    shop,
)

Form = Literal["NFC", "NFD"]
SHOP = shop(memories=["1", "kb.policy.42", "global:5"], systems=["web"])
DATASET = "urn:li:dataset:(urn:li:dataPlatform:postgres,mydb.orders,PROD)"
CANONICALS = [
    *(datasource.canonical for datasource in DATASOURCES),
    *(canonical for model in MODELS for canonical in canonicals_of(model)),
    *("memory:1", "memory:global:5", "thing:Oslo", "system:web"),
]


def refused(reference: str, *parts: str, **context: Model) -> Unresolved:
    """The error for a reference, which must carry it and say all of these."""
    with pytest.raises(Unresolved) as caught:
        resolve(reference, SHOP, **context)
    assert caught.value.reference == reference
    for part in parts:
        assert part in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("other", "other"),
        ("mydb.orders", "mydb.orders"),
        ("mydb.orders.amount", "mydb.orders.amount"),
        ("invoices", "mydb.invoices"),
        ("users", "other.users"),
        ("  users\n", "other.users"),
        ("other.mydb", "other.mydb"),
        ("other.mydb.id", "other.mydb.id"),
        ("orders.amount", "mydb.orders.amount"),
        ("customers.orders", "mydb.customers.orders"),
        ("orders.aov", "mydb.orders.aov"),
        ("orders.weighted_score", "mydb.orders.weighted_score"),
        ("status", "mydb.orders.status"),
        ("aov", "mydb.orders.aov"),
        ("weighted_score", "mydb.orders.weighted_score"),
        ("region_id", "mydb.customers.region_id"),
    ],
)
def test_a_name_in_any_form_means_one_entity_without_a_warning(reference: str, canonical: str) -> None:
    assert resolve(reference, SHOP) == Resolved(canonical)


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("orders.customers", "mydb.customers"),
        ("orders.customers.regions", "mydb.regions"),
        ("orders.customers.name", "mydb.customers.name"),
        ("orders.customers.regions.name", "mydb.regions.name"),
        ("mydb.orders.customers.regions.name", "mydb.regions.name"),
        ("mydb.orders.customers", "mydb.customers"),
        ("orders.customers.orders", "mydb.customers.orders"),
    ],
)
def test_a_path_of_joins_keeps_only_what_it_leads_to(reference: str, canonical: str) -> None:
    assert resolve(reference, SHOP) == Resolved(canonical)


@pytest.mark.parametrize(
    "aggregation",
    [
        ":sum",
        ":weighted_avg(weight=amount)",
        ":corr(other=amount)",
        ":weighted_score(weight=orders.amount)",
        ":percentile(p=0.5)",
        ":sum(window='90d')",
        ":last(by=f(a:b, ')'))",
        ":count_distinct()",
    ],
)
@pytest.mark.parametrize("stem", ["orders.amount", "mydb.orders.amount"])
def test_an_aggregation_is_taken_off(stem: str, aggregation: str) -> None:
    assert resolve(stem + aggregation, SHOP) == Resolved("mydb.orders.amount")


@pytest.mark.parametrize(
    "reference",
    ["amount:", "amount:sum(", "amount:sum)", "amount:sum:avg", "amount:sum(a) b", "amount:1", "a::b"],
)
def test_a_colon_that_begins_no_aggregation_is_refused(reference: str) -> None:
    refused(reference, "is not an aggregation")


def test_a_colon_inside_parentheses_ends_no_name() -> None:
    refused("f(a:b)", "'f(a:b)'", "invalid identifier segment")


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("orders.*:count", "mydb.orders"),
        ("mydb.orders.*:count", "mydb.orders"),
        ("orders.customers.*:count", "mydb.customers"),
        ("other.mydb.*:count", "other.mydb"),
    ],
)
def test_counting_the_rows_of_a_model_means_the_model(reference: str, canonical: str) -> None:
    assert resolve(reference, SHOP) == Resolved(canonical)


def test_counting_rows_needs_a_model() -> None:
    refused("*:count", "requires a model", "<model>.*:count")
    assert resolve("*:count", SHOP, source_model=ORDERS) == Resolved("mydb.orders")
    # In the model that has a column `orders`, the rows are still those of the model `orders`.
    assert resolve("orders.*:count", SHOP, source_model=CUSTOMERS) == Resolved("mydb.orders")


@pytest.mark.parametrize("reference", ["*:sum", "*", "orders.*:sum", "orders.*", "mydb.orders.*:avg(x)"])
def test_rows_can_only_be_counted(reference: str) -> None:
    refused(reference, f"'{reference}'", "'*:count'")
    refused(reference, f"'{reference}'", source_model=ORDERS)


def test_the_rows_of_a_datasource_or_of_a_column_cannot_be_counted() -> None:
    refused("mydb.*:count", "'mydb' is a datasource")
    refused("orders.amount.*:count", "'amount' is not a join target on model 'orders'")


@pytest.mark.parametrize(
    ("reference", "bad"),
    [
        ("x y", "x y"),
        ("orders.a b", "a b"),
        ("orders..id", ""),
        (".", ""),
        ("1st", "1st"),
        ("orders.*.id", "*"),
    ],
)
def test_a_segment_that_is_no_identifier_is_quoted(reference: str, bad: str) -> None:
    refused(reference, "invalid identifier segment", repr(bad))


def test_a_datasource_that_is_no_identifier_is_not_what_is_wrong() -> None:
    catalog = HeldCatalog(models=(Model(datasource="my db", name="orders"),))
    with pytest.raises(Unresolved, match="invalid identifier segment, 'a b'"):
        resolve("my db.orders.a b", catalog)


def test_hyphens_are_part_of_a_name_and_a_datasource_may_be_called_anything() -> None:
    hyphened = Model(datasource="warehouse-7f3a", name="dim-dates", parts=columns("year-month"))
    numbered = Model(datasource="7f3a-11", name="days", parts=columns("id"))
    catalog = HeldCatalog(models=(hyphened, numbered))
    assert resolve("year-month", catalog).canonical == "warehouse-7f3a.dim-dates.year-month"
    assert resolve("warehouse-7f3a.dim-dates", catalog).canonical == "warehouse-7f3a.dim-dates"
    assert resolve("7f3a-11.days.id:sum", catalog).canonical == "7f3a-11.days.id"


@pytest.mark.parametrize("name", ["order date", "a:b", "größe", "address.city", "2024", "*"])
def test_a_name_that_is_no_identifier_is_understood_when_written_in_full(name: str) -> None:
    table = Model(datasource="my db", name="orders", parts=(replace(columns("x")[0], name=name),))
    canonical = f"my db.orders.{name}"
    assert resolve(canonical, HeldCatalog(models=(table,))) == Resolved(canonical)


@pytest.mark.parametrize(("kept", "written"), [("NFC", "NFC"), ("NFC", "NFD"), ("NFD", "NFD")])
def test_an_accent_may_be_a_character_of_its_own(kept: Form, written: Form) -> None:
    events = Model(datasource="d", name=normalize(kept, "événements"), parts=columns(normalize(kept, "état")))
    catalog = HeldCatalog(models=(events,))
    for reference in ("événements.état", "état:max", "d.événements.état"):
        canonical = f"{events.canonical}.{events.parts[0].name}"
        assert resolve(normalize(written, reference), catalog).canonical == canonical
    assert resolve_model(normalize(written, "événements"), catalog) == events
    query = {"source_model": "événements", "dimensions": ["état"], "filters": ["état = 'é'"]}
    asked = read_query(json.loads(normalize(written, json.dumps(query, ensure_ascii=False))))
    assert entities_of_query(asked, catalog).canonicals == (events.canonical, canonical)


@pytest.mark.parametrize("references", [["events", "nowhere"], ["nowhere", "events"]])
def test_several_faults_are_of_the_kind_of_the_first(references: list[str]) -> None:
    catalog = HeldCatalog(models=tuple(Model(datasource=each, name="events") for each in ("a", "b")))
    with pytest.raises(Unresolved) as told:
        resolve_all(references, catalog)
    assert type(told.value) is {"events": AmbiguousModel, "nowhere": Unresolved}[references[0]]
    assert len(told.value.faults) == 2


def test_a_datasource_wins_over_a_model_of_the_same_name() -> None:
    resolved = resolve("mydb", SHOP)
    assert resolved.canonical == "mydb"
    [warning] = resolved.warnings
    assert "both a datasource and a model" in warning
    assert "other.mydb" in warning
    assert resolve("mydb.orders", SHOP).warnings == ()
    refused("mydb.id", "'id'", "other.mydb")


def test_an_ambiguous_model_does_not_stand_in_the_way_of_a_datasource() -> None:
    catalog = HeldCatalog(
        models=tuple(Model(datasource=where, name="sales") for where in ("dsa", "dsb")),
        more_datasources=("sales",),
    )
    resolved = resolve("sales", catalog)
    assert resolved.canonical == "sales"
    assert len(resolved.warnings) == 1


def test_a_model_wins_over_a_column_and_the_warning_names_where_that_is() -> None:
    resolved = resolve("orders", SHOP)
    assert resolved.canonical == "mydb.orders"
    [warning] = resolved.warnings
    assert "resolved as the model" in warning
    assert "customers" in warning
    assert "column" in warning


def test_a_column_of_the_model_itself_or_in_another_datasource_gives_no_warning() -> None:
    catalog = HeldCatalog(
        models=(
            Model(datasource="dsa", name="orders", parts=columns("orders")),
            Model(datasource="dsb", name="x", parts=columns("orders")),
        )
    )
    assert resolve("orders", catalog) == Resolved("dsa.orders")


def test_a_bare_name_on_several_models_is_ambiguous() -> None:
    error = refused("amount", "'amount'", "invoices", "orders", "'mydb'", "<model>.amount")
    assert isinstance(error, Ambiguous)
    assert error.candidates == ("invoices", "orders")


def test_the_source_model_settles_a_bare_name() -> None:
    assert resolve("amount", SHOP, source_model=ORDERS) == Resolved("mydb.orders.amount")
    assert resolve("amount:sum", SHOP, source_model=ORDERS) == Resolved("mydb.orders.amount")
    assert resolve("orders", SHOP, source_model=CUSTOMERS) == Resolved("mydb.customers.orders")
    assert resolve("region_id", SHOP, source_model=ORDERS) == Resolved("mydb.customers.region_id")


def test_joins_of_the_source_model_are_looked_up_in_its_own_datasource() -> None:
    there = Model(datasource="dsb", name="orders", joins=(join("customers", "id"),))
    catalog = HeldCatalog(
        models=(
            there,
            Model(datasource="dsa", name="orders", joins=(join("customers", "id"),)),
            Model(datasource="dsa", name="customers", parts=columns("name")),
            Model(datasource="dsb", name="customers", parts=columns("name")),
        ),
        ranked=("dsa",),
    )
    assert resolve("orders.customers.name", catalog).canonical == "dsa.customers.name"
    assert resolve("orders.customers.name", catalog, source_model=there).canonical == "dsb.customers.name"
    assert resolve("customers.name", catalog).canonical == "dsa.customers.name"
    assert resolve("customers.name", catalog, source_model=there).canonical == "dsb.customers.name"
    assert resolve("dsb.orders.customers.name", catalog).canonical == "dsb.customers.name"


def test_the_first_datasource_that_has_a_bare_name_wins() -> None:
    def catalog(*ranked: str) -> HeldCatalog:
        models = tuple(Model(datasource=where, name="t", parts=columns("x")) for where in ("a", "b", "c"))
        return HeldCatalog(models=models, ranked=ranked, more_datasources=("empty",))

    assert resolve("x", catalog("empty", "c", "b")).canonical == "c.t.x"
    assert resolve("x", catalog("gone", "b")).canonical == "b.t.x"
    # Those without a rank follow in the order of their names.
    assert resolve("x", catalog()).canonical == "a.t.x"


def test_a_model_in_several_datasources_needs_a_priority() -> None:
    models = tuple(Model(datasource=where, name="orders", parts=columns("id")) for where in ("dsb", "dsa"))
    for reference in ("orders", "orders.id", "orders.*:count"):
        with pytest.raises(AmbiguousModel, match="'orders' exists in multiple datasources") as caught:
            resolve(reference, HeldCatalog(models=models, ranked=("elsewhere",)))
        assert caught.value.candidates == ("dsa", "dsb")
        assert "dsa.orders" in str(caught.value)
        assert "priority" in str(caught.value)
    assert resolve("orders", HeldCatalog(models=models, ranked=("dsb",))).canonical == "dsb.orders"


@pytest.mark.parametrize(
    ("reference", "bad"),
    [
        ("nonexistent_thing", "nonexistent_thing"),
        ("mydb.no_such_model", "no_such_model"),
        ("mydb.no_such_model.amount", "no_such_model"),
        ("orders.no_such_column", "no_such_column"),
        ("mydb.orders.no_such_column", "no_such_column"),
        ("no_such_ds.orders.amount", "no_such_ds"),
        ("orders.no_such_join.name", "no_such_join"),
        ("orders.amount.name", "amount"),
        ("orders.customers.no_such_column", "no_such_column"),
        ("ORDERS.amount", "ORDERS"),
    ],
)
def test_what_is_unknown_is_refused_and_the_bad_segment_quoted(reference: str, bad: str) -> None:
    error = refused(reference, f"'{bad}'")
    assert not isinstance(error, Ambiguous)
    assert error.faults[0].field == "entities"


def test_a_near_miss_is_offered() -> None:
    refused("orders.amont", "Did you mean 'amount'?")
    refused("orders.customer.name", "Did you mean 'customers'?")


def test_a_join_to_a_model_that_is_not_there_is_said_so() -> None:
    catalog = HeldCatalog(models=(ORDERS,))
    with pytest.raises(Unresolved, match=r"'customers' is a join target .* has no such model"):
        resolve("orders.customers.name", catalog)


@pytest.mark.parametrize("reference", ["", "   ", "\n\t"])
def test_an_empty_reference_is_refused(reference: str) -> None:
    refused(reference, "is empty")


@pytest.mark.parametrize("reference", ["a\x00b", "\ud800", "thing:\x00", "x" * (ENTITY_CHARACTERS + 1)])
def test_what_cannot_be_stored_is_refused_before_anything_is_looked_up(reference: str) -> None:
    with pytest.raises(Unresolved):
        resolve(reference, OUT_OF_REACH)


@pytest.mark.parametrize(
    ("reference", "canonical"),
    [
        ("memory:1", "memory:1"),
        ("memory:#1", "memory:1"),
        ("memory:kb.policy.42", "memory:kb.policy.42"),
        ("memory:global:5", "memory:global:5"),
        ("system:web", "system:web"),
        ("thing:The Hague: a city", "thing:The Hague: a city"),
        (DATASET, "mydb.orders"),
    ],
)
def test_what_begins_with_its_kind_is_looked_up_as_that(reference: str, canonical: str) -> None:
    assert resolve(reference, SHOP) == Resolved(canonical)


@pytest.mark.parametrize(
    ("reference", "part"),
    [
        ("memory:absent", "'absent'"),
        ("memory:", "empty"),
        ("memory:a b", "must not contain"),
        ("memory:11", "'11'"),
        ("system:absent", "'absent'"),
        ("system:", "''"),
        ("thing:", "thing"),
        ("urn:li:dataset:(x)", "'urn:li:dataset:(x)'"),
    ],
)
def test_a_memory_a_system_or_an_alias_that_is_not_there_is_refused(reference: str, part: str) -> None:
    refused(reference, part)


def test_several_references_are_resolved_once_each_in_the_order_first_seen() -> None:
    assert resolve_all(["orders.amount:sum", "users", "mydb.orders.amount", "memory:1", "users"], SHOP) == (
        ("mydb.orders.amount", "other.users", "memory:1"),
        (),
    )
    twice = resolve_all(["orders", "orders"], SHOP)
    assert twice.canonicals == ("mydb.orders",)
    assert len(twice.warnings) == 1
    assert resolve_all([], SHOP) == Entities((), ())


def test_all_that_is_wrong_with_several_references_is_said_at_once() -> None:
    with pytest.raises(Ambiguous):
        resolve_all(["users", "amount"], SHOP)
    with pytest.raises(Invalid) as caught:
        resolve_all(["nope", "users", "amount", "memory:absent", "nope"], SHOP)
    assert len(caught.value.faults) == 3
    for part in ("'nope'", "'amount'", "'absent'"):
        assert part in str(caught.value)


@pytest.mark.parametrize("resolving", [resolve_all, resolve_leniently])
def test_what_is_no_text_is_refused_with_its_type(resolving: object) -> None:
    assert callable(resolving)
    for item, kind in (
        (3, "a number"),
        (None, "nothing"),
        (True, "true"),
        ({}, "an object"),
        (b"x", "bytes"),
    ):
        with pytest.raises(
            Invalid, match=rf"entities\[1\]: must be a reference, which is a text, not {kind}"
        ):
            resolving(["users", item], SHOP)
    for whole, kind in (("orders", "a text"), ({"source_model": "orders"}, "an object")):
        with pytest.raises(Invalid, match=f"not {kind}"):
            resolving(whole, SHOP)


def test_leniently_a_failure_is_a_warning_and_the_rest_goes_on() -> None:
    found = resolve_leniently(["users", "memory:nonexistent", "amount", "nope", "orders.amount"], SHOP)
    assert found.canonicals == ("other.users", "mydb.orders.amount")
    assert len(found.warnings) == 3
    for warning, part in zip(found.warnings, ("'memory:nonexistent'", "'amount'", "'nope'"), strict=True):
        assert warning.startswith(f"entity {part} dropped: ")
    assert "invoices" in found.warnings[1]


@dataclass(frozen=True)
class Unreachable(HeldCatalog):
    """A catalog whose database cannot be reached."""

    def datasources(self) -> Collection[str]:
        raise StoreUnavailable

    def has_memory(self, id: str) -> bool:
        raise StoreUnavailable


OUT_OF_REACH = Unreachable()


def test_a_catalog_out_of_reach_is_never_taken_for_not_found() -> None:
    for reference in ("orders", "orders.amount", "memory:1", "x y"):
        for resolving in (resolve_all, resolve_leniently):
            with pytest.raises(StoreUnavailable):
                resolving([reference], OUT_OF_REACH)
        with pytest.raises(StoreUnavailable):
            probe(reference, OUT_OF_REACH)


def test_where_only_a_model_can_be_a_name_means_the_model() -> None:
    assert resolve_model("mydb", SHOP).canonical == "other.mydb"
    assert resolve_model("orders", SHOP) == ORDERS
    assert resolve_model("mydb.customers", SHOP) == CUSTOMERS
    assert resolve_model("orders.customers", SHOP) == CUSTOMERS
    odd = Model(datasource="my db", name="2024 sales")
    assert resolve_model("my db.2024 sales", HeldCatalog(models=(odd,))) == odd
    assert resolve_model("2024 sales", HeldCatalog(models=(odd,))) == odd
    for reference in ("amount", "orders.amount", "nope", "memory:1", "other", "x y", "other.x y", ""):
        with pytest.raises(Unresolved):
            resolve_model(reference, SHOP)


def test_another_name_need_not_be_a_urn_and_yields_to_what_is_called_so() -> None:
    orders = Model(datasource="shop", name="orders", aliases=("model.dbt.orders", "visits", DATASET))
    visits = Model(datasource="shop", name="visits")
    catalog = HeldCatalog(models=(orders, visits))
    for name in ("model.dbt.orders", DATASET):
        assert resolve(name, catalog).canonical == "shop.orders"
        assert resolve_model(name, catalog) == orders
    assert resolve("visits", catalog).canonical == "shop.visits"
    for unknown in ("model.dbt.Orders", "model.dbt.visits"):
        with pytest.raises(Unresolved):
            resolve(unknown, catalog)


@pytest.mark.parametrize("canonical", CANONICALS)
def test_a_canonical_name_exists_and_means_itself(canonical: str) -> None:
    assert probe(canonical, SHOP)
    resolved = resolve(canonical, SHOP)
    assert resolved.canonical == canonical
    if "." in canonical:
        assert resolved.warnings == ()


@pytest.mark.parametrize(
    "reference",
    [
        "orders",
        "orders.amount",
        "mydb.orders.amount:sum",
        "mydb.orders.customers.name",
        "mydb.orders_archive",
        "mydb.orders.gone",
        "nodb",
        "memory:2",
        "memory:",
        "system:gone",
        "",
    ],
)
def test_what_is_gone_or_is_not_written_in_full_does_not_exist(reference: str) -> None:
    assert not probe(reference, SHOP)


def test_what_the_catalog_cannot_know_is_never_gone() -> None:
    assert probe("thing:anything", SHOP)
    assert probe("urn:li:dataset:(unknown)", SHOP)


NAMES = st.sampled_from(
    ["orders", "customers", "mydb", "other", "amount", "regions", "id", "a-b", "größe", "x"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(".".join)
SUFFIXES = st.sampled_from(["", ":sum", ":corr(other=x)", ".*:count", ":", ".*", "("])


@given(st.text() | st.builds(lambda path, suffix: path + suffix, PATHS, SUFFIXES))
@example("memory:\x1f")
@example("urn:")
@example(":::")
def test_no_text_makes_anything_but_our_own_errors(reference: str) -> None:
    for source_model in (None, ORDERS):
        try:
            resolved = resolve(reference, SHOP, source_model=source_model)
        except Unresolved as error:
            assert error.faults
        else:
            assert probe(resolved.canonical, SHOP)
    assert len(resolve_leniently([reference], SHOP).warnings) <= 1
    probe(reference, SHOP)


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and not {"\0", ".", ":"} & set(name)
)


@st.composite
def catalogs(draw: st.DrawFn) -> HeldCatalog:
    """Any small catalog, with joins and with names that are alike."""
    names = draw(st.lists(NAMES | PLAIN, min_size=2, max_size=5, unique=True))
    some = st.lists(st.sampled_from(names), max_size=3, unique=True)
    models = {
        (where, what): Model(
            datasource=where,
            name=what,
            parts=tuple(replace(columns("x")[0], name=name) for name in draw(some)),
            joins=tuple(join(target, "id") for target in draw(some)),
        )
        for where, what in draw(
            st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=5, unique=True)
        )
    }
    return HeldCatalog(
        models=tuple(models.values()), ranked=tuple(draw(some)), more_datasources=tuple(draw(some))
    )


@given(catalogs(), st.data())
def test_resolving_twice_is_resolving_once(catalog: HeldCatalog, data: st.DataObject) -> None:
    names = [*catalog.datasources(), *(model.name for model in catalog.models)]
    assume(names)
    reference = ".".join(data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)))
    source = data.draw(st.sampled_from([None, *catalog.models]))
    try:
        once = resolve(reference, catalog, source_model=source)
    except Unresolved:
        return
    twice = resolve(once.canonical, catalog)
    assert twice.canonical == once.canonical
    assert "." not in once.canonical or twice.warnings == ()
    assert probe(once.canonical, catalog)


@given(catalogs())
def test_every_canonical_name_of_any_catalog_means_itself(catalog: HeldCatalog) -> None:
    for model in catalog.models:
        for canonical in canonicals_of(model):
            assert resolve(canonical, catalog) == Resolved(canonical)
