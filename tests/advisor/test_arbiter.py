"""What an advisor does on the surfaces of the arbiter runtime, in its words: HTTP and slash commands."""

from collections.abc import Callable
from dataclasses import replace
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
    asked = len(model.asked)
    for q in ("Tokyo", "zebra"):
        few = entries.list_entries(runtime, {"q": q, "rerank": "scripted", "rerank_fine": "strong"})["rerank"]
        assert (few["applied"], few["fine_applied"]) == (False, False)
        assert few["note"] == "not asked: there are fewer than two hits to put in order"
    assert len(model.asked) == asked
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
    unattended = replace(runtime.caller, actor="unattended", run="night")
    waiting = entries.create_entry(runtime.as_caller(unattended), body | {"supersede": "scripted"})
    assert waiting["supersede"]["note"] == "the entry waits for a review, so nobody was asked"


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


def test_case_a_33_a_reply_in_prose_reorders_what_it_names_and_keeps_the_rest(
    runtime: OnRecord, model: ScriptedModel
) -> None:
    """And the model sees each candidate's type, date and whether it is superseded, in one message without a history."""
    then = {"type": "user", "created_at": 1_700_000_000}
    entries.create_entry(runtime, then | {"title": "Travel pass", "content": "A travel pass for a year."})
    ended = entries.create_entry(runtime, then | {"title": "Travel card", "content": "A travel card."})
    entries.invalidate_entry(runtime, str(ended["id"]), {})
    plain = ids(entries.list_entries(runtime, {"q": "travel"}))
    assert len(plain) == 3
    model.script = by_task(rerank=Says(f"Result: {plain[2]}, {plain[0]} then 99 and {plain[2]}"))
    turned = entries.list_entries(runtime, {"q": "travel", "rerank": "scripted"})
    assert ids(turned) == [plain[2], plain[0], plain[1]]
    assert [each["role"] for each in model.asked[-1]["messages"]] == ["system", "user"]
    past = {"q": "travel", "rerank": "scripted", "as_of": "1700000100"}
    assert ended["id"] in ids(entries.list_entries(runtime, past))
    assert f"- #{ended['id']} (user · 2023-11-14 · superseded)" in question_of(model.asked[-1])
    # What cannot be read is as good as nothing: the note stands in the block, and the search goes on.
    model.script = lambda body: Says('{"queries": [')
    told = entries.list_entries(runtime, {"q": "travel", "expand": "scripted"})
    assert (ids(told), told["expansion"]["applied"]) == (plain, False)
    assert "its reply cannot be read" in told["expansion"]["note"]


def test_a_search_inside_a_conversation_goes_the_whole_way_with_each_paraphrase(
    runtime: OnRecord, model: ScriptedModel
) -> None:
    inside = runtime.as_caller(runtime.caller.inside("trip"))
    model.script = by_task(
        tag=as_json({"tags": ["japan"]}),
        supersede=as_json({"ids": []}),
        expand=as_json({"queries": ["back from Tokyo", "night trains"]}),
        rerank=lambda body: as_json({"ids": ids_of(body)}),
    )
    added = run(inside, "/mem add entry project Night trains\nThey leave at nine.\n/endmem", agent="research")
    assert "  auto-tagged: japan" in added.output
    asked = len(model.asked)
    found = run(inside, "/mem search when did the user travel to Japan --rerank", agent="research").output
    lines = found.splitlines()
    assert lines[1] == "(also searched: 'back from Tokyo' | 'night trains')"
    [pinned] = [line for line in lines if "Night trains" in line and line.startswith("- #")]
    assert "[conversation]" in pinned
    assert any("Got back from Tokyo" in line and "[conversation]" not in line for line in lines)
    assert any(line.startswith("    | ") for line in lines)
    assert model.tasks()[asked:] == ["expand", "rerank"]
    # What the agent names itself wins, and nobody is asked what else is contradicted.
    manual = "/mem add entry project Another plan --supersedes #4\nBy ship.\n/endmem"
    assert "  superseded (manual): #4" in run(inside, manual, agent="research").output
    assert model.tasks()[asked + 2 :] == ["tag"]


def test_a_slash_search_lets_an_advisor_choose_its_ten_among_twenty_five(
    runtime: OnRecord, model: ScriptedModel
) -> None:
    for number in range(30):
        body = {"type": "learning", "title": f"Lunch note {number}", "content": f"Lunch at {number}."}
        entries.create_entry(runtime, body)
    model.script = by_task(
        expand=as_json({"queries": ["noon meal"]}), rerank=lambda body: as_json({"ids": ids_of(body)[-1:]})
    )
    found = run(runtime, "/mem search lunch --rerank", agent="research").output
    hits = [line for line in found.splitlines() if line.startswith("- #")]
    shown = ids_of(model.asked[-1])
    assert (len(shown), len(hits)) == (25, 10)
    assert hits[0].startswith(f"- #{shown[-1]} ")


def test_an_agent_in_a_conversation_supersedes_what_holds_everywhere(
    runtime: OnRecord, model: ScriptedModel
) -> None:
    inside = runtime.as_caller(runtime.caller.inside("trip"))
    run(runtime, "/mem add entry learning Launch day\nIt is on 3 May.\n/endmem", agent="plain")
    model.script = by_task(tag=as_json({"tags": []}), supersede=lambda body: as_json({"ids": ids_of(body)}))
    added = run(
        inside, "/mem add entry learning Launch day moved\nIt is on 20 June.\n/endmem", agent="research"
    )
    assert "\n  superseded: #4" in added.output


def test_an_agent_that_turned_nothing_on_asks_nobody(runtime: OnRecord, model: ScriptedModel) -> None:
    agents.put_agent(runtime, "quiet", {"advisor": {"model": "scripted"}})
    found = run(runtime, "/mem search travel costs", agent="quiet").output
    added = run(runtime, "/mem add entry project Quiet plan\nOn foot.\n/endmem", agent="quiet").output
    assert "#2" in found
    assert "advisor" not in found + added
    assert model.asked == []
