"""WHAT does each surface answer to what was saved or rejected before? One story: by HTTP, at a shell, and by an agent."""

from typing import Any

from tests.surfaces.conftest import Shell
from tests.surfaces.test_idempotency import kept
from tests.surfaces.test_mcp import Connect, agent, door, introduce, said

__all__ = ["agent", "door", "introduce"]
OUTLETS = "Stores 9001-9099 are outlet stores."
OTHERS = "Stores 8001-8099 are outlet stores."
KEY = {"Idempotency-Key": "one"}


def test_a_program_is_told_by_http(server: Any) -> None:
    def post(path: str, **body: Any) -> Any:
        return server.client.post(f"/v1/memories{path}", json=body)

    post("", content=OUTLETS)
    (near,) = post("", content=OTHERS).json()["similar"]
    assert (near["id"], near["title"]) == ("1", OUTLETS)
    assert 0.65 <= near["likeness"] < 0.95
    again = post("", content=f"The {OTHERS.lower()}", alike="supersede").json()
    assert (again["superseded"], [each["id"] for each in again["similar"]]) == (["2"], ["1"])
    assert post("", content=OUTLETS, alike="always").status_code == 422

    post("", content="Prices include VAT.", review=True)
    post("/4/reject", reason="not in March")
    answer = post("", content="The prices include VAT", review=True)
    rejected = answer.json()
    assert (answer.status_code, rejected["outcome"], rejected["memory"]["id"]) == (
        200,
        "rejected",
        "4",
    )
    (before,) = rejected["rejected"]
    assert (before["by"], before["reason"], before["is_same"]) == (
        rejected["memory"]["owner"],
        "not in March",
        True,
    )
    renewed = post("", content="The prices include VAT", review=True, what_is_new="the list of May")
    assert renewed.status_code == 201
    assert renewed.json()["memory"]["proposes"]["what_is_new"] == "the list of May"


def test_an_answer_that_is_given_again_holds_no_title_that_was_kept(server: Any) -> None:
    server.client.post("/v1/memories", json={"content": OUTLETS})
    first, second = (
        server.client.post("/v1/memories", json={"content": OTHERS}, headers=KEY) for _ in range(2)
    )
    assert second.json()["similar"] == first.json()["similar"] != []
    assert "outlet" not in kept(server)
    server.client.delete("/v1/memories/1")
    assert server.client.post("/v1/memories", json={"content": OTHERS}, headers=KEY).json()["similar"] == []


def test_what_is_forgotten_leaves_no_reason_of_its_rejection(server: Any) -> None:
    server.client.post("/v1/memories", json={"content": OUTLETS, "review": True})
    server.client.post("/v1/memories/1/reject", json={"reason": "quagga"})
    server.client.post("/v1/memories", json={"content": OTHERS, "review": True}, headers=KEY)
    assert "quagga" in kept(server)
    server.client.delete("/v1/memories/1")
    assert "quagga" not in kept(server)


def test_a_person_is_told_at_the_shell(shell: Shell) -> None:
    shell("remember", OUTLETS)
    assert f"Nearly the same: #1  {OUTLETS}  (0." in shell("remember", OTHERS).out
    assert "Superseded: #2\n" in shell("remember", OTHERS + "!", "--alike", "supersede").out
    shell("remember", "Prices include VAT.", "--review")
    shell("reject", "4", "--reason", "not in March")
    again = shell("remember", "The prices include VAT", "--review")
    assert again.code == 0
    assert again.out.startswith(
        "Rejected before: #4  Prices include VAT.\nNot proposed again: the same as #4, "
    )
    assert " (not in March). To propose it all the same, say what_is_new.\n" in again.out
    shell("remember", "The prices include VAT", "--review", "--what-is-new", "the list of May")
    assert "save (new: the list of May)" in shell("show", "5").out


def test_a_rejection_at_the_shell_brings_back_what_its_approval_had_superseded(shell: Shell) -> None:
    shell("remember", OUTLETS)
    shell("remember", "All stores are outlet stores.", "--supersedes", "1", "--review")
    shell("approve", "2")
    assert "Brought back: #1\n" in shell("reject", "2").out
    assert "#1  " in shell("browse").out


def test_an_agent_is_told_by_its_tool(agent: Connect) -> None:
    robot = agent(actor="unattended")
    person = agent(actor="person", permissions=frozenset({"memory.read", "memory.manage", "memory.review"}))
    person.did("memory_save", content=OUTLETS)
    answer = person.call("memory_save", content=OTHERS)
    assert answer.structured_content is not None
    assert [each["id"] for each in answer.structured_content["similar"]] == ["1"]
    assert "Nearly the same: #1." in said(answer)
    robot.did("memory_save", content="Prices include VAT.")
    person_door = agent("full", actor="person", permissions=frozenset({"memory.read", "memory.review"}))
    person_door.did("reject", id="3", reason="not in March")
    again = robot.call("memory_save", content="The prices include VAT")
    assert again.structured_content is not None
    assert again.structured_content["outcome"] == "rejected"
    assert "rejected by ann on " in said(again)
    assert "(not in March)" in said(again)
    renewed = robot.did("memory_save", content="The prices include VAT", what_is_new="the list of May")
    assert (renewed["outcome"], renewed["status"]) == ("created", "pending")
