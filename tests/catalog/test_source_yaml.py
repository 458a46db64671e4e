"""DO YAML files become the models that they describe, and does every fault in them name its file and line?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from onrecord import yaml_reader
from onrecord.catalog.naming import why_no_name
from onrecord.catalog.sources import open_source
from onrecord.errors import Invalid
from onrecord.model.catalog import Datasource, Join, Model, Part

Write = Callable[[str, str], Path]

ORDERS = """\
version: 6
name: orders
sql_table: public.orders
data_source: mydb
description: One row for each order.
columns:
  - name: id
    type: INT
    primary_key: true
  - name: amount
    type: DOUBLE
    description: Net of refunds.
    label: Amount
    format: {type: currency, symbol: "€"}
    allowed_aggregations: [sum, avg]
    meta: {tags: [money], owner: ann}
  - name: status
    sql: lower(status)
    filter: status is not null
    sampled: paid, open
    hidden: true
measures:
  - name: aov
    formula: amount:sum / *:count
    label: Average order
    type: DOUBLE
aggregations:
  - name: weighted_score
    formula: sum({value} * {weight})
    params: [{name: weight, sql: amount}]
    description: Weighs by amount.
  - name: weighted_avg
    params: [{name: weight, sql: amount}]
joins:
  - target_model: customers
    join_pairs: [[customer_id, id]]
    join_type: inner
  - target_model: regions
    join_pairs: [[region_id, id], [country, country]]
filters: [deleted_at is null]
default_time_dimension: ordered_at
meta: {deprecated: true, tags: [finance, old], since: 2024-01-31}
tags: [finance]
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(place: str, text: str) -> Path:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    return write_file


def read(root: Path) -> list[Model]:
    return list(open_source(str(root)).models())


def faults_of(root: Path) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        read(root)
    return [(fault.field.removeprefix(f"{root}/"), fault.message) for fault in refused.value.faults]


def only_fault(root: Path) -> tuple[str, str]:
    faults = faults_of(root)
    assert len(faults) == 1, faults
    return faults[0]


def test_a_model_is_read_with_everything_that_its_file_says(tmp_path: Path, write: Write) -> None:
    write("models/mydb/orders.yaml", ORDERS)
    assert read(tmp_path) == [
        Model(
            datasource="mydb",
            name="orders",
            form="table",
            description="One row for each order.",
            tags=("finance", "old"),
            state="deprecated",
            parts=(
                Part(name="id", type="INT", details={"primary_key": True}),
                Part(
                    name="amount",
                    type="DOUBLE",
                    description="Net of refunds.",
                    label="Amount",
                    tags=("money",),
                    details={
                        "format": {"type": "currency", "symbol": "€"},
                        "allowed_aggregations": ["sum", "avg"],
                        "meta": {"tags": ["money"], "owner": "ann"},
                    },
                ),
                Part(
                    name="status",
                    type="TEXT",
                    hidden=True,
                    details={
                        "sql": "lower(status)",
                        "filter": "status is not null",
                        "sampled": "paid, open",
                    },
                ),
                Part(
                    name="aov",
                    kind="measure",
                    label="Average order",
                    type="DOUBLE",
                    details={"formula": "amount:sum / *:count"},
                ),
                Part(
                    name="weighted_score",
                    kind="aggregation",
                    description="Weighs by amount.",
                    details={
                        "formula": "sum({value} * {weight})",
                        "params": [{"name": "weight", "sql": "amount"}],
                    },
                ),
                Part(
                    name="weighted_avg",
                    kind="aggregation",
                    details={"params": [{"name": "weight", "sql": "amount"}]},
                ),
            ),
            joins=(
                Join(target="customers", pairs=(("customer_id", "id"),), kind="inner"),
                Join(target="regions", pairs=(("region_id", "id"), ("country", "country"))),
            ),
            details={
                "sql_table": "public.orders",
                "filters": ["deleted_at is null"],
                "default_time_dimension": "ordered_at",
                "meta": {"deprecated": True, "tags": ["finance", "old"], "since": "2024-01-31"},
            },
        )
    ]


