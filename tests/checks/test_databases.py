"""DO DuckDB and PostgreSQL refuse what SQLite refuses? On the real ones."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest

from onrecord.checks import running
from onrecord.checks.judging import compared
from onrecord.checks.running import CouldNotLook, NoLongerRuns, query_result
from onrecord.model.checks import Expectation
from onrecord.model.connections import Connection

ROWS = "select id, name from stores"
COUNT = "select count(*) from stores"
STORES = "create table stores as select i as id, 'Store ' || i as name from generate_series(1, 12) as s(i)"
ENDLESS = (
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*), count(i) from n, stores"
)


@pytest.fixture
def duck(tmp_path: Path) -> Connection:
    duckdb = pytest.importorskip("duckdb")
    with contextlib.closing(duckdb.connect(str(tmp_path / "shop.duckdb"))) as connection:
        connection.execute(STORES)
    return Connection(name="d", tenant="default", kind="duckdb", address=f"duckdb:///{tmp_path}/shop.duckdb")


@pytest.fixture
def reader(postgres_dsn: str) -> Iterator[Connection]:
    """A role that can only read."""
    role = f"reader_{token_hex(6)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(STORES)
        schema = connection.execute("select current_schema()").fetchone()
        assert schema is not None
        connection.execute(f"create role {role} login password 'pa55-word'")
        connection.execute(f'grant usage on schema "{schema[0]}" to {role}')
        connection.execute(f"grant select on stores to {role}")
        address = postgres_dsn.replace("//postgres:@", f"//{role}:pa55-word@")
        assert address != postgres_dsn
        yield Connection(name="p", tenant="default", kind="postgresql", address=address)
        connection.execute(f"drop owned by {role}")
        connection.execute(f"drop role {role}")


@pytest.fixture(params=["duck", "reader"])
def there(request: pytest.FixtureRequest) -> Connection:
    found: Connection = request.getfixturevalue(request.param)
    return found


def test_it_counts_and_compares(there: Connection) -> None:
    found = query_result(there, ROWS, 100, 20)
    assert (found.columns, found.rows, found.more) == (("id", "name"), 12, False)
    assert query_result(there, ROWS, 5, 20).more
    assert compared(Expectation(value="12"), query_result(there, COUNT, 1, 20)) == ("verified", None)
    assert compared(Expectation(value=11), query_result(there, COUNT, 1, 20))[0] == "failed"
    with pytest.raises(NoLongerRuns, match="nothing"):
        query_result(there, "select count(*) from nothing", 1, 20)


def test_what_hangs_is_ended(there: Connection) -> None:
    with pytest.raises(CouldNotLook):
        query_result(there, ENDLESS, 1, 3)


@pytest.mark.parametrize(
    "sql",
    [
        "insert into stores values (13, 'Rome')",
        "delete from stores",
        "create table stolen as select * from stores",
        "copy stores to '/tmp/checks-stolen.csv'",
        "select * from read_csv('/etc/passwd')",
        "select pg_read_file('/etc/passwd')",
        "attach '/tmp/other.db' as other",
        "set enable_external_access = true",
    ],
)
def test_the_connection_refuses_what_the_text_would_not_show(
    sql: str, there: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "refuse", lambda sql, kind: None)
    with pytest.raises((CouldNotLook, NoLongerRuns)):
        query_result(there, sql, 1, 20)
    assert query_result(there, COUNT, 1, 20).first == 12
    assert not Path("/tmp/checks-stolen.csv").exists()


def test_a_role_that_can_write_is_refused_and_no_password_is_told(
    reader: Connection, postgres_dsn: str
) -> None:
    writer = Connection(name="p", tenant="default", kind="postgresql", address=postgres_dsn)
    with pytest.raises(CouldNotLook, match="role can write"):
        query_result(writer, COUNT, 1, 20)
    for address in (
        "postgresql://eve:s3cr3t-pw@localhost:1/none",
        "postgresql://eve@localhost:1/none?password=s3cr3t%zz",
        "postgresql://eve:s3cr3t%zz@localhost:1/none",
    ):
        wrong = Connection(name="p", tenant="default", kind="postgresql", address=address)
        with pytest.raises(CouldNotLook) as refused:
            query_result(wrong, COUNT, 1, 20)
        assert "s3cr3t" not in str(refused.value)
    role = reader.address.partition("//")[2].partition(":")[0]
    for address, why in (
        (reader.address.replace(role, "eve-who-is-not-there"), "does not exist"),
        (reader.address.replace("/postgres?", "/none-of-these?"), "does not exist"),
        ("postgresql://eve@no-such-host.invalid/none", "resolve host"),
    ):
        unknown = Connection(name="p", tenant="default", kind="postgresql", address=address)
        with pytest.raises(CouldNotLook, match=why) as refused:
            query_result(unknown, COUNT, 1, 20)
        assert not [
            name for name in ("eve", "none", "no-such-host", ".s.PGSQL") if name in str(refused.value)
        ]


def test_a_role_that_writes_by_a_column_a_view_or_another_role_is_refused_too(
    reader: Connection, postgres_dsn: str
) -> None:
    role = reader.address.partition("//")[2].partition(":")[0]
    ways = (
        (f"grant update (name) on stores to {role}", f"revoke update (name) on stores from {role}"),
        (f"create view shown as select * from stores; grant insert on shown to {role}", "drop view shown"),
        (
            f"create role {role}_owner; create table owned (x int); alter table owned owner to {role}_owner;"
            f" grant {role}_owner to {role}; alter role {role} noinherit",
            f"drop owned by {role}_owner; drop role {role}_owner",
        ),
    )
    for given, taken in ways:
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            connection.execute(given)
        try:
            with pytest.raises(CouldNotLook, match="role can write"):
                query_result(reader, COUNT, 1, 20)
        finally:
            with psycopg.connect(postgres_dsn, autocommit=True) as connection:
                connection.execute(taken)
    assert query_result(reader, COUNT, 1, 20).first == 12
