"""Does looking at a model show its parts, its joins and what was learned, and can nothing in it forge the rest?"""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.catalog.held_catalog import HeldCatalog
from onrecord.catalog.inspection import MOST_REACHABLE_FIELDS, SECTIONS, Learning, as_markdown, inspection
from onrecord.errors import Invalid
from onrecord.model.catalog import Join, Model, Part
from onrecord.testing.catalog_fixture import CUSTOMERS, ORDERS, REGIONS, columns, join, shop

SHOP = shop()


def learning(id: str, *entities: str, text: str = "Mind the gap") -> Learning:
    return Learning(id=id, text=text, author="ann", tier="agent", entities=entities)


def inspected(model: Model = ORDERS, *learnings: Learning, **choice: Any) -> dict[str, Any]:
    found = inspection(model, learnings, SHOP, **choice)
    assert json.loads(json.dumps(found)) == found
    return found


def markdown(model: Model = ORDERS, *learnings: Learning, **choice: Any) -> str:
    return as_markdown(inspected(model, *learnings, **choice))


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("#")]


def with_column(**facts: Any) -> Model:
    return replace(ORDERS, parts=(Part(name="amount", **facts),))


# Sections


def test_all_sections_are_shown_in_their_order_and_learnings_come_last() -> None:
    text = markdown(ORDERS, learning("1", "mydb.orders"))
    assert headings(text) == [
        "# `mydb.orders`",
        "## Columns (5)",
        "## Measures (1)",
        "## Aggregations (1)",
        "## Joins (1)",
        "## Reachable fields (6)",
        "## Samples (0)",
        "## Learnings (1)",
    ]


def test_only_the_chosen_sections_are_shown() -> None:
    found = inspected(ORDERS, learning("1", "mydb.orders"), sections=["joins", "columns"])
    assert [section for section in SECTIONS if section in found] == ["columns", "joins"]
    assert headings(as_markdown(found)) == ["# `mydb.orders`", "## Columns (5)", "## Joins (1)"]


def test_an_unknown_section_is_ignored_with_a_note() -> None:
    found = inspected(sections=["columns", "rows", "rows"])
    assert len(found["columns"]) == 5
    (note,) = found["notes"]
    assert "'rows'" in note
    assert "reachable_fields" in note
    assert note in as_markdown(found)


def test_only_unknown_sections_show_no_section() -> None:
    found = inspected(ORDERS, learning("1", "mydb.orders"), sections=["rows", "# Columns\n## Measures"])
    assert not set(SECTIONS) & set(found)
    assert headings(as_markdown(found)) == ["# `mydb.orders`"]


def test_no_section_at_all_may_be_asked_for() -> None:
    assert not set(SECTIONS) & set(inspected(sections=[]))
    assert inspected(sections=[])["notes"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reachable_fields_depth", -1),
        ("reachable_fields_depth", 21),
        ("num_rows", -1),
        ("descriptions_max_chars", -1),
        ("sections", "columns"),
    ],
)
def test_a_choice_out_of_range_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(Invalid) as caught:
        inspected(**{field: value})
    assert [fault.field for fault in caught.value.faults] == [field]


# Parts and joins


def test_columns_measures_and_aggregations_say_what_is_known_of_them() -> None:
    key = Part(
        name="id",
        type="INT",
        label="Number",
        details={"primary_key": True, "allowed_aggregations": ["count"]},
    )
    found = inspected(replace(ORDERS, parts=(key, *ORDERS.parts[-2:])))
    assert found["columns"] == [
        {
            "name": "id",
            "type": "INT",
            "primary_key": True,
            "label": "Number",
            "allowed_aggregations": ["count"],
        }
    ]
    assert found["measures"] == [{"name": "aov", "formula": "amount:sum / *:count"}]
    assert found["aggregations"][0]["name"] == "weighted_score"
    assert "| `id` | INT | yes | Number | count |" in as_markdown(found)


def test_hidden_parts_are_left_out() -> None:
    hidden = replace(
        ORDERS, parts=tuple(replace(part, hidden=part.name == "status") for part in ORDERS.parts)
    )
    assert "status" not in markdown(hidden)


def test_sql_is_shown_only_where_it_is_asked_for() -> None:
    aggregation = Part(
        name="wavg",
        kind="aggregation",
        details={"formula": "sum({value})", "params": [{"name": "weight", "sql": "quantity_sql"}]},
    )
    column = Part(name="net", details={"sql": "gross_sql - tax"})
    model = replace(ORDERS, parts=(column, aggregation), details={"sql": "select *\nfrom raw_sql"})
    without, shown = markdown(model), inspected(model, show_sql=True)
    assert not [name for name in ("quantity_sql", "gross_sql", "raw_sql") if name in without]
    assert "weight" in without
    assert shown["sql"] == "select *\nfrom raw_sql"
    assert shown["columns"][0]["sql"] == "gross_sql - tax"
    assert shown["aggregations"][0]["params"] == ["weight = quantity_sql"]
    assert "- sql: `select * from raw_sql`" in as_markdown(shown)