def test_the_form_follows_from_what_a_model_is_made_of(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", "{name: a, data_source: mydb, sql_table: a}")
    write("models/mydb/b.yaml", "{name: b, data_source: mydb, sql: select 1}")
    write("models/mydb/c.yaml", "{name: c, source_queries: [{source_model: a}], query_variables: {x: 1}}")
    assert [(model.name, model.form) for model in read(tmp_path)] == [
        ("a", "table"),
        ("b", "sql"),
        ("c", "query"),
    ]
    assert read(tmp_path)[2].details == {
        "source_queries": [{"source_model": "a"}],
        "query_variables": {"x": 1},
    }


def test_models_come_sorted_and_only_those_wanted(tmp_path: Path, write: Write) -> None:
    for canonical in ("b.y", "a.z", "b.x"):
        datasource, name = canonical.split(".")
        write(
            f"models/{datasource}/{name}.yaml", f"{{name: {name}, data_source: {datasource}, sql_table: t}}"
        )
    source = open_source(str(tmp_path))
    assert [model.canonical for model in source.models()] == ["a.z", "b.x", "b.y"]
    assert list(source.fingerprints()) == ["a.z", "b.x", "b.y"]
    assert [model.canonical for model in source.models({"b.y", "a.z", "no.such"})] == ["a.z", "b.y"]
    assert list(source.models([])) == []


def test_a_fingerprint_changes_with_its_file_alone(tmp_path: Path, write: Write) -> None:
    path = write("models/mydb/orders.yaml", ORDERS)
    write("models/mydb/broken.yaml", "[")
    source = open_source(str(tmp_path))
    before = source.fingerprints()
    assert open_source(str(tmp_path)).fingerprints() == before
    path.write_text(ORDERS.replace("Net of refunds", "Gross"), encoding="utf-8")
    after = source.fingerprints()
    assert after["mydb.orders"] != before["mydb.orders"]
    assert after["mydb.broken"] == before["mydb.broken"]


def test_only_what_is_wanted_is_read(tmp_path: Path, write: Write) -> None:
    write("models/mydb/orders.yaml", ORDERS)
    write("models/mydb/broken.yaml", "[")
    assert [model.name for model in open_source(str(tmp_path)).models(["mydb.orders"])] == ["orders"]


def test_what_version_seven_brought_is_read(tmp_path: Path, write: Write) -> None:
    write(
        "models/mydb/a.yaml",
        "version: 7\nname: a\ndata_source: mydb\nsql_table: a\nbacking_query_sql: SELECT 1\n"
        "columns:\n  - name: c\n    sampled_values: [x, y]\n    distinct_count: 2\n"
        "  - name: d\n    sampled: 1 .. 9\n    sampled_values: null\n"
        "joins:\n  - target_model: b\n    join_pairs: [[c, id]]\n    description: why\n    meta: {a: 1}\n",
    )
    [model] = open_source(str(tmp_path)).models()
    assert [part.details for part in model.parts] == [
        {"sampled": "x, y", "distinct_count": 2},
        {"sampled": "1 .. 9"},
    ]
    assert model.details["backing_query_sql"] == "SELECT 1"
    assert model.joins == (Join(target="b", pairs=(("c", "id"),)),)


@pytest.mark.parametrize("version", [1, 5, 6, 7])
def test_versions_up_to_seven_are_understood(tmp_path: Path, write: Write, version: int) -> None:
    write("models/mydb/a.yaml", f"version: {version}\nname: a\ndata_source: mydb\nsql_table: a\n")
    assert len(read(tmp_path)) == 1


def test_a_later_version_is_unknown(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", "name: a\nversion: 8\ndata_source: mydb\nsql_table: a\n")
    assert only_fault(tmp_path) == (
        "models/mydb/a.yaml, line 2",
        "version must be from 1 to 7 (got 8)",
    )


BASE = "name: a\ndata_source: mydb\nsql_table: a\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (BASE + "descripton: x\n", 4, "descripton is not a field of a model; did you mean description?"),
        (BASE + "xyzzy: x\n", 4, "xyzzy is not a field of a model, which has version, data_source, name,"),
        (BASE + "xyzzy:\n", 4, "xyzzy is not a field"),
        (
            BASE + "columns:\n  - name: b\n    colour: red\n",
            6,
            "columns[0].colour is not a field of a column",
        ),
        (
            BASE + "measures:\n  - name: b\n    hidden: true\n",
            6,
            "measures[0].hidden is not a field of a measure",
        ),
        (BASE + "columns:\n  - type: TEXT\n", 5, "columns[0].name is missing"),
        (BASE + "columns:\n  - name:\n", 5, "columns[0].name is missing"),
        (BASE + "columns:\n  - id\n", 5, "columns[0] must be a column, which is an object, not a text"),
        (BASE + "columns: id\n", 4, "columns must be a list, not a text"),
        (BASE + "columns:\n  - name: 5\n", 5, "name must be a text, not a number; put it in quotes"),
        (BASE + "columns:\n  - name: no\n", 5, "name must be a text, not true or false; put it in quotes"),
        (BASE + "columns:\n  - name: b.c\n", 5, "name must not contain '.'"),
        (BASE + "columns:\n  - name: 'b:sum'\n", 5, "name must not contain ':'"),
        (BASE + "columns:\n  - name: ' b'\n", 5, "name must not begin or end with a space"),
        (BASE + "columns:\n  - name: ''\n", 5, "name must not be empty"),
        (BASE + "columns:\n  - {name: b, hidden: maybe}\n", 5, "hidden must be true or false (got 'maybe')"),
        (
            BASE + "columns:\n  - {name: b, sampled: [[1]]}\n",
            5,
            "columns[0].sampled[0] must be a plain value",
        ),
        (
            BASE + "columns:\n  - name: b\n  - name: b\n",
            6,
            "columns[1].name 'b' is the name of columns[0] already",
        ),
        (BASE + "columns:\n  - name: b\nmeasures:\n  - name: b\n", 7, "is the name of columns[0] already"),
        (BASE + "aggregations:\n  - name: sum\n  - name: sum\n", 6, "is the name of aggregations[0] already"),
        (
            BASE + "aggregations:\n  - name: mine\n",
            5,
            "formula is missing; 'mine' is not a built-in aggregation",
        ),
        (
            BASE + "aggregations:\n  - {name: mine, formula: x, params: [{name: p}]}\n",
            5,
            "params[0].sql is missing",
        ),
        (BASE + "joins:\n  - target_model: b\n", 5, "joins[0].join_pairs is missing"),
        (BASE + "joins:\n  - join_pairs: [[x, y]]\n", 5, "joins[0].target_model is missing"),
        (BASE + "joins:\n  - {target_model: b, join_pairs: []}\n", 5, "join_pairs must not be empty"),
        (
            BASE + "joins:\n  - {target_model: b, join_pairs: [[x]]}\n",
            5,
            "join_pairs[0] must have two entries, a column here and a column there (has 1)",
        ),
        (
            BASE + "joins:\n  - {target_model: b, join_pairs: [[x, '']]}\n",
            5,
            "join_pairs[0][1] must not be empty",
        ),
        (
            BASE + "joins:\n  - {target_model: b, join_pairs: [[x, y]], join_type: outer}\n",
            5,
            "join_type must be one of left, inner (got 'outer')",
        ),
        (BASE + "filters: amount > 0\n", 4, "filters must be a list, not a text"),
        (BASE + "meta: [x]\n", 4, "meta must be a JSON object, not a list"),
        (BASE + "meta: {x: .nan}\n", 4, "meta contains nan, which JSON does not have"),
        (
            BASE + "meta: {x: !!binary aGk=}\n",
            4,
            "has the tag tag:yaml.org,2002:binary; write the value without one",
        ),
        (BASE + "meta: {x: !!python/name:os.system y}\n", 4, "has the tag"),
        (BASE + 'description: "a\\0b"\n', 4, "description contains a NUL character"),
        (BASE + "name: b\n", 4, "name is already at line 1"),
        (BASE + "meta: {<<: {x: 1}}\n", 4, "merges another object"),
        (BASE + "version: '6'\n", 4, "version must be a whole number from 1 to 7 (got '6')"),
        (BASE + "version: 0\n", 4, "version must be from 1 to 7 (got 0)"),
        (
            BASE + "sql: select 1\n",
            4,
            "exactly one of sql_table, sql and source_queries (has sql_table and sql)",
        ),
        ("name: a\ndata_source: mydb\n", 1, "exactly one of sql_table, sql and source_queries (has none)"),
        ("name: a\ndata_source: mydb\nsql: ' '\n", 3, "sql must not be empty"),
        ("name: a\nsource_queries: []\n", 2, "source_queries must not be empty"),
        ("name: a\nsource_queries: [x]\n", 2, "source_queries[0] must be a JSON object, not a text"),
        ("name: a\nsql_table: a\n", 1, "data_source is missing"),
        ("data_source: mydb\nsql_table: a\n", 1, "name is missing"),
        (
            "name: other\ndata_source: mydb\nsql_table: a\n",
            1,
            "name is 'other' but the file is called 'a.yaml'",
        ),
        ("name: a\ndata_source: other\nsql_table: a\n", 2, "is 'other' but the folder is called 'mydb'"),
        ("", 1, "is empty"),
        ("# only a remark\n", 1, "is empty"),
        ("- name: a\n", 1, "must be a model, which is an object, not a list"),
        ("just words\n", 1, "must be a model, which is an object, not a text"),
        ("name: a\ncolumns: [\n", 2, "is not YAML"),
        ("name: a\n\tb: c\n", 2, "is not YAML"),
        ("name: a\n---\nname: b\n", 2, "begins a second document"),
        ("name: *nowhere\n", 1, "refers (with *) to an anchor that is not defined before it"),
        ("name: a\nsql: \x07\n", 2, "holds the character '\\x07'"),
        ("name: a\nsql: \udcff\n", 2, "is not UTF-8"),
        ("[" * 100_000, 1, "is nested too deeply"),
        ("- " * 100_000, 1, "is nested too deeply"),
        ("? " * 100_000, 1, "is nested too deeply"),
        ("".join(f"{' ' * level}a:\n" for level in range(1000)), 37, "is nested too deeply"),
        (BASE + "meta: &m {x: *m}\n", 4, "refers (with *) to an anchor that is not defined before it"),
    ],
)
def test_a_fault_is_told_with_its_file_and_line(
    tmp_path: Path, write: Write, text: str, line: int, says: str
) -> None:
    write("models/mydb/a.yaml", text)
    place, message = only_fault(tmp_path)
    assert place == f"models/mydb/a.yaml, line {line}"
    assert says in message


