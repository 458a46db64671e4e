"""WHAT do agents of a data platform find? Two tools with its names, limits and texts, by a real client."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp import Client
from sqlalchemy import select

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Invalid
from onrecord.faces.data_platform.fields import CATEGORIES, CHOICES, MOST_BYTES, SOURCES
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import CONFIDENCES, DIMENSIONS, PERMISSIONS
from onrecord.providers.guard import Guarded
from onrecord.store.tables import vectors
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from tests.conftest import Clock
from tests.surfaces.test_mcp import ERAS, Agent

from ..catalog.test_ingest import a_manifest, made_from
from .data_platform_people import (
    ANN,
    BOB,
    CHIEF,
    PII,
    REVIEWER,
    SEASONS,
    STORES,
    Connect,
    admin,
    agent,
    ann,
    door,
    error,
    found,
    ids,
    introduce,
    listed,
    recall,
    remember,
    scores,
    stub,
    urn,
)

__all__ = ["admin", "agent", "ann", "door", "introduce", "stub"]


class TestTheTool:
    def test_all_schemas_are_closed_and_list_no_values(self, ann: Agent, admin: Agent) -> None:
        tools = {tool.name: tool.input_schema for tool in admin.listed().tools}
        assert list(tools) == [
            *("memory_manage", "memory_recall", "capture_insight", "recall_insight", "apply_knowledge")
        ]
        assert [tool.name for tool in ann.listed().tools] == list(tools)[:-1], "curating is for reviewers"
        for schema in tools.values():
            assert schema["additionalProperties"] is False
            assert "enum" not in json.dumps(schema)
        assert tools["memory_recall"]["required"] == ["query"]
        assert "required" not in tools["memory_manage"] or not tools["memory_manage"]["required"]

    @pytest.mark.parametrize("era", ERAS)
    def test_without_a_command_the_commands_are_told(self, agent: Connect, era: str) -> None:
        told = agent(mode=era).did("memory_manage")
        assert sorted(told["commands"]) == ["forget", "list", "remember", "review_stale", "update"]

    def test_an_unknown_command_is_refused_with_the_names_of_the_others(self, ann: Agent) -> None:
        told = error(ann, command="x")
        assert told == 'unknown command "x": use remember, update, forget, list, or review_stale'

    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("memory_manage", {"command": "remember", "content": SEASONS, "entity_urn": ["urn:li:x"]}),
            ("memory_recall", {"query": "x", "top_k": 3}),
        ],
    )
    def test_a_misnamed_argument_is_refused_and_not_dropped(
        self, ann: Agent, tool: str, arguments: dict[str, Any]
    ) -> None:
        assert "is not an argument of this tool" in error(ann, tool, **arguments)
        assert listed(ann) == []


class TestRemember:
    def test_a_record_has_a_random_id_and_the_usual_values(self, ann: Agent) -> None:
        told = ann.did("memory_manage", command="remember", content=SEASONS)
        assert told["status"] == "active"
        assert told["message"] == "Memory recorded successfully."
        assert len(told["id"]) == 32
        assert int(told["id"], 16) >= 0
        [record] = listed(ann)
        assert record | {"id": "", "created_at": "", "updated_at": ""} == {
            "id": "",
            "created_at": "",
            "updated_at": "",
            "created_by": ANN,
            "persona": "",
            "dimension": "knowledge",
            "content": SEASONS,
            "category": "business_context",
            "confidence": "medium",
            "source": "user",
            "entity_urns": [],
            "related_columns": [],
            "metadata": {},
            "status": "active",
            "embedding_model": "stub",
            "embedding_text_hash": hashlib.sha256(SEASONS.encode()).hexdigest(),
        }
        assert remember(ann, STORES) != told["id"]

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("", "content: content is required (minimum 10 bytes)"),
            ("too short", "content: content must be at least 10 bytes (got 9)"),
            ("é" * 4, "content: content must be at least 10 bytes (got 8)"),
            ("x" * 4_001, "content: content must be at most 4000 bytes (got 4001)"),
            ("é" * 2_001, "content: content must be at most 4000 bytes (got 4002)"),
        ],
    )
    def test_content_is_measured_in_bytes(self, ann: Agent, content: str, told: str) -> None:
        assert error(ann, command="remember", content=content) == told
        assert listed(ann) == []

    @pytest.mark.parametrize("content", ["x" * 10, "é" * 5, "x" * MOST_BYTES, "é" * (MOST_BYTES // 2)])
    def test_the_bounds_themselves_are_within(self, ann: Agent, content: str) -> None:
        remember(ann, content)

    def test_content_that_is_left_out_is_told_apart(self, ann: Agent) -> None:
        assert error(ann, command="remember") == "content: content is required (minimum 10 bytes)"

    @pytest.mark.parametrize("field", ["dimension", "category", "confidence", "source"])
    def test_a_value_that_is_in_no_list_is_refused_with_the_list_and_nothing_is_stored(
        self, ann: Agent, field: str
    ) -> None:
        told = error(ann, command="remember", content=SEASONS, **{field: "purple"})
        assert told == f'{field}: invalid {field} "purple": must be one of: {", ".join(CHOICES[field])}'
        assert listed(ann) == []

    def test_every_value_of_every_list_is_taken(self, ann: Agent) -> None:
        for number in range(max(len(DIMENSIONS), len(CATEGORIES), len(SOURCES))):
            given = {
                "dimension": DIMENSIONS[number % len(DIMENSIONS)],
                "category": CATEGORIES[number % len(CATEGORIES)],
                "confidence": CONFIDENCES[number % len(CONFIDENCES)],
                "source": SOURCES[number % len(SOURCES)],
            }
            id = remember(ann, f"{SEASONS} {number}", **given)
            [record] = [each for each in listed(ann) if each["id"] == id]
            assert {name: record[name] for name in given} == given

    def test_ten_entities_are_taken_and_eleven_are_not(self, ann: Agent) -> None:
        urns = [urn(f"t{number}") for number in range(11)]
        told = error(ann, command="remember", content=SEASONS, entity_urns=urns)
        assert told == "entity_urns: entity_urns exceeds maximum of 10 (got 11)"
        remember(ann, entity_urns=urns[:10])
        [record] = listed(ann)
        assert record["entity_urns"] == urns[:10]

    def test_a_session_is_stamped_on_the_metadata_whether_any_was_given_or_not(self, agent: Connect) -> None:
        there = agent(conversation="session-1")
        for metadata in (None, {"ticket": 7}, {"session_id": "forged"}):
            id = remember(
                there, f"{SEASONS} {metadata}", **({} if metadata is None else {"metadata": metadata})
            )
            [record] = [each for each in listed(there) if each["id"] == id]
            assert record["metadata"] == {**(metadata or {}), "session_id": "session-1"}
        elsewhere = agent()
        assert len(listed(elsewhere)) == 3, "it is for everyone, in whichever session it was said"

    def test_a_secret_is_taken_out(self, ann: Agent) -> None:
        remember(ann, "The password: hunter2hunter2 opens the staging warehouse.")
        assert "hunter2" not in json.dumps(listed(ann))

    def test_an_embedder_that_is_down_keeps_no_one_from_saving(
        self, ann: Agent, stub: StubEmbedder, door: OnRecord
    ) -> None:
        stub.down = "gone"
        id = remember(ann)
        [record] = listed(ann)
        assert "embedding_model" not in record
        assert "embedding_text_hash" not in record
        assert found(recall(ann, "selling seasons", strategy="lexical")) == [id]
        stub.down = None
        door.embed_missing()
        [record] = listed(ann)
        assert record["embedding_model"] == "stub"

    def test_what_an_unattended_run_saves_waits_and_is_recalled_by_its_owner_alone(
        self, agent: Connect, admin: Agent
    ) -> None:
        run = agent(actor="unattended", run="nightly")
        told = run.did("memory_manage", command="remember", content=SEASONS)
        assert told["status"] == "pending"
        [mine] = recall(run, "selling seasons")["memories"]
        assert (mine["Record"]["status"], mine["Record"]["metadata"]) == (
            "active",
            {"insight_status": "pending"},
        )
        reviewer = agent(BOB, permissions=REVIEWER)
        for other in (agent(BOB), reviewer, admin):
            assert recall(other, "selling seasons")["memories"] == []
        for other in (agent(BOB), reviewer):
            assert listed(other) == []
        assert ids(listed(admin)) == [told["id"]], "an admin sees all"
        admins = agent(CHIEF, permissions=frozenset(PERMISSIONS), actor="unattended", run="nightly")
        own = remember(admins, STORES)
        assert found(recall(admins, "training stores selling seasons")) == [own]


class TestNoVectors:
    """Without an embedder nothing is embedded, and a vector is always that of the present text."""

    def test_nothing_is_embedded_and_no_zeros_are_stored(
        self, door: OnRecord, agent: Connect, stub: StubEmbedder
    ) -> None:
        door._embedders = StubEmbedders(None)
        remember(agent())
        assert stub.texts == []
        assert stored(door) == []

    def test_a_vector_of_zeros_is_not_stored_and_does_not_count_as_indexed(
        self, door: OnRecord, agent: Connect
    ) -> None:
        door._embedders = StubEmbedders(Guarded(Zeros()))
        remember(agent())
        assert stored(door) == []
        assert "embedding_model" not in listed(agent())[0]
        [tenant] = [each for each in door.status().tenants if each.collection == "memories"]
        assert [each.indexed for each in tenant.models] == [0]

    def test_a_change_of_the_text_drops_its_vector_and_other_changes_keep_it(
        self, door: OnRecord, agent: Connect
    ) -> None:
        id = remember(agent())
        before = stored(door)
        assert before
        door._embedders = StubEmbedders(None)
        without = agent()
        without.did("memory_manage", command="update", id=id, category="correction")
        assert stored(door) == before
        [record] = listed(without)
        assert record["embedding_text_hash"] == hashlib.sha256(SEASONS.encode()).hexdigest()
        without.did("memory_manage", command="update", id=id, content=STORES)
        assert stored(door) == []
        assert "embedding_model" not in listed(without)[0]


def stored(door: OnRecord) -> list[Any]:
    with door._store._backend.reading() as connection:  # type: ignore[attr-defined]
        return [bytes(row[0]) for row in connection.execute(select(vectors.c.vector))]


class TestUpdate:
    def test_only_what_is_given_changes(self, ann: Agent) -> None:
        id = remember(ann, metadata={"a": 1}, confidence="low")
        told = ann.did("memory_manage", command="update", id=id, category="correction", content="", source="")
        assert (told["id"], told["message"]) == (id, "Memory updated successfully.")
        [record] = listed(ann)
        assert (record["content"], record["category"], record["confidence"]) == (SEASONS, "correction", "low")

    def test_a_new_text_is_measured_embedded_and_found(self, ann: Agent, stub: StubEmbedder) -> None:
        id = remember(ann)
        assert "at least 10 bytes" in error(ann, command="update", id=id, content="short")
        ann.did("memory_manage", command="update", id=id, content=STORES)
        assert stub.texts[-1] == STORES
        assert found(recall(ann, "training environments")) == [id]
        [record] = listed(ann)
        assert record["embedding_text_hash"] == hashlib.sha256(STORES.encode()).hexdigest()

    def test_a_dimension_is_checked_here_too(self, ann: Agent) -> None:
        id = remember(ann)
        assert "must be one of" in error(ann, command="update", id=id, dimension="purple")
        ann.did("memory_manage", command="update", id=id, dimension="event")
        assert listed(ann)[0]["dimension"] == "event"

    def test_metadata_is_merged_and_null_is_none_at_all(self, ann: Agent) -> None:
        id = remember(ann, metadata={"a": 1, "b": [1]})
        for metadata in (None, {}):
            ann.did("memory_manage", command="update", id=id, metadata=metadata, confidence="high")
            assert listed(ann)[0]["metadata"] == {"a": 1, "b": [1]}
        ann.did("memory_manage", command="update", id=id, metadata={"b": None, "c": {"d": 2}})
        assert listed(ann)[0]["metadata"] == {"a": 1, "b": None, "c": {"d": 2}}

    def test_an_id_is_needed_and_an_unknown_one_is_not_found(self, ann: Agent) -> None:
        assert error(ann, command="update", content=STORES) == "id is required for update"
        assert error(ann, command="forget") == "id is required for forget"
        for command in ("update", "forget"):
            for id in ("0" * 32, "no such id", "a/b"):
                assert error(ann, command=command, id=id, content=STORES) == "memory not found"

    @pytest.mark.parametrize(
        ("command", "told"),
        [
            ("update", "you can only update your own memories"),
            ("forget", "you can only archive your own memories"),
        ],
    )
    def test_what_is_another_users_is_refused_and_stays_as_it_was(
        self, ann: Agent, agent: Connect, door: OnRecord, command: str, told: str
    ) -> None:
        id = remember(ann)
        before = listed(ann)
        bob = agent(BOB, permissions=REVIEWER)
        assert error(bob, command=command, id=id, content=STORES) == told
        door.set_tenant(members_retire=True)
        assert error(bob, command=command, id=id, content=STORES) == told, (
            "whatever the tenant allows natively"
        )
        assert listed(ann) == before

    def test_what_another_may_not_see_is_not_there_for_them(self, agent: Connect) -> None:
        id = remember(agent(personas={"analyst"}))
        for command in ("update", "forget"):
            assert error(agent(BOB), command=command, id=id, content=STORES) == "memory not found"

    def test_an_admin_may_change_what_is_anyones(self, ann: Agent, admin: Agent) -> None:
        id = remember(ann)
        admin.did("memory_manage", command="update", id=id, content=STORES)
        assert listed(ann)[0]["content"] == STORES
        assert listed(ann)[0]["created_by"] == ANN
        admin.did("memory_manage", command="forget", id=id)
        assert listed(ann) == []

    def test_nobody_comes_without_a_name(self) -> None:
        with pytest.raises(Invalid, match="user"):
            Caller(tenant="acme", user="")

    def test_a_stale_memory_whose_text_is_revised_is_active_again(self, ann: Agent, door: OnRecord) -> None:
        id = remember(ann)
        door.revise(id, status="stale", status_reason="its table is deprecated")
        ann.did("memory_manage", command="update", id=id, confidence="low")
        assert ids(listed(ann, filter_status="stale")) == [id]
        ann.did("memory_manage", command="update", id=id, content=STORES)
        assert ids(listed(ann)) == [id]

    def test_what_a_person_wrote_is_changed_by_an_agent_only_once_a_person_agrees(
        self, agent: Connect, door: OnRecord
    ) -> None:
        id = remember(agent(actor="person"))
        told = agent().did("memory_manage", command="update", id=id, content=STORES)
        assert "waits for a person" in told["message"]
        assert listed(agent(BOB))[0]["content"] == SEASONS
        door.approve(told["proposal_id"])
        assert listed(agent(BOB))[0]["content"] == STORES


class TestForget:
    def test_it_is_archived_and_a_list_of_archived_ones_still_has_it(self, ann: Agent) -> None:
        id = remember(ann, entity_urns=[urn("orders")])
        told = ann.did("memory_manage", command="forget", id=id)
        assert (told["id"], told["message"]) == (id, "Memory archived successfully.")
        assert listed(ann) == []
        for asked in ({}, {"strategy": "lexical"}, {"strategy": "entity"}, {"include_stale": True}):
            assert recall(ann, "selling seasons", entity_urns=[urn("orders")], **asked)["memories"] == []
        [record] = listed(ann, filter_status="archived")
        assert (record["id"], record["status"]) == (id, "archived")
        again = ann.did("memory_manage", command="forget", id=id)
        assert again["message"] == "Memory archived successfully."
        assert "archived" in error(ann, command="update", id=id, content=STORES)


class TestLists:
    def test_pages_are_cut_by_the_store_with_the_total_of_all(self, ann: Agent, clock: Clock) -> None:
        made = []
        for number in range(25):
            made.append(remember(ann, f"{SEASONS} {number}"))
            clock.tick()
        newest = made[::-1]

        def page(**asked: Any) -> tuple[list[str], int, int, int]:
            told = ann.did("memory_manage", command="list", **asked)
            return ids(told["records"]), told["total"], told["limit"], told["offset"]

        assert page() == (newest[:20], 25, 20, 0)
        assert page(limit=10, offset=20) == (newest[20:], 25, 10, 20)
        assert page(limit=0, offset=-3) == (newest[:20], 25, 20, 0)
        assert page(limit=5_000) == (newest, 25, 100, 0)
        assert page(offset=30) == ([], 25, 20, 30)
        ann.did("memory_manage", command="update", id=made[0], confidence="high")
        assert page()[0] == newest[:20], "by when they were made, not when they were changed"

    def test_filters_narrow_a_list(self, ann: Agent, door: OnRecord) -> None:
        event = remember(ann, SEASONS, dimension="event", category="correction")
        about = remember(ann, STORES, entity_urns=[urn("orders")])
        old, new = remember(ann, PII), remember(ann, "The customer_id column is hashed now.")
        door.revise(old, status="stale")
        assert ids(listed(ann, filter_dimension="event")) == [event]
        assert ids(listed(ann, filter_category="correction")) == [event]
        assert ids(listed(ann, filter_entity_urn=urn("orders"))) == [about]
        assert ids(listed(ann, filter_status="stale")) == [old]
        assert listed(ann, filter_status="superseded") == []
        assert ids(listed(ann, filter_status="active")) == [new, about, event]
        for name in ("filter_dimension", "filter_category", "filter_status"):
            assert "must be one of" in error(ann, command="list", **{name: "purple"})

    def test_what_superseded_a_memory_stands_in_its_metadata(self, ann: Agent, door: OnRecord) -> None:
        old = remember(ann)
        new = door.remember("There are three selling seasons.", supersedes=[old]).memory.id
        [record] = listed(ann, filter_status="superseded")
        assert (record["id"], record["metadata"]) == (old, {"superseded_by": new})
        assert found(recall(ann, "selling seasons", include_stale=True)) == [new], "never what was superseded"
        assert "superseded" in error(ann, command="update", id=old, content=STORES)

    def test_review_stale_tells_the_stale_ones_that_one_sees_and_their_number(
        self, agent: Connect, door: OnRecord
    ) -> None:
        ann, bob = agent(personas={"analyst"}), agent(BOB, personas={"engineer"})
        mine, theirs = remember(ann), remember(bob, STORES)
        remember(ann, PII)
        for id in (mine, theirs):
            door.revise(id, status="stale", status_reason="its table is deprecated")
        told = ann.did("memory_manage", command="review_stale")
        assert ids(told["records"]) == [mine]
        assert told["records"][0]["stale_reason"] == "its table is deprecated"
        assert (told["total"], told["limit"], told["offset"]) == (1, 20, 0)
        assert told["message"] == "1 stale memory found. Use 'update' to revise or 'forget' to archive."
        told = agent(CHIEF, permissions=frozenset(PERMISSIONS)).did("memory_manage", command="review_stale")
        assert told["message"].startswith("2 stale memories found.")


class TestPersonas:
    def test_what_is_kept_under_a_persona_is_seen_by_that_persona_and_by_admins(
        self, agent: Connect, admin: Agent
    ) -> None:
        id = remember(agent(personas={"analyst"}))
        assert listed(agent(BOB, personas={"analyst"}))[0]["persona"] == "analyst"
        for other in (agent(BOB), agent(BOB, personas={"engineer"})):
            assert listed(other) == []
            assert recall(other, "selling seasons")["memories"] == []
        assert ids(listed(admin)) == [id]

    def test_without_a_persona_it_is_for_the_tenant(self, ann: Agent, agent: Connect) -> None:
        id = remember(ann)
        assert ids(listed(agent(BOB, personas={"analyst"}))) == [id]
        assert listed(agent(BOB, tenant="other")) == []

    def test_who_has_several_must_name_one_of_them(self, agent: Connect) -> None:
        both = agent(personas={"analyst", "engineer"})
        told = error(both, command="remember", content=SEASONS)
        assert told.startswith("persona: is required")
        assert "analyst, engineer" in told
        assert "not a persona" in error(both, command="remember", content=SEASONS, persona="chief")
        id = remember(both, persona="engineer")
        assert ids(listed(agent(BOB, personas={"engineer"}))) == [id]
        assert listed(agent(BOB, personas={"analyst"})) == []

    def test_a_person_is_the_same_under_every_persona_and_key(self, agent: Connect) -> None:
        id = remember(agent(personas={"analyst"}), SEASONS)
        again = agent(personas={"analyst", "engineer"}, key="another")
        again.did("memory_manage", command="update", id=id, content=STORES)
        assert listed(again)[0]["created_by"] == ANN


class TestEntities:
    def test_an_unknown_urn_is_kept_with_a_warning_and_found_by_it(
        self, ann: Agent, door: OnRecord, tmp_path: Path
    ) -> None:
        door.ingest(str(a_manifest(tmp_path / "manifest.json", orders={})))
        given = {"entity_urns": [urn("nowhere"), urn("orders")]}
        told = ann.did("memory_manage", command="remember", content=SEASONS, **given)
        [warning] = told["warnings"]
        assert "nowhere" in warning
        [record] = listed(ann, filter_entity_urn=urn("nowhere"))
        assert record["entity_urns"] == given["entity_urns"], "a known one is told by its URN too"
        assert ids(listed(ann, filter_entity_urn=urn("orders"))) == [told["id"]]
        assert door.show(told["id"]).memory.entities == (urn("nowhere"), "shop.orders")
        told = ann.did("memory_manage", command="update", id=record["id"], entity_urns=[urn("elsewhere")])
        assert "elsewhere" in told["warnings"][0]
        assert listed(ann)[0]["entity_urns"] == [urn("elsewhere")]

    def test_what_was_kept_before_the_catalog_knew_it_is_found_afterwards(
        self, ann: Agent, door: OnRecord, tmp_path: Path
    ) -> None:
        before = remember(ann, entity_urns=[urn("orders")])
        door.ingest(str(a_manifest(tmp_path / "manifest.json", orders={})))
        after = remember(ann, STORES, entity_urns=[urn("orders")])
        answer = recall(ann, strategy="entity", entity_urns=[urn("orders")])
        assert found(answer) == [after, before]
        assert [each["Record"]["entity_urns"] for each in answer["memories"]] == [[urn("orders")]] * 2


class TestRecall:
    def test_an_answer_has_the_names_of_the_platform(self, ann: Agent) -> None:
        remember(ann)
        answer = recall(ann, "selling seasons")
        assert sorted(answer) == ["count", "memories", "notice", "ranking", "strategy"]
        assert (answer["strategy"], answer["ranking"]) == ("auto", "hybrid")
        [memory] = answer["memories"]
        assert sorted(memory) == ["Record", "Score"]
        assert memory["Record"] == listed(ann)[0]

    def test_an_unknown_strategy_is_refused_with_the_names_of_the_others(self, ann: Agent) -> None:
        told = error(ann, "memory_recall", query="x", strategy="best")
        assert told == (
            'recall failed: unknown strategy "best": use entity, semantic, lexical, graph, or auto'
        )

    def test_each_strategy_says_what_it_needs(self, ann: Agent) -> None:
        for strategy in ("entity", "graph"):
            told = error(ann, "memory_recall", query="x", strategy=strategy)
            assert told == f"recall failed: entity_urns required for {strategy} strategy"
        for strategy in ("semantic", "lexical"):
            told = error(ann, "memory_recall", query=" ", strategy=strategy)
            assert told == f"recall failed: query required for {strategy} strategy"
        assert "query: is required" in error(ann, "memory_recall", strategy="lexical")
        assert recall(ann)["memories"] == [], "nothing asked is nothing found"

    @pytest.mark.parametrize(("limit", "given"), [(None, 10), (0, 10), (-5, 10), (25, 25), (100, 50), (1, 1)])
    def test_a_limit_is_brought_within_its_bounds(
        self, ann: Agent, door: OnRecord, limit: int | None, given: int
    ) -> None:
        for number in range(55):
            door.remember(f"Season {number} is a selling season.", dedupe=False)
        asked = {} if limit is None else {"limit": limit}
        assert recall(ann, "selling season", strategy="lexical", **asked)["count"] == given

    def test_by_entity_all_are_worth_one_and_the_newest_come_first(self, ann: Agent, agent: Connect) -> None:
        remember(ann, PII, entity_urns=[urn("customers")])
        first = remember(ann, SEASONS, entity_urns=[urn("orders"), urn("stores")])
        second = remember(ann, STORES, entity_urns=[urn("stores")])
        remember(agent(BOB, personas={"engineer"}), "Only engineers know this.", entity_urns=[urn("stores")])
        answer = recall(ann, "ignored", strategy="entity", entity_urns=[urn("orders"), urn("stores")])
        assert found(answer) == [second, first], "each once"
        assert scores(answer) == [1.0, 1.0]
        assert (answer["strategy"], answer["ranking"]) == ("entity", "entity")
        assert "degraded" not in answer

    def test_by_meaning_both_signals_count_and_nothing_relevant_gives_nothing(self, ann: Agent) -> None:
        id = remember(ann, PII)
        remember(ann, SEASONS)
        answer = recall(ann, "customer_id", strategy="semantic")
        assert (answer["ranking"], found(answer)[0]) == ("hybrid", id)
        assert 0.4 < scores(answer)[0] < 1
        assert recall(ann, "zyzzyva", strategy="lexical")["memories"] == []

    def test_by_words_no_vector_is_asked_for(self, ann: Agent, stub: StubEmbedder) -> None:
        id = remember(ann)
        answer = recall(ann, "selling seasons", strategy="lexical")
        assert (answer["ranking"], found(answer)) == ("lexical", [id])
        assert "degraded" not in answer
        assert stub.questions == []

    @pytest.mark.parametrize("strategy", ["semantic", "auto"])
    @pytest.mark.parametrize("trouble", ["down", "zero", "none"])
    def test_without_vectors_words_answer_and_the_answer_says_so(
        self, door: OnRecord, agent: Connect, stub: StubEmbedder, strategy: str, trouble: str
    ) -> None:
        remember(agent())
        if trouble == "down":
            stub.down = "gone"
        elif trouble == "zero":
            door._embedders = StubEmbedders(Guarded(Zeros()))
        else:
            door._embedders = StubEmbedders(None)
        answer = recall(agent(), "selling seasons", strategy=strategy)
        assert (answer["ranking"], answer["degraded"], answer["count"]) == ("lexical", True, 1)
        assert answer["note"] == (
            "embedding provider unavailable; results are lexical-only (exact-term matches), not semantic"
        )

    def test_what_was_saved_while_the_embedder_was_down_is_found_by_its_words(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        stub.down = "gone"
        id = remember(ann)
        stub.down = None
        answer = recall(ann, "selling seasons", strategy="semantic")
        assert (answer["ranking"], found(answer), scores(answer)) == ("hybrid", [id], [0.7])

    def test_along_the_lineage_neighbours_on_both_sides_are_found(
        self, ann: Agent, door: OnRecord, tmp_path: Path
    ) -> None:
        models: dict[str, Any] = {"raw": {}, "orders": made_from("raw"), "daily": made_from("orders")}
        models["report"] = made_from("daily")
        door.ingest(str(a_manifest(tmp_path / "manifest.json", **models)))
        made = {name: remember(ann, f"A note about {name}.", entity_urns=[urn(name)]) for name in models}
        answer = recall(ann, strategy="graph", entity_urns=[urn("orders")])
        assert found(answer)[0] == made["orders"], "what is given comes first"
        assert sorted(found(answer)) == sorted([made["orders"], made["raw"], made["daily"]])
        assert set(scores(answer)) == {1.0}
        assert answer["ranking"] == "graph"
        assert recall(ann, entity_urns=[urn("orders")])["ranking"] == "graph", "auto without a question"

    def test_without_a_lineage_it_is_a_look_at_the_entity(self, ann: Agent) -> None:
        remember(ann, entity_urns=[urn("orders")])
        by_graph = recall(ann, strategy="graph", entity_urns=[urn("orders")])
        by_entity = recall(ann, strategy="entity", entity_urns=[urn("orders")])
        assert by_graph["memories"] == by_entity["memories"]
        assert by_graph["count"] == 1

    def test_auto_joins_both_sorts_by_score_and_says_the_same_again(self, ann: Agent) -> None:
        both = remember(ann, SEASONS, entity_urns=[urn("orders")])
        about = remember(ann, PII, entity_urns=[urn("orders")])
        words = remember(ann, "Another selling season is planned.")
        answers = [recall(ann, "selling seasons", entity_urns=[urn("orders")]) for _ in range(3)]
        assert answers[0] == answers[1] == answers[2]
        assert found(answers[0]) == [about, both, words], "one entry each, with the higher score"
        assert scores(answers[0])[:2] == [1.0, 1.0]
        assert scores(answers[0]) == sorted(scores(answers[0]), reverse=True)
        assert answers[0]["ranking"] == "hybrid"
        cut = recall(ann, "selling seasons", entity_urns=[urn("orders")], limit=2)
        assert found(cut) == [about, both]

    def test_a_shorter_text_with_the_word_comes_before_a_longer_one(self, ann: Agent) -> None:
        long = remember(ann, "The freight " + "and everything else that is shipped by sea " * 5)
        short = remember(ann, "Freight is late.")
        answer = recall(ann, "freight", strategy="lexical")
        assert found(answer) == [short, long]
        assert 1 > scores(answer)[0] > scores(answer)[1] > 0

    def test_a_dimension_is_asked_for_before_anything_is_cut(self, ann: Agent) -> None:
        event = remember(ann, "The selling season began early.", dimension="event")
        for number in range(12):
            remember(ann, f"Selling season {number} sells.")
        assert found(recall(ann, "selling season", dimension="event", limit=1)) == [event]
        assert "must be one of" in error(ann, "memory_recall", query="x", dimension="purple")

    def test_stale_ones_come_only_if_asked_for(self, ann: Agent, door: OnRecord) -> None:
        id = remember(ann, entity_urns=[urn("orders")])
        door.revise(id, status="stale", status_reason="its table is deprecated")
        for asked in ({}, {"strategy": "entity"}, {"strategy": "lexical"}, {"strategy": "graph"}):
            about = {"entity_urns": [urn("orders")], **asked}
            assert recall(ann, "selling seasons", **about)["memories"] == []
            [memory] = recall(ann, "selling seasons", include_stale=True, **about)["memories"]
            assert memory["Record"]["status"] == "stale"
            assert memory["Record"]["stale_reason"] == "its table is deprecated"


class Zeros:
    """An embedder whose vectors say nothing."""

    model = EmbeddingModel("zeros", 32)

    def embed_query(self, text: str) -> Passage:
        return Passage(np.zeros(32, np.float32))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [(Passage(np.zeros(32, np.float32)),) for _ in texts]


def test_a_source_that_cannot_be_reached_leaves_every_memory_active(
    ann: Agent, door: OnRecord, tmp_path: Path
) -> None:
    manifest = a_manifest(tmp_path / "manifest.json", orders={})
    door.ingest(str(manifest))
    id = remember(ann, entity_urns=[urn("orders")])
    manifest.unlink()
    with pytest.raises(Invalid):
        door.ingest(str(manifest))
    [record] = listed(ann)
    assert (record["id"], record["status"], record["entity_urns"]) == (id, "active", [urn("orders")])
    assert found(recall(ann, strategy="entity", entity_urns=[urn("orders")])) == [id]


def test_the_same_story_is_told_on_postgresql(
    postgres_store: str, introduce: Callable[[Client], Agent], tmp_path: Path
) -> None:
    owner = Caller(tenant="acme", user=CHIEF, permissions=frozenset(PERMISSIONS))
    with connect(postgres_store, caller=owner, embedder=StubEmbedder()) as door:
        tool_request = ToolRequest(
            door.as_caller(Caller(tenant="acme", user=ANN, actor="agent", personas=frozenset({"analyst"}))),
            chosen(["data_platform"]),
        )
        ann = introduce(Client(build_server(lambda context: tool_request)))
        door.ingest(str(a_manifest(tmp_path / "manifest.json", raw={}, orders=made_from("raw"))))
        raw = remember(ann, STORES, entity_urns=[urn("raw")], metadata={"a": 1})
        unknown = remember(ann, SEASONS, entity_urns=[urn("nowhere")])
        assert found(recall(ann, strategy="graph", entity_urns=[urn("orders")])) == [raw]
        answer = recall(ann, "selling seasons")
        assert (answer["ranking"], found(answer)[0]) == ("hybrid", unknown)
        assert answer["memories"][0]["Record"]["embedding_model"] == "stub"
        assert answer["memories"][0]["Record"]["entity_urns"] == [urn("nowhere")]
        assert found(recall(ann, "selling seasons", strategy="lexical")) == [unknown]
        ann.did("memory_manage", command="update", id=raw, metadata={"b": None}, content=PII)
        assert ann.did("memory_manage", command="list", limit=1)["total"] == 2
        [record] = listed(ann, filter_entity_urn=urn("raw"))
        assert (record["content"], record["metadata"], record["persona"]) == (
            PII,
            {"a": 1, "b": None},
            "analyst",
        )
        new = door.remember("There are three selling seasons.", supersedes=[unknown]).memory.id
        [record] = listed(ann, filter_status="superseded")
        assert record["metadata"]["superseded_by"] == new
        ann.did("memory_manage", command="forget", id=raw)
        assert ids(listed(ann, filter_status="archived")) == [raw]
