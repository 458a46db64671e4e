"""Time on screen: every page at any time, and two times side by side."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onrecord.model.wire import write_instant
from onrecord.service import OnRecord
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, at_the_machine, text_of

EXAMPLES = Path(__file__).parents[3] / "examples"
SHOP, SHOP_NEXT = EXAMPLES / "shop", EXAMPLES / "shop_next"
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@pytest.fixture
def told(server: Served) -> list[datetime]:
    """A year on the server: when it was said that revenue is net, when that was corrected, and when something was added."""
    door, times = server.parts.door, [START + timedelta(days=days) for days in (0, 40, 90)]
    at = iter(times)

    def then() -> OnRecord:
        moment = next(at)
        earlier = door.as_caller(door.caller)
        earlier._clock = lambda: moment
        return earlier

    then().remember("Revenue is net of refunds.", kind="decision")
    then().revise("1", content="Revenue is gross since the new tax rules.")
    then().remember("Deploys are frozen on Fridays.")
    return times


def test_a_slider_leads_through_the_moments_of_change_and_a_key_to_now(
    server: Served, window: Callable[..., Window], told: list[datetime]
) -> None:
    mine = window(server)
    page = mine.open("/memory?kinds=decision")
    slider = page.get_by_label("Moments at which something changed")
    slider.wait_for()
    assert (slider.get_attribute("max"), slider.input_value()) == ("3", "3")
    slider.focus()
    for moment in reversed(told):
        page.keyboard.press("ArrowLeft")
        page.wait_for_url(f"**known_at=*{moment:%Y-%m-%d}*")
        # Each step is a page of its own, on which the slider has the cursor again.
        expect(slider).to_be_focused()
        assert f"{moment:%Y-%m-%d}" in (slider.get_attribute("aria-valuetext") or "")
    assert "kinds=decision" in page.url
    assert page.locator("article .title").all_inner_texts() == ["Revenue is net of refunds."]
    # Whoever gets the link sees the same.
    assert "Revenue is net of refunds." in server.client.get(page.url).text
    page.locator("article .title").click()
    page.wait_for_url("**/memory/1?*known_at=*")
    assert page.locator("h1").inner_text().startswith("Revenue is net of refunds.")
    assert page.locator("ol.timeline > li").count() == 1, "of what came later nothing was known"
    slider.focus()
    page.keyboard.press("n")
    page.wait_for_url("**/memory/1")
    assert page.locator("h1").inner_text().startswith("Revenue is gross")
    assert mine.problems == []
    assert mine.foreign() == []


def test_no_page_of_the_past_offers_to_change_it(server: Served, told: list[datetime]) -> None:
    then = write_instant(told[0])
    for clocks in ({"as_of": then}, {"known_at": then}, {"as_of": then, "known_at": then}):
        page = server.client.get("/memory/1", params=clocks).text
        assert acts_on(page) == set()
        assert f"/compare?since={then.replace(':', '%3A')}" in page
    assert "revise" in acts_on(server.client.get("/memory/1").text)
    before = server.client.get("/memory/1", params={"as_of": "2020-01-01"})
    assert before.status_code == 404
    assert "Show it as it is now" in before.text


def test_the_catalog_is_shown_as_it_was_known(server: Served) -> None:
    door = at_the_machine(server)
    door.ingest(str(SHOP))
    door.remember("Amounts are in cents.", entities=["shop.orders.amount"])
    first = door.moments(catalog=True).moments[0]
    before, then = ({"known_at": write_instant(first + timedelta(seconds=each))} for each in (-1, 0))
    written = {"known_at": write_instant(door.moments().moments[0])}
    door.ingest(str(SHOP_NEXT))
    model = {"name": "shop.orders"}
    is_now, was = (
        text_of(server.client.get("/catalog/model", params=model | when).text) for when in ({}, written)
    )
    assert ("amount_gross" in is_now, "amount_gross" in was) == (True, False)
    assert ("Amounts are in cents." in is_now, "Amounts are in cents." in was) == (False, True)
    picture = text_of(server.client.get("/graph", params={"entity": "shop.orders"} | written).text)
    assert ("shop.orders.amount " in picture, "amount_gross" in picture) == (True, False)
    assert server.client.get("/catalog/model", params=model | before).status_code == 404
    assert "Nothing was known of any source then." in server.client.get("/catalog", params=before).text
    for path in ("/catalog", "/catalog/source?name=shop", "/catalog/undocumented"):
        page = server.client.get(f"{path}{'&' if '?' in path else '?'}known_at={then['known_at']}").text
        assert "shop" in text_of(page.split("<main")[1])
        assert acts_on(page) == set()
        assert "/memory/new?entities" not in page
        assert "data-timebar" in page
        assert "/compare?of=catalog&amp;since=" in page
    compared = server.client.get("/compare", params={"of": "catalog", "since": then["known_at"]}).text
    assert "retired shop.orders.amount " in text_of(compared)
    assert "added shop.orders.amount_gross " in text_of(compared)
    assert "formula: <del>amount</del>:sum" in compared
    assert "formula: <ins>amount_gross</ins>:sum" in compared
    assert "Amounts are in cents." not in compared
    moments = server.client.get("/compare/moments", params={"of": "catalog"}).json()
    assert moments == [write_instant(each) for each in reversed(door.moments(catalog=True).moments)]
    everything = server.client.get("/compare/moments", params={"of": "everything"}).json()
    assert set(moments) < set(everything)


def test_review_and_changesets_show_what_waited_and_what_was_applied_then(server: Served) -> None:
    door = at_the_machine(server)
    door.ingest(str(SHOP))
    edit = {"entity": "shop.orders", "field": "description", "value": "Every order; none is deleted."}
    waiting = door.remember("Orders stay.", scope="tenant", edits=[edit], review=True).memory.id
    proposed = {"known_at": write_instant(door.moments().moments[0])}
    door.approve(waiting)
    door.apply("shop.orders")
    applied = {"known_at": write_instant(door.changesets().changesets[0].at)}
    assert "Nothing waits for a person." in server.client.get("/review").text
    page = server.client.get("/review", params=proposed).text
    assert ("1 waited for a person" in text_of(page), "Orders stay." in page) == (True, True)
    assert "none is deleted" in text_of(page), "what it would write"
    assert acts_on(page) == set()
    for of in ("", "insights"):
        assert "Nothing waited" in server.client.get("/review", params=applied | {"of": of}).text
    for when, listed in ((proposed, False), (applied, True)):
        page = server.client.get("/changeset", params=when).text
        assert ('href="/changeset/1' in page) is listed
        assert acts_on(page) == set()
    for path in ("/review", "/changeset", "/catalog", "/catalog/source?name=shop"):
        wrong = server.client.get(path, params={"name": "shop", "known_at": "whenever"})
        assert (wrong.status_code, 'value="whenever"' in wrong.text) == (422, True), path


def test_a_time_may_be_said_in_words_and_becomes_one_that_stays(server: Served, told: list[datetime]) -> None:
    year = datetime.now(UTC).year
    for words, settled in (
        ("1 March 2026", "2026-03-01T00:00:00.000000Z"),
        ("last year", f"{year - 1}-01-01T00:00:00.000000Z"),
    ):
        led = server.client.get("/memory", params={"kinds": "decision", "as_of": words})
        assert led.status_code == 303
        assert led.headers["location"] == f"/memory?kinds=decision&as_of={settled.replace(':', '%3A')}"
    for kept in ("2026-03-01", "2026-03-01T10:00:00+01:00"):
        assert server.client.get("/memory", params={"as_of": kept}).status_code == 200
    for wrong in ("whenever", "2026-02-30", "march and may", "99999-01-01"):
        for path in ("/", "/memory", "/memory/1", "/compare"):
            name = "since" if path == "/compare" else "known_at"
            answer = server.client.get(path, params={name: wrong})
            assert answer.status_code == 422, (path, wrong)
            assert f'value="{wrong}"' in answer.text
            assert name.replace("_", " ") in text_of(answer.text.split('role="alert"')[1])


def test_two_times_stand_side_by_side(server: Served, told: list[datetime]) -> None:
    door = server.parts.door
    since = write_instant(told[0])
    page = server.client.get("/compare", params={"since": since}).text
    assert "Revenue is <del>net of refunds</del>." in page
    assert "Revenue is <ins>gross since the new tax rules</ins>." in page
    assert "added Deploys are frozen on Fridays." in text_of(page)
    assert text_of(page).count("Deploys are frozen on Fridays.") == 1, "the title says it all"
    until = server.client.get("/compare", params={"since": since, "until": write_instant(told[1])}).text
    assert "Deploys" not in until
    door.retire("2", reason="No longer.")
    door.relate("1", "supports", "2")
    ended = server.client.get("/compare", params={"since": write_instant(told[2])}).text
    assert "retired Deploys are frozen on Fridays." in text_of(ended)
    assert "because: No longer." in text_of(ended)
    assert "related #1 supports #2" in text_of(ended)
    assert (
        "Nothing changed"
        in server.client.get("/compare", params={"since": "2100-01-01", "until": "2100-01-02"}).text
    )


def test_many_changes_come_in_pages_that_end_at_one_time(
    server: Served, window: Callable[..., Window]
) -> None:
    for number in range(30):
        server.parts.door.remember(f"Note {number}.", alike="keep", dedupe=False)
    mine = window(server)
    page = mine.open("/compare")
    assert page.locator("#results article").count() == 25
    server.parts.door.remember("Said while someone was reading.")
    page.get_by_role("link", name="More").click()
    page.locator("#results article").nth(29).wait_for()
    assert "while someone was reading" not in page.locator("#results").inner_text()
    assert mine.problems == []
