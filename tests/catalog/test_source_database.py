"""DOES a database become the tables and views that it has, without being changed and without its secrets getting out?"""

import hashlib
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from onrecord.catalog.sources import Source, open_source
from onrecord.errors import Invalid, OnRecordError, StoreUnavailable
from onrecord.model.catalog import Datasource, Join, Model, Part

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region VARCHAR(20));
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (id),
    amount NUMERIC(10, 2),
    status TEXT
);
CREATE TABLE lines (
    order_id INTEGER REFERENCES orders (id),
    number INTEGER,
    other_order INTEGER,
    other_number INTEGER,
    PRIMARY KEY (order_id, number),
    FOREIGN KEY (other_order, other_number) REFERENCES lines (order_id, number)
);
CREATE VIEW paid AS SELECT id, amount FROM orders WHERE status = 'paid';
"""

MakeSqlite = Callable[[str], Path]


@pytest.fixture
def make_sqlite(tmp_path: Path) -> MakeSqlite:
    def make(script: str) -> Path:
        path = tmp_path / "shop.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
        return path

    return make


@pytest.fixture(params=["sqlite", "postgres"])
def shop(request: pytest.FixtureRequest) -> str:
    """The same few tables in each database."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("make_sqlite")(SHOP))
    dsn = str(request.getfixturevalue("postgres_dsn"))
    run(dsn, SHOP)
    return dsn


