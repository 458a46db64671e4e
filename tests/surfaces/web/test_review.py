"""Whoever reviews sees what waits with what one needs to decide, decides on it, and undoes what was applied."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect

from onrecord import OnRecord
from tests.scripted_model import ScriptedModel, as_json, by_task
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, at_the_machine, send, text_of

SHOP = Path(__file__).parents[3] / "examples" / "shop"
REVIEWS = ("memory.read", "memory.manage", "memory.review")
Person = Callable[..., httpx2.Client]
HOSTILE = (
    '<script>document.title="owned"</script>',
    "<img src=x onerror=\"document.title='owned'\">",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "\u202egnp.exe \x1b[31m' \" --> ]]> </textarea></form><form action=//evil.test>",
    "javascript:alert(1)" + "x" * 20_000,
)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    model = ScriptedModel()
    yield model
    model.close()


def bot(server: Served, user: str = "bot") -> OnRecord:
    """Whatever runs by itself at night: what it says for all waits for a person."""
    door = server.parts.door
    caller = replace(
        door.caller, user=user, actor="unattended", permissions=frozenset({"memory.read", "memory.manage"})
    )
    return door.as_caller(caller)


def propose(server: Served, text: str, **fields: object) -> str:
    return bot(server).remember(text, scope="tenant", **fields).memory.id  # type: ignore[arg-type]


def test_a_reviewer_decides_by_keyboard_and_is_led_to_the_next(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    old = propose(server, "Refunds take a week to be booked.")
    door.reject(old, reason="They take ten days since March.")
    first = propose(server, "Refunds need a week until they are booked.")
    second = propose(server, "Deploys are frozen on Fridays.")
    third = propose(server, "Amounts are in cents.")
    mine = window(server)
    page = mine.open("/review")
    entries = page.locator("article")
    assert [each.get_attribute("id") for each in entries.all()] == [
        f"entry-{id}" for id in (first, second, third)
    ]
    told = entries.first.inner_text()
    assert "proposed by bot" in told
    assert "Rejected before" in told
    assert "They take ten days since March." in told
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.type("See the handbook.")
    page.keyboard.press("Enter")
    page.get_by_text("Rejected. It stays readable").wait_for()
    expect(page.locator("article.chosen")).to_have_id(f"entry-{second}")
    page.keyboard.press("a")
    page.get_by_text("Approved. It counts from now on.").wait_for()
    expect(page.locator("article.chosen")).to_have_id(f"entry-{third}")
    page.keyboard.press("e")
    page.locator("article.chosen").get_by_label("Text").fill("Amounts are in cents, before tax.")
    page.get_by_role("button", name="Approve in these words").click()
    page.get_by_text("Approved in your words.").wait_for()
    page.get_by_text("Nothing waits for a person.").wait_for()
    memories = {id: door.show(id).memory for id in (first, second, third)}
    assert (memories[first].status, memories[first].status_reason) == ("archived", "See the handbook.")
    assert (memories[second].status, memories[second].author) == ("active", "bot")
    assert (memories[third].content, memories[third].author, memories[third].tier) == (
        "Amounts are in cents, before tax.",
        door.caller.user,
        "approved",
    )
    assert door.recall("before tax, in cents").hits[0].memory.id == third
    assert mine.problems == []
    assert mine.foreign() == []


def test_what_each_kind_of_person_sees_and_may_decide(server: Served, person: Person) -> None:
    waiting = propose(server, "Deploys are frozen on Fridays.")
    admin = person(server, user="boss", permissions=["memory.admin", *REVIEWS], actor="person")
    reviewer = person(server, user="rae", permissions=REVIEWS, actor="person")
    agent = person(server, user="rae", permissions=REVIEWS, actor="agent")
    member = person(server, user="eve", actor="person")
    stranger = server.connect()
    for who in (admin, reviewer):
        page = who.get("/review")
        assert {"approve", "reject", "correct", "approve_many"} <= acts_on(page.text)
    seen = agent.get("/review")
    assert "Deploys are frozen" in seen.text
    assert acts_on(seen.text) == set()
    assert "Only a person decides" in seen.text
    assert send(agent, "/review", "approve", id=waiting).status_code == 403
    for path in ("/review", "/review/renames"):
        assert member.get(path).status_code == 403
        assert stranger.get(path).headers["location"].startswith("/sign-in")
    assert 'href="/review"' not in member.get("/").text
    assert send(member, "/review", "approve", id=waiting).status_code == 403
    assert server.parts.door.show(waiting).memory.status == "pending"
    assert send(reviewer, "/review", "approve", id=waiting).status_code == 303
    assert server.parts.door.show(waiting).memory.approved_by == "rae"
    stranger.close()


def test_the_second_of_two_reviewers_is_told_and_loses_nothing(server: Served, person: Person) -> None:
    ids = [propose(server, text) for text in ("Deploys are frozen on Fridays.", "Amounts are in cents.")]
    ann = person(server, user="ann", permissions=REVIEWS, actor="person")
    bob = person(server, user="bob", permissions=REVIEWS, actor="person")
    assert send(ann, "/review", "approve", id=ids[0], expected_version="1").status_code == 303
    late = send(bob, "/review", "reject", id=ids[0], expected_version="1", reason="Not since May.")
    assert late.status_code == 409
    assert "someone changed it first" in late.text
    assert server.parts.door.show(ids[0]).memory.status == "active"
    both = send(bob, "/review", "approve_many", chosen=[f"{id} 1" for id in ids])
    assert both.status_code == 409
    assert f"#{ids[0]}" in text_of(both.text)
    memories = [server.parts.door.show(id).memory for id in ids]
    assert [each.approved_by for each in memories] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("act", "given", "told"),
    [
        ("reject", {"reason": " "}, "say why it is rejected"),
        ("correct", {"content": "", "title": "A better title"}, "Content:"),
        (["approve_many", "reject_many"], {"reason": "Wrong."}, "tick at least one"),
        ("approve_many", {"chosen": "1 x"}, "open the page again"),
    ],
)
def test_bad_input_changes_nothing_and_keeps_what_was_typed(
    server: Served, act: str | list[str], given: dict[str, str], told: str
) -> None:
    id = propose(server, "Deploys are frozen on Fridays.")
    answer = send(server.client, "/review", act, id=id, expected_version="1", **given)
    assert answer.status_code == 422
    assert told in text_of(answer.text)
    for typed in given.values():
        assert typed in answer.text or typed == "1 x"
    assert server.parts.door.show(id).memory.status == "pending"


def test_a_revision_shows_the_present_text_and_an_end_says_why(server: Served) -> None:
    door = server.parts.door
    kept = door.remember("Revenue is net of refunds.").memory.id
    again = door.as_caller(replace(door.caller, actor="unattended"))
    proposal = again.revise(kept, content="Revenue is net of refunds and tax.").proposal
    gone = again.retire(kept, reason="Nobody asks for it.")
    assert proposal is not None
    page = server.client.get("/review").text
    assert "<ins> and tax</ins>" in page
    assert "Because: Nobody asks for it." in text_of(page)
    assert gone.proposal is not None
    assert f"#{kept}" in text_of(page)
    words = "Revenue is net of refunds, tax and fees."
    send(server.client, "/review", "correct", id=proposal.id, expected_version="1", content=words, title="")
    assert door.show(kept).memory.content == "Revenue is net of refunds."
    send(server.client, "/review", "correct", id=proposal.id, expected_version="1", content=words)
    assert door.show(kept).memory.content == words
    later = text_of(server.client.get("/review").text)
    assert "It has changed since this was proposed" in later


def test_insights_are_those_that_were_handed_in_for_review(server: Served) -> None:
    propose(server, "Deploys are frozen on Fridays.")
    handed_in = propose(server, "Amounts are in cents.", review=True)
    page = text_of(server.client.get("/review", params={"of": "insights"}).text)
    assert "1 waits for a person" in page
    assert f"#{handed_in}" in page
    assert "2 wait for a person" in text_of(server.client.get("/review").text)


def test_hostile_proposals_do_nothing(server: Served, window: Callable[..., Window]) -> None:
    at_the_machine(server).ingest(str(SHOP))
    for text in HOSTILE:
        edit = {"entity": "shop.orders", "field": "documents", "key": "<b>notes</b>", "value": text[:9_000]}
        # What is promoted may hold nothing invisible.
        propose(server, text, **({"edits": [edit]} if text.isprintable() else {}))
    mine = window(server, viewport={"width": 390, "height": 800})
    page = mine.open("/review")
    assert page.title() == "Review · OnRecord"
    assert page.locator("article").count() == len(HOSTILE)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("form[action*=evil]").count() == 0
    assert mine.foreign() == []
    assert mine.problems == []


def test_an_advisor_is_asked_only_by_its_button(
    model: ScriptedModel, served: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model.settings().items():
        monkeypatch.setenv(name, value)
    model.script = by_task(judge=as_json({"verdict": "new", "ids": [], "why": "Nothing says so."}))
    server = served()
    id = propose(server, "Deploys are frozen on Fridays.")
    assert "advise" in acts_on(server.client.get("/review").text)
    assert model.asked == []
    answer = send(server.client, "/review", "advise", id=id)
    assert "An advisor thinks: new . Nothing says so." in text_of(answer.text)
    assert len(model.asked) == 1


def test_a_changeset_is_planned_applied_and_rolled_back(
    server: Served, window: Callable[..., Window], person: Person
) -> None:
    door = server.parts.door
    at_the_machine(server).ingest(str(SHOP))
    edit = {"entity": "shop.orders.amount", "field": "description", "value": "Gross, in cents."}
    first = propose(server, "The unit is missing.", edits=[edit])
    mine = window(server)
    page = mine.open("/review")
    row = page.get_by_role("region", name=f"What {first} would change").get_by_role("row").last
    assert "Gross amount in cents." in row.inner_text()
    page.locator("article").get_by_text("Edit and approve").click()
    page.get_by_label("shop.orders.amount description").fill("Gross amount in cents, before tax.")
    page.get_by_role("button", name="Approve in these words").click()
    page.get_by_role("link", name="Changesets").click()
    assert page.locator("header [aria-current]").all_inner_texts() == ["Review"]
    page.get_by_role("link", name="plan for shop.orders.amount").click()
    assert page.locator("ins").inner_text() == ", before tax"
    # Someone approves another change meanwhile: the plan that was on screen is not what would be applied.
    second = propose(
        server,
        "Nothing is deleted.",
        edits=[{"entity": "shop.orders", "field": "tags", "key": "kept", "op": "add"}],
    )
    door.approve(second)
    page.get_by_label("Reason").fill("Agreed on Monday")
    page.get_by_role("button", name="Apply").click()
    assert "has changed since" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Reason").input_value() == "Agreed on Monday"
    assert page.get_by_role("region", name="Planned changes").get_by_role("row").count() == 3
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Applied. The next ingest keeps it.").wait_for()
    assert "Agreed on Monday" in page.locator("dl.facts-list").inner_text()
    assert door.inspect("shop.orders").sections["tags"] == ["kept"]
    member = person(server, user="eve", actor="person")
    assert "roll_back" not in acts_on(member.get("/changeset/1").text)
    assert "apply" not in acts_on(member.get("/plan", params={"entity": "shop.orders"}).text)
    assert mine.problems == []
    admin = person(server, user="boss", permissions=REVIEWS, actor="person")
    assert send(member, "/changeset/1", "roll_back", reason="No.").status_code == 403
    wrong = send(admin, "/changeset/1", "roll_back", reason="Too early", then="burn")
    assert (wrong.status_code, "Too early" in wrong.text) == (422, True)
    assert send(admin, "/changeset/1", "roll_back", reason="Too early", then="review").status_code == 303
    assert "tags" not in door.inspect("shop.orders").sections
    listed = text_of(admin.get("/changeset", params={"states": "rolled_back"}).text)
    assert "Changeset 1 rolled back" in listed
    assert "No changeset matches." in admin.get("/changeset", params={"states": "applied"}).text
