"""ARE false claims flagged, and true ones left alone? Fifty claims over a small warehouse that is changed in ten ways.

Run `python evals/checked_claims.py` for a report. Each claim has a check and says whether it is still true after all ten
changes; that was written down by hand, and what the sweep flags is compared with it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from onrecord import OnRecord, connect

MODEL = "select id, amount\nfrom orders\nwhere amount > 0\n-- net of refunds\n"
TABLES = {
    "stores": "id, name, country",
    "orders": "id, store, amount, state",
    "refunds": "id, order_id, amount",
    "customers": "id, email, city",
    "products": "id, name, price",
    "shipments": "id, order_id, days",
    "staff": "id, store, role",
    "returned": "id, reason, amount",
    "regions": "id, code, manager",
}
#: Ten changes, each of its own table or file; the last one is of a file.
CHANGES = {
    "a store closes": "delete from stores where id = 12",
    "a column is renamed": "alter table orders rename column amount to gross",
    "rows are added": "insert into refunds select id + 100, order_id, amount from refunds",
    "values go missing": "update customers set email = null where id <= 3",
    "a price changes": "update products set price = price * 1.2 where id = 7",
    "a table is dropped": "drop table shipments",
    "a column is added": "alter table staff add column left_at text",
    "numbers become texts": "update returned set amount = 'about ' || amount where id = 2",
    "an entry is doubled": "insert into regions values (5, 'N', 'Ada')",
    "a file is edited": None,
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its check, and whether it is true after the changes."""

    text: str
    check: Mapping[str, Any]
    stays: bool


def _sql(text: str, sql: str, stays: bool, **expect: Any) -> Claim:
    return Claim(text, {"connection": "warehouse", "sql": sql, **expect}, stays)


def _file(text: str, stays: bool, *lines: int) -> Claim:
    kept = "".join(MODEL.splitlines(keepends=True)[lines[0] - 1 : lines[1]]) if lines else MODEL
    given: dict[str, Any] = {"kind": "file", "connection": "files", "path": "orders.sql"}
    given |= {"first_line": lines[0], "last_line": lines[1]} if lines else {}
    return Claim(text, given | {"sha256": hashlib.sha256(kept.encode()).hexdigest()}, stays)


CLAIMS = (
    _sql("There are twelve stores.", "select count(*) from stores", False, value="12"),
    _sql("Every store has a name.", "select count(*) from stores where name is null", True, value="0"),
    _sql("Stores are in three countries.", "select count(distinct country) from stores", True, value="3"),
    _sql("Store 12 is open.", "select name from stores where id = 12", False, min_rows=1),
    _sql("There are about ten stores.", "select count(*) from stores", True, value="11", tolerance=2),
    _sql("The largest order is over 2,000.", "select max(amount) from orders", False, value="2000"),
    _sql("Orders have an amount.", "select id, amount from orders", False, columns=["id", "amount"]),
    _sql("There are 200 orders.", "select count(*) from orders", True, value="200"),
    _sql("Orders are open or paid.", "select distinct state from orders", True, min_rows=2, max_rows=2),
    _sql("No order is negative.", "select count(*) from orders where amount < 0", False, value="0"),
    _sql("There are twenty refunds.", "select count(*) from refunds", False, value="20"),
    _sql("Refunds come to 1,050.", "select sum(amount) from refunds", False, value="1050"),
    _sql("Each order has one refund at most.", "select order_id from refunds group by order_id having count(*) > 1", False, max_rows=0),
    _sql("No refund is over 100.", "select count(*) from refunds where amount > 100", True, value="0"),
    _sql("A refund has three fields.", "select * from refunds", True, columns=["id", "order_id", "amount"]),
    _sql("Every customer has an address.", "select count(*) from customers where email is null", False, value="0"),
    _sql("There are thirty customers.", "select count(*) from customers", True, value="30"),
    _sql("Thirty addresses are known.", "select count(email) from customers", False, value="30"),
    _sql("Customers live in five cities.", "select count(distinct city) from customers", True, value="5"),
    _sql("Customer 20 has an address.", "select email from customers where id = 20", True, value="c20@shop.example"),
    _sql("Product 7 costs 70.", "select price from products where id = 7", False, value="70.0"),
    _sql("Product 7 costs about 80.", "select price from products where id = 7", True, value="80", tolerance=10),
    _sql("Nothing costs over 150.", "select count(*) from products where price > 150", True, value="0"),
    _sql("All prices add up to 1,200.", "select sum(price) from products", False, value="1200", tolerance=0.5),
    _sql("There are fifteen products.", "select count(*) from products", True, value="15"),
    _sql("There are forty shipments.", "select count(*) from shipments", False, value="40"),
    _sql("A shipment takes five days at most.", "select max(days) from shipments", False, value="5"),
    _sql("Shipments have days.", "select id, days from shipments", False, columns=["id", "days"]),
    _sql("All orders that were shipped exist.", "select s.id from shipments s left join orders o on o.id = s.order_id where o.id is null", False, max_rows=0),
    _sql("Orders exist without shipments.", "select count(*) from orders where id > 40", True, value="160"),
    _sql("Staff have three fields.", "select * from staff", False, columns=["id", "store", "role"]),
    _sql("There are eight in the staff.", "select count(*) from staff", True, value="8"),
    _sql("Each store has a manager or a clerk.", "select distinct role from staff", True, min_rows=2, max_rows=2),
    _sql("Staff have a role.", "select id, role from staff", True, columns=["id", "role"], min_rows=1),
    _sql("Four are clerks.", "select count(*) from staff where role = 'clerk'", True, value="4"),
    _sql("Returned amounts are numbers.", "select count(*) from returned where typeof(amount) = 'text'", False, value="0"),
    _sql("Return 2 is worth 20.", "select amount from returned where id = 2", False, value="20.0"),
    _sql("Return 3 is worth 30.", "select amount from returned where id = 3", True, value="30.0"),
    _sql("There are five returns.", "select count(*) from returned", True, value="5"),
    _sql("Returns give a reason.", "select id, reason from returned", True, columns=["id", "reason"]),
    _sql("A code is one region's.", "select code from regions group by code having count(*) > 1", False, max_rows=0),
    _sql("There are four regions.", "select count(*) from regions", False, value="4"),
    _sql("Four codes are in use.", "select count(distinct code) from regions", True, value="4"),
    _sql("Ada manages one region.", "select count(*) from regions where manager = 'Ada'", False, value="1"),
    _sql("Every region has a manager.", "select count(*) from regions where manager is null", True, value="0"),
    _file("orders.sql is as it was reviewed.", False),
    _file("Orders are counted net of refunds.", False, 4, 4),
    _file("orders.sql reads orders.", True, 2, 2),
    _file("orders.sql returns amounts.", True, 1, 1),
    _file("Only positive amounts count.", False, 3, 4),
)  # fmt: skip