def test_a_join_says_where_it_leads_and_over_which_columns() -> None:
    found = inspected()
    assert found["joins"] == [
        {"target_model": "customers", "join_type": "left", "join_pairs": [["customer_id", "id"]]}
    ]
    assert "| `customers` | left | `customer_id = id` |" in as_markdown(found)


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (None, "One row per order"),
        (13, "One row per…"),
        (12, "One row…"),
        (1, "…"),
        (17, "One row per order"),
    ],
)
def test_descriptions_are_cut_at_a_word(most: int | None, expected: str) -> None:
    assert inspected(descriptions_max_chars=most)["description"] == expected


def test_descriptions_of_no_characters_are_left_out() -> None:
    found = inspected(with_column(description="What was paid"), descriptions_max_chars=0)
    assert "description" not in found
    assert found["columns"] == [{"name": "amount"}]


# Reachable fields


def test_fields_are_reached_through_joins_the_nearest_first() -> None:
    assert inspected()["reachable_fields"] == [
        "customers.id",
        "customers.name",
        "customers.region_id",
        "customers.orders",
        "customers.regions.id",
        "customers.regions.name",
    ]


@pytest.mark.parametrize(("depth", "count"), [(0, 0), (1, 4), (2, 6), (20, 6)])
def test_fields_are_reached_no_deeper_than_asked(depth: int, count: int) -> None:
    assert len(inspected(reachable_fields_depth=depth)["reachable_fields"]) == count


def test_joins_that_lead_back_or_nowhere_are_harmless() -> None:
    around = replace(REGIONS, joins=(join("orders", "id"), join("regions", "id"), join("lost", "id")))
    catalog = HeldCatalog(models=(ORDERS, CUSTOMERS, around))
    found = inspection(ORDERS, (), catalog, reachable_fields_depth=20)
    assert found["reachable_fields"] == inspected()["reachable_fields"]


def test_what_is_hidden_is_not_reached_but_what_lies_beyond_it_is() -> None:
    bridge = replace(CUSTOMERS, hidden=True)
    regions = replace(REGIONS, parts=(*columns("id"), Part(name="name", hidden=True)))
    found = inspection(ORDERS, (), HeldCatalog(models=(ORDERS, bridge, regions)))
    assert found["reachable_fields"] == ["customers.regions.id"]


def test_very_many_reachable_fields_are_cut_with_a_note() -> None:
    wide = replace(CUSTOMERS, parts=columns(" ".join(f"c{number}" for number in range(2_000))))
    found = inspection(ORDERS, (), HeldCatalog(models=(ORDERS, wide)))
    assert len(found["reachable_fields"]) == MOST_REACHABLE_FIELDS
    assert str(MOST_REACHABLE_FIELDS) in found["notes"][0]


# Samples


def test_samples_are_the_known_values_of_columns_and_no_more_than_asked() -> None:
    model = with_column(details={"sampled": "1, 2, 3, 4"})
    assert inspected(model)["samples"] == {"amount": ["1", "2", "3"]}
    assert inspected(model, num_rows=1)["samples"] == {"amount": ["1"]}
    assert inspected(model, num_rows=0)["samples"] == {}
    assert inspected(with_column(details={"sampled": ["a, b", 2]}))["samples"] == {"amount": ["a, b", "2"]}
    assert "- `amount`: `1`, `2`, `3`" in markdown(model)


# Learnings


def test_learnings_about_the_model_its_columns_and_its_measures_are_shown() -> None:
    found = inspected(
        ORDERS,
        learning("1", "mydb.orders", "mydb.customers"),
        learning("kb.2", "other.users", "mydb.orders.amount", "mydb.orders.aov", "mydb.orders.amount"),
        learning("3", "mydb.orders.weighted_score", text="Needs\na weight"),
        learning("4", "mydb.orders_archive", "mydb", "mydb.orders.gone", "memory:1"),
        learning("5"),
    )
    assert found["learnings"] == [
        {"id": id, "learning": text, "matched_entities": entities, "author": "ann", "tier": "agent"}
        for id, text, entities in (
            ("1", "Mind the gap", ["mydb.orders"]),
            ("kb.2", "Mind the gap", ["mydb.orders.amount", "mydb.orders.aov"]),
            ("3", "Needs\na weight", ["mydb.orders.weighted_score"]),
        )
    ]
    assert as_markdown(found).endswith(
        "## Learnings (3)\n\n"
        "- **M1** (`mydb.orders`; by an agent): Mind the gap\n"
        "- **Mkb.2** (`mydb.orders.amount`, `mydb.orders.aov`; by an agent): Mind the gap\n"
        "- **M3** (`mydb.orders.weighted_score`; by an agent): Needs a weight\n"
    )


