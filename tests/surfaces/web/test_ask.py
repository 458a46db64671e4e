"""A question in a browser: the answer as an agent gets it, and why it is this one."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import httpx2
import pytest

from onrecord.recall.recall import LAYERS
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import text_of

TITLES = re.compile(r'<a class="title" href="/memory/([^"?]+)')
MARKED = re.compile(r"<mark>(.*?)</mark>")


def fill(server: Served) -> None:
    door = server.parts.door
    door.remember(
        "Revenue is net of refunds: use orders.amount_net.",
        kind="decision",
        tags=["finance"],
        hint="how to count",
    )
    door.remember("The office closes at six.", tags=["office"])
    door.remember("A refunded order keeps its amountNet.", kind="learning", tags=["finance"])
    door.remember("Lunch is at noon.", tags=["office"])


def test_an_answer_says_what_was_found_why_and_among_how_many(server: Served) -> None:
    fill(server)
    door = server.parts.door
    page = server.client.get("/", params={"question": "is the net amount of a refund counted?"}).text
    recalled = door.recall("is the net amount of a refund counted?", explain=True)
    everything = door.recall("is the net amount of a refund counted?", min_relevance=0.0)
    strong = [hit.memory.id for hit in recalled.hits]
    weak = [hit.memory.id for hit in everything.hits if hit.memory.id not in strong]
    assert strong
    assert TITLES.findall(page) == strong + weak
    told = text_of(page)
    for hit in recalled.hits:
        figures = [f"{part.share:.3f} (rank {part.rank}" for part in hit.why.parts]
        figures += [f"× {name.replace('_', ' ')} {factor:.3f}" for name, factor in hit.why.boosts]
        assert [each for each in figures if each not in told] == []
        assert f"= {hit.score:.3f}" in told
        assert f"Relevance {hit.relevance:.0%}".replace("%", " %") in told
    assert {"net", "refunds", "refunded", "amount", "Net"} <= set(map(unescape, MARKED.findall(page)))
    assert "4 memories looked at" in told
    assert [layer.__name__.replace("_", " ") in told for layer in LAYERS] == [True] * len(LAYERS)
    if weak:
        assert f"{len(weak)} left out as too weak" in told


def test_a_question_that_nothing_answers_says_how_close_it_came(served: Callable[..., Served]) -> None:
    server = served(embedder="none")
    fill(server)
    page = server.client.get("/", params={"question": "zeppelins"}).text
    assert server.parts.door.recall("zeppelins").why_nothing() in text_of(page)
    # What the answer had to do without.
    assert "no embedder is configured" in text_of(page)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"only_tags": "office"}, {"2", "4", "8"}),
        ({"only_kinds": ["decision", "learning"]}, {"1", "3"}),
        ({"only_owners": "nobody"}, set()),
        ({"only_owners": "eve"}, {"5"}),
        ({"scopes": "user"}, {"6"}),
        ({"statuses": "stale"}, {"7"}),
        ({"statuses": ["stale", "active"], "only_entities": "thing:refunds"}, {"5", "7"}),
        ({"created_since": "2021-01-01", "only_tags": "office"}, {"2", "4"}),
        ({"updated_before": "2021-01-01"}, {"8"}),
        ({"updated_before": "2021-01-01", "created_since": "2020-07-01"}, set()),
        ({"only_kinds": "decision", "scopes": ["tenant", "user"], "created_since": "2021-01-01"}, {"1"}),
    ],
)
def test_filters_narrow_the_answer_and_keep_the_question(
    server: Served, filters: dict[str, object], found: set[str]
) -> None:
    fill(server)
    door = server.parts.door
    eve = door.as_caller(replace(door.caller, user="eve"))
    eve.remember("Refunds take a week.", scope="tenant", entities=["thing:refunds"])
    door.remember("My lunch is never refunded.", scope="user")
    door.remember("Refunds took two weeks.", entities=["thing:refunds"])
    door.revise("7", status="stale", status_reason="They are quicker now.")
    long_ago = door.as_caller(door.caller)
    long_ago._clock = lambda: datetime(2020, 3, 1, tzinfo=UTC)
    long_ago.remember("The office had no lunch.", tags=["office"])
    asked = {"question": "amounts, refunds, the office and lunch", "min_relevance": "0"} | filters
    page = server.client.get("/", params=asked).text  # type: ignore[arg-type]
    assert set(TITLES.findall(page)) == found
    assert 'value="amounts, refunds, the office and lunch"' in page
    for name in filters:
        assert f'name="{name}"' in page


def test_what_cannot_be_read_is_shown_again_with_the_reason(server: Served) -> None:
    fill(server)
    for wrong, reason in (
        ({"min_relevance": "very"}, "min relevance"),
        ({"only_kinds": "rumour"}, "only kinds"),
        ({"as_of": "some day"}, "as of"),
        ({"after": "nowhere"}, "after"),
    ):
        answer = server.client.get("/", params={"question": "refunds"} | wrong)
        assert answer.status_code == 422
        assert 'value="refunds"' in answer.text
        alert = text_of(answer.text.split('role="alert"')[1].split("</div>")[0])
        assert reason in alert
        assert "Nothing was changed" not in alert


def test_of_a_long_text_the_passage_with_the_words_comes_first(server: Served) -> None:
    long = "The nightly load is late. " * 1_200 + "Invoices are kept for ten years. " + "It rains. " * 2_000
    server.parts.door.remember(long)
    page = server.client.get("/", params={"question": "how long are invoices kept?"}).text
    text = page.split('<p class="text" dir="auto">')[1].split("</p>")[0]
    assert len(text) < 2_000
    assert "<mark>Invoices</mark> are <mark>kept</mark> for ten years" in text


def test_the_first_page_says_where_to_begin(server: Served) -> None:
    fill(server)
    door = server.parts.door
    door.remember("Refunds take a week.", entities=["thing:refunds"])
    door.remember("Refunds are in cents.", entities=["thing:refunds", "thing:units"])
    door.remember("Deploys are frozen on Fridays.", review=True)
    with (
        server.connect(server.make_key(user="eve", actor="person")) as member,
        server.connect(server.make_key(user="rae", permissions=["memory.read", "memory.review"])) as reviewer,
    ):
        beginnings = [
            text_of(each.get("/?about=1").text.partition('aria-label="Where to begin"')[2])
            for each in (member, reviewer)
        ]
        assert ["1 waits for your review" in each for each in beginnings] == [False, True]
        for each in beginnings:
            assert "thing:refunds 2 thing:units 1" in each
            assert each.index("Refunds are in cents.") < each.index("Refunds take a week.")
        assert "Where to begin" not in member.get("/", params={"question": "refunds"}).text


def test_more_of_an_answer_comes_into_the_same_page(server: Served, window: Callable[..., Window]) -> None:
    for number in range(25):
        server.parts.door.remember(
            f"Invoice {number} was paid in month {number}.", alike="keep", dedupe=False
        )
    mine = window(server)
    page = mine.open("/?question=which+invoice+was+paid")
    shown = page.locator("#results article")
    assert shown.count() == 10
    page.get_by_role("link", name="More").click()
    shown.nth(19).wait_for()
    assert shown.count() == 20
    titles = page.locator("#results article h3 a").all_text_contents()
    both = server.parts.door.recall("which invoice was paid", limit=10)
    then = server.parts.door.recall("which invoice was paid", limit=10, after=both.next)
    assert titles == [hit.memory.title for hit in (*both.hits, *then.hits)]
    # Without scripts the same link leads to the same hits.
    following = server.client.get(
        "/", params={"question": "which invoice was paid", "after": both.next or ""}
    )
    assert TITLES.findall(following.text)[:10] == [hit.memory.id for hit in then.hits]
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memory/*")
    assert mine.problems == []
    assert mine.foreign() == []


def test_a_person_says_which_hits_were_useful_and_takes_it_back(
    server: Served, window: Callable[..., Window]
) -> None:
    fill(server)
    door = server.parts.door
    door.set_tenant(keep_questions=True)
    mine = window(server)
    page = mine.open("/?question=is+the+net+amount+of+a+refund+counted%3F&only_tags=finance")
    hit = page.locator("#results article").first
    id = door.recall("is the net amount of a refund counted?", only_tags=["finance"]).hits[0].memory.id

    def said() -> list[tuple[str, str, str | None]]:
        return [(each.memory, each.verdict, each.question) for each in door.feedback().feedback]

    for label, verdict in (("Useful", "useful"), ("Not useful", "not_useful")):
        hit.get_by_role("button", name=label, exact=True).click()
        page.get_by_role("status").filter(has_text="Noted").wait_for()
        assert said() == [(id, verdict, "is the net amount of a refund counted?")]
        # The same answer again, with the same filters, and the button that counts is pressed.
        assert "only_tags=finance" in page.url
        assert hit.get_by_role("button", name=label, exact=True).get_attribute("aria-pressed") == "true"
    assert hit.get_by_role("button", name="Useful", exact=True).get_attribute("aria-pressed") == "false"
    hit.get_by_role("button", name="Not useful", exact=True).click()
    page.get_by_role("status").filter(has_text="Taken back").wait_for()
    assert said() == []
    assert mine.problems == []
    assert mine.foreign() == []


def test_whoever_may_not_save_is_offered_no_verdict(
    server: Served, person: Callable[..., httpx2.Client]
) -> None:
    fill(server)
    reader = person(server, user="bob", permissions=["memory.read"], actor="person")
    asked = {"question": "is a refund counted?"}
    owner = person(server, permissions=["memory.manage", "memory.read"], actor="person")
    assert 'value="judge_useful"' in owner.get("/", params=asked).text
    # Nor does a page of the past offer to change anything.
    past = owner.get("/", params=asked | {"known_at": "2100-01-01T00:00:00Z"}).text
    for page in (reader.get("/", params=asked).text, past):
        assert TITLES.findall(page)
        assert 'value="judge_useful"' not in page
