"""DOES a question reach what is known of the models next to those it is about, and only where there is lineage?"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.recall import graph
from onrecord.recall.hits import Hit
from onrecord.store.tenant import HomeAddress
from onrecord.store.view import View
from onrecord.testing.embedder import StubEmbedder

#: Each of these tables is made from the one before.
#: In so small a store every note is near to every question; by words alone it is seen what lineage leads to.
pytestmark = pytest.mark.usefixtures("words_alone")

CHAIN = ("raw_orders", "orders", "daily_orders")


def a_manifest(path: Path, made_from: dict[str, list[str]], relation: str = "") -> str:
    """`relation` is the database and schema in which the tables lie."""
    database, _, schema = relation.partition(".")
    at = {"database": database, "schema": schema} if relation else {}
    nodes = {
        f"model.shop.{name}": {
            "resource_type": "model",
            "name": name,
            "package_name": "shop",
            **at,
            "config": {"materialized": "table"},
            "columns": {"total": {"name": "total"}, "day": {"name": "day"}},
            "depends_on": {"nodes": [f"model.shop.{each}" for each in above]},
        }
        for name, above in made_from.items()
    }
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    metadata = {"dbt_schema_version": version, "project_name": "shop", "adapter_type": "postgres"}
    path.write_text(json.dumps({"metadata": metadata, "nodes": nodes, "sources": {}}))
    return str(path)


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    return a_manifest(
        tmp_path / "manifest.json",
        {"raw_orders": [], "orders": ["raw_orders"], "daily_orders": ["orders"], "visits": []},
    )


@pytest.fixture
def lonely(tmp_path: Path) -> str:
    """The same models, none of them made from another."""
    (tmp_path / "lonely").mkdir()
    return a_manifest(tmp_path / "lonely" / "manifest.json", {key: [] for key in (*CHAIN, "visits")})


def tell(door: OnRecord) -> OnRecord:
    """No two of these share a word that tells anything."""
    for id, text, reference in (
        ("seed", "Refunds are booked negative", "shop.orders"),
        ("below", "Gaps on Sundays mean closed tills", "shop.daily_orders.total"),
        ("above", "Loader skips malformed lines", "shop.raw_orders"),
        ("apart", "Bots inflate page counts", "shop.visits"),
    ):
        door.remember(text, id=id, entities=[reference])
    return door


@pytest.fixture
def memory(memory: OnRecord, manifest: str) -> OnRecord:
    memory.ingest(manifest)
    return tell(memory)


def found(door: OnRecord, question: str = "refunds", **how: Any) -> dict[str, Hit]:
    return {hit.memory.id: hit for hit in door.recall(question, recipe="graph", **how).hits}


def test_what_is_known_of_the_models_above_and_below_is_reached_with_the_path(memory: OnRecord) -> None:
    hits = found(memory)
    assert next(iter(hits)) == "seed"
    assert set(hits) == {"seed", "below", "above"}
    assert hits["below"].why.path == ("seed", "shop.orders → shop.daily_orders")
    assert hits["above"].why.path == ("seed", "shop.raw_orders → shop.orders")
    assert [part.channel for part in hits["below"].why.parts] == ["graph"]


def test_a_memory_about_a_part_leads_on_like_one_about_the_model(memory: OnRecord) -> None:
    hits = found(memory, "Sundays")
    assert set(hits) == {"below", "seed"}
    assert hits["seed"].why.path == ("below", "shop.orders → shop.daily_orders")


def test_only_the_next_model_is_reached(memory: OnRecord) -> None:
    assert set(found(memory, "malformed")) == {"above", "seed"}


def test_what_has_no_lineage_leads_nowhere(memory: OnRecord) -> None:
    assert set(found(memory, "bots")) == {"apart"}


def test_lineage_that_a_source_no_longer_tells_leads_nowhere(memory: OnRecord, lonely: str) -> None:
    memory.ingest(lonely)
    assert set(found(memory)) == {"seed"}


def test_a_memory_that_the_asker_may_not_see_is_not_reached(memory: OnRecord) -> None:
    mine = memory.remember("Opening hours differ", id="mine", entities=["daily_orders"], scope="user")
    assert mine.memory.id in found(memory)
    bob = memory.as_caller(Caller(tenant=memory.caller.tenant, user="bob"))
    assert set(found(bob)) == {"seed", "below", "above"}


def test_another_tenant_has_another_lineage(memory: OnRecord, lonely: str) -> None:
    other = memory.as_caller(Caller(tenant="other", user="ann", permissions=memory.caller.permissions))
    other.ingest(lonely)
    assert set(found(tell(other))) == {"seed"}


def test_what_very_many_memories_are_about_joins_nothing(memory: OnRecord) -> None:
    for number in range(60):
        memory.remember(f"Note {number}", entities=["shop.daily_orders.day"])
    assert set(found(memory)) == {"seed", "below", "above"}


def test_of_a_model_that_feeds_very_many_only_some_are_followed(
    memory: OnRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed = {f"report_{number:02}": ["orders"] for number in range(40)}
    memory.ingest(a_manifest(tmp_path / "manifest.json", {"orders": [], **fed}))
    for name in fed:
        memory.remember(f"Only for {name}", entities=[f"shop.{name}"])
    hits = found(memory, limit=100)
    assert len(hits) == 1 + graph._MOST_NEIGHBOURS


@pytest.mark.parametrize("recipe", ["auto", "graph", "lexical", "semantic", "entity", "rrf", "blend"])
def test_where_there_is_no_lineage_no_order_changes(recipe: str, lonely: str) -> None:
    with (
        connect(":memory:", embedder=StubEmbedder()) as with_catalog,
        connect(":memory:", embedder=StubEmbedder()) as without,
    ):
        with_catalog.ingest(lonely)
        tell(with_catalog)
        tell(without)
        for question in ("refunds", "orders total", "shop.daily_orders"):
            told = [
                [(hit.memory.id, hit.score, hit.why) for hit in door.recall(question, recipe=recipe).hits]
                for door in (with_catalog, without)
            ]
            assert told[0] == told[1]


def test_the_default_recipe_goes_along_lineage_where_vectors_say_what_it_adds(manifest: str) -> None:
    with connect(":memory:", embedder=StubEmbedder()) as door:
        door.ingest(manifest)
        tell(door)
        (below,) = [hit for hit in door.recall("refunds Sundays").hits if hit.memory.id == "below"]
        assert below.why.path == ("seed", "shop.orders → shop.daily_orders")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Counts the views of tenants, each of which is a statement."""

    @contextmanager
    def counting() -> Iterator[list[str]]:
        seen: list[str] = []
        real = View.__init__

        def noted(
            self: View,
            transaction: Any,
            caller: Caller,
            now: Any,
            address: HomeAddress,
            *state: Any,
            **more: Any,
        ) -> None:
            seen.append(address.home.spelled)
            real(self, transaction, caller, now, address, *state, **more)

        monkeypatch.setattr(View, "__init__", noted)
        yield seen
        monkeypatch.undo()

    return counting


def test_nobody_looks_for_a_catalog_where_no_memory_is_about_a_model(opened: Callable[[], Any]) -> None:
    with connect(":memory:", embedder="none") as door:
        door.remember("Refunds are booked negative", entities=["thing:till", "memory:v1.2"])
        door.remember("Refunds are rare")
        with opened() as seen:
            assert len(found(door)) == 2
    assert seen == [door.caller.tenant, GLOBAL_TENANT]
