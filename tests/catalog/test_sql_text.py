"""Are the tables and columns of SQL found through its aliases and subqueries, and is the rest only a warning?"""

import builtins
import sys
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.sql_text import NOT_INSTALLED, entities_of_sql, parse_sql
from onrecord.errors import StoreUnavailable
from onrecord.model.catalog import Model
from onrecord.model.limits import CONTENT_BYTES
from onrecord.testing.catalog_fixture import columns, shop

SHOP = shop()


def about(text: str, dialect: str | None = None) -> set[str]:
    """What SQL is about in the first datasource, all of it known."""
    found = entities_of_sql(parse_sql(text, dialect), SHOP)
    assert found.warnings == ()
    assert len(set(found.canonicals)) == len(found.canonicals)
    return {canonical.removeprefix("mydb.") for canonical in found.canonicals}


def tags(names: str) -> set[str]:
    return set(names.split())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT amount FROM orders", "orders orders.amount"),
        ("SELECT * FROM orders", "orders"),
        ("SELECT count(*) FROM orders", "orders"),
        ("SELECT amount AS status FROM orders AS o WHERE o.id = 3", "orders orders.amount orders.id"),
        (
            "SELECT o.amount, c.name FROM orders o JOIN customers c ON c.id = o.customer_id",
            "orders customers orders.amount customers.name customers.id orders.customer_id",
        ),
        ("SELECT status, region_id FROM orders, customers", "orders customers orders.status customers.region_id"),
        ("SELECT id FROM orders JOIN invoices USING (id)", "orders invoices orders.id invoices.id"),
        ("SELECT amount FROM orders UNION SELECT amount FROM invoices", "orders orders.amount invoices invoices.amount"),
        ("SELECT id AS a FROM orders UNION ALL SELECT id FROM invoices ORDER BY a", "orders orders.id invoices invoices.id"),
        ("SELECT sum(amount) AS total FROM orders GROUP BY status HAVING total > 3 ORDER BY total", "orders orders.amount orders.status"),
        ("SELECT amount AS status FROM orders ORDER BY status", "orders orders.amount"),
        ("SELECT sum(amount) OVER (PARTITION BY status ORDER BY ordered_at) FROM orders", "orders orders.amount orders.status orders.ordered_at"),
        ("(SELECT amount FROM orders) ORDER BY amount LIMIT 3", "orders orders.amount"),
        ("SELECT * FROM (orders JOIN customers ON orders.customer_id = customers.id)", "orders customers orders.customer_id customers.id"),
    ],
)  # fmt: skip
def test_tables_and_columns_are_found_by_their_names_and_aliases(text: str, names: str) -> None:
    assert about(text) == tags(names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT x.amount FROM (SELECT amount FROM orders) x", "orders orders.amount"),
        ("SELECT amount FROM (SELECT * FROM orders)", "orders orders.amount"),
        ("SELECT x.y FROM (SELECT amount AS y FROM orders) AS x", "orders orders.amount"),
        ("SELECT b FROM (SELECT id, amount FROM orders) AS x(a, b)", "orders orders.id orders.amount"),
        ("SELECT status FROM (SELECT o.* FROM orders o, invoices i) AS x", "orders invoices orders.status"),
        ("SELECT id FROM orders WHERE id IN (SELECT id FROM invoices)", "orders invoices orders.id invoices.id"),
        ("SELECT (SELECT max(name) FROM customers WHERE id = customer_id) FROM orders", "orders orders.customer_id customers customers.name customers.id"),
        ("SELECT 1 FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer_id AND status = 1)", "orders customers customers.id orders.customer_id orders.status"),
        ("SELECT 1 FROM orders o, LATERAL (SELECT name FROM customers WHERE id = o.customer_id) l WHERE l.name = 'x'", "orders customers customers.id customers.name orders.customer_id"),
        ("WITH paid AS (SELECT id, amount FROM orders WHERE status = 1) SELECT amount FROM paid", "orders orders.id orders.amount orders.status"),
        ("WITH a AS (SELECT * FROM orders), b AS (SELECT * FROM a) SELECT b.amount FROM b", "orders orders.amount"),
        ("WITH orders AS (SELECT * FROM orders) SELECT amount FROM orders", "orders orders.amount"),
        ("WITH users AS (SELECT amount AS name FROM orders) SELECT name FROM users u ORDER BY u.name", "orders orders.amount"),
        ("WITH RECURSIVE t AS (SELECT id FROM orders UNION ALL SELECT t.id FROM t) SELECT id FROM t", "orders orders.id"),
        ("WITH t(a, b) AS (SELECT id, amount FROM orders) SELECT a FROM t", "orders orders.id orders.amount"),
        ("SELECT 1 FROM (WITH c AS (SELECT id FROM orders) SELECT id FROM c) x", "orders orders.id"),
    ],
)  # fmt: skip
def test_names_that_the_text_gives_are_no_entities(text: str, names: str) -> None:
    assert about(text) == tags(names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("INSERT INTO orders (id, amount) SELECT id, amount FROM invoices", "orders invoices orders.id orders.amount invoices.id invoices.amount"),
        ("UPDATE orders SET amount = 1 WHERE status = 2", "orders orders.amount orders.status"),
        ("UPDATE o SET o.amount = 1 FROM orders o", "orders orders.amount"),
        ("DELETE FROM orders WHERE id = 1", "orders orders.id"),
        ("DELETE o FROM orders o WHERE o.id = 1", "orders orders.id"),
        ("INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount RETURNING status", "orders orders.id orders.amount orders.status"),
        ("MERGE INTO orders t USING invoices s ON t.id = s.id WHEN MATCHED THEN UPDATE SET amount = s.amount", "orders invoices orders.id invoices.id orders.amount invoices.amount"),
        ("CREATE VIEW large (a) AS SELECT amount FROM orders", "orders orders.amount"),
        ("CREATE TEMP TABLE large AS SELECT amount FROM orders; SELECT amount FROM large", "orders orders.amount"),
        ("DROP TABLE orders", "orders"),
        ("SELECT amount FROM invoices; ; SELECT status FROM orders;", "invoices invoices.amount orders orders.status"),
        ("USE mydb; SET x = 1; SELECT 1", ""),
        ("", ""),
        ("-- nothing", ""),
    ],
)  # fmt: skip
def test_every_statement_is_read(text: str, names: str) -> None:
    assert about(text) == tags(names)


