"""Memories and what they are about are a graph, which people walk from anywhere, at any time."""

import json
from collections.abc import Callable
from html import unescape

from onrecord import demo
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import text_of


def test_a_person_walks_from_a_question_to_a_thing_and_into_the_past(
    server: Served, window: Callable[..., Window]
) -> None:
    demo.load(server.parts.door)
    mine = window(server)
    page = mine.open("/graph")
    page.get_by_label("Question to begin with").fill("how to compute revenue")
    page.keyboard.press("Enter")
    page.locator("[data-drawn]").wait_for()
    names = page.locator(".graph-list li a:not(.id)")
    assert "how to compute revenue" in names.all_text_contents()
    page.get_by_role("link", name="how to compute revenue").first.click()
    page.wait_for_url("**/graph?memory=demo.gross")
    page.locator("[data-drawn]").wait_for()
    chosen = page.locator(".graph-list li.chosen")
    assert "supersedes how to compute revenue" in chosen.inner_text()
    chosen.get_by_role("link", name="shop.orders", exact=True).click()
    page.wait_for_url("**/graph?entity=shop.orders")
    page.locator("[data-drawn]").wait_for()
    drawn = json.loads(page.locator("[data-graph]").get_attribute("data-graph") or "")
    listed = page.locator(".graph-list li").count()
    assert len(drawn["nodes"]) == listed == int(page.locator("[data-drawn]").get_attribute("data-drawn") or 0)
    # Its columns are there too, though few memories are about them.
    assert "shop.orders.customer_id" in page.locator(".graph-list").inner_text()

    page.goto(server.url + "/graph?memory=demo.tone&as_of=2020-01-01")
    assert "did not exist at that time" in page.get_by_role("alert").inner_text()
    assert mine.problems == []
    assert mine.foreign() == []


def test_a_large_neighbourhood_is_cut_and_says_so(server: Served) -> None:
    door = server.parts.door
    door.remember("The centre.", id="centre")
    for each in range(130):
        id = f"m{each}"
        door.remember(f"Fact number {each}.", id=id, entities=[f"thing:t{each}"], alike="keep", dedupe=False)
        door.relate(id, "supports", "centre")
    page = server.client.get("/graph", params={"memory": "centre"}).text
    assert "There is more than fits: 200 are shown." in text_of(page)
    nodes = _picture(page)["nodes"]
    assert len(nodes) == 200
    assert [node["id"] for node in nodes if node["focus"]] == ["memory:centre"]
    assert page.count("data-entry") == 200


def test_a_graph_shows_what_its_reader_may_see_and_each_age_in_its_colour(server: Served) -> None:
    demo.load(server.parts.door)
    states = {
        node["id"]: node.get("state")
        for node in _picture(server.client.get("/graph?entity=shop.orders.amount").text)["nodes"]
    }
    assert states["memory:demo.cents"] == "stale"
    around = {
        node["id"]: node.get("state")
        for node in _picture(server.client.get("/graph?memory=demo.gross").text)["nodes"]
    }
    assert around["memory:demo.gross"] == "fresh"
    assert around["memory:demo.revenue"] == "superseded"
    assert around["memory:demo.vat"] == "ageing"
    with server.connect(server.make_key(user="eve", actor="person")) as eve:
        assert "demo.board" not in eve.get("/graph").text
        hidden = eve.get("/graph?memory=demo.board")
        assert hidden.status_code == 404
        assert "first working day" not in hidden.text


def _picture(page: str) -> dict[str, list[dict[str, object]]]:
    found = page.split('data-graph="')[1].split('"')[0]
    picture: dict[str, list[dict[str, object]]] = json.loads(unescape(found))
    return picture
