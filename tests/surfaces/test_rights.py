"""WHAT does a right decide? Also whether an answer is given a second time, and who is taken for a person."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from .test_mcp import Agent, introduce
from .test_mcp_transports import Site

__all__ = ["introduce"]
ERAS = ("auto", "legacy")
ADMIN = ["memory.read", "memory.manage", "memory.review", "memory.admin"]


def test_an_answer_is_not_given_again_to_one_who_may_not_have_it(server: Any) -> None:
    repeated = {"Idempotency-Key": "one"}
    first = server.make_key(user="ann", permissions=ADMIN)
    second = server.make_key(user="ann", permissions=["memory.read"])
    with server.connect(first) as admin, server.connect(second) as reader:
        said = admin.post("/v1/memories", json={"content": "Pay day is the 27th."}, headers=repeated)
        assert said.status_code == 201
        said = reader.post("/v1/memories", json={"content": "Pay day is the 27th."}, headers=repeated)
        assert said.status_code == 403
        [line] = admin.get("/v1/audit", params={"outcome": "refused"}).json()["entries"]
        assert line["operation"] == "remember"


def test_one_who_writes_and_does_not_read_gets_the_same_answer_again(server: Any) -> None:
    with server.connect(
        server.make_key(permissions=["memory.manage"]), **{"Idempotency-Key": "one"}
    ) as writer:
        first, second = (writer.post("/v1/memories", json={"content": "Pay day."}) for _ in range(2))
    assert first.json()["memory"] == second.json()["memory"]
    assert second.headers["idempotent-replayed"] == "true"


def test_an_admin_reads_manages_and_reviews_with_that_permission_alone(
    server: Any, introduce: Callable[[Client], Agent]
) -> None:
    whole = server.make_key(user="root", permissions=ADMIN)
    key = server.make_key(user="ann", permissions=["memory.admin"], actor="person")
    robot = server.make_key(user="robot", actor="unattended")
    with server.connect(robot) as run:
        run.post("/v1/memories", json={"content": "Refunds take a week.", "id": "proposal"})
    with server.connect(key) as admin:
        assert admin.post("/v1/memories", json={"content": "Pay day is the 27th."}).status_code == 201
        assert admin.get("/v1/memories").json()["memories"]
        assert admin.post("/v1/memories/proposal/approve", json={}).json()["changed"]
        # What it may do it may also pass on.
        made = admin.post("/v1/keys", json={"permissions": ["memory.read", "memory.review"]})
        assert made.status_code == 201
        # The key itself is listed as it was made.
        listed = {each["user"]: each["permissions"] for each in admin.get("/v1/keys").json()["keys"]}
        assert listed["root"] == ADMIN
    site = Site(server.url, server.parts.door)
    offered = [introduce(site.client("/mcp/full", key=each)).tools for each in (key, whole)]
    assert offered[0] == offered[1]


@pytest.mark.parametrize("rule", ["memory.read", "memory.manage", "memory.review"])
def test_no_other_permission_implies_one(server: Any, rule: str) -> None:
    with server.connect(server.make_key(permissions=[rule])) as holder:
        said = {
            "memory.read": holder.get("/v1/memories"),
            "memory.manage": holder.post("/v1/memories", json={"content": "Pay day."}),
            "memory.review": holder.post("/v1/memories/1/approve", json={}),
            "memory.admin": holder.get("/v1/keys"),
        }
    assert {name for name, each in said.items() if each.status_code != 403} == {rule}


def test_an_import_that_is_refused_is_in_the_audit(server: Any) -> None:
    admin_key = server.make_key(user="ann", permissions=ADMIN)
    with server.connect(server.make_key(user="bob")) as bob, server.connect(admin_key) as admin:
        said = bob.post("/v1/import", content=b"{}", headers={"Content-Type": "application/jsonl"})
        assert said.status_code == 403
        [line] = admin.get("/v1/audit", params={"outcome": "refused"}).json()["entries"]
        assert (line["user"], line["operation"]) == ("bob", "import_")


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_on_this_machine_is_not_taken_for_its_owner(
    server: Any, introduce: Callable[[Client], Agent], era: str
) -> None:
    agent = introduce(Site(server.url, server.parts.door).client("/mcp/full", mode=era))
    saved = agent.did("remember", content="Ship on Fridays.")["memory"]
    assert saved["origin"] == "agent"
    asked = agent.did("remember", content="Ship at night.", always_inject=True)
    assert not asked["memory"]["always_inject"]
    assert "Kept as proposal" in " ".join(asked["warnings"])
    assert "Only a person" in agent.refused("approve", id=saved["id"])
    # What its owner does without a key is still their own.
    assert server.client.post("/v1/memories", json={"content": "Ship on Mondays."}).json()["memory"][
        "origin"
    ] == ("person")


def test_a_key_says_by_itself_who_holds_it(server: Any, introduce: Callable[[Client], Agent]) -> None:
    site = Site(server.url, server.parts.door)
    person = introduce(site.client("/mcp/full", key=server.make_key(user="ann", actor="person")))
    assert person.did("remember", content="Ship on Fridays.")["memory"]["origin"] == "person"


@pytest.mark.parametrize(("passed_on", "scheme"), [("https", "https"), ("http", "http"), ("gopher", "http")])
def test_behind_a_proxy_that_ends_encryption_the_resource_has_the_address_that_clients_know(
    server: Any, passed_on: str, scheme: str
) -> None:
    server.make_key()
    headers = {"X-Forwarded-Proto": passed_on}
    told = server.client.get("/.well-known/oauth-protected-resource/mcp", headers=headers).json()
    assert told["resource"] == f"{scheme}://127.0.0.1:{server.port}/mcp"
    challenge = server.client.post("/mcp", json={}, headers=headers).headers["www-authenticate"]
    # Keys alone are made here, and there is nowhere to get a token.
    assert challenge.startswith("Bearer ")
    assert "resource_metadata" not in challenge
