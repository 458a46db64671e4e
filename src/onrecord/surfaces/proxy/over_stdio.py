"""HOW does the proxy stand before a server that its host starts? It starts the server itself, and passes on the lines."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

from onrecord.errors import invalid
from onrecord.surfaces.forced_exit import end_within
from onrecord.surfaces.proxy.relay import Relay
from onrecord.surfaces.proxy.session import LONGEST_READ, Message, Session

_CHUNK: Final = 64 * 1024
#: How long the server has to end once its output is closed, and then after it got the signal to end.
_ENDS_S: Final = 5.0


def proxy_stdio(command: Sequence[str], relay: Relay, session: Session) -> int:
    """Start the server, pass on what comes and goes until one side ends; the exit code of the server."""
    ending = _Ending()
    try:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as problem:
        raise invalid("COMMAND", f"cannot be started: {problem.strerror}: {command[0]}") from None
    ending.ends(server)
    threading.Thread(target=_pass_input, args=(server, session), name="proxy-input", daemon=True).start()
    try:
        asyncio.run(_pass_output(server, relay, session))
    finally:
        _end(server)
    code = server.returncode
    if ending.has_begun:
        return 0
    # As a shell says it of a process that a signal ended.
    return code if code >= 0 else 128 - code


class _Ending:
    """A signal to end goes to the server, whose end is ours. Signals are heard from before the server starts."""

    def __init__(self) -> None:
        self.has_begun = False
        self._server: subprocess.Popen[bytes] | None = None
        for each in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, each):
                signal.signal(getattr(signal, each), self._pass_on)

    def ends(self, server: "subprocess.Popen[bytes]") -> None:
        """Name the server; one that starts too late ends at once."""
        self._server = server
        if self.has_begun:
            server.terminate()

    def _pass_on(self, *_: Any) -> None:
        if not self.has_begun:
            self.has_begun = True
            forced = threading.Timer(_ENDS_S, self._force)
            forced.daemon = True
            forced.start()
        if self._server is not None:
            self._server.terminate()

    def _force(self) -> None:
        if self._server is not None:
            self._server.kill()
        # Another process may hold the server's output, and would keep us for ever.
        end_within(0)


def _pass_input(server: "subprocess.Popen[bytes]", session: Session) -> None:
    """From the client to the server. What is asked is noted first, since the answer may come at once."""
    assert server.stdin is not None
    try:
        for line in _lines(sys.stdin.fileno()):
            session.note_sent(line)
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()
    except OSError:
        # The server has ended; its output says so, too.
        return


async def _pass_output(server: "subprocess.Popen[bytes]", relay: Relay, session: Session) -> None:
    """From the server to the client. An answer that is looked up holds up no other message."""
    assert server.stdout is not None
    output = _Output(sys.stdout.fileno())
    lines = _lines(server.stdout.fileno())
    under_way: set[asyncio.Task[None]] = set()

    async def pass_on(message: Message) -> None:
        passed = await relay.passed_on(session, message)
        await asyncio.to_thread(output.write, passed)

    is_whole = True
    while not output.is_closed and (line := await asyncio.to_thread(next, lines, None)) is not None:
        begins, is_whole = is_whole, line.endswith(b"\n")
        message = session.read(line) if begins and is_whole else Message(line)
        if message.replies or message.tools:
            task = asyncio.create_task(pass_on(message))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
            continue
        if under_way and not is_whole:
            # No other message may come between the pieces of a line, or after one that does not end.
            await asyncio.wait(under_way)
        await asyncio.to_thread(output.write, line)
    if under_way:
        await asyncio.wait(under_way)


class _Output:
    """Our standard output, on which messages are written whole, one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lock = descriptor, threading.Lock()
        #: Whether the client has gone.
        self.is_closed = False

    def write(self, message: bytes) -> None:
        with self._lock:
            left = memoryview(message)
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                self.is_closed = True


def _lines(descriptor: int) -> Iterator[bytes]:
    """Lines as they come; one that is longer than any that is read, in pieces."""
    begun = bytearray()
    while chunk := os.read(descriptor, _CHUNK):
        searched = len(begun)
        begun += chunk
        while (end := begun.find(b"\n", searched)) >= 0:
            yield bytes(begun[: end + 1])
            del begun[: end + 1]
            searched = 0
        if len(begun) > LONGEST_READ:
            yield bytes(begun)
            begun.clear()
    if begun:
        yield bytes(begun)


def _end(server: "subprocess.Popen[bytes]") -> None:
    """Wait until the server has ended; if it does not, tell it to, and then force it."""
    for force in (server.terminate, server.kill):
        try:
            server.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            force()
    server.wait()
