"""HOW is a server reached? Its address and the credentials are checked once; errors on the way get our own words."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import httpx2

from onrecord.access.identity import CONVERSATION, RUN
from onrecord.client.answering import ConnectionFailure
from onrecord.errors import invalid
from onrecord.model.conversation_names import CONVERSATION as A_CONVERSATION
from onrecord.model.rules import NAME

#: For what goes through a whole store.
SLOW_S: Final = 600.0
_KEY: Final = re.compile(r"[A-Za-z0-9._~+/=-]+")


def read_address(url: str) -> str:
    """The address without a slash at its end; Invalid unless it names a server and nothing else."""
    try:
        there = urlsplit(url)
        host, _ = there.hostname, there.port
    except (ValueError, AttributeError):
        raise invalid("url", "cannot be read as an address such as http://127.0.0.1:8321") from None
    if there.scheme not in ("http", "https") or not host:
        raise invalid("url", "must be the address of a server, such as http://127.0.0.1:8321")
    if there.username or there.password:
        raise invalid("url", "must not hold a name or a password; give a key with key=")
    if there.query or there.fragment:
        raise invalid("url", "must not have a query or a fragment")
    return url.rstrip("/")


def credentials(key: str | None) -> dict[str, str]:
    if key is None:
        return {}
    if not _KEY.fullmatch(key):
        # The key itself is not for an error message.
        raise invalid("key", "must be a key or a token, without white space")
    return {"Authorization": f"Bearer {key}"}


def narrowing(conversation: str | None, run: str | None) -> dict[str, bytes]:
    """The headers that narrow the caller, as UTF-8."""
    headers: dict[str, bytes] = {}
    for field, header, rule, name in (
        ("conversation", CONVERSATION, A_CONVERSATION, conversation),
        ("run", RUN, NAME, run),
    ):
        if name is not None:
            try:
                headers[header] = rule(name).encode()
            except ValueError as reason:
                raise invalid(field, str(reason)) from None
    return headers


def is_passing(problem: httpx2.RequestError) -> bool:
    """Whether the connection broke, which may be a single event; after a timeout we do not ask again."""
    return isinstance(problem, httpx2.NetworkError | httpx2.RemoteProtocolError | httpx2.ConnectTimeout)


def lost(problem: httpx2.RequestError, timeout_s: float) -> ConnectionFailure:
    was_sent = not isinstance(problem, httpx2.ConnectError | httpx2.ConnectTimeout)
    if isinstance(problem, httpx2.TimeoutException):
        return ConnectionFailure(f"it did not answer within {timeout_s:g} s", is_passing(problem), was_sent)
    reason = str(problem).rstrip(".") or type(problem).__name__
    return ConnectionFailure(reason, is_passing(problem), was_sent)


def together(*headers: Mapping[str, str] | Mapping[str, bytes]) -> list[tuple[bytes, bytes]]:
    return [
        (name.encode(), value if isinstance(value, bytes) else value.encode())
        for each in headers
        for name, value in each.items()
    ]
