"""HOW MUCH may a service answer? So many bytes, counted as they come and before anyone reads them as something."""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

#: Far more than the vectors of one request take, written out.
ANSWER_BYTES: Final = 32 * 1024 * 1024


class TooMuch(Exception):
    """More came than was asked for."""


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._left = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise TooMuch
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _count(answer: httpx2.Response) -> None:
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        # A few bytes that are packed may be any number that are not; nobody asked for them.
        raise TooMuch
    assert isinstance(answer.stream, httpx2.AsyncByteStream)
    answer.stream = _Counted(answer.stream, ANSWER_BYTES)


def bounded_client() -> httpx2.AsyncClient:
    """A client for a service that is believed in nothing."""
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity"}, event_hooks={"response": [_count]}, follow_redirects=True
    )


def is_too_much(problem: BaseException | None) -> bool:
    """Whether that is what a client library has made something else of."""
    while problem is not None and not isinstance(problem, TooMuch):
        problem = problem.__cause__
    return problem is not None
