"""What an agent is given unasked, as its owner sees it beforehand."""

from collections.abc import Callable

from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window


def test_the_page_shows_the_very_text_and_what_it_costs(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    door.remember("Write British.", always_inject=True)
    door.remember("Refunds take 14 days.", kind="decision", title="Refunds")
    given = door.context("how long do refunds take?")
    mine = window(server)
    page = mine.open("/context?question=how+long+do+refunds+take%3F")
    shown = page.locator("pre").all_inner_texts()
    assert [text.strip() for text in shown] == [block.text.strip() for block in given.blocks]
    assert page.get_by_role("heading", name=f"{given.tokens} of 2000 tokens").is_visible()
    always = next(block for block in given.blocks if block.part == "always")
    assert page.get_by_role("heading", name=f"Always applied: {always.tokens} tokens").is_visible()
    around = always.tokens - always.costs[0]
    assert page.locator("td.number").all_inner_texts() == [str(always.costs[0]), str(around)]
    page.get_by_label("Budget in tokens").fill("40")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("heading", name="Left out").wait_for()
    page.get_by_label("Budget in tokens").fill("few")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("must be a whole number").first.wait_for()
    assert page.get_by_label("Budget in tokens").input_value() == "few"
    assert page.get_by_label("Question").input_value() == "how long do refunds take?"
    assert mine.problems == []


def test_only_an_admin_chooses_whose_agent(server: Served) -> None:
    server.parts.door.as_caller(server.parts.door.caller).remember(
        "Short answers, please.", scope="user", always_inject=True
    )
    key = server.make_key(user="eve", permissions=["memory.read"], actor="person")
    admin = server.make_key(user="boss", permissions=["memory.admin"], actor="person")
    owner = server.parts.door.caller.user
    with server.connect(key) as eve:
        denied = eve.get("/context", params={"for_user": owner})
        assert denied.status_code == 403
        assert "Short answers" not in denied.text
        assert "Short answers" not in eve.get("/context").text
    with server.connect(admin) as boss:
        assert "Short answers" in boss.get("/context", params={"for_user": owner}).text
        server.parts.door.remember(
            "The CRM sleeps at night.", scope="system", system="crm", always_inject=True
        )
        assert "sleeps" not in boss.get("/context").text
        assert "sleeps" in boss.get("/context", params={"for_systems": "erp\r\ncrm"}).text
