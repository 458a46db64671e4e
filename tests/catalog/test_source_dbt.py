"""DOES what a real dbt writes become models with their lineage, and is everything else refused with a reason?"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from onrecord import connect
from onrecord.catalog.sources import Source, open_source
from onrecord.errors import Invalid
from onrecord.faces import slayer
from onrecord.model.catalog import Datasource, Join, Model, Part

PROJECT = Path(__file__).parent / "dbt_project"
# In an environment of its own: it pins libraries that this one needs in later versions.
DBT = Path(os.environ.get("ONRECORD_TEST_DBT", Path(sys.prefix) / "dbt" / "bin" / "dbt"))
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A small project as dbt leaves it after building and describing it; built once for all workers."""
    if not DBT.exists():
        pytest.fail(
            f"There is no dbt at {DBT}: python -m venv .venv/dbt && "
            ".venv/dbt/bin/pip install dbt-core==1.11.* dbt-duckdb==1.11.*, or name another with ONRECORD_TEST_DBT"
        )
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "dbt_project"
    with FileLock(f"{shared}.lock"):
        if not shared.exists():
            copy = shared.with_name("dbt_project_in_the_making")
            shutil.copytree(PROJECT, copy)
            run_dbt(copy)
            copy.rename(shared)
    return shared


#: Both in one process: most of the time of either goes into loading dbt.
COMMANDS = """
from dbt.cli.main import dbtRunner
quiet = ("--no-send-anonymous-usage-stats", "--no-version-check", "--quiet")
for command in (("build",), ("docs", "generate")):
    done = dbtRunner().invoke([*quiet, *command, "--profiles-dir", "."])
    if not done.success:
        raise SystemExit(f"dbt {' '.join(command)} failed: {done.exception}")
"""


