"""HOW does the client of the semantic layer speak to a server? By its own three routes; all other calls go
through our own client.
"""

import asyncio
import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from onrecord.catalog.queries import ModelQuery, to_json
from onrecord.errors import (
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    OnRecordError,
    StoreUnavailable,
    TooMany,
    Unauthenticated,
    invalid,
)
from onrecord.faces.slayer.errors import said_of
from onrecord.faces.slayer.fields import MAX_RESULTS, PLAIN_ID
from onrecord.model.shapes import checked_field

if TYPE_CHECKING:
    from onrecord.client import Client

_TIMEOUT_S: Final = 30.0
_BY_STATUS: Final[Mapping[int, type[OnRecordError]]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}
_ROUTES: Final = ("save_memory", "forget_memory", "search", "search_flat")
#: Sent even if it is the default: it asks the server for one list.
_ONE_LIST: Final = {"max_results": MAX_RESULTS}


class RemoteServer:
    """A server that has the routes of the slayer face."""

    def __init__(self, url: str, key: str | None) -> None:
        # Imported here and not above: a client that uses a store directly does not need it.
        import httpx2

        self._url, self._key = url.rstrip("/"), key
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=_TIMEOUT_S)
        self._failures = (httpx2.HTTPError, httpx2.InvalidURL)

    @cached_property
    def door(self) -> "Client":
        """Our own client for the same server, which has every operation."""
        from onrecord.client import connect

        return connect(self._url, key=self._key)

    def has_route(self, name: str) -> bool:
        return name in _ROUTES

    async def call(self, name: str, given: Mapping[str, Any]) -> Any:
        """Call the method of this name on the server, with these arguments."""
        with said_of(name):
            return await self._call(name, given)

    async def _call(self, name: str, given: Mapping[str, Any]) -> Any:
        match name:
            case "save_memory":
                return await self._post("/memories", given)
            case "forget_memory":
                return await self._send("DELETE", f"/memories/{_segment(_id(given['identifier']))}")
            case "search":
                return await self._post("/search", given)
            case _:
                return await self._post("/search", _ONE_LIST | dict(given))

    async def _post(self, path: str, given: Mapping[str, Any]) -> Any:
        try:
            body = json.dumps(given, default=_plain).encode()
        except (TypeError, ValueError) as problem:
            raise invalid("arguments", f"cannot be sent as JSON: {problem}") from None
        return await self._send("POST", path, content=body, headers={"Content-Type": "application/json"})

    async def _send(self, method: str, path: str, **sent: Any) -> Any:
        try:
            response = await self._http.request(method, path, **sent)
            answer = response.json()
        except self._failures as problem:
            raise StoreUnavailable(f"No answer from {self._url}: {problem}.") from None
        except ValueError:
            raise self._stranger(response.status_code) from None
        if response.is_success:
            return answer
        raise self._error(response.status_code, answer, response.headers.get("retry-after", "1"))

    def _error(self, status: int, answer: Any, retry_after: str) -> OnRecordError:
        if not isinstance(answer, dict) or not isinstance(answer.get("detail"), str):
            return self._stranger(status)
        detail = answer["detail"]
        if status == 429:
            return TooMany(int(retry_after) if retry_after.isdigit() else 1)
        if status >= 500:
            return StoreUnavailable(f"{self._url}: {detail}")
        return _BY_STATUS[status](detail) if status in _BY_STATUS else Invalid(_faults(detail))

    def _stranger(self, status: int) -> StoreUnavailable:
        return StoreUnavailable(
            f"The server at {self._url} does not have the routes of the slayer face (status {status}); check the address."
        )

    async def close(self) -> None:
        await self._http.aclose()
        if "door" in vars(self):
            await asyncio.to_thread(self.door.close)


def _plain(value: object) -> Any:
    if isinstance(value, ModelQuery):
        return to_json(value)
    raise TypeError(f"{type(value).__name__} is not part of it")


def _faults(detail: str) -> list[Fault]:
    """One fault for each line `field: message`, as the server wrote it."""
    parts = [line.partition(": ") for line in detail.splitlines()]
    return [Fault(field, message) if colon else Fault("request", field) for field, colon, message in parts]


def _id(given: object) -> str:
    return str(checked_field("id", PLAIN_ID, given))


def _segment(text: str) -> str:
    """One part of a path, escaped; also `.` and `..`, which would be read as steps in the path."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")
