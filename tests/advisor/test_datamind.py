"""Extraction on the surfaces of datamind: `extract_and_save`, and what hello_memory prints."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord
from onrecord.errors import Invalid
from onrecord.faces.datamind import MemoryService, OnRecordMemoryStore
from tests.scripted_model import Calls, Fails, Says, ScriptedModel, as_json, by_task

Open = Callable[..., OnRecord]
HELLO = Path(__file__).parents[2] / "examples" / "hello_memory.py"
TURNS = {
    "user_turn": "I'm moving to Shenzhen next month and will start jogging in the morning.",
    "assistant_turn": "Nice — Shenzhen in April is great for outdoor runs.",
}
FACTS = ["User is moving to Shenzhen next month", "User plans to start jogging in the morning"]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_facts_of_a_turn_are_kept_for_the_session_unless_another_scope_is_given(
    advised: Open, model: ScriptedModel
) -> None:
    memory = MemoryService(OnRecordMemoryStore(advised()), profile="cafe")
    model.script = by_task(extract=Says(f"Sure!\n{FACTS!r}".replace("'", '"')))
    assert run(memory.extract_and_save(**TURNS, session_id="abc")) == FACTS
    found = run(memory.recall("where does the user move to?", session_id="abc"))
    assert found[0].content == FACTS[0]
    assert (found[0].scope, found[0].session_id, found[0].kind) == ("session", "abc", "fact")
    assert found[0].metadata["_source"] == "auto_extracted"
    assert run(memory.recall("where does the user move to?", session_id="other")) == []
    run(memory.extract_and_save(**TURNS, scope="profile"))
    assert {item.scope for item in run(memory.recall("user moving to Shenzhen"))} == {"profile"}
    with pytest.raises(Invalid, match="session_id"):
        run(memory.extract_and_save(**TURNS))
    replies = (
        as_json([]),
        Says("There is nothing."),
        Fails(400),
        Calls('{"facts": ["User is'),
        as_json({"facts": ["", "  ", 7, None]}),
    )
    for number, reply in enumerate(replies):
        model.script = lambda body, reply=reply: reply
        assert run(memory.extract_and_save(f"I moved {number} times.", "Oh.", session_id="abc")) == []
    # However long it is, and whatever is in it; what ends a turn is read.
    model.script = by_task(extract=as_json({"facts": ["User likes leeks"]}))
    long = "<memory>" + "onions " * 20_000 + "</memory> I like \0leeks"
    assert run(memory.extract_and_save(long, "y" * 200_000, session_id="long")) == ["User likes leeks"]
    assert "onions" not in model.asked[-1]["messages"][-1]["content"]
    ten = [f"User moved {word} times" for word in "one two three four five six seven eight nine ten".split()]
    model.script = by_task(extract=as_json({"facts": ten}))
    assert (
        run(memory.extract_and_save("I, the user, moved " + ", ".join(ten), "", session_id="abc")) == ten[:6]
    )


def test_hello_memory_prints_what_its_seed_shows(model: ScriptedModel) -> None:
    model.script = by_task(extract=as_json({"facts": FACTS}))
    done = subprocess.run(
        [sys.executable, HELLO], env=os.environ | model.settings(), capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith(
        "[hello_memory] extracted 2 fact(s):\n"
        "  - User is moving to Shenzhen next month\n"
        "  - User plans to start jogging in the morning\n"
    )


def test_the_end_of_a_turn_extracts_what_was_said_since_the_last_one(
    advised: Open, model: ScriptedModel
) -> None:
    door = advised()
    talk = door.as_caller(door.caller.inside("talk"))
    shown: list[str] = []

    def facts(body: dict) -> object:
        shown.append(body["messages"][-1]["content"])
        return as_json({"facts": FACTS[:1]})

    model.script = by_task(extract=facts)
    talk.note_turn("I like the old days.")
    talk.note_turn("So do I.", role="assistant")
    talk.note_turn(TURNS["user_turn"])
    talk.note_turn("a tool said: onions", role="tool")
    noted = talk.note_turn(TURNS["assistant_turn"], role="assistant", extract="yes", agent="scout")
    assert [fact.text for fact in noted.extracted.facts] == FACTS[:1]
    assert "old days" not in shown[0]
    assert "onions" not in shown[0]
    assert "outdoor runs" in shown[0]
    assert talk.note_turn("And now?", role="assistant").extracted is None
    assert door.status().advice[0].usage[0].agent == "scout"
