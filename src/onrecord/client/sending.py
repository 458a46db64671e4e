"""WHAT is sent for a call? The route of its operation, with its fields in the path, the query or the body."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

from onrecord.catalog.mentions import beginning
from onrecord.errors import Fault, Forbidden, Invalid, invalid
from onrecord.model.request import Request, request_fields
from onrecord.model.rules import Document
from onrecord.model.shapes import faults_at
from onrecord.model.unset import Unset
from onrecord.model.wire import to_json
from onrecord.operation import Operation, build_request

PREFIX: Final = "/v1"
#: Methods that carry their fields in the query; the others carry a JSON object.
_QUERIED: Final = frozenset({"GET", "DELETE"})
_PARAMETERS: Final = re.compile(r"\{(\w+)\}")
_LINES: Final = "application/jsonl"
_ONCE: Final = "Idempotency-Key"
#: A field that names a file of this machine; over the network the body is the file.
_FILE: Final = "path"
MOVING: Final = frozenset({"export", "import_"})


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One call as an HTTP request, which can be sent again."""

    operation: Operation
    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Path = b""
    into: Path | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice has the same effect as sending it once."""
        return self.operation.effect == "read" or self.operation.name in MOVING or _ONCE in self.headers

    @property
    def is_slow(self) -> bool:
        """Whether it reads a whole store."""
        return self.operation.permission == "memory.admin"


def read_arguments(operation: Operation, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The given fields, clean; Invalid lists every fault that can be found without the store."""
    if len(given) == 1 and isinstance(given[0], operation.request) and not named:
        asked: Request = given[0]
    else:
        asked = build_request(operation.request, given, named)
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for each in request_fields(asked):
        value = getattr(asked, each.name)
        if isinstance(value, Unset):
            continue
        try:
            clean = each.metadata["rule"](value)
            if isinstance(each.metadata["rule"], Document) and clean is not None:
                # A server takes no body of any size, and no value of any depth.
                clean = beginning(clean)
        except ValueError as reason:
            faults += faults_at(each.name, reason)
            continue
        # What has its default is left out, so that a server of another version may have its own.
        if clean != each.default or each.default is MISSING or f"{{{each.name}}}" in (operation.route or ""):
            values[each.name] = clean
    if faults:
        raise Invalid(faults)
    return values


def prepare(operation: Operation, values: Mapping[str, Any], *, file: Path | None = None) -> HttpCall:
    """The request for these fields; `file` is written by an export and read by an import."""
    if operation.route is None:
        raise Forbidden(f"{operation.name} works only at the machine of the store, not over the network.")
    method, _, route = operation.route.partition(" ")
    in_path = _PARAMETERS.findall(route)
    path = PREFIX + _PARAMETERS.sub(lambda name: _segment(values[name[1]]), route)
    rest = {name: value for name, value in values.items() if name not in in_path}
    if operation.name in MOVING:
        return _moving(operation, method, path, rest, file)
    headers = {} if operation.effect == "read" else {_ONCE: uuid4().hex}
    if method in _QUERIED:
        return HttpCall(operation, method, _queried(path, rest), headers)
    if not rest:
        return HttpCall(operation, method, path, headers)
    body = json.dumps(to_json(rest), ensure_ascii=False).encode()
    return HttpCall(operation, method, path, headers | {"Content-Type": "application/json"}, body)


def _moving(
    operation: Operation, method: str, path: str, values: Mapping[str, Any], file: Path | None
) -> HttpCall:
    options = _queried(path, {name: value for name, value in values.items() if name != _FILE})
    if method == "GET":
        return HttpCall(operation, method, options, into=file)
    return HttpCall(operation, method, options, {"Content-Type": _LINES}, file or b"")


def _queried(path: str, values: Mapping[str, Any]) -> str:
    pairs = [(name, text) for name, value in values.items() for text in _texts(name, value)]
    return f"{path}?{urlencode(pairs, quote_via=quote)}" if pairs else path


def _texts(name: str, value: Any) -> Iterator[str]:
    """A value in a query string; a list repeats the name."""
    if not isinstance(value, tuple | list):
        yield _text(value)
    elif value:
        yield from map(_text, value)
    else:
        # In a query string an empty list cannot be distinguished from a list that was left out.
        raise invalid(name, "cannot be an empty list here; leave it out, or name something")


def _text(value: Any) -> str:
    plain = to_json(value)
    match plain:
        case None:
            return ""
        case bool() | dict():
            return json.dumps(plain, ensure_ascii=False)
        case float():
            # Without an exponent.
            return format(Decimal(repr(plain)), "f")
    return str(plain)


def _segment(value: str) -> str:
    """A name as one part of a path, even one that would be read as a step up."""
    return value.replace(".", "%2E") if value in (".", "..") else quote(value, safe="")
