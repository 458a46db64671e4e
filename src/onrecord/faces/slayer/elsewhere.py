"""HOW does the client of the semantic layer speak to a server? Its own three routes; what those lack goes by ours."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote

from onrecord.catalog.inspection import as_markdown
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
)
from onrecord.faces.slayer.fields import FORMAT, MAX_RESULTS, PLAIN_ID
from onrecord.model.rules import OrNone, Text, anything
from onrecord.model.shapes import Several, checked_field

_TIMEOUT_S: Final = 30.0
_BY_STATUS: Final[Mapping[int, type[OnRecordError]]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}
#: Sent also where it is left to its default: it says that one list is wanted.
_ONE_LIST: Final = {"max_results": MAX_RESULTS}
#: What the arguments of their methods are called in ours.
_OF_MODEL: Final = {"entity": "name", "entities": "name"}
_ARGUMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "save_memory": {"entities": "linked_entities", "content": "learning", "hint": "description"},
    "inspect_model": {"model": "model_name", "entities": "model_name"},
    "delete_model": _OF_MODEL,
    "delete_datasource": _OF_MODEL,
    "edit_model_remove": {**_OF_MODEL, "parts": "remove"},
}
#: More values of a column are never kept, and no description is longer.
MOST_ROWS: Final = 100
MOST_CHARACTERS: Final = 100_000
#: Of the sections of a model, one that is always there and short.
_SHORT_SECTION: Final = "joins"


def within_limit(cap: Any, most: int) -> Any:
    """A cap may be any number; what is none is left for the request to refuse."""
    return most if isinstance(cap, int) and cap > most else cap


@contextmanager
def said_of(method: str) -> Iterator[None]:
    """What is wrong with a call is said of the arguments that its caller knows."""
    try:
        yield
    except Invalid as problem:
        names = _ARGUMENTS.get(method, {})
        Invalid.__init__(
            problem, [Fault(names.get(each.field, each.field), each.message) for each in problem.faults]
        )
        raise


class Elsewhere:
    """A server that has the routes of the slayer face."""

    def __init__(self, url: str, key: str | None) -> None:
        # Here, not above: a store at hand is used without it.
        import httpx2

        self._url = url.rstrip("/")
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=_TIMEOUT_S)
        self._failures = (httpx2.HTTPError, httpx2.InvalidURL)

    async def call(self, name: str, given: Mapping[str, Any]) -> Any:
        """What the method of this name does with these arguments."""
        match name:
            case "save_memory":
                return await self._post("/memories", given)
            case "forget_memory":
                return await self._send("DELETE", f"/memories/{_segment(_id(given['identifier']))}")
            case "search":
                return await self._post("/search", given)
            case "search_flat":
                return await self._post("/search", _ONE_LIST | dict(given))
        with said_of(name):
            return await (self._inspect(**given) if name == "inspect_model" else self._drop(name, **given))

    async def _inspect(
        self, model_name: str, format: str = "markdown", sections: Any = None, **asked: Any
    ) -> Any:
        checked_field("format", FORMAT, format)
        _check_list("sections", sections)
        # An empty list cannot be sent: left out, it stands for every section.
        asked["sections"] = sections if sections is None or sections else [_SHORT_SECTION]
        for name, most in (("num_rows", MOST_ROWS), ("descriptions_max_chars", MOST_CHARACTERS)):
            asked[name] = within_limit(asked.get(name), most)
        found = await self._send(
            "GET", f"/v1/models/{_name('model_name', model_name)}", params=_params(asked)
        )
        if sections is not None and not sections:
            bare = {name: told for name, told in found["sections"].items() if name != _SHORT_SECTION}
            found = {"sections": bare, "markdown": as_markdown(bare)}
        return found["markdown" if format == "markdown" else "sections"]

    async def _drop(
        self, method: str, name: str, data_source: str | None = None, remove: Any = None
    ) -> dict[str, Any]:
        kind = "datasource" if method == "delete_datasource" else "model"
        asked: dict[str, Any] = {"kind": kind, "data_source": data_source}
        if method == "edit_model_remove":
            _check_list("remove", remove)
            asked["parts"] = remove if remove is not None else []
        dropped = await self._send("DELETE", f"/v1/entities/{_name('name', name)}", params=_params(asked))
        told = {"stripped_memories": dropped["stripped"]}
        if method != "edit_model_remove":
            return {"deleted": dropped["entity"], **told}
        removed = [f"{dropped['entity']}.{part.strip()}" for part in dict.fromkeys(remove)]
        return {"model": dropped["entity"], "removed": removed, **told}

    async def _post(self, path: str, given: Mapping[str, Any]) -> Any:
        try:
            body = json.dumps(given, default=_plain).encode()
        except (TypeError, ValueError) as problem:
            raise Invalid([Fault("arguments", f"cannot be sent as JSON: {problem}")]) from None
        return await self._send("POST", path, content=body, headers={"Content-Type": "application/json"})

    async def _send(self, method: str, path: str, **sent: Any) -> Any:
        try:
            response = await self._http.request(method, path, **sent)
            told = response.json()
        except self._failures as problem:
            raise StoreUnavailable(f"No answer from {self._url}: {problem}.") from None
        except ValueError:
            raise self._stranger(response.status_code) from None
        if response.is_success:
            return told
        raise self._error(response.status_code, told, response.headers.get("retry-after", "1"))

    def _error(self, status: int, told: Any, retry_after: str) -> OnRecordError:
        if not isinstance(told, dict) or not isinstance(told.get("detail"), str):
            return self._stranger(status)
        detail = told["detail"]
        if status == 429:
            return TooMany(int(retry_after) if retry_after.isdigit() else 1)
        if status >= 500:
            return StoreUnavailable(f"{self._url}: {detail}")
        return _BY_STATUS[status](detail) if status in _BY_STATUS else Invalid(_faults(detail))

    def _stranger(self, status: int) -> StoreUnavailable:
        return StoreUnavailable(
            f"What answers at {self._url} does not speak as the slayer face does (status {status}); check the address."
        )

    async def close(self) -> None:
        await self._http.aclose()


def _plain(value: object) -> Any:
    if isinstance(value, ModelQuery):
        return to_json(value)
    raise TypeError(f"{type(value).__name__} is not part of it")


def _faults(detail: str) -> list[Fault]:
    """A fault for each line, as they were written there."""
    parts = [line.partition(": ") for line in detail.splitlines()]
    return [Fault(field, message) if colon else Fault("request", field) for field, colon, message in parts]


def _params(asked: Mapping[str, Any]) -> dict[str, Any]:
    # Left out, a list stands for everything: an empty one must not be.
    if empty := [name for name, value in asked.items() if isinstance(value, list | tuple) and not value]:
        raise Invalid([Fault(name, "must not be empty") for name in empty])
    return {name: value for name, value in asked.items() if value is not None}


def _id(given: object) -> str:
    return str(checked_field("id", PLAIN_ID, given))


def _name(argument: str, given: object) -> str:
    """A name as one part of a path, which none can be that is empty."""
    return _segment(checked_field(argument, Text(at_least=1), given))


def _check_list(argument: str, given: object) -> None:
    """A text would be sent as a list of one."""
    checked_field(argument, OrNone(Several(anything)), given)


def _segment(text: str) -> str:
    """One part of a path, also if it would be read as a step up."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")