def run(dsn: str, script: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(script.encode())


def by_name(source: Source) -> dict[str, Model]:
    return {model.name: model for model in source.models()}


def test_tables_and_views_are_read_with_columns_keys_and_joins(shop: str) -> None:
    models = by_name(open_source(shop, datasource="shop"))
    assert list(models) == ["customers", "lines", "orders", "paid"]
    assert {name: model.form for name, model in models.items() if name in ("orders", "paid")} == {
        "orders": "table",
        "paid": "view",
    }
    assert models["orders"].parts == (
        Part(name="id", type="INTEGER", details={"primary_key": True}),
        Part(name="customer_id", type="INTEGER"),
        Part(name="amount", type="NUMERIC(10, 2)"),
        Part(name="status", type="TEXT"),
    )
    assert models["orders"].joins == (Join(target="customers", pairs=(("customer_id", "id"),)),)
    assert models["lines"].joins == (
        Join(target="lines", pairs=(("other_order", "order_id"), ("other_number", "number"))),
        Join(target="orders", pairs=(("order_id", "id"),)),
    )
    assert [part.name for part in models["lines"].parts if part.details.get("primary_key")] == [
        "order_id",
        "number",
    ]
    assert [part.name for part in models["paid"].parts] == ["id", "amount"]
    assert models["paid"].joins == ()


def test_the_same_database_gives_the_same_values_and_fingerprints(shop: str) -> None:
    first, second = open_source(shop, sample_values=3), open_source(shop, sample_values=3)
    assert list(first.models()) == list(second.models())
    assert first.fingerprints() == second.fingerprints()
    assert list(first.fingerprints()) == [model.canonical for model in first.models()]
    assert first.notes() == ()
    assert first.priority() is None


def test_only_the_wanted_models_come_out(shop: str) -> None:
    source = open_source(shop, datasource="shop")
    assert [model.name for model in source.models(["shop.paid", "shop.gone"])] == ["paid"]
    assert list(source.models([])) == []


def test_a_fingerprint_changes_with_the_columns_of_its_table_alone(postgres_dsn: str) -> None:
    run(postgres_dsn, SHOP)
    before = open_source(postgres_dsn, datasource="shop").fingerprints()
    run(postgres_dsn, "ALTER TABLE customers ADD COLUMN city TEXT; INSERT INTO customers VALUES (1, 'Ada')")
    after = open_source(postgres_dsn, datasource="shop").fingerprints()
    assert {name for name in before if before[name] != after[name]} == {"shop.customers"}


def test_comments_become_descriptions(postgres_dsn: str) -> None:
    run(
        postgres_dsn,
        SHOP + "COMMENT ON TABLE orders IS 'One row an order'; COMMENT ON VIEW paid IS 'Those paid';"
        "COMMENT ON COLUMN orders.amount IS 'Net of refunds'; COMMENT ON COLUMN paid.id IS 'The order'",
    )
    models = by_name(open_source(postgres_dsn))
    assert (models["orders"].description, models["paid"].description) == ("One row an order", "Those paid")
    descriptions = [models[model].part(part) for model, part in (("orders", "amount"), ("paid", "id"))]
    assert [part and part.description for part in descriptions] == ["Net of refunds", "The order"]


def test_materialized_views_are_views_and_partitions_are_no_tables_of_their_own(postgres_dsn: str) -> None:
    run(
        postgres_dsn,
        """
        CREATE TABLE sales (day DATE, amount INTEGER) PARTITION BY RANGE (day);
        CREATE TABLE sales_2025 PARTITION OF sales FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
        CREATE TABLE sales_2026 PARTITION OF sales FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
        CREATE MATERIALIZED VIEW totals AS SELECT sum(amount) AS total FROM sales;
        """,
    )
    source = open_source(postgres_dsn)
    assert {name: model.form for name, model in by_name(source).items()} == {
        "sales": "table",
        "totals": "view",
    }
    assert source.notes() == (
        "What only stores the rows of other tables is left out (2), such as sales_2025",
    )


def test_another_schema_can_be_asked_for_and_joins_stay_inside(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        here = connection.execute("SELECT current_schema()").fetchone()
        assert here is not None
        connection.execute(SHOP.encode())
        connection.execute("CREATE TABLE public.returns (order_id INTEGER)")
        connection.execute(
            f'ALTER TABLE public.returns ADD FOREIGN KEY (order_id) REFERENCES "{here[0]}".orders'.encode()
        )
    try:
        models = by_name(open_source(postgres_dsn, schema="public"))
        assert models["returns"].joins == ()
        assert models["returns"].details == {"sql_table": "public.returns"}
        assert "orders" not in models
        assert by_name(open_source(postgres_dsn, schema=here[0])).keys() == {
            "customers",
            "lines",
            "orders",
            "paid",
        }
    finally:
        run(postgres_dsn, "DROP TABLE public.returns")


def test_an_unknown_schema_is_refused_with_those_that_there_are(shop: str) -> None:
    with pytest.raises(Invalid, match=r"schema: there is no schema 'absent'; there are .*(main|public)"):
        list(open_source(shop, schema="absent").models())


def test_types_that_are_not_known_are_left_open(postgres_dsn: str) -> None:
    run(
        postgres_dsn,
        "CREATE TABLE t (v xid8, m TEXT[], j JSONB, d DOUBLE PRECISION, w TIMESTAMP WITH TIME ZONE)",
    )
    parts = by_name(open_source(postgres_dsn))["t"].parts
    assert [part.type for part in parts] == [
        None,
        "TEXT[]",
        "JSONB",
        "DOUBLE PRECISION",
        "TIMESTAMP WITH TIME ZONE",
    ]


def test_the_datasource_says_where_it_is_and_not_what_opens_it(
    make_sqlite: MakeSqlite, postgres_dsn: str
) -> None:
    assert open_source(str(make_sqlite(SHOP))).datasources() == [
        Datasource(name="shop", details={"type": "sqlite", "database": "shop.db"})
    ]
    run(postgres_dsn, "CREATE TABLE t (i INTEGER)")
    [datasource] = open_source(postgres_dsn).datasources()
    assert datasource.name == "postgres"
    assert datasource.details.keys() <= {"type", "host", "port", "database", "schema"}
    assert datasource.details["schema"].startswith("test_")


def test_the_name_of_a_file_becomes_a_name_that_references_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "2024.my shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (i)")
    assert [datasource.name for datasource in open_source(str(path)).datasources()] == ["_2024_my_shop"]


ODD = """
CREATE TABLE "Order Details" ("unit.price" INTEGER, "unit_price" INTEGER, "a b" INTEGER PRIMARY KEY);
CREATE TABLE "order.items" (item INTEGER REFERENCES "Order Details" ("a b"), "say ""hi"" now" INTEGER);
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_odd_names_become_legal_ones_and_the_true_ones_are_kept(
    kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        given = str(request.getfixturevalue("make_sqlite")(ODD))
    else:
        given = request.getfixturevalue("postgres_dsn")
        run(given, ODD)
    source = open_source(given, sample_values=1)
    models = by_name(source)
    details, items = models["Order_Details"], models["order_items"]
    assert [(part.name, part.details.get("sql")) for part in details.parts] == [
        ("unit_price_2", '"unit.price"'),
        ("unit_price", None),
        ("a_b", '"a b"'),
    ]
    assert details.details["sql_table"].endswith("Order Details")
    assert items.joins == (Join(target="Order_Details", pairs=(("item", "a_b"),)),)
    assert [part.details.get("sql") for part in items.parts] == [None, '"say ""hi"" now"']
    assert source.notes() == ()


# ---- samples ---------------------------------------------------------------------------------------------

SAMPLED = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY, status TEXT, price NUMERIC(8, 2), password TEXT, api_token TEXT, session_key TEXT,
    note TEXT, born DATE
);
INSERT INTO people VALUES
    (3, 'open', 2.50, 'hunter2', 'tok', 'k1', 'my password is Tr0ub4dor&3xyz', '2001-01-01'),
    (1, 'paid', 1.25, 'hunter3', 'tok', 'k2', NULL, '2001-01-01'),
    (2, 'paid', 1.25, 'hunter4', 'tok', 'k3', '  ', '2001-01-01'),
    (4, 'void', 9.75, 'hunter5', 'tok', 'k4', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', '2001-01-01');
"""


@pytest.fixture(params=["sqlite", "postgres"])
def sampled(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return str(request.getfixturevalue("make_sqlite")(SAMPLED))
    dsn = str(request.getfixturevalue("postgres_dsn"))
    run(dsn, SAMPLED)
    return dsn


def samples_of(source: Source, model: str) -> dict[str, str]:
    return {
        part.name: part.details["sampled"]
        for part in by_name(source)[model].parts
        if "sampled" in part.details
    }


def test_samples_are_a_few_distinct_values_without_secrets(sampled: str) -> None:
    samples = samples_of(open_source(sampled, sample_values=2), "people")
    note = samples.pop("note")
    assert samples == {
        "id": "1, 2",
        "status": "paid, open",
        "price": "1.25, 2.5" + ("0" * ("://" in sampled)),
    }
    assert "Tr0ub4dor" not in note
    assert "ghp_" not in note
    assert "[secret:" in note


def test_without_being_asked_no_row_is_looked_at(sampled: str) -> None:
    assert samples_of(open_source(sampled), "people") == {}


def test_long_values_and_those_with_control_characters_are_no_samples(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite("CREATE TABLE t (v TEXT)")
    with closing(sqlite3.connect(path)) as connection:
        values = ["x" * 81, "y" * 80, "a\nb", b"\xff\xfe".decode("latin-1"), "plain"]
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        connection.execute("INSERT INTO t VALUES (CAST(x'fffe' AS TEXT))")
        connection.commit()
    assert samples_of(open_source(str(path), sample_values=10), "t") == {"v": f"plain, {'y' * 80}, ÿþ"}


def test_a_number_column_of_sqlite_may_hold_anything(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite(
        "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (1), ('two'), (x'03'), (4.5), (NULL)"
    )
    assert set(samples_of(open_source(str(path), sample_values=10), "t")["v"].split(", ")) == {
        "1",
        "two",
        "4.5",
    }


def test_values_of_a_closed_list_are_texts(postgres_dsn: str) -> None:
    run(
        postgres_dsn,
        "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TABLE t (m mood); INSERT INTO t VALUES ('glad')",
    )
    assert samples_of(open_source(postgres_dsn, sample_values=3), "t") == {"m": "glad"}


def test_a_table_whose_rows_may_not_be_read_has_no_samples_and_the_others_do(postgres_server: str) -> None:
    user = f"reader_{abs(hash(postgres_server)) % 10**8}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {user} LOGIN; CREATE SCHEMA {user}".encode())
        try:
            connection.execute(
                f"CREATE TABLE {user}.a (v TEXT); CREATE TABLE {user}.b (v TEXT); INSERT INTO {user}.b VALUES ('x');"
                f"GRANT USAGE ON SCHEMA {user} TO {user}; GRANT SELECT ON {user}.b TO {user}".encode()
            )
            separator = "&" if "?" in postgres_server else "?"
            address = f"{postgres_server}{separator}options=-crole%3D{user}"
            source = open_source(address, schema=user, sample_values=3)
            assert samples_of(source, "a") == {}
            assert samples_of(source, "b") == {"v": "x"}
            assert source.notes() == ("a has no sample values: permission denied for table a",)
        finally:
            connection.execute(f"DROP SCHEMA {user} CASCADE; DROP ROLE {user}".encode())


# ---- what stands in the way ------------------------------------------------------------------------------


def test_what_sqlite_cannot_describe_is_listed_and_noted(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite(
        SHOP + "CREATE TABLE gone (i); CREATE VIEW broken AS SELECT * FROM gone; DROP TABLE gone;"
        "CREATE TABLE dangling (i INTEGER REFERENCES nowhere (j));"
        "CREATE TABLE implied (customer INTEGER REFERENCES customers);"
    )
    source = open_source(str(path), sample_values=1)
    models = by_name(source)
    assert (models["broken"].form, models["broken"].parts) == ("view", ())
    assert [part.name for part in models["paid"].parts] == ["id", "amount"]
    assert models["dangling"].joins == ()
    assert models["implied"].joins == (Join(target="customers", pairs=(("customer", "id"),)),)
    assert source.notes() == ("broken is listed without columns: no such table: main.gone",)


def test_a_table_of_a_missing_module_is_listed_and_noted(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite(
        "CREATE TABLE plain (i INTEGER PRIMARY KEY); PRAGMA writable_schema = 1;"
        "INSERT INTO sqlite_master VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING absent(x)')"
    )
    source = open_source(str(path), sample_values=1)
    assert {name: len(model.parts) for name, model in by_name(source).items()} == {"odd": 0, "plain": 1}
    assert source.notes() == ("odd is listed without columns: no such module: absent",)


def test_the_shadows_of_a_virtual_table_are_left_out(make_sqlite: MakeSqlite) -> None:
    source = open_source(str(make_sqlite("CREATE VIRTUAL TABLE notes USING fts5(body)")))
    assert by_name(source).keys() == {"notes"}
    assert len(source.notes()) == 1


def test_an_empty_database_has_no_models(postgres_dsn: str, make_sqlite: MakeSqlite) -> None:
    assert list(open_source(postgres_dsn).models()) == []
    assert list(open_source(str(make_sqlite("PRAGMA user_version = 1"))).models()) == []


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_reading_a_sqlite_file_changes_nothing_and_leaves_nothing_behind(
    make_sqlite: MakeSqlite, journal: str
) -> None:
    path = make_sqlite(f"PRAGMA journal_mode = {journal};" + SHOP)
    before = hashlib.sha256(path.read_bytes()).digest()
    assert len(list(open_source(str(path), sample_values=3).models())) == 4
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert list(path.parent.glob("shop.db*")) == [path]


def test_what_is_only_in_the_log_of_a_sqlite_file_is_seen(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite("PRAGMA journal_mode = wal; CREATE TABLE a (i)")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("CREATE TABLE b (i)")
        writer.commit()
        assert by_name(open_source(str(path))).keys() == {"a", "b"}


_WRITE = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0.1).execute('CREATE TABLE z (i)')"


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_that_this_process_is_writing_to_stays_locked(make_sqlite: MakeSqlite, journal: str) -> None:
    """To open and close it by other means than SQLite's would take the locks away."""
    path = make_sqlite(f"PRAGMA journal_mode = {journal};" + SHOP)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert len(list(open_source(str(path)).models())) == 4
        other = subprocess.run([sys.executable, "-c", _WRITE, str(path)], capture_output=True, check=False)
        assert b"database is locked" in other.stderr
        writer.execute("ROLLBACK")


def test_a_missing_sqlite_file_is_not_made(tmp_path: Path) -> None:
    source = open_source(f"sqlite:///{tmp_path}/absent.db")
    with pytest.raises(StoreUnavailable, match=r"There is no SQLite file at .*absent\.db"):
        source.models()
    with pytest.raises(StoreUnavailable):
        source.fingerprints()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreUnavailable, match=r"notes\.db cannot be read \(file is not a database\)"):
        open_source(f"sqlite:///{path}").models()


def test_a_damaged_sqlite_file_is_a_clear_error(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite(SHOP)
    path.write_bytes(path.read_bytes()[:4096].ljust(20480, b"\x7f"))
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        list(open_source(str(path), sample_values=3).models())


def test_a_sqlite_file_with_damaged_rows_is_a_clear_error(make_sqlite: MakeSqlite) -> None:
    path = make_sqlite(
        "CREATE TABLE t (v TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)"
        "INSERT INTO t SELECT printf('%050d', i) FROM n"
    )
    data = path.read_bytes()
    path.write_bytes(data[:8192] + b"\x7f" * (len(data) - 8192))
    assert [model.name for model in open_source(str(path)).models()] == ["t"]
    with pytest.raises(StoreUnavailable, match="malformed"):
        open_source(str(path), sample_values=3).models()


def free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


SECRET = "s3cr3t p@ss/word"


@pytest.mark.parametrize("way", ["user", "query"])
def test_a_server_that_cannot_be_reached_fails_at_once_and_without_the_password(way: str) -> None:
    place, password = f"127.0.0.1:{free_port()}/shop", quote(SECRET, safe="")
    address = (
        f"postgresql://ann:{password}@{place}"
        if way == "user"
        else f"postgresql://ann@{place}?password={password}"
    )
    source = open_source(address)
    assert source.location == f"postgresql://ann@{place}"
    for ask in (source.models, source.fingerprints, source.datasources, source.notes):
        with pytest.raises(StoreUnavailable, match="cannot be read") as refused:
            ask()
        assert_no_secret(refused.value)


def assert_no_secret(error: OnRecordError) -> None:
    """Not in the message, nor in what would be shown with it."""
    assert error.__suppress_context__
    assert error.__cause__ is None
    for text in (SECRET, quote(SECRET, safe="")):
        assert text not in str(error)


def test_a_name_that_holds_the_password_is_not_repeated(postgres_server: str) -> None:
    separator = "&" if "?" in postgres_server else "?"
    source = open_source(f"{postgres_server}{separator}password=hunter2&dbname=about_hunter2")
    with pytest.raises(StoreUnavailable) as refused:
        source.models()
    assert "hunter2" not in str(refused.value).replace(source.location, "")


def test_a_server_is_only_read(postgres_dsn: str) -> None:
    run(
        postgres_dsn,
        "CREATE TABLE log (i INTEGER); CREATE FUNCTION noisy() RETURNS INTEGER LANGUAGE sql AS "
        "'INSERT INTO log VALUES (1) RETURNING i'; CREATE VIEW sly AS SELECT noisy() AS i",
    )
    source = open_source(postgres_dsn, sample_values=1)
    assert by_name(source)["sly"].parts[0].name == "i"
    assert source.notes() == ("sly has no sample values: cannot execute INSERT in a read-only transaction",)


@pytest.mark.parametrize("prefix", ["postgresql://", "postgresql+psycopg://", "postgres://"])
def test_every_way_to_write_the_address_is_understood(postgres_dsn: str, prefix: str) -> None:
    run(postgres_dsn, "CREATE TABLE t (i INTEGER)")
    assert by_name(open_source(prefix + postgres_dsn.partition("://")[2])).keys() == {"t"}


def test_a_schema_that_may_no_longer_be_used_says_nothing_of_its_tables(postgres_dsn: str) -> None:
    """To whoever lost the right to a schema it looks empty; that would make everything known of it stale."""
    run(postgres_dsn, SHOP)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        (schema,) = connection.execute("SELECT current_schema()").fetchone() or ("",)
        role, named = sql.Identifier(f"reader_{schema}"), sql.Identifier(schema)
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        try:
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(named, role))
            reader = str(
                make_url(postgres_dsn).set(username=f"reader_{schema}").render_as_string(hide_password=False)
            )
            assert {"orders", "customers"} <= by_name(open_source(reader, datasource="shop")).keys()
            connection.execute(sql.SQL("REVOKE USAGE ON SCHEMA {} FROM {}").format(named, role))
            for asked in (None, schema):
                with pytest.raises(StoreUnavailable, match="may not be used"):
                    by_name(open_source(reader, datasource="shop", schema=asked))
        finally:
            connection.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(role))
