"""WHAT do members of one tenant learn of one another, each with a key of their own, and who changes what every tenant sees?"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import Caller

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
                member.get("/v1/memories/ann::k/history"),
                member.get("/v1/memories/ann::k", params={"known_at": private}),
                member.get("/v1/memories", params={"known_at": private}),
                member.post("/v1/recall", json={"question": "plan", "known_at": private}),
                member.get("/v1/memories/ann::k/neighbours", params={"known_at": private}),
                member.get("/v1/diff", params={"since": began, "until": private}),
                member.get("/v1/diff", params={"since": private}),
            ]
        agent = introduce(site.client("/mcp/full", key=key))
        tools = [
            agent.call("history", id="ann::k"),
            agent.call("show", id="ann::k", known_at=private),
            agent.call("browse", known_at=private),
            agent.call("recall", question="plan", known_at=private),
            agent.call("neighbours", id="ann::k", known_at=private),
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
        # The operator of the store changes it over the network too, and gives it to nobody there.
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


#: What belongs to a conversation is read so by REST, inside it by its header.
ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/recall", {"json": {"question": "zqplan"}}),
    ("GET", "/v1/memories", {"params": {"scopes": "session"}}),
    ("GET", "/v1/memories/ann::secret", {}),
    ("GET", "/v1/turns", {}),
    ("GET", "/v1/context", {"params": {"question": "zqplan"}}),
    ("GET", "/v1/workspace/artifacts", {}),
    ("GET", "/v1/workspace/artifacts/1", {}),
    ("GET", "/v1/workspace/conversations", {}),
    ("GET", "/v1/workspace/conversations/~ann/talk", {}),
    ("GET", "/v1/artifacts", {}),
    ("GET", "/v1/artifacts/1/raw", {}),
    ("GET", "/v1/conversations/~ann/talk/artifacts", {}),
    ("POST", "/v1/slash", {"json": {"text": "/mem search zqplan"}}),
    ("POST", "/v1/slash", {"json": {"text": "/read #1"}}),
]
#: And so by tools, whose argument a model chooses.
TOOLS: list[tuple[str, str, dict[str, Any]]] = [
    ("", "memory_search", {"question": "zqplan", "conversation": "~ann/talk"}),
    ("", "memory_context", {"conversation": "~ann/talk"}),
    ("/full", "turns", {"conversation": "~ann/talk"}),
    ("/full", "context", {"question": "zqplan", "conversation": "~ann/talk"}),
    ("/full", "artifacts", {"conversation": "~ann/talk"}),
    ("/datamind", "memory_recall", {"query": "zqplan", "session_id": "~ann/talk"}),
]
_SIGNS = ("between members", "was said", "in a file", "zq.txt", '"ann"')
#: What nobody does to another's, and how it is refused.
CHANGES: list[tuple[str, str, Any, int]] = [
    ("DELETE", "/v1/workspace/artifacts/1", None, 404),
    ("DELETE", "/v1/artifacts/1", None, 404),
    ("DELETE", "/v1/workspace/conversations/~ann/talk", None, 404),
    ("DELETE", "/v1/conversations/~ann/talk", None, 404),
    ("PUT", "/v1/workspace/conversation-members/~ann/talk", {"user": "bob"}, 404),
    ("POST", "/v1/workspace/artifacts", {"path": "a", "content": "x", "conversation": "~ann/talk"}, 404),
    ("POST", "/v1/conversations/~ann/talk/artifacts", {"path": "a", "content": "x"}, 404),
    ("POST", "/v1/memories", {"content": "linked", "artifact": "1"}, 422),
    ("PUT", "/v1/workspace/agents/scout", {"limit": 1}, 403),
    ("PUT", "/v1/agents/scout", {"memory": {}}, 403),
    ("GET", "/v1/workspace/agents/scout", None, 403),
    ("PUT", "/v1/workspace/agent-users/scout", {"user": "bob"}, 403),
    ("POST", "/v1/workspace/scratchpads/scout", {"content": "x"}, 403),
    ("DELETE", "/v1/workspace/scratchpads/scout", None, 403),
    ("GET", "/v1/workspace/scratchpads/scout", None, 403),
    ("GET", "/v1/memory/scout", None, 403),
]


def test_naming_a_conversation_is_not_joining_it_by_any_route_or_tool(
    served: Served, keys: dict[str, str], introduce: Callable[[Client], Agent]
) -> None:
    keys["rosa"] = served.make_key(tenant="acme", user="rosa", actor="agent", permissions=["memory.read"])
    site = Site(served.url, served.parts.door)
    here, bobs = {"OnRecord-Conversation": "~ann/talk"}, {"user": "bob"}
    with served.connect(keys["ann"], **{"OnRecord-Conversation": "talk"}) as ann:
        ann.post(
            "/v1/memories", json={"id": "secret", "content": "zqplan between members", "scope": "session"}
        )
        ann.post("/v1/workspace/artifacts", json={"path": "zq.txt", "content": "zqplan in a file"})
        ann.post("/v1/turns", json={"content": "zqplan was said"})
        ann.post("/v1/workspace/scratchpads/scout", json={"content": "hers"})

    def tellers(name: str) -> list[bool]:
        with served.connect(keys[name], **here) as member:
            said = [member.request(method, path, **ask).text for method, path, ask in ROUTES]
        agents = {face: introduce(site.client(f"/mcp{face}", key=keys[name])) for face, _, _ in TOOLS}
        said += [agents[face].call(tool, **ask).model_dump_json() for face, tool, ask in TOOLS]
        return [any(sign in each for sign in _SIGNS) for each in said]

    everything = [True] * len(ROUTES + TOOLS)
    assert tellers("ann") == everything
    assert not any(tellers("rosa") + tellers("bob"))
    with served.connect(keys["bob"]) as bob:
        for method, path, body, code in CHANGES:
            assert bob.request(method, path, json=body).status_code == code, path
        answer = bob.post("/v1/slash", json={"text": "/mem read", "agent": "scout"}).json()["results"][0]
        assert (answer["ok"], "used by others" in answer["output"]) == (False, True)
        assert bob.get("/v1/memory").json()["entries"] == []
    with served.connect(keys["ann"], **here) as ann:
        assert ann.put("/v1/workspace/conversation-members/talk", json=bobs).json()["changed"] is True
        assert ann.put("/v1/workspace/agent-users/scout", json=bobs).json()["users"] == ["ann", "bob"]
    assert tellers("bob") == everything
    with served.connect(keys["bob"], **here) as bob:
        assert bob.post("/v1/workspace/scratchpads/scout", json={"content": "his"}).status_code == 200
        mine = {"content": "zqplan of his", "scope": "session", "id": "his"}
        assert bob.post("/v1/memories", json=mine).json()["memory"]["conversation"] == "talk"
    with served.connect(keys["ann"], **here) as ann:
        assert ann.get("/v1/memories/bob::his").status_code == 200
        # By its name alone he saves in a conversation of his own, though hers was shared with him.
        his = {"content": "zqplan of his own", "scope": "session", "conversation": "talk"}
        with served.connect(keys["bob"], **{"OnRecord-Conversation": "talk"}) as bob:
            made = bob.post("/v1/memories", json=his).json()["memory"]
        assert made["conversation_by"] is None
        assert ann.get(f"/v1/memories/{made['id']}").status_code == 404
        assert ann.delete("/v1/workspace/conversation-members/talk", params=bobs).json()["changed"] is True
        assert ann.delete("/v1/workspace/agent-users/scout", params=bobs).json()["users"] == ["ann"]
    assert not any(tellers("bob"))
    with served.connect(keys["bob"], **here) as bob:
        assert bob.get("/v1/memory/scout").status_code == 403


def test_what_a_face_was_given_as_the_name_of_a_conversation_it_gives_back(
    served: Served, keys: dict[str, str], introduce: Callable[[Client], Agent]
) -> None:
    site = Site(served.url, served.parts.door)
    for name in ("ann", "bob"):
        agent = introduce(site.client("/mcp/datamind", key=keys[name]))
        agent.did("memory_save", content=f"zqsaid by {name}", scope="session", session_id="s1")
        found = agent.did("memory_recall", query="zqsaid", session_id="s1")["results"]
        assert [(each["content"], each["session_id"]) for each in found] == [(f"zqsaid by {name}", "s1")]
        stack = introduce(site.client("/mcp/checkstack", key=keys[name], **{"OnRecord-Conversation": "s2"}))
        stack.did("ai.saveMemory", scope="user", recallHint="when asked", content=f"by {name}")
        listed = stack.did("ai.listMemories")["memories"]
        assert [(each["content"], each["sourceConversationId"]) for each in listed] == [(f"by {name}", "s2")]
        with served.connect(keys[name]) as client:
            made = client.post("/v1/conversations", json={"title": name}).json()["id"]
            entry = {"type": "project", "title": "pinned", "conversation_id": made}
            assert client.post("/v1/memory/entries", json=entry).json()["conversation_id"] == made


def test_a_number_means_ones_own_or_the_one_that_the_tenant_gave_it_in_the_arbiter_face(
    served: Served, keys: dict[str, str]
) -> None:
    entry, bobs = {"type": "project", "title": "pinned"}, {"user": "bob"}
    with served.connect(keys["ann"]) as ann, served.connect(keys["bob"]) as bob:
        hers = ann.post("/v1/conversations", json={"title": "hers"}).json()["id"]

        def said(id: Any) -> tuple[int, int]:
            made = bob.post("/v1/memory/entries", json=entry | {"conversation_id": id})
            return bob.get(f"/v1/conversations/{id}").status_code, made.status_code

        assert [said(each) for each in (hers, f"ann/{hers}", f"~ann/{hers}")] == [(404, 400)] * 3
        ann.put(f"/v1/workspace/conversation-members/{hers}", json=bobs)
        assert [said(each) for each in (hers, f"ann/{hers}", f"~ann/{hers}")] == [
            (200, 201),
            (404, 400),
            (200, 201),
        ]
        assert [each["id"] for each in bob.get("/v1/conversations").json()["conversations"]] == [hers]
        wrote = bob.post(f"/v1/conversations/{hers}/artifacts", json={"path": "a", "content": "x"}).json()
        assert wrote["artifact"]["conversation_id"] == hers
        assert ann.get(f"/v1/conversations/{hers}/artifacts").json()["count"] == 1
        bob.post("/v1/workspace/conversations", json={"id": str(hers)})
        assert bob.get(f"/v1/conversations/{hers}/artifacts").json()["count"] == 0
        assert bob.get(f"/v1/conversations/~ann/{hers}/artifacts").json()["count"] == 1
        assert bob.delete(f"/v1/conversations/{hers}").status_code == 200
        # Someone chooses that number too, and shares it without being asked: it still means hers.
        eve = served.parts.door.as_caller(Caller(tenant="acme", user="eve"))
        eve.register_conversation(str(hers))
        eve.share_conversation(str(hers), "bob")
        bob.post(f"/v1/conversations/{hers}/artifacts", json={"path": "b", "content": "for ann"})
        assert ann.get(f"/v1/conversations/{hers}/artifacts").json()["count"] == 2
        assert eve.artifacts().artifacts == ()
        # A number of his own, which he deletes and goes on to use, does not come to mean another's either.
        his = bob.post("/v1/conversations", json={"title": "his"}).json()["id"]
        eve.register_conversation(str(his))
        eve.share_conversation(str(his), "bob")
        assert bob.delete(f"/v1/conversations/{his}").status_code == 200
        assert said(his) == (404, 400)
        late = bob.post(f"/v1/conversations/{his}/artifacts", json={"path": "b", "content": "not for eve"})
        assert (late.status_code, said(f"~eve/{his}")) == (404, (200, 201))
        listed = [each["id"] for each in bob.get("/v1/conversations").json()["conversations"]]
        assert listed == [f"~eve/{his}", f"~eve/{hers}", hers]
    with served.connect(keys["rose"]) as rose, served.connect(keys["ada"]) as ada:
        told = [client.get(f"/v1/conversations/{hers}") for client in (rose, ada)]
        assert [each.status_code for each in told] == [404, 200]
        assert told[1].json()["title"] == "hers"
        assert ada.get(f"/v1/conversations/~eve/{hers}").json()["id"] == f"~eve/{hers}"


def test_an_agent_notes_no_turn_of_the_system_and_lets_nobody_in(
    served: Served, keys: dict[str, str], introduce: Callable[[Client], Agent]
) -> None:
    key = served.make_key(tenant="acme", user="ann", actor="agent")
    turn = {"content": "obey", "role": "system", "conversation": "talk"}
    with served.connect(key) as agent, served.connect(keys["ann"]) as ann:
        refused = agent.post("/v1/turns", json=turn)
        assert (refused.status_code, "a person's or the host's" in refused.text) == (403, True)
        assert ann.post("/v1/turns", json=turn).status_code == 200
        assert ann.post("/v1/workspace/conversations", json={"id": "talk"}).status_code == 200
        shared = agent.put("/v1/workspace/conversation-members/talk", json={"user": "bob"})
        assert (shared.status_code, "is for a person or the host" in shared.text) == (403, True)
    tools = introduce(Site(served.url, served.parts.door).client("/mcp/full", key=key))
    assert "a person's or the host's" in tools.refused("note_turn", **turn)
    assert "is for a person or the host" in tools.refused("share_conversation", id="talk", user="bob")
