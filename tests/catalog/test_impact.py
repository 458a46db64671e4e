"""DOES impact foretell what a change would make stale, and change nothing?"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onrecord import OnRecord, connect
from onrecord.catalog.impact import escaped
from onrecord.catalog.renamed_columns import renamed_columns
from onrecord.errors import Forbidden, Invalid
from onrecord.model.catalog import Model, Part
from onrecord.operation import StorePolicy
from onrecord.testing.builders import everything
from onrecord.testing.shop import approved, described, write_source
from tests.catalog.staleness_table import BASE, MEMORIES, ModelFiles
from tests.conftest import Clock

pytestmark = pytest.mark.usefixtures("words_alone")


@pytest.fixture
def source(tmp_path: Path) -> ModelFiles:
    return ModelFiles(tmp_path / "source")


@pytest.fixture
def door(tmp_path: Path, clock: Clock, source: ModelFiles) -> Iterator[OnRecord]:
    with connect(tmp_path / "memory.db", clock=clock) as memory:
        memory.ingest(source.write(BASE))
        clock.tick()
        for kind, given in MEMORIES.items():
            memory.remember(kind, alike="keep", **given)
        yield memory


def told(door: OnRecord, **ask: Any) -> dict[str, str]:
    answer = door.impact(**ask)
    return {each.title: each.reason for each in (*answer.memories, *answer.example_queries)}


AMOUNT = {"a column", "the model", "a query", "SQL"}
STATUS = {"another column", "the model"}
EVERY = AMOUNT | STATUS | {"a query that counts"}
#: What each migration would make stale, in whichever dialect it is written.
MIGRATIONS: dict[str, set[str]] = {
    "ALTER TABLE orders DROP COLUMN amount": AMOUNT,
    "ALTER TABLE public.orders DROP COLUMN IF EXISTS amount CASCADE": AMOUNT,
    'ALTER TABLE "orders" DROP COLUMN "amount"': AMOUNT,
    "ALTER TABLE ORDERS DROP COLUMN AMOUNT": AMOUNT,
    "ALTER TABLE orders DROP COLUMN amount, DROP COLUMN status": AMOUNT | STATUS,
    "ALTER TABLE orders RENAME COLUMN amount TO total": AMOUNT,
    "ALTER TABLE orders ALTER COLUMN status TYPE integer USING status::integer": STATUS,
    "ALTER TABLE orders ALTER COLUMN status SET DATA TYPE integer": STATUS,
    "ALTER TABLE orders MODIFY COLUMN status INT": STATUS,
    "ALTER TABLE orders CHANGE amount total REAL": AMOUNT,
    "DROP TABLE IF EXISTS orders": EVERY,
    "DROP TABLE customers, orders": EVERY,
    "ALTER TABLE orders RENAME TO purchases": EVERY,
    "CREATE OR REPLACE TABLE orders (id INTEGER, amount REAL, placed TEXT)": STATUS,
    "DROP TABLE orders; CREATE TABLE orders (id INTEGER, amount REAL, placed TEXT)": STATUS,
    "CREATE OR REPLACE VIEW orders AS SELECT id, amount, placed FROM raw": STATUS,
    "CREATE OR REPLACE VIEW orders (id, amount, placed) AS SELECT a, b, c FROM raw": STATUS,
    "ALTER TABLE orders RENAME amount TO total": AMOUNT,
    "ALTER TABLE ONLY orders DROP COLUMN amount, OWNER TO ann": AMOUNT,
    "ALTER TABLE `project.shop.orders` DROP COLUMN amount": AMOUNT,
    "ALTER TABLE [dbo].[Orders] DROP COLUMN [Amount]": AMOUNT,
    "DO $$ BEGIN RAISE NOTICE 'x; DROP TABLE orders'; END $$; -- ;\n/* ; */ DROP TABLE orders": EVERY,
    # A table that is made beside the old one, and takes its name.
    "CREATE TABLE fresh (id INTEGER, amount REAL, placed TEXT); DROP TABLE orders; ALTER TABLE fresh RENAME TO orders": (
        STATUS
    ),
    "CREATE TABLE fresh (id int, amount real); ALTER TABLE fresh ADD status text, ADD placed text;"
    "ALTER TABLE orders RENAME TO old; ALTER TABLE fresh RENAME TO orders; DROP TABLE old": set(),
    # The way back stands in the same file.
    "-- +goose Up\nALTER TABLE orders DROP amount;\n-- +goose Down\nALTER TABLE orders ADD amount REAL;": AMOUNT,
    "-- migrate:down\nDROP TABLE orders;\n-- migrate:up\nALTER TABLE orders ADD tax REAL;": set(),
    "-- Down payments are gone.\nALTER TABLE orders DROP COLUMN amount": AMOUNT,
    # And back again: in the end nothing has changed.
    "ALTER TABLE orders DROP COLUMN placed; ALTER TABLE orders ADD COLUMN placed TEXT": set(),
    "ALTER TABLE orders RENAME TO kept; ALTER TABLE kept RENAME TO orders": set(),
    # None of these touches what someone knows.
    "ALTER TABLE orders ADD COLUMN tax REAL": set(),
    "ALTER TABLE orders ALTER COLUMN status TYPE text": set(),
    "ALTER TABLE orders ALTER COLUMN status SET NOT NULL": set(),
    "ALTER TABLE orders ADD CONSTRAINT positive CHECK (amount > 0)": set(),
    "ALTER TABLE orders OWNER TO ann, ENABLE ROW LEVEL SECURITY": set(),
    "ALTER TABLE orders DROP PRIMARY KEY": set(),
    "ALTER TABLE orders SET (fillfactor = 70)": set(),
    "ALTER TABLE elsewhere DROP COLUMN amount": set(),
    "CREATE INDEX fast ON orders (amount)": set(),
    "CREATE TABLE fresh (id INTEGER)": set(),
    "INSERT INTO orders (id) VALUES (1); UPDATE orders SET amount = 0; GRANT SELECT ON orders TO bob": set(),
    "BEGIN; ALTER TABLE orders DROP COLUMN amount; COMMIT": AMOUNT,
}


def test_the_ddl_of_a_migration_is_played_on_the_models_that_are_known(door: OnRecord) -> None:
    before = everything(door._store)
    found = {sql: set(told(door, sql=sql)) for sql in MIGRATIONS}
    assert found == MIGRATIONS
    assert [sql for sql in MIGRATIONS if door.impact(sql=sql).unread and not sql.startswith("DO ")] == []
    assert everything(door._store) == before


def test_a_table_is_found_by_its_name_in_the_database_in_any_case_and_in_its_own_datasource(
    door: OnRecord, source: ModelFiles
) -> None:
    models = source.folder / "models"
    for datasource, model, table in (
        ("shop", "sales", 'analytics."FCT_Sales"'),
        ("shop", "Größe", "Größe"),
        ("other", "orders", "orders"),
    ):
        (models / datasource).mkdir(exist_ok=True)
        columns = [{"name": "Straße", "type": "TEXT"}, {"name": "net", "type": "REAL"}]
        written = {"name": model, "data_source": datasource, "sql_table": table, "columns": columns}
        (models / datasource / f"{model}.yaml").write_text(json.dumps(written), encoding="utf-8")
    door.ingest(str(source.folder))
    for entity in ("shop.sales.net", "shop.Größe.Straße", "other.orders.net"):
        door.remember(entity, entities=[entity], alike="keep")
    assert set(told(door, sql="DROP TABLE Analytics.fct_sales")) == {"shop.sales.net"}
    assert set(told(door, sql="ALTER TABLE größe DROP COLUMN straße")) == {"shop.Größe.Straße"}
    # What was changed in one datasource is not taken for its namesake in another.
    both = "ALTER TABLE shop.orders ADD tax REAL; ALTER TABLE other.orders DROP COLUMN net"
    assert set(told(door, sql=both)) >= {"other.orders.net"}
    with pytest.raises(Invalid, match="exists in multiple datasources"):
        door.impact(sql="ALTER TABLE orders DROP COLUMN net")
    # The queries that were saved before have been ambiguous since the ingest.
    found = told(door, sql="ALTER TABLE orders DROP COLUMN net", datasource="other")
    assert ("other.orders.net" in found, "the model" in found) == (True, False)


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE orders FROBNICATE amount",
        "EXEC sp_rename 'orders.amount', 'total', 'COLUMN'",
        "DROP SCHEMA shop CASCADE",
        "CREATE OR REPLACE VIEW orders AS SELECT * FROM raw",
        "CREATE OR REPLACE RECURSIVE VIEW orders (id) AS SELECT 1",
        "CREATE OR REPLACE TABLE orders CLONE fresh",
        "UNDROP TABLE orders",
        "DO $$ BEGIN ALTER TABLE orders DROP COLUMN amount; END $$",
    ],
)
def test_what_is_not_understood_is_told_and_is_not_taken_for_no_change(sql: str, door: OnRecord) -> None:
    answer = door.impact(sql=sql)
    assert (len(answer.unread), answer.healthy) == (1, False)


def test_what_is_no_change_at_all_is_refused(door: OnRecord, tmp_path: Path) -> None:
    (tmp_path / "bytes.sql").write_bytes(b"\xff\xfe")
    for ask, reason in (
        ({"sql": "ALTER TABLE orders DROP COLUMN ((("}, "could not be read as SQL"),
        ({"sql": "orders shall have no amount"}, "could not be read as SQL"),
        ({"path": str(tmp_path / "nowhere.sql")}, "cannot be read"),
        ({"path": str(tmp_path / "bytes.sql")}, "not UTF-8"),
        ({"path": str(tmp_path / "nowhere")}, "does not exist"),
        ({"sql": "DROP TABLE orders", "datasource": "nowhere"}, "not in the catalog"),
        ({"sql": "DROP TABLE orders", "path": "x.sql"}, "either a path or the SQL"),
        ({}, "either a path or the SQL"),
    ):
        with pytest.raises(Invalid, match=reason):
            door.impact(**ask)


def test_it_tells_whom_to_ask_and_only_of_what_the_caller_sees(
    door: OnRecord, source: ModelFiles, clock: Clock
) -> None:
    bob = door.as_caller(
        replace(door.caller, user="bob", permissions=frozenset({"memory.read", "memory.manage"}))
    )
    bob.remember("Mine alone.", entities=["shop.orders.status"], scope="user")
    eve = bob.as_caller(replace(bob.caller, user="eve"))
    ask = {"sql": "ALTER TABLE orders DROP COLUMN status"}
    owners = {each.title: each.owner for each in bob.impact(**ask).memories}
    assert owners == {"another column": "ann", "the model": "ann", "Mine alone.": "bob"}
    assert set(told(eve, **ask)) == STATUS
    # What is stale already would not go stale.
    door.revise(door.browse(entities=["shop.orders.status"]).memories[-1].id, status="stale")
    assert len(told(door, **ask)) == 2


def test_a_server_reads_no_file_of_the_callers_choice(
    door: OnRecord, source: ModelFiles, tmp_path: Path
) -> None:
    (tmp_path / "migration.sql").write_text("DROP TABLE orders", encoding="utf-8")
    allowed = str(source.folder)
    guarded = door.as_caller(door.caller, StorePolicy(sources=[allowed]))
    for path in (str(tmp_path / "migration.sql"), str(tmp_path), "sqlite:////etc/passwd"):
        with pytest.raises(Forbidden, match="ONRECORD_SOURCES"):
            guarded.impact(path)
    assert guarded.impact(allowed).healthy
    assert set(told(guarded, sql="DROP TABLE orders")) == EVERY


def test_amendments_that_would_lose_their_place_are_told(tmp_path: Path, clock: Clock) -> None:
    with connect(tmp_path / "amended.db", clock=clock) as door:
        door.ingest(write_source(tmp_path / "shop"))
        approved(door, described())
        door.apply("shop.orders")
        sql = door.impact(sql="ALTER TABLE orders DROP COLUMN amount")
        (gone,) = sql.amendments
        assert (gone.entity, gone.field, gone.owner) == ("shop.orders.amount", "description", "ann")
        assert gone.reason == "shop.orders.amount would be gone"
        (anew,) = door.impact(write_source(tmp_path / "shop", "Something new.")).amendments
        assert anew.reason == "its source would have another value than when it was promoted"
        (whole,) = door.impact(sql="DROP TABLE orders").amendments
        assert whole.reason == "shop.orders would be gone"


def test_a_new_model_may_make_a_query_ambiguous(door: OnRecord, source: ModelFiles) -> None:
    elsewhere = source.folder / "models" / "other"
    elsewhere.mkdir()
    written = '{"name": "orders", "data_source": "other", "sql_table": "orders", "columns": [{"name": "id"}]}'
    (elsewhere / "orders.yaml").write_text(written, encoding="utf-8")
    found = told(door, path=str(source.folder))
    assert set(found) == {"a query", "a query that counts", "SQL"}
    assert all("exists in multiple datasources" in reason for reason in found.values())


def test_the_markdown_shows_what_others_wrote_as_it_is(door: OnRecord) -> None:
    door.remember(
        "Ask @ann | <b>or</b> [me](http://x) `now`\n# and here", entities=["shop.orders.status"], alike="keep"
    )
    answer = door.impact(sql="ALTER TABLE orders DROP COLUMN status", format="markdown")
    assert answer.markdown is not None
    lines = answer.markdown.splitlines()
    assert lines[0] == "## Memories that this change would make stale"
    (line,) = [line for line in lines if "Ask" in line]
    assert r"@⁠ann \| &lt;b&gt;or&lt;/b&gt; \[me\](http://x) \`now\`" in line
    assert line.replace(r"\|", "").count("|") == 4
    assert (
        door.impact(sql="CREATE TABLE x (id INT)", format="markdown").markdown
        == "## No memory would go stale\n"
    )
    assert escaped("a\nb") == "a b"


def test_a_table_of_which_nothing_stayed_was_not_renamed_column_by_column() -> None:
    def wide(prefix: str) -> Model:
        parts = tuple(Part(name=f"{prefix}{number}", type="INT") for number in range(3_000))
        return Model(datasource="shop", name="wide", parts=parts)

    assert renamed_columns(wide("a"), wide("b")) == {}
    assert len(renamed_columns(wide("a"), wide("a"))) == 0
