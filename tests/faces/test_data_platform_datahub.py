"""DOES the data platform's face write to DataHub when there is one? Every type of change, and every one of them back."""

from onrecord import OnRecord
from tests.catalog.datahub_server import Datahub
from tests.datahub import hub, shown
from tests.surfaces.test_mcp import Agent

from .data_platform_people import ORDERS, agent, apply_knowledge, chief, door, error, introduce, stub
from .test_data_platform_knowledge import OF_EACH_TYPE

__all__ = ["agent", "chief", "door", "hub", "introduce", "stub"]


def test_each_type_of_change_is_written_to_datahub_and_rolled_back(
    hub: Datahub, chief: Agent, door: OnRecord
) -> None:
    fields = {"amount": {"type": "FLOAT", "description": "The amount."}}
    urn = hub.add(
        "warehouse.main.orders", "duckdb", description="All orders.", fields=fields, tags=["urn:li:tag:old"]
    )
    assert urn == ORDERS
    hub.state.documents["urn:li:document:1"] = {"title": "Gone", "text": "Away with it.", "assets": [urn]}
    hub.state.documents["urn:li:document:2"] = {"title": "Old title", "text": "By day.", "assets": [urn]}
    hub.state.incidents["urn:li:incident:0"] = {
        "title": "Earlier",
        "description": "x",
        "on": urn,
        "state": "ACTIVE",
    }
    door.ingest("datahub")
    before = shown(hub.state)
    changes = [{"change_type": type, **given} for type, (given, _, _) in OF_EACH_TYPE.items()]
    changes.append(
        {"change_type": "update_description", "target": "column:amount", "detail": "Net of refunds."}
    )
    done = apply_knowledge(chief, "apply", entity_urn=urn, changes=changes, confirm=True)
    assert done["changes_applied"] == 16
    assert door.changesets(done["changeset_id"]).changesets[0].target == "datahub"
    held = hub.state.datasets[urn]
    assert (held["edited"], held["edits"]["amount"]["description"]) == ("Orders.", "Net of refunds.")
    assert set(held["tags"]) == {"urn:li:tag:QualityIssue", "urn:li:tag:finance"}
    assert held["terms"] == ["urn:li:glossaryTerm:Revenue"]
    assert sorted(each["title"] for each in hub.state.documents.values()) == [
        "How to read it",
        "New title",
        "prompt: weekly",
    ]
    assert [(each["title"], each["state"]) for each in hub.state.incidents.values()] == [
        ("Earlier", "RESOLVED"),
        ("Late load", "ACTIVE"),
    ]
    rolled = apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"], confirm=True)
    assert not rolled.get("skipped_changes")
    assert shown(hub.state) == before
    hub.fail(403, times=999)
    told = error(chief, "apply_knowledge", action="apply", entity_urn=urn, changes=changes, confirm=True)
    assert "does not allow this token to do that" in told
    assert shown(hub.state) == before


def test_what_datahub_has_and_nobody_read_in_is_written_there_and_rolled_back(
    hub: Datahub, chief: Agent, door: OnRecord
) -> None:
    path = "[version=2.0].[type=struct].[type=double].amount"
    urn = hub.add("warehouse.main.orders", "duckdb", fields={path: {"type": "FLOAT"}})
    before = shown(hub.state)
    changes = [
        {"change_type": "update_description", "target": "column:amount", "detail": "Net of refunds."},
        {"change_type": "add_tag", "target": "", "detail": "finance"},
    ]
    wanted = {"entity_urn": urn, "changes": changes, "confirm": True}
    first, second = (
        apply_knowledge(chief, "apply", **wanted),
        apply_knowledge(chief, "apply", **wanted | {"changes": [changes[0] | {"detail": "In cents."}]}),
    )
    held = hub.state.datasets[urn]
    assert (held["edits"][path]["description"], held["tags"]) == ("In cents.", ["urn:li:tag:finance"])
    # Once it is read in, its changesets are those of the table, and go back in their order.
    door.ingest("datahub")
    known, *_ = door.changesets(entity=urn).changesets
    assert (known.entity, known.target) == (door.plan(urn).entity, "datahub")
    assert known.entity != urn
    back = {"action": "rollback", "changeset_id": first["changeset_id"], "confirm": True}
    assert "Roll that back first" in error(chief, "apply_knowledge", **back)
    for done in (second, first):
        told = apply_knowledge(chief, "rollback", changeset_id=done["changeset_id"], confirm=True)
        assert not told.get("skipped_changes")
    assert shown(hub.state) == before
    told = error(
        chief, "apply_knowledge", action="apply", **wanted | {"entity_urn": urn.replace("orders", "no")}
    )
    assert "not an entity of the catalog that can be edited" in told
