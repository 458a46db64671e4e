"""People look at what memories can be about, what is known of each table, and what a change would make stale."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from onrecord.model.wire import write_instant
from tests.recall.test_lineage import a_manifest
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, at_the_machine, send, text_of

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOP, NEXT = EXAMPLES / "shop", EXAMPLES / "shop_next"
Person = Callable[..., httpx2.Client]
MODEL = """version: 6
name: {name}
data_source: shop
sql_table: public.{name}
description: "{description}"
columns:
  - {{name: id, type: INT}}
"""


def a_shop(folder: Path) -> Path:
    """The models of the shop, with one table more."""
    models = folder / "models" / "shop"
    models.mkdir(parents=True)
    for each in (SHOP / "models" / "shop").iterdir():
        (models / each.name).write_text(each.read_text())
    (models / "returns.yaml").write_text(MODEL.format(name="returns", description="<b>What</b> came back."))
    return folder


def test_a_model_shows_what_is_known_of_each_part(
    server: Served, window: Callable[..., Window], tmp_path: Path
) -> None:
    door = server.parts.door
    at_the_machine(server).ingest(str(a_shop(tmp_path / "shop")))
    door.remember("NULL means not returned.", entities=["shop.orders.is_returned"])
    stale = door.remember("Amounts are in cents.", entities=["shop.orders.amount"]).memory.id
    door.revise(stale, status="stale", status_reason="The unit was changed.")
    edit = {"entity": "shop.orders", "field": "description", "value": "Every order; none is deleted."}
    proposal = door.remember("Orders stay.", scope="tenant", edits=[edit], review=True).memory.id
    door.approve(proposal)
    door.apply("shop.orders")
    mine = window(server)
    page = mine.open("/catalog")
    page.get_by_role("region", name="Datasources").get_by_role("link", name="shop", exact=True).click()
    page.get_by_role("link", name="shop.orders").click()
    columns = page.get_by_role("region", name="Columns")
    assert (
        "NULL means not returned." in columns.get_by_role("row").filter(has_text="is_returned").inner_text()
    )
    told = columns.get_by_role("row").filter(has_text="Amounts are in cents.").inner_text()
    assert "stale" in told
    promoted = page.locator(".promoted").inner_text()
    assert "Every order; none is deleted." in promoted
    assert "the source says Every order, one row each." in promoted
    page.get_by_role("link", name="changeset 1").click()
    page.get_by_role("heading", name="Changeset 1").wait_for()
    assert mine.problems == []
    assert mine.foreign() == []


def test_tables_that_nobody_has_written_about_are_listed(server: Served, tmp_path: Path) -> None:
    door = server.parts.door
    at_the_machine(server).ingest(str(a_shop(tmp_path / "shop")))
    door.remember("NULL means not returned.", entities=["shop.orders.is_returned"])
    gone = door.remember("Customers are people.", entities=["shop.customers"]).memory.id
    door.revise(gone, status="stale", status_reason="The table was renamed.")
    assert "What went stale last Customers are people." in text_of(server.client.get("/catalog").text)
    page = text_of(server.client.get("/catalog/undocumented").text)
    assert "Of 3 models 2 have a memory that you see; 1 has none." in page
    assert "shop.returns <b>What</b> came back." in page
    door.retire(gone)
    listed = door.entities("shop", kind="model", references=True)
    assert {each.canonical: each.references for each in listed.entities} == {
        "shop.customers": 0,
        "shop.orders": 1,
        "shop.returns": 0,
    }
    inside = text_of(server.client.get("/catalog/undocumented", params={"inside": "shop"}).text)
    assert "shop.customers" in inside
    assert "shop.orders" not in inside
    wrong = server.client.get("/catalog/undocumented", params={"inside": "elsewhere"})
    assert (wrong.status_code, "elsewhere" in wrong.text) == (422, True)


def test_the_impact_of_a_migration_is_told_and_what_was_typed_stays(server: Served) -> None:
    door = server.parts.door
    at_the_machine(server).ingest(str(SHOP))
    door.remember("NULL means not returned.", entities=["shop.orders.is_returned"])
    sql = "ALTER TABLE public.orders DROP COLUMN is_returned;"
    told = send(server.client, "/catalog/impact", "ask", sql=sql, datasource="shop", path="", schema="")
    assert "1 would go stale." in told.text
    assert "NULL means not returned." in told.text
    assert sql in told.text
    wrong = send(
        server.client, "/catalog/impact", "ask", sql=sql, datasource="els<ewhere", path="", schema=""
    )
    assert wrong.status_code == 422
    assert "is not in the catalog" in text_of(wrong.text)
    assert (sql in wrong.text, "els&lt;ewhere" in wrong.text) == (True, True)
    neither = send(server.client, "/catalog/impact", "ask", sql="", datasource="", path="", schema="")
    assert "give either a path or the SQL" in text_of(neither.text)


def test_only_admins_ingest_and_only_what_the_server_was_set_up_with(
    served: Callable[..., Served], person: Person
) -> None:
    secret = "postgresql://etl:hunter2@127.0.0.1:1/shop?password=hunter3"
    server = served(sources=f"{SHOP},{secret}")
    admin = person(server, user="boss", permissions=["memory.admin", "memory.read"], actor="person")
    member = person(server, user="eve", actor="person")
    stranger = server.connect()
    page = admin.get("/catalog/ingest").text
    assert "postgresql://etl@127.0.0.1:1/shop" in page
    assert "hunter" not in page
    assert acts_on(page) == {"ingest"}
    assert send(admin, "/catalog/ingest", "ingest", path=str(NEXT)).status_code == 403
    assert "Added" in text_of(send(admin, "/catalog/ingest", "ingest", path=str(SHOP)).text)
    # What is shown without its password is read with it: nobody listens at that port.
    away = send(admin, "/catalog/ingest", "ingest", path="postgresql://etl@127.0.0.1:1/shop")
    assert away.status_code == 503
    assert "hunter" not in away.text
    assert member.get("/catalog/ingest").status_code == 403
    assert "/catalog/ingest" not in member.get("/catalog").text
    assert "shop" in text_of(member.get("/catalog").text)
    assert send(member, "/catalog/ingest", "ingest", path=str(SHOP)).status_code == 403
    assert stranger.get("/catalog").headers["location"].startswith("/sign-in")
    stranger.close()


@pytest.mark.parametrize("watched", [False, True])
def test_the_catalog_tells_what_the_last_ingest_changed_and_touched(
    served: Callable[..., Served], window: Callable[..., Window], tmp_path: Path, watched: bool
) -> None:
    shop = a_shop(tmp_path / "shop")
    server = served(watch="yes", sources=str(shop)) if watched else served(sources=str(shop))
    door = server.parts.door
    door.ingest(str(shop))
    about = door.remember("Amounts are in cents.", entities=["shop.orders.amount"]).memory.id
    untouched = door.remember("Customers are people.", entities=["shop.customers"]).memory.id
    edit = {"entity": "shop.orders", "field": "description", "value": "Every order; none is deleted."}
    door.approve(door.remember("Orders stay.", scope="tenant", edits=[edit]).memory.id)
    door.apply("shop.orders")
    page = text_of(server.client.get("/catalog/changes").text)
    assert "New shop.customers , shop.orders , shop.returns" in page, page[:900]
    assert "No memory that you see, and nothing promoted." in page
    then = write_instant(door.moments(catalog=True).moments[0])
    orders = shop / "models" / "shop" / "orders.yaml"
    orders.write_text(
        orders.read_text()
        .replace("name: amount,", "name: amount_gross,")
        .replace("amount:sum", "amount_gross:sum")
        .replace("name: is_returned, type: INT", "name: is_returned, type: BOOLEAN")
        .replace("Every order, one row each.", "Orders of the web shop.")
    )
    (shop / "models" / "shop" / "returns.yaml").unlink()
    door.ingest(str(shop))
    worker = door.worker
    worker.begin()
    while worker.run_once():
        pass
    mine = window(server)
    page = mine.open("/catalog")
    # It is brought into the page after the rest of it.
    told = page.locator("#ingests article")
    told.wait_for()
    words = " ".join(told.inner_text().split())
    assert "New shop.orders.amount_gross" in words
    assert "Gone shop.orders.amount, shop.returns Of another type" in words
    assert "shop.orders.is_returned INT → BOOLEAN" in words
    assert ("Went stale" in words, "Lost references" in words) == (watched, not watched)
    assert told.locator(f'a[href="/memory/{about}"]').count() == 1
    assert told.locator(f'a[href="/memory/{untouched}"]').count() == 0
    assert "Promoted, and said anew shop.orders description: Every order; none is deleted." in words
    assert "its source now says Orders of the web shop." in words
    # As it was known when the last memory went stale or lost what it was about, and the moment before the ingest.
    latest = max(server.parts.door.moments().moments[0], door.moments(catalog=True).moments[0])
    then_too = text_of(server.client.get("/catalog/changes", params={"known_at": write_instant(latest)}).text)
    assert ("Went stale" in then_too, "Lost references" in then_too) == (watched, not watched)
    earlier = text_of(server.client.get("/catalog/changes", params={"known_at": then}).text)
    assert "New shop.customers , shop.orders , shop.returns" in earlier
    assert "amount_gross" not in earlier
    assert mine.problems == []


def test_a_rename_waits_for_a_person_who_may_name_it_otherwise(
    served: Callable[..., Served], person: Person, tmp_path: Path
) -> None:
    server = served(watch="yes", sources=str(tmp_path / "shop"))
    door = server.parts.door
    shop = a_shop(tmp_path / "shop")
    door.ingest(str(shop))
    about = door.remember("Amounts are in cents.", entities=["shop.orders.amount"]).memory.id
    orders = shop / "models" / "shop" / "orders.yaml"
    orders.write_text(
        orders.read_text()
        .replace("name: amount,", "name: amount_gross,")
        .replace("amount:sum", "amount_gross:sum")
    )
    door.ingest(str(shop))
    worker = door.worker
    worker.begin()
    while worker.run_once():
        pass
    assert door.show(about).memory.status == "stale"
    reviewer = person(
        server, user="rae", permissions=["memory.read", "memory.manage", "memory.review"], actor="person"
    )
    page = reviewer.get("/review/renames").text
    assert "shop.orders.amount → shop.orders.amount_gross" in text_of(page)
    wrong = send(reviewer, "/review/renames", "accept", entities="shop.orders.amount", to="shop.orders.<nix>")
    assert (wrong.status_code, "shop.orders.&lt;nix&gt;" in wrong.text) == (422, True)
    done = send(
        reviewer, "/review/renames", "accept", entities="shop.orders.amount", to="shop.orders.amount_gross"
    )
    assert "1 memory follows the new name." in text_of(done.text)
    assert door.show(about).memory.entities == ("shop.orders.amount_gross",)


def test_lineage_is_a_picture_and_a_list_coloured_by_what_is_known(
    server: Served, window: Callable[..., Window], tmp_path: Path
) -> None:
    door = server.parts.door
    made_from = {"raw_orders": [], "orders": ["raw_orders"], "daily_orders": ["orders"], "visits": []}
    at_the_machine(server).ingest(a_manifest(tmp_path / "manifest.json", made_from))
    door.remember("Refunds are booked negative.", entities=["shop.orders.total"])
    stale = door.remember("The load runs at night.", entities=["shop.raw_orders"]).memory.id
    door.revise(stale, status="stale", status_reason="It was moved.")
    mine = window(server)
    page = mine.open("/catalog/model?name=shop.orders")
    listed = page.get_by_role("list", name="Lineage").get_by_role("listitem").all_inner_texts()
    assert sorted(listed) == [
        "shop.orders → shop.daily_orders nobody has written about it",
        "shop.raw_orders → shop.orders 1 stale",
    ]
    page.locator("[data-graph][data-drawn='3']").wait_for()
    picture = json.loads(page.locator("[data-graph]").get_attribute("data-graph") or "")
    states = {node["id"]: node["state"] for node in picture["nodes"]}
    assert states == {"shop.raw_orders": "stale", "shop.orders": "fresh", "shop.daily_orders": ""}
    page.get_by_role("link", name="Graph", exact=True).last.click()
    page.wait_for_url("**/graph?entity=shop.orders")
    assert mine.problems == []
