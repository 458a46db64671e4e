"""The end of a coding agent's turn: as its host runs the hook, and over HTTP and MCP, with a model and without one."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.errors import Invalid
from onrecord.remember.transcript import read_event
from tests.scripted_model import Hangs, ScriptedModel, as_json, by_task, question_of
from tests.surfaces.conftest import COMMAND, Served, Shell, shell

__all__ = ["shell"]

Open = Callable[..., OnRecord]
SECRET = "ghp_" + "a1B2" * 9
SAID = f"I prefer tabs over spaces in this repository. The token is {SECRET}."
FACT = "User prefers tabs over spaces in this repository"
#: The transcript of Claude Code, with what nobody said: tool output, a reminder, a summary, a subagent's task.
CLAUDE = [
    {"type": "summary", "summary": "Onions of earlier days"},
    {
        "type": "user",
        "uuid": "u0",
        "isCompactSummary": True,
        "message": {"role": "user", "content": "onions"},
    },
    {
        "type": "user",
        "uuid": "u1",
        "message": {"role": "user", "content": "My name is Ann and I like leeks."},
    },
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Hello Ann."}]},
    },
    {"type": "user", "uuid": "u2", "isMeta": True, "message": {"role": "user", "content": "onions"}},
    {"type": "user", "uuid": "u3", "isSidechain": True, "message": {"role": "user", "content": "onions"}},
    {
        "type": "user",
        "uuid": "u4",
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": f"{SAID}\n<system-reminder>onions</system-reminder>"}],
        },
    },
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "onions"},
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat onions"}},
            ],
        },
    },
    {
        "type": "user",
        "uuid": "u5",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "onions"}],
        },
    },
]
STOP = {"session_id": "s-1", "hook_event_name": "Stop", "stop_hook_active": False, "cwd": "/"}


def lines(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in messages)


#: What hosts send, and the person's and the agent's words in the last turn.
EVENTS: dict[str, tuple[dict[str, Any], Any, str, list[str]]] = {
    "Claude Code": (STOP | {"last_assistant_message": "Done."}, lines(*CLAUDE), SAID, ["I will.", "Done."]),
    "the end of a transcript": (
        STOP,
        '"cut off"}\n' + lines(*CLAUDE[2:]) + '{"type": "us',
        SAID,
        ["I will."],
    ),
    "Codex, a hook": (
        {"session_id": "s-1", "hook_event_name": "Stop", "turn_id": "7"},
        lines(
            {"type": "session_meta", "payload": {"id": "s-1"}},
            {
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "<environment_context>onions</environment_context>"}
                    ],
                },
            },
            {
                "type": "response_item",
                "timestamp": "t1",
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": SAID}],
                },
            },
            {"type": "response_item", "payload": {"type": "function_call_output", "output": "onions"}},
            {
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "I will."}],
                },
            },
        ),
        SAID,
        ["I will."],
    ),
    "Codex, a notification": (
        {
            "type": "agent-turn-complete",
            "thread-id": "s-1",
            "turn-id": "7",
            "input-messages": [SAID],
            "last-assistant-message": "I will.",
        },
        None,
        SAID,
        ["I will."],
    ),
    "Gemini CLI": (
        {"session_id": "s-1", "hook_event_name": "AfterAgent", "prompt": SAID, "prompt_response": "I will."},
        None,
        SAID,
        ["I will."],
    ),
    "Cursor": (
        {"conversation_id": "s-1", "hook_event_name": "stop", "loop_count": 0},
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": SAID}]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "I will."}]}},
        ),
        SAID,
        ["I will."],
    ),
}


@pytest.mark.parametrize("host", EVENTS)
def test_the_last_turn_is_read_as_each_host_tells_it(host: str) -> None:
    told, transcript, user, assistant = EVENTS[host]
    event = read_event(told, transcript)
    assert (event.conversation, event.turns[-1].user, event.turns[-1].assistant) == ("s-1", user, assistant)
    assert "onions" not in repr(event)
    assert not event.is_again


def test_whatever_is_no_transcript_is_passed_over() -> None:
    """Deep, odd and broken lines, of which none is a turn."""
    odd = (
        None, "", "7", "[" * 100_000, '{}\nnull\n7\n"x"\n[]', lines({"role": "user"}, {"role": ["user"], "content": {}}),
        lines({"role": "user", "content": [None, 7, {"type": "text", "text": 9}]}, {"message": "x", "type": "user"}),
    )  # fmt: skip
    for transcript in odd:
        assert list(read_event(STOP, transcript).turns) == [], transcript


def test_a_host_runs_the_hook_and_a_killed_worker_loses_nothing(
    shell: Shell, model: ScriptedModel, tmp_path: Path
) -> None:
    """Turn, hook and worker are processes of their own; the worker dies by SIGKILL in the middle of the call."""
    (tmp_path / "talk.jsonl").write_text(lines(*CLAUDE))
    event = json.dumps(STOP | {"transcript_path": str(tmp_path / "talk.jsonl")}).encode()
    asked, end = Event(), Event()

    def hangs(body: dict[str, Any]) -> Hangs:
        asked.set()
        return Hangs(end)

    model.script = by_task(extract=hangs)
    settings = model.settings() | {"ONRECORD_EMBEDDER": "none", "ONRECORD_WORKER": "no"}
    handed = shell.process("hook", typed=event, **settings)
    assert handed == (0, "", "")
    assert model.asked == []
    worker = subprocess.Popen([*COMMAND, "work", "--once"], env=os.environ | settings)
    assert asked.wait(60)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    end.set()
    model.script = by_task(extract=as_json({"facts": [FACT, f"The token is {SECRET}"]}))
    for name, value in settings.items():
        shell._monkeypatch.setenv(name, value)
    with connect("shell.db", clock=lambda: datetime.now(UTC) + timedelta(minutes=2)) as door:
        assert door.status().tenants[0].turns_waiting == 1
        while door.worker.run_once():
            pass
        [memory] = door.as_caller(door.caller.inside("s-1")).browse(kinds=["fact"]).memories
    assert (memory.content, memory.conversation, memory.tier) == (FACT, "s-1", "agent")
    assert "onions" not in question_of(model.asked[-1])
    assert SECRET not in json.dumps(model.asked)
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("shell.db*"))


def test_each_turn_is_read_once_and_earlier_ones_before_a_conversation_is_shortened(
    advised: Open, model: ScriptedModel
) -> None:
    door = advised()
    model.script = by_task(extract=as_json({"facts": [FACT]}))
    transcript = lines(*CLAUDE)
    first = door.end_turn(STOP, transcript=transcript, later=False, scope="tenant")
    assert (first.turns, [fact.text for fact in first.facts], first.output) == (1, [FACT], "")
    assert door.end_turn(STOP, transcript=transcript, later=False).turns == 0
    compact = STOP | {"hook_event_name": "PreCompact", "trigger": "auto"}
    assert door.end_turn(compact, transcript=transcript, later=False).turns == 1
    assert "leeks" in question_of(model.asked[-1])
    assert len(model.asked) == 2
    # A subagent is told its task by an agent.
    subagent = STOP | {"hook_event_name": "SubagentStop", "session_id": "s-2"}
    assert door.end_turn(subagent, transcript=transcript).turns == 0


def test_without_a_model_the_agent_is_asked_in_the_manner_of_its_host() -> None:
    with connect(":memory:") as door:

        def told(event: dict[str, Any], transcript: str | None = None, **more: Any) -> str:
            return door.end_turn(event, transcript=transcript or lines(*CLAUDE), **more).output

        answer = json.loads(told(STOP))
        assert (answer["decision"], "memory_save" in answer["reason"]) == ("block", True)
        assert json.loads(told(STOP | {"hook_event_name": "AfterAgent"}))["decision"] == "deny"
        assert "memory_save" in json.loads(told(STOP | {"hook_event_name": "stop"}))["followup_message"]
        assert told(STOP | {"hook_event_name": "PreCompact"}).startswith("Keep in the summary")
        assert told(STOP | {"hook_event_name": "SessionEnd"}) == ""
        # Nobody is asked twice, nor after saving, nor about a short word; and not if that is not wanted.
        saves = {"type": "tool_use", "name": "mcp__onrecord__memory_save", "input": {}}
        saved = {"type": "assistant", "message": {"role": "assistant", "content": [saves]}}
        short = {"type": "user", "message": {"role": "user", "content": "yes, please"}}
        assert told(STOP | {"stop_hook_active": True}) == ""
        assert told(STOP | {"hook_event_name": "stop", "loop_count": 1}) == ""
        assert told(STOP, lines(*CLAUDE, saved)) == ""
        assert told(STOP, lines(*CLAUDE, short)) == ""
        assert told(STOP, remind=False) == ""
        for wrong, words in ((7, "must be a JSON object"), ({}, "name a conversation")):
            with pytest.raises(Invalid, match=words):
                door.end_turn(wrong)


def test_no_error_of_the_hook_blocks_the_agent(shell: Shell, tmp_path: Path) -> None:
    """Hosts take the code 2 for a wish to block, which is that of a wrong request elsewhere."""
    (tmp_path / "talk.jsonl").write_text(lines(*CLAUDE))
    event = json.dumps(STOP | {"transcript_path": "talk.jsonl"})
    assert json.loads(shell("hook", typed=event).out)["decision"] == "block"
    assert json.loads(shell("hook", event).out)["decision"] == "block"
    wrong = (
        ["hook"],
        ["hook", "--bogus"],
        ["hook", "{}"],
        ["hook", event, "--scope", "moon"],
        ["hook", event, "--user", ""],
    )
    for words in wrong:
        said = shell(*words)
        assert (said.code, said.out) == (1, ""), words
        assert said.err


def test_a_turn_is_handed_over_by_http_and_mcp(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (model.settings() | {"ONRECORD_EMBEDDER": "none"}).items():
        monkeypatch.setenv(name, value)
    model.script = by_task(extract=as_json({"facts": [FACT]}))
    served = Served(db=str(tmp_path / "served.db"), worker="no")
    try:
        body = {"event": STOP, "transcript": lines(*CLAUDE), "scope": "tenant", "later": False}
        said = served.client.post("/v1/turns/end", json=body).json()
        assert ([fact["outcome"] for fact in said["facts"]], said["output"]) == (["saved"], "")
        six, handed = asyncio.run(_by_mcp(served.url))
        assert len(six) == 6
        assert handed["turns"] == 0  # it was handed over before
    finally:
        served.stop()


async def _by_mcp(url: str) -> tuple[list[str], dict[str, Any]]:
    async with Client(f"{url}/mcp") as session:
        six = [tool.name for tool in (await session.list_tools()).tools]
    async with Client(f"{url}/mcp/full") as session:
        handed = await session.call_tool("end_turn", {"event": STOP, "transcript": lines(*CLAUDE)})
    assert handed.structured_content is not None, handed
    return six, handed.structured_content
