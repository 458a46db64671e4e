"""HOW long do we wait for a silent server? A little longer than its statement may take; then we close the connection.

A server normally ends a slow statement itself. A server that is frozen or unreachable does not, and without a limit of
our own the waiting thread would never return.
"""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from sqlalchemy import Connection

#: How much longer than the statement may take we wait: the error of the server needs time to arrive.
GRACE_S: Final = 5.0


class PatientConnection(psycopg.Connection[Any]):
    """A connection that closes itself if a call gets no answer within `patience` seconds; None waits for ever."""

    patience: float | None = None

    def wait(self, gen: Any, *given: Any, **named: Any) -> Any:
        return super().wait(
            gen if self.patience is None else self._patient(gen, self.patience), *given, **named
        )

    def _patient(self, gen: Any, seconds: float) -> Generator[Any, Any, Any]:
        """Run the generator of the driver, which yields several times a second even while nothing arrives."""
        deadline = time.monotonic() + seconds
        try:
            wants = next(gen)
            while True:
                ready = yield wants
                if not ready and time.monotonic() > deadline:
                    # The statement cannot be ended from here; the connection can be closed.
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"it has not answered for {seconds:g} seconds")
                wants = gen.send(ready)
        except StopIteration as end:
            return end.value


def connect(dialect: Any, record: Any, given: list[Any], named: dict[str, Any]) -> PatientConnection:
    """Make a connection; SQLAlchemy calls this for its event `do_connect`."""
    return PatientConnection.connect(*given, **named)


def be_patient(connection: Connection, seconds: int) -> None:
    """Wait `seconds` and GRACE_S for each statement; 0 waits for ever."""
    _line(connection).patience = seconds + GRACE_S if seconds else None


@contextmanager
def unhurried(connection: Connection) -> Iterator[Connection]:
    """Wait without limit inside the block, for statements that take longer the larger the tables are."""
    line = _line(connection)
    before, line.patience = line.patience, None
    try:
        yield connection
    finally:
        line.patience = before


def _line(connection: Connection) -> PatientConnection:
    line: Any = connection.connection.driver_connection
    assert isinstance(line, PatientConnection)
    return line
