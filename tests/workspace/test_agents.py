"""HOW does an agent's setting fill what a question leaves open?"""

import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import connect
from onrecord.errors import Invalid
from onrecord.model.request import request_fields
from onrecord.model.workspace import AgentSettings
from onrecord.recall.recall import Recall, filled
from onrecord.workspace.agents import SetAgent

SETTINGS = st.builds(
    AgentSettings,
    intent=st.booleans(),
    decay=st.booleans(),
    half_life_days=st.integers(1, 400),
    decay_floor=st.floats(0, 1),
    limit=st.integers(1, 200),
    max_tokens=st.none() | st.integers(0, 9_999),
)


@given(SETTINGS)
def test_what_a_question_leaves_open_is_taken_from_the_agent(given_settings: AgentSettings) -> None:
    ask = filled(Recall("why?"), given_settings)
    assert ask.question == "why?"
    for name in ("intent", "decay", "half_life_days", "decay_floor", "limit", "max_tokens"):
        assert getattr(ask, name) == getattr(given_settings, name)


@given(SETTINGS)
def test_what_a_question_says_itself_counts(given_settings: AgentSettings) -> None:
    ask = filled(Recall("why?", limit=77, half_life_days=7), given_settings)
    assert (ask.limit, ask.half_life_days) == (77, 7)


def test_every_setting_can_be_put_and_has_the_same_default_there() -> None:
    asked = {each.name: each.default for each in request_fields(SetAgent)}
    assert asked.keys() - {"agent"} == {each.name for each in fields(AgentSettings)}
    # In a request, nothing stands for an empty object.
    assert asked.pop("metadata") is None
    assert all(asked[name] == getattr(AgentSettings(), name) for name in asked.keys() - {"agent"})


def test_decay_that_the_agent_leaves_open_is_as_the_question_has_it() -> None:
    for decay in (True, False):
        assert filled(Recall("why?", decay=decay), AgentSettings(decay=None)).decay is decay


def test_the_defaults_are_those_of_a_question() -> None:
    assert filled(Recall("why?"), AgentSettings()) == Recall("why?")


def test_a_question_names_the_agent_whose_settings_count() -> None:
    with connect(":memory:", embedder="none") as door:
        for number in range(4):
            door.remember(f"tea number {number}", dedupe=False)
        door.set_agent("scout", limit=2)
        assert len(door.recall("tea", agent="scout").hits) == 2
        assert len(door.recall("tea", agent="scout", limit=3).hits) == 3
        assert len(door.recall("tea", agent="nobody").hits) == 4
        assert len(door.recall("tea").hits) == 4


def test_an_agent_that_cannot_be_is_refused_in_a_question() -> None:
    with connect(":memory:", embedder="none") as door, pytest.raises(Invalid, match="agent"):
        door.recall("tea", agent="../x")


def test_settings_that_an_earlier_version_kept_count_under_their_new_names(tmp_path: Path) -> None:
    with connect(tmp_path / "agents.db", embedder="none") as door:
        door.set_agent("scout", tenant_places=7, conversation_places=1)
        door.export(str(tmp_path / "new.jsonl"))
    written = (tmp_path / "new.jsonl").read_text()
    older = written.replace("tenant_places", "profile_places").replace(
        "conversation_places", "session_places"
    )
    (tmp_path / "older.jsonl").write_text(older)
    with sqlite3.connect(tmp_path / "agents.db") as raw:
        raw.execute(
            "UPDATE agent_settings SET settings = replace(settings, 'tenant_places', 'profile_places')"
        )
    with connect(tmp_path / "agents.db", embedder="none") as door:
        assert door.show_agent("scout").settings.tenant_places == 7
    with connect(":memory:", embedder="none") as door:
        door.import_(str(tmp_path / "older.jsonl"))
        settings = door.show_agent("scout").settings
        assert (settings.tenant_places, settings.conversation_places) == (7, 1)
