"""WHOSE word it is, as people, agents and programs meet it: each through its own door, over one store."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from onrecord import OnRecord, connect
from onrecord.features import OPERATIONS
from tests.faces.checkstack_people import Person

from .conftest import Served, Shell
from .test_mcp import ERAS, Agent, introduce, said
from .test_mcp_transports import started

__all__ = ["introduce"]
RULE = "Answer in metric units."
Meet = Callable[[Client], Agent]


def at_the_keyboard(monkeypatch: pytest.MonkeyPatch, shell: Shell, folder: Path) -> Shell:
    """The shell of the person whose agent `started` starts."""
    monkeypatch.setenv("ONRECORD_DB", str(folder / "stdio.db"))
    return shell


def test_no_request_says_whose_word_it_brings() -> None:
    for operation in OPERATIONS:
        asked = {field.name for field in fields(operation.request)}
        assert asked.isdisjoint({"author", "origin", "tier", "approved_by", "approved_at"}), operation.name


def test_what_a_tool_said_comes_with_an_import_and_an_agent_may_correct_it(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    with connect(":memory:", embedder="none") as before:
        before.remember("The page says 42.", id="page")
        before.export(str(path))
    path.write_text(path.read_text().replace('"origin":"person"', '"origin":"tool"'))
    with connect(":memory:", embedder="none") as door:
        door.import_(str(path))
        assert door.show("page").memory.tier == "tool"
        agent = door.as_caller(replace(door.caller, actor="agent"))
        assert agent.revise("page", content="The page says 43.").memory.tier == "agent"


class TestAPersonWithOneAgent:
    """A laptop: commands are the person's, the stdio server is the agent's."""

    def test_an_agent_proposes_and_the_person_approves_at_the_shell(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, introduce: Meet
    ) -> None:
        person = at_the_keyboard(monkeypatch, shell, tmp_path)
        person("remember", RULE, "--id", "units", "--always-inject")
        agent = introduce(Client(started(tmp_path)))
        for action in ({"action": "revise", "content": "Answer in feet."}, {"action": "retire"}):
            told = agent.call("memory_update", id="units", **action)
            assert "stays as it is; `onrecord approve" in said(told)
            assert told.structured_content is not None
            assert told.structured_content["changed"] == []
        [hit] = agent.did("memory_search", question="metric units")["memories"]
        assert (hit["author"], hit["tier"]) == (hit["owner"], "person")
        assert "by a person" in said(agent.call("memory_get", id="units"))
        assert RULE in person("context", "--part", "always").out
        listed = person("browse", "--status", "pending").out
        assert "proposes to revise #units" in listed
        assert "Approved" in person("approve", "1").out
        assert "Answer in feet." in person("context", "--part", "always").out
        shown = person("show", "units").out
        assert "(agent)" in shown
        assert "approved" in shown
        assert "changed since" in person("approve", "2").err
        assert person("reject", "2").code == 0

    def test_an_agent_that_says_again_what_a_person_said_changes_nothing(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, introduce: Meet
    ) -> None:
        person = at_the_keyboard(monkeypatch, shell, tmp_path)
        person("remember", RULE, "--id", "units", "--always-inject")
        agent = introduce(Client(started(tmp_path)))
        again = agent.did("memory_save", content=RULE)
        assert (again["id"], again["outcome"], again["version"]) == ("units", "unchanged", 1)
        more = agent.did("memory_save", content=RULE, tags=["style"])
        assert more["outcome"] == "proposed"
        assert person("show", "units", "--json").json["memory"]["tags"] == []

    def test_an_agent_may_correct_and_end_what_agents_wrote(self, tmp_path: Path, introduce: Meet) -> None:
        agent = introduce(Client(started(tmp_path)))
        saved = agent.did("memory_save", content="Left by an agent.")
        assert agent.did("memory_update", action="revise", id=saved["id"], content="Put right.")["changed"]
        assert agent.did("memory_update", action="retire", id=saved["id"])["changed"] == ["status"]

    @pytest.mark.parametrize("era", ERAS)
    @pytest.mark.parametrize("agrees", [True, False])
    def test_a_person_accepts_in_a_form_of_the_client(
        self,
        shell: Shell,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        introduce: Meet,
        era: str,
        agrees: bool,
    ) -> None:
        asked: list[str] = []

        async def answer(context: Any, question: Any) -> ElicitResult:
            asked.append(question.message)
            return ElicitResult(action="accept", content={"confirm": agrees})

        person = at_the_keyboard(monkeypatch, shell, tmp_path)
        person("remember", RULE, "--id", "units", "--always-inject")
        agent = introduce(Client(started(tmp_path), mode=era, elicitation_callback=answer))
        agent.call("memory_update", action="revise", id="units", content="Answer in feet.")
        told = agent.call("memory_update", action="approve", id="1")
        [question] = asked
        assert RULE in question
        assert "Answer in feet." in question
        assert ("counts now as approved" in said(told)) is agrees
        assert ("Answer in feet." in person("context", "--part", "always").out) is agrees

    def test_the_form_shows_what_would_be_written_into_the_catalog(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, introduce: Meet
    ) -> None:
        """What is promoted leaves the frame of quoted notes, so whoever says yes must have seen it."""
        edits = '[{"entity": "shop.orders", "field": "description", "value": "Net of refunds."}]'
        at_the_keyboard(monkeypatch, shell, tmp_path)("remember", "Ask finance.", "--edits", edits)
        person = Person("no")
        agent = introduce(Client(started(tmp_path), mode=ERAS[0], elicitation_callback=person))
        agent.call("memory_update", action="approve", id="1")
        [question] = person.asked
        assert "What it would write into the catalog:" in question
        assert '"value": "Net of refunds."' in question

    def test_a_client_that_cannot_ask_approves_nothing(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, introduce: Meet
    ) -> None:
        person = at_the_keyboard(monkeypatch, shell, tmp_path)
        person("remember", RULE, "--id", "units")
        agent = introduce(Client(started(tmp_path)))
        agent.call("memory_update", action="revise", id="units", content="Answer in feet.")
        told = agent.did("memory_update", action="approve", id="#1")
        assert (told["id"], told["changed"]) == ("1", [])
        assert "#1 waits" in told["notes"][0]
        assert "`onrecord approve 1` accepts it" in told["notes"][0]
        assert RULE in person("show", "units").out

    @pytest.mark.parametrize("era", ERAS)
    def test_what_a_person_wrote_is_erased_if_they_agree_in_a_form(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, introduce: Meet, era: str
    ) -> None:
        keyboard = at_the_keyboard(monkeypatch, shell, tmp_path)
        keyboard("remember", RULE, "--id", "units")
        person = Person("no")
        agent = introduce(Client(started(tmp_path), mode=era, elicitation_callback=person))
        assert agent.did("memory_forget", id="units")["erased"] is False
        assert RULE in keyboard("show", "units").out
        person.answer = "yes"
        gone = agent.did("memory_forget", id="units")
        assert (gone["erased"], gone["versions"]) == (True, 1)
        assert [RULE in question for question in person.asked] == [True, True]
        assert keyboard("show", "units").code == 3

    def test_a_client_that_cannot_ask_proposes_to_erase_what_a_person_wrote(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, introduce: Meet
    ) -> None:
        keyboard = at_the_keyboard(monkeypatch, shell, tmp_path)
        keyboard("remember", RULE, "--id", "units")
        told = introduce(Client(started(tmp_path))).did("memory_forget", id="units")
        assert (told["id"], told["erased"]) == ("units", False)
        assert "`onrecord approve 1` accepts it" in told["notes"][0]
        assert RULE in keyboard("show", "units").out
        assert keyboard("approve", "1").code == 0
        assert keyboard("show", "units").code == 3


def test_over_http_a_key_of_an_agent_proposes_and_one_of_a_person_approves(server: Served) -> None:
    rights = ["memory.read", "memory.manage", "memory.review"]
    with (
        server.connect(server.make_key(user="ann", actor="person", permissions=rights)) as person,
        server.connect(server.make_key(user="ann", actor="agent", permissions=rights)) as agent,
        server.connect(server.make_key(user="bob", actor="person", permissions=rights[:2])) as reader,
    ):
        person.post("/v1/memories", json={"content": RULE, "id": "units"}).raise_for_status()
        revised = agent.patch("/v1/memories/units", json={"content": "Answer in feet."}).json()
        assert (revised["memory"]["content"], revised["changed"]) == (RULE, [])
        proposal = revised["proposal"]
        assert (proposal["status"], proposal["tier"], proposal["proposes"]["of"]) == (
            "pending",
            "agent",
            ["units"],
        )
        gone = agent.delete("/v1/memories/units").json()
        assert (gone["versions"], gone["proposal"]["proposes"]["change"]) == (0, "forget")
        assert agent.post(f"/v1/memories/{proposal['id']}/approve").status_code == 403
        assert reader.get(f"/v1/memories/{proposal['id']}").status_code == 404
        assert reader.get("/v1/memories", params={"statuses": "pending"}).json()["memories"] == []
        approved = person.post(f"/v1/memories/{proposal['id']}/approve").json()["memory"]
        assert (approved["id"], approved["content"], approved["tier"]) == (
            "units",
            "Answer in feet.",
            "approved",
        )
        hits = reader.post("/v1/recall", json={"question": "answer in feet"}).json()["hits"]
        assert [(hit["memory"]["author"], hit["memory"]["tier"]) for hit in hits] == [("ann", "approved")]


class TestFaces:
    """Each under its own words: nothing is said to be done that waits."""

    @pytest.fixture
    def server(self, served: Callable[..., Served]) -> Served:
        return served(embedder="none")

    @pytest.fixture
    def people(self, server: Served) -> OnRecord:
        server.parts.door.remember(RULE, id="7", kind="preference", hint="which units to answer in")
        return server.parts.door

    @pytest.fixture
    def key(self, server: Served, people: OnRecord) -> str:
        return server.make_key(user=people.caller.user, actor="agent")

    def test_arbiter(self, server: Served, people: OnRecord, key: str) -> None:
        entry = "/v1/memory/entries/7"
        with server.connect(key) as agent:
            changed = agent.patch(entry, json={"content": "Answer in feet."}).json()
            assert (changed["content"], "onrecord approve" in changed["proposal"]) == (RULE, True)
            assert agent.post(f"{entry}/invalidate", json={}).json()["invalidated"] is False
            assert agent.delete(entry).json()["deleted"] is False
        assert people.show("7").memory.version == 1

    def test_slayer(self, server: Served, people: OnRecord, key: str) -> None:
        with server.connect(key) as agent:
            gone = agent.delete("/memories/7").json()
        assert gone["deleted_id"] is None
        assert "onrecord approve" in gone["warnings"][0]
        assert people.show("7").memory.version == 1
