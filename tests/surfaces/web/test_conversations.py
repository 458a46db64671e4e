"""Conversations on pages: their members see what was said and kept there, and nothing that is kept there is executed."""

from base64 import b64encode
from collections.abc import Callable

from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, send

#: One red pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SCRIPT = "<script>document.title='run'</script>"


def test_a_conversation_shows_its_turns_memories_and_artifacts(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    door.register_conversation("sprint", title="Sprint 12")
    door.note_turn("When do we ship?", conversation="sprint")
    door.remember("We ship on Monday.", conversation="sprint")
    door.write_artifact("plan.html", SCRIPT, media_type="text/html", conversation="sprint")
    door.write_artifact("red.png", PIXEL, encoding="base64", media_type="image/png", conversation="sprint")
    mine = window(server)
    page = mine.open("/conversation")
    page.get_by_role("link", name="sprint").click()
    assert page.locator("h1").inner_text().startswith("Sprint 12")
    assert page.get_by_text("When do we ship?").is_visible()
    assert page.get_by_role("link", name="We ship on Monday.").is_visible()
    page.get_by_role("link", name="plan.html").click()
    assert page.locator("pre").inner_text() == SCRIPT
    assert page.title().startswith("plan.html")
    page.go_back()
    page.get_by_role("link", name="red.png").click()
    assert page.locator("img.artifact").evaluate("image => image.complete && image.naturalWidth") == 1
    assert mine.problems == []


def test_an_artifact_is_downloaded_unless_it_is_a_picture(server: Served) -> None:
    door = server.parts.door
    door.register_conversation("files")
    for path, kind in (("a.html", "text/html"), ("a.svg", "image/svg+xml"), ("a.png", "image/png")):
        door.write_artifact(
            path,
            b64encode(SCRIPT.encode()).decode(),
            encoding="base64",
            media_type=kind,
            conversation="files",
        )
    kinds = {}
    for artifact in door.artifacts(conversation="files").artifacts:
        sent = server.client.get(f"/artifact/{artifact.id}/raw")
        kinds[artifact.path] = (sent.headers["content-type"], sent.headers["content-disposition"])
        assert "sandbox" in sent.headers["content-security-policy"]
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert sent.content == SCRIPT.encode()
    assert kinds == {
        "a.html": ("application/octet-stream", "attachment"),
        "a.svg": ("application/octet-stream", "attachment"),
        "a.png": ("image/png", "inline"),
    }


def test_members_come_and_go_and_a_conversation_is_deleted(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    door.register_conversation("talk")
    door.write_artifact("plan.md", "# Plan", media_type="text/markdown", conversation="talk")
    mine = window(server)
    page = mine.open("/conversation/talk")
    page.get_by_label("Let someone in").fill("eve")
    page.get_by_role("button", name="Share").click()
    assert page.get_by_role("status").inner_text() == "They are in this conversation now."
    assert door.show_conversation("talk").conversation.members == ("eve",)
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("no longer in this conversation").wait_for()
    assert door.show_conversation("talk").conversation.members == ()
    page.get_by_role("button", name="Delete the conversation").click()
    page.get_by_text("are deleted").wait_for()
    assert door.conversations().conversations == ()


def test_a_member_may_leave_and_nobody_changes_the_past(server: Served) -> None:
    door = server.parts.door
    door.register_conversation("talk")
    for user in ("eve", "bob"):
        door.share_conversation("talk", user)
    address = f"/conversation/~{door.caller.user}/talk"
    assert acts_on(server.client.get(address).text) == {"share", "unshare", "delete"}
    assert acts_on(server.client.get(address, params={"as_of": "2030-01-01"}).text) == set()
    with server.connect(server.make_key(user="eve", actor="person")) as eve:
        page = eve.get(address).text
        assert acts_on(page) == {"unshare"}
        assert page.count("Leave") == 1
        for act, user in (("share", "mia"), ("unshare", "bob"), ("delete", "")):
            assert send(eve, address, act, user=user).status_code == 403
        send(eve, address, "unshare", user="eve")
        assert eve.get(address).status_code == 404


def test_notes_of_agents_are_read_added_and_cleared(server: Served, window: Callable[..., Window]) -> None:
    server.parts.door.append_scratchpad("Ask Eve first.", agent="scout")
    mine = window(server)
    page = mine.open("/conversation")
    page.get_by_role("link", name="scout").click()
    assert "Ask Eve first." in page.locator("pre").inner_text()
    page.get_by_label("Add a note").fill("Then ship.")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("status").wait_for()
    assert "Then ship." in server.parts.door.read_scratchpad("scout").content
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("Nothing is written here.").wait_for()
    assert not server.parts.door.read_scratchpad("scout").exists
