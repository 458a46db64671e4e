"""A server to ask, and lines on which things go wrong."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from ..surfaces.conftest import Served, served, server

__all__ = ["Served", "served", "server"]

#: What a line does with a request: passes it on, loses what came back, is cut before anything arrives, or says this.
Step = str | bytes


def received(line: socket.socket) -> bytes:
    """One whole request."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = line.recv(65_536)
        if not part:
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [each for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:")]
    wanted = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < wanted:
        body += line.recv(65_536)
    return head + b"\r\n\r\n" + body


class Line:
    """Stands between a client and a server, and goes through its steps, one for each request; then it passes all on."""

    def __init__(self, port: int, steps: Sequence[Step]) -> None:
        self._port, self._steps = port, list(steps)
        self.requests: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            with line:
                request = received(line)
                if not request:
                    continue
                self.requests.append(request)
                step = self._steps.pop(0) if self._steps else "pass"
                if step == "cut":
                    continue
                answer = step if isinstance(step, bytes) else self._passed_on(request)
                if step != "lose":
                    line.sendall(answer)

    def _passed_on(self, request: bytes) -> bytes:
        head, _, body = request.partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        kept = [each for each in headers if not each.lower().startswith((b"host:", b"connection:"))]
        kept += [f"Host: 127.0.0.1:{self._port}".encode(), b"Connection: close"]
        with socket.create_connection(("127.0.0.1", self._port)) as there:
            there.sendall(b"\r\n".join([first, *kept]) + b"\r\n\r\n" + body)
            answer = b""
            while part := there.recv(65_536):
                answer += part
        return answer

    def stop(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


@pytest.fixture
def line(server: Served) -> Iterator[Callable[..., Line]]:
    """Lines to the server that do as they are told first."""
    lines: list[Line] = []

    def lay(*steps: Step) -> Line:
        lines.append(Line(server.port, steps))
        return lines[-1]

    yield lay
    for each in lines:
        each.stop()
