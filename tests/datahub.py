"""A DataHub for tests, and a store that is set to it."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.catalog.datahub import client
from onrecord.catalog.targets import datahub as target

from .catalog.datahub_server import TOKEN, Datahub, State, serving


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for what does not come."""
    monkeypatch.setattr(client, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(target, "FIRST_LOOK_S", 0.001)
    monkeypatch.setattr(target, "SHOWN_WITHIN_S", 0.1)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Datahub]:
    """A running DataHub, to which the settings lead."""
    quick(monkeypatch)
    with serving(Datahub()) as opened:
        monkeypatch.setenv("ONRECORD_DATAHUB_URL", opened.url)
        monkeypatch.setenv("ONRECORD_DATAHUB_TOKEN", TOKEN)
        yield opened


@pytest.fixture
def shop(hub: Datahub) -> Iterator[OnRecord]:
    with connect(":memory:", embedder="none") as door:
        yield door


def shown(state: State) -> Any:
    """All that people see in a DataHub: tags, terms and definitions that nobody uses are not counted, nor incidents that are
    resolved; an empty text is none.
    """
    state = deepcopy(state)
    for each in state.datasets.values():
        each["edited"] = each["edited"] or None
        told = {
            path: {name: value for name, value in edit.items() if value}
            for path, edit in each["edits"].items()
        }
        each["edits"] = {path: edit for path, edit in told.items() if edit}
        each["tags"], each["terms"], each["links"] = (
            sorted(each["tags"]),
            sorted(each["terms"]),
            sorted(each["links"]),
        )
    items = [
        sorted(json.dumps(each, sort_keys=True) for each in held.values())
        for held in (state.queries, state.documents)
    ]
    active = sorted(json.dumps(each) for each in state.incidents.values() if each["state"] == "ACTIVE")
    return state.datasets, {urn: held for urn, held in state.values.items() if held}, items, active
