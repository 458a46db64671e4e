"""WHAT do members of one tenant learn of one another, each with a key of their own, and who changes what every tenant sees?"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mcp import Client

from .conftest import Served, Shell
from .test_mcp import Agent, introduce
from .test_mcp_transports import Site

__all__ = ["introduce"]
OPERATOR = "operator-of-these-tests-0123456789"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(db=str(tmp_path / "served.db"), worker="no", embedder="none", operator_key=OPERATOR)
    yield server
    server.stop()


@pytest.fixture
def keys(served: Served) -> dict[str, str]:
    """Four members of one tenant."""
    member = {"tenant": "acme", "actor": "person"}
    more = {"ada": ["memory.admin"], "rose": ["memory.read", "memory.review"]}
    return {
        name: served.make_key(
            **member, user=name, permissions=more.get(name, ["memory.read", "memory.manage"])
        )
        for name in ("ann", "bob", "rose", "ada")
    }


def test_a_private_past_is_told_to_no_other_member_by_any_route_or_tool(
    served: Served, keys: dict[str, str], introduce: Callable[[Client], Agent]
) -> None:
    began = datetime.now(UTC).isoformat()
    with served.connect(keys["ann"]) as ann:
        ann.post("/v1/memories", json={"id": "k", "content": "zqsecret plan", "scope": "user"})
        private = datetime.now(UTC).isoformat()
        ann.post("/v1/memories", json={"id": "k", "content": "a plan for all", "scope": "tenant"})
    site, tellers = Site(served.url, served.parts.door), {}
    for name, key in keys.items():
        with served.connect(key) as member:
            routes = [
                member.get("/v1/memories/k/history"),
                member.get("/v1/memories/k", params={"known_at": private}),
                member.get("/v1/memories", params={"known_at": private}),
                member.post("/v1/recall", json={"question": "plan", "known_at": private}),
                member.get("/v1/memories/k/neighbours", params={"known_at": private}),
                member.get("/v1/diff", params={"since": began, "until": private}),
                member.get("/v1/diff", params={"since": private}),
            ]
        agent = introduce(site.client("/mcp/full", key=key))
        tools = [
            agent.call("history", id="k"),
            agent.call("show", id="k", known_at=private),
            agent.call("browse", known_at=private),
            agent.call("recall", question="plan", known_at=private),
            agent.call("neighbours", id="k", known_at=private),
            agent.call("diff", since=began, until=private),
            agent.call("diff", since=private),
        ]
        said = [answer.text for answer in routes] + [answer.model_dump_json() for answer in tools]
        tellers[name] = ["zqsecret" in each for each in said]
        assert "a plan for all" in said[0]
    assert not any(tellers["bob"] + tellers["rose"])
    assert all(tellers["ann"] + tellers["ada"])


def test_what_every_tenant_sees_is_changed_with_what_was_given_at_the_machine_alone(
    served: Served, keys: dict[str, str], introduce: Callable[[Client], Agent], shell: Shell, tmp_path: Path
) -> None:
    here = ("--db", str(tmp_path / "served.db"))
    made = shell(*here, "keys", "create", "--tenant", "acme", "--user", "olga", "--actor", "person",
                 "--permission", "memory.read", "--permission", "memory.manage", "--permission", "memory.global")  # fmt: skip
    given = made.out.split()[[word.startswith("onr_") for word in made.out.split()].index(True)]
    rule = {"id": "global:k", "content": "for all"}
    asks = {"permissions": ["memory.read", "memory.global"]}
    with served.connect(keys["ada"]) as admin, served.connect(given) as holder:
        refused = admin.post("/v1/memories", json=rule)
        assert (refused.status_code, "memory.global" in refused.text) == (422, True)
        assert holder.post("/v1/memories", json=rule).status_code == 201
        for ask in (
            admin.patch("/v1/memories/global:k", json={"content": "mine"}),
            admin.post("/v1/memories/global:k/retire", json={}),
            admin.delete("/v1/memories/global:k"),
            admin.post("/v1/keys", json=asks),
        ):
            assert (ask.status_code, "memory.global" in ask.text) == (403, True)
        assert admin.get("/v1/memories/global:k").json()["memory"]["content"] == "for all"
        assert holder.patch("/v1/memories/global:k", json={"content": "for all, better"}).status_code == 200
    with served.connect(OPERATOR) as operator:
        # Whoever runs the store changes it over the network too, and gives it to nobody there.
        assert operator.patch("/v1/memories/global:k", json={"content": "for all, best"}).status_code == 200
        assert operator.post("/v1/keys", json=asks).status_code == 403
    agent = introduce(Site(served.url, served.parts.door).client("/mcp/full", key=keys["ada"]))
    assert "memory.global" in agent.refused("remember", content="mine", scope="global")
    assert "memory.global" in agent.refused("revise", id="global:k", content="mine")
    elsewhere = served.make_key(tenant="beta", user="bea", permissions=["memory.admin"], actor="person")
    with served.connect(elsewhere) as other:
        told = other.get("/v1/audit").json()["entries"]
        assert [(each["operation"], each["subject"]) for each in told[1:]] == [
            ("revise", "global:k"),
            ("revise", "global:k"),
            ("remember", "global:k"),
        ]


def test_the_owner_of_a_laptop_saves_for_everyone_without_being_given_it(shell: Shell) -> None:
    assert shell("remember", "for all", "--scope", "global").code == 0
    assert "global:1" in shell("audit").out
