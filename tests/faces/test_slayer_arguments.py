"""WHAT may be given to the methods of the semantic layer? The same on a store at hand as before a server, and nothing that
is wrong is taken for something else."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.catalog.queries import read_query
from onrecord.catalog.resolution import AmbiguousModel, Unresolved
from onrecord.errors import Invalid
from onrecord.faces import slayer
from onrecord.faces.slayer import SlayerClient
from onrecord.model.rules import type_of
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server

from ..surfaces.conftest import Served
from .conftest import Shell, ids, model, write_models

AMOUNT = "mydb.orders.amount"
QUERY = {"source_model": "orders", "measures": [{"formula": "amount:sum"}]}


@pytest.fixture
def bare() -> Iterator[OnRecord]:
    """A store into which nothing was ever read."""
    with connect(":memory:", embedder="none") as door:
        yield door


@pytest.fixture
def server(shop_file: Path, models: Path) -> Iterator[Served]:
    served = Served(db=str(shop_file), worker="no", faces="native,slayer", sources=str(models))
    yield served
    served.stop()


def over_http(server: Served, method: str, *given: Any, **named: Any) -> Any:
    async def talk() -> Any:
        client = SlayerClient(server.url)
        try:
            return await getattr(client, method)(*given, **named)
        finally:
            await client.close()

    return asyncio.run(talk())


class TestWithoutACatalog:
    @pytest.mark.parametrize(
        "reference", ["orders", "mydb.orders.amount", "memory:absent", "*:count", "system:x"]
    )
    def test_a_reference_means_nothing_and_nothing_is_saved(self, bare: OnRecord, reference: str) -> None:
        with pytest.raises(Invalid):
            slayer.save_memory(bare, "a note", [reference])
        assert bare.browse().memories == ()

    def test_a_query_reads_from_no_model(self, bare: OnRecord) -> None:
        with pytest.raises(Invalid, match="'orders'"):
            slayer.save_memory(bare, "an example", QUERY)
        assert bare.browse().memories == ()

    def test_another_memory_can_be_linked(self, bare: OnRecord) -> None:
        bare.remember("a note", id="first")
        told = slayer.save_memory(bare, "a second one", ["memory:first"])
        assert told["resolved_entities"] == ["memory:first"]

    def test_a_system_that_is_known_is_enough_of_a_catalog(self, bare: OnRecord, tmp_path: Path) -> None:
        bare.ingest(str(write_models(tmp_path / "layer", [model("mydb", "orders", "id")])))
        slayer.delete_datasource(bare, "mydb")
        with pytest.raises(Invalid, match="'orders'"):
            slayer.save_memory(bare, "a note", ["orders"])


class TestSearching:
    @pytest.mark.parametrize("method", [slayer.search, slayer.search_flat])
    @pytest.mark.parametrize("entities", ["orders.amount", {"orders.amount": 1}, 7])
    def test_what_is_no_list_of_entities_is_refused(
        self, quick: OnRecord, method: Callable[..., Any], entities: Any
    ) -> None:
        with pytest.raises(Invalid, match=f"entities.*{type_of(entities)}"):
            method(quick, entities=entities)

    def test_a_query_that_was_read_already_is_taken_too(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "an example", QUERY)
        for method, found in ((slayer.search, "example_queries"), (slayer.search_flat, "results")):
            told = method(quick, query=read_query(QUERY))
            assert told["resolved_input_entities"] == ["mydb.orders", AMOUNT]
            assert "1" in ids(told[found])

    @pytest.mark.parametrize("most", ["5", 1.5, True, None, 0])
    def test_a_number_of_results_is_a_whole_one(self, quick: OnRecord, most: Any) -> None:
        with pytest.raises(Invalid, match="max_results"):
            slayer.search_flat(quick, max_results=most)

    @pytest.mark.parametrize("gap", ["\n\n", "\n \t\n", "\r\n\r\n", "\n\n\n\n"])
    def test_a_preview_is_the_first_paragraph_however_it_ends(self, quick: OnRecord, gap: str) -> None:
        slayer.save_memory(quick, f"{gap}first\nparagraph{gap}second", ["orders"])
        (hit,) = slayer.search_flat(quick)["results"]
        assert (hit["text"], hit["description"]) == ("", "first\nparagraph")

    def test_an_entity_in_one_list_has_its_own_description(self, memory: OnRecord, tmp_path: Path) -> None:
        orders = model("mydb", "orders", "id", description="All that was\nbought.", label="description: none")
        orders["columns"].append({"name": "amount", "description": "In cents."})
        memory.ingest(str(write_models(tmp_path / "layer", [orders])))
        found = slayer.search_flat(memory, question="orders amount", entities=["orders", "orders.id"])
        told = {hit["id"]: hit["description"] for hit in found["results"]}
        assert told["mydb.orders"] == "All that was bought."
        assert told["mydb.orders.amount"] == "In cents."
        assert told["mydb.orders.id"] is None


class TestWhatIsSavedOtherwise:
    def test_a_secret_that_was_taken_out_is_told(self, quick: OnRecord) -> None:
        told = slayer.save_memory(quick, "the key is AKIAABCDEFGHIJKLMNOP", ["orders"], id="n")
        assert any("secret" in warning for warning in told["warnings"])
        assert "AKIA" not in quick.show("n").memory.content

    def test_a_note_that_waits_for_a_person_says_so(self, quick: OnRecord) -> None:
        alone = quick.as_caller(replace(quick.caller, actor="unattended", run="nightly", operator=False))
        told = slayer.save_memory(alone, "a note", ["orders.id"], id="n")
        assert quick.show("n").memory.status == "pending"
        assert any("accepts it" in warning for warning in told["warnings"])


class TestFaults:
    def test_a_preview_that_is_no_text_is_refused(self, quick: OnRecord) -> None:
        with pytest.raises(Invalid, match=r"description.*a number"):
            slayer.save_memory(quick, "a note", ["orders"], description=5)  # type: ignore[arg-type]

    def test_they_name_the_arguments_that_were_given(self, quick: OnRecord) -> None:
        for method, given, argument in (
            (slayer.save_memory, {"learning": "a note", "linked_entities": ["nowhere"]}, "linked_entities"),
            (slayer.inspect_model, {"model_name": ""}, "model_name"),
            (slayer.delete_model, {"name": ""}, "name"),
            (slayer.edit_model_remove, {"name": "orders", "remove": []}, "remove"),
        ):
            with pytest.raises(Invalid) as told:
                method(quick, **given)  # type: ignore[operator]
            assert [fault.field for fault in told.value.faults] == [argument]

    def test_several_are_of_the_kind_of_the_first(self, quick: OnRecord, tmp_path: Path) -> None:
        twice = [model(each, "events", "id") for each in ("dsa", "dsb")]
        quick.ingest(str(write_models(tmp_path / "twice", twice)))
        for linked, kind in ((["nowhere", "events"], Unresolved), (["events", "nowhere"], AmbiguousModel)):
            with pytest.raises(Invalid) as told:
                slayer.save_memory(quick, "a note", linked)
            assert isinstance(told.value, kind)
            assert "'nowhere'" in str(told.value)
            assert "'events'" in str(told.value)


class TestOverHttp:
    @pytest.mark.parametrize(
        ("method", "given", "argument"),
        [
            ("forget_memory", [True], "id"),
            ("forget_memory", [None], "id"),
            ("inspect_model", [""], "model_name"),
            ("inspect_model", [5], "model_name"),
            ("inspect_model", ["orders", 3, False, "markdown", "joins"], "sections"),
            ("edit_model_remove", ["orders", "amount"], "remove"),
            ("edit_model_remove", ["orders", []], "remove"),
            ("delete_model", [" "], "name"),
        ],
    )
    def test_what_would_arrive_as_something_else_is_refused(
        self, server: Served, method: str, given: list[Any], argument: str
    ) -> None:
        with pytest.raises(Invalid) as told:
            over_http(server, method, *given)
        assert [fault.field for fault in told.value.faults] == [argument]
        assert "amount" in slayer.inspect_model(server.parts.door, "orders")

    @pytest.mark.parametrize("form", ["markdown", "json"])
    def test_no_sections_are_none_as_on_a_store_at_hand(self, server: Served, form: Any) -> None:
        at_hand = slayer.inspect_model(server.parts.door, "orders", sections=[], format=form)
        assert over_http(server, "inspect_model", "orders", sections=[], format=form) == at_hand
        assert "joins" not in json.dumps(at_hand).lower()

    def test_a_cap_may_be_any_number(self, server: Served) -> None:
        asked = {"num_rows": 10**9, "descriptions_max_chars": 10**9}
        at_hand = slayer.inspect_model(server.parts.door, "orders", **asked)
        assert over_http(server, "inspect_model", "orders", **asked) == at_hand
        with pytest.raises(Invalid, match="num_rows"):
            slayer.inspect_model(server.parts.door, "orders", num_rows=-1)


class TestAgents:
    def test_null_counts_as_left_out(self, quick: OnRecord) -> None:
        slayer.save_memory(quick, "a note", ["orders.amount"])
        tool_request = ToolRequest(quick, chosen(["slayer"]))

        async def talk() -> tuple[Any, ...]:
            async with Client(build_server(lambda context: tool_request)) as client:
                asked = {"entities": ["orders.amount"], "max_results": None, "compact": None}
                found = await client.call_tool(
                    "search", asked | {"cypher_filter": None, "max_memories": None}
                )
                shown = await client.call_tool("inspect_model", {"model_name": "orders", "num_rows": None})
                return found, shown

        found, shown = asyncio.run(talk())
        assert ids(found.structured_content["memories"]) == ["1"]
        assert not shown.is_error


class TestAtAShell:
    def test_one_list_and_the_caps_of_several_do_not_go_together(self, shell: Shell) -> None:
        said = shell("search", "--max-results", "1", "--max-memories", "1")
        assert said.code == 1
        assert "max_memories" in said.err

    def test_previews_or_none_are_those_of_one_list(self, shell: Shell) -> None:
        shell("memory", "save", "--learning", "a note", "--entities", "orders.id")
        for option, text in (("--compact", ""), ("--no-compact", "a note")):
            said = shell("search", option, "--format", "json")
            assert [hit["text"] for hit in json.loads(said.out)["results"]] == [text]
