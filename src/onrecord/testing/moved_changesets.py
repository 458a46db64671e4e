"""HOW do proposals and changesets move to another store? On every store."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from onrecord.errors import Conflict, Forbidden, Invalid
from onrecord.model.changesets import WITHOUT_CATALOG, without_effect
from onrecord.review.settling import LEFT_AFTER, settle_all
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    Clock,
    administrator,
)
from onrecord.testing.shop import (
    AMOUNT,
    COLUMN,
    ENTITY,
    NET,
    ShopConformance,
    approved,
    described,
    description,
    proposed,
    shown,
    states,
    write_source,
)


class MovedChangesetConformance(ShopConformance):
    """An export takes them with it, and an import takes nothing that nobody approved."""

    def test_an_export_takes_proposals_and_changesets_with_it(
        self, shop: OnRecord, tmp_path: Path, clock: Clock
    ) -> None:
        approved(shop)
        shop.apply(ENTITY)
        shop.roll_back("1", reason="wrong", then="archive")
        waits = proposed(shop, described("Later."), content="later")
        path = str(tmp_path / "out.jsonl")
        assert shop.export(path).changesets == 1
        other = shop.as_caller(replace(shop.caller, tenant="beta"))
        assert other.import_(path).changesets == 1
        assert other.changesets().changesets == tuple(map(without_effect, shop.changesets().changesets))
        assert states(other) == states(shop)
        assert other.show(waits).memory.edits == shop.show(waits).memory.edits
        assert other.import_(path).changesets == 0
        assert other.doctor().problems == ()

    def test_what_came_without_its_catalog_is_approved_and_can_be_applied_there(
        self, shop: OnRecord, tmp_path: Path
    ) -> None:
        applied = approved(shop)
        shop.apply(ENTITY)
        retired = approved(shop, described("Orders of the shop.", ENTITY), content="All orders.")
        shop.apply(ENTITY)
        shop.retire(retired)
        path = str(tmp_path / "out.jsonl")
        shop.export(path)
        assert shop.import_(path).unchanged == 2, "where it comes from, all of it is here"
        assert states(shop) == {"applied": [retired, applied]}
        other = shop.as_caller(replace(shop.caller, tenant="beta"))
        other.import_(path)
        assert states(other) == {"approved": [applied], "rejected": [retired]}
        imported = other.changesets("1").changesets[0]
        assert (imported.state, imported.ended_reason) == ("failed", WITHOUT_CATALOG)
        with pytest.raises(Conflict, match="none of its changes is left"):
            other.roll_back("1")
        assert other.import_(path).unchanged == 2
        other.ingest(write_source(tmp_path / "again"))
        assert description(other) == AMOUNT
        assert other.plan(ENTITY).memories == (applied,)
        assert other.apply(ENTITY).changeset.id == "3"
        assert (description(other), states(other)["applied"]) == (NET, [applied])
        assert other.doctor().problems == ()

    def test_what_comes_with_its_catalog_stays_applied_and_can_be_rolled_back(
        self, shop: OnRecord, store: Store, tmp_path: Path
    ) -> None:
        id = approved(shop)
        shop.apply(ENTITY)
        path, promoted = str(tmp_path / "out.jsonl"), shown(shop)
        everything = shop.as_caller(administrator())
        everything.export(path, all_tenants=True)
        everything.erase_tenant(shop.caller.tenant, confirm=shop.caller.tenant)
        everything.import_(path, keep_tenants=True)
        assert (states(shop), shown(shop)) == ({"applied": [id]}, promoted)
        assert shop.roll_back("1").kept == ()
        assert description(shop) == AMOUNT

    def test_no_agent_forges_what_people_promoted(
        self, shop: OnRecord, store: Store, tmp_path: Path, clock: Clock
    ) -> None:
        approved(shop)
        shop.apply(ENTITY)
        path = tmp_path / "out.jsonl"
        shop.as_caller(administrator()).export(str(path), all_tenants=True)
        shop.roll_back("1", then="archive")
        untouched = shown(shop)
        agent = shop.as_caller(replace(shop.caller, actor="agent", operator=False))
        written = path.read_text()
        # As a changeset that would put it back, and as a record of the catalog that has it already.
        path.write_text("".join(_forged(written, "changeset")))
        agent.import_(str(path), skip_conflicts=True)
        clock.tick(seconds=LEFT_AFTER.total_seconds() + 1)
        assert settle_all(store, clock.now) == ()
        assert {each.id: each.state for each in shop.changesets().changesets}["7"] == "failed"
        path.write_text("".join(_forged(written, "versions")))
        with pytest.raises(Forbidden, match="only a person"):
            agent.import_(str(path), skip_conflicts=True)
        assert shown(shop) == untouched
        # Nor does a person bring in what no edit could have left there.
        path.write_text("".join(_forged(written, "changeset", "Net\u200b.")))
        with pytest.raises(Invalid, match="invisible"):
            shop.import_(str(path), skip_conflicts=True)


def _forged(export: str, kind: str, value: str = "Forged.") -> Iterator[str]:
    """The lines of an export with those of one kind alone, in which something was promoted that nobody has approved."""
    for line in map(json.loads, export.splitlines()):
        if "changeset" in line and kind == "changeset":
            [change] = line["changeset"]["changes"]
            forged = {"entity": COLUMN, "field": "description", "value": value, "changeset": "7"}
            change["under"] = forged | {"approved_by": "root", "at": line["changeset"]["at"]}
            change["after"] = change["edit"]["value"] = AMOUNT
            line["changeset"] |= {"id": "7", "state": "rolling_back", "memories": []}
        elif "versions" in line and kind == "versions" and "/" not in line["id"]:
            line = json.loads(json.dumps(line).replace(NET, value).replace('"orders"', '"forged"'))
            line["id"] = line["id"].replace("orders", "forged")
            for version in line["versions"]:
                version["memory"]["id"] = line["id"]
        elif "changeset" in line or "versions" in line or "relation" in line:
            continue
        yield json.dumps(line) + "\n"
