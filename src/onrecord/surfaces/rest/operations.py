"""HOW does an operation become a route? A loop over the table; how to read and answer is worked out once, at the
start.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onrecord.errors import Fault, Invalid, invalid
from onrecord.model.limits import DOCUMENT_CHARACTERS
from onrecord.model.request import request_fields
from onrecord.model.rules import Document, Identifier, Integer, ListOf, OrNone, Text
from onrecord.operation import Operation
from onrecord.surfaces.parsing import list_parser, text_parser
from onrecord.surfaces.rest import idempotency
from onrecord.surfaces.rest.bodies import BODY_BYTES, read_body, read_object
from onrecord.surfaces.rest.problems import JSON, NO_METHOD, NO_ROUTE, PRECONDITION, Refusal
from onrecord.surfaces.rest.request_runner import RequestRunner

PREFIX: Final = "/v1"
#: Methods that take their fields from the query; the others take a JSON object.
QUERIED: Final = frozenset({"GET", "DELETE"})
_PARAMETERS: Final = re.compile(r"\{(\w+)\}")
_TAG: Final = re.compile(r'"(?P<version>[0-9]{1,10})(?:\.[0-9a-f]+)?"')
_MOST_PARAMETERS: Final = 1_000
#: Operations that make or end keys; after them keys are looked up again at once.
_OF_KEYS: Final = frozenset({"create_key", "change_key", "revoke_key", "erase_tenant"})
#: Operations whose answer shows a memory; its version is the ETag.
_TAGGED: Final = frozenset({"show", "remember", "revise"})


class OperationHandler:
    """One operation under one method and path."""

    def __init__(self, runner: RequestRunner, operation: Operation) -> None:
        self.operation = operation
        self.method, _, self.path = (operation.route or "").partition(" ")
        self.in_path = path_fields(operation)
        self.has_body = self.method not in QUERIED
        self.is_slow = operation.permission == "memory.admin"
        self.reads = operation.effect == "read"
        self.runner = runner
        rules = {each.name: each.metadata["rule"] for each in request_fields(operation.request)}
        inner = {name: rule.rule if isinstance(rule, OrNone) else rule for name, rule in rules.items()}
        self._whole = frozenset(
            name
            for name, rule in inner.items()
            if isinstance(rule.each if isinstance(rule, ListOf) else rule, Integer | Identifier)
        )
        # The limit of the body grows by the limit of each field that may be large.
        self._most = BODY_BYTES + sum(
            rule.at_most_bytes or 0
            for rule in inner.values()
            if isinstance(rule, Text) and (rule.at_most_bytes or 0) > BODY_BYTES // 4
        )
        # A character takes six bytes where it is escaped.
        self._most += 6 * DOCUMENT_CHARACTERS * sum(isinstance(rule, Document) for rule in inner.values())
        self._one: Mapping[str, Callable[[str], Any]] = {
            name: text_parser(rule) for name, rule in rules.items()
        }
        several = {name: list_parser(rule) for name, rule in rules.items()}
        self._several = {name: read for name, read in several.items() if read is not None}

    async def respond(self, request: Request, send: Send) -> None:
        await self.runner.authenticate_large(request)
        body = await read_body(request, self._most) if self.has_body else b""
        response = await self.runner.run(
            self.answer, request, body, by=request, slow=self.is_slow, reads=self.reads
        )
        await response(request.scope, request.receive, send)

    def answer(self, request: Request, body: bytes) -> Response:
        """The response to one request; runs in a thread."""
        door = self.runner.admit(request)
        values = self.values(request, body)
        key = idempotency.key_in(request.headers)
        # Reads run again: a stored answer could show what the caller may no longer see.
        if key is None or self.operation.effect == "read":
            answered, repeated = idempotency.worded(door.perform(self.operation, **values)), False
        else:
            sent = idempotency.sent(request, body)
            answered, repeated = idempotency.once(self.runner, door, self.operation, key, sent, values)
        if self.operation.name in _OF_KEYS:
            self.runner.authenticator.forget_keys()
        return self.response(request, answered, repeated=repeated)

    def values(self, request: Request, body: bytes) -> dict[str, Any]:
        """The fields of the request, from path, query and body."""
        query, headers = _query(request), request.headers
        if self.has_body:
            values = {
                name: _whole(value) if name in self._whole else value
                for name, value in read_object(headers, body).items()
            }
            if query:
                names = dict.fromkeys(name for name, _ in _pairs(query))
                raise Invalid([Fault(name, "belongs in the JSON body, not in the address") for name in names])
        else:
            values = self._from_query(query)
        for name in self.in_path:
            if name in values:
                raise invalid(name, "is in the path already; leave it out elsewhere")
            values[name] = request.path_params[name]
        if "if-match" in headers:
            self._expect(headers["if-match"], values)
        return values

    def _from_query(self, query: str) -> dict[str, Any]:
        gathered: dict[str, list[str]] = {}
        for name, text in _pairs(query):
            gathered.setdefault(name, []).append(text)
        faults = [
            Fault(name, "was given twice")
            for name, texts in gathered.items()
            if len(texts) > 1 and name not in self._several
        ]
        if faults:
            raise Invalid(faults)
        # Unknown names are left to the operation, which refuses them with a hint.
        return {
            name: self._several[name](texts) if name in self._several else self._one.get(name, str)(texts[0])
            for name, texts in gathered.items()
        }

    def _expect(self, wanted: str, values: dict[str, Any]) -> None:
        """`If-Match` as a field of the request."""
        if "expected_version" not in self._one:
            raise invalid("If-Match", "can only be used to revise a memory")
        if "expected_version" in values:
            raise invalid("expected_version", "is given by If-Match already; send only one of them")
        if wanted.strip() == "*":
            return
        tag = _TAG.fullmatch(wanted.strip())
        if tag is None:
            raise Refusal(PRECONDITION, f'If-Match {wanted[:80]!a} names no version; it looks like "3".')
        values["expected_version"] = int(tag["version"])

    def response(self, request: Request, answer: idempotency.Answer, *, repeated: bool = False) -> Response:
        status, body = answer
        headers = {idempotency.REPLAYED: "true"} if repeated else {}
        if self.operation.name in _TAGGED:
            tag = _tag(body)
            headers |= {"etag": tag, "cache-control": "private, no-cache"}
            if self.method == "GET" and _is_known(request.headers.get("if-none-match"), tag):
                return Response(status_code=304, headers=headers)
        if status == 201 and "memory" in body:
            headers["location"] = f"{PREFIX}/memories/{quote(body['memory']['id'])}"
        if self.method == "GET" and body.get("next"):
            headers["link"] = _next(request, body["next"])
        return Response(json.dumps(body, ensure_ascii=False), status, headers, JSON)


class Endpoint:
    """All methods of one path."""

    def __init__(self, handlers: Sequence[OperationHandler]) -> None:
        self._takes_slashes = any(":path}" in template(each.path, each.operation) for each in handlers)
        self._by_method = {each.method: each for each in handlers}
        self._allowed = ", ".join(
            sorted([*self._by_method, *(["HEAD"] if "GET" in self._by_method else []), "OPTIONS"])
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        handler = self._by_method.get("GET" if request.method == "HEAD" else request.method)
        if not self._is_meant(scope):
            raise Refusal(NO_ROUTE, "There is nothing at this address.")
        allow = {"allow": self._allowed}
        if handler is not None:
            await handler.respond(request, send)
        elif request.method == "OPTIONS":
            await Response(status_code=204, headers=allow)(scope, receive, send)
        else:
            raise Refusal(NO_METHOD, f"Allowed here: {self._allowed}.", allow)

    def _is_meant(self, scope: Scope) -> bool:
        """Whether the path matched as it was sent: no empty name, and no encoded slash that makes it another path."""
        hides = b"%2f" in scope.get("raw_path", b"").lower()
        return all(scope["path_params"].values()) and (self._takes_slashes or not hides)


def path_fields(operation: Operation) -> tuple[str, ...]:
    """The fields in the path."""
    return tuple(_PARAMETERS.findall(operation.route or ""))


def template(path: str, operation: Operation) -> str:
    """The path for the router: a name at its end may contain slashes, an id may not."""
    rules = {each.name: each.metadata["rule"] for each in request_fields(operation.request)}
    last = _PARAMETERS.findall(path)[-1:]
    if last and path.endswith("}") and not isinstance(rules[last[0]], Identifier):
        return path[:-1] + ":path}"
    return path


def _whole(value: Any) -> Any:
    """In JSON, 3.0 is a whole number."""
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _query(request: Request) -> str:
    """The query as it was sent."""
    asked: bytes = request.scope.get("query_string", b"")
    return asked.decode("latin-1")


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS, errors="surrogateescape"
        )
    except ValueError:
        raise invalid("query", f"has more than {_MOST_PARAMETERS} parameters, or cannot be read") from None


def _tag(answer: Any) -> str:
    """The version of a memory; with relations also a hash of the related memories, which change without it."""
    version = answer["memory"]["version"]
    if edges := answer.get("edges"):
        mark = sha256(json.dumps(edges).encode()).hexdigest()[:12]
        return f'"{version}.{mark}"'
    return f'"{version}"'


def _is_known(wanted: str | None, tag: str) -> bool:
    if wanted is None:
        return False
    known = [each.strip().removeprefix("W/") for each in wanted.split(",")]
    return "*" in known or tag in known


def _next(request: Request, mark: str) -> str:
    """The address of the next page: the same question, after this mark."""
    # What was left out lies before the mark.
    query = [pair for pair in _pairs(_query(request)) if pair[0] not in ("after", "skip")]
    asked = urlencode([*query, ("after", mark)], errors="surrogateescape")
    return f'<{quote(request.scope["path"])}?{asked}>; rel="next"'