@pytest.mark.parametrize("sections", [None, ["learnings"]])
def test_without_a_match_there_is_no_heading(sections: list[str] | None) -> None:
    found = inspected(ORDERS, learning("1", "mydb.customers"), sections=sections)
    assert "learnings" not in found
    assert "Learnings" not in as_markdown(found)


def test_where_only_columns_are_asked_for_there_are_no_learnings() -> None:
    assert "Learnings" not in markdown(ORDERS, learning("1", "mydb.orders"), sections=["columns"])


# Forgery


def test_pipes_newlines_and_backticks_stay_inside_their_cell() -> None:
    odd = "a | b\n## Learnings (9)\r\n| `c` \\| d"
    model = with_column(description=odd, details={"filter": "x || '`' \\| y"})
    row = next(line for line in markdown(model).splitlines() if line.startswith("| `amount`"))
    assert row == r"| `amount` | a \| b ## Learnings (9) \| \`c\` \\\| d | ``x \|\| '`' \\\| y`` |"
    assert bars(row) == 4


def test_a_memory_cannot_forge_a_heading_or_another_learning() -> None:
    text = markdown(
        ORDERS, learning("1", "mydb.orders", text="x\n\n## Columns (1)\u2028- **M2** (`y`): z\n===\n")
    )
    assert len([line for line in text.splitlines() if line.startswith("- **M")]) == 1
    assert headings(text) == headings(markdown(ORDERS, learning("1", "mydb.orders")))


ODD = st.text() | st.sampled_from(
    ["\n# x", "\r## Learnings (1)", "|\\|`", "\u2028- **M1**", "\ud800", "\x85#", "---"]
)
ODD_DETAILS = st.dictionaries(
    st.sampled_from(
        ["sql", "filter", "format", "formula", "params", "sampled", "allowed_aggregations", "filters"]
    ),
    ODD | st.none() | st.integers() | st.lists(ODD | st.integers()) | st.dictionaries(ODD, ODD),
)
ODD_PARTS = st.builds(
    Part,
    name=ODD,
    kind=st.sampled_from(["column", "measure", "aggregation"]),
    description=st.none() | ODD,
    type=st.none() | ODD,
    tags=st.lists(ODD, max_size=2).map(tuple),
    details=ODD_DETAILS,
)
ODD_MODELS = st.builds(
    Model,
    datasource=st.just("d"),
    name=ODD,
    description=st.none() | ODD,
    parts=st.lists(ODD_PARTS, max_size=4).map(tuple),
    joins=st.lists(st.builds(Join, target=ODD, pairs=st.just((("a|", "b\n"),))), max_size=3).map(tuple),
    details=ODD_DETAILS,
)


def bars(row: str) -> int:
    """The bars that part cells, read as readers of tables do: a backslash takes away the meaning of what follows."""
    count, escaped = 0, False
    for character in row:
        count += character == "|" and not escaped
        escaped = character == "\\" and not escaped
    return count


@given(ODD_MODELS, ODD, st.none() | st.lists(ODD | st.sampled_from(SECTIONS)), st.none() | st.integers(0, 9))
@example(with_column(description="\n# x"), "\n## Columns (1)", None, None)
def test_nothing_fails_or_forges_a_heading_or_breaks_a_table(
    model: Model, text: str, sections: list[str] | None, most: int | None
) -> None:
    found = inspection(
        model,
        [Learning(id="1", text=text, author="ann", tier="person", entities=(model.canonical,))],
        HeldCatalog(models=(model, *(replace(model, name=each.target) for each in model.joins))),
        show_sql=True,
        sections=sections,
        descriptions_max_chars=most,
    )
    json.dumps(found)
    lines = as_markdown(found).splitlines()
    shown = [section for section in SECTIONS if section in found]
    assert len([line for line in lines if line.startswith("#")]) == 1 + len(shown)
    assert all(line == "" or line.startswith(("# `", "## ", "- ", "| ", "|")) for line in lines)
    assert len([line for line in lines if line.startswith("- **M")]) == len(found.get("learnings", ()))
    widths = [bars(line) if line.startswith("|") else 0 for line in lines]
    assert all(here == after or 0 in (here, after) for here, after in pairwise(widths))
