"""HOW long is a server waited for that says nothing? As long as its statement may take, and a little.

The server ends a statement that takes too long by itself. One that is stopped, or cut off where the system still answers
for it, does not: without an end of ours the thread that waits would wait for ever, and its place with it.
"""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from sqlalchemy import Connection

#: For the way there and back, after the server has ended a statement.
GRACE_S: Final = 5.0


class PatientConnection(psycopg.Connection[Any]):
    """A line that is given up when nothing has come over it for `patience` seconds; None waits for ever."""

    patience: float | None = None

    def wait(self, gen: Any, *given: Any, **named: Any) -> Any:
        return super().wait(
            gen if self.patience is None else self._patient(gen, self.patience), *given, **named
        )

    def _patient(self, gen: Any, seconds: float) -> Generator[Any, Any, Any]:
        """The driver looks up many times a second, also while nothing comes."""
        deadline = time.monotonic() + seconds
        try:
            wants = next(gen)
            while True:
                ready = yield wants
                if not ready and time.monotonic() > deadline:
                    # What is under way on it cannot be ended, only left.
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"it has said nothing for {seconds:g} seconds")
                wants = gen.send(ready)
        except StopIteration as end:
            return end.value


def connect(dialect: Any, record: Any, given: list[Any], named: dict[str, Any]) -> PatientConnection:
    """For the event of SQLAlchemy that makes a connection."""
    return PatientConnection.connect(*given, **named)


def be_patient(connection: Connection, seconds: int) -> None:
    """Wait so long for each statement, and a little; 0 is for ever."""
    _line(connection).patience = seconds + GRACE_S if seconds else None


@contextmanager
def unhurried(connection: Connection) -> Iterator[Connection]:
    """For what takes as long as the tables are large."""
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
