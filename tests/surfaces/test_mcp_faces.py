"""WHICH faces can an agent choose? The full one, the slayer one, and several together where no names collide."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.errors import Invalid
from onrecord.features import OPERATIONS
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.faces import FACES, chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server

from .test_mcp import ERAS, NATIVE, Agent, caller, introduce, said

__all__ = ["introduce"]
SLAYER = [
    "save_memory",
    "forget_memory",
    "search",
    "inspect_model",
    "list_datasources",
    "models_summary",
    "ingest_datasource_models",
    "delete_model",
    "delete_datasource",
    "edit_model",
]
Connect = Callable[..., Agent]


def write_model(root: Path, datasource: str, name: str, *columns: str) -> None:
    path = root / "models" / datasource / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {
        "version": 6,
        "name": name,
        "sql_table": name,
        "data_source": datasource,
        "columns": [{"name": column} for column in columns],
    }
    path.write_text(yaml.safe_dump(told))


@pytest.fixture
def door(tmp_path: Path) -> Iterator[OnRecord]:
    """A store that knows orders in one datasource and users in two."""
    layer = tmp_path / "layer"
    write_model(layer, "mydb", "orders", "id", "amount", "status")
    write_model(layer, "mydb", "invoices", "id", "amount")
    write_model(layer, "mydb", "users", "id")
    write_model(layer, "other", "users", "id", "amount")
    with connect(
        tmp_path / "faces.db", caller=caller(permissions=frozenset(PERMISSIONS), actor="person")
    ) as door:
        door.ingest(str(layer))
        yield door


@pytest.fixture
def agent(door: OnRecord, introduce: Callable[[Client], Agent]) -> Connect:
    def connected(*faces: str, mode: str = "auto", **who: Any) -> Agent:
        known: dict[str, Any] = {"permissions": frozenset(PERMISSIONS), "actor": "person"}
        tool_request = ToolRequest(door.as_caller(caller(**known | who)), chosen(faces))
        return introduce(Client(build_server(lambda context: tool_request), mode=mode))

    return connected


#: For a person at the command line, and never a model's.
OF_PEOPLE = {"export", "import_", "backup", "erase_tenant", "waive_keys"}


def test_the_full_face_has_a_tool_for_each_operation_that_is_a_models() -> None:
    wanted = [each.name for each in OPERATIONS if each.name not in OF_PEOPLE]
    assert [tool.name for tool in FACES["full"]] == wanted


@pytest.mark.parametrize("era", ERAS)
def test_the_full_face_does_what_the_door_does(agent: Connect, era: str) -> None:
    everything = agent("full", mode=era)
    saved = everything.did("remember", content="Tea is hot.", kind="fact")
    assert saved["memory"]["content"] == "Tea is hot."
    assert [hit["memory"]["id"] for hit in everything.did("recall", question="tea")["hits"]] == ["1"]
    assert everything.did("browse")["memories"][0]["id"] == "1"
    assert everything.did("history", id="1")["versions"][0]["number"] == 1
    assert everything.did("entities", inside="mydb")["total"] > 0
    assert "contant: " in everything.refused("remember", contant="x")
    assert "content: is required" in everything.refused("remember")


def test_what_touches_every_tenant_is_refused_to_an_agent(agent: Connect) -> None:
    assert "the operator of the store" in agent("full").refused("create_tenant", name="acme")


def test_faces_combine_where_no_names_collide(agent: Connect) -> None:
    assert agent("native", "slayer").tools == NATIVE + SLAYER
    assert list(chosen(["slayer", "native", "slayer"])) == SLAYER + NATIVE


def test_faces_that_both_have_a_tool_of_one_name_are_refused() -> None:
    with pytest.raises(Invalid, match="full and slayer both have a tool search"):
        chosen(["full", "slayer"])


def test_an_unknown_face_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match="'slyer' is not a face; there are native, full, slayer"):
        chosen(["native", "slyer"])


@pytest.mark.parametrize("era", ERAS)
def test_the_slayer_face_saves_finds_and_forgets(agent: Connect, era: str) -> None:
    slayer = agent("slayer", mode=era)
    assert slayer.tools == SLAYER
    saved = slayer.did("save_memory", learning="Amounts are in cents.", linked_entities=["orders.amount:sum"])
    assert saved == {"memory_id": "1", "resolved_entities": ["mydb.orders.amount"], "warnings": []}
    example = slayer.did(
        "save_memory",
        learning="Paid revenue",
        linked_entities={"source_model": "orders", "filters": ["status = 'paid'"]},
        id="kb.paid",
    )
    assert example["memory_id"] == "kb.paid"
    found = slayer.did("search", entities=["orders.amount"], question="cents")
    assert [hit["id"] for hit in found["memories"]] == ["1"]
    flat = slayer.did("search", question="cents", max_results=1)
    assert [hit["id"] for hit in flat["results"]] == ["1"]
    assert slayer.did("forget_memory", id=1) == {"deleted_id": "1"}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (
            "save_memory",
            {"learning": "x", "linked_entities": []},
            ["Error: ValueError: linked_entities: must not be empty"],
        ),
        ("save_memory", {"learning": "x", "linked_entities": "orders"}, ["Error: ValueError:", "not a text"]),
        (
            "save_memory",
            {"learning": "x", "linked_entities": [5]},
            ["linked_entities[0]: must be a text, not a number"],
        ),
        ("save_memory", {"learning": " ", "linked_entities": ["orders"]}, ["Error: ValueError:", "learning"]),
        ("save_memory", {"learning": "x"}, ["Error: ValueError:", "linked_entities: is required"]),
        (
            "save_memory",
            {"learning": "x", "linked_entities": ["nope"]},
            ["Error: EntityResolutionError:", "'nope'"],
        ),
        ("save_memory", {"learning": "x", "linked_entities": ["amount"]}, ["amount", "invoices", "orders"]),
        ("save_memory", {"learning": "x", "linked_entities": ["users"]}, ["AmbiguousModelError", "Hint:"]),
        (
            "save_memory",
            {"learning": "x", "linked_entities": ["orders"], "id": ""},
            ["Error: ValueError: id"],
        ),
        (
            "save_memory",
            {"learning": "x", "linked_entities": ["orders"], "id": True},
            ["Error: ValueError: id"],
        ),
        ("forget_memory", {"id": "absent"}, ["Error: NotFoundError:", "absent"]),
        ("forget_memory", {"id": "a:b"}, ["Error: ValueError: id"]),
        ("search", {"max_memories": -1}, ["Error: ValueError: max_memories"]),
        ("search", {"max_memories": "many"}, ["Error: ValueError: max_memories: must be a whole number"]),
        ("search", {"max_results": 0}, ["Error: ValueError: max_results"]),
        ("search", {"max_results": 3, "max_memories": 3}, ["Error: ValueError: max_memories"]),
        ("search", {"datasource": "nowhere"}, ["Error:", "'nowhere'", "mydb"]),
        ("inspect_model", {"model_name": "nope"}, ["Error:", "nope", "mydb.orders"]),
        ("delete_model", {"name": "users"}, ["Error: AmbiguousModelError:", "mydb", "other", "Hint:"]),
        ("delete_datasource", {"name": "nowhere"}, ["Error:", "nowhere"]),
        ("edit_model", {"model_name": "orders", "remove": {"columns": ["nope"]}}, ["Error:", "nope"]),
    ],
)
def test_the_slayer_face_tells_errors_as_text(
    agent: Connect, tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    told = said(agent("slayer").call(tool, **arguments))
    assert told.startswith("Error: ")
    assert all(word in told for word in words), told


def test_the_slayer_face_looks_at_models_and_takes_them_away(agent: Connect) -> None:
    slayer = agent("slayer")
    slayer.did("save_memory", learning="Amounts are in cents.", linked_entities=["mydb.orders.amount"])
    assert "## Learnings (1)" in said(slayer.call("inspect_model", model_name="orders"))
    told = slayer.did("inspect_model", model_name="orders", format="json")
    assert [each["learning"] for each in told["learnings"]] == ["Amounts are in cents."]
    removed = slayer.did("edit_model", model_name="orders", remove={"columns": ["amount"]})
    assert removed["stripped_memories"] == 1
    assert slayer.did("delete_model", name="orders")["deleted"] == "mydb.orders"
    assert slayer.did("delete_datasource", name="other")["deleted"] == "other"


def test_the_slayer_face_hides_what_needs_an_admin(agent: Connect) -> None:
    plain = agent("slayer", permissions=frozenset({"memory.read", "memory.manage"}))
    assert plain.tools == SLAYER[:6]


def test_an_entity_is_opened_with_its_model_and_what_was_learned(agent: Connect) -> None:
    someone = agent("native")
    someone.did("memory_save", content="Amounts are in cents.", entities=["orders.amount"])
    someone.did("memory_save", content="Orders are never deleted.", entities=["orders"])
    opened = someone.read("memory://entity/orders")
    assert "  | - #" not in opened
    assert "status" in opened
    assert "Orders are never deleted." in opened
    assert "Amounts are in cents." in someone.read("memory://entity/mydb.orders.amount")
