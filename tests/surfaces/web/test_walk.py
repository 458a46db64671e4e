"""Every page, as four kinds of people and a stranger: what each may open, that it can be read by everyone, on a phone too,
and that a browser asks nobody but the server.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from onrecord import demo
from onrecord.config import load
from onrecord.surfaces import web
from onrecord.surfaces.recent_requests import RecentRequests
from onrecord.surfaces.web import connect, operate
from onrecord.surfaces.web.sign_in import ComingIn
from tests.databases import BACKENDS
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window

#: An address for every page; `{memory}` and the like stand for what the store of this test holds.
ADDRESSES = {
    "/": ["/", "/?question=which+column+is+revenue%3F", "/?question=revenue&as_of=2030-01-01"],
    "/memory": ["/memory", "/memory?kinds=decision", "/memory?statuses=superseded"],
    "/memory/new": ["/memory/new"],
    "/memory/{id}": ["/memory/1", "/memory/1?known_at=2030-01-01"],
    "/memory/{id}/forget": ["/memory/1/forget"],
    "/compare": [
        "/compare?since=2020-01-01&until=2030-01-01",
        "/compare?of=catalog&since=2020-01-01",
    ],
    "/conversation": ["/conversation"],
    "/conversation/{id:path}": ["/conversation/~root/sprint"],
    "/artifact/{id}": ["/artifact/1"],
    "/artifact/{id}/raw": [],
    "/scratchpad/{agent:path}": ["/scratchpad/shared"],
    "/context": ["/context?question=revenue"],
    "/graph": ["/graph?memory=1"],
    "/compare/moments": [],
    "/mine": ["/mine"],
    "/mine/systems": ["/mine/systems"],
    "/mine/insights": ["/mine/insights"],
    "/connect": ["/connect"],
    "/catalog": ["/catalog", "/catalog?known_at=2030-01-01"],
    "/catalog/source": ["/catalog/source?name=shop"],
    "/catalog/model": ["/catalog/model?name=shop.orders"],
    "/catalog/undocumented": ["/catalog/undocumented"],
    "/catalog/changes": ["/catalog/changes"],
    "/catalog/impact": ["/catalog/impact"],
    "/catalog/ingest": ["/catalog/ingest"],
    "/review": ["/review", "/review?known_at=2030-01-01"],
    "/review/renames": ["/review/renames"],
    "/changeset": ["/changeset"],
    "/changeset/{id}": ["/changeset/1"],
    "/plan": ["/plan?entity=shop.orders"],
    "/operate": ["/operate"],
    "/operate/export": [],
    "/operate/keys": ["/operate/keys"],
    "/operate/tenants": ["/operate/tenants"],
    "/operate/audit": ["/operate/audit", "/operate/audit?since=soon"],
    "/embed/system/{id}": ["/embed/system/checkout"],
    "/sign-out": ["/sign-out"],
}
#: The words in tables that are broken in two.
_BROKEN = """() => [...document.querySelectorAll("th, td")].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let text; (text = texts.nextNode()); ) {
    for (const word of text.data.matchAll(/\\w{4,}/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (range.getClientRects().length > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""
#: The ids that several elements have: a label or a link then leads to the wrong one.
_TWICE = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
}"""
#: What each page lets a browser run and load, and what no page holds, since it would not be run.
STRICT = "default-src 'none'; script-src 'self'; style-src 'self'"
INLINE = re.compile(r"<script(?![^>]* src=)|<style|<[^>]*\s(?:style|on[a-z]+)=", re.IGNORECASE)
SHOP = Path(demo.__file__).parent / "shop"
#: What only some may open; the rest is open to all who may read.
REVIEWERS = ("/review",)
ADMINS = ("/operate", "/catalog/ingest")


@dataclass(frozen=True)
class Walker:
    """Someone who looks at pages: the fields of their key (None for the owner of the machine), and what is closed to them."""

    key: dict[str, object] | None
    closed: tuple[str, ...] = ()
    wide: int = 390
    theme: str = "light"


WALKERS = {
    "owner": Walker(None, wide=1280, theme="dark"),
    "member": Walker({"user": "eve", "actor": "person"}, (*REVIEWERS, *ADMINS), theme="dark"),
    "reviewer": Walker(
        {"user": "rae", "actor": "person", "permissions": ["memory.read", "memory.manage", "memory.review"]},
        ADMINS,
        wide=800,
    ),
    "admin": Walker({"user": "ada", "actor": "person", "permissions": ["memory.admin"]}),
}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def furnished(backend: str, request: pytest.FixtureRequest, served: Callable[..., Served]) -> Served:
    """A server with something on every page."""
    settings = {"user": "root", "sources": str(SHOP)}
    if backend == "postgres":
        settings["db"] = request.getfixturevalue("postgres_dsn")
    server = served(**settings)
    door = server.parts.door
    old = door.remember(
        "Revenue is net of refunds: use orders.amount_net.", kind="decision", tags=["finance"]
    )
    door.remember("Revenue is gross since May: use orders.amount_gross.", supersedes=[old.memory.id])
    door.remember("Write British.", always_inject=True)
    door.remember("إعادة الأموال خلال أسبوعين", entities=["thing:orders.amount"])
    door.remember("Deploys are frozen on Fridays.", review=True)
    door.remember("Deploys are frozen on Fridays, " * 90, review=True, alike="keep")
    door.register_conversation("sprint", title="Sprint 12")
    door.share_conversation("sprint", "eve")
    door.share_conversation("sprint", "rae")
    door.write_artifact("plan.md", "# Plan", media_type="text/markdown", conversation="sprint")
    door.append_scratchpad("Ask Eve.")
    door.ingest(str(SHOP))
    door.remember("orders.status is never NULL.", entities=["shop.orders"])
    for value in ("One row an order.", "One row an order, returned ones too."):
        edit = {"entity": "shop.orders", "field": "description", "value": value}
        door.approve(door.remember(f"To be said: {value}", edits=[edit]).memory.id)
        if not door.changesets().total:
            door.apply("shop.orders")
    door.remember("Look at /ready.", scope="system", system="checkout")
    return server


def paths() -> set[str]:
    """Of the pages that there are."""
    of_server = (*operate.pages(RecentRequests()), *connect.pages(load(), ComingIn()))
    known = {page.path for page in (*web.PAGES, *web.EMBEDDED, *of_server)}
    return {*known, "/sign-out"}


def every_address() -> Iterator[tuple[str, str]]:
    for path in paths():
        yield from ((path, address) for address in ADDRESSES[path])


def test_every_page_is_walked() -> None:
    assert paths() - set(ADDRESSES) == set()


@pytest.mark.parametrize("who", WALKERS)
def test_everyone_opens_what_they_may_and_can_read_it(
    furnished: Served, window: Callable[..., Window], who: str, backend: str
) -> None:
    walker = WALKERS[who]
    key = None if walker.key is None else furnished.make_key(**walker.key)
    viewport = {"width": walker.wide, "height": 844}
    mine = window(furnished, key=key, viewport=viewport, color_scheme=walker.theme)
    faults = []
    for path, address in every_address():
        sent = mine.page.goto(furnished.url + address)
        assert sent is not None
        expected = 403 if path.startswith(walker.closed or ("-",)) else 200
        if "since=soon" in address and expected == 200:
            expected = 422
        if sent.status != expected:
            faults.append(f"{address}: {sent.status} instead of {expected}")
        if STRICT not in sent.headers["content-security-policy"] or INLINE.search(sent.text()):
            faults.append(f"{address}: runs or looks as what is not in a file of ours")
        if backend != "postgres":
            # What is read there is told by the same pages.
            faults += [f"{address}: {fault}" for fault in unreadable(mine.page)]
    assert faults == []
    assert mine.problems == []
    assert mine.foreign() == []


def test_what_forms_answer_with_can_be_read_too(
    served: Callable[..., Served], window: Callable[..., Window]
) -> None:
    server = served(embedder="none")
    door = server.parts.door
    door.remember("Deploys are frozen on Fridays.")
    door.remember("Deploys are frozen " * 200, review=True, alike="keep")
    mine = window(server, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page, faults = mine.page, []

    def look(state: str) -> None:
        faults.extend(f"{state}: {fault}" for fault in unreadable(page))

    mine.open("/memory/1").get_by_text("Revise", exact=True).click()
    look("a form")
    door.revise("1", content="Deploys are free.")
    page.get_by_label("Text", exact=True).fill("Deploys are frozen from Thursday noon.")
    page.get_by_role("button", name="Save").click()
    look("two edit at once")
    mine.open("/memory/1").get_by_role("button", name="Forget").click()
    look("before a memory is forgotten")
    mine.open("/memory/new").get_by_label("Text").fill("Deploys are free, password=correct-horse-battery-9")
    page.get_by_role("button", name="Try it first").click()
    look("what would be saved")
    page.get_by_label("Tags").fill("a" * 90)
    page.get_by_role("button", name="Save", exact=True).click()
    look("a refused form")
    mine.open("/review").keyboard.press("j")
    page.keyboard.press("e")
    look("a proposal that is edited")
    mine.open(f"/confirm/{door.ask_person('memory_forget', {'id': '1'})}")
    look("what an agent asks")
    page.get_by_role("button", name="No").click()
    look("a no")
    mine.open("/?question=deploys&as_of=whenever")
    look("a time that cannot be read")
    mine.open("/?question=deploys").locator("summary").evaluate_all(
        "all => all.forEach((each) => each.click())"
    )
    look("an answer with all its reasons")
    assert faults == []
    assert mine.problems == []


def unreadable(page: Page) -> Iterator[str]:
    """What keeps someone from reading a page: what axe calls serious, and text beyond the edge of a phone."""
    for fault in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]:
        if fault["impact"] in ("serious", "critical"):
            yield f"{fault['id']} at {[node['target'] for node in fault['nodes'][:3]]}"
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1"):
        yield "wider than the screen"
    if twice := page.evaluate(_TWICE):
        yield f"several things of one id: {twice}"
    if page.locator("header [aria-current]").count() > 1:
        yield "two places of the menu at once"
    if broken := page.evaluate(_BROKEN):
        yield f"words broken in two: {broken[:3]}"


def test_a_stranger_is_led_to_the_sign_in_page_and_learns_nothing(furnished: Served) -> None:
    furnished.make_key()
    for _, address in every_address():
        sent = furnished.client.get(address)
        if address.startswith("/embed"):
            # Within the page of another system nobody signs in.
            assert sent.status_code == 401
        else:
            assert (sent.status_code, sent.headers["location"].split("?")[0]) == (303, "/sign-in")
        assert not any(word in sent.text for word in ("Revenue", "/ready", "shop"))
