"""DOES every read take a thing by any of its names? As a search does: by URN, in full, bare; and not in other capitals."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.errors import OnRecordError
from onrecord.faces.slayer import calls as slayer
from onrecord.model.catalog import FieldUrn
from onrecord.model.edits import Edit
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from tests.recall.test_lineage import a_manifest
from tests.surfaces.test_mcp import Agent, introduce

__all__ = ["introduce"]

URN = "urn:li:dataset:(urn:li:dataPlatform:postgres,ware/house.public.orders,PROD)"
NAMES = (URN, "shop.orders", "orders")
PARTS = (str(FieldUrn(URN, "total")), "shop.orders.total", "orders.total")
#: Names are written as the catalog writes them: a search says so too.
OTHERWISE = ("Orders", "SHOP.orders", "shop.ORDERS", URN.upper())

#: Each read, and what it answers about the model.
READS: dict[str, Callable[[OnRecord, str], Any]] = {
    "search": lambda door, name: door.search(entities=[name]).resolved_input_entities,
    "recall": lambda door, name: sorted(
        hit.memory.id
        for hit in door.recall("refunds loaded amounts totals", only_entities=[name], min_relevance=0).hits
    ),
    "browse": lambda door, name: sorted(each.id for each in door.browse(entities=[name]).memories),
    "tally": lambda door, name: door.tally("kind", entities=[name]).total,
    "inspect": lambda door, name: door.inspect(name).model,
    "inspect's learnings": lambda door, name: [
        (each["id"], each["matched_entities"]) for each in door.inspect(name).sections["learnings"]
    ],
    "inspect in a datasource": lambda door, name: door.inspect(name, data_source="shop").model,
    "entities": lambda door, name: [each.canonical for each in door.entities(name).entities],
    "plan": lambda door, name: door.plan(name).entity,
    "changesets": lambda door, name: door.changesets(entity=name).total,
    "attach": lambda door, name: sorted(
        each.id for each in door.attach({"table": name}, again=True).memories
    ),
    "slayer's inspect_model": lambda door, name: slayer.inspect_model(door, name, format="json")["canonical"],  # type: ignore[index]
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnRecord]:
    """A table that memories refer to under three names, two of them from before the catalog, and one changeset of it."""
    folder: Path = tmp_path_factory.mktemp("shop")
    with connect(":memory:", embedder="none") as door:
        door.remember("Refunds are negative", id="urn", entities=[URN])
        door.remember("Loaded at four", id="bare", entities=["orders"])
        door.remember("Totals are in cents", id="part", entities=[PARTS[0]])
        door.ingest(
            a_manifest(folder / "manifest.json", {"orders": [], "visits": []}, relation="ware/house.public")
        )
        door.remember("Amounts are net", id="full", entities=["shop.orders"])
        edit = Edit(entity=URN, field="description", op="set", value="What was sold.")
        door.apply(URN, edits=[edit])
        yield door


@pytest.mark.parametrize("read", READS)
def test_every_read_takes_any_name_and_none_other(shop: OnRecord, read: str) -> None:
    in_full = READS[read](shop, "shop.orders")
    assert in_full
    assert [READS[read](shop, name) for name in NAMES] == [in_full] * len(NAMES)
    for name in OTHERWISE if read != "attach" else ():
        try:
            assert READS[read](shop, name) != in_full, name
        except (OnRecordError, KeyError) as refused:
            assert name in str(refused)


def test_what_is_learned_is_shown_whatever_it_was_called_when_it_was_saved(shop: OnRecord) -> None:
    assert READS["inspect's learnings"](shop, URN) == [
        ("urn", ["shop.orders"]),
        ("bare", ["shop.orders"]),
        ("part", ["shop.orders.total"]),
        ("full", ["shop.orders"]),
    ]
    for part in PARTS:
        assert READS["browse"](shop, part) == READS["recall"](shop, part) == ["part"]
        assert shop.plan(part).entity == "shop.orders"


def test_what_a_read_does_not_know_is_refused_and_not_answered_with_nothing(shop: OnRecord) -> None:
    for name in ("nowhere", "shop.nowhere", "urn:li:dataset:(nowhere)"):
        for read in ("inspect", "entities", "plan"):
            with pytest.raises(OnRecordError, match="nowhere"):
                READS[read](shop, name)
    with pytest.raises(OnRecordError, match="not found"):
        shop.inspect(PARTS[0])
    with pytest.raises(OnRecordError, match="not found"):
        shop.inspect(URN, data_source="visits")


def test_tools_take_any_name_too(shop: OnRecord, introduce: Callable[[Client], Agent]) -> None:
    agent = introduce(Client(build_server(lambda context: ToolRequest(shop, chosen(["full"])))))
    for name in NAMES:
        assert agent.did("inspect", model=name)["model"] == "shop.orders"
        assert agent.did("entities", inside=name)["total"] == 2


def test_what_is_removed_may_be_called_by_any_name(tmp_path: Path) -> None:
    manifest = a_manifest(tmp_path / "manifest.json", {"orders": []}, relation="ware/house.public")
    with connect(":memory:", embedder="none") as door:
        for kind in (None, "model"):
            door.ingest(manifest)
            assert door.drop_entity(URN, parts=["day"]).entities == 1
            assert door.drop_entity(PARTS[0]).entity == PARTS[1]
            assert door.drop_entity(URN, kind=kind).entity == "shop.orders"
