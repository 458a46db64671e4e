"""WHAT becomes of an insight? It is captured, waits, is approved by a person, reaches the catalog and can be taken back."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from onrecord import Caller, OnRecord
from onrecord.errors import Invalid
from onrecord.faces.data_platform.actions import TYPES, edits_of
from onrecord.faces.data_platform.fields import OF_INSIGHTS
from onrecord.faces.data_platform.opening import tools
from onrecord.faces.data_platform.tools import TOOLS
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.server import ToolRequest
from tests.surfaces.test_mcp import Agent

from ..catalog.test_ingest import a_manifest
from .checkstack_people import Person
from .data_platform_people import (
    ANN,
    BOB,
    CHIEF,
    NET,
    ORDERS,
    PII,
    REVIEWER,
    SEASONS,
    STORES,
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
    stub,
    urn,
)

__all__ = ["admin", "agent", "ann", "catalog", "chief", "door", "introduce", "stub"]

DESCRIBE = {"change_type": "update_description", "target": "column:amount", "detail": "Net of refunds."}
TAG = {"change_type": "add_tag", "target": "", "detail": "finance"}


def suggested(change: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a suggestion."""
    return {"action_type" if name == "change_type" else name: value for name, value in change.items()}


def insights(someone: Agent, query: str = "amount net refunds", **more: Any) -> list[dict[str, Any]]:
    answer = someone.did("recall_insight", query=query, **more)
    assert answer["count"] == len(answer["insights"])
    return [each["insight"] for each in answer["insights"]]


def approved(someone: Agent, chief: Agent, text: str = NET, **more: Any) -> str:
    id = capture(someone, text, entity_urns=[ORDERS], **more)
    assert apply_knowledge(chief, "approve", insight_ids=[id])["updated"] == 1
    return id


def applied(chief: Agent, id: str, *changes: Mapping[str, Any]) -> dict[str, Any]:
    return apply_knowledge(
        chief, "apply", entity_urn=ORDERS, insight_ids=[id], changes=list(changes or (TAG,)), confirm=True
    )