@pytest.mark.parametrize(
    "table", ["mydb.orders", "public.orders", "mydb.public.orders", "x.public.orders", "ORDERS", '"Orders"', "MyDb.Orders"]
)  # fmt: skip
def test_a_table_may_be_qualified_and_in_any_case(table: str) -> None:
    assert about(f"SELECT Amount FROM {table}") == tags("orders orders.amount")
    assert about(f"SELECT o.AMOUNT FROM {table} o") == tags("orders orders.amount")


def test_columns_may_carry_the_whole_name_of_their_table() -> None:
    text = "SELECT mydb.orders.amount, orders.status FROM mydb.orders"
    assert about(text) == tags("orders orders.amount orders.status")


def test_a_datasource_before_a_table_is_taken_at_its_word() -> None:
    found = entities_of_sql("SELECT amount FROM other.orders", SHOP)
    assert found.canonicals == ()
    assert "'other.orders' is not in the catalog" in found.warnings[0]
    assert entities_of_sql("SELECT id FROM other.mydb", SHOP).canonicals == ("other.mydb", "other.mydb.id")


def test_the_same_table_in_two_datasources_follows_the_priority() -> None:
    models = tuple(Model(datasource=where, name="t", parts=columns("x")) for where in ("a", "b"))
    text = "SELECT x FROM t"
    assert entities_of_sql(text, HeldCatalog(models=models, ranked=("b",))).canonicals == ("b.t", "b.t.x")
    assert entities_of_sql(text, HeldCatalog(models=models), datasource="a").canonicals == ("a.t", "a.t.x")
    found = entities_of_sql(text, HeldCatalog(models=models))
    assert found.canonicals == ()
    assert "['a', 'b']" in found.warnings[0]
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("SELECT TOP 5 [amount] FROM [orders]", "tsql"),
        ("SELECT `amount` FROM `mydb.public.orders`", "bigquery"),
        ("SELECT `amount` FROM `orders`", "mysql"),
        ("SELECT amount::numeric FROM orders", "postgres"),
        ("SELECT amount FROM orders QUALIFY row_number() OVER (ORDER BY amount) = 1", "snowflake"),
        ("FROM orders SELECT amount", "duckdb"),
    ],
)
def test_a_dialect_is_given_or_guessed(text: str, dialect: str) -> None:
    assert about(text, dialect) == tags("orders orders.amount")
    assert about(text) == tags("orders orders.amount")


def test_what_the_catalog_does_not_know_gives_one_warning_for_each_name() -> None:
    found = entities_of_sql(
        "SELECT o.nope, nada, o.nope, w.x, y FROM orders o JOIN nowhere w ON w.id = o.id; SELECT * FROM nowhere",
        SHOP,
    )
    assert found.canonicals == ("mydb.orders", "mydb.orders.id")
    assert [warning.split("'")[1] for warning in found.warnings] == ["nowhere", "nope"]
    alone = entities_of_sql("SELECT nada, nada FROM orders", SHOP)
    assert [warning.split("'")[1] for warning in alone.warnings] == ["nada"]


