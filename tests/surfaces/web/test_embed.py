"""A page of another system shows the card of one system in a frame: where it may, to whom it may, and nothing else."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from onrecord.access import embed_links
from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import text_of


@contextmanager
def host_page(framed: Callable[[], str]) -> Iterator[str]:
    """The page of another system at an origin of its own, with a frame; yields the origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f'<!doctype html><title>Host</title><iframe src="{escape(framed())}"></iframe>'.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *given: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=site.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{site.server_port}"
    finally:
        site.shutdown()
        thread.join()
        site.server_close()


def _fill(server: Served) -> None:
    door = server.parts.door
    door.remember("Look at /ready, not at /health.", scope="system", system="checkout", id="ready")
    door.remember("The replica lags.", scope="system", system="warehouse", id="lags")
    door.remember("The plan is secret.", id="plan")


def _link(key: str, system: str = "checkout", seconds: float = 300) -> embed_links.EmbedLink:
    return embed_links.make(key, system, datetime.now(UTC) + timedelta(seconds=seconds))


def test_an_allowed_page_shows_the_card_and_the_browser_refuses_it_to_another(
    served: Callable[..., Served], window: Callable[..., Window]
) -> None:
    address = ""
    with host_page(lambda: address) as allowed, host_page(lambda: address) as other:
        server = served(embed_origins=f"https://console.example.com,{allowed}")
        _fill(server)
        # A signed link needs nobody signed in: there is a key, so that nobody is let in without one.
        key = server.make_key(user="host", permissions=["memory.read"], systems=["checkout"])
        address = server.url + _link(key).address()
        mine = window(server)
        page = mine.page
        page.goto(allowed)
        frame = page.frames[1]
        frame.get_by_text("Look at /ready, not at /health.").wait_for()
        assert frame.locator(".badge.scope").inner_text() == "system checkout"
        assert frame.locator("nav, form, script, a").count() == 0
        assert mine.problems == []
        page.goto(other)
        assert [each for each in mine.problems if "frame-ancestors" in each]
        assert "Look at" not in page.frames[1].content()


def test_links_that_are_expired_forged_or_of_a_revoked_key_show_nothing(server: Served) -> None:
    _fill(server)
    key = server.make_key(user="host", permissions=["memory.read"], systems=["checkout"])
    good = _link(key)
    with server.connect() as host:
        shown = host.get(good.address())
        assert shown.status_code == 200
        assert "Look at /ready" in shown.text
        far = _link(key, seconds=3_600)
        ended = _link(key, seconds=-1)
        forged = good.address()[:-1] + ("0" if good.signature[-1] != "0" else "1")
        moved = good.address().replace("/checkout?", "/warehouse?")
        beyond = _link(key, "warehouse")
        longer = good.address().replace(f"until={good.until}", f"until={int(good.until) + 60}")
        for bad in (far.address(), ended.address(), forged, moved, beyond.address(), longer):
            refused = host.get(bad)
            assert refused.status_code == 401
            assert "This link is not valid here" in text_of(refused.text)
            assert "Look at" not in refused.text
            assert "replica" not in refused.text
        # The words of a link open nothing but the card.
        query = good.address().split("?")[1]
        for path in ("/memory/ready", "/v1/memories", "/mine/systems", "/memory/plan"):
            assert host.get(f"{path}?{query}").status_code in (303, 401)
        assert host.post(good.address(), data={"act": "always"}).status_code == 405
        server.parts.door.revoke_key(key.split("_")[1])
        assert host.get(good.address()).status_code == 401


def test_owner_and_readers_see_the_card_and_no_page_frames_it_unless_one_is_named(server: Served) -> None:
    _fill(server)
    card = server.client.get("/embed/system/checkout")
    assert "Look at /ready" in card.text
    assert "replica" not in card.text
    assert "secret" not in card.text
    assert "frame-ancestors 'none'" in card.headers["content-security-policy"]
    reader = server.make_key(user="eve", systems=["warehouse"])
    with server.connect(reader) as eve, server.connect() as stranger:
        assert "replica" in eve.get("/embed/system/warehouse").text
        unseen = text_of(eve.get("/embed/system/checkout").text)
        assert "Nothing is known of this system yet." in unseen
        assert stranger.get("/embed/system/checkout").status_code == 401
