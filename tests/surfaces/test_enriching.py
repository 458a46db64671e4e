"""WHAT does a foreign server's client get? Its tools' answers, and one text beside them with what is known of what they mention."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from onrecord import Caller, OnRecord, connect
from onrecord.aio import AsyncOnRecord
from onrecord.context.frame import CAUTION
from onrecord.errors import StoreUnavailable
from onrecord.surfaces.attach_lookup import KEY
from onrecord.surfaces.mcp import enriching

from .foreign_servers import whole as warehouse
from .test_mcp import ERAS, Agent, introduce

__all__ = ["introduce"]
NOTE = "Refunds are negative amounts."
ANN = Caller(tenant="acme", user="ann", actor="agent")


def attach_memories(door: Any, deadline_s: float = 60, **more: Any) -> enriching.AttachingMiddleware:
    """With time enough for any machine, unless a test is about the deadline."""
    return enriching.attach_memories(door, deadline_s=deadline_s, **more)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnRecord]:
    """A store in which something is known of a table."""
    with connect(tmp_path_factory.mktemp("known") / "store.db", caller=ANN) as door:
        door.remember(NOTE, id="refunds", entities=["shop.orders"])
        yield door


def texts(result: CallToolResult) -> list[str]:
    return [str(getattr(block, "text")) for block in result.content]  # noqa: B009


Meet = Callable[[Client], Agent]


@pytest.mark.parametrize("era", ERAS)
def test_each_answer_gets_one_text_more_and_failed_ones_too(
    known: OnRecord, introduce: Meet, era: str
) -> None:
    agent = introduce(Client(warehouse(attach_memories(known)), mode=era))
    plain, told = texts(agent.call("describe", table="shop.orders"))
    assert plain == "shop.orders has rows"
    assert NOTE in told
    assert CAUTION in told
    # It was told in this session, and the next has heard nothing of it.
    assert len(texts(agent.call("describe", table="shop.orders"))) == 1
    other = introduce(Client(warehouse(attach_memories(known)), mode=era))
    failed = other.call("query", sql="select profit from shop.orders")
    assert failed.is_error
    assert NOTE in texts(failed)[1]
    assert texts(other.call("ping")) == ["nothing to see"]


@pytest.mark.parametrize("era", ERAS)
def test_structured_content_of_a_declared_shape_stays_as_it_is(
    known: OnRecord, introduce: Meet, era: str
) -> None:
    agent = introduce(Client(warehouse(attach_memories(known)), mode=era))
    bare = introduce(Client(warehouse(), mode=era))
    assert agent.listed().tools == bare.listed().tools
    result = agent.call("count", table="shop.orders")
    assert result.structured_content == {"table": "shop.orders", "rows": 3}
    assert result.structured_content == bare.call("count", table="shop.orders").structured_content
    assert NOTE in texts(result)[-1]


def shapeless(structured: Any, *middleware: Any) -> Server[Any]:
    """A server whose one tool declares no shape, listed on its second page."""

    async def listed(context: Any, asked: Any) -> ListToolsResult:
        if asked is None or asked.cursor is None:
            return ListToolsResult(
                tools=[Tool(name="other", input_schema={"type": "object"})], next_cursor="2"
            )
        return ListToolsResult(tools=[Tool(name="find", input_schema={"type": "object"})])

    async def call(context: Any, asked: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(text="shop.orders")], structured_content=structured)

    server: Server[Any] = Server("shapeless", on_list_tools=listed, on_call_tool=call)
    server.middleware.extend(middleware)
    return server


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("structured", "mirrored"),
    [({"found": 1}, True), ({"found": 1, KEY: "its own"}, False), (None, False)],
)
def test_structured_content_without_a_declared_shape_says_it_under_one_key(
    known: OnRecord, introduce: Meet, era: str, structured: Any, mirrored: bool
) -> None:
    agent = introduce(Client(shapeless(structured, attach_memories(known)), mode=era))
    result = agent.call("find")
    first, told = texts(result)
    assert (first, NOTE in told) == ("shop.orders", True)
    assert result.structured_content == ({**structured, KEY: told} if mirrored else structured)


def test_a_tool_can_be_left_alone_and_a_caller_be_chosen_for_each_request(
    known: OnRecord, introduce: Meet
) -> None:
    stranger = known.as_caller(Caller(tenant="beta", user="ann"))
    for made in (
        attach_memories(known, skip={"describe"}),
        attach_memories(lambda context: stranger),
        attach_memories(known, conversation=lambda context: "no\nname"),
    ):
        agent = introduce(Client(warehouse(made)))
        assert texts(agent.call("describe", table="shop.orders")) == ["shop.orders has rows"]
    agent = introduce(Client(warehouse(attach_memories(lambda context: AsyncOnRecord(known)))))
    assert NOTE in texts(agent.call("describe", table="shop.orders"))[1]


def test_an_error_of_the_protocol_passes_as_it_came(known: OnRecord, introduce: Meet) -> None:
    """It is no result that could have a text more."""

    async def call(context: Any, asked: Any) -> CallToolResult:
        raise MCPError(code=-32602, message="no tool of shop.orders")

    server: Server[Any] = Server("broken", on_call_tool=call)
    server.middleware.append(attach_memories(known))
    agent = introduce(Client(server))
    with pytest.raises(MCPError, match=r"no tool of shop\.orders"):
        agent.call("any")


class Hanging(OnRecord):
    """A door behind which nobody answers until the test lets them."""

    released = threading.Event()
    asked = 0

    def perform(self, *given: Any, **named: Any) -> Any:
        type(self).asked += 1
        self.released.wait(60)
        return super().perform(*given, **named)


class Failing(OnRecord):
    def perform(self, *given: Any, **named: Any) -> Any:
        raise StoreUnavailable("down")


def test_a_store_that_fails_leaves_the_answer_as_it_was(known: OnRecord, introduce: Meet) -> None:
    failing = Failing(known._store, ANN)
    agent = introduce(Client(warehouse(attach_memories(failing))))
    assert texts(agent.call("describe", table="shop.orders")) == ["shop.orders has rows"]


def test_a_store_that_hangs_leaves_every_answer_as_it_was_and_takes_few_threads(
    known: OnRecord, introduce: Meet
) -> None:
    hanging = Hanging(known._store, ANN)
    agent = introduce(Client(warehouse(attach_memories(hanging, deadline_s=0.01))))
    try:
        for _ in range(12):
            assert texts(agent.call("describe", table="shop.orders")) == ["shop.orders has rows"]
        assert Hanging.asked == 8
    finally:
        Hanging.released.set()


def test_what_came_too_late_to_be_passed_on_is_told_with_the_next_answer(
    tmp_path: Path, introduce: Meet
) -> None:
    done = threading.Semaphore(0)
    slow = threading.Event()

    class Late(OnRecord):
        def perform(self, *given: Any, **named: Any) -> Any:
            if not slow.is_set():
                slow.wait(60)
            told = super().perform(*given, **named)
            done.release()
            return told

    with connect(tmp_path / "late.db", caller=ANN) as door:
        door.remember(NOTE, entities=["shop.orders"])
        middleware = attach_memories(Late(door._store, ANN), deadline_s=0.05)
        agent = introduce(Client(warehouse(middleware)))
        assert len(texts(agent.call("describe", table="shop.orders"))) == 1
        slow.set()
        assert done.acquire(timeout=60)
        middleware._deadline_s = 60
        assert NOTE in texts(agent.call("describe", table="shop.orders"))[1]
