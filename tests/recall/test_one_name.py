"""IS one thing found under all its names? As its source calls it, in full, bare, and under what it was called before."""

from pathlib import Path

import pytest

from onrecord import OnRecord
from onrecord.errors import Invalid
from onrecord.faces.slayer import calls as slayer

from .test_lineage import a_manifest

pytestmark = pytest.mark.usefixtures("words_alone")

URN = "urn:li:dataset:(urn:li:dataPlatform:postgres,warehouse.public.orders,PROD)"
NAMES = (URN, "shop.orders", "orders")


@pytest.fixture
def shop(memory: OnRecord, tmp_path: Path) -> OnRecord:
    """Three memories about one table, each under the name that its writer knew; two of them from before the catalog."""
    memory.remember("Refunds are negative", id="urn", entities=[URN])
    memory.remember("Loaded at four", id="bare", entities=["orders"])
    memory.ingest(
        a_manifest(tmp_path / "manifest.json", {"orders": [], "visits": []}, relation="warehouse.public")
    )
    memory.remember("Amounts are net", id="full", entities=["shop.orders"])
    memory.remember("Totals are in cents", id="column", entities=["shop.orders.total"])
    memory.remember("Bots inflate it", id="other", entities=["shop.visits"])
    return memory


@pytest.mark.parametrize("name", NAMES)
def test_a_list_shows_what_is_known_under_any_name(shop: OnRecord, name: str) -> None:
    listed = {memory.id for memory in shop.browse(entities=[name]).memories}
    assert listed == {"urn", "bare", "full"}
    assert shop.tally("kind", entities=[name]).total == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_question_finds_it_and_what_is_known_of_its_parts_after_it(shop: OnRecord, name: str) -> None:
    for recipe in ("entity", "graph", "auto"):
        found = [hit.memory.id for hit in shop.recall("", entities=[name], recipe=recipe).hits]
        assert set(found[:3]) == {"urn", "bare", "full"}, recipe
        assert found[3] == "column", recipe
        assert "other" not in found
    only = shop.recall("loaded refunds amounts totals", only_entities=[name], min_relevance=0).hits
    assert {hit.memory.id for hit in only} == {"urn", "bare", "full"}


def test_a_question_about_a_part_does_not_find_the_whole(shop: OnRecord) -> None:
    found = [hit.memory.id for hit in shop.recall("", entities=["orders.total"], recipe="entity").hits]
    assert found == ["column"]
    assert [memory.id for memory in shop.browse(entities=["orders.total"]).memories] == ["column"]


def test_what_the_catalog_does_not_know_is_looked_for_as_given(shop: OnRecord) -> None:
    assert shop.browse(entities=["thing:lamp"]).memories == ()
    assert shop.recall("", entities=["nowhere.at.all"], recipe="entity").hits == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_search_finds_it_under_any_name(shop: OnRecord, name: str) -> None:
    found = shop.search(entities=[name])
    assert {hit.id for hit in found.memories} >= {"urn", "bare", "full"}
    assert "other" not in {hit.id for hit in found.memories}
    asked = shop.search("refunds loaded amounts", entities=[name])
    assert {hit.id for hit in asked.memories} >= {"urn", "bare", "full"}


@pytest.mark.parametrize("recipe", ["entity", "graph", "auto"])
def test_parts_that_only_global_memories_are_about_are_found_too(shop: OnRecord, recipe: str) -> None:
    shop.forget("column")
    everyones = shop.remember("Totals are net", scope="global", entities=["shop.orders.total"]).memory
    found = [hit.memory.id for hit in shop.recall("", entities=["orders"], recipe=recipe).hits]
    assert set(found[:3]) == {"urn", "bare", "full"}
    assert everyones.id in found[3:]


def test_an_unknown_reference_is_refused_once_there_is_a_catalog(shop: OnRecord) -> None:
    with pytest.raises(Invalid, match="nowhere"):
        shop.remember("Nobody knows it", entities=["shop.nowhere"])


@pytest.mark.parametrize("name", NAMES)
def test_the_slayer_face_finds_it_under_any_name(shop: OnRecord, name: str) -> None:
    told = slayer.search(shop, entities=[name])
    assert {hit["id"] for hit in told["memories"]} >= {"urn", "bare", "full"}
