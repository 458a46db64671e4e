"""A DataHub for tests, and a store that is set to it."""

from collections.abc import Iterator

import pytest

from onrecord import OnRecord, connect
from onrecord.catalog.datahub import client
from onrecord.catalog.targets import datahub as target

from .catalog.datahub_server import TOKEN, Datahub, serving


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Datahub]:
    """A running DataHub, to which the settings lead; nobody waits long for it."""
    monkeypatch.setattr(client, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(target, "FIRST_LOOK_S", 0.001)
    monkeypatch.setattr(target, "SHOWN_WITHIN_S", 0.1)
    with serving(Datahub()) as opened:
        monkeypatch.setenv("ONRECORD_DATAHUB_URL", opened.url)
        monkeypatch.setenv("ONRECORD_DATAHUB_TOKEN", TOKEN)
        yield opened


@pytest.fixture
def shop(hub: Datahub) -> Iterator[OnRecord]:
    with connect(":memory:", embedder="none") as door:
        yield door
