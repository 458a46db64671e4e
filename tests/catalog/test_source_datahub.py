"""Does the catalog learn what DataHub knows, and nothing from what DataHub fails to say?"""

import json
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.catalog.datahub import datasets
from onrecord.catalog.datahub.urns import Table, canonicals, simple_path, table_of
from onrecord.catalog.sources import open_source
from onrecord.catalog.sources.datahub import DatahubCatalog
from onrecord.errors import CatalogUnavailable, Forbidden, Invalid
from onrecord.model.catalog import Model, Part
from onrecord.model.service_address import ServiceAddress
from onrecord.operation import StorePolicy
from tests.soak import tries

from .datahub_server import TOKEN, Datahub, dataset_urn, serving

ORDERS = "snowflake_acme_sales.orders"
RAW = "snowflake_acme_raw.orders"


def a_shop(hub: Datahub) -> tuple[str, str]:
    raw = hub.add("acme.raw.orders", fields={"id": "NUMBER(38,0)"})
    return hub.add("acme.sales.orders", fields={"id": "NUMBER(38,0)", "amount": "FLOAT"}, upstream=[raw]), raw


def source_of(hub: Datahub) -> DatahubCatalog:
    return DatahubCatalog(ServiceAddress(url=hub.url, token=TOKEN))


@pytest.mark.parametrize(
    ("urn", "table", "canonical"),
    [
        (
            "urn:li:dataset:(urn:li:dataPlatform:snowflake,acme.sales.orders,PROD)",
            Table("snowflake", "acme", "sales", "orders", "PROD"),
            "snowflake_acme_sales.orders",
        ),
        (
            "urn:li:dataset:(urn:li:dataPlatform:trino,acme.sales.orders.v2,DEV)",
            Table("trino", "acme", "sales", "orders.v2", "DEV"),
            "trino_acme_sales_dev.orders_v2",
        ),
        (
            "urn:li:dataset:(urn:li:dataPlatform:mysql,shop.orders,PROD)",
            Table("mysql", None, "shop", "orders", "PROD"),
            "mysql_shop.orders",
        ),
        (
            "urn:li:dataset:(urn:li:dataPlatform:kafka,orders,PROD)",
            Table("kafka", None, None, "orders", "PROD"),
            "kafka.orders",
        ),
        (
            "urn:li:dataset:(urn:li:dataPlatform:s3,bucket/a,b/orders.csv,PROD)",
            Table("s3", None, None, "bucket/a,b/orders.csv", "PROD"),
            "s3.bucket_a_b_orders_csv",
        ),
        ("urn:li:dataset:(urn:li:dataPlatform:hive,,PROD)", None, None),
        ("urn:li:dataset:(urn:li:dataPlatform:hive,...,PROD)", None, None),
        ("urn:li:dataset:(hive,a.b.c,PROD)", None, None),
        ("urn:li:chart:(looker,1)", None, None),
        ("shop.orders", None, None),
    ],
)
def test_a_urn_tells_the_table(urn: str, table: Table | None, canonical: str | None) -> None:
    assert table_of(urn) == table
    assert (table and table.canonical) == canonical


def test_no_two_datasets_have_one_name() -> None:
    alike = [
        dataset_urn("a_b.c.t"),
        dataset_urn("a.b_c.t"),
        dataset_urn("a.b_c.t", env="DEV"),
        dataset_urn("a.b_c.t", "dbt"),
    ]
    names = canonicals(alike)
    assert len(set(names.values())) == len(alike)
    assert names == canonicals(reversed(alike))
    assert (
        simple_path("[version=2.0].[type=struct].[type=struct].address.[type=string].street")
        == "address.street"
    )
    assert simple_path("amount") == "amount"


