"""A claim about a warehouse is checked, goes wrong, is flagged and mended.

Run it with DuckDB: pip install 'onrecord[duckdb]'.

Prints:
    Twelve stores are open: verified
    Revenue by store, as a query: verified
    --- a store closes, and a column gets another name
    Twelve stores are open: failed (it returns 11, not 12)
    Revenue by store, as a query: failed, and left out of answers
    What is relied on now: nothing
    --- people correct both
    Eleven stores are open: verified
    Revenue by store, as a query: verified
"""

import os
import sys
from pathlib import Path

import duckdb

from onrecord import OnRecord, connect

ASKED = "how many stores are open?"


def warehouse(path: Path, *statements: str) -> None:
    """Change the warehouse."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def tell(memory: OnRecord, *ids: str) -> None:
    memory.check(all=True)
    for shown in (memory.show(id).memory for id in ids):
        seen = ", and left out of answers" if shown.status == "stale" else f" ({shown.check_seen})"
        print(f"{shown.content}: {shown.check_state}{seen if shown.check_state == 'failed' else ''}")


def main(store: Path) -> None:
    shop = store.with_name("shop.duckdb")
    warehouse(
        shop,
        "create table stores as select i as id, true as is_open from range(1, 13) as stores(i)",
        "create table orders as select i as id, i % 12 + 1 as store, i * 1.5 as amount from range(1, 101) as orders(i)",
    )
    # What checks may read is a setting of the machine; a memory holds the name alone.
    os.environ |= {"ONRECORD_CHECK_CONNECTIONS": f"shop=duckdb:///{shop}", "ONRECORD_EMBEDDER": "none"}
    with connect(store) as memory:
        open_stores = memory.remember("Twelve stores are open").memory.id
        memory.add_check(
            open_stores, connection="shop", sql="select count(*) from stores where is_open", value="12"
        )
        revenue = memory.remember(
            "Revenue by store, as a query",
            query="select store, sum(amount) as revenue from orders group by store",
        ).memory.id
        memory.add_check(revenue, kind="query", connection="shop")
        tell(memory, open_stores, revenue)

        print("--- a store closes, and a column gets another name")
        warehouse(
            shop,
            "update stores set is_open = false where id = 12",
            "alter table orders rename column amount to gross",
        )
        tell(memory, open_stores, revenue)
        found = memory.recall(ASKED, only_verified=True).hits
        print(f"What is relied on now: {found[0].memory.content if found else 'nothing'}")

        print("--- people correct both")
        memory.revise(open_stores, content="Eleven stores are open")
        memory.drop_check(open_stores, 1)
        memory.add_check(
            open_stores, connection="shop", sql="select count(*) from stores where is_open", value="11"
        )
        memory.revise(revenue, query="select store, sum(gross) as revenue from orders group by store")
        tell(memory, open_stores, revenue)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "warehouse.db"))
