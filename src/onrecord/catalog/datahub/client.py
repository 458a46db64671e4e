"""HOW is DataHub asked? One document at a time over HTTP, within limits of size and time, and again if that is harmless.

A query is repeated when the server is busy, failing or silent. A mutation is sent again only if it certainly was not
executed: otherwise someone else may have changed the value meanwhile. An answer with any error is rejected whole, so
that an unread value never counts as empty.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from onrecord.errors import CatalogUnavailable
from onrecord.model.service_address import ServiceAddress
from onrecord.providers.quoting import quoted

if TYPE_CHECKING:
    import httpx2

#: How much of an answer is read.
ANSWER_BYTES: Final = 8 * 1024 * 1024
TRIES: Final = 4
#: How long the first pause before another try is, in seconds; each further one is twice as long.
FIRST_PAUSE_S: float = 0.5
#: The longest pause that a busy server is granted.
LONGEST_PAUSE_S: Final = 20.0
_PATH: Final = "/api/graphql"
_MOST_ERRORS: Final = 3


class IncompleteAnswer(CatalogUnavailable):
    """DataHub's answer lacks what was asked for; a smaller request may succeed."""


class Refused(IncompleteAnswer):
    """The answer is an error, or holds one."""


class _Failure(NamedTuple):
    """Why there is no answer, whether the request may have been taken up, and when to try again."""

    error: CatalogUnavailable
    may_be_done: bool
    pause_s: float | None = None


