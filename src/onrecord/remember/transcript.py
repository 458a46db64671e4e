"""WHAT was said in the turns of a coding agent? Read from what its host tells a hook, and from its transcript: a line of
JSON for each message, in the formats of several hosts.

Only what a person and the agent said counts: not the answers of tools, what hosts insert, summaries, or what subagents say.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from onrecord.text.spoken import said_by_themselves

_USER: Final = frozenset({"user", "human"})
_ASSISTANT: Final = frozenset({"assistant", "model", "agent", "gemini"})
#: Marks of lines that nobody said: inserted by the host, of a subagent, or the summary of what was said before.
_UNSAID: Final = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
_TEXTS: Final = frozenset({None, "text", "input_text", "output_text"})
_CALLS: Final = frozenset({"tool_use", "function_call", "tool_call", "custom_tool_call"})
#: The tools by which an agent saves something itself, whatever its host puts before their names.
_SAVES: Final = ("memory_save", "memory_update", "onrecord remember")
_CONVERSATION: Final = ("session_id", "conversation_id", "thread_id", "thread-id")
_PROMPT: Final = ("prompt", "user_prompt", "input_messages", "input-messages")
_REPLY: Final = ("last_assistant_message", "last-assistant-message", "prompt_response")
_TURN: Final = ("turn_id", "turn-id", "prompt_id", "generation_id")


@dataclass(slots=True)
class HostTurn:
    """What a person said, what the agent answered, and whether it saved something itself meanwhile."""

    user: str
    #: What the host calls the message, so that the same words said twice are two turns.
    id: str = ""
    assistant: list[str] = field(default_factory=list)
    has_saved: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.id}\0{self.user}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """An event of a host: its name, the conversation, and the turns that it knows of, the last one at the end."""

    name: str
    conversation: str | None
    turns: Sequence[HostTurn]
    #: Whether the agent goes on only because a hook asked it to.
    is_again: bool


def read_event(event: Mapping[str, Any], transcript: str | None) -> HookEvent:
    """What a host tells its hook. Whatever cannot be read is passed over."""
    turns = list(_turns(_lines(transcript)))
    reply = _first(event, _REPLY)
    if not turns and (prompt := _first(event, _PROMPT)):
        turns = [HostTurn(prompt, _first(event, _TURN))]
    if turns and reply and reply not in turns[-1].assistant:
        # A transcript may lag behind.
        turns[-1].assistant.append(reply)
    loops = event.get("loop_count")
    return HookEvent(
        name=_first(event, ("hook_event_name", "type")),
        conversation=_first(event, _CONVERSATION) or None,
        turns=turns,
        is_again=event.get("stop_hook_active") is True or (isinstance(loops, int) and loops > 0),
    )


def _first(event: Mapping[str, Any], names: Iterable[str]) -> str:
    """The text under the first of these names that has one; several texts are joined."""
    for name in names:
        value = event.get(name)
        if isinstance(value, list):
            value = "\n\n".join(each for each in value if isinstance(each, str))
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _lines(transcript: str | None) -> Iterator[Mapping[str, Any]]:
    for each in (transcript or "").splitlines():
        line = _parsed(each)
        if isinstance(line, Mapping):
            yield line


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None  # the line is half written, or the first of those that were read


def _turns(lines: Iterable[Mapping[str, Any]]) -> Iterator[HostTurn]:
    turn: HostTurn | None = None
    for line in lines:
        if any(line.get(mark) for mark in _UNSAID):
            continue
        inner = line.get("payload")
        body: Mapping[str, Any] = inner if isinstance(inner, Mapping) else line
        held = body.get("message")
        message: Mapping[str, Any] = held if isinstance(held, Mapping) else body
        role = message.get("role") or body.get("role") or body.get("type")
        if not isinstance(role, str):
            continue
        text = said_by_themselves(_text(message.get("content")))
        if role in _USER and text:
            if turn is not None and not turn.assistant:
                turn.user += f"\n\n{text}"
                continue
            if turn is not None:
                yield turn
            turn = HostTurn(text, _first(line, ("uuid", "id", "timestamp")))
        elif turn is not None:
            turn.has_saved |= _has_saved(body, message.get("content"))
            if role in _ASSISTANT and text:
                turn.assistant.append(text)
    if turn is not None:
        yield turn


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (
        each.get("text") if isinstance(each, Mapping) and each.get("type") in _TEXTS else each
        for each in parts
    )
    return "\n".join(each for each in texts if isinstance(each, str))


def _has_saved(body: Mapping[str, Any], content: Any) -> bool:
    """Whether a message calls a tool that saves."""
    parts = [body, *(content if isinstance(content, list) else ())]
    calls = (each for each in parts if isinstance(each, Mapping) and each.get("type") in _CALLS)
    written = (f"{call.get('name')} {call.get('input') or call.get('arguments') or ''}" for call in calls)
    return any(name in each for each in written for name in _SAVES)