def build(folder: Path) -> None:
    """The warehouse and the file before the changes."""
    with closing(sqlite3.connect(folder / "warehouse.db")) as connection, connection:
        for name, columns in TABLES.items():
            connection.execute(f"create table {name} ({columns})")
        rows: dict[str, list[tuple[Any, ...]]] = {
            "stores": [(n, f"Store {n}", ("DE", "FR", "ES")[n % 3]) for n in range(1, 13)],
            "orders": [(n, n % 12 + 1, n * 10.0, "paid" if n % 4 else "open") for n in range(1, 201)],
            "refunds": [(n, n * 10, n * 5.0) for n in range(1, 21)],
            "customers": [(n, f"c{n}@shop.example", f"City {n % 5}") for n in range(1, 31)],
            "products": [(n, f"Product {n}", n * 10.0) for n in range(1, 16)],
            "shipments": [(n, n, n % 5 + 1) for n in range(1, 41)],
            "staff": [(n, n, "clerk" if n % 2 else "manager") for n in range(1, 9)],
            "returned": [(n, "broken", n * 10.0) for n in range(1, 6)],
            "regions": [(n, "NESW"[n - 1], ("Ada", "Bo", "Cy", "Di")[n - 1]) for n in range(1, 5)],
        }
        for name, values in rows.items():
            connection.executemany(f"insert into {name} values ({', '.join('?' * len(values[0]))})", values)
    (folder / "files").mkdir()
    (folder / "files" / "orders.sql").write_text(MODEL, encoding="utf-8")


def change(folder: Path) -> None:
    """All ten changes."""
    with closing(sqlite3.connect(folder / "warehouse.db")) as connection, connection:
        for statement in filter(None, CHANGES.values()):
            connection.execute(statement)
    (folder / "files" / "orders.sql").write_text(MODEL.replace("net of", "with"), encoding="utf-8")


def settings(folder: Path) -> str:
    """What the checks may read."""
    return f"warehouse=sqlite:///{folder / 'warehouse.db'}, files=folder:///{folder / 'files'}"


def plant(door: OnRecord) -> dict[str, Claim]:
    """Every claim as a memory with its check, by its id."""
    planted = {}
    for claim in CLAIMS:
        memory = door.remember(claim.text, dedupe=False, alike="keep").memory
        door.add_check(memory.id, **claim.check)
        planted[memory.id] = claim
    return planted


def states(door: OnRecord) -> dict[str, str | None]:
    return {each.id: each.check_state for each in door.browse(limit=1_000).memories}


def sweep(door: OnRecord) -> None:
    """One look of a worker at everything that is due."""
    worker = door.worker
    worker.begin()
    while worker.run_once() is not None:
        pass


def measure(folder: Path) -> dict[str, Any]:
    """Which claims were flagged wrongly, and which false ones were not."""
    build(folder)
    now = datetime(2026, 5, 3, 12, tzinfo=UTC)
    with connect(folder / "memories.db", clock=lambda: now) as door:
        planted = plant(door)
        sweep(door)
        before = states(door)
        change(folder)
        now += timedelta(hours=2)
        sweep(door)
        after = states(door)
    return {
        "claims": len(planted),
        "changes": len(CHANGES),
        "false": sum(not claim.stays for claim in planted.values()),
        "not verified before": [claim.text for id, claim in planted.items() if before[id] != "verified"],
        "missed": [c.text for id, c in planted.items() if not c.stays and after[id] != "failed"],
        "flagged wrongly": [c.text for id, c in planted.items() if c.stays and after[id] != "verified"],
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.environ |= {"ONRECORD_EMBEDDER": "none", "ONRECORD_CHECK_CONNECTIONS": settings(folder)}
        for name, value in measure(folder).items():
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
