"""HOW long may a sender take, how much may it send before it is known, and who stays when there are too many?

uvicorn reads whatever comes for as long as it comes, and waits without end for a client that does not read its answer.
Here a request is ended if its head or trailer is too large, if it is not sent in time, or if its answer is not read in
time; of too many connections, those without a valid key are closed first.
"""

import asyncio
import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from onrecord.config import Config, read_number
from onrecord.surfaces.forced_exit import shutdown_timeout
from onrecord.surfaces.rest.request_runner import RequestState

#: The request line and the headers; the longest token we take has a quarter of it.
HEAD_BYTES: Final = 64 * 1024
#: A body that comes more slowly than this, in bytes a second, is not meant to arrive, nor is an answer that goes so slowly.
_PACE: Final = 512
_TELL_AGAIN_S: Final = 60.0
_log: Final = logging.getLogger("onrecord.serving")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be at once, and how many seconds a request has to be sent."""

    connections: int
    sent_within_s: float


def server_settings(config: Config) -> dict[str, Any]:
    """The settings of uvicorn, which other processes can use too."""
    limits = ConnectionLimits(
        connections=read_number("connections", config.connections, 1, 1_000_000),
        sent_within_s=request_timeout(config),
    )
    return {
        "http": partial(HttpConnection, limits=limits),
        # What it has to say goes into the lines of our log.
        "log_config": None,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "ws": "none",
        "lifespan": "on",
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": shutdown_timeout(config),
        # Who a request comes from is looked up by ourselves, from the connection.
        "proxy_headers": False,
    }


def request_timeout(config: Config) -> int:
    return read_number("request_timeout", config.request_timeout, 1, 86_400)


class HttpConnection(HttpToolsProtocol):
    """One connection, from the first byte to the last."""

    def __init__(self, *given: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = limits
        self._in_head, self._sent, self._since = True, 0, self.loop.time()
        #: How much came since the last part of a body, or since the request began: heads, trailers, and what frames chunks.
        self._around = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._is_ended = self._was_known = False

    @property
    def is_known(self) -> bool:
        """Whether the client has sent a valid key or token."""
        return self._was_known or self._is_let_in()

    @property
    def waits_for_other_end(self) -> bool:
        """Whether we do nothing on it: no request is being answered, or it is half sent, or its answer is not read."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return is_idle or self._deadline is not None or self.flow.write_paused

    # What uvicorn and its parser call

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_sending()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_ended:
            return
        self._sent += len(data)
        self._around += len(data)
        if self._deadline is None:
            self._begin()
        super().data_received(data)
        # The parser puts a long field together piece by piece, each time anew.
        if self._around > HEAD_BYTES:
            self._end(b"431 Request Header Fields Too Large")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_sending()

    def resume_writing(self) -> None:
        self._stop_sending()
        super().resume_writing()

    def on_header(self, name: bytes, value: bytes) -> None:
        # Blanks around a value are none of it; the parser leaves those at its end.
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        self._in_head, self._around = False, 0
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        has_shown = any(name == b"authorization" for name, _ in self.headers)
        if size > HEAD_BYTES:
            self._end(b"431 Request Header Fields Too Large")
        elif len(self.connections) > self._limits.connections and not (has_shown or self.is_known):
            self._end(b"503 Service Unavailable")
        if not self._is_ended:
            self._begin()
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._around = 0
        if not self._is_ended:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        self._in_head, self._sent, self._around = True, 0, 0
        if not self._is_ended:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self._was_known = self._is_let_in()
        super().on_response_complete()

    def shutdown(self) -> None:
        super().shutdown()
        # It would go on for as long as the client listens, and nobody would wait for less.
        state = self._state()
        if state is not None and state.goes_on:
            self.transport.close()

    # What is ours

    def _is_let_in(self) -> bool:
        """Whether the current request passed with a key or token."""
        state = self._state()
        has_come_in = state is not None and state.door is not None
        return has_come_in and any(name == b"authorization" for name, _ in self.cycle.scope["headers"])

    def _state(self) -> RequestState | None:
        """What is known of the current request."""
        state = None if self.cycle is None else self.cycle.scope.get("onrecord.request")
        return state if isinstance(state, RequestState) else None

    def _begin(self) -> None:
        """Set the time limit: once for the head; for a body again and again, as long as it keeps coming."""
        self._stop_waiting()
        self._sent = self._sent if self._in_head else 0
        self._deadline = self.loop.call_later(self._limits.sent_within_s, self._look)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _look(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        comes = not self._in_head and (
            # It is we who do not read on.
            self.flow.read_paused or self._sent >= _PACE * self._limits.sent_within_s
        )
        if comes:
            self._begin()
        elif self._in_head and not self._sent:
            self.transport.close()
        else:
            self._end(b"408 Request Timeout")

    def _watch_sending(self) -> None:
        """The time limit of an answer begins anew whenever the client reads some of it."""
        self._stop_sending()
        left = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(self._limits.sent_within_s, self._look_at_sending, left)

    def _stop_sending(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _look_at_sending(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() >= _PACE * self._limits.sent_within_s:
            self._watch_sending()
        else:
            # To close it would be to wait until the rest was read.
            self.transport.abort()

    def _end(self, status: bytes) -> None:
        self._is_ended = True
        self._stop_waiting()
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            )
        self.transport.close()

    def _make_room(self) -> None:
        """Close the oldest connection without a valid key on which we wait for the client."""
        _tell_of_crowd(self._limits.connections)
        others = [
            each
            for each in self.connections
            if isinstance(each, HttpConnection)
            and each is not self
            and each.waits_for_other_end
            and not each.is_known
        ]
        if others:
            oldest = min(others, key=lambda each: each._since)
            oldest.transport.abort()
            # It would be counted until the loop comes round to it.
            self.connections.discard(oldest)


class _LastWarning:
    warned_at = float("-inf")


def _tell_of_crowd(most: int) -> None:
    """Warn, but not each time: a flood of connections would also fill the log."""
    if (now := time.monotonic()) - _LastWarning.warned_at >= _TELL_AGAIN_S:
        _LastWarning.warned_at = now
        _log.warning(
            "All %d connections are taken (see the setting connections): those without a key are closed or refused.",
            most,
        )