class DatahubClient:
    """A line to one DataHub, to be closed after use. It follows no redirect: the token is for this address alone."""

    def __init__(self, address: ServiceAddress) -> None:
        try:
            import httpx2
        except ModuleNotFoundError:
            raise CatalogUnavailable(
                "DataHub needs one more package: pip install 'onrecord[client]'."
            ) from None
        self._httpx = httpx2
        self._address = address
        self._url = address.url if address.url.endswith("graphql") else address.url + _PATH
        # Uncompressed, since a short compressed answer may unpack to any size.
        headers = {"Accept-Encoding": "identity"}
        if address.token:
            headers["Authorization"] = f"Bearer {address.token}"
        # Certificates take a while to load, and a plain address has none.
        is_secure = address.url.startswith("https:")
        self._http = httpx2.Client(timeout=address.timeout_s, headers=headers, verify=is_secure)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def read(self, document: str, **variables: Any) -> Mapping[str, Any]:
        """The result of a query; CatalogUnavailable if any of it could not be read."""
        return self._asked(document, variables, changes=False)

    def change(self, document: str, **variables: Any) -> Mapping[str, Any]:
        """The answer of a mutation. If this raises, the mutation may still have been executed, wholly or in part."""
        return self._asked(document, variables, changes=True)

    def _asked(self, document: str, variables: Mapping[str, Any], *, changes: bool) -> Mapping[str, Any]:
        # A change that takes long must not be done after someone has taken it to be left.
        deadline = time.monotonic() + self._address.timeout_s * (1 if changes else 2)
        for number in range(1, TRIES + 1):
            answer = self._answer({"query": document, "variables": variables})
            if not isinstance(answer, _Failure):
                return answer
            pause = _pause(number, answer.pause_s)
            is_late = time.monotonic() + pause > deadline
            if number == TRIES or is_late or pause > LONGEST_PAUSE_S or (changes and answer.may_be_done):
                raise answer.error
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _answer(self, sent: Mapping[str, Any]) -> Mapping[str, Any] | _Failure:
        """One try: what was answered, or a failure after which another try may help. Other failures are raised."""
        httpx = self._httpx
        try:
            with self._http.stream("POST", self._url, json=sent) as response:
                body = self._body(response)
        except httpx.ConnectError:
            return _Failure(
                self._failed("cannot be reached", "Is it running, and is `datahub_url` its address?"), False
            )
        except httpx.TimeoutException as problem:
            is_sent = not isinstance(problem, httpx.ConnectTimeout | httpx.PoolTimeout)
            return _Failure(self._too_late(), is_sent)
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            # Without the message, which may quote the request.
            return _Failure(self._failed(f"broke off its answer ({type(problem).__name__})"), True)
        if response.status_code == 429 or response.status_code >= 500:
            return self._busy(response, body)
        if not response.is_success:
            raise self._turned_away(response.status_code, body)
        return self._understood(body)

    def _body(self, response: httpx2.Response) -> bytes:
        """The body of an answer. Each part has a time limit, and so has the whole; both raise."""
        deadline = time.monotonic() + self._address.timeout_s
        parts, size = [], 0
        for part in response.iter_raw():
            parts.append(part)
            size += len(part)
            if size > ANSWER_BYTES:
                raise IncompleteAnswer(
                    self._sentence(
                        f"sent more than the {ANSWER_BYTES:,} bytes that are accepted as one answer"
                    )
                )
            if time.monotonic() > deadline:
                raise self._httpx.ReadTimeout("the whole answer took too long")
        return b"".join(parts)

    def _understood(self, body: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise self._failed("answered with something other than JSON", _IS_IT_THE_ADDRESS) from None
        if isinstance(answer, dict) and answer.get("errors"):
            raise Refused(self._sentence(f"refused: {self._error_text(answer['errors'])}"))
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, dict):
            raise self._failed("answered with something other than GraphQL", _IS_IT_THE_ADDRESS)
        return data

    def _error_text(self, errors: Any) -> str:
        listed = errors if isinstance(errors, list) else [errors]
        words = [each.get("message") if isinstance(each, dict) else each for each in listed[:_MOST_ERRORS]]
        return quoted("; ".join(map(str, filter(None, words))) or "it does not say why", self._address.token)

    def _busy(self, response: httpx2.Response, body: bytes) -> _Failure:
        status = response.status_code
        pause = _asked_pause(response.headers.get("retry-after"))
        if status != 429:
            return _Failure(self._failed(f"failed (HTTP {status}{self._excuse(body)})"), True, pause)
        wait = f"Ask again in {pause:g} s." if pause else "Wait, or ask for less at a time."
        return _Failure(self._failed("gets too many requests (HTTP 429)", wait), False, pause)

    def _turned_away(self, status: int, body: bytes) -> CatalogUnavailable:
        what, remedy = _REFUSALS.get(status, ("refused", _IS_IT_THE_ADDRESS))
        return self._failed(f"{what} (HTTP {status}{self._excuse(body)})", remedy)

    def _excuse(self, body: bytes) -> str:
        excerpt = quoted(body[:2_000].decode(errors="replace"), self._address.token)
        return f": {excerpt}" if excerpt else ""

    def _too_late(self) -> CatalogUnavailable:
        return self._failed(
            f"did not answer within {self._address.timeout_s:g} s", "Allow it more with `datahub_timeout`."
        )

    def _failed(self, what: str, remedy: str = "") -> CatalogUnavailable:
        return CatalogUnavailable(" ".join(filter(None, (self._sentence(what), remedy))))

    def _sentence(self, what: str) -> str:
        return f"DataHub at {self._address.url} {what}."


_IS_IT_THE_ADDRESS: Final = (
    "Is `datahub_url` the address of DataHub's metadata service, or of its /api/graphql?"
)
_REFUSALS: Final = {
    401: ("does not accept the token", "Check `datahub_token`."),
    403: ("does not allow this token to do that", "Check what `datahub_token` may do there."),
    404: ("is not at this address", _IS_IT_THE_ADDRESS),
}


def _pause(number: int, asked: float | None) -> float:
    """How long to wait after so many tries; not the same for all who were turned away at once."""
    grown: float = FIRST_PAUSE_S * 2 ** (number - 1) * random.uniform(0.5, 1.5)
    return max(asked, grown) if asked is not None else min(grown, LONGEST_PAUSE_S)


def _asked_pause(header: str | None) -> float | None:
    """The seconds that a server asks to wait: a number, or a date."""
    if header is None:
        return None
    try:
        if header.strip().isdigit():
            return float(header)
        return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None