def run_dbt(project: Path) -> None:
    """Without telling anyone, and without a way out."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent),
        "CORNER_SHOP_FILE": str(project / "corner_shop.duckdb"),
        "DO_NOT_TRACK": "1",
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE),
    }
    done = subprocess.run(
        [DBT.resolve().with_name("python"), "-c", COMMANDS],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def shop(built: Path) -> Source:
    return open_source(str(built))


def by_name(source: Source) -> dict[str, Model]:
    return {model.name: model for model in source.models()}


Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def changed(built: Path, tmp_path: Path) -> Callable[..., Source]:
    """The built manifest, and its catalog, after a change."""

    def change_it(change: Change, file: str = "manifest.json") -> Source:
        for name in ("manifest.json", "catalog.json"):
            shutil.copy(built / "target" / name, tmp_path / name)
        content = json.loads((tmp_path / file).read_text(encoding="utf-8"))
        change(content)
        (tmp_path / file).write_text(json.dumps(content), encoding="utf-8")
        return open_source(str(tmp_path))

    return change_it


def test_models_seeds_snapshots_and_sources_are_models_and_ephemeral_ones_are_none(shop: Source) -> None:
    assert {name: (model.details["resource_type"], model.form) for name, model in by_name(shop).items()} == {
        "all_days": ("model", "table"),
        "customer_history": ("snapshot", "table"),
        "hidden_totals": ("model", "table"),
        "loyalty_v1": ("model", "table"),
        "loyalty_v2": ("model", "table"),
        "old_spending": ("model", "table"),
        "source_till_sales": ("source", "table"),
        "spending": ("model", "table"),
        "stg_customers": ("model", "view"),
        "stg_sales": ("model", "view"),
        "till_customers": ("seed", "table"),
        "till_opening_hours": ("source", "table"),
        "till_sales": ("seed", "table"),
    }


def test_a_model_is_read_with_everything_that_dbt_knows_of_it(shop: Source) -> None:
    assert by_name(shop)["spending"] == Model(
        datasource="corner_shop",
        name="spending",
        form="table",
        description="What each customer spent.",
        tags=("finance", "weekly"),
        parts=(
            Part(
                name="customer_id",
                type="INTEGER",
                description="The customer.",
                tags=("key",),
                details={"primary_key": True, "meta": {"shown_as": "Customer"}},
            ),
            Part(name="spent", type="DOUBLE"),
            Part(name="largest", type="DOUBLE"),
            Part(name="seen_on", details={"sql": "current_date"}),
            Part(name="total_spent", kind="measure", label="Total spent", details={"formula": "spent:sum"}),
        ),
        joins=(Join(target="stg_customers", pairs=(("customer_id", "customer_id"),)),),
        upstream=("corner_shop.stg_customers", "corner_shop.stg_sales"),
        aliases=("urn:li:dataset:(urn:li:dataPlatform:duckdb,corner_shop.main.spending,PROD)",),
        details={
            "sql_table": "corner_shop.main.spending",
            "unique_id": "model.corner_shop.spending",
            "resource_type": "model",
            "materialized": "table",
            "meta": {"owner": "accounts"},
            "default_time_dimension": "seen_on",
        },
    )


def test_semantic_models_and_metrics_are_measures_joins_and_columns(shop: Source) -> None:
    sales = by_name(shop)["stg_sales"]
    measures = {part.name: part.details["formula"] for part in sales.parts if part.kind == "measure"}
    large, small = (f"{{{{ Dimension('sale__size') }}}} = '{size}'" for size in ("large", "small"))
    assert measures == {
        # A column has the name already; the metric that only shows it has no other place.
        "amount_measure": "amount:avg",
        "doubled": "sum(amount * 2)",
        "sales": "sum(1)",
        "customers": "customer_id:count_distinct",
        "nearly_most": "amount:percentile(p=0.99)",
        "stock": "amount:sum at the last sold_at",
        # The metric says more than the measure of its name: it has a filter.
        "doubled_metric": "doubled",
        "share": f"doubled_metric (where {small}) / total_spent",
        "growth": "(amount - before) / before where amount = amount_measure, before = amount_measure (1 month earlier)",
        "so_far": "cumulative(amount_measure, grain_to_date=month)",
        "of_a_week": "cumulative(doubled, window=7 day)",
        "comes_back": "conversion(customers, sales, window=7 day, entity=customer, calculation=conversion_rate)",
    }
    parts = {part.name: part for part in sales.parts}
    assert parts["doubled_metric"].details["filter"] == large
    assert (parts["amount_measure"].label, parts["amount_measure"].description) == (
        "Usual sale",
        "What a sale brings.",
    )
    assert parts["share"].description == "The share."
    assert parts["amount"].label == "Pounds"
    assert parts["size"].details["sql"] == "case when amount >= 10 then 'large' else 'small' end"
    assert parts["sale_id"].details["primary_key"] is True
    assert Join(target="spending", pairs=(("customer_id", "customer_id"),)) in sales.joins
    assert shop.notes() == []


def test_a_metric_may_aggregate_by_itself_and_one_of_another_project_is_left_out(
    changed: Callable[..., Source],
) -> None:
    def later(manifest: dict[str, Any]) -> None:
        own = {"semantic_model": "sales_semantics", "agg": "max", "expr": "amount"}
        for name, params in (
            ("dearest", {"metric_aggregation_params": own}),
            ("lost", {"measure": {"name": "of_another_project"}}),
        ):
            told = {"name": name, "type": "simple", "type_params": params}
            manifest["metrics"][f"metric.corner_shop.{name}"] = told

    source = changed(later)
    assert by_name(source)["stg_sales"].part("dearest").details["formula"] == "amount:max"  # type: ignore[union-attr]
    assert source.notes() == ["Left out, since their models are not in the catalog: lost"]


def test_what_metricflow_reads_stands_for_the_manifest_beside_it(built: Path) -> None:
    folder = built / "target"
    semantic = open_source(str(folder / "semantic_manifest.json"))
    assert by_name(semantic) == by_name(open_source(str(folder / "manifest.json")))


def test_a_measure_of_dbt_can_be_named_in_a_note(built: Path) -> None:
    with connect(":memory:", embedder="none") as door:
        door.ingest(str(built))
        slayer.save_memory(door, "never above one", ["stg_sales.share"], id="n")
        assert door.show("n").memory.entities == ("corner_shop.stg_sales.share",)
        assert slayer.search(door, question="share")["entities"][0]["kind"] == "measure"


def test_lineage_goes_through_what_has_no_rows_and_down_to_the_sources(shop: Source) -> None:
    upstream = {name: model.upstream for name, model in by_name(shop).items()}
    assert upstream["stg_sales"] == ("corner_shop.source_till_sales", "corner_shop.till_sales")
    assert upstream["spending"] == ("corner_shop.stg_customers", "corner_shop.stg_sales")
    assert upstream["loyalty_v2"] == ("corner_shop.loyalty_v1",)
    assert upstream["customer_history"] == ("corner_shop.till_customers",)
    assert upstream["till_sales"] == upstream["source_till_sales"] == ()


def test_a_date_of_deprecation_makes_a_model_deprecated(shop: Source) -> None:
    models = by_name(shop)
    assert [name for name, model in models.items() if model.state == "deprecated"] == ["old_spending"]
    assert models["old_spending"].details["deprecation_date"].startswith("2025-01-01")


def test_what_is_not_shown_in_the_documentation_is_hidden(shop: Source) -> None:
    assert [name for name, model in by_name(shop).items() if model.hidden] == ["hidden_totals"]


def test_a_source_has_its_description_tags_and_the_columns_that_the_database_lists(shop: Source) -> None:
    sales = by_name(shop)["source_till_sales"]
    assert (sales.description, sales.tags) == ("One row for each sale at the till.", ("nightly",))
    assert sales.details["meta"] == {"owner": "shop floor"}
    assert [(part.name, part.type, part.description) for part in sales.parts] == [
        ("id", "INTEGER", None),
        ("customer_id", "INTEGER", None),
        ("pence", "INTEGER", "Price paid, in pence."),
        ("sold_at", "DATE", None),
    ]


def test_one_table_has_one_alias_though_it_is_both_seed_and_source(shop: Source) -> None:
    models = by_name(shop)
    assert models["till_sales"].details["sql_table"] == models["source_till_sales"].details["sql_table"]
    assert len(models["till_sales"].aliases) == 1
    assert models["source_till_sales"].aliases == ()
    aliases = [alias for model in models.values() for alias in model.aliases]
    assert len(aliases) == len(set(aliases)) == len(models) - 1


def test_the_datasource_is_called_like_the_project_unless_told_otherwise(built: Path) -> None:
    assert open_source(str(built)).datasources() == [
        Datasource(name="corner_shop", details={"type": "duckdb"})
    ]
    renamed = open_source(str(built), datasource="warehouse")
    assert [datasource.name for datasource in renamed.datasources()] == ["warehouse"]
    assert by_name(renamed)["loyalty_v2"].upstream == ("warehouse.loyalty_v1",)


def test_what_holds_no_rows_is_left_out_with_a_note(shop: Source, changed: Callable[..., Source]) -> None:
    assert shop.notes() == []
    saved = changed(
        lambda manifest: manifest["saved_queries"].update({"saved_query.weekly": {"name": "weekly"}})
    )
    assert saved.notes() == [
        "What is defined under saved_queries is left out (1): it holds no rows of its own",
    ]
    assert shop.priority() is None


def test_every_way_to_name_a_project_gives_the_same(built: Path) -> None:
    ways = [open_source(str(path)) for path in (built, built / "target", built / "target" / "manifest.json")]
    assert len({tuple(way.fingerprints().items()) for way in ways}) == 1
    assert [list(way.models()) for way in ways] == [list(ways[0].models())] * 3


def test_only_the_wanted_models_come_out(shop: Source) -> None:
    assert [model.name for model in shop.models(["corner_shop.spending", "corner_shop.large_sales"])] == [
        "spending"
    ]
    assert list(shop.fingerprints()) == [model.canonical for model in shop.models()]


def test_a_later_run_that_changes_nothing_changes_no_fingerprint(
    shop: Source, changed: Callable[..., Source]
) -> None:
    def run_later(manifest: dict[str, Any]) -> None:
        manifest["metadata"] |= {"generated_at": "2030-01-01T00:00:00Z", "invocation_id": "another"}
        for node in manifest["nodes"].values():
            node["created_at"] += 1000
        manifest["nodes"] = dict(reversed(manifest["nodes"].items()))

    assert changed(run_later).fingerprints() == shop.fingerprints()


def test_a_fingerprint_changes_with_its_model_alone(shop: Source, changed: Callable[..., Source]) -> None:
    def describe(manifest: dict[str, Any]) -> None:
        manifest["nodes"]["model.corner_shop.spending"]["columns"]["spent"]["description"] = "In pounds."

    before, after = shop.fingerprints(), changed(describe).fingerprints()
    assert {name for name in before if before[name] != after[name]} == {"corner_shop.spending"}


def test_without_a_catalog_types_are_those_that_people_wrote_down(built: Path, tmp_path: Path) -> None:
    shutil.copy(built / "target" / "manifest.json", tmp_path)
    source = open_source(str(tmp_path))
    models = by_name(source)
    assert [(part.name, part.type) for part in models["spending"].parts] == [
        ("customer_id", "integer"),
        ("spent", "double"),
        ("largest", "double"),
        ("seen_on", None),
        ("total_spent", None),
    ]
    columns = [part.name for part in models["stg_sales"].parts if part.kind == "column"]
    assert columns == ["amount", "sold_at", "size"]
    assert "There is no catalog.json" in source.notes()[-1]


def test_a_database_that_shouts_its_names_has_the_same_columns(changed: Callable[..., Source]) -> None:
    def shout(catalog: dict[str, Any]) -> None:
        listed = catalog["nodes"]["model.corner_shop.spending"]
        listed["columns"] = {
            name.upper(): {**column, "name": name.upper()} for name, column in listed["columns"].items()
        }
        listed["columns"]["EXTRA"] = {
            "name": "EXTRA",
            "type": "TEXT",
            "index": 0,
            "comment": "Not described.",
        }

    spending = by_name(changed(shout, "catalog.json"))["spending"]
    assert [(part.name, part.type) for part in spending.parts] == [
        ("EXTRA", "TEXT"),
        ("customer_id", "INTEGER"),
        ("spent", "DOUBLE"),
        ("largest", "DOUBLE"),
        ("seen_on", None),
        ("total_spent", None),
    ]
    assert spending.parts[0].description == "Not described."


@pytest.mark.parametrize("version", [9, 10, 11, 12])
def test_manifests_of_four_versions_are_understood(changed: Callable[..., Source], version: int) -> None:
    def age(manifest: dict[str, Any]) -> None:
        manifest["metadata"]["dbt_schema_version"] = (
            f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"
        )
        if version == 9:
            del manifest["metadata"]["project_name"]
            for node in manifest["nodes"].values():
                node.pop("primary_key", None)

    source = changed(age)
    assert by_name(source)["spending"].parts[0].details["primary_key"]
    assert source.datasources()[0].name == "corner_shop"


@pytest.mark.parametrize("version", [8, 13, 20])
def test_another_version_is_unknown(changed: Callable[..., Source], version: int) -> None:
    url = f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"
    source = changed(lambda manifest: manifest["metadata"].update(dbt_schema_version=url))
    with pytest.raises(Invalid, match=f"version v{version}, which is unknown; we can read v9 to v12"):
        source.models()


def test_another_version_of_the_catalog_is_unknown(changed: Callable[..., Source]) -> None:
    url = "https://schemas.getdbt.com/dbt/catalog/v2.json"
    source = changed(lambda catalog: catalog["metadata"].update(dbt_schema_version=url), "catalog.json")
    with pytest.raises(
        Invalid, match=r"catalog\.json: is a catalog of version v2, which is unknown; we can read v1"
    ):
        source.fingerprints()


def test_what_dbt_could_not_list_is_noted(changed: Callable[..., Source]) -> None:
    source = changed(lambda catalog: catalog.update(errors=["no rights on main"]), "catalog.json")
    assert source.notes()[-1] == "dbt could not list everything: no rights on main"


def test_names_that_are_taken_are_told_apart_by_package_and_the_projects_own_come_first(
    changed: Callable[..., Source],
) -> None:
    def add_packages(manifest: dict[str, Any]) -> None:
        spending = manifest["nodes"]["model.corner_shop.spending"]
        for package in ("abacus", "zebra"):
            manifest["nodes"][f"model.{package}.spending"] = {
                **spending,
                "package_name": package,
                "schema": package,
                "columns": {},
            }

    models = by_name(changed(add_packages))
    assert models["spending"].details["sql_table"] == "corner_shop.main.spending"
    assert models["abacus_spending"].details["sql_table"] == "corner_shop.abacus.spending"
    assert models["zebra_spending"].details["sql_table"] == "corner_shop.zebra.spending"


def test_odd_names_become_legal_ones(changed: Callable[..., Source]) -> None:
    def rename(manifest: dict[str, Any]) -> None:
        node = manifest["nodes"]["model.corner_shop.spending"]
        node["name"], node["columns"] = "spending.all", {"a b": {"name": "a b"}}

    model = by_name(changed(rename))["spending_all"]
    assert {part.name: part.details for part in model.parts}["a_b"] == {"sql": '"a b"'}


def test_lineage_that_runs_in_a_circle_ends(changed: Callable[..., Source]) -> None:
    def turn(manifest: dict[str, Any]) -> None:
        manifest["nodes"]["model.corner_shop.large_sales"]["depends_on"]["nodes"] += [
            "model.corner_shop.largest_sales",
            "model.corner_shop.large_sales",
            "model.corner_shop.gone",
        ]

    assert by_name(changed(turn))["spending"].upstream == (
        "corner_shop.stg_customers",
        "corner_shop.stg_sales",
    )


def test_deprecated_in_meta_is_deprecated_too(changed: Callable[..., Source]) -> None:
    def deprecate(manifest: dict[str, Any]) -> None:
        manifest["nodes"]["model.corner_shop.spending"]["meta"] = {}
        manifest["nodes"]["model.corner_shop.spending"]["config"]["meta"] = {"deprecated": True}

    assert by_name(changed(deprecate))["spending"].state == "deprecated"


def test_a_platform_without_databases_has_shorter_addresses(changed: Callable[..., Source]) -> None:
    def drop_database(manifest: dict[str, Any]) -> None:
        manifest["metadata"]["adapter_type"] = "spark"
        manifest["nodes"]["model.corner_shop.spending"]["database"] = None

    [alias] = by_name(changed(drop_database))["spending"].aliases
    assert alias == "urn:li:dataset:(urn:li:dataPlatform:spark,main.spending,PROD)"


def test_two_packages_and_no_name_of_the_project_ask_for_a_datasource(
    changed: Callable[..., Source], tmp_path: Path
) -> None:
    def hide(manifest: dict[str, Any]) -> None:
        del manifest["metadata"]["project_name"]
        manifest["nodes"]["model.corner_shop.spending"]["package_name"] = "other"

    with pytest.raises(
        Invalid, match=r"datasource: .* does not contain the project's name; give a name for the datasource"
    ):
        changed(hide).datasources()
    assert open_source(str(tmp_path), datasource="shop").datasources()[0].name == "shop"


NODE = "nodes.model.corner_shop.spending"


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("columns", [], "columns: must be an object"),
        ("columns", {"a": 5}, "columns.a: must be an object"),
        ("columns", {"a": {}}, "columns.a.name: must be a text"),
        ("tags", {"a": 1}, "tags: must be a list"),
        ("tags", [1], "tags[0]: must be a text"),
        ("name", None, "name: must be a text"),
        ("description", 5, "description: must be a text"),
        ("description", "a\0b", "description: contains a NUL character"),
        ("description", "a\ud800b", "description: contains a lone surrogate"),
        ("meta", "x", "meta: must be an object"),
        ("meta", {"x": float("nan")}, "meta: contains nan"),
        ("depends_on", {"nodes": 5}, "depends_on.nodes: must be a list"),
        ("config", [1], "config: must be an object"),
    ],
)
def test_a_fault_in_the_manifest_is_told_with_its_place(
    changed: Callable[..., Source], key: str, value: Any, says: str
) -> None:
    source = changed(lambda manifest: manifest["nodes"]["model.corner_shop.spending"].update({key: value}))
    with pytest.raises(Invalid) as refused:
        source.models()
    assert f"manifest.json.{NODE}.{says}" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not JSON: Expecting value at line 1, column 1"),
        ("{\n", "is not JSON: .* at line 2, column 1"),
        ("[]", "is not a JSON object"),
        ("{}", "is not a manifest.json of dbt: it does not say which version"),
        ('{"name": "a web page", "icons": []}', "it does not say which version"),
        ('{"metadata": 5}', "metadata: must be an object"),
        ('{"metadata": {"dbt_schema_version": 12}}', "dbt_schema_version: must be a text"),
        (
            '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"}}',
            r"it says that it is https://schemas\.getdbt\.com/dbt/catalog/v1\.json",
        ),
        ("[" * 100_000, "is not JSON that can be read"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(Invalid, match=says):
        open_source(str(tmp_path)).models()


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(Invalid, match="is not JSON that can be read"):
        open_source(str(tmp_path)).models()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(
    "name resource_type package_name columns tags meta config depends_on docs source_name version identifier "
    "alias schema database description deprecation_date constraints primary_key test_metadata attached_node".split()
)
kinds = st.fixed_dictionaries(
    {"resource_type": st.sampled_from(["model", "seed", "test"]), "name": st.text(max_size=5)}
)
nodes = st.builds(lambda kind, rest: {**kind, **rest}, kinds, st.dictionaries(keys, anything, max_size=4))


@given(st.dictionaries(st.text(max_size=5), nodes | anything, max_size=3) | anything)
def test_no_nodes_make_a_reading_fail_in_another_way(
    tmp_path_factory: pytest.TempPathFactory, found: dict[str, Any]
) -> None:
    root = tmp_path_factory.getbasetemp() / "any_nodes"
    root.mkdir(exist_ok=True)
    url = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    manifest = {"metadata": {"dbt_schema_version": url, "project_name": "shop"}, "nodes": found}
    (root / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    source = open_source(str(root))
    try:
        assert list(source.fingerprints()) == sorted(model.canonical for model in source.models())
    except Invalid as refused:
        assert str(root) in str(refused)
