"""DOES an agent learn what is there and what changed? The overview, completion, and news of resources."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from onrecord import OnRecord, connect
from onrecord.errors import Unauthenticated
from onrecord.surfaces.mcp import subscriptions
from onrecord.surfaces.mcp.tool_request import ToolRequest

from .test_mcp import ERAS, Agent, Connect, agent, door, introduce
from .test_mcp_transports import Meet, Site, site, started

__all__ = ["agent", "door", "introduce", "site"]
ENTITY = ResourceTemplateReference(uri="memory://entity/{ref}")


@pytest.mark.parametrize("era", ERAS)
def test_the_overview_counts_what_this_caller_sees_and_names_the_newest(agent: Connect, era: str) -> None:
    someone, other = agent(mode=era), agent(user="bob")
    someone.did(
        "memory_save", content="Tea is at four.", kind="decision", entities=["thing:tea"], tags=["tea-time"]
    )
    other.did("memory_save", content="Mine alone.", scope="user", entities=["thing:secret"])
    told = someone.read("memory://overview")
    assert told.startswith("Memory holds 1 memories")
    assert "kinds: decision (1)" in told
    assert "about: thing:tea (1)" in told
    assert "#1 [decision]" in told
    assert "secret" not in told


@pytest.mark.parametrize("era", ERAS)
def test_what_a_person_types_is_completed_from_what_they_see(agent: Connect, era: str) -> None:
    someone, other = agent(mode=era), agent(user="bob")
    someone.did("memory_save", content="Tea.", entities=["thing:tea", "shop:orders.total"], tags=["tea-time"])
    other.did("memory_save", content="Mine.", scope="user", entities=["thing:teapot"])

    def completed(ref: Any, name: str, typed: str) -> list[str]:
        result = someone.ask(someone.client.complete, ref, {"name": name, "value": typed})
        return list(result.completion.values)

    assert completed(ENTITY, "ref", "Thing:t") == ["thing:tea"]
    assert completed(ResourceTemplateReference(uri="memory://entry/{id}"), "id", "") == ["1"]
    assert completed(PromptReference(name="review"), "subject", "tea") == ["tea-time", "thing:tea"]
    assert completed(PromptReference(name="recall"), "question", "tea") == []
    for ref, name in (
        (PromptReference(name="x"), "y"),
        (ENTITY, "y"),
        (ResourceTemplateReference(uri="x"), "y"),
    ):
        with pytest.raises(MCPError, match=r"Unknown prompt|has no field|no template"):
            completed(ref, name, "")


async def first_news(client: Client, address: str, change: Callable[[], object]) -> str:
    """The address of which there is news once `change` was made."""
    async with client.listen(resource_subscriptions=[address], tools_list_changed=True) as news:
        assert news.honored.resource_subscriptions == [address]
        assert news.honored.tools_list_changed is None
        await anyio.to_thread.run_sync(change)
        async for event in news:
            return str(event.uri)
    return "the end"


def test_whoever_listens_learns_of_a_change_that_another_process_may_have_made(
    site: Site, introduce: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "LOOK_EVERY_S", 0.05)
    made = site._door.create_key(tenant="acme", user="ann")
    agent = introduce(site.client(key=made.secret))
    id = agent.did("memory_save", content="Tea is at four.")["id"]
    address = f"memory://entry/{id}"
    acme: OnRecord = site._door

    def revised() -> None:
        acme.as_caller(acme.caller).revise(id, content="Tea is at five.")

    assert agent.ask(first_news, agent.client, address, revised) == address
    assert (
        agent.ask(first_news, agent.client, "memory://overview", lambda: acme.retire(id))
        == "memory://overview"
    )
    # Whoever may no longer ask is told no more.
    assert agent.ask(first_news, agent.client, address, lambda: acme.revoke_key(made.key.id)) == "the end"


def test_nobody_listens_where_nothing_can_be_or_to_too_much(site: Site, introduce: Meet) -> None:
    agent = introduce(site.client(key=site.key()))
    for addresses in (["file:///etc/passwd"], [f"memory://entry/{number}" for number in range(17)]):

        async def listen(addresses: list[str] = addresses) -> None:
            async with agent.client.listen(resource_subscriptions=addresses):
                pass

        with pytest.raises(MCPError, match=r"nothing at|At most 16"):
            agent.ask(listen)


@pytest.mark.filterwarnings(
    "ignore:resources/subscribe is removed", "ignore:resources/unsubscribe is removed"
)
def test_an_older_host_subscribes_over_the_streams_of_a_process(tmp_path: Path, introduce: Meet) -> None:
    heard, told = [], threading.Event()

    async def hear(message: Any) -> None:
        heard.append(message)
        told.set()

    agent: Agent = introduce(Client(started(tmp_path), mode="legacy", message_handler=hear))
    assert agent.client.server_capabilities.resources.subscribe is True
    agent.did("memory_save", content="Tea is at four.")
    agent.ask(agent.client.subscribe_resource, "memory://entry/1")
    with connect(tmp_path / "stdio.db") as door:
        door.revise("1", content="Tea is at five.")
    assert told.wait(60)
    assert [str(each.params.uri) for each in heard] == ["memory://entry/1"]
    agent.ask(agent.client.unsubscribe_resource, "memory://entry/1")


def test_an_address_is_followed_once_until_it_is_not_wanted_or_not_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "LOOK_EVERY_S", 0.01)
    address, heard, allowed = "memory://overview", [], [True]

    async def hear(uri: str) -> None:
        heard.append(uri)

    async def until(is_so: Callable[[], bool]) -> None:
        with anyio.fail_after(60):
            while not is_so():
                await anyio.sleep(0.01)

    async def use(door: OnRecord) -> None:
        def door_now() -> OnRecord:
            if not allowed[0]:
                raise Unauthenticated("The key was revoked.")
            return door

        context: Any = SimpleNamespace(session=SimpleNamespace(send_resource_updated=hear))
        asked: Any = SimpleNamespace(uri=address)
        async with anyio.create_task_group() as tasks:
            request = ToolRequest(door, {}, door_now=door_now)
            followed = subscriptions.Subscriptions(lambda _: request, tasks)
            async with anyio.create_task_group() as both:
                both.start_soon(followed.subscribe, context, asked)
                both.start_soon(followed.subscribe, context, asked)
            await followed.unsubscribe(context, asked)
            door.remember("Tea is at four.")
            await anyio.sleep(0.2)
            assert heard == []
            await followed.subscribe(context, asked)
            allowed[0] = False
            await until(lambda: not followed._followed)
            allowed[0] = True
            await followed.subscribe(context, asked)
            door.remember("Tea is at five.")
            await until(lambda: heard == [address])
            tasks.cancel_scope.cancel()

    with connect(tmp_path / "memory.db") as opened:
        anyio.run(use, opened)
