"""Pages as a person meets them: in a browser, on a server of one's own."""

from collections.abc import Callable

from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window


def test_a_question_gets_the_answer_that_an_agent_gets(server: Served, window: Callable[..., Window]) -> None:
    door = server.parts.door
    door.remember("Revenue is net of refunds: use orders.amount_net.", kind="decision")
    door.remember("The office closes at six.")
    mine = window(server)
    page = mine.open("/")
    page.get_by_label("Question").fill("which column is revenue?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?question=*")
    titles = page.locator("article.memory h3 a").all_text_contents()
    assert titles == [hit.memory.title for hit in door.recall("which column is revenue?").hits]
    assert mine.problems == []
    assert mine.foreign() == []


def test_a_form_that_is_refused_keeps_what_was_typed(server: Served, window: Callable[..., Window]) -> None:
    server.parts.door.remember("Deploys are frozen on Fridays.")
    mine = window(server)
    page = mine.open("/memory/1")
    page.get_by_text("Revise", exact=True).click()
    page.get_by_label("Text").fill("   ")
    page.get_by_role("button", name="Save").click()
    assert "Nothing was changed" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Text").input_value() == "   "
    page.get_by_label("Text").fill("Deploys are frozen from Thursday noon.")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/memory/1?done=revised")
    assert server.parts.door.show("1").memory.content == "Deploys are frozen from Thursday noon."


def test_without_scripts_every_page_reads_and_every_form_works(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    mine = window(server, java_script_enabled=False)
    page = mine.open("/memory/new")
    page.get_by_label("Text").fill("Revenue is net of refunds.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Revise", exact=True).click()
    page.get_by_label("Text", exact=True).fill("Revenue is gross.")
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_role("status").inner_text() == "Saved. The text before is in its history."
    door.relate("1", "supports", door.remember("Refunds are a cost.").memory.id)
    mine.open("/memory/1").get_by_role("link", name="Version 1").click()
    assert page.locator("h1").inner_text().startswith("Revenue is net of refunds.")
    page.get_by_role("link", name="Now", exact=True).click()
    assert page.locator("h1").inner_text().startswith("Revenue is gross.")
    assert "Refunds are a cost." in page.locator("ul.relations").inner_text()
    assert not page.locator("[data-graph]").is_visible(), "a picture that nothing draws takes no place"
    page.get_by_label("True at").fill("2001-01-01")
    page.get_by_role("button", name="Show").click()
    assert "did not exist at that time" in page.get_by_role("alert").inner_text()
    waits = door.remember("Amounts are in cents.", review=True).memory.id
    mine.open("/review").get_by_text("Reject …").click()
    page.get_by_label("Why", exact=True).fill("In euros.")
    page.get_by_role("button", name="Reject", exact=True).click()
    assert (door.show(waits).memory.status, door.show(waits).memory.status_reason) == (
        "archived",
        "In euros.",
    )
    for number in range(12):
        door.remember(f"Refund {number} was paid.", alike="keep", dedupe=False)
    mine.open("/?question=which+refund+was+paid").get_by_role("link", name="More").click()
    assert page.locator("#results article").count() > 0
    assert mine.foreign() == []


def test_a_form_that_no_page_has_shown_changes_nothing(server: Served) -> None:
    server.parts.door.remember("Deploys are frozen on Fridays.")
    sent = server.client.post("/memory/1", data={"act": "revise", "content": "Anything goes."})
    assert sent.status_code == 403
    assert "Nothing was changed" in sent.text
    assert server.parts.door.show("1").memory.version == 1


def test_an_address_that_is_none_is_a_page_for_people_and_a_problem_for_programs(server: Served) -> None:
    shown = server.client.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert (shown.status_code, "<h1>Not found</h1>" in shown.text) == (404, True)
    assert server.client.get("/nowhere").json()["title"] == "Not found"


def test_nothing_stored_becomes_markup(server: Served, window: Callable[..., Window]) -> None:
    text = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    server.parts.door.remember(text)
    mine = window(server)
    page = mine.open("/memory/1")
    assert page.locator("p.text.card").inner_text() == text
    assert page.locator("main img, main script").count() == 0
    assert mine.problems == []
