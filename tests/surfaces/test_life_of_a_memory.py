"""HOW does a remark reach the catalog and leave it again? One session over HTTP of those who take part, each with a key."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord.client import Client, connect
from onrecord.errors import Conflict, Forbidden, NotFound
from onrecord.operation import StorePolicy

from .conftest import Served

MODEL = """
name: orders
data_source: shop
sql_table: orders
columns:
- {name: id, type: number, primary_key: true}
- {name: amount, type: number, description: DESCRIPTION}
"""
REMARK = "The amount of an order is net of refunds, in cents."
EDITS = [{"entity": "orders.amount", "field": "description", "value": "Net of refunds, in cents."}]
#: Who takes part: a person who proposes, a reviewer with an agent, a colleague's agent, and one of another tenant.
PEOPLE: dict[str, tuple[str, str, str, list[str]]] = {
    "bob": ("acme", "bob", "person", []),
    "rita": ("acme", "rita", "person", ["memory.review"]),
    "rita's agent": ("acme", "rita", "agent", ["memory.review"]),
    "sam": ("acme", "sam", "agent", []),
    "eve": ("rival", "eve", "agent", []),
}


@pytest.fixture
def people(server: Served) -> Iterator[dict[str, Client]]:
    doors = {}
    for name, (tenant, user, actor, more) in PEOPLE.items():
        key = server.make_key(
            tenant=tenant, user=user, actor=actor, permissions=["memory.read", "memory.manage", *more]
        )
        doors[name] = connect(server.url, key=key)
    yield doors
    for door in doors.values():
        door.close()


@pytest.fixture
def source_says(server: Served, tmp_path: Path) -> Callable[[str], Any]:
    """Read the source, which describes the column so; the one who reads it sits at the machine."""
    here = server.parts.door
    loader = here.as_caller(replace(here.caller, tenant="acme", user="loader"), StorePolicy())

    def ingest(description: str) -> Any:
        folder = tmp_path / "layer" / "models" / "shop"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "orders.yaml").write_text(MODEL.replace("DESCRIPTION", description))
        return loader.ingest(str(tmp_path / "layer"))

    return ingest


def amount(door: Client) -> str:
    """How the column is described to someone."""
    [column] = [each for each in door.inspect("orders").sections["columns"] if each["name"] == "amount"]
    return str(column["description"])


def test_a_remark_is_reviewed_applied_told_kept_rolled_back_and_remembered(
    people: dict[str, Client], source_says: Callable[[str], Any]
) -> None:
    bob, rita, sam, eve = (people[name] for name in ("bob", "rita", "sam", "eve"))
    asked = {
        "answer": {"error": "no such column: shop.orders.amounts"},
        "arguments": {"table": "shop.orders"},
    }
    source_says("The amount.")
    assert amount(sam) == "The amount."

    # Captured, and told to nobody who does not review.
    proposed = bob.remember(REMARK, entities=["orders.amount"], edits=EDITS).memory
    assert proposed.status == "pending"
    assert not sam.recall("Is the amount of an order net of refunds?").hits
    assert not sam.attach(**asked).memories
    assert sam.browse(statuses=["pending"], count=True).total == 0
    with pytest.raises(NotFound):
        sam.show(proposed.id)
    assert rita.browse(proposal="pending", count=True).total == 1
    assert rita.tally("status", proposal="pending").total == 1

    # Nothing is applied that no person has approved.
    with pytest.raises(Conflict, match="Approve one first"):
        rita.apply("orders")
    with pytest.raises(Forbidden):
        bob.approve(proposed.id)
    with pytest.raises(Forbidden):
        people["rita's agent"].approve(proposed.id)
    rita.approve(proposed.id, reason="Finance says so too.")
    assert sam.recall("Is the amount of an order net of refunds?").hits[0].memory.id == proposed.id
    assert [each.id for each in sam.attach(**asked).memories] == [proposed.id]
    assert amount(sam) == "The amount."

    # Planned and applied by a person, and then in everyone's view of the thing.
    plan = rita.plan("orders")
    assert [(each.before, each.after) for each in plan.changes] == [("The amount.", EDITS[0]["value"])]
    with pytest.raises(Forbidden):
        people["rita's agent"].apply("orders", mark=plan.mark)
    done = rita.apply("orders", mark=plan.mark).changeset
    assert amount(sam) == EDITS[0]["value"]
    assert "approved by rita" in sam.inspect("orders", sections=["promoted"]).markdown
    assert rita.browse(proposal="applied", count=True).total == 1
    with pytest.raises(Conflict, match="roll that changeset back"):
        rita.reject(proposed.id)
    assert not eve.changesets().changesets

    # The next ingest does not wipe it, and says when the source says something new.
    assert "has another value now" in source_says("The amount with tax.").notes[0]
    assert amount(sam) == EDITS[0]["value"]

    # Taken back: the source shows through, and the remark is told no longer.
    rita.roll_back(done.id, reason="It is gross after all.")
    assert amount(sam) == "The amount with tax."
    assert not sam.attach(**asked, again=True).memories
    with pytest.raises(Conflict, match="rolled back"):
        rita.roll_back(done.id)

    # It waits for review again. Captured again, the answer says why.
    assert rita.browse(proposal="pending", count=True).total == 1
    again = bob.remember(REMARK, entities=["orders.amount"], edits=EDITS)
    [before] = again.rejected
    assert (again.outcome, again.memory.id, before.by) == ("unchanged", proposed.id, "rita")
    assert before.reason == "rolled back by rita: It is gross after all."

    # Once it is rejected for good, the answer says why, and it waits only with something new.
    rita.reject(proposed.id, reason="Gross, says the auditor.")
    again = bob.remember(REMARK, entities=["orders.amount"], edits=EDITS)
    assert again.outcome == "rejected"
    [before] = again.rejected
    assert (before.by, before.reason) == ("rita", "Gross, says the auditor.")
    assert rita.browse(proposal="pending", count=True).total == 0
    new = "Finance has corrected itself since."
    assert (
        bob.remember(REMARK, entities=["orders.amount"], edits=EDITS, what_is_new=new).memory.status
        == "pending"
    )
    assert rita.browse(proposal="pending", count=True).total == 1
