"""WHEN is a store open to whoever comes without a key? When its owner wants it so, and to nobody who comes from elsewhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Served, Shell, served, shell
from tests.surfaces.test_mcp_transports import LIST_TOOLS, MODERN

__all__ = ["served", "shell"]
Starting = Callable[..., Served]
ADMIN = {"permissions": ["memory.read", "memory.manage", "memory.admin"], "actor": "person"}
#: One of each way in: REST, a face over HTTP, and MCP.
WAYS: dict[str, Callable[[Any, dict[str, str]], Any]] = {
    "rest": lambda client, headers: client.get("/v1/memories", headers=headers),
    "face": lambda client, headers: client.get("/v1/conversations", headers=headers),
    "mcp": lambda client, headers: client.post("/mcp", headers=MODERN | headers, json=LIST_TOOLS),
}


def statuses(client: Any, **headers: str) -> dict[str, int]:
    return {name: ask(client, headers).status_code for name, ask in WAYS.items()}


def every(status: int) -> dict[str, int]:
    return dict.fromkeys(WAYS, status)


@pytest.fixture(params=["sqlite", "yaml", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_store"))
    return str(tmp_path / ("store.db" if request.param == "sqlite" else "texts/memories.yaml"))


def test_a_store_whose_last_tenant_with_keys_is_erased_stays_closed(served: Starting, store: str) -> None:
    server = served(db=store, embedder="none")
    assert statuses(server.client) == every(200)
    key = server.make_key(**ADMIN)
    with server.connect(key) as admin:
        assert admin.delete("/v1/tenants/default", params={"confirm": "default"}).status_code == 200
        assert statuses(admin) == every(401)
    assert statuses(server.client) == every(401)
    # Nor does another server on it forget.
    assert statuses(served(db=store, embedder="none").client) == every(401)


def test_a_store_whose_last_key_is_revoked_stays_closed(served: Starting, store: str) -> None:
    server = served(db=store, embedder="none")
    key = server.make_key(**ADMIN)
    with server.connect(key) as admin:
        [made] = admin.get("/v1/keys").json()["keys"]
        assert admin.delete(f"/v1/keys/{made['id']}").status_code == 200
    assert statuses(server.client) == every(401)
    assert statuses(served(db=store, embedder="none").client) == every(401)


def test_it_is_opened_again_at_the_machine_alone(served: Starting, shell: Shell, store: str) -> None:
    server = served(db=store, embedder="none")
    server.parts.door.remember("Revenue is net of refunds.")
    key = server.make_key(**ADMIN)
    with server.connect(key) as admin:
        assert admin.post("/v1/keys/waive", json={}).status_code in (404, 405)
        refused = shell("--db", store, "keys", "waive")
        assert (refused.code, "keys are still valid (1)" in refused.err) == (5, True)
        assert statuses(admin) == every(200)
        assert admin.delete("/v1/tenants/default", params={"confirm": "default"}).status_code == 200
    assert "Deleted 1 key" in shell("--db", store, "keys", "waive").out
    assert statuses(served(db=store, embedder="none").client) == every(200)


PROXIES = {
    "X-Forwarded-Host": "memory.example",
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "CF-Connecting-IP": "203.0.113.9",
    "True-Client-IP": "203.0.113.9",
    "X-Real-IP": "203.0.113.9",
    "Forwarded": "for=203.0.113.9",
    "Via": "1.1 proxy",
}


@pytest.mark.parametrize("header", sorted(PROXIES))
def test_what_a_proxy_has_passed_on_is_nobody_at_this_machine(server: Served, header: str) -> None:
    assert statuses(server.client) == every(200)
    assert statuses(server.client, **{header: PROXIES[header]}) == every(401)


@pytest.fixture
def server(served: Starting) -> Served:
    """A server on a store that never had keys."""
    started = served(embedder="none")
    started.parts.door.remember("Revenue is net of refunds.")
    return started


@pytest.mark.parametrize("name", ["http://localhost:{}", "http://127.0.0.1:{}", "http://[::1]:{}"])
def test_a_page_on_another_port_of_this_machine_reads_nothing(server: Served, name: str) -> None:
    origin = name.format(server.port + 1)
    said = WAYS["rest"](server.client, {"Origin": origin})
    assert statuses(server.client, Origin=origin) == every(403)
    assert "access-control-allow-origin" not in said.headers
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    assert server.client.options("/v1/memories", headers=asked).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything", ""])
def test_what_another_page_shows_or_runs_is_not_given_to_it(server: Served, site: str) -> None:
    """An image, a script or a form without an origin: the browser says of them where the page is from."""
    assert statuses(server.client, **{"Sec-Fetch-Site": site}) == every(403)


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_of_this_server_and_a_typed_address_are_answered(server: Served, site: str) -> None:
    own = {"Sec-Fetch-Site": site, "Origin": server.url}
    assert statuses(server.client, **own) == every(200)
    assert statuses(server.client, **{"Sec-Fetch-Site": site}) == every(200)


def test_a_page_that_is_named_is_let_in_from_wherever_it_is(served: Starting) -> None:
    server = served(embedder="none", allowed_origins="http://localhost:3000")
    there = {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}
    assert statuses(server.client, **there) == every(200)
