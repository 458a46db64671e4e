"""WHAT does a new person look at? A demo shop: what a small team and its agents learned in seven months.

It happens in a store of its own on a clock of its own, so that its past is a real one, and comes from there as an
export. Everything in it has the tag `demo`, by which it is removed again.
"""

import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from shutil import copytree
from threading import Event
from typing import Any, Final

from onrecord.app import connect
from onrecord.care.importing import Imported
from onrecord.errors import NotFound
from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_LIMIT, STATUSES
from onrecord.operation import StorePolicy, Watch
from onrecord.service import OnRecord
from onrecord.yaml_reader import json_of, parse

TAG: Final = "demo"
CONVERSATION: Final = "demo-returns"
DATASOURCE: Final = "shop"
#: Whatever the models say no more makes memories stale, which keep what they are about.
_WATCHED: Final = StorePolicy(watch=Watch(timedelta(days=1)))
_HOME: Final = Path(str(files("onrecord.demo")))
#: What the migration in the story does to the model of the orders.
_RENAMED: Final = (("{name: amount,", "{name: amount_gross,"), ("amount:sum", "amount_gross:sum"))


def load(door: OnRecord) -> Imported:
    """Bring the demo shop into a store; its readers see it as if the team had worked there."""
    with tempfile.TemporaryDirectory(prefix="onrecord-demo-") as folder:
        export = str(Path(folder, "demo.jsonl"))
        shop = _play(door, Path(folder), export)
        imported = door.import_(export, skip_conflicts=True)
        # A demo that was removed before has left a catalog in which the shop is gone.
        door.as_caller(door.caller, _WATCHED).ingest(str(shop))
        return imported


def remove(door: OnRecord) -> int:
    """Take the demo out again, with its datasource and conversation; returns how many memories there were."""
    for changeset in door.changesets(states=["applied"]).changesets:
        if _is_of_demo(door, changeset.memories):
            door.roll_back(changeset.id, then="archive")
    gone = 0
    while found := door.browse(tags=[TAG], statuses=STATUSES, limit=BROWSE_LIMIT).memories:
        for memory in found:
            door.forget(exactly(memory.id))
        gone += len(found)
    for take_out in (
        lambda: door.drop_entity(DATASOURCE, kind="datasource"),
        lambda: door.delete_conversation(CONVERSATION),
    ):
        try:
            take_out()
        except NotFound:
            continue
    return gone


def is_loaded(door: OnRecord) -> bool:
    return bool(door.browse(tags=[TAG], statuses=STATUSES, limit=1).memories)


def _is_of_demo(door: OnRecord, memories: tuple[str, ...]) -> bool:
    return any(TAG in door.show(exactly(id)).memory.tags for id in memories)


def _play(door: OnRecord, folder: Path, export: str) -> Path:
    """Let the story happen in a store of its own, and export that; returns where the shop's models are at its end."""
    story = _story()
    people = {name: _caller(door.caller, said) for name, said in story["people"].items()}
    today, moment = door.now, [door.now]
    shop = Path(copytree(_HOME / "shop", folder / "shop"))
    with connect(
        folder / "story.db", caller=people["you"], clock=lambda: moment[0], embedder="none"
    ) as player:
        for step, each in enumerate(story["steps"]):
            moment[0] = _when(today, each["days"], step)
            if each["do"] == "migrate":
                _migrate(shop)
                continue
            said = {name: _filled(value, today, shop) for name, value in each.get("with", {}).items()}
            speaker = player.as_caller(people[each["by"]], _WATCHED)
            getattr(speaker, each["do"])(**said)
            if each["do"] == "ingest":
                speaker.worker.run(Event(), once=True)
        moment[0] = today
        # Of all tenants, of which there is one: that of a single tenant leaves out the catalog.
        player.export(export, all_tenants=True)
    return shop


def _story() -> Any:
    root = parse(_HOME.joinpath("story.yaml").read_text(encoding="utf-8")).root
    assert root is not None, "it is a part of the package"
    return json_of(root)


def _caller(you: Caller, said: Mapping[str, Any]) -> Caller:
    """Somebody in the story; whoever has no name there is the one who looks at it."""
    return Caller(
        tenant=you.tenant,
        user=said.get("user", you.user),
        actor=said.get("actor", "person"),
        permissions=frozenset(said.get("permissions", ("memory.read", "memory.manage"))),
        personas=frozenset(said.get("personas", ())),
        systems={EVERY_SYSTEM: "manage"},
        run=said.get("run"),
        operator=said.get("operator", False),
    )


def _when(today: datetime, days: int, step: int) -> datetime:
    # The steps of one day follow each other.
    return today - timedelta(days=days) + timedelta(minutes=step)


def _filled(value: Any, today: datetime, shop: Path) -> Any:
    """A value of the story: where the shop is, or a time in days before today, are said by words of their own."""
    if value == "$shop":
        return str(shop)
    if isinstance(value, dict) and value.keys() == {"days_ago"}:
        return today - timedelta(days=value["days_ago"])
    return value


def _migrate(shop: Path) -> None:
    orders = shop / "models" / DATASOURCE / "orders.yaml"
    text = orders.read_text(encoding="utf-8")
    for before, after in _RENAMED:
        text = text.replace(before, after)
    orders.write_text(text, encoding="utf-8")
