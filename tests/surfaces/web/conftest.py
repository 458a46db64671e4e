"""A real browser for the tests of the pages: Debian's Chromium, in which every problem that it reports is kept."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, sync_playwright

from tests.surfaces.conftest import Served

_QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of a file; each test has windows of its own, which share nothing. Its own log must say in the
    end that no page has asked for anything beyond this machine.

    While it runs, this thread has a running event loop, in which other tests could not start theirs.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("There is no Chromium here: install Debian's package chromium, then run the tests again.")
    with sync_playwright() as playwright:
        log = tmp_path_factory.mktemp("chromium") / "net.json"
        browser = playwright.chromium.launch(executable_path=program, args=[*_QUIET, f"--log-net-log={log}"])
        yield browser
        browser.close()
    assert _asked_elsewhere(log) == set()


def _asked_elsewhere(log: Path) -> set[str]:
    """The addresses beyond this machine that pages asked for, as the browser's network stack has noted it. What the browser
    asks for itself has no page as its initiator.
    """
    events = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    sent = [each for each in events if "initiator" in each and "url" in each]
    by_pages = {each["url"] for each in sent if each["initiator"] != _ITSELF}
    # Every page asks for its style.
    opened = [each for each in sent if urlsplit(each["url"]).hostname in _HERE]
    assert by_pages or not opened, "the browser notes in another way who asks for what"
    return {each for each in by_pages if urlsplit(each).hostname not in _HERE}


_ITSELF = "not an origin"
_HERE = ("127.0.0.1", "localhost", "::1")


@dataclass
class Window:
    """A browser of one person, looking at one server. `problems` is what the browser complained about."""

    context: BrowserContext
    page: Page
    url: str
    problems: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page of the server, and wait until it has loaded."""
        self.page.goto(self.url + path)
        return self.page

    def tab(self) -> Page:
        """Another page of the same person."""
        page = self.context.new_page()
        self._watch(page)
        return page

    def foreign(self) -> list[str]:
        """The addresses that were asked elsewhere than on the server."""
        here = urlsplit(self.url).netloc
        return [each for each in self.asked if urlsplit(each).netloc not in (here, "")]

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", self._agree)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", self._note)

    def _agree(self, dialog: Dialog) -> None:
        # Our pages ask before what cannot be undone, and open no other dialog.
        if dialog.type != "confirm":
            self.problems.append(f"A page opened a dialog: {dialog.message}")
        dialog.accept()

    def _note(self, message: ConsoleMessage) -> None:
        # A page that says what is wrong with a form is answered with the status of that.
        if message.type == "error" and "the server responded with a status of 4" not in message.text:
            self.problems.append(message.text)


@pytest.fixture
def window(chromium: Browser) -> Iterator[Callable[..., Window]]:
    """Open windows on a server. `window(server, key)` signs in with a key first; options are those of a browser context."""
    opened: list[BrowserContext] = []

    def open_window(server: Served, key: str | None = None, **options: object) -> Window:
        context = chromium.new_context(**options)  # type: ignore[arg-type]
        opened.append(context)
        page = context.new_page()
        one = Window(context, page, server.url)
        one._watch(page)
        if key is not None:
            one.open("/sign-in")
            page.get_by_label("API key").fill(key)
            page.keyboard.press("Enter")
            page.wait_for_url(server.url + "/")
        return one

    yield open_window
    for each in opened:
        each.close()


@pytest.fixture
def person() -> Iterator[Callable[..., httpx2.Client]]:
    """Call a server as someone with a key of their own: `person(server, user="bob", permissions=[...], actor="person")`."""
    opened: list[httpx2.Client] = []

    def enter(server: Served, **key: object) -> httpx2.Client:
        opened.append(server.connect(server.make_key(**key) if key else None))
        return opened[-1]

    yield enter
    for each in opened:
        each.close()
