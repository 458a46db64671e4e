"""HOW is an agent of the arbiter runtime set? Its own document over HTTP, and what of it is in force."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..surfaces.conftest import Served
from .test_arbiter_http import refused

#: As an agent of that runtime has it.
DOCUMENT = {
    "name": "research",
    "advisor": {"model": "claude-opus-4-7", "mode": "consult"},
    "memory": {"search_expand": True, "auto_tag": True, "auto_supersede": True},
    "capabilities": ["/fetch", "/mem", "/agent"],
}
DEFAULTS = {
    "intent_routing": True,
    "search_expand": False,
    "auto_tag": False,
    "auto_supersede": False,
    "age_decay": True,
    "age_half_life_days": 90,
    "age_floor": 0.5,
}
AGENT = "/v1/agents/research"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = Served(db=str(tmp_path / "served.db"), worker="no")
    yield served
    served.stop()


def block(server: Served, document: dict[str, Any]) -> Any:
    said = server.client.put(AGENT, json=document)
    assert said.status_code == 200, said.text
    return said.json()["agent"]["memory"]


def test_an_agent_that_nobody_has_set_shows_the_defaults_in_force(server: Served) -> None:
    told = server.client.get(AGENT).json()
    assert told == {"agent": {"name": "research", "memory": DEFAULTS}, "updated_at": None}


def test_its_document_is_taken_as_it_is_and_shown_with_what_is_in_force(server: Served) -> None:
    told = server.client.put(AGENT, json=DOCUMENT).json()
    assert told == server.client.get(AGENT).json()
    assert told["agent"] == DOCUMENT | {"memory": DEFAULTS | DOCUMENT["memory"]}  # type: ignore[operator]
    assert told["note"].startswith(
        "no advisor is configured here: search_expand, auto_tag, auto_supersede, advisor"
    )
    # What was answered is a document again.
    assert server.client.put(AGENT, json=told["agent"]).json()["agent"] == told["agent"]


def test_what_is_set_is_obeyed_and_decay_stays_on_unless_it_is_turned_off(server: Served) -> None:
    wanted = {"intent_routing": False, "age_half_life_days": 30, "age_floor": 0.25}
    assert block(server, {"memory": wanted}) == DEFAULTS | wanted
    settings = server.parts.door.show_agent("research").settings
    assert (settings.intent, settings.half_life_days, settings.decay_floor) == (False, 30, 0.25)
    assert block(server, {"memory": {"age_decay": False}}) == DEFAULTS | {"age_decay": False}
    assert block(server, {}) == DEFAULTS


def test_settings_of_ours_stay_and_are_shown_where_they_have_a_name_there(server: Served) -> None:
    server.parts.door.set_agent("research", limit=3, half_life_days=7)
    assert server.client.get(AGENT).json()["agent"]["memory"] == DEFAULTS | {"age_half_life_days": 7}
    block(server, DOCUMENT)
    assert server.parts.door.show_agent("research").settings.limit == 3


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"memory": {"intent_rooting": True}}, "memory.intent_rooting"),
        ({"memory": {"auto_tag": "yes"}}, "memory.auto_tag"),
        ({"memory": {"age_half_life_days": 0}}, "memory.age_half_life_days"),
        ({"memory": {"age_floor": 2}}, "memory.age_floor"),
        ({"memory": []}, "memory"),
        ({"advisor": {"model": 7}}, "advisor.model"),
        ({"name": "another"}, "name"),
    ],
)
def test_a_document_that_cannot_be_taken_says_where_and_changes_nothing(
    server: Served, document: dict[str, Any], said: str
) -> None:
    refused(server.client.put(AGENT, json=document), 400, said)
    assert server.client.get(AGENT).json()["updated_at"] is None


def test_a_search_of_the_agent_says_that_no_advisor_obeys_its_switches(server: Served) -> None:
    block(server, DOCUMENT)
    told = server.client.post("/v1/slash", json={"text": "/mem search tea", "agent": "research"}).json()[
        "output"
    ]
    assert "(search_expand: no advisor is configured" in told
