"""WHAT does a session of the proxy remember? Which calls wait for an answer, and what the server says of its tools."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from onrecord.lru_cache import LruCache
from onrecord.surfaces.proxy.json_text import Path

#: So many requests may wait for their answers; of the oldest beyond that the answer passes untouched.
_MOST_WAITING: Final = 10_000
_MOST_TOOLS: Final = 10_000
#: A longer message is not read; it passes as it came.
LONGEST_READ: Final = 16 * 1024 * 1024
CALL: Final = "tools/call"
LIST: Final = "tools/list"
CANCELLED: Final = "notifications/cancelled"


@dataclass(frozen=True, slots=True)
class PendingCall:
    """What was asked, until the answer has come."""

    method: str
    params: Mapping[str, Any]

    @property
    def tool(self) -> str:
        return str(self.params.get("name"))


class CallReply(NamedTuple):
    """A server's answer to a call, and where in the message it stands. The result is None if it is an error."""

    path: Path
    request: PendingCall
    result: Mapping[str, Any] | None
    error: Any


class Message(NamedTuple):
    """A message as it came, with the replies to calls in it, and the tools that it lists."""

    raw: bytes
    text: str = ""
    replies: tuple[CallReply, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()


class Session:
    """One client at one server. `name` is its conversation; None if it has none of its own."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self._waiting: LruCache[tuple[str, Any], PendingCall] = LruCache(_MOST_WAITING)
        #: Whether each tool declares the shape of its structured content, as far as the server has listed them.
        self._declares: LruCache[str, bool] = LruCache(_MOST_TOOLS)

    def note_sent(self, raw: bytes) -> None:
        """Note what a message of the client asks."""
        for _, each in _objects(_parsed(raw)[1]):
            method, params = each.get("method"), each.get("params")
            if method in (CALL, LIST) and "id" in each:
                request = PendingCall(method, params if isinstance(params, dict) else {})
                self._waiting.put(_key(each["id"]), request)
            elif method == CANCELLED and isinstance(params, dict):
                # No answer will come.
                self._waiting.pop(_key(params.get("requestId")))

    def read(self, raw: bytes) -> Message:
        """What a message of the server answers."""
        text, document = _parsed(raw)
        replies, tools = [], list[Mapping[str, Any]]()
        for path, each in _objects(document):
            if "method" in each or "id" not in each:
                continue
            request = self._waiting.pop(_key(each["id"]))
            result = each.get("result")
            if request is None:
                continue
            if request.method == CALL:
                is_result = isinstance(result, dict)
                replies.append(CallReply(path, request, result if is_result else None, each.get("error")))
            elif isinstance(result, dict) and isinstance(result.get("tools"), list):
                tools += [tool for tool in result["tools"] if isinstance(tool, dict)]
        for tool in tools:
            self._declares.put(str(tool.get("name")), tool.get("outputSchema") is not None)
        return Message(raw, text, tuple(replies), tuple(tools))

    def declares_shape(self, tool: str) -> bool:
        """Whether the tool declares the shape of its structured content; one that was not listed may do so."""
        return self._declares.get(tool) is not False


def _parsed(raw: bytes) -> tuple[str, Any]:
    """A message as text and as a value; nothing if it cannot be read, since that is no matter of the proxy."""
    if len(raw) > LONGEST_READ:
        return "", None
    try:
        text = raw.decode()
        return text, json.loads(text)
    except (ValueError, RecursionError):
        return "", None


def _objects(document: Any) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The messages in a document, which is one or, in older versions of the protocol, an array of several."""
    if isinstance(document, dict):
        yield (), document
    elif isinstance(document, list):
        for place, each in enumerate(document):
            if isinstance(each, dict):
                yield (place,), each


def _key(id: Any) -> tuple[str, Any]:
    """The id of a request as a key: 1 and "1" are two."""
    return type(id).__name__, id if isinstance(id, str | int | float) else json.dumps(id)
