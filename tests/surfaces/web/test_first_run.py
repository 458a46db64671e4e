"""Who has nothing yet is shown what to do first, may look around in a demo, and connects an agent."""

import json
import os
import re
import shlex
import signal
import tomllib
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.request import urlopen

from onrecord import demo
from onrecord.model.limits import STATUSES
from tests.forked import Forked
from tests.surfaces.conftest import COMMAND, Served, Shell
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, send, text_of


def test_an_empty_store_offers_three_things_and_the_demo_comes_and_goes(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    mine = window(server)
    assert mine.open("/memory").locator(".empty").inner_text() == "There is no memory to show. Save one"
    page = mine.open("/")
    first = page.get_by_role("region", name="First things")
    assert first.get_by_role("heading").all_inner_texts() == [
        "Save a memory",
        "Connect an agent",
        "Look around in a demo",
    ]
    first.get_by_role("button", name="Load the demo shop").click()
    page.get_by_text("The demo shop is loaded").wait_for()
    kept = door.browse(statuses=STATUSES, limit=100).memories
    assert all(demo.TAG in each.tags for each in kept)
    assert {each.status for each in kept} == set(STATUSES)
    assert {"tenant", "user", "system", "persona", "session"} <= {each.scope for each in kept}
    assert {"person", "agent", "unattended", "approved"} <= {each.tier for each in kept}
    assert door.doctor().problems == ()
    page.get_by_role("link", name="how is revenue computed?").click()
    page.locator("article.memory").first.wait_for()
    assert "Revenue is gross" in page.locator("article.memory").first.inner_text()
    door.remember("A memory of one's own.", id="own")

    page.goto(server.url)
    page.get_by_role("button", name="Remove the demo shop").click()
    page.get_by_text("The demo shop is gone").wait_for()
    assert [each.id for each in door.browse(statuses=STATUSES).memories] == ["own"]
    assert door.entities().total == 0
    assert door.conversations().conversations == ()
    assert page.get_by_role("region", name="First things").count() == 0
    assert mine.problems == []


def test_a_demo_that_was_removed_can_be_loaded_again_with_its_catalog(server: Served) -> None:
    door = server.parts.door
    demo.load(door)
    many = door.tally("status").total
    demo.remove(door)
    demo.load(door)
    assert door.tally("status").total == many
    assert door.entities(kind="model").total == 2
    assert door.doctor().problems == ()


def test_who_may_not_import_is_not_offered_the_demo_and_cannot_load_it(server: Served) -> None:
    member = server.make_key(user="eve", actor="person")
    agent = server.make_key(user="bot", permissions=["memory.admin"])
    with server.connect(member) as eve, server.connect(agent) as bot:
        assert "Save a memory" in eve.get("/").text
        assert "load_demo" not in acts_on(eve.get("/").text)
        for client in (eve, bot):
            assert send(client, "/", "load_demo").status_code == 403
            assert send(client, "/", "remove_demo").status_code == 403
    assert server.parts.door.tally("status").total == 0


def test_connecting_shows_what_install_writes(
    served: Callable[..., Served], shell: Shell, window: Callable[..., Window]
) -> None:
    server = served()
    page = server.client.get("/connect").text
    for host in ("claude-desktop", "claude-code", "cursor", "vscode", "codex"):
        written = shell("--db", str(server.config.db), "install", host, "--print").out
        assert _shown(page, f"local-{host}") == written.strip()
        # The command is for this store, as it is typed into a shell of any folder.
        program, *words = shlex.split(_shown(page, f"command-{host}"))
        assert (program, shell(*words, "--print").out) == ("onrecord", written)
        if host == "claude-desktop":
            continue
        remote = shell("install", host, "--print", "--url", server.url, "--key-from", "ONRECORD_KEY").out
        assert _shown(page, f"remote-{host}") == remote.strip()
    assert json.loads(_shown(page, "remote-cursor"))["mcpServers"]["onrecord"]["url"] == server.url + "/mcp"
    assert tomllib.loads(_shown(page, "local-codex"))["mcp_servers"]["onrecord"]["args"] == ["mcp"]
    member = server.make_key(user="eve")
    with server.connect(member) as eve:
        seen = eve.get("/connect").text
    assert "remote-codex" in seen
    assert str(server.config.db) not in seen
    assert "local-" not in seen


def test_the_demo_command_serves_a_store_that_is_gone_afterwards(tmp_path: Path, words_alone: None) -> None:
    """Its vectors are those of the demo that a page loads; a process of its own would make them anew."""
    running = Forked([*COMMAND, "demo", "--no-browser"], env=os.environ | {"TMPDIR": str(tmp_path)})
    try:
        said = running.stdout.readline()
        address, store = re.findall(r"at (http://127\.0\.0\.1:\d+); .* store is (.+)\.$", said)[0]
        with urlopen(address) as answer:
            assert "Remove the demo shop" in answer.read().decode()
        assert Path(store).is_relative_to(tmp_path)
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(600)
    assert not Path(store).parent.exists()


def test_the_demo_command_leaves_a_store_with_memories_alone(shell: Shell) -> None:
    shell("--db", "own.db", "remember", "Mine.")
    refused = shell("demo", "--no-browser", "--db", "own.db")
    assert refused.code == 2
    assert "holds memories of its own" in refused.err


def _shown(page: str, id: str) -> str:
    found = re.search(rf'<pre id="{id}"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert found is not None, text_of(page)
    return unescape(found[1]).strip()