def test_the_slower_parser_tells_the_same(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_reader, "_LOADER", yaml.SafeLoader)
    path = write("models/mydb/orders.yaml", ORDERS)
    assert read(tmp_path)[0].part("aov") is not None
    path.write_text(BASE + 'description: "\\ud800"\n', encoding="utf-8")
    assert "lone surrogate" in faults_of(tmp_path)[1][1]
    path.write_text("name: *hunter2\n", encoding="utf-8")
    assert only_fault(tmp_path) == (
        "models/mydb/orders.yaml, line 1",
        "refers (with *) to an anchor that is not defined before it",
    )


def test_all_faults_of_a_file_are_told_at_once_from_top_to_bottom(tmp_path: Path, write: Write) -> None:
    write(
        "models/mydb/a.yaml",
        "name: b\nversion: 9\nsql: x\nsql_table: y\ncolour: red\ncolumns:\n  - type: 1\n  - name: c\n  - name: c\n",
    )
    lines = [place.removeprefix("models/mydb/a.yaml, line ") for place, _ in faults_of(tmp_path)]
    assert lines == ["1", "1", "2", "4", "5", "7", "7"]


def test_faults_of_every_file_are_told_and_no_model_follows_the_first_of_them(
    tmp_path: Path, write: Write
) -> None:
    write("models/mydb/a.yaml", BASE)
    write("models/mydb/b.yaml", "[")
    write("models/mydb/c.yaml", BASE.replace("name: a", "name: c"))
    write("models/mydb/d.yaml", "]")
    models = open_source(str(tmp_path)).models()
    assert next(models).name == "a"
    with pytest.raises(Invalid) as refused:
        next(models)
    assert [fault.field.rpartition("/")[2] for fault in refused.value.faults] == [
        "b.yaml, line 1",
        "d.yaml, line 1",
    ]