def test_a_bare_column_of_several_tables_is_left_out_with_a_warning() -> None:
    found = entities_of_sql("SELECT id FROM orders, invoices", SHOP)
    assert found.canonicals == ("mydb.orders", "mydb.invoices")
    [warning] = found.warnings
    assert "mydb.orders.id" in warning
    assert "mydb.invoices.id" in warning


def test_a_column_within_a_column_is_known_by_its_whole_name_or_the_outer_ones() -> None:
    table = Model(datasource="d", name="t", parts=columns("address address.city id"))
    catalog = HeldCatalog(models=(table,))
    found = entities_of_sql("SELECT t.address.city, address.street FROM t", catalog)
    assert found == (("d.t", "d.t.address.city", "d.t.address"), ())


def test_a_query_sees_only_the_tables_that_stand_around_it() -> None:
    for text in (
        "WITH c AS (SELECT amount FROM regions) SELECT 1 FROM orders, c",
        "SELECT 1 FROM orders, (SELECT amount FROM regions) x",
        "INSERT INTO orders (id) SELECT amount FROM regions",
    ):
        found = entities_of_sql(text, SHOP)
        assert "mydb.orders.amount" not in found.canonicals
        assert "'amount'" in found.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT FROM WHERE",
        "orders are late again",
        "hello world",
        "amount > 5",
        "orders",
        "GRANT SOMETHING ODD",
        "SELECT 'unclosed",
        "(" * 5_000,
        "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
        "SELECT \x00 FROM orders",
        "x" * (CONTENT_BYTES + 1),
    ],
)
def test_text_that_does_not_parse_is_a_warning(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = entities_of_sql(text, SHOP)
    assert found.canonicals == ()
    assert len(found.warnings) == 1
    assert "Token" not in found.warnings[0]
    assert capfd.readouterr() == ("", "")


def test_where_a_text_went_wrong_is_told() -> None:
    [warning] = entities_of_sql("SELECT 1;\nSELECT FROM WHERE", SHOP).warnings
    assert "line 2, column " in warning


def test_one_bad_statement_does_not_hide_the_others() -> None:
    found = entities_of_sql("SELECT amount FROM orders; hello world", SHOP)
    assert found.canonicals == ("mydb.orders", "mydb.orders.amount")
    assert "statement 2" in found.warnings[0]


def test_a_dialect_that_does_not_exist_is_a_warning() -> None:
    [warning] = parse_sql("SELECT 1", "klingon").warnings
    assert "klingon" in warning


def test_without_the_parser_there_is_a_warning_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real_import = builtins.__import__

    def without_sqlglot(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("sqlglot"):
            raise ImportError(name)
        return real_import(name, *rest, **named)

    for name in [name for name in sys.modules if name.partition(".")[0] == "sqlglot"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_sqlglot)
    assert entities_of_sql("SELECT amount FROM orders", SHOP) == ((), (NOT_INSTALLED,))


class Unreachable(HeldCatalog):
    def datasources(self) -> Collection[str]:
        raise StoreUnavailable


def test_a_catalog_out_of_reach_is_no_warning() -> None:
    with pytest.raises(StoreUnavailable):
        entities_of_sql("SELECT 1 FROM orders", Unreachable())


PIECES = st.sampled_from(
    """
    SELECT FROM WHERE orders customers o c amount name status id , , . . ( ) ( ) * AS WITH t AS JOIN ON USING LATERAL
    UNION INSERT INTO VALUES UPDATE SET DELETE MERGE CREATE TABLE VIEW UNNEST 'x' "y" `z` 1 = > AND IN EXISTS OVER
    ORDER BY GROUP BY HAVING LIMIT CASE END NULL ; -- RECURSIVE PIVOT FOR RETURNING o.amount mydb.orders x(a,b)
    """.split()
)
STARTS = st.sampled_from(
    ["", "SELECT ", "SELECT * FROM orders o WHERE ", "WITH t AS (SELECT * FROM orders) SELECT "]
)


@given(
    STARTS,
    st.lists(PIECES, max_size=15).map(" ".join) | st.text(),
    st.sampled_from([None, "postgres", "bigquery"]),
)
@example("WITH RECURSIVE t AS (SELECT * FROM t) SELECT x FROM t", "", None)
@example("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT x FROM b", "", None)
def test_no_text_makes_it_fail(start: str, rest: str, dialect: str | None) -> None:
    found = entities_of_sql(parse_sql(start + rest, dialect), SHOP)
    known = {model.canonical for model in SHOP.models}
    assert {".".join(canonical.split(".")[:2]) for canonical in found.canonicals} <= known


def test_a_long_chain_of_queries_is_followed_only_so_far() -> None:
    links = ", ".join(f"c{number} AS (SELECT * FROM c{number - 1})" for number in range(1, 1_000))
    text = f"WITH c0 AS (SELECT * FROM orders), {links} SELECT amount FROM c999"
    assert entities_of_sql(text, SHOP) == (("mydb.orders",), ())
