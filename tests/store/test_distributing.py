"""HOW is a store spread over servers? In which words, in which order, and what is said where it cannot be.

What a cluster makes of it is asked where one is at hand; here its functions only note that they were called.
"""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Table, UniqueConstraint, text

from onrecord import connect
from onrecord.app import distribute
from onrecord.errors import StoreUnavailable
from onrecord.store.postgres import distributing
from onrecord.store.tables import OF_TENANTS, metadata
from onrecord.surfaces.cli import main

#: As far as our statements know Citus. A table `broken` makes the next call fail.
PRETENDED = """
CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char", note text);
CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO pg_dist_partition VALUES (name, 'n', 't', 'everywhere') $$;
CREATE FUNCTION create_distributed_table(name regclass, by text, colocate_with text) RETURNS void LANGUAGE plpgsql
    AS $$ BEGIN
        IF name::text = 'relations' AND to_regclass('broken') IS NOT NULL THEN RAISE 'no worker is there'; END IF;
        INSERT INTO pg_dist_partition VALUES (name, 'h', 's', by || ' beside ' || colocate_with);
    END $$;
"""


@pytest.fixture
def pretended(postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store on a server that takes itself for a cluster."""
    connect(postgres_dsn).close()
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(PRETENDED)
    monkeypatch.setattr(distributing, "_INSTALLED", text("SELECT 1"))
    return postgres_dsn


def noted(dsn: str) -> list[tuple[str, str]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(
            "SELECT logicalrelid::text, note FROM pg_dist_partition ORDER BY ctid"
        ).fetchall()


def test_what_is_of_tenants_lies_beside_their_counters_and_the_rest_everywhere(pretended: str) -> None:
    spread = distribute(pretended)
    told = noted(pretended)
    assert [name for name, _ in told] == spread
    assert sorted(spread) == sorted([*metadata.tables, "onrecord_version"])
    everywhere = {name for name, note in told if note == "everywhere"}
    assert everywhere == {"store_facts", "tenants", "api_keys", "sign_ins", "onrecord_version"}
    of_tenants = [(name, note) for name, note in told if name not in everywhere]
    assert of_tenants[0] == ("counters", "tenant beside none")
    assert {note for _, note in of_tenants[1:]} == {"tenant beside counters"}
    with connect(pretended) as door:
        door.remember("The store is used as before.")


def test_what_is_spread_already_is_left_alone(pretended: str) -> None:
    distribute(pretended)
    assert distribute(pretended) == []


def test_the_command_says_what_it_has_spread(pretended: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert migrated("--distribute", "--db", pretended) == 0
    assert (
        "Distributed: store_facts, tenants, api_keys, sign_ins, counters, memories" in capsys.readouterr().out
    )
    assert migrated("--distribute", "--db", pretended) == 0
    assert "Every table was distributed already." in capsys.readouterr().out


def test_the_command_spreads_nothing_unasked(pretended: str) -> None:
    assert migrated("--db", pretended) == 0
    assert noted(pretended) == []


def migrated(*words: str) -> int:
    """How the command left."""
    with pytest.raises(SystemExit) as left:
        main(["migrate", *words])
    return int(left.value.code or 0)


def test_what_fails_midway_says_how_far_it_came_and_goes_on_from_there(pretended: str) -> None:
    with psycopg.connect(pretended, autocommit=True) as connection:
        connection.execute("CREATE TABLE broken ()")
        with pytest.raises(
            StoreUnavailable, match=r"no worker is there.*Done so far: store_facts, .* versions\."
        ):
            distribute(pretended)
        before = [name for name, _ in noted(pretended)]
        connection.execute("DROP TABLE broken")
    rest = distribute(pretended)
    assert rest[0] == "relations"
    assert [name for name, _ in noted(pretended)] == before + rest


def test_a_server_without_the_extension_says_what_to_install(postgres_store: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"has no extension citus.*CREATE EXTENSION citus"):
        distribute(postgres_store)


@pytest.mark.parametrize("name", ["store.db", "memories.yaml"])
def test_a_store_in_files_is_not_spread(name: str, tmp_path: Path) -> None:
    db = str(tmp_path / name)
    with connect(db) as door:
        door.remember("It stays where it is.")
    with pytest.raises(StoreUnavailable, match="only a PostgreSQL store can be distributed"):
        distribute(db)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="There is no store"):
        distribute(str(tmp_path / "none.db"))


@pytest.mark.parametrize("table", OF_TENANTS, ids=lambda table: table.name)
def test_the_tenant_is_in_whatever_must_be_unique(table: Table) -> None:
    """Each server can only see to it for the tenants that lie there."""
    unique = [
        table.primary_key,
        *(each for each in table.constraints if isinstance(each, UniqueConstraint)),
        *(index for index in table.indexes if index.unique),
    ]
    assert all("tenant" in each.columns for each in unique)


def test_the_documented_statements_are_the_ones_that_are_told() -> None:
    page = (Path(__file__).parents[2] / "docs" / "distributed.md").read_text()
    assert all(f"{statement};" in page for statement in distributing.statements())
