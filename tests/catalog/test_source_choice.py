"""IS what is given told apart by a look, and refused with a reason where it is nothing that is understood?"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.catalog.naming import legal_name, legal_names, why_no_name
from onrecord.catalog.sources import open_source
from onrecord.errors import Invalid

MANIFEST = {
    "metadata": {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "project_name": "shop",
        "adapter_type": "postgres",
    },
    "nodes": {},
    "sources": {},
}


def write_manifest(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(MANIFEST), encoding="utf-8")


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.data"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
    return path


@pytest.mark.parametrize("folder", ["models", "datasources"])
def test_a_folder_with_models_or_datasources_is_yaml(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    source = open_source(str(tmp_path))
    assert (source.kind, source.location) == ("yaml", str(tmp_path))


def test_a_dbt_project_is_not_taken_for_yaml_though_it_has_models(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    write_manifest(tmp_path / "target" / "manifest.json")
    assert open_source(str(tmp_path)).kind == "dbt"


def test_a_target_folder_and_a_manifest_itself_are_dbt(tmp_path: Path) -> None:
    write_manifest(tmp_path / "manifest.json")
    for given_path in (tmp_path, tmp_path / "manifest.json"):
        source = open_source(str(given_path))
        assert source.kind == "dbt"
        assert [datasource.name for datasource in source.datasources()] == ["shop"]


def test_a_yaml_folder_may_hold_a_manifest_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    assert open_source(str(tmp_path)).kind == "yaml"


def test_a_project_that_dbt_has_not_built_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: shop", encoding="utf-8")
    with pytest.raises(Invalid, match="run `dbt docs generate`"):
        list(open_source(str(tmp_path)).models())


def test_a_sqlite_file_is_known_by_its_first_bytes_whatever_it_is_called(sqlite_file: Path) -> None:
    source = open_source(str(sqlite_file))
    assert source.kind == "database"
    assert [model.canonical for model in source.models()] == ["shop.orders"]


def test_an_address_is_a_database(sqlite_file: Path) -> None:
    assert open_source(f"sqlite:///{sqlite_file}").kind == "database"
    assert open_source("postgresql://ann@localhost/shop").location == "postgresql://ann@localhost/shop"


@pytest.mark.parametrize("scheme", ["mysql", "duckdb", "http", "postgresql+asyncpg"])
def test_an_address_of_another_kind_says_which_are_understood_and_not_what_it_held(scheme: str) -> None:
    with pytest.raises(Invalid, match="sqlite:///, postgresql://") as refused:
        open_source(f"{scheme}://ann:hunter2@localhost/shop")
    assert scheme in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("address", ["postgresql://ann:hunter2@host:port/shop", "postgresql://[ann:hunter2"])
def test_a_broken_address_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(Invalid, match="is not an address") as refused:
        open_source(address)
    assert "hunter2" not in str(refused.value)


def test_keywords_in_place_of_an_address_are_refused_without_repeating_them() -> None:
    with pytest.raises(Invalid, match="postgresql://user@host/name") as refused:
        open_source("host=localhost dbname=shop password=hunter2")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_holds_nothing_to_read(address: str) -> None:
    with pytest.raises(Invalid, match="names no file"):
        open_source(address)


def test_an_empty_folder_says_what_was_seen_and_what_is_understood(tmp_path: Path) -> None:
    with pytest.raises(
        Invalid, match=r"is a folder without any of these; understood are .*YAML.*dbt.*SQLite"
    ):
        open_source(str(tmp_path))


def test_a_file_of_another_kind_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("SQLite", encoding="utf-8")
    with pytest.raises(Invalid, match="is a file that is neither"):
        open_source(str(tmp_path / "notes.txt"))


def test_nothing_at_the_path_says_so(tmp_path: Path) -> None:
    for path in (str(tmp_path / "absent"), str(tmp_path / "absent.json"), "nul\0byte"):
        with pytest.raises(Invalid, match="does not exist"):
            open_source(path)


@pytest.mark.parametrize("nothing", ["", "  "])
def test_an_empty_path_is_not_taken_for_the_folder_at_hand(nothing: str) -> None:
    with pytest.raises(Invalid, match="must not be empty"):
        open_source(nothing)


def test_what_would_be_passed_over_in_silence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    with pytest.raises(Invalid) as refused:
        open_source(str(tmp_path), datasource="shop", sample_values=3, schema="public")
    assert {fault.field for fault in refused.value.faults} == {"datasource", "sample_values", "schema"}


@pytest.mark.parametrize("count", [-1, 101])
def test_sample_values_have_bounds(sqlite_file: Path, count: int) -> None:
    with pytest.raises(Invalid, match="between 0 and 100"):
        open_source(str(sqlite_file), sample_values=count)


def test_the_datasource_may_be_called_otherwise(sqlite_file: Path) -> None:
    source = open_source(str(sqlite_file), datasource="till")
    assert [datasource.name for datasource in source.datasources()] == ["till"]
    assert [model.canonical for model in source.models()] == ["till.orders"]


@pytest.mark.parametrize(
    "name", ["", " ", "a.b", "a:b", "a/b", "a\\b", "a\0b", " a", "a ", "a\nb", "a" * 201]
)
def test_a_name_that_no_reference_can_hold_is_refused(sqlite_file: Path, name: str) -> None:
    with pytest.raises(Invalid, match="datasource: must"):
        open_source(str(sqlite_file), datasource=name)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)))
def test_every_text_gets_a_legal_name_of_its_own(texts: list[str]) -> None:
    names = legal_names(texts)
    assert names.keys() == set(texts)
    assert len(set(names.values())) == len(names)
    assert all(why_no_name(name) is None for name in names.values())
    assert legal_names(reversed(texts)) == names


@given(st.from_regex(r"[a-z_][a-z0-9_-]{0,30}", fullmatch=True))
def test_what_is_a_legal_name_keeps_it(name: str) -> None:
    assert legal_name(name) == name
    assert legal_names([name, f"{name}."])[name] == name