def test_a_few_lines_that_stand_for_billions_of_values_are_refused(tmp_path: Path, write: Write) -> None:
    levels = [f"  l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]\n" for level in range(1, 10)]
    write("models/mydb/a.yaml", BASE + "meta:\n  l0: &l0 [x]\n" + "".join(levels))
    assert "is too large" in faults_of(tmp_path)[0][1]


def test_an_anchor_may_be_used_again(tmp_path: Path, write: Write) -> None:
    write(
        "models/mydb/a.yaml",
        BASE + "columns:\n  - {name: b, meta: &m {owner: ann}}\n  - {name: c, meta: *m}\n",
    )
    assert [part.details for part in read(tmp_path)[0].parts] == [{"meta": {"owner": "ann"}}] * 2


def test_a_key_with_nothing_under_it_is_as_good_as_none(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", BASE + "description:\ncolumns: ~\nmeta: null\nsql:\n")
    assert read(tmp_path) == [Model(datasource="mydb", name="a", details={"sql_table": "a"})]


def test_sample_values_may_be_a_list(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", BASE + "columns: [{name: b, sampled: [paid, 3, true, 2024-01-31]}]\n")
    assert read(tmp_path)[0].parts[0].details == {"sampled": "paid, 3, true, 2024-01-31"}


def test_a_date_is_the_text_and_a_key_the_name_that_it_was_written_as(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", BASE + "columns: [{name: 2024-01-01, meta: {1: x, no: y}}]\n")
    part = read(tmp_path)[0].parts[0]
    assert (part.name, part.details) == ("2024-01-01", {"meta": {"1": "x", "no": "y"}})


def test_tags_in_meta_that_are_no_texts_stay_there(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", BASE + "meta: {tags: [1, x], deprecated: 'true'}\n")
    model = read(tmp_path)[0]
    assert (model.tags, model.state) == ((), "present")
    assert model.details["meta"] == {"tags": [1, "x"], "deprecated": "true"}


def test_many_brackets_and_long_lines_are_no_deep_nesting(tmp_path: Path, write: Write) -> None:
    names = ", ".join(f"{{name: c{number}}}" for number in range(500))
    write("models/mydb/a.yaml", f"{BASE}columns: [{names}]\ndescription: {'word ' * 1000}\n")
    assert len(read(tmp_path)[0].parts) == 500


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", "\ufeff" + BASE)
    assert len(read(tmp_path)) == 1


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("models/stray.yaml", "must lie at models/<datasource>/<model>.yaml"),
        ("models/mydb/deep/a.yaml", "must lie at models/<datasource>/<model>.yaml"),
        ("models/my.db/a.yaml", "must not contain '.'"),
        ("models/my:db/a.yaml", "must not contain ':'"),
        ("models/mydb/a b .yaml", "must not begin or end with a space"),
    ],
)
def test_a_file_in_the_wrong_place_is_refused(tmp_path: Path, write: Write, place: str, says: str) -> None:
    write(place, BASE)
    where, message = only_fault(tmp_path)
    assert where == place
    assert says in message
    with pytest.raises(Invalid):
        open_source(str(tmp_path)).fingerprints()


def test_two_files_for_one_model_are_refused(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", BASE)
    write("models/mydb/a.yml", BASE)
    assert only_fault(tmp_path) == ("models/mydb/a.yml", "defines the same as a.yaml; keep one of the two")


def test_other_files_are_passed_over(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yml", BASE)
    write("models/mydb/.b.yaml", "[")
    write("models/.git/b.yaml", "[")
    write("models/README.md", "# Models")
    write("memories.yaml", "[")
    write("embeddings.db", "")
    assert [model.canonical for model in read(tmp_path)] == ["mydb.a"]


def test_a_datasource_is_read_without_what_opens_it(tmp_path: Path, write: Write) -> None:
    write(
        "datasources/mydb.yaml",
        "name: mydb\ntype: postgres\ndescription: Sales.\nhost: db.example.com\nport: 5432\ndatabase: sales\n"
        "schema_name: public\nusername: ann\npassword: hunter2\nconnection_string: postgresql://ann:hunter2@h/d\n"
        "token: !hunter2\ntags: [finance]\nhidden: true\n",
    )
    source = open_source(str(tmp_path))
    assert source.datasources() == [
        Datasource(
            name="mydb",
            description="Sales.",
            hidden=True,
            tags=("finance",),
            details={
                "type": "postgres",
                "host": "db.example.com",
                "port": 5432,
                "database": "sales",
                "schema_name": "public",
            },
        )
    ]
    assert "hunter2" not in repr(source.datasources())


@pytest.mark.parametrize("key", ["host", "database", "type"])
def test_a_place_that_is_an_address_with_its_password_is_left_out(
    tmp_path: Path, write: Write, key: str
) -> None:
    write("datasources/mydb.yaml", f"name: mydb\n{key}: ann:hunter2@db.example.com\n")
    write("datasources/other.yaml", f"name: other\n{key}: postgresql://ann:hunter2@db/x\n")
    assert [datasource.details for datasource in open_source(str(tmp_path)).datasources()] == [{}, {}]


def test_datasources_are_those_with_files_and_those_with_models(tmp_path: Path, write: Write) -> None:
    write("models/b/a.yaml", BASE.replace("mydb", "b"))
    write("datasources/c.yaml", "type: sqlite")
    write("datasources/a.yml", "description: First.")
    assert open_source(str(tmp_path)).datasources() == [
        Datasource(name="a", description="First."),
        Datasource(name="b"),
        Datasource(name="c", details={"type": "sqlite"}),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: other", "name is 'other' but the file is called 'mydb.yaml'"),
        ("description: 5", "description must be a text"),
        ("password: 'a", "is not YAML"),
        ("password: a\npassword: hunter2", "password is already at line 1"),
    ],
)
def test_a_fault_in_a_datasource_does_not_quote_a_password(
    tmp_path: Path, write: Write, text: str, says: str
) -> None:
    write("datasources/mydb.yaml", text)
    with pytest.raises(Invalid) as refused:
        open_source(str(tmp_path)).datasources()
    assert says in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_the_priority_is_read_where_there_is_one(tmp_path: Path, write: Write) -> None:
    write("models/mydb/a.yaml", BASE)
    assert open_source(str(tmp_path)).priority() is None
    for text in ("priority: [mydb, other, mydb]", "- mydb\n- other\n"):
        write("priority.yaml", text)
        assert open_source(str(tmp_path)).priority() == ("mydb", "other")
    write("priority.yaml", "priority: []")
    assert open_source(str(tmp_path)).priority() == ()


@pytest.mark.parametrize(
    "text", ["priority: mydb", "order: [mydb]", "mydb", "priority: [1]", "priority: [a.b]"]
)
def test_a_priority_that_is_none_is_refused_with_its_line(tmp_path: Path, write: Write, text: str) -> None:
    (tmp_path / "models").mkdir()
    write("priority.yaml", text)
    with pytest.raises(Invalid, match=r"priority\.yaml, line 1"):
        open_source(str(tmp_path)).priority()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "models" / "mydb").mkdir(parents=True)
    (tmp_path / "models" / "mydb" / "a.yaml").symlink_to(tmp_path / "gone")
    with pytest.raises(Invalid, match=r"a\.yaml: cannot be read: No such file"):
        read(tmp_path)


def test_an_empty_folder_holds_nothing_and_there_is_nothing_to_note(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    source = open_source(str(tmp_path))
    assert (source.notes(), source.datasources(), list(source.models())) == ((), [], [])


# ---- what is written is what is read ---------------------------------------------------------------------

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\x85"), min_size=1, max_size=30
)
names = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
    .filter(lambda name: why_no_name(name) is None)
    .filter(lambda name: len(name.encode()) < 80)
)
optional_texts = st.none() | texts
named = texts.filter(str.strip)
tags = st.lists(texts, unique=True, max_size=3).map(tuple)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
metas = st.dictionaries(
    texts.filter(lambda key: key not in ("tags", "deprecated")), values, min_size=1, max_size=3
)


def some_details(**shapes: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=shapes)


columns = st.builds(
    Part,
    name=names,
    description=optional_texts,
    label=optional_texts,
    type=texts,
    hidden=st.booleans(),
    tags=tags,
    details=some_details(
        sql=texts,
        filter=texts,
        format=texts | metas,
        allowed_aggregations=st.lists(texts, min_size=1, max_size=3),
        primary_key=st.just(True),
        sampled=texts,
        meta=metas,
    ),
)
measures = st.builds(
    Part,
    name=names,
    kind=st.just("measure"),
    description=optional_texts,
    label=optional_texts,
    type=optional_texts,
    tags=tags,
    details=some_details(formula=texts, meta=metas),
)
aggregations = st.builds(
    Part,
    name=names,
    kind=st.just("aggregation"),
    description=optional_texts,
    tags=tags,
    details=some_details(
        params=st.lists(st.fixed_dictionaries({"name": names, "sql": texts}), min_size=1, max_size=2),
        meta=metas,
    ).flatmap(lambda details: texts.map(lambda formula: {**details, "formula": formula})),
)
joins = st.builds(
    Join,
    target=names,
    pairs=st.lists(st.tuples(named, named), min_size=1, max_size=2).map(tuple),
    kind=st.sampled_from(["left", "inner"]),
)
origins = st.one_of(
    st.tuples(st.just("table"), st.fixed_dictionaries({"sql_table": named})),
    st.tuples(st.just("sql"), st.fixed_dictionaries({"sql": named})),
    st.tuples(
        st.just("query"), st.fixed_dictionaries({"source_queries": st.lists(metas, min_size=1, max_size=2)})
    ),
)


@st.composite
def models(draw: st.DrawFn) -> Model:
    form, origin = draw(origins)
    shared = draw(st.lists(columns | measures, unique_by=lambda part: part.name, max_size=5))
    own = draw(st.lists(aggregations, unique_by=lambda part: part.name, max_size=2))
    others = draw(
        some_details(
            filters=st.lists(texts, min_size=1, max_size=2),
            default_time_dimension=texts,
            query_variables=metas,
            meta=metas,
        )
    )
    return Model(
        datasource=draw(names),
        name=draw(names),
        form=form,
        description=draw(optional_texts),
        label=draw(optional_texts),
        hidden=draw(st.booleans()),
        tags=draw(tags),
        parts=(*sorted(shared, key=lambda part: part.kind), *own),
        joins=tuple(draw(st.lists(joins, max_size=2))),
        details={**origin, **others},
    )


def as_written(value: Part | Model) -> dict[str, Any]:
    """As it stands in a file: with every key that holds something."""
    keys = ("name", "description", "label", "type", "hidden", "tags")
    given_keys = {key: getattr(value, key, None) for key in keys}
    written = {
        key: list(item) if isinstance(item, tuple) else item for key, item in given_keys.items() if item
    }
    return {**written, **value.details}


def as_file(model: Model) -> dict[str, Any]:
    return {
        "version": 6,
        **as_written(model),
        "data_source": model.datasource,
        **{
            f"{kind}s": [as_written(part) for part in model.parts if part.kind == kind]
            for kind in ("column", "measure", "aggregation")
        },
        "joins": [
            {"target_model": join.target, "join_pairs": list(map(list, join.pairs)), "join_type": join.kind}
            for join in model.joins
        ],
    }


@given(models(), st.booleans())
def test_a_model_that_is_written_and_read_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, model: Model, in_blocks: bool
) -> None:
    root = tmp_path_factory.mktemp("catalog")
    path = root / "models" / model.datasource / f"{model.name}.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        yaml.safe_dump(as_file(model), allow_unicode=in_blocks, default_flow_style=not in_blocks),
        encoding="utf-8",
    )
    assert read(root) == [model]


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_no_bytes_make_a_reading_fail_in_another_way(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    root = tmp_path_factory.getbasetemp() / "any_bytes"
    (root / "models" / "mydb").mkdir(parents=True, exist_ok=True)
    (root / "models" / "mydb" / "a.yaml").write_bytes(data)
    with pytest.raises(Invalid, match=r"a\.yaml, line \d+: "):
        read(root)


keys = st.sampled_from(
    "version name sql_table sql source_queries data_source columns measures aggregations joins filters "
    "default_time_dimension description hidden meta query_variables tags label type params target_model "
    "join_pairs join_type formula sampled sampled_values distinct_count backing_query_sql format primary_key allowed_aggregations".split()
)


@given(
    st.dictionaries(
        keys, values | st.lists(st.dictionaries(keys, values, max_size=4), max_size=3), max_size=6
    )
)
def test_no_values_under_known_keys_make_a_reading_fail_in_another_way(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    root = tmp_path_factory.getbasetemp() / "any_values"
    path = root / "models" / "mydb" / "a.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"name": "a", "data_source": "mydb", **document}), encoding="utf-8")
    try:
        assert len(read(root)) == 1
    except Invalid as refused:
        assert all(f"{path}, line " in fault.field for fault in refused.faults)
