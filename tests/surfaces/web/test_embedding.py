"""WHO may show a page of ours in a frame? Those whom a setting names, under a link that their backend has signed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from starlette.responses import Response

from onrecord.access import embed_links
from onrecord.surfaces import web
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page
from tests.surfaces.conftest import Served

FRAMED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}


def shown(view: PageView) -> Response:
    """All that a link lets its holder see, whatever a page asks for."""
    found = view.door.browse().memories
    return view.html(
        "problem.html",
        title="Here",
        detail=" | ".join(each.content for each in found),
        request_id="",
        sign_in=None,
    )


@pytest.fixture
def server(served: Callable[..., Served], monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setattr(web, "EMBEDDED", (Page(path="/embed/system/{id}", show=shown),))
    return served(embed_origins="https://host.example, http://localhost:3000")


def test_a_signed_link_shows_what_is_about_its_system_in_frames_of_named_origins(server: Served) -> None:
    door = server.parts.door
    door.remember("The CRM sleeps at night.", scope="system", system="crm")
    door.remember("The ERP never sleeps.", scope="system", system="erp")
    door.remember("My own.", scope="user")
    secret = server.make_key(
        user=door.caller.user, systems=["crm", "erp=manage"], permissions=["memory.admin"]
    )
    link = embed_links.make(secret, "crm", datetime.now(UTC) + timedelta(minutes=9))
    page = server.client.get(link.address(), headers=FRAMED)
    assert page.status_code == 200
    assert "The CRM sleeps at night." in page.text
    assert "ERP" not in page.text
    assert "My own." not in page.text
    assert (
        "frame-ancestors https://host.example http://localhost:3000"
        in page.headers["content-security-policy"]
    )
    # The link opens nothing else, and nothing else is shown in a frame.
    query = link.address().partition("?")[2]
    assert server.client.get(f"/embed/system/erp?{query}", headers=FRAMED).status_code == 401
    assert server.client.get(f"/memory?{query}", headers=FRAMED).status_code == 403
    assert (
        "'none'"
        in server.client.get("/sign-in").headers["content-security-policy"].split("frame-ancestors")[1]
    )
    door.revoke_key(link.key)
    gone = server.client.get(link.address(), headers=FRAMED)
    assert (gone.status_code, "make a new one" in gone.text) == (401, True)
    assert "frame-ancestors https://host.example" in gone.headers["content-security-policy"]


@pytest.mark.parametrize(
    "wrong", ["host.example", "https://host.example/path", "https://x; script-src *", "*"]
)
def test_an_origin_that_is_none_is_refused(served: Callable[..., Served], wrong: str) -> None:
    from onrecord.errors import Invalid

    for name in ("embed_origins", "public_url"):
        with pytest.raises(Invalid, match="without a path"):
            served(**{name: wrong})
