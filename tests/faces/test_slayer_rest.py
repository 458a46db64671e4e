"""WHO can speak the words of the semantic layer over the network? Any program by its routes, and its client by a URL."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord import connect
from onrecord.errors import Forbidden, Invalid, NotFound, StoreUnavailable, Unauthenticated
from onrecord.faces.slayer import SlayerClient

from ..surfaces.conftest import Served
from .conftest import ids, read_in

AMOUNT, STATUS = "mydb.orders.amount", "mydb.orders.status"
NOTE = {"learning": "Amounts are in cents.", "linked_entities": ["orders.amount"]}
QUERY = {"source_model": "orders", "measures": [{"formula": "amount:sum"}], "filters": ["status = 'paid'"]}


@pytest.fixture
def server(shop_file: Path, models: Path) -> Iterator[Served]:
    """A server with the routes of the face, whose store has read the shop."""
    served = Served(db=str(shop_file), worker="no", faces="native,slayer", sources=str(models))
    yield served
    served.stop()


def post(server: Served, path: str, **body: Any) -> Any:
    said = server.client.post(path, json=body)
    assert said.status_code == 200, said.text
    return said.json()


def refused(said: Any, status: int = 400) -> str:
    """The one shape of an error there."""
    assert said.status_code == status, said.text
    assert list(said.json()) == ["detail"]
    assert said.headers["content-type"] == "application/json"
    return str(said.json()["detail"])


def count(server: Served) -> int:
    return len(server.parts.door.browse(limit=200).memories)


class TestSaving:
    def test_a_save_answers_200_with_the_id_and_what_was_resolved(self, server: Served) -> None:
        said = server.client.post("/memories", json=NOTE)
        assert said.status_code == 200
        assert said.json() == {"memory_id": "1", "resolved_entities": [AMOUNT], "warnings": []}

    def test_ids_count_up_and_one_of_your_own_is_kept(self, server: Served) -> None:
        assert [post(server, "/memories", **NOTE)["memory_id"] for _ in range(3)] == ["1", "2", "3"]
        assert post(server, "/memories", **NOTE, id="kb.policy.42")["memory_id"] == "kb.policy.42"
        assert post(server, "/memories", **NOTE, id=42)["memory_id"] == "42"

    def test_a_second_save_under_an_id_replaces_the_first(self, server: Served) -> None:
        post(server, "/memories", **NOTE, id="n")
        post(server, "/memories", learning="Now another.", linked_entities=["orders.status"], id="n")
        memory = server.parts.door.show("n").memory
        assert (memory.content, memory.entities) == ("Now another.", (STATUS,))

    def test_a_query_is_kept_with_what_it_is_about(self, server: Served) -> None:
        saved = post(server, "/memories", learning="Paid revenue", linked_entities=QUERY)
        assert saved["resolved_entities"] == ["mydb.orders", AMOUNT, STATUS]
        assert server.parts.door.show(saved["memory_id"]).memory.query is not None

    def test_what_a_name_could_also_mean_is_a_warning(self, server: Served) -> None:
        saved = post(server, "/memories", learning="A note.", linked_entities=["orders"])
        assert saved["resolved_entities"] == ["mydb.orders"]
        assert "customers" in " ".join(saved["warnings"])

    @pytest.mark.parametrize(
        ("linked", "named"),
        [
            (["amount"], "invoices"),
            (["nonexistent_thing"], "nonexistent_thing"),
            (["mydb.no_such_model"], "no_such_model"),
            (["orders.amount", "orders.no_such_column"], "no_such_column"),
            (["memory:absent"], "absent"),
            (["*:sum"], "*:sum"),
            ([], "must not be empty"),
            ([7], "not a number"),
            ("orders.amount", "not a text"),
            ({"source_model": "orders", "filters": ["no_such_column = 1"]}, "no_such_column"),
            ({"source_model": "orders", "colour": "red"}, "colour"),
        ],
    )
    def test_what_cannot_be_resolved_is_400_and_nothing_is_saved(
        self, server: Served, linked: Any, named: str
    ) -> None:
        said = server.client.post("/memories", json={"learning": "A note.", "linked_entities": linked})
        assert named in refused(said)
        assert count(server) == 0

    @pytest.mark.parametrize(
        "id", ["", "a:b", "a/b", "a?b", "a#b", "a b", "a\tb", "a\nb", "a\x01b", True, 1.5]
    )
    def test_an_id_of_other_characters_is_400(self, server: Served, id: Any) -> None:
        refused(server.client.post("/memories", json=NOTE | {"id": id}))
        assert count(server) == 0

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"learning": "A note."},
            NOTE | {"learning": "  "},
            NOTE | {"learning": 5},
            NOTE | {"description": "d" * 501},
            NOTE | {"colour": "red"},
        ],
    )
    def test_a_body_with_faults_is_400(self, server: Served, body: dict[str, Any]) -> None:
        refused(server.client.post("/memories", json=body))
        assert count(server) == 0

    def test_a_body_that_is_no_json_object_is_refused(self, server: Served) -> None:
        json = {"Content-Type": "application/json"}
        refused(server.client.post("/memories", content=b"{", headers=json))
        refused(server.client.post("/memories", content=b"[]", headers=json))
        refused(server.client.post("/memories", content=b"x" * 2_200_000, headers=json), 413)


class TestForgetting:
    def test_it_names_what_is_gone(self, server: Served) -> None:
        post(server, "/memories", **NOTE)
        said = server.client.delete("/memories/1")
        assert (said.status_code, said.json()) == (200, {"deleted_id": "1"})
        assert count(server) == 0

    def test_what_is_not_there_is_404(self, server: Served) -> None:
        assert "nowhere" in refused(server.client.delete("/memories/nowhere"), 404)

    @pytest.mark.parametrize("id", ["a%3Ab", "a%2Fb", "a%3Fb", "a%23b", "a%20b", "a%01b", ""])
    def test_a_bad_id_is_400(self, server: Served, id: str) -> None:
        refused(server.client.delete(f"/memories/{id}"))

    def test_recalling_by_post_is_no_longer_there(self, server: Served) -> None:
        assert server.client.post("/memories/recall", json={}).status_code in (404, 405)

    def test_our_own_routes_stay_what_they_are(self, server: Served) -> None:
        assert server.client.post("/v1/search", json={"question": "x"}).status_code == 200
        assert server.client.post("/v1/memories", json={"content": "x"}).status_code == 201


class TestSearching:
    def test_each_kind_has_a_list_of_its_own(self, server: Served) -> None:
        post(server, "/memories", **NOTE)
        post(server, "/memories", learning="Paid revenue", linked_entities=QUERY)
        found = post(
            server, "/search", entities=["orders.amount"], question="amount in cents", max_entities=1
        )
        assert ids(found["memories"]) == ["1"]
        assert ids(found["example_queries"]) == ["2"]
        assert len(found["entities"]) == 1
        assert found["resolved_input_entities"] == [AMOUNT]

    def test_with_max_results_there_is_one_list(self, server: Served) -> None:
        post(server, "/memories", **NOTE)
        found = post(server, "/search", question="cents", max_results=1)
        assert ids(found["results"]) == ["1"]
        assert found["results"][0]["text"] == ""
        full = post(server, "/search", question="cents", compact=False)
        assert full["results"][0]["text"] == "Amounts are in cents."
        refused(server.client.post("/search", json={"max_results": 1, "max_memories": 1}))

    def test_nothing_given_is_the_newest_with_a_warning(self, server: Served) -> None:
        post(server, "/memories", **NOTE)
        found = server.client.post("/search").json()
        assert ids(found["memories"]) == ["1"]
        assert found["resolved_input_entities"] == []
        assert found["warnings"]

    def test_what_is_unknown_is_dropped_with_a_warning(self, server: Served) -> None:
        found = post(server, "/search", entities=["memory:nonexistent", "orders.amount", "nothing"])
        assert found["resolved_input_entities"] == [AMOUNT]
        assert "nonexistent" in " ".join(found["warnings"])

    @pytest.mark.parametrize("question", ["units: cents?", '"cents', "((cents", "cents AND (", "?!"])
    def test_no_question_breaks_it(self, server: Served, question: str) -> None:
        post(server, "/memories", **NOTE)
        found = post(server, "/search", question=question)
        assert ids(found["memories"]) == (["1"] if "cents" in question else [])

    @pytest.mark.parametrize(
        "asked",
        [
            {"max_memories": -1},
            {"max_results": 0},
            {"datasource": "nowhere"},
            {"entities": [7]},
            {"entities": "orders"},
            {"max_memories": True},
            {"cypher_filter": "MATCH (n) RETURN n"},
            {"colour": "red"},
        ],
    )
    def test_what_is_wrong_is_400(self, server: Served, asked: dict[str, Any]) -> None:
        refused(server.client.post("/search", json=asked))


class TestWhoAsks:
    def test_without_a_key_there_is_401_once_there_are_keys(self, server: Served) -> None:
        reader = server.connect(server.make_key(permissions=["memory.read"]))
        refused(server.client.post("/search", json={}), 401)
        refused(server.client.post("/memories", json=NOTE), 401)
        assert reader.post("/search", json={}).status_code == 200
        refused(reader.post("/memories", json=NOTE), 403)
        refused(reader.delete("/memories/1"), 403)
        reader.close()

    def test_another_tenant_finds_nothing_and_forgets_nothing(self, server: Served) -> None:
        post(server, "/memories", **NOTE)
        stranger = server.connect(server.make_key(tenant="elsewhere"))
        assert stranger.post("/search", json={}).json()["memories"] == []
        unknown = refused(stranger.delete("/memories/nowhere"), 404)
        assert refused(stranger.delete("/memories/1"), 404) == unknown.replace("nowhere", "1")
        assert count(server) == 1
        stranger.close()


def through(client: Callable[[], SlayerClient], talk: Callable[[SlayerClient], Any]) -> Any:
    async def run() -> Any:
        here = client()
        try:
            return await talk(here)
        finally:
            await here.close()

    return asyncio.run(run())


class TestClient:
    def test_it_does_over_http_what_it_does_on_a_store_at_hand(
        self, server: Served, tmp_path: Path, models: Path
    ) -> None:
        async def talk(client: SlayerClient) -> list[Any]:
            return [
                await client.save_memory("Amounts are in cents.", ["orders.amount"]),
                await client.save_memory(
                    "Paid", linked_entities=QUERY, id="kb.é&+%2F", description="A preview"
                ),
                await client.save_memory("Regions.", ("regions.name", "users.name", "orders.status"), id="n"),
                await client.search(entities=["orders.amount"], max_memories=1),
                await client.search(),
                await client.search_flat(question="cents"),
                await client.search_flat(
                    entities=["orders.amount"], cypher_filter="MATCH (n:Memory) RETURN n.id AS id"
                ),
                await client.inspect_model("orders"),
                await client.inspect_model("orders", format="json", sections=["columns"], num_rows=0),
                await client.edit_model_remove("orders", ["status"]),
                await client.delete_model("regions", data_source="mydb"),
                await client.delete_datasource("other"),
                await client.forget_memory("kb.é&+%2F"),
                await client.forget_memory(1),
            ]

        with connect(tmp_path / "at-hand.db") as door:
            read_in(door, models)
        at_hand = through(lambda: SlayerClient(storage=tmp_path / "at-hand.db"), talk)
        assert through(lambda: SlayerClient(server.url), talk) == at_hand

    @pytest.mark.parametrize(
        ("kind", "method", "given"),
        [
            (Invalid, "save_memory", {"learning": "x", "linked_entities": []}),
            (Invalid, "save_memory", {"learning": "x", "linked_entities": ["amount"]}),
            (Invalid, "save_memory", {"learning": "x", "linked_entities": ["orders"], "id": "a:b"}),
            (Invalid, "search", {"max_memories": -1}),
            (Invalid, "search_flat", {"max_results": 0}),
            (Invalid, "inspect_model", {"model_name": "orders", "format": "xml"}),
            (NotFound, "inspect_model", {"model_name": "nothing"}),
            (Invalid, "edit_model_remove", {"name": "orders", "remove": []}),
            (NotFound, "forget_memory", {"identifier": "nowhere"}),
            (Invalid, "forget_memory", {"identifier": "a/b"}),
        ],
    )
    def test_its_errors_are_those_of_a_store_at_hand(
        self, server: Served, quick: Any, kind: type[Exception], method: str, given: dict[str, Any]
    ) -> None:
        async def talk(client: SlayerClient) -> str:
            with pytest.raises(kind) as refused:
                await getattr(client, method)(**given)
            return str(refused.value)

        over_http = through(lambda: SlayerClient(server.url), talk)
        assert over_http == asyncio.run(talk(SlayerClient(storage=quick)))

    def test_a_cap_may_be_any_number_from_0_on(self, server: Served, quick: Any) -> None:
        async def talk(client: SlayerClient) -> int:
            await client.save_memory("A note.", ["orders.amount"])
            return len((await client.search(question="note", max_memories=10**6))["memories"])

        assert through(lambda: SlayerClient(server.url), talk) == 1
        assert asyncio.run(talk(SlayerClient(storage=quick))) == 1

    def test_an_empty_list_never_stands_for_everything(self, server: Served) -> None:
        async def talk(client: SlayerClient) -> None:
            assert "## " not in await client.inspect_model("orders", sections=[])
            with pytest.raises(Invalid, match="remove"):
                await client.edit_model_remove("orders", None)  # type: ignore[arg-type]

        through(lambda: SlayerClient(server.url), talk)
        assert server.parts.door.inspect("orders").model == "mydb.orders"

    def test_it_shows_its_key(self, server: Served) -> None:
        key = server.make_key(permissions=["memory.read"])

        async def talk(client: SlayerClient) -> None:
            await client.search()
            with pytest.raises(Forbidden):
                await client.save_memory("A note.", ["orders"])

        through(lambda: SlayerClient(server.url, key=key), talk)
        with pytest.raises(Unauthenticated):
            through(lambda: SlayerClient(server.url), talk)

    def test_nobody_there_is_told_with_the_address(self) -> None:
        with pytest.raises(StoreUnavailable, match=r"http://127\.0\.0\.1:1"):
            through(lambda: SlayerClient("http://127.0.0.1:1"), lambda client: client.search())

    def test_it_needs_one_place(self) -> None:
        with pytest.raises(Invalid):
            SlayerClient()
        with pytest.raises(Invalid):
            SlayerClient("http://127.0.0.1:1", storage=":memory:")
