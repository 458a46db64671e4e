"""IS a dry run dry on every way in? A flag that got lost on its way would erase what someone only asked about."""

from onrecord.client import connect

from .conftest import Served, Shell


def test_over_http_nothing_is_saved_or_erased(server: Served) -> None:
    kept = server.client.post("/v1/memories", json={"content": "kept"}).json()["memory"]["id"]
    planned = server.client.post("/v1/memories", json={"content": "planned", "dry_run": True}).json()
    assert (planned["outcome"], planned["dry_run"]) == ("created", True)
    told = server.client.delete(f"/v1/memories/{kept}", params={"dry_run": "true"}).json()
    assert (told["id"], told["dry_run"]) == (kept, True)
    assert [each["content"] for each in server.client.get("/v1/memories").json()["memories"]] == ["kept"]


def test_at_a_shell_nothing_is_saved_or_erased(shell: Shell) -> None:
    shell("remember", "kept")
    assert "Nothing was saved" in shell("remember", "planned", "--dry-run").out
    assert "Would erase #1" in shell("forget", "1", "--dry-run").out
    assert [each["content"] for each in shell("browse", "--json").json["memories"]] == ["kept"]


def test_through_the_client_nothing_is_saved_or_erased(server: Served) -> None:
    with connect(server.url) as memory:
        memory.remember("kept")
        assert memory.remember("planned", dry_run=True).dry_run
        assert memory.forget("1", dry_run=True).dry_run
        assert [each.content for each in memory.browse().memories] == ["kept"]
