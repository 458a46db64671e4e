"""WHAT do tests of proposals and changesets begin with? A catalog of one model, edits of it, and ways to stop half-way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from onrecord.catalog.targets.amendments import AmendmentsTarget
from onrecord.model.catalog import ENTITY_KINDS
from onrecord.model.changesets import Changeset, FieldChange
from onrecord.model.limits import PROPOSAL_STATES
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.testing.builders import (
    START,
    Clock,
    Conformance,
    browsed,
)

REVIEWS: Final = frozenset({"memory.read", "memory.manage", "memory.review"})
#: What the source says of a column, unless a test says otherwise.
AMOUNT: Final = "The amount."
NET: Final = "Net of refunds."
ENTITY: Final = "shop.orders"
COLUMN: Final = "shop.orders.amount"
#: An entity that no source has, and a part of it.
NOWHERE: Final = "urn:li:dataset:(urn:li:dataPlatform:x,nowhere,PROD)"
NOWHERE_AMOUNT: Final = f"urn:li:schemaField:({NOWHERE},amount)"


def write_source(folder: Path, amount: str = AMOUNT, *, columns: str = "id amount") -> str:
    """A source with one model, whose column `amount` is described so."""
    models = folder / "models" / "shop"
    models.mkdir(parents=True, exist_ok=True)
    listed = "".join(
        f"- {{name: {name}, type: number{f', description: {amount!r}' if name == 'amount' else ''}}}\n"
        for name in columns.split()
    )
    text = f"name: orders\ndata_source: shop\nsql_table: orders\ndescription: Orders.\ncolumns:\n{listed}"
    (models / "orders.yaml").write_text(text, encoding="utf-8")
    return str(folder)


def described(value: str = NET, entity: str = COLUMN) -> dict[str, Any]:
    return {"entity": entity, "field": "description", "value": value}


def proposed(
    door: OnRecord, *edits: Mapping[str, Any], content: str = "It is net of refunds.", **more: Any
) -> str:
    """The id of a new proposal."""
    return door.remember(content, edits=list(edits) or [described()], **more).memory.id


def approved(root: OnRecord, *edits: Mapping[str, Any], **more: Any) -> str:
    """The id of a proposal that a person has approved."""
    id = proposed(root, *edits, **more)
    root.approve(id)
    return id


def shown(door: OnRecord) -> dict[str, Any]:
    """What everyone sees of the model, with what was promoted."""
    sections = door.inspect(ENTITY).sections
    return {name: sections.get(name) for name in ("description", "tags", "columns", "promoted")}


def description(door: OnRecord) -> str | None:
    [column] = [each for each in shown(door)["columns"] if each["name"] == "amount"]
    text: str | None = column.get("description")
    return text


def everywhere(door: OnRecord) -> dict[str, Any]:
    """What the catalog shows: entities, what a search finds, and how many there are."""
    return {
        "entities": [door.entities(kind=kind).total for kind in ENTITY_KINDS],
        "found": door.search("nowhere amount refunds", max_memories=0, max_example_queries=0).entities,
        "counted": [each for each in door.status().tenants if each.collection == "entities"],
    }


def states(door: OnRecord) -> dict[str, list[str]]:
    """The ids in each state; pages, totals and tallies must agree, and no proposal is in two."""
    found = {state: browsed(door, proposal=state) for state in PROPOSAL_STATES}
    for state, ids in found.items():
        assert door.browse(proposal=state, count=True, limit=1).total == len(ids)
        assert door.tally("kind", proposal=state).total == len(ids)
        assert browsed(door, proposal=state, known_at=START + timedelta(days=99)) == ids
        # A single proposal shows the state that the lists go by.
        assert {shown_state(door, id) for id in ids} <= {state}
    every = [id for ids in found.values() for id in ids]
    assert len(every) == len(set(every))
    assert sorted(browsed(door, proposal="any")) == sorted(every)
    return {state: ids for state, ids in found.items() if ids}


def shown_state(door: OnRecord, id: str) -> str | None:
    background = door.show(id, background=True).background
    return None if background is None else background.proposal


class Stopped(BaseException):
    """Ends a process at this point; nothing catches it."""


def one_by_one(
    monkeypatch: pytest.MonkeyPatch, method: str, around: Callable[[int, Callable[[], Any]], Any]
) -> None:
    """The target writes or restores one value after the other, as one in another system does, with something around each
    call, which gets its number.
    """
    done: Callable[..., Any] = getattr(AmendmentsTarget, method)
    calls = count(1)

    def each_alone(
        self: AmendmentsTarget, changeset: Changeset, changes: Sequence[FieldChange]
    ) -> dict[Any, str]:
        notes: dict[Any, str] = {}
        for change in changes:
            notes |= around(next(calls), partial(done, self, changeset, [change])) or {}
        return notes

    monkeypatch.setattr(AmendmentsTarget, method, each_alone)


@contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, method: str, at: int, before: bool = True) -> Iterator[None]:
    """The process ends just before or after the nth value that the target writes or restores, one after the other."""

    def stop(number: int, done: Callable[[], Any]) -> Any:
        if number == at and before:
            raise Stopped
        answer = done()
        if number == at:
            raise Stopped
        return answer

    with monkeypatch.context() as patched:
        one_by_one(patched, method, stop)
        with pytest.raises(Stopped):
            yield


def begun_changeset(shop: OnRecord, store: Store, clock: Clock) -> tuple[Changeset, AmendmentsTarget]:
    """A changeset of which nothing is written yet, and where it is to be written."""
    with pytest.MonkeyPatch.context() as patched, stopping(patched, "write", 1):
        shop.apply(ENTITY)
    with store.reading(shop.caller, clock.now) as reading:
        [begun] = reading.changesets.unsettled()
    return begun, AmendmentsTarget(store, shop.caller, clock.now, embeds=False)


class ShopConformance(Conformance):
    """With a catalog of one model."""

    @pytest.fixture
    def shop(self, root: OnRecord, tmp_path: Path) -> OnRecord:
        root.ingest(write_source(tmp_path))
        return root