class TestCapture:
    def test_an_insight_waits_and_has_the_usual_values(self, agent: Connect, catalog: OnRecord) -> None:
        ann = agent(personas={"analyst"}, conversation="session-1")
        told = ann.did("capture_insight", category="correction", insight_text=NET, entity_urns=[ORDERS])
        assert (told["status"], len(told["insight_id"])) == ("pending", 32)
        assert told["message"] == "Insight captured. It will be reviewed by a data catalog administrator."
        assert sorted(told) == ["insight_id", "message", "status"]
        [insight] = insights(ann)
        assert insight | {"created_at": ""} == {
            "id": told["insight_id"],
            "created_at": "",
            "session_id": "session-1",
            "captured_by": ANN,
            "persona": "analyst",
            "source": "user",
            "category": "correction",
            "insight_text": NET,
            "confidence": "medium",
            "entity_urns": [ORDERS],
            "related_columns": [],
            "suggested_actions": [],
            "status": "pending",
        }
        [record] = listed(ann)
        assert (record["dimension"], record["status"]) == ("knowledge", "active")
        assert record["metadata"]["insight_status"] == "pending"
        assert record["embedding_model"] == "stub", "with its model, so that no insight looks like a gap"

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"category": "general"}, 'category: invalid category "general": must be one of: correction, '),
            ({"category": ""}, "category: category is required and must be one of: correction, "),
            ({"confidence": "sure"}, 'confidence: invalid confidence "sure": must be one of: high'),
            ({"source": "automation"}, 'source: invalid source "automation": must be one of: user, agent_dis'),
            ({"insight_text": ""}, "insight_text: insight_text is required (minimum 10 bytes)"),
            ({"insight_text": "é" * 4}, "insight_text: insight_text must be at least 10 bytes (got 8)"),
            ({"insight_text": "x" * 4_001}, "insight_text: insight_text must be at most 4000 bytes (got 4001)"),
            ({"entity_urns": [urn(str(n)) for n in range(11)]}, "entity_urns: entity_urns exceeds maximum of 10"),
            ({"related_columns": [{"column": "a"}] * 21}, "related_columns: related_columns exceeds maximum of 20"),
            ({"suggested_actions": [suggested(TAG)] * 6}, "suggested_actions: suggested_actions exceeds maximum of 5"),
            ({"thread_ids": [str(n) for n in range(51)]}, "thread_ids: thread_ids exceeds maximum of 50 (got 51)"),
            (
                {"suggested_actions": [suggested(TAG), {"action_type": "paint"}]},
                'suggested_actions[1]: invalid action_type "paint": must be one of: update_description, add_tag',
            ),
            (
                {"suggested_actions": [{"action_type": "add_curated_query", "detail": "Daily"}]},
                "suggested_actions[0]: query_sql is required for add_curated_query",
            ),
            ({"suggested_actions": [{"action": "add_tag"}]}, "is not a field of a suggested action"),
            ({"entity_urn": ORDERS}, "is not an argument of this tool"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_told_and_nothing_is_stored(
        self, ann: Agent, given: dict[str, Any], told: str
    ) -> None:
        whole = {"category": "correction", "insight_text": NET} | given
        assert told in error(ann, "capture_insight", **whole)
        assert listed(ann) == []

    def test_category_and_text_are_required(self, ann: Agent) -> None:
        assert "category: is required" in error(ann, "capture_insight", insight_text=NET)
        assert "insight_text: is required" in error(ann, "capture_insight", category="correction")

    def test_every_value_of_every_list_is_taken(self, ann: Agent) -> None:
        for place, category in enumerate(OF_INSIGHTS["category"]):
            source = OF_INSIGHTS["source"][place % 3]
            capture(ann, f"Insight {place} of all.", category, source=source, confidence="high")
        assert {each["category"] for each in insights(ann, "insight of all")} == set(OF_INSIGHTS["category"])

    def test_columns_and_suggestions_are_kept_with_it(self, ann: Agent, catalog: OnRecord) -> None:
        columns = [{"urn": ORDERS, "column": "amount", "relevance": "direct"}]
        capture(ann, entity_urns=[ORDERS], related_columns=columns, suggested_actions=[suggested(DESCRIBE)])
        [insight] = insights(ann)
        assert (insight["related_columns"], insight["suggested_actions"]) == (columns, [suggested(DESCRIBE)])
        assert insight["entity_urns"] == [ORDERS], "a column that only a suggestion names is not one of them"
        [record] = listed(ann)
        assert (record["related_columns"], "related_columns" in record["metadata"]) == (columns, False)
        [edit] = catalog.show(insight["id"]).memory.edits or ()
        assert (edit.entity, edit.value) == ("shop.orders.amount", "Net of refunds.")

    def test_an_entity_that_no_catalog_knows_is_kept_with_its_suggestions(
        self, ann: Agent, catalog: OnRecord
    ) -> None:
        told = ann.did(
            "capture_insight",
            category="correction",
            insight_text=NET,
            entity_urns=[urn("nowhere")],
            suggested_actions=[suggested(DESCRIBE), suggested(TAG)],
        )
        assert "nowhere" in told["warnings"][0]
        assert insights(ann)[0]["entity_urns"] == [urn("nowhere")]

    def test_threads_that_are_not_known_here_are_told_as_unlinked(
        self, agent: Connect, catalog: OnRecord
    ) -> None:
        catalog.as_caller(Caller(tenant="acme", user=ANN)).register_conversation("t-1")
        catalog.as_caller(Caller(tenant="acme", user=BOB)).register_conversation("bobs")
        given = {"thread_ids": ["t-1", "bobs", "no\nname", "t-9", "t-1"]}
        told = agent().did("capture_insight", category="correction", insight_text=NET, **given)
        assert told["linked_thread_count"] == 1
        assert told["unlinked_thread_ids"] == ["bobs", "no\nname", "t-9"]
        assert listed(agent())[0]["metadata"]["thread_ids"] == ["t-1"]

    def test_what_was_rejected_is_told_and_not_queued_again_unless_something_is_new(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = capture(ann)
        apply_knowledge(chief, "reject", insight_ids=[id], review_notes="Finance says gross.")
        again = ann.did("capture_insight", category="correction", insight_text=NET)
        assert (again["status"], again["insight_id"]) == ("rejected", id)
        assert "Finance says gross." in again["message"]
        assert capture(ann, what_is_new="The new contract says net.") != id

    def test_a_plain_memory_is_no_insight(self, ann: Agent, chief: Agent) -> None:
        id = remember(ann)
        assert apply_knowledge(chief, "bulk_review")["total_pending"] == 0
        assert insights(ann, "selling seasons") == []
        assert apply_knowledge(chief, "approve", insight_ids=[id])["errors"] == [f"{id}: not found"]


class TestWhoFindsIt:
    def test_until_it_is_approved_its_owner_alone_finds_it(self, agent: Connect, chief: Agent) -> None:
        ann = agent(personas={"analyst"})
        id = capture(ann)
        bob = agent(BOB, personas={"analyst"})
        reviewer = agent(BOB, personas={"analyst"}, permissions=REVIEWER)
        admin = agent(CHIEF, permissions=frozenset(PERMISSIONS))
        assert found(recall(ann, "refunds")) == [id]
        for other in (bob, reviewer, admin):
            assert recall(other, "refunds")["memories"] == []
            assert insights(other) == []
        assert apply_knowledge(chief, "approve", insight_ids=[id])["updated"] == 1
        [hit] = recall(bob, "refunds")["memories"]
        assert hit["Record"]["metadata"]["insight_status"] == "approved"
        assert insights(bob) == [], "an insight is recalled by who captured it"

    def test_a_rejected_one_is_no_longer_found_and_its_state_and_reason_are_shown(
        self, ann: Agent, chief: Agent
    ) -> None:
        id = capture(ann)
        apply_knowledge(chief, "reject", insight_ids=[id], review_notes="Not so.")
        assert recall(ann, "refunds", include_stale=True)["memories"] == []
        assert insights(ann) == []
        [rejected] = insights(ann, status="rejected")
        assert (rejected["status"], rejected["reviewed_by"], rejected["review_notes"]) == (
            *("rejected", CHIEF),
            "Not so.",
        )
        [record] = listed(ann, filter_status="archived")
        assert (record["id"], record["metadata"]["insight_status"]) == (id, "rejected")

    def test_a_query_is_needed_and_a_state_is_one_of_them(self, ann: Agent) -> None:
        assert error(ann, "recall_insight", query=" ") == "query is required for recall_insight"
        assert "must be one of: pending, approved" in error(ann, "recall_insight", query="x", status="new")

    def test_without_vectors_words_find_it(self, ann: Agent, stub: Any) -> None:
        capture(ann)
        assert ann.did("recall_insight", query="refunds")["ranking"] == "hybrid"
        stub.down = "gone"
        answer = ann.did("recall_insight", query="net refunds")
        assert (answer["ranking"], answer["count"]) == ("lexical", 1)

    def test_state_cannot_be_said_in_metadata(self, ann: Agent, chief: Agent) -> None:
        forged = {"insight_status": "applied", "superseded_by": "x", "legacy_created_by": "y", "a": 1}
        id = remember(ann, metadata=forged)
        assert listed(ann)[0]["metadata"] == {"a": 1}
        ann.did("memory_manage", command="update", id=id, metadata={**forged, "b": 2})
        assert listed(ann)[0]["metadata"] == {"a": 1, "b": 2}


class TestTheWayOfAnInsight:
    def test_it_is_approved_applied_and_rolled_back(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = approved(ann, chief, suggested_actions=[suggested(DESCRIBE)])
        [insight] = insights(ann)
        assert (insight["status"], insight["reviewed_by"]) == ("approved", CHIEF)
        done = applied(chief, id, DESCRIBE, TAG)
        assert (done["changes_applied"], done["insights_marked_applied"]) == (2, 1)
        assert done["entity_urn"] == ORDERS
        assert done["resulting_state"]["tags"] == ["finance"]
        assert catalog.inspect("shop.orders").sections["columns"][0]["description"] == "Net of refunds."
        [insight] = insights(ann)
        assert (insight["status"], insight["applied_by"], insight["changeset_ref"]) == (
            *("applied", CHIEF),
            done["changeset_id"],
        )
        assert apply_knowledge(chief, "bulk_review")["total_pending"] == 0, "applied is not pending"
        told = apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"], confirm=True)
        assert told | {"notice": ""} == {
            "notice": "",
            "changeset_id": done["changeset_id"],
            "target_urn": ORDERS,
            "reverted_changes": [
                *("update_description: column:amount description", "add_tag: tags finance"),
            ],
            "insights_rolled_back": 1,
            "rolled_back_by": CHIEF,
        }
        assert "description" not in catalog.inspect("shop.orders").sections["columns"][0]
        assert recall(ann, "refunds")["memories"] == [], "archived with what it had changed"
        assert insights(ann, status="rolled_back")[0]["id"] == id

    @pytest.mark.parametrize(
        ("before", "action", "told"),
        [
            ((), "apply", 'invalid status transition from "pending" to "applied"'),
            (("approve",), "approve", 'invalid status transition from "approved" to "approved"'),
            (("reject",), "approve", 'invalid status transition from "rejected" to "approved"'),
            (("reject",), "reject", 'invalid status transition from "rejected" to "rejected"'),
            (("reject",), "apply", 'invalid status transition from "rejected" to "applied"'),
            (("approve", "apply"), "approve", 'invalid status transition from "applied" to "approved"'),
            (("approve", "apply"), "reject", 'invalid status transition from "applied" to "rejected"'),
            (("approve", "apply"), "apply", 'invalid status transition from "applied" to "applied"'),
            (("approve", "apply", "rollback"), "approve", 'invalid status transition from "rolled_back" to "approved"'),
            (("approve", "apply", "rollback"), "reject", 'invalid status transition from "rolled_back" to "rejected"'),
        ],
    )  # fmt: skip
    def test_any_other_step_is_refused_and_changes_nothing(
        self, ann: Agent, chief: Agent, catalog: OnRecord, before: tuple[str, ...], action: str, told: str
    ) -> None:
        id = capture(ann, entity_urns=[ORDERS])
        changeset = ""
        for step in before:
            if step == "apply":
                changeset = applied(chief, id)["changeset_id"]
            elif step == "rollback":
                apply_knowledge(chief, "rollback", changeset_id=changeset, confirm=True)
            else:
                apply_knowledge(chief, step, insight_ids=[id])
        memory = catalog.show(id).memory
        if action == "apply":
            given = {"entity_urn": ORDERS, "changes": [TAG], "insight_ids": [id], "confirm": True}
            assert error(chief, "apply_knowledge", action="apply", **given) == f"{id}: {told}"
        else:
            answer = apply_knowledge(chief, action, insight_ids=[id])
            assert (answer["updated"], answer["errors"]) == (0, [f"{id}: {told}"])
        assert catalog.show(id).memory == memory

    def test_approved_may_still_be_rejected(self, ann: Agent, chief: Agent) -> None:
        id = approved(ann, chief)
        assert apply_knowledge(chief, "reject", insight_ids=[id], review_notes="After all.")["updated"] == 1
        assert recall(ann, "refunds")["memories"] == []

    def test_each_id_has_its_own_result(self, ann: Agent, chief: Agent) -> None:
        good, missing = capture(ann), "0" * 32
        told = apply_knowledge(chief, "approve", insight_ids=[good, missing], review_notes="Seen.")
        assert {name: told[name] for name in ("action", "updated", "total", "errors")} == {
            "action": "approve",
            "updated": 1,
            "total": 2,
            "errors": [f"{missing}: not found"],
        }
        assert "errors" not in apply_knowledge(chief, "reject", insight_ids=[good])

    def test_what_each_action_needs_is_told(self, chief: Agent) -> None:
        def refused(**given: Any) -> str:
            return error(chief, "apply_knowledge", **given)

        names = "bulk_review, review, synthesize, apply, approve, reject, rollback, list_changesets"
        assert refused(action="paint") == f'invalid action "paint": must be one of: {names}'
        assert refused(action="") == f"action is required and must be one of: {names}"
        assert "action: is required" in refused()
        for action in ("review", "synthesize", "apply", "list_changesets"):
            assert refused(action=action) == f"entity_urn is required for {action} action"
        for action in ("approve", "reject"):
            assert refused(action=action) == f"insight_ids is required for {action} action"
            assert "exceeds maximum of 50" in refused(action=action, insight_ids=[str(n) for n in range(51)])
        assert refused(action="rollback") == "changeset_id is required for rollback action"
        at_orders = {"action": "apply", "entity_urn": ORDERS}
        assert refused(**at_orders) == "changes is required and must not be empty"
        assert "changes exceeds maximum of 20 (got 21)" in refused(**at_orders, changes=[TAG] * 21)
        assert 'changes[0]: invalid change_type "paint"' in refused(
            **at_orders, changes=[{"change_type": "paint"}]
        )
        assert "changeset not found: 7" in refused(action="rollback", changeset_id="7", confirm=True)


class TestApply:
    def test_without_confirmation_nothing_is_written(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = approved(ann, chief)
        before = catalog.inspect("shop.orders").sections
        told = apply_knowledge(chief, "apply", entity_urn=ORDERS, insight_ids=[id], changes=[TAG])
        assert (told["confirmation_required"], told["entity_urn"], told["changes_count"]) == (True, ORDERS, 1)
        assert catalog.inspect("shop.orders").sections == before
        assert catalog.changesets().total == 0
        done = applied(chief, id)
        asked = apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"])
        assert (asked["confirmation_required"], asked["changeset_id"]) == (True, done["changeset_id"])
        assert insights(ann)[0]["status"] == "applied"

    def test_a_changeset_is_rolled_back_once_and_only_for_its_own_entity(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        done = applied(chief, approved(ann, chief))
        given = {"action": "rollback", "changeset_id": done["changeset_id"], "confirm": True}
        told = error(chief, "apply_knowledge", **given, entity_urn=urn("customers"))
        assert told == f"changeset {done['changeset_id']} does not belong to entity {urn('customers')}"
        assert "does not belong" in error(chief, "apply_knowledge", **given, entity_urn=urn("nowhere"))
        chief.did("apply_knowledge", **given, entity_urn="orders")
        assert "has already been rolled back" in error(chief, "apply_knowledge", **given)
        assert "has already been rolled back" in error(chief, "apply_knowledge", **given | {"confirm": False})

    def test_a_later_changeset_of_the_same_value_stands_in_the_way(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        first = applied(chief, approved(ann, chief), DESCRIBE)
        second = applied(chief, approved(ann, chief, STORES), DESCRIBE | {"detail": "Something else."})
        told = error(
            chief, "apply_knowledge", action="rollback", changeset_id=first["changeset_id"], confirm=True
        )
        assert f"Changeset {second['changeset_id']} has changed the same values since" in told

    def test_what_someone_changed_since_stays_and_is_named(
        self, ann: Agent, chief: Agent, catalog: OnRecord, tmp_path: Any
    ) -> None:
        from ..catalog.test_ingest import a_manifest

        done = applied(chief, approved(ann, chief), TAG)
        catalog.ingest(
            str(a_manifest(tmp_path / "manifest.json", orders={"tags": ["finance"]}, customers={}))
        )
        told = apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"], confirm=True)
        assert told["reverted_changes"] == []
        assert "has the same value by now" in told["skipped_changes"][0]

    def test_changes_need_no_insight(self, chief: Agent, catalog: OnRecord) -> None:
        done = apply_knowledge(chief, "apply", entity_urn=ORDERS, changes=[TAG], confirm=True)
        assert done["insights_marked_applied"] == 0
        [changeset] = catalog.changesets().changesets
        assert (changeset.memories, changeset.changes[0].approved_by) == ((), CHIEF)

    def test_a_column_that_its_source_does_not_have_and_a_table_that_is_gone_are_refused(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        given = {"action": "apply", "changes": [TAG], "confirm": True}
        catalog.drop_entity("shop.customers")
        told = error(chief, "apply_knowledge", entity_urn=urn("customers"), **given)
        assert "customers" in told
        assert "onrecord ingest" in told
        column = DESCRIBE | {"target": "column:colour"}
        told = error(chief, "apply_knowledge", **given | {"entity_urn": ORDERS, "changes": [column]})
        assert "colour" in told
        assert "not an entity of the catalog that can be edited" in told
        assert [each.state for each in catalog.changesets().changesets] == []

    def test_before_anything_was_read_in_an_insight_lives_through_the_same_life(
        self, ann: Agent, chief: Agent, door: OnRecord
    ) -> None:
        """Pending, approved, applied and rolled back, of a table that no source has told of."""
        changes = [TAG, DESCRIBE, {"change_type": "update_description", "target": "", "detail": "Net."}]
        id = capture(ann, NET, entity_urns=[ORDERS], suggested_actions=[suggested(each) for each in changes])
        wanted = {"entity_urn": ORDERS, "insight_ids": [id], "changes": changes}
        assert "invalid status transition" in error(chief, "apply_knowledge", action="apply", **wanted)
        decided = apply_knowledge(chief, "approve", insight_ids=[id, "missing"])
        assert (decided["updated"], decided["total"], len(decided["errors"])) == (1, 2, 1)
        synthesis = apply_knowledge(chief, "synthesize", entity_urn=ORDERS)
        assert (synthesis["current_metadata"], len(synthesis["proposed_changes"])) == (None, 3)
        asked = apply_knowledge(chief, "apply", **wanted)
        assert asked["confirmation_required"]
        assert apply_knowledge(chief, "list_changesets", entity_urn=ORDERS)["total"] == 0
        done = apply_knowledge(chief, "apply", **wanted, confirm=True)
        assert (done["insights_marked_applied"], "No source lists this entity yet" in done["message"]) == (
            1,
            True,
        )
        stands = {"description": "Net.", "tags": ["finance"], "glossary_terms": [], "owners": []}
        assert done["resulting_state"] == stands
        review = apply_knowledge(chief, "review", entity_urn=ORDERS)
        assert (review["current_metadata"], review["insights"]) == (stands, [])
        assert apply_knowledge(chief, "bulk_review")["total_pending"] == 0
        assert door.entities(kind="model").total == 0
        [listed_one] = apply_knowledge(chief, "list_changesets", entity_urn=ORDERS)["changesets"]
        back = {"changeset_id": done["changeset_id"]}
        assert listed_one["changeset_id"] == back["changeset_id"]
        wrong = error(chief, "apply_knowledge", action="rollback", entity_urn=STORES, **back, confirm=True)
        assert "does not belong" in wrong
        assert apply_knowledge(chief, "rollback", **back)["confirmation_required"]
        told = apply_knowledge(chief, "rollback", **back, entity_urn=ORDERS, confirm=True)
        assert told["reverted_changes"] == [
            "add_tag: tags finance",
            "update_description: column:amount description",
            "update_description: description",
        ]
        again = error(chief, "apply_knowledge", action="rollback", **back, confirm=True)
        assert "already been rolled back" in again
        assert found(recall(ann, NET)) == []
        assert apply_knowledge(chief, "review", entity_urn=ORDERS)["current_metadata"] is None

    def test_what_was_applied_before_the_first_ingest_is_the_tables_own_after_it(
        self, ann: Agent, chief: Agent, door: OnRecord, tmp_path: Path
    ) -> None:
        id = approved(ann, chief)
        first = applied(chief, id, DESCRIBE)
        anew = {"changes": [TAG, DESCRIBE | {"detail": "In cents."}], "confirm": True}
        second = apply_knowledge(chief, "apply", entity_urn=ORDERS, **anew)
        door.ingest(str(a_manifest(tmp_path / "manifest.json", orders={}, customers={})))
        [amount] = [
            each for each in door.inspect("shop.orders").sections["columns"] if each["name"] == "amount"
        ]
        assert amount["description"] == "In cents."
        assert apply_knowledge(chief, "review", entity_urn=ORDERS)["current_metadata"]["tags"] == ["finance"]
        assert apply_knowledge(chief, "list_changesets", entity_urn=ORDERS)["total"] == 2
        for done in (second, first):
            back = {"changeset_id": done["changeset_id"], "entity_urn": ORDERS, "confirm": True}
            assert "skipped_changes" not in apply_knowledge(chief, "rollback", **back)
        assert "promoted" not in door.inspect("shop.orders").sections

    def test_one_failure_writes_nothing(self, ann: Agent, chief: Agent, catalog: OnRecord) -> None:
        id = approved(ann, chief)
        given = {"action": "apply", "entity_urn": ORDERS, "insight_ids": [id], "confirm": True}
        bad = DESCRIBE | {"target": "column:colour"}
        error(chief, "apply_knowledge", **given, changes=[TAG, bad])
        assert "tags" not in catalog.inspect("shop.orders").sections
        assert insights(ann)[0]["status"] == "approved"

    def test_secrets_do_not_reach_the_catalog(self, chief: Agent, catalog: OnRecord) -> None:
        detail = "Read it with password: hunter2hunter2 from staging."
        apply_knowledge(
            chief, "apply", entity_urn=ORDERS, changes=[DESCRIBE | {"detail": detail}], confirm=True
        )
        assert "hunter2" not in json.dumps(catalog.inspect("shop.orders").sections)


#: A change of each type, and where it stands then.
OF_EACH_TYPE: dict[str, tuple[dict[str, str], tuple[str, str | None], Any]] = {
    "update_description": ({"detail": "Orders."}, ("description", None), "Orders."),
    "add_tag": ({"detail": "urn:li:tag:finance"}, ("tags", "finance"), True),
    "remove_tag": ({"detail": "old"}, ("tags", "old"), None),
    "add_glossary_term": ({"detail": "urn:li:glossaryTerm:Revenue"}, ("terms", "Revenue"), True),
    "flag_quality_issue": ({"detail": "Nulls since May."}, ("tags", "QualityIssue"), True),
    "add_documentation": (
        {"target": "https://wiki.example.com/orders", "detail": "The wiki"},
        ("links", "https://wiki.example.com/orders"),
        "The wiki",
    ),
    "add_curated_query": (
        {"detail": "Daily revenue", "query_sql": "SELECT 1", "query_description": "By day."},
        ("queries", "Daily revenue"),
        {"sql": "SELECT 1", "description": "By day."},
    ),
    "set_structured_property": (
        {"target": "urn:li:structuredProperty:retention", "detail": "90"},
        ("properties", "retention"),
        90,
    ),
    "remove_structured_property": ({"target": "owner"}, ("properties", "owner"), None),
    "raise_incident": (
        {"target": "Late load", "detail": "It came at noon."},
        ("incidents", "Late load"),
        "It came at noon.",
    ),
    "resolve_incident": ({"target": "Earlier"}, ("incidents", "Earlier"), None),
    "add_context_document": (
        {"target": "How to read it", "detail": "By day."},
        ("documents", "How to read it"),
        "By day.",
    ),
    "update_context_document": (
        {"target": "Old title", "detail": "By week.", "query_sql": "New title"},
        ("documents", "New title"),
        "By week.",
    ),
    "remove_context_document": ({"target": "Gone"}, ("documents", "Gone"), None),
    "add_prompt": (
        {"target": "weekly", "detail": "Sum it up."},
        ("documents", "prompt: weekly"),
        "Sum it up.",
    ),
}


class TestTheFifteenTypes:
    def test_each_is_an_edit_and_all_of_them_are_rolled_back(self, chief: Agent, catalog: OnRecord) -> None:
        assert list(OF_EACH_TYPE) == list(TYPES)
        before = catalog.inspect("shop.orders").sections
        changes = [{"change_type": type, **given} for type, (given, _, _) in OF_EACH_TYPE.items()]
        done = apply_knowledge(chief, "apply", entity_urn=ORDERS, changes=changes, confirm=True)
        assert done["changes_applied"] == 15
        [changeset] = catalog.changesets(done["changeset_id"]).changesets
        stands = {(each.edit.field, each.edit.key): each.after for each in changeset.changes}
        for place, value in ((place, value) for _, place, value in OF_EACH_TYPE.values()):
            assert stands[place] == value, place
        apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"], confirm=True)
        assert catalog.inspect("shop.orders").sections == before

    @pytest.mark.parametrize(
        ("type", "given", "told"),
        [
            ("update_description", {}, "detail is required for update_description"),
            ("add_context_document", {"target": "x"}, "detail is required for add_context_document"),
            ("add_prompt", {"detail": "x"}, "target is required for add_prompt"),
            ("resolve_incident", {}, "target is required for resolve_incident"),
            ("add_documentation", {"target": "the wiki", "detail": "x"}, "must be the address of the link"),
            ("add_tag", {}, "key"),
        ],
    )
    def test_what_one_lacks_is_told(
        self, chief: Agent, catalog: OnRecord, type: str, given: dict[str, str], told: str
    ) -> None:
        changes = [{"change_type": type, **given}]
        assert told in error(
            chief, "apply_knowledge", action="apply", entity_urn=ORDERS, changes=changes, confirm=True
        )

    def test_a_column_has_tags_and_terms_of_its_own(self) -> None:
        [edit] = edits_of(
            {"change_type": "add_tag", "target": "column:amount", "detail": "pii"}, "change_type", ORDERS
        )
        assert (edit["entity"], edit["key"]) == (f"urn:li:schemaField:({ORDERS},amount)", "pii")


class TestCurating:
    def test_what_waits_is_counted_by_entity_category_and_confidence(
        self, ann: Agent, agent: Connect, chief: Agent, catalog: OnRecord
    ) -> None:
        capture(ann, NET, entity_urns=[ORDERS])
        capture(agent(BOB), PII, "data_quality", entity_urns=[ORDERS, urn("customers")], confidence="high")
        capture(ann, SEASONS, "business_context")
        approved(ann, chief, STORES)
        told = apply_knowledge(chief, "bulk_review")
        assert told["total_pending"] == 3
        assert [(each["entity_urn"], each["count"], each["categories"]) for each in told["by_entity"]] == [
            (ORDERS, 2, ["correction", "data_quality"]),
            (urn("customers"), 1, ["data_quality"]),
        ]
        assert told["by_entity"][0]["latest_at"] >= told["by_entity"][1]["latest_at"]
        assert told["by_category"] == {"correction": 1, "data_quality": 1, "business_context": 1}
        assert told["by_confidence"] == {"medium": 2, "high": 1}

    def test_a_review_shows_what_stands_there_and_what_waits(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = capture(ann, entity_urns=[ORDERS])
        capture(ann, PII, entity_urns=[urn("customers")])
        told = apply_knowledge(chief, "review", entity_urn=ORDERS)
        assert told["current_metadata"] == {"description": "", "tags": [], "glossary_terms": [], "owners": []}
        assert [each["id"] for each in told["insights"]] == [id]
        assert apply_knowledge(chief, "review", entity_urn=urn("nowhere"))["current_metadata"] is None

    def test_a_synthesis_shows_what_approved_insights_would_change(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        assert "note" in apply_knowledge(chief, "synthesize", entity_urn=ORDERS)
        old = DESCRIBE | {"target": "", "detail": "Old words."}
        apply_knowledge(chief, "apply", entity_urn=ORDERS, changes=[old], confirm=True)
        new = suggested(DESCRIBE | {"target": "", "detail": "New words."})
        first = approved(ann, chief, suggested_actions=[new, suggested(TAG)])
        second = approved(ann, chief, STORES, suggested_actions=[new])
        capture(ann, PII, entity_urns=[ORDERS], suggested_actions=[suggested(TAG)])
        told = apply_knowledge(chief, "synthesize", entity_urn=ORDERS)
        assert sorted(each["id"] for each in told["approved_insights"]) == sorted([first, second])
        assert told["proposed_changes"] == [
            {
                "change_type": "update_description",
                "target": "",
                "current_value": "Old words.",
                "suggested_value": "New words.",
                "source_insight_ids": [first, second],
            },
            {
                "change_type": "add_tag",
                "target": "",
                "current_value": "",
                "suggested_value": "finance",
                "source_insight_ids": [first],
            },
        ]
        only = apply_knowledge(chief, "synthesize", entity_urn=ORDERS, insight_ids=[second])
        assert [each["id"] for each in only["approved_insights"]] == [second]

    def test_changesets_are_listed_newest_first_with_what_became_of_them(
        self, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = approved(ann, chief)
        first = applied(chief, id, DESCRIBE)["changeset_id"]
        second = applied(chief, approved(ann, chief, STORES), TAG, DESCRIBE | {"target": ""})["changeset_id"]
        apply_knowledge(chief, "rollback", changeset_id=first, confirm=True)
        told = apply_knowledge(chief, "list_changesets", entity_urn=ORDERS)
        assert told["total"] == 2
        newest, oldest = told["changesets"]
        assert (newest["changeset_id"], newest["change_type"], newest["rolled_back"]) == (
            *(second, "multiple"),
            False,
        )
        assert {name: oldest[name] for name in oldest if not name.endswith("_at")} == {
            "changeset_id": first,
            "target_urn": ORDERS,
            "change_type": "update_description",
            "applied_by": CHIEF,
            "source_insight_ids": [id],
            "rolled_back": True,
            "rolled_back_by": CHIEF,
        }
        assert apply_knowledge(chief, "list_changesets", entity_urn=urn("customers"))["total"] == 0


class TestAPersonDecides:
    """Neither `confirm` nor an agent's key stands for the word of a person."""

    def test_an_agents_key_approves_and_applies_nothing(
        self, agent: Connect, ann: Agent, chief: Agent, catalog: OnRecord
    ) -> None:
        id = capture(ann, entity_urns=[ORDERS])
        robot = agent(CHIEF, permissions=frozenset(PERMISSIONS), key="k1")
        for action in ("approve", "reject"):
            assert "Only a person may review" in error(
                robot, "apply_knowledge", action=action, insight_ids=[id]
            )
        assert insights(ann)[0]["status"] == "pending"
        apply_knowledge(chief, "approve", insight_ids=[id])
        given = {"entity_urn": ORDERS, "changes": [TAG], "insight_ids": [id], "confirm": True}
        assert "Only a person may apply" in error(robot, "apply_knowledge", action="apply", **given)
        done = applied(chief, id)
        back = {"action": "rollback", "changeset_id": done["changeset_id"], "confirm": True}
        assert "Only a person may apply or roll back" in error(robot, "apply_knowledge", **back)
        assert insights(ann)[0]["status"] == "applied"

    def test_who_may_not_review_is_not_offered_the_tool(self, ann: Agent) -> None:
        with pytest.raises(MCPError, match="Unknown tool: apply_knowledge"):
            ann.call("apply_knowledge", action="bulk_review")

    def test_the_person_at_this_machine_is_asked_and_sees_every_value(
        self, agent: Connect, ann: Agent, catalog: OnRecord
    ) -> None:
        id = capture(ann, entity_urns=[ORDERS], suggested_actions=[suggested(DESCRIBE)])
        person = Person()
        helper = agent(CHIEF, permissions=frozenset(PERMISSIONS), asks=person)
        person.answer = "no"
        assert "did not agree" in error(helper, "apply_knowledge", action="approve", insight_ids=[id])
        assert insights(ann)[0]["status"] == "pending"
        person.answer = "yes"
        helper.did("apply_knowledge", action="approve", insight_ids=[id])
        assert NET in person.asked[-1]
        assert "Net of refunds." in person.asked[-1]
        done = applied(helper, id, TAG)
        assert "finance" in person.asked[-1]
        helper.did("apply_knowledge", action="rollback", changeset_id=done["changeset_id"], confirm=True)
        assert len(person.asked) == 4
        mute = agent(CHIEF, permissions=frozenset(PERMISSIONS))
        other = capture(ann, STORES)
        assert "cannot ask a person" in error(mute, "apply_knowledge", action="approve", insight_ids=[other])


class TestPrompts:
    def test_two_prompts_come_with_the_tool(self, ann: Agent, agent: Connect) -> None:
        names = [each.name for each in ann.ask(ann.client.list_prompts).prompts]
        assert names[-2:] == ["knowledge_capture_guidance", "capture-this-as-knowledge"]
        told = ann.ask(ann.client.get_prompt, "capture-this-as-knowledge", {"what": "The {amount} is net."})
        assert "capture_insight" in told.messages[0].content.text
        assert told.messages[0].content.text.endswith("The {amount} is net.")
        for name in names[-2:]:
            alone = ann.ask(ann.client.get_prompt, name, {})
            assert "capture_insight" in alone.messages[0].content.text
        with pytest.raises(MCPError, match="which has none"):
            ann.ask(ann.client.get_prompt, "knowledge_capture_guidance", {"x": "y"})
        reader = agent(BOB, permissions=frozenset({"memory.read"}))
        assert names[-1] not in [each.name for each in reader.ask(reader.client.list_prompts).prompts]


class TestPersonas:
    """Tools are opt-in for each persona, once it is set which gets which."""

    @pytest.mark.parametrize(
        ("personas", "offered"),
        [
            ({"analyst"}, ["memory_manage", "memory_recall", "recall_insight"]),
            ({"steward"}, [tool.name for tool in TOOLS if tool.name != "apply_knowledge"]),
            ({"engineer"}, ["recall_insight"]),
            (set(), ["recall_insight"]),
            ({"analyst", "engineer"}, ["memory_manage", "memory_recall", "recall_insight"]),
        ],
    )
    def test_a_persona_gets_the_tools_that_it_allows(
        self, door: OnRecord, personas: set[str], offered: list[str]
    ) -> None:
        config = Settings("analyst: memory_*; steward: *; *: recall_insight")
        allowed = {tool.name: tool for tool in tools(config, door)}  # type: ignore[arg-type]
        caller = Caller(tenant="acme", user=ANN, actor="agent", personas=frozenset(personas))
        request = ToolRequest(door.as_caller(caller), allowed)
        assert list(request.offered) == offered
        assert bool(request.prompts) == ("capture_insight" in offered)
        chief = replace(caller, permissions=frozenset(PERMISSIONS))
        assert len(ToolRequest(door.as_caller(chief), allowed).offered) == len(TOOLS), "an admin gets all"

    def test_without_it_everyone_gets_what_they_may_use(self, door: OnRecord) -> None:
        assert tools(Settings(""), door) is TOOLS  # type: ignore[arg-type]

    def test_what_names_no_persona_is_refused(self, door: OnRecord) -> None:
        with pytest.raises(Invalid, match="names no persona"):
            tools(Settings("memory_*"), door)  # type: ignore[arg-type]


class Settings:
    def __init__(self, allow: str) -> None:
        self.of_faces = {"tools_allow": allow}


def test_ids_in_a_list_of_archived_ones_are_those_of_rejected_insights(ann: Agent, chief: Agent) -> None:
    id = capture(ann)
    apply_knowledge(chief, "reject", insight_ids=[id])
    assert ids(listed(ann, filter_status="archived")) == [id]
