"""DO frameworks use a server's store as they use one of this machine, on either database, and as models speak to them?"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from anthropic import Anthropic
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from openai import AsyncOpenAI

from onrecord import OnRecord
from onrecord.client import connect as reach
from onrecord.frameworks.anthropic import MemoryTool
from onrecord.frameworks.langgraph import OnRecordStore
from onrecord.frameworks.openai_agents import OnRecordSession, tools

from ..scripted_model import Calls, Says, ScriptedModel
from ..surfaces.conftest import Served, served, server

__all__ = ["served", "server"]


@pytest.fixture
def model() -> Any:
    with_model = ScriptedModel()
    yield with_model
    with_model.close()


def test_a_graph_a_session_and_files_are_kept_by_a_server(server: Served) -> None:
    with reach(server.url, key=server.make_key()) as door:
        store = OnRecordStore(door, scope="user")

        def note(state: dict[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
            assert runtime.store is not None
            runtime.store.put(("users", "ann"), "prefs", {"text": state["said"]})
            return {"said": runtime.store.search(("users",), query="coffee")[0].value["text"]}

        builder = StateGraph(dict)
        builder.add_node("note", note)
        builder.add_edge(START, "note")
        builder.add_edge("note", END)
        assert builder.compile(store=store).invoke({"said": "Oat milk in coffee."}) == {
            "said": "Oat milk in coffee."
        }
        assert store.list_namespaces() == [("users", "ann")]
        store.delete(("users", "ann"), "prefs")
        assert store.search(()) == []

        session = OnRecordSession("talk", door)
        asyncio.run(
            session.add_items([{"role": "user", "content": "Hello"}, {"role": "user", "content": "there"}])
        )
        assert asyncio.run(session.pop_item()) == {"role": "user", "content": "there"}

        files = MemoryTool(door)
        files.call({"command": "create", "path": "/memories/a/b.md", "file_text": "x"})
        files.call({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c"})
        assert files.call({"command": "view", "path": "/memories"}).endswith("1B\t/memories/c/b.md")
        files.call({"command": "delete", "path": "/memories/c"})


def test_a_store_on_postgresql_keeps_what_it_is_given(
    opened: Callable[[str], OnRecord], postgres_store: str
) -> None:
    door = opened(postgres_store)
    store = OnRecordStore(door)
    value = {"z": 1.0, "a": [1, None, {"é": "🦉"}], "big": 10**18}
    store.put(("users", "日本語"), "k'\"", value)
    store.put(("users", "日本語"), "k'\"", value | {"z": 2.5})
    (found,) = store.search(("users",), filter={"z": {"$gt": 2}}, query="owl")
    assert (found.value, found.namespace, found.key) == (value | {"z": 2.5}, ("users", "日本語"), "k'\"")
    store.delete(("users", "日本語"), "k'\"")
    store.put(("users", "日本語"), "k'\"", value)
    assert store.list_namespaces() == [("users", "日本語")]
    assert MemoryTool(door).call({"command": "create", "path": "/memories/x", "file_text": "\r\n x \n"})
    assert MemoryTool(door).call({"command": "view", "path": "/memories/x"}).endswith("     2\t x \n     3\t")


def test_claude_uses_its_memory_tool_over_its_own_protocol(door: OnRecord, model: ScriptedModel) -> None:
    steps = iter(
        [
            Calls({"command": "create", "path": "/memories/tea.md", "file_text": "Tea at four."}),
            Says("Noted."),
        ]
    )
    model.script = lambda body: next(steps)
    client = Anthropic(base_url=model.url.removesuffix("/v1"), api_key="none")
    runner = client.beta.messages.tool_runner(
        model="claude-scripted",
        max_tokens=100,
        messages=[{"role": "user", "content": "Tea is at four."}],
        tools=[MemoryTool(door)],
    )
    assert "Noted." in str(runner.until_done().content)
    client.close()
    (held,) = door.browse().memories
    assert (held.title, held.content) == ("tea.md", "Tea at four.")
    sent = json.dumps(model.asked)
    assert "File created successfully at: /memories/tea.md" in sent


def test_an_agent_of_openai_calls_tools_over_its_own_protocol(door: OnRecord, model: ScriptedModel) -> None:
    set_tracing_disabled(True)
    steps = iter([Calls({"content": "Tea is at four."}), Says("Noted."), Says("At four.")])
    model.script = lambda body: next(steps)

    async def use() -> list[str]:
        async with AsyncOpenAI(base_url=model.url, api_key="none") as client:
            speaks = OpenAIChatCompletionsModel("scripted", client)
            agent = OpenAIAgent(name="Assistant", model=speaks, tools=tools(door, ["remember"]))
            session = OnRecordSession("tea", door)
            asked = ("Tea is at four.", "When is tea?")
            return [(await Runner.run(agent, each, session=session)).final_output for each in asked]

    assert asyncio.run(use()) == ["Noted.", "At four."]
    assert door.browse().memories[0].content == "Tea is at four."
    roles = [each["role"] for each in model.asked[-1]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
