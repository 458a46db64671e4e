"""A scripted model, and stores that ask it for advice."""

from collections.abc import Callable, Iterator

import pytest

from onrecord import Caller, OnRecord, connect
from tests.scripted_model import ScriptedModel


@pytest.fixture(scope="session")
def the_model() -> Iterator[ScriptedModel]:
    model = ScriptedModel()
    yield model
    model.close()


@pytest.fixture
def model(the_model: ScriptedModel) -> ScriptedModel:
    """The scripted model, which has not been asked anything yet."""
    the_model.asked.clear()
    the_model.headers.clear()
    the_model.most_at_once = 0
    return the_model


@pytest.fixture
def advised(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OnRecord]]:
    """Opens a store in memory whose advisor is the scripted model, with other settings if any are given."""
    opened: list[OnRecord] = []

    def open_store(caller: Caller | None = None, db: str = ":memory:", **settings: str) -> OnRecord:
        for name, value in model.settings(**settings).items():
            monkeypatch.setenv(name, value)
        opened.append(connect(db, caller=caller))
        return opened[-1]

    yield open_store
    for door in opened:
        door.close()
