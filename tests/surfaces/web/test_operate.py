"""Whoever looks after a store sees how it is doing, makes and ends keys, and reads what was done."""

import json
from collections.abc import Callable

from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window


def test_the_owner_sees_the_state_of_the_store(server: Served, window: Callable[..., Window]) -> None:
    server.parts.door.remember("Revenue is net of refunds.")
    mine = window(server)
    page = mine.open("/operate")
    assert page.get_by_role("region", name="Coverage").get_by_role("row").count() == 2
    page.get_by_role("button", name="Examine").click()
    page.get_by_text("1 memories examined: everything agrees.").wait_for()
    page.get_by_role("link", name="Back to the status").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download an export").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert any("Revenue is net of refunds." in json.dumps(line) for line in lines)
    assert mine.problems == []


def test_a_key_is_made_shown_once_changed_and_revoked(server: Served, window: Callable[..., Window]) -> None:
    admin = server.make_key(permissions=["memory.admin"], actor="person", user="boss")
    mine = window(server, key=admin)
    page = mine.open("/operate/keys")
    page.get_by_text("Make a key").click()
    page.get_by_label("What it is for").fill("Nightly job")
    page.get_by_label("Requests a minute").fill("many")
    page.get_by_role("button", name="Make the key").click()
    assert "Nothing was changed" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("What it is for").input_value() == "Nightly job"
    page.get_by_label("Requests a minute").fill("60")
    page.get_by_role("button", name="Make the key").click()
    secret = page.locator("#secret").inner_text().strip()
    with server.connect(secret) as agent:
        assert agent.get("/v1/memories").status_code == 200
        page.goto(server.url + "/operate/keys")
        assert secret not in page.content()
        made = next(key for key in server.parts.door.list_keys().keys if key.label == "Nightly job")
        assert (made.per_minute, made.actor, made.created_by) == (60, "agent", "boss")
        row = page.get_by_role("row").filter(has_text="Nightly job")
        row.get_by_role("link", name="Change").click()
        page.get_by_label("What it is for").first.fill("Weekly job")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("The key is changed.").wait_for()
        page.get_by_role("row").filter(has_text="Weekly job").get_by_role("button", name="Revoke").click()
        page.get_by_text("no longer works").wait_for()
        assert agent.get("/v1/memories").status_code == 401
    assert mine.problems == []


def test_the_audit_is_filtered_and_members_do_not_see_it(server: Served) -> None:
    server.parts.door.remember("Revenue is net of refunds.")
    server.parts.door.retire("1")
    admin = server.make_key(permissions=["memory.admin"], actor="person")
    member = server.make_key(user="eve", actor="person")
    with server.connect(admin) as boss, server.connect(member) as eve:
        assert "retire" in boss.get("/operate/audit", params={"subject": "1"}).text
        assert "No line matches." in boss.get("/operate/audit", params={"outcome": "refused"}).text
        wrong = boss.get("/operate/audit", params={"since": "soon"})
        assert (wrong.status_code, "since" in wrong.text) == (422, True)
        for path in ("/operate", "/operate/keys", "/operate/tenants", "/operate/audit"):
            assert eve.get(path).status_code == 403
        assert "Operate" not in eve.get("/").text


def test_slow_requests_and_figures_of_the_last_hour_are_of_the_own_tenant() -> None:
    from onrecord.surfaces.recent_requests import EVERY_S, RecentRequests

    now = [1_000_000.0]
    recent = RecentRequests(lambda: now[0])
    for tenant, took in (("ours", 0.2), ("ours", 0.05), ("theirs", 3.0), ("ours", 1.5)):
        recent.note("/v1/recall", "POST", 200, took, tenant=tenant, user="ann", request="r")
    assert [each.took_s for each in recent.slowest("ours", 10)] == [1.5, 0.2]
    (first,) = recent.intervals()
    assert (first.requests, first.failed, first.longest) == (4, 0, 3.0)
    now[0] += 3_600 + EVERY_S
    assert recent.intervals() == []
