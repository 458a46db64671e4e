"""IS every sentence of the platform's page true here? But for the watcher and DataHub, whose sentences have tests of their own."""

import hashlib
from typing import Any

import pytest

from onrecord import Caller, OnRecord
from onrecord.errors import Forbidden
from onrecord.faces.data_platform.opening import read_allowed
from onrecord.model.limits import PERMISSIONS
from onrecord.testing.embedder import StubEmbedder, StubEmbedders
from tests.recall.test_absolute import Angles
from tests.surfaces.test_mcp import Agent

from .data_platform_people import (
    ANN,
    BOB,
    CHIEF,
    NET,
    ORDERS,
    SEASONS,
    Connect,
    admin,
    agent,
    ann,
    apply_knowledge,
    capture,
    catalog,
    chief,
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

__all__ = ["admin", "agent", "ann", "catalog", "chief", "door", "introduce", "stub"]

#: The examples of the page, by their dimension.
EXAMPLES = {
    "knowledge": ["We have two distinct selling seasons", "Test stores 9001-9099 are training environments"],
    "event": ["On March 15 the analyst ran a Q1 sales rollup filtering out test stores"],
    "entity": ["The customer_id column contains PII", "This table was migrated from Oracle in 2024"],
    "relationship": ["acme_legacy_sales is deprecated in favor of elasticsearch.sales"],
    "preference": ["This analyst prefers SQL over natural language queries"],
}


def record(someone: Agent, id: str) -> dict[str, Any]:
    [told] = [each for each in listed(someone, limit=100) if each["id"] == id]
    return told


def work(door: OnRecord) -> None:
    """What a worker does by itself, at its start and every quarter of an hour."""
    worker = door.worker
    worker.begin()
    while worker.run_once() is not None:
        pass


class TestMemories:
    def test_memories_are_classified_by_dimension_for_structured_retrieval(self, ann: Agent) -> None:
        for dimension, texts in EXAMPLES.items():
            for text in texts:
                remember(ann, text, dimension=dimension)
        for dimension, texts in EXAMPLES.items():
            assert {each["content"] for each in listed(ann, filter_dimension=dimension)} == set(texts)
            hits = recall(ann, " ".join(texts), dimension=dimension)["memories"]
            assert {each["Record"]["dimension"] for each in hits} == {dimension}

    def test_memories_are_scoped_by_who_created_them_and_who_can_see_them(self, agent: Connect) -> None:
        id = remember(agent(personas={"analyst"}))
        told = record(agent(BOB, personas={"analyst"}), id)
        assert (told["created_by"], told["persona"]) == (ANN, "analyst")
        assert listed(agent(BOB, personas={"engineer"})) == []

    def test_users_can_only_update_and_forget_their_own_memories_unless_admin(
        self, ann: Agent, agent: Connect, admin: Agent
    ) -> None:
        id = remember(ann)
        for command in ("update", "forget"):
            assert "you can only" in error(agent(BOB), command=command, id=id, content=NET)
        admin.did("memory_manage", command="update", id=id, content=NET)
        admin.did("memory_manage", command="forget", id=id)

    def test_admin_sees_all(self, agent: Connect, admin: Agent) -> None:
        made = [remember(agent(personas={each}), f"Only for {each}s.") for each in ("analyst", "engineer")]
        assert sorted(ids(listed(admin))) == sorted(made)

    def test_memory_tools_are_opt_in_per_persona_by_a_pattern(self) -> None:
        assert read_allowed("analyst: memory_*") == {"analyst": ["memory_*"]}

    def test_remember_creates_a_memory_with_or_without_an_embedding(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        assert record(ann, remember(ann))["embedding_model"] == "stub"
        stub.down = "gone"
        assert "embedding_model" not in record(ann, remember(ann, NET))

    def test_list_is_persona_scoped_by_default(self, agent: Connect) -> None:
        remember(agent(personas={"analyst"}))
        assert listed(agent(BOB, personas={"engineer"})) == []

    def test_what_one_session_learned_the_next_one_knows(self, agent: Connect) -> None:
        remember(agent(conversation="monday"))
        assert recall(agent(conversation="tuesday"), "selling seasons")["count"] == 1


class TestRecall:
    def test_entity_is_a_direct_lookup_of_a_urn(self, ann: Agent) -> None:
        id = remember(ann, entity_urns=[ORDERS])
        assert found(recall(ann, strategy="entity", entity_urns=[ORDERS])) == [id]
        assert recall(ann, strategy="entity", entity_urns=[urn("orders2")])["count"] == 0

    def test_semantic_falls_back_to_words_when_the_embedder_is_unavailable_and_says_so(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        remember(ann)
        stub.down = "gone"
        answer = recall(ann, "selling seasons", strategy="semantic")
        assert (answer["strategy"], answer["ranking"], answer["degraded"]) == ("semantic", "lexical", True)
        assert answer["count"] == 1
        assert "not semantic" in answer["note"]

    def test_lexical_is_forced_keyword_matching_without_an_embedding_call(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        remember(ann)
        assert recall(ann, "selling", strategy="lexical")["ranking"] == "lexical"
        assert stub.questions == []

    def test_auto_is_the_default_and_deduplicates_what_both_arms_find(self, ann: Agent) -> None:
        id = remember(ann, entity_urns=[ORDERS])
        answer = recall(ann, "selling seasons", entity_urns=[ORDERS])
        assert (answer["strategy"], found(answer)) == ("auto", [id])

    def test_hybrid_blends_six_tenths_of_meaning_and_four_of_words(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        remember(ann, "alpha beta gamma")
        [score] = scores(recall(ann, "alpha beta gamma", strategy="semantic"))
        assert score == pytest.approx(0.6 * 1 + 0.4 * 1, abs=0.001), "the same text: cosine 1, and every word"

    def test_an_exact_token_is_not_underweighted(self, agent: Connect, door: OnRecord) -> None:
        door._embedders = StubEmbedders(Angles())  # type: ignore[arg-type]
        exact = remember(agent(), "Filter on ERR_4711 at 0.55")
        similar = remember(agent(), "Some errors are harmless at 0.82")
        answer = recall(agent(), "ERR_4711", strategy="semantic")
        assert found(answer) == [exact, similar]
        assert scores(answer) == pytest.approx([0.6 * 1.55 / 2 + 0.4, 0.6 * 1.82 / 2])

    def test_lexical_search_surfaces_rows_whose_embedding_is_missing(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        stub.down = "gone"
        id = remember(ann)
        stub.down = None
        assert found(recall(ann, "selling seasons", strategy="semantic")) == [id]

    def test_every_recall_response_carries_a_ranking(self, ann: Agent) -> None:
        remember(ann, entity_urns=[ORDERS])
        about = {"entity_urns": [ORDERS]}
        told = {
            strategy: recall(ann, "seasons", strategy=strategy, **about)["ranking"]
            for strategy in ("entity", "semantic", "lexical", "graph", "auto")
        }
        assert told == {
            "entity": "entity",
            "semantic": "hybrid",
            "lexical": "lexical",
            "graph": "graph",
            "auto": "hybrid",
        }


class TestBackfill:
    def test_a_just_saved_memory_is_immediately_recallable_by_meaning(
        self, ann: Agent, stub: StubEmbedder
    ) -> None:
        id = remember(ann)
        assert stub.texts == [SEASONS]
        assert found(recall(ann, "seasons", strategy="semantic")) == [id]

    def test_a_memory_saved_while_the_embedder_was_down_is_embedded_once_it_returns(
        self, ann: Agent, stub: StubEmbedder, door: OnRecord, clock: Any
    ) -> None:
        door._embedders = StubEmbedders(None)
        id = remember(ann)
        door._embedders = StubEmbedders(stub)
        work(door)
        assert record(ann, id)["embedding_model"] == "stub", "with no manual re-save"

    def test_a_model_swap_embeds_anew_what_the_previous_model_had_embedded(
        self, agent: Connect, door: OnRecord
    ) -> None:
        id = remember(agent())
        door._embedders = StubEmbedders(StubEmbedder("newer"))
        work(door)
        assert record(agent(), id)["embedding_model"] == "newer"

    def test_model_and_hash_of_the_content_are_stamped_and_a_healthy_row_is_not_embedded_again(
        self, ann: Agent, stub: StubEmbedder, door: OnRecord
    ) -> None:
        id, insight = remember(ann), capture(ann)
        told = record(ann, id)
        assert told["embedding_text_hash"] == hashlib.sha256(SEASONS.encode()).hexdigest()
        assert "embedding_text_hash" in record(ann, insight)
        before = list(stub.texts)
        work(door)
        assert stub.texts == before
        remember(ann, SEASONS)
        assert stub.texts == before, "an unchanged content is not embedded twice"

    def test_coverage_counts_live_rows_alone(self, ann: Agent, door: OnRecord, stub: StubEmbedder) -> None:
        gone, _ = remember(ann), remember(ann, NET)
        ann.did("memory_manage", command="forget", id=gone)
        [tenant] = [each for each in door.status().tenants if each.collection == "memories"]
        assert [(each.indexed, each.expected) for each in tenant.models] == [(1, 1)]


class TestInsights:
    def test_an_insight_is_a_memory_with_suggested_actions_and_related_columns(
        self, ann: Agent, catalog: OnRecord
    ) -> None:
        action = {"action_type": "add_tag", "target": "", "detail": "finance"}
        column = {"urn": ORDERS, "column": "amount", "relevance": "direct"}
        id = capture(ann, entity_urns=[ORDERS], suggested_actions=[action], related_columns=[column])
        told = record(ann, id)
        assert (told["metadata"]["suggested_actions"], told["related_columns"]) == ([action], [column])
        assert told["embedding_model"] == "stub"

    def test_insights_and_memories_of_a_person_share_an_owner(self, ann: Agent) -> None:
        remember(ann)
        capture(ann)
        assert {each["created_by"] for each in listed(ann)} == {ANN}

    def test_rows_of_an_old_name_are_given_to_the_email_reversibly_and_others_stay(
        self, agent: Connect, door: OnRecord
    ) -> None:
        old = agent("oidc|17")
        mine, insight, other = remember(old), capture(old), remember(agent(BOB), "Bob's own note.")
        assert door.reassign("oidc|17", ANN, dry_run=True).memories == 2
        assert listed(agent()) != []
        done = door.reassign("oidc|17", ANN)
        assert (done.memories, door.reassign("oidc|17", ANN).memories) == (2, 0)
        told = {each["id"]: each for each in listed(agent())}
        assert {told[id]["created_by"] for id in (mine, insight)} == {ANN}
        assert told[mine]["metadata"] == {"legacy_created_by": "oidc|17"}
        assert "legacy_created_by" not in told[other]["metadata"]
        agent().did("memory_manage", command="update", id=mine, confidence="low")
        assert [each.change for each in door.history(mine).versions] == ["remember", "reassign", "revise"]
        assert door.history(mine).versions[0].memory.owner == "oidc|17", "the history says who it was"
        door.reassign(ANN, "oidc|17")
        assert record(old, mine)["metadata"] == {}

    def test_only_an_admin_in_person_gives_memories_to_another(self, agent: Connect, door: OnRecord) -> None:
        remember(agent())
        robot = Caller(tenant="acme", user=CHIEF, permissions=frozenset(PERMISSIONS), actor="agent")
        for who in (Caller(tenant="acme", user=ANN), robot):
            with pytest.raises(Forbidden):
                door.as_caller(who).reassign(ANN, BOB)
        assert listed(agent())[0]["created_by"] == ANN

    def test_curated_memories_become_documents_terms_tags_and_properties(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = capture(ann, entity_urns=[ORDERS])
        apply_knowledge(chief, "approve", insight_ids=[id])
        changes = [
            {"change_type": "add_context_document", "target": "How to read it", "detail": "By day."},
            {"change_type": "add_glossary_term", "target": "", "detail": "Revenue"},
            {"change_type": "add_tag", "target": "", "detail": "finance"},
            {"change_type": "set_structured_property", "target": "retention", "detail": "90"},
        ]
        given = {"entity_urn": ORDERS, "insight_ids": [id], "changes": changes, "confirm": True}
        assert apply_knowledge(chief, "apply", **given)["changes_applied"] == 4
        promoted = catalog.inspect("shop.orders").sections["promoted"]
        assert {each["field"] for each in promoted} == {"documents", "terms", "tags", "properties"}

    def test_what_maps_to_no_change_of_the_catalog_is_knowledge_all_the_same(
        self, ann: Agent, chief: Agent
    ) -> None:
        id = capture(ann, SEASONS, "business_context")
        apply_knowledge(chief, "approve", insight_ids=[id])
        assert found(recall(ann, "selling seasons")) == [id]


class TestCorrections:
    def test_stale_memories_are_left_out_of_recall_and_listed_for_review(
        self, ann: Agent, door: OnRecord
    ) -> None:
        id = remember(ann)
        door.revise(id, status="stale", status_reason="deprecated on 2026-02-01")
        assert recall(ann, "selling seasons")["count"] == 0
        told = ann.did("memory_manage", command="review_stale")
        assert ids(told["records"]) == [id]
        assert told["records"][0]["stale_reason"] == "deprecated on 2026-02-01", "the precise reason"

    def test_x_was_said_then_corrected_to_y_can_be_followed_both_ways(
        self, ann: Agent, door: OnRecord
    ) -> None:
        said = remember(ann)
        corrected = door.remember("There are three selling seasons.", supersedes=[said]).memory.id
        [old] = listed(ann, filter_status="superseded")
        assert old["metadata"]["superseded_by"] == corrected
        [hit] = recall(ann, "selling seasons")["memories"]
        assert (hit["Record"]["id"], hit["Record"]["metadata"]["supersedes"]) == (corrected, [said])
        assert corrected in error(ann, command="update", id=said, content=NET)

    def test_an_update_keeps_what_was_said_before_in_the_history(self, ann: Agent, door: OnRecord) -> None:
        id = remember(ann)
        ann.did("memory_manage", command="update", id=id, content=NET)
        assert [each.memory.content for each in door.history(id).versions] == [SEASONS, NET]


class TestTrapsOfTheOriginal:
    """What such a platform has stumbled over; those not named here have tests with the tool they are about."""

    def test_a_rejected_or_rolled_back_insight_is_recalled_by_nobody(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        rejected, taken_back = capture(ann, entity_urns=[ORDERS]), capture(ann, SEASONS, entity_urns=[ORDERS])
        apply_knowledge(chief, "reject", insight_ids=[rejected])
        apply_knowledge(chief, "approve", insight_ids=[taken_back])
        change = {"change_type": "add_tag", "target": "", "detail": "finance"}
        given = {"entity_urn": ORDERS, "insight_ids": [taken_back], "changes": [change], "confirm": True}
        done = apply_knowledge(chief, "apply", **given)
        assert record(ann, taken_back)["metadata"]["insight_status"] == "applied", "it is persisted"
        apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"], confirm=True)
        for strategy in ("semantic", "lexical", "entity", "graph", "auto"):
            told = recall(ann, "seasons refunds", strategy=strategy, entity_urns=[ORDERS], include_stale=True)
            assert told["memories"] == []

    def test_a_search_for_archived_ones_finds_them(self, ann: Agent) -> None:
        id = remember(ann)
        ann.did("memory_manage", command="forget", id=id)
        assert ids(listed(ann, filter_status="archived")) == [id]

    def test_a_review_of_many_stays_within_a_budget(self, ann: Agent, chief: Agent, door: OnRecord) -> None:
        for number in range(130):
            door.remember(
                f"Proposal {number} of many.", review=True, entities=[urn(f"t{number}")], alike="keep"
            )
        told = apply_knowledge(chief, "bulk_review")
        assert (told["total_pending"], len(told["by_entity"])) == (130, 100)

    def test_revising_a_record_changes_no_time_but_its_own(self, ann: Agent, door: OnRecord) -> None:
        untouched, id = remember(ann), remember(ann, NET)
        before = record(ann, untouched)["updated_at"]
        ann.did("memory_manage", command="update", id=id, confidence="high")
        assert record(ann, untouched)["updated_at"] == before

    def test_two_names_of_one_thing_find_the_same(self, ann: Agent, catalog: OnRecord) -> None:
        id = remember(ann, entity_urns=[ORDERS])
        for name in (ORDERS, "shop.orders"):
            assert found(recall(ann, strategy="entity", entity_urns=[name])) == [id]

    def test_a_question_about_a_table_finds_what_is_known_of_its_columns(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        catalog.remember("The amount is in cents.", entities=["shop.orders.amount"])
        by_entity = recall(ann, strategy="entity", entity_urns=[f"urn:li:schemaField:({ORDERS},amount)"])
        assert [each["Record"]["content"] for each in by_entity["memories"]] == ["The amount is in cents."]
        assert by_entity["memories"][0]["Record"]["entity_urns"] == [f"urn:li:schemaField:({ORDERS},amount)"]
        for strategy in ("entity", "graph", "auto"):
            of_table = recall(ann, strategy=strategy, entity_urns=[ORDERS])
            assert found(of_table) == found(by_entity)
        # Also of a table that no source has told of.
        nowhere = urn("nowhere")
        id = remember(ann, "Its colour is a code.", entity_urns=[f"urn:li:schemaField:({nowhere},colour)"])
        assert found(recall(ann, strategy="entity", entity_urns=[nowhere])) == [id]
        assert found(recall(ann, strategy="entity", entity_urns=[urn("nowhere_else")])) == []
