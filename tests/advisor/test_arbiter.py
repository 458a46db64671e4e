"""What an advisor does on the surfaces of the arbiter runtime, in its words: HTTP and slash commands."""

from collections.abc import Callable
from typing import Any

import pytest

from onrecord import OnRecord
from onrecord.faces.arbiter import agents, entries
from onrecord.faces.arbiter.slash import run
from tests.scripted_model import Fails, Says, ScriptedModel, as_json, by_task, ids_of, question_of

Open = Callable[..., OnRecord]


@pytest.fixture
def runtime(advised: Open, model: ScriptedModel) -> OnRecord:
    """A store with three entries of an agent that has an advisor and turned everything on."""
    opened = advised(advisor_models="openai:strong")
    for title, type in (
        ("Got back from Tokyo", "user"),
        ("Travel costs", "project"),
        ("Old travel plan", "project"),
    ):
        entries.create_entry(
            opened, {"type": type, "title": title, "content": f"{title}, in some more words."}
        )
    document = {
        "name": "research",
        "advisor": {"model": "scripted", "mode": "consult"},
        "memory": {"search_expand": True, "auto_tag": True, "auto_supersede": True},
    }
    assert "note" not in agents.put_agent(opened, "research", document)
    return opened


def ids(told: dict[str, Any]) -> list[int]:
    return [each["id"] for each in told["entries"]]


def test_http_searches_in_other_words_and_in_another_order(runtime: OnRecord, model: ScriptedModel) -> None:
    model.script = by_task(
        expand=as_json({"queries": ["back from Tokyo", "trip abroad"]}),
        rerank=lambda body: Says(f"Result: {', '.join(reversed(ids_of(body)))}"),
        rerank_fine=lambda body: as_json({"ids": list(reversed(ids_of(body)))}),
    )
    query = {"q": "when did the user travel to Japan?"}
    plain = entries.list_entries(runtime, query)
    assert {"expansion", "rerank"}.isdisjoint(plain)
    told = entries.list_entries(runtime, query | {"expand": "scripted"})
    assert 1 in ids(told)
    assert told["expansion"] == {
        "model": "scripted",
        "applied": True,
        "queries": ["back from Tokyo", "trip abroad"],
    }
    turned = entries.list_entries(runtime, query | {"rerank": "openai:scripted"})
    assert ids(turned) == list(reversed(ids(plain)))
    assert turned["rerank"] == {"model": "openai:scripted", "applied": True}
    assert "(project · " in question_of(model.asked[-1])
    twice = entries.list_entries(runtime, query | {"rerank": "scripted", "rerank_fine": "strong"})
    assert ids(twice) == ids(plain)
    assert twice["rerank"] == {
        "model": "scripted",
        "applied": True,
        "fine_model": "strong",
        "fine_applied": True,
    }
    # A failure is a note, and the answer that of the search.
    model.script = lambda body: Fails(400)
    failed = entries.list_entries(runtime, {"q": "travel plan"} | {"expand": "yes", "rerank": "yes"})
    assert ids(failed) == ids(entries.list_entries(runtime, {"q": "travel plan"}))
    assert failed["expansion"]["queries"] == []
    for block in ("expansion", "rerank"):
        assert failed[block]["applied"] is False
        assert failed[block]["note"].startswith("advisor unavailable: The advisor openai:scripted refused")
    unknown = entries.list_entries(runtime, {"q": "travel", "rerank": "gpt-9"})
    assert "'gpt-9' is not a model that is configured here" in unknown["rerank"]["note"]
    assert "there is no q" in entries.list_entries(runtime, {"expand": "yes"})["expansion"]["note"]


def test_http_tags_and_supersedes(runtime: OnRecord, model: ScriptedModel) -> None:
    model.script = by_task(tag=as_json({"tags": ["travel", "japan"]}), supersede=as_json({"ids": ["3"]}))
    body = {"type": "project", "title": "New travel plan", "content": "Replaces it.", "tags": ["mine"]}
    told = entries.create_entry(runtime, body | {"auto_tag": "scripted", "supersede": "scripted"})
    assert told["tags"] == ["mine", "travel", "japan"]
    assert told["auto_tag"] == {"model": "scripted", "applied": True, "added": ["travel", "japan"]}
    assert told["supersede"]["invalidated"] == [3]
    assert set(told["supersede"]["candidates"]) == {2, 3}
    assert told["supersede"]["applied"]
    with pytest.raises(Exception, match="not found"):
        entries.get_entry(runtime, "3")
    manual = entries.create_entry(runtime, body | {"supersedes_ids": [2], "supersede": "scripted"})
    assert manual["supersedes_manual"]["invalidated"] == [2]
    assert manual["supersede"]["note"] == "supersedes_ids was given, so nobody was asked"


def test_slash_commands_tell_what_the_agents_advisor_did(runtime: OnRecord, model: ScriptedModel) -> None:
    model.script = by_task(
        expand=as_json({"queries": ["back from Tokyo", "trip"]}),
        rerank=lambda body: as_json({"ids": list(reversed(ids_of(body)))}),
        tag=as_json({"tags": ["travel", "japan"]}),
        supersede=as_json({"ids": ["3"]}),
    )

    def say(text: str, agent: str = "research") -> str:
        return run(runtime, text, agent=agent).output

    found = say("/mem search when did the user travel to Japan")
    assert found.splitlines()[1] == "(also searched: 'back from Tokyo' | 'trip')"
    assert "#1" in found
    order = [line for line in say("/mem search travel --rerank").splitlines() if line.startswith("- #")]
    assert len(order) == len(set(order)) >= 2
    say("/mem add entry project Agents travel plan\nBy train.\n/endmem")
    assert entries.get_entry(runtime, "3")["valid_to"] is None  # a person wrote it, so this waits for one
    model.script = by_task(tag=as_json({"tags": ["travel", "japan"]}), supersede=as_json({"ids": ["4", "3"]}))
    added = say("/mem add entry project New travel plan\nIt replaces the old one.\n/endmem")
    assert "OK: added entry #6 [project] New travel plan" in added
    assert "\n  auto-tagged: travel, japan\n" in added
    assert "\n  superseded: #4\n" in added
    assert "to retire #3 (by a person), which stays as it is" in added
    assert {each.agent for each in runtime.status().advice[0].usage} == {"research"}
    model.script = lambda body: Fails(400, "busy")
    failed = say("/mem search kyoto travel --rerank")
    assert (
        "(search_expand: advisor unavailable: The advisor openai:scripted refused (HTTP 400: busy).; only the"
        in failed
    )
    assert "(rerank: advisor unavailable: " in failed
    kept = say("/mem add entry learning Trains are fast\nVery.\n/endmem")
    assert "OK: added entry #7" in kept
    assert "  auto_tag: advisor unavailable: " in kept
    # An agent without an advisor of its own asks nobody.
    asked = len(model.asked)
    agents.put_agent(runtime, "plain", {"memory": {"search_expand": True}})
    assert "the document names no advisor.model" in agents.get_agent(runtime, "plain")["note"]
    assert "(search_expand: advisor unavailable: the document names no advisor.model" in say(
        "/mem search x y", "plain"
    )
    assert "(rerank: advisor unavailable: the document names no" in say("/mem search x y --rerank", "plain")
    assert len(model.asked) == asked
