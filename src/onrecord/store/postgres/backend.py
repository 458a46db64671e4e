"""HOW is a PostgreSQL database opened, read and written? psycopg 3, no prepared statements, only SET LOCAL."""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    URL,
    Connection,
    Dialect,
    Engine,
    ExceptionContext,
    Select,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import psycopg as psycopg_dialect
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from onrecord.errors import OnRecordError, OutcomeUnknown, StoreUnavailable
from onrecord.store.compiled import compiled_for
from onrecord.store.ports.store import CopyReport
from onrecord.store.postgres import distributing, patience, vectors
from onrecord.store.tables import OF_TENANTS, VERSION_TABLE

# Any number that only our migrations use; it serialises them across pods.
_MIGRATION_LOCK: Final = 7_203_417_911
#: With these the system notices a lost peer after about as long as a statement may take.
_PEER: Final = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_INSUFFICIENT_PRIVILEGE: Final = "42501"
_OUTCOME: Final = text("SELECT txid_status(:number)")
_UNDER_WAY: Final = "in progress"
_ASK_FOR_S: Final = 10
#: How long a forget waits for its vacuum.
_VACUUM_S: Final = 2
_LOOK_AGAIN_S: Final = 0.1
#: Every table that may have held a forgotten memory.
_ERASED_FROM: Final = ", ".join(
    f'"{table.name}"'
    for table in OF_TENANTS
    if table.name not in ("counters", "numbers", "tenant_settings", "advice_usage")
)
_HELD: Final = re.compile(r"([0-9]+) are dead but not yet removable")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How many seconds to wait for a connection, for a statement, and for a lock."""

    connect: int = 10
    statement: int = 60
    lock: int = 60


_USUAL: Final = Timeouts()


class PostgresBackend:
    """A PostgreSQL database, directly or through a pooler in transaction mode."""

    insert = staticmethod(postgresql.insert)
    is_shared = True
    version_table = VERSION_TABLE
    nearest = staticmethod(vectors.nearest)
    similarity = staticmethod(vectors.similarity)
    warm = staticmethod(vectors.warm)
    positional: Dialect = psycopg_dialect.dialect(paramstyle="format")  # type: ignore[no-untyped-call]

    def __init__(self, dsn: str, timeouts: Timeouts = _USUAL) -> None:
        self._timeouts = timeouts
        try:
            url = make_url(dsn).set(drivername="postgresql+psycopg")
        except ArgumentError:
            raise StoreUnavailable(
                "The database address is not a PostgreSQL DSN such as postgresql://user@host/name."
            ) from None
        self.location = url.set(drivername="postgresql").render_as_string(hide_password=True)
        self._writer: Engine = create_engine(
            url,
            # A pooler may hand every transaction another connection, on which a prepared statement is unknown.
            connect_args={"prepare_threshold": None, **_default_timeouts(url, timeouts)},
            pool_size=10,
            pool_pre_ping=True,
        )
        event.listen(self._writer, "do_connect", patience.connect)
        # So that it also applies before the first statement and after the last.
        event.listen(self._writer, "connect", self._be_patient)
        self._vacuums = ThreadPoolExecutor(1, "onrecord-vacuum")
        self._vacuum: Future[str | None] | None = None
        self._vacuum_turn = threading.Lock()
        event.listen(self._writer, "handle_error", self._explain_missing_rights)
        self._reader = self._writer.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )

    def exists(self) -> bool:
        return True

    def is_gone(self) -> bool:
        return False

    def fetch(
        self, connection: Connection, statement: Select[Any], given: Mapping[str, Any]
    ) -> Sequence[Any]:
        compiled = compiled_for(self.positional, statement)
        return connection.exec_driver_sql(compiled.text, compiled.values(given)).all()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._reader.connect() as connection, connection.begin():
            # Set in each transaction: a pooler may use another connection.
            self._limit(connection, statement=self._timeouts.statement)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._writer.connect() as connection, connection.begin() as transaction:
            # A writer that hangs must not make the others of its tenant hang for ever.
            found = self._limit(
                connection,
                "txid_current()",
                statement=self._timeouts.statement,
                lock=self._timeouts.lock,
            )
            # The number by which the server is asked later whether this transaction was committed.
            number: int = found[0]
            yield connection
            try:
                transaction.commit()
            except DBAPIError as lost:
                # If the server refuses the commit, it says so; a lost connection says nothing.
                if not lost.connection_invalidated:
                    raise
                is_lost = True
            else:
                is_lost = False
        if is_lost:
            self._look_whether_kept(number)

    def _look_whether_kept(self, number: int) -> None:
        """The connection ended before the server confirmed the commit: ask it on another connection whether it
        committed.
        """
        deadline = time.monotonic() + _ASK_FOR_S
        state = _UNDER_WAY
        while state == _UNDER_WAY and time.monotonic() < deadline:
            with suppress(DBAPIError, PoolTimeout), self._writer.connect() as connection:
                # The server answers None for a transaction that is too old.
                state = connection.execute(_OUTCOME, {"number": number}).scalar_one()
            if state == _UNDER_WAY:
                time.sleep(_LOOK_AGAIN_S)
        if state == "aborted":
            raise StoreUnavailable(
                f"{self.location} lost the connection before the commit; nothing was changed. Try again."
            )
        if state != "committed":
            raise OutcomeUnknown(
                f"{self.location} lost the connection during a commit; it is unknown whether the change was kept. "
                "Look before you repeat it."
            )

    def _limit(self, connection: Connection, *asked: str, **seconds: int) -> Sequence[Any]:
        """Set the timeouts of this transaction; other settings go into the same statement, to save a round trip."""
        patience.be_patient(connection, seconds["statement"])
        limits = (f"set_config('{name}_timeout', '{value}s', true)" for name, value in seconds.items())
        return connection.exec_driver_sql(f"SELECT {', '.join((*asked, *limits))}").one()

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        with self.writing() as connection, patience.unhurried(connection):
            # A step may take as long as the store is large.
            self._limit(connection, statement=0)
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
            vectors.provide(connection, self.location)
            if connection.execute(text("SELECT to_regclass(:name)"), {"name": VERSION_TABLE}).scalar():
                # Every writer reads this table first: this waits for those at work, and makes new ones wait.
                connection.execute(text(f"LOCK TABLE {VERSION_TABLE} IN ACCESS EXCLUSIVE MODE"))
            yield connection

    def distribute(self) -> list[str]:
        with self.migrating() as fence, self._alone() as worker:
            return distributing.distribute(fence, worker, self.location)

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """Outside of any transaction, for what takes as long as the tables are large."""
        with self._writer.connect() as connection, patience.unhurried(connection):
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    def _be_patient(self, line: Any, record: object) -> None:
        line.patience = self._timeouts.statement + patience.GRACE_S

    def _explain_missing_rights(self, context: ExceptionContext) -> None:
        """Explain a missing privilege, which the driver reports like a mistake in a statement."""
        if getattr(context.original_exception, "sqlstate", None) == _INSUFFICIENT_PRIVILEGE:
            reason = str(context.original_exception).splitlines()[0]
            raise StoreUnavailable(
                f"{self.location} refuses this ({reason}); nothing was changed. Ask its owner for the privilege."
            )

    def explain(self, error: Exception) -> OnRecordError:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        if "lock timeout" in reason:
            return StoreUnavailable(
                f"Another writer held this tenant in {self.location} for {self._timeouts.lock} seconds; "
                "nothing was changed. Try again."
            )
        if "statement timeout" in reason:
            return StoreUnavailable(
                f"{self.location} did not answer within {self._timeouts.statement} seconds (see db_statement_timeout); "
                "nothing was changed. Try again, or ask for less."
            )
        if isinstance(error, OperationalError):
            return StoreUnavailable(
                f"{self.location} cannot be reached ({reason}); nothing was changed. "
                "Check that the server runs and that the DSN is right."
            )
        return StoreUnavailable(f"{self.location} could not be used: {reason}. Nothing was changed.")

    def backup(self, path: Path, report: CopyReport) -> bool:
        return False

    def copy_aside(self, name: str) -> str | None:
        return None

    def files(self) -> list[Path]:
        return []

    def integrity(self) -> Iterator[str]:
        return iter(())

    def after_loading(self) -> None:
        # Postings are read from their index alone once their pages are known to be settled: 2 to 4 times faster.
        with suppress(DBAPIError), self._alone() as settled:
            settled.execute(
                text("VACUUM (ANALYZE) postings, terms, facets, audience_counts, memories, versions, vectors")
            )

    def after_embedding(self) -> None:
        with suppress(DBAPIError), self._alone() as connection:
            vectors.build_indexes(connection)

    def after_erasing(self) -> str | None:
        """Vacuum dead rows out of their pages. What a page, the log or a copy held before is the operator's to clear.

        One vacuum runs at a time in the background: nobody waits long for the tables of all tenants.
        """
        with self._vacuum_turn:
            # A vacuum that has not begun yet covers this erasure too.
            if self._vacuum is None or self._vacuum.running() or self._vacuum.done():
                self._vacuum = self._vacuums.submit(self._vacuumed)
            mine = self._vacuum
        try:
            return mine.result(_VACUUM_S)
        except TimeoutError:
            return "It is erased, and its old rows are being vacuumed out of the tables, which takes a while."

    def _vacuumed(self) -> str | None:
        held: list[str] = []
        try:
            with self._alone() as alone:
                driver: Any = alone.connection.driver_connection
                listen = partial(_note_held, held)
                driver.add_notice_handler(listen)
                try:
                    alone.execute(text(f"VACUUM (VERBOSE, SKIP_LOCKED) {_ERASED_FROM}"))
                finally:
                    driver.remove_notice_handler(listen)
        except (DBAPIError, OnRecordError) as problem:
            reason = str(getattr(problem, "orig", None) or problem).strip().splitlines()[0]
            return f"It is erased, but its rows could not be vacuumed ({reason}): let the owner of the tables run VACUUM."
        if held:
            return (
                f"It is erased, but its old rows wait in the database ({held[0]}): autovacuum removes them once nobody "
                "reads or locks them, and VACUUM by the owner of the tables removes them at once."
            )
        return None

    def close(self) -> None:
        self._vacuums.shutdown()
        self._writer.dispose()


def _note_held(held: list[str], notice: Any) -> None:
    """Note from the server's messages how many dead rows had to stay, and which tables it skipped."""
    message = notice.message_primary or ""
    found = _HELD.search(message)
    if found is not None and found[1] != "0":
        held.append(found[0])
    elif notice.severity_nonlocalized == "WARNING":
        held.append(message.splitlines()[0])


def _default_timeouts(url: URL, timeouts: Timeouts) -> dict[str, int]:
    """How long the driver waits, unless the address itself says."""
    usual = {"connect_timeout": timeouts.connect, "tcp_user_timeout": timeouts.statement * 1_000, **_PEER}
    return {name: value for name, value in usual.items() if name not in url.query}
