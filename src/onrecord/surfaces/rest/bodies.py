"""WHAT was sent? Bytes within bounds, and the JSON object in them."""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from onrecord.surfaces.rest.problems import TOO_LARGE, UNREADABLE, WRONG_TYPE, Refusal

#: Room for the largest artifact in base64 and the JSON around it.
BODY_BYTES: Final = 2 * 1024 * 1024
#: The request object, a field with JSON of the allowed depth, and one level more, so that the rule sees what is too deep.
JSON_DEPTH: Final = 40
_JSON_TYPE: Final = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.I)


async def read_body(request: Request, most: int = BODY_BYTES) -> bytes:
    """The whole body; too large if it says so or turns out to be."""
    parts = [part async for part in chunks(request, most)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def chunks(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body as it arrives; too large if it says so or turns out to be."""
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length[:20]) > most:
        raise _too_large(most)
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise _too_large(most)
            if part:
                yield part
    except ClientDisconnect:
        raise Refusal(UNREADABLE, "The connection ended before the body did.") from None


def _too_large(most: int) -> Refusal:
    return Refusal(
        TOO_LARGE,
        f"A body has at most {most:,} bytes here. Send less at once.",
        # The rest of the body would follow on this connection.
        {"connection": "close"},
    )


def read_object(headers: Headers, body: bytes) -> dict[str, Any]:
    """The JSON object in a body; without a body, an empty one."""
    if not body:
        return {}
    kind = headers.get("content-type", "")
    if not _JSON_TYPE.fullmatch(kind.strip()):
        sent = f"{kind[:80]!a} was sent" if kind else "no content type was sent"
        raise Refusal(WRONG_TYPE, f"Send JSON, and say so with Content-Type: application/json; {sent}.")
    value = _parsed(body)
    if not isinstance(value, dict):
        raise Refusal(UNREADABLE, "The body must be a JSON object with the fields of the request.")
    return value


def _parsed(body: bytes) -> Any:
    try:
        value = json.loads(
            body.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_no_constant
        )
    except UnicodeDecodeError as problem:
        raise Refusal(
            UNREADABLE, f"The body is not UTF-8: {problem.reason} at byte {problem.start}."
        ) from None
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise Refusal(UNREADABLE, f"The body is not JSON: {problem.msg} at {where}.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as problem:
        raise Refusal(UNREADABLE, f"The body cannot be read as JSON: {problem}.") from None
    # With few brackets the nesting cannot be deep, so most bodies need no further check.
    if body.count(b"[") + body.count(b"{") > JSON_DEPTH and _is_deep(value):
        raise _too_deep()
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name, count in times.items() if count > 1)
        raise ValueError(f"{twice[:80]!a} appears twice in one object")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(JSON_DEPTH):
        level = [
            item
            for each in level
            for item in (each.values() if isinstance(each, dict) else each)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def _too_deep() -> Refusal:
    return Refusal(UNREADABLE, f"The body is nested deeper than {JSON_DEPTH} levels.")