def test_what_is_read_of_a_dataset(hub: Datahub) -> None:
    tag, term = "urn:li:tag:", "urn:li:glossaryTerm:"
    raw = hub.add(
        "acme.raw.orders", deprecation={"note": "use sales", "replacement": dataset_urn("acme.sales.orders")}
    )
    hub.state.jobs["urn:li:dataJob:(x,y)"] = [dataset_urn("acme.raw.refunds")]
    urn = hub.add(
        "acme.sales.orders",
        description="Ingested.",
        edited="Written by people.",
        kinds=["View"],
        tags=[tag + "core"],
        terms=[term + "Sales.Order"],
        upstream=[raw, "urn:li:dataJob:(x,y)"],
        fields={
            "id": {"type": "NUMBER", "key": True, "description": "The id."},
            "amount": {
                "type": "FLOAT",
                "description": "Ingested.",
                "tags": [tag + "money"],
                "terms": [term + "Net"],
            },
            "[version=2.0].[type=struct].address.[type=string].street": "STRING",
        },
        edits={
            "amount": {
                "description": "By people.",
                "tags": [tag + "gold", tag + "money"],
                "terms": [term + "Gross"],
            },
            "id": {"description": ""},
        },
    )
    source = source_of(hub)
    assert [each.name for each in source.datasources()] == ["snowflake_acme_raw", "snowflake_acme_sales"]
    told = {model.canonical: model for model in source.models()}
    assert told.keys() == source.fingerprints().keys() == {RAW, ORDERS}
    assert told[ORDERS] == Model(
        datasource="snowflake_acme_sales",
        name="orders",
        form="view",
        description="Written by people.",
        tags=("core",),
        parts=(
            Part(name="id", type="NUMBER", description="The id.", details={"primary_key": True}),
            Part(
                name="amount",
                type="FLOAT",
                description="By people.",
                tags=("gold", "money"),
                details={"terms": ["Gross", "Net"]},
            ),
            Part(
                name="address_street",
                type="STRING",
                details={"field_path": "[version=2.0].[type=struct].address.[type=string].street"},
            ),
        ),
        upstream=(RAW, "snowflake_acme_raw.refunds"),
        aliases=(urn,),
        details={
            "sql_table": "acme.sales.orders",
            "platform": "snowflake",
            "env": "PROD",
            "terms": ["Sales.Order"],
        },
    )
    assert told[RAW].state == "deprecated"
    assert told[RAW].details["deprecation"] == {"note": "use sales", "replacement": ORDERS}
    assert [model.name for model in source.models([RAW])] == ["orders"]
    with serving(Datahub(has_replacement=False)) as older:
        older.state = hub.state
        [model] = [each for each in source_of(older).models() if each.canonical == RAW]
        assert model.details["deprecation"] == {"note": "use sales"}


def test_it_is_ingested_searched_and_referred_to_by_its_urn(hub: Datahub, shop: OnRecord) -> None:
    urn, _ = a_shop(hub)
    told = shop.ingest("datahub", dry_run=True)
    assert (told.source, told.location, told.added.models) == ("DataHub", hub.url, 2)
    assert not shop.search(entities=[urn]).entities
    shop.ingest("datahub")
    memory = shop.remember("Net of refunds.", entities=[urn]).memory
    assert memory.entities == (ORDERS,)
    assert shop.inspect(ORDERS).sections["columns"][1]["name"] == "amount"
    hub.requests.clear()
    again = shop.ingest("datahub")
    assert (again.added.models, again.changed.models, again.gone.models) == (0, 0, 0)
    assert hub.requests == ["scrollAcrossEntities", "entities"]
    hub.state.datasets[urn]["fields"]["amount"]["type"] = "NUMBER"
    assert shop.ingest("datahub").changed.models == 1


def test_who_is_not_listed_is_asked_for_before_it_counts_as_gone(hub: Datahub, shop: OnRecord) -> None:
    orders, raw = a_shop(hub)
    third = hub.add("acme.sales.refunds")
    shop.ingest("datahub")
    memory = shop.remember("Net of refunds.", entities=[orders]).memory.id
    hub.unlisted = {orders, raw}
    told = shop.ingest("datahub")
    assert told.gone.models == told.gone.datasources == 0
    [note] = told.notes
    assert "missing from DataHub's listing but still in DataHub" in note
    assert shop.show(memory).memory.entities == (ORDERS,)
    # DataHub fails when it is asked for them: it has said nothing.
    hub.fail(500, "entities", nth=2, times=9)
    told = shop.ingest("datahub")
    assert told.gone.models == 0
    assert "stay in the catalog unchanged, since DataHub did not describe them" in told.notes[0]
    hub.calm()
    for body in (b'{"data": {"entities": []}}', b'{"data": {"entities": [null, null]}}', b'{"data": {}}'):
        hub.answer(body, "entities", nth=2)
        assert shop.ingest("datahub").gone.models == 0
        hub.calm()
    unsaid = [{"urn": urn, "exists": None, "status": None} for urn in (raw, orders)]
    hub.answer(json.dumps({"data": {"entities": unsaid}}).encode(), "entities", nth=2)
    assert shop.ingest("datahub").gone.models == 0
    hub.calm()
    # Nothing at all is listed, as for a token that may see nothing.
    hub.unlisted.add(third)
    assert shop.ingest("datahub").gone.models == 0
    hub.state.datasets[orders]["removed"] = True
    del hub.state.datasets[raw]
    would = shop.ingest("datahub", dry_run=True)
    assert set(would.gone_entities) == {ORDERS, "snowflake_acme_raw"}
    assert shop.show(memory).memory.entities == (ORDERS,)
    told = shop.ingest("datahub")
    assert set(told.gone_entities) == {ORDERS, "snowflake_acme_raw"}
    assert [lost.memory for lost in told.lost] == [memory]
    hub.unlisted.clear()
    hub.state.datasets[orders]["removed"] = False
    assert shop.ingest("datahub").added.models == 1, "it is back"


