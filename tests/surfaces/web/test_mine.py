"""People see what is kept for them, switch on what is always applied, delete it, and learn what became of insights."""

from collections.abc import Callable
from pathlib import Path

import httpx2

from onrecord import demo
from onrecord.model.wire import write_instant
from onrecord.operation import StorePolicy
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, send, text_of


def test_a_person_switches_always_apply_and_deletes_after_seeing_what_goes(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    door.remember("Answer in French.", hint="how I want answers", scope="user", id="french")
    door.remember("Amounts in euros.", scope="user", id="euros")
    mine = window(server)
    page = mine.open("/mine")
    french = page.locator("article").filter(has_text="Answer in French.")
    switch = french.get_by_role("switch")
    assert switch.get_attribute("aria-checked") == "false"
    switch.click()
    page.get_by_text("agents get it without asking").wait_for()
    assert switch.get_attribute("aria-checked") == "true"
    assert door.show("french").memory.always_inject
    switch.click()
    page.get_by_text("only when they ask").wait_for()
    assert not door.show("french").memory.always_inject

    french.get_by_role("button", name="Delete").click()
    page.get_by_text("3 versions, so the past no longer shows it").wait_for()
    assert door.show("french").memory.is_live
    page.get_by_label("I am sure").check()
    page.get_by_role("button", name="Forget it").click()
    page.wait_for_url("**/mine?done=forgotten")
    assert page.locator("article").count() == 1
    assert [each.id for each in door.browse().memories] == ["ann::euros"]
    assert mine.problems == []
    assert mine.foreign() == []


def test_everyone_sees_their_own_and_the_systems_that_they_may_read(server: Served) -> None:
    server.make_key(user="boss", permissions=["memory.admin"], actor="person")
    manages = ["checkout=manage"]
    keys = [
        server.make_key(user="ann", actor="person", systems=manages),
        server.make_key(user="eve", actor="person", systems=["warehouse"]),
        server.make_key(user="ann", actor="agent", systems=manages),
    ]
    with server.connect(keys[0]) as ann, server.connect(keys[1]) as eve, server.connect(keys[2]) as agent:
        _see(ann, eve, agent)


def _see(ann: httpx2.Client, eve: httpx2.Client, agent: httpx2.Client) -> None:
    for body in (
        {"content": "Ann wants tables.", "scope": "user", "id": "tables"},
        {"content": "Look at /ready.", "scope": "system", "system": "checkout", "id": "ready"},
    ):
        assert ann.post("/v1/memories", json=body).status_code == 201
    assert "Ann wants tables." in ann.get("/mine").text
    assert "Nothing is kept for you yet." in eve.get("/mine").text
    assert "Look at /ready." in ann.get("/mine/systems").text
    assert acts_on(ann.get("/mine/systems?system=checkout").text) == {"always", "try_forgetting"}
    for hidden in ("/mine/systems", "/mine/systems?system=checkout"):
        page = text_of(eve.get(hidden).text)
        assert "Look at /ready." not in page
        assert "Nothing is known of" in page

    # An agent with the same rights has no switch, and may not press it either.
    assert acts_on(agent.get("/mine").text) == set()
    for id in ("tables", "ready"):
        pressed = send(agent, "/mine", "always", id=id, always_inject="true")
        assert pressed.status_code == 403
        assert "is for a person" in text_of(pressed.text)
    assert 'class="badge always"' not in ann.get("/mine").text
    strange = send(eve, "/mine", "always", id="tables", always_inject="true")
    assert strange.status_code in (403, 404)
    assert "Ann wants" not in strange.text


def test_insights_have_the_states_that_reviews_gave_them(server: Served) -> None:
    door = server.parts.door
    door.as_caller(door.caller, StorePolicy()).ingest(str(Path(demo.__file__).parent / "shop"))
    for id in ("waits", "good", "bad", "done", "undone"):
        edits = [{"entity": "shop.orders", "field": "tags", "key": id, "op": "add"}]
        door.remember(f"The insight {id}.", id=id, edits=edits, dedupe=False, alike="keep")
    for id in ("good", "done", "undone"):
        door.approve(id)
    door.reject("bad", reason="It is not so.")
    door.apply("shop.orders", memories=["done"])
    door.roll_back(door.apply("shop.orders", memories=["undone"]).changeset.id, then="archive")
    all_of_them = text_of(server.client.get("/mine/insights").text)
    assert "It is not so." in all_of_them
    states = {
        "waits": "pending",
        "good": "approved",
        "bad": "rejected",
        "done": "applied",
        "undone": "rolled_back",
    }
    for id, state in states.items():
        page = text_of(server.client.get("/mine/insights", params={"proposal": state}).text)
        assert f"The insight {id}." in all_of_them
        assert [each for each in states if f"The insight {each}." in page] == [id]
        assert state.replace("_", " ") in page
    assert (
        "None of your insights is superseded." in server.client.get("/mine/insights?proposal=superseded").text
    )
    wrong = server.client.get("/mine/insights?proposal=maybe")
    assert wrong.status_code == 422
    assert "proposal" in text_of(wrong.text)


def test_what_was_kept_then_is_seen_and_left_as_it_was(server: Served) -> None:
    door = server.parts.door
    before = door.remember("Answer in French.", scope="user", id="french").memory
    door.revise("french", content="Answer in German.")
    door.remember("Where it rains, it pours.", scope="tenant", review=True, id="rain")
    then = {"known_at": write_instant(before.created_at)}
    page = server.client.get("/mine", params=then).text
    assert "Answer in French." in page
    assert "German" not in page
    assert acts_on(page) == set()
    assert "always" in acts_on(server.client.get("/mine").text)
    assert "You have proposed nothing yet" in server.client.get("/mine/insights", params=then).text
    assert "it pours" in server.client.get("/mine/insights").text
