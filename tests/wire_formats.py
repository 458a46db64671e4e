"""The wire formats of Anthropic and Google, for the scripted model: what their clients send, as OpenAI's clients would have sent
it, and replies as their clients expect them.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Body = dict[str, Any]
_GOOGLE: re.Pattern[str] = re.compile(r"/v1(?:beta)?/models/(?P<model>[^:]+):(?P<call>\w+)")


class WireFormat(NamedTuple):
    """How requests are read, and how a text, the arguments of a tool call and an error are written."""

    read: Callable[[str, Body], Body]
    text: Callable[[Body, str], Body]
    call: Callable[[Body, Any], Body]
    error: Callable[[int, str], Body]


def format_of(path: str) -> WireFormat | None:
    """The format of a request by its path; None for OpenAI's."""
    if path.startswith("/v1/messages"):
        return _ANTHROPIC
    return _OF_GOOGLE if _GOOGLE.match(path) else None


def _asked(model: str, instructions: str, user: str, tool: str | None) -> Body:
    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": user}]
    tools = [{"type": "function", "function": {"name": tool}}] if tool else []
    return {"model": model, "messages": messages, "tools": tools}


def _texts(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    return "\n".join(each["text"] for each in parts or () if "text" in each)


def _tool_of(body: Body) -> str:
    return str(body["tools"][0]["function"]["name"])


def _read_anthropic(path: str, body: Body) -> Body:
    user = "\n".join(_texts(each["content"]) for each in body["messages"])
    tools = body.get("tools") or [{}]
    return _asked(body["model"], _texts(body.get("system")), user, tools[0].get("name")) | {"raw": body}


def _message(body: Body, block: Body, why: str) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": why,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


_ANTHROPIC = WireFormat(
    _read_anthropic,
    lambda body, text: _message(body, {"type": "text", "text": text}, "end_turn"),
    lambda body, given: _message(
        body, {"type": "tool_use", "id": "toolu_1", "name": _tool_of(body), "input": given}, "tool_use"
    ),
    lambda status, message: {"type": "error", "error": {"type": "some_error", "message": message}},
)


def _read_google(path: str, body: Body) -> Body:
    found = _GOOGLE.match(path)
    assert found is not None
    assert found["call"] == "generateContent"
    user = "\n".join(_texts(each["parts"]) for each in body["contents"])
    told: Mapping[str, Any] = body.get("systemInstruction") or {}
    declared = [each for tool in body.get("tools") or () for each in tool.get("functionDeclarations", ())]
    name = declared[0]["name"] if declared else None
    return _asked(found["model"], _texts(told.get("parts")), user, name) | {"raw": body}


def _candidate(body: Body, part: Body) -> Body:
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
        "modelVersion": body["model"],
        "responseId": "r1",
    }


_OF_GOOGLE = WireFormat(
    _read_google,
    lambda body, text: _candidate(body, {"text": text}),
    lambda body, given: _candidate(body, {"functionCall": {"name": _tool_of(body), "args": given}}),
    lambda status, message: {"error": {"code": status, "message": message, "status": "SOME_ERROR"}},
)


def parsed(given: Mapping[str, Any] | str) -> Any:
    """The arguments of a tool call, which these formats have no text for."""
    return json.loads(given) if isinstance(given, str) else given
