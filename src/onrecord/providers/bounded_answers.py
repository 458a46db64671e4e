"""HOW MUCH may a service answer? A limited number of bytes, counted while they arrive and before anything parses them."""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

#: Far more than the JSON of all vectors of one request.
ANSWER_BYTES: Final = 32 * 1024 * 1024


_OF_THIS_MACHINE: Final = ("all://localhost", "all://127.0.0.1", "all://[::1]")


class TooMuch(Exception):
    """The answer is longer than we read, or compressed."""


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


def bounded_client(most: int | None = None, *, follows: bool = True) -> httpx2.AsyncClient:
    """A client that stops reading an answer that is too long or compressed. It follows redirections unless what is sent is
    for one address alone. Services on this machine are asked directly, also where a proxy is set for all others.
    """

    async def count(answer: httpx2.Response) -> None:
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            # A short compressed answer may unpack to any size, and we asked for none.
            raise TooMuch
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        answer.stream = _Counted(answer.stream, ANSWER_BYTES if most is None else most)

    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [count]},
        follow_redirects=follows,
        mounts=dict.fromkeys(_OF_THIS_MACHINE),
    )


def is_too_much(problem: BaseException | None) -> bool:
    """Whether TooMuch is the cause of this error, which a client library may have wrapped in its own."""
    while problem is not None and not isinstance(problem, TooMuch):
        problem = problem.__cause__
    return problem is not None