def test_a_dataset_on_which_datahub_fails_stays_as_it_was_and_the_others_are_read(
    hub: Datahub, shop: OnRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, _ = a_shop(hub)
    others = [hub.add(f"acme.sales.t{number:02}", description="Old.") for number in range(20)]
    shop.ingest("datahub")
    for each in (orders, *others):
        hub.state.datasets[each]["description"] = "New."
    hub.state.datasets[orders]["broken"] = True
    hub.requests.clear()
    told = shop.ingest("datahub")
    assert (told.changed.models, told.gone.models) == (20, 0)
    assert len(hub.requests) < 20, "the others are not read one by one"
    [note] = told.notes
    assert note.startswith(
        f"{orders} stays in the catalog unchanged, since DataHub did not describe it: DataHub at {hub.url} refused: an aspect"
    )
    assert shop.inspect(ORDERS).sections.get("description") is None
    hub.state.datasets[orders]["broken"] = False
    assert shop.ingest("datahub").changed.models == 1
    # An answer that is longer than we read is asked for in parts.
    monkeypatch.setattr("onrecord.catalog.datahub.client.ANSWER_BYTES", 5_000)
    hub.state.datasets[orders]["description"] = "x" * 6_000
    hub.state.datasets[others[0]]["description"] = "Newer."
    told = shop.ingest("datahub")
    assert told.changed.models == 1
    assert "more than the 5,000 bytes" in told.notes[0]


def test_a_datahub_that_fails_changes_nothing(hub: Datahub, shop: OnRecord, tmp_path: Path) -> None:
    orders, raw = a_shop(hub)
    shop.ingest("datahub")
    memory = shop.remember("Net of refunds.", entities=[orders]).memory.id
    before = whole(shop, tmp_path)
    del hub.state.datasets[raw]
    hub.state.datasets[orders]["description"] = "New."
    page = {"scrollAcrossEntities": {"nextScrollId": "1", "searchResults": [{"entity": {"urn": orders}}]}}
    dataset: dict[str, Any] = {"urn": orders, "exists": True, "tags": "none"}
    failures: dict[str, Any] = {
        "failed": lambda: hub.fail(500, times=999),
        "failed ": lambda: hub.fail(500, "entities", times=999),
        "does not accept": lambda: hub.fail(401),
        "does not allow": lambda: hub.fail(403, "entities"),
        "its listing does not end": lambda: hub.answer(json.dumps({"data": page}).encode(), "scroll", times=9),
        "the listing is missing": lambda: hub.answer(b'{"data": {"scrollAcrossEntities": null}}', "scroll"),
    }  # fmt: skip
    for said, happens in failures.items():
        happens()
        with pytest.raises(CatalogUnavailable, match=said.strip()):
            shop.ingest("datahub")
        hub.calm()
        assert whole(shop, tmp_path) == before
    for odd in (
        {"exists": True},
        dataset,
        {**dataset, "tags": None, "exists": None},
        {**dataset, "urn": raw},
    ):
        hub.answer(json.dumps({"data": {"entities": [odd]}}).encode(), "entities", times=9)
        assert "DataHub did not describe it" in shop.ingest("datahub").notes[0]
        hub.calm()
        assert whole(shop, tmp_path) == before
    assert shop.show(memory).memory.entities == (ORDERS,)


def whole(door: OnRecord, folder: Path) -> list[str]:
    path = folder / "whole.jsonl"
    door.export(str(path), all_tenants=True)
    return path.read_text(encoding="utf-8").splitlines()[1:]


def test_without_an_address_or_with_options_that_do_not_apply_it_is_refused(
    hub: Datahub, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Invalid, match="datahub_url: is not set; set it to ingest from DataHub"):
        open_source("datahub")
    with pytest.raises(Invalid, match="schema: does not apply to datahub"):
        open_source("datahub", schema="public", datahub=ServiceAddress(url=hub.url))
    with connect(":memory:", embedder="none") as door:
        inside = door.as_caller(
            door.caller, StorePolicy(sources=("shop.db",), datahub=ServiceAddress(url=hub.url))
        )
        with pytest.raises(Forbidden, match="ONRECORD_SOURCES"):
            inside.ingest("datahub")
    monkeypatch.setenv("ONRECORD_DATAHUB_TIMEOUT", "600")
    with pytest.raises(Invalid, match="datahub_timeout"):
        connect(":memory:", embedder="none")


def test_many_datasets_are_read_page_by_page_and_not_held(
    hub: Datahub, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tries(300, soaking=10_000)
    monkeypatch.setattr(datasets, "LISTED_AT_ONCE", tries(100, soaking=500))
    for number in range(many):
        hub.add(
            f"acme.s{number % 7}.t{number}", fields={"id": "NUMBER", "amount": "FLOAT"}, description="x" * 200
        )
    source = source_of(hub)
    assert len(source.fingerprints()) == many
    assert len(source.datasources()) == 7
    pages = -(-many // datasets.LISTED_AT_ONCE)
    assert hub.requests == ["scrollAcrossEntities"] * pages + ["entities"] * (
        -(-many // datasets.READ_AT_ONCE)
    )
    assert sum(1 for _ in source.models()) == many
    assert len(hub.requests) == pages + -(-many // datasets.READ_AT_ONCE), "nothing is read twice"
