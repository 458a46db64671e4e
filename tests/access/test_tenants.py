"""WHAT is left of an erased tenant? Nothing in any table, nothing in the files, and no number that is given again."""

from dataclasses import replace
from pathlib import Path

import pytest

from onrecord import OnRecord, connect
from onrecord.store.ports.ledger import SentRequest
from onrecord.store.tables import metadata
from onrecord.testing.embedder import StubEmbedder


def filled(door: OnRecord, tenant: str) -> OnRecord:
    """Something of everything that a tenant can hold, findable by its bytes."""
    there = door.as_caller(replace(door.caller, tenant=tenant))
    one = there.remember("zqcontent one", hint="zqhint", tags=["zqtag"]).memory.id
    two = there.remember("zqcontent two", entities=["thing:zqentity"]).memory.id
    there.relate(one, "supports", two)
    there.revise(one, content="zqrevised")
    there.create_key(label="zqlabel", user="zquser")
    with there._store.ledger(tenant) as ledger:
        request = SentRequest(tenant, "zquser", "zqkey", "remember", "zqprint", there._clock())
        assert ledger.requests.keep(request, 201, {}, ())
    with pytest.raises(Exception, match="reserved"):
        there.create_key(tenant="global")
    return there


def test_every_table_that_bears_a_tenant_is_emptied_of_it(memory: OnRecord) -> None:
    filled(memory, "other")
    memory.remember("mine")
    before = memory._store.rows_of("default")
    answer = memory.erase_tenant("other", confirm="other")
    assert answer.residue == memory._store.rows_of("other") == {}
    assert {
        "memories",
        "versions",
        "relations",
        "postings",
        "facets",
        "terms",
        "tenants",
    } <= answer.erased.keys()
    assert {"api_keys", "audit", "idempotency"} <= answer.erased.keys()
    after = memory._store.rows_of("default")
    assert after["audit"] == before["audit"] + 1
    assert {**after, "audit": 0} == {**before, "audit": 0}
    assert memory.doctor().problems == ()


def test_a_catalog_goes_with_its_tenant(memory: OnRecord, tmp_path: Path) -> None:
    models = tmp_path / "shop" / "models" / "shop"
    models.mkdir(parents=True)
    text = "{version: 6, name: orders, data_source: shop, sql_table: orders, columns: [{name: amount}]}"
    (models / "orders.yaml").write_text(text)
    other = memory.as_caller(replace(memory.caller, tenant="other"))
    other.ingest(str(tmp_path / "shop"))
    (counted,) = [tenant for tenant in memory.list_tenants().tenants if tenant.name == "other"]
    assert counted.entities > 0
    answer = memory.erase_tenant("other", confirm="other")
    assert (answer.residue, answer.erased["memories"], answer.erased["tenants"]) == ({}, counted.entities, 1)
    assert other.entities().entities == ()


def test_what_was_said_in_it_goes_too(memory: OnRecord) -> None:
    other = memory.as_caller(replace(memory.caller, tenant="other", conversation="talk"))
    other.remember("something")
    other.note_turn("quagga")
    memory.erase_tenant("other", confirm="other")
    assert other.turns().turns == ()


@pytest.mark.parametrize("name", ["store.db", "notes/memories.yaml"])
def test_no_byte_of_it_is_left_in_the_files(tmp_path: Path, name: str) -> None:
    with connect(tmp_path / name, embedder=StubEmbedder()) as door:
        filled(door, "zqtenant")
        door.remember("mine")
        door.erase_tenant("zqtenant", confirm="zqtenant")
    left = {
        path.name: word
        for path in tmp_path.rglob("*")
        if path.is_file()
        for word in (b"zqcontent", b"zqhint", b"zqtag", b"zqrevised", b"zqlabel", b"zquser", b"zqkey")
        if word in path.read_bytes()
    }
    assert left == {}


def test_the_number_of_an_erased_tenant_is_given_to_no_other(memory: OnRecord) -> None:
    other = memory.as_caller(replace(memory.caller, tenant="other"))
    place = other.remember("first").memory.place
    memory.erase_tenant("other", confirm="other")
    again = other.remember("second").memory.place
    assert place is not None
    assert again is not None
    assert again.tenant > place.tenant


def test_a_new_table_of_tenants_cannot_be_forgotten() -> None:
    """What an erasure goes through is read off the tables; this names those that are of no tenant."""
    assert {name for name, table in metadata.tables.items() if "tenant" not in table.columns} == {
        "store_facts",
        "tenants",
    }
