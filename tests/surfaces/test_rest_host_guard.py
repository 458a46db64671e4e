"""WHO is let in over HTTP? Strangers, foreign pages, wrong hosts and keys in addresses are not."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from onrecord.features import OPERATIONS

Starting = Callable[..., Any]
#: What anyone may see: that it lives, that it is ready, what it can do, and where a token comes from.
OPEN = {"/health/live", "/health/ready", "/openapi.json", "/.well-known/oauth-protected-resource"}


def every_route(server: Any) -> list[tuple[str, str]]:
    """Each method and path that the server has, with something for each name."""
    paths = server.client.get("/openapi.json").json()["paths"]
    told = [(method, path) for path, methods in paths.items() for method in methods]
    return [*told, ("get", "/metrics"), ("post", "/mcp"), ("post", "/mcp/full"), ("get", "/openapi.json")]


@pytest.fixture
def keyed(server: Any) -> Any:
    """A server whose store has keys: nobody comes in without one."""
    server.key = server.make_key(permissions=["memory.read", "memory.manage", "memory.admin"])
    return server


def test_without_a_key_only_the_open_routes_answer(keyed: Any) -> None:
    for method, path in every_route(keyed):
        # As from elsewhere: a proxy on this machine has passed it on.
        where = path.replace("{", "").replace("}", "")
        said = keyed.client.request(method, where, headers={"X-Forwarded-For": "203.0.113.9"}, json={})
        if path in OPEN:
            assert said.status_code == 200, path
        else:
            assert said.status_code == 401, (method, path)
            assert said.headers["www-authenticate"].startswith("Bearer"), path


def test_health_tells_strangers_yes_or_no_and_admins_more(keyed: Any) -> None:
    assert keyed.client.get("/health/live").json() == {"status": "live"}
    assert keyed.client.get("/health/ready").json() == {"status": "ready"}
    with keyed.connect("onr_abcdefgh_" + "x" * 43) as stranger:
        assert stranger.get("/health/ready").json() == {"status": "ready"}
    with keyed.connect(keyed.key) as admin:
        assert admin.get("/health/ready").json()["location"].endswith("served.db")


def test_a_store_that_does_not_answer_is_not_ready_but_alive(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onrecord.errors import StoreUnavailable

    def down(*given: Any) -> Any:
        raise StoreUnavailable("postgresql://secret-host is down")

    monkeypatch.setattr(server.parts.store, "reading", down)
    assert server.client.get("/health/live").status_code == 200
    said = server.client.get("/health/ready")
    assert (said.status_code, said.json()) == (503, {"status": "unavailable"})
    said = server.client.get("/v1/memories/1")
    assert said.status_code == 503
    assert said.headers["retry-after"]
    assert "secret-host" not in said.text


def test_figures_count_routes_and_not_addresses(keyed: Any) -> None:
    with keyed.connect(keyed.key) as client:
        client.get("/v1/memories/zanzibar?as_of=2026-01-01")
        figures = client.get("/metrics").text
    assert 'onrecord_requests_total{method="GET",route="/v1/memories/{id}",status="404"} 1.0' in figures
    assert "onrecord_request_seconds_bucket" in figures
    assert "onrecord_requests_in_flight 1.0" in figures
    assert "zanzibar" not in figures


def test_figures_are_for_this_machine_and_for_admins(keyed: Any) -> None:
    reader = keyed.make_key(permissions=["memory.read"])
    from_afar = {"X-Forwarded-For": "203.0.113.9"}
    assert keyed.client.get("/metrics").status_code == 200
    assert keyed.client.get("/metrics", headers=from_afar).status_code == 401
    with keyed.connect(reader, **from_afar) as client:
        assert client.get("/metrics").status_code == 403
    with keyed.connect(keyed.key, **from_afar) as client:
        assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize("name", ["access_token", "token", "api_key", "apikey", "Authorization", "x"])
def test_a_key_in_an_address_is_not_read(keyed: Any, name: str) -> None:
    said = keyed.client.get("/v1/memories", params={name: keyed.key})
    assert said.status_code == 401
    with keyed.connect(keyed.key) as client:
        assert client.get("/v1/memories", params={name: keyed.key}).status_code == 401
    assert keyed.key not in str(keyed.log)


def test_a_key_that_was_revoked_here_works_no_longer(keyed: Any) -> None:
    other = keyed.make_key(label="short-lived")
    with keyed.connect(keyed.key) as admin, keyed.connect(other) as client:
        assert client.get("/v1/memories").status_code == 200
        ids = {each["label"]: each["id"] for each in admin.get("/v1/keys").json()["keys"]}
        assert admin.delete(f"/v1/keys/{ids['short-lived']}").status_code == 200
        assert client.get("/v1/memories").status_code == 401


def test_a_key_is_made_over_the_network_and_shown_once(keyed: Any) -> None:
    ask = {"json": {"label": "agent"}, "headers": {"Idempotency-Key": "k-1"}}
    with keyed.connect(keyed.key) as admin:
        made = admin.post("/v1/keys", **ask)
        assert made.status_code == 201
        again = admin.post("/v1/keys", **ask)
        assert again.status_code == 409
        assert made.json()["secret"] not in again.text
    with keyed.connect(made.json()["secret"]) as agent:
        assert agent.get("/v1/memories").status_code == 200
        assert agent.get("/v1/keys").status_code == 403


def test_a_caller_without_the_permission_is_refused_everywhere(keyed: Any) -> None:
    none_but_review = keyed.make_key(permissions=["memory.review"])
    with keyed.connect(none_but_review) as client:
        for operation in OPERATIONS:
            if operation.route is None or operation.permission == "memory.review":
                continue
            method, _, path = operation.route.partition(" ")
            headers = {"Content-Type": "application/jsonl"} if operation.name == "import_" else {}
            said = client.request(method, "/v1" + path.replace("{", "").replace("}", ""), headers=headers)
            assert said.status_code == 403, operation.name


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:9", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 400),
    ],
)
def test_a_server_on_this_machine_answers_for_this_machine(server: Any, host: str, status: int) -> None:
    raw = f"GET /health/live HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert int(server.send(raw.encode()).split(b" ", 2)[1]) == status


def test_a_request_without_a_host_or_with_two_is_refused(server: Any) -> None:
    for hosts in ("", "Host: localhost\r\nHost: evil.example\r\n"):
        raw = f"GET /health/live HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n"
        assert int(server.send(raw.encode()).split(b" ", 2)[1]) == 400


def test_the_configured_hosts_are_those_it_answers_for(served: Starting) -> None:
    server = served(allowed_hosts="memory.example, other.example:8080")
    for host, status in (
        ("memory.example", 200),
        ("MEMORY.example:443", 200),
        ("other.example", 421),
        ("localhost", 421),
    ):
        assert server.client.get("/health/live", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
        "http://[",
        "http://127.0.0.1.evil.example:80",
    ],
)
def test_a_foreign_page_may_not_ask(server: Any, origin: str) -> None:
    for method, path in (
        ("POST", "/v1/memories"),
        ("GET", "/v1/memories"),
        ("OPTIONS", "/v1/memories"),
        ("POST", "/mcp"),
    ):
        said = server.client.request(
            method, path, headers={"Origin": origin, "Access-Control-Request-Method": "POST"}
        )
        assert said.status_code == 403, path
        assert "access-control-allow-origin" not in said.headers


def test_a_page_that_is_allowed_may_ask_and_read(served: Starting) -> None:
    server = served(allowed_origins="https://app.example")
    origin = {"Origin": "https://app.example"}
    said = server.client.options("/v1/memories", headers=origin | {"Access-Control-Request-Method": "POST"})
    assert said.status_code == 204
    assert said.headers["access-control-allow-origin"] == "https://app.example"
    assert "PATCH" in said.headers["access-control-allow-methods"]
    said = server.client.get("/v1/memories", headers=origin)
    assert said.headers["access-control-allow-origin"] == "https://app.example"
    assert said.headers["vary"] == "Origin"


def test_nothing_is_shared_with_every_page(server: Any) -> None:
    for path in ("/v1/memories", "/openapi.json", "/health/live"):
        said = server.client.get(path)
        assert "access-control-allow-origin" not in said.headers
        assert said.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in said.headers["content-security-policy"]
        assert said.headers["cache-control"] == "no-store"


def test_the_log_names_who_and_where_and_never_what(keyed: Any) -> None:
    with keyed.connect(keyed.key) as client:
        client.post("/v1/memories", json={"content": "secret plans"})
        client.get("/v1/memories?tags=secret-tag")
        client.post("/v1/recall", json={"question": "secret plans"})
    lines = [line for line in keyed.log if line.get("route") == "/v1/recall"]
    assert {
        "method": "POST",
        "route": "/v1/recall",
        "status": 200,
        "tenant": "default",
        "user": "ann",
    }.items() <= lines[0].items()
    assert lines[0]["ms"] > 0
    assert lines[0]["request"]
    assert "secret" not in str(keyed.log)
    assert keyed.key not in str(keyed.log)


def test_who_asks_too_often_is_told_when_to_come_back(served: Starting) -> None:
    server = served(requests_per_minute="3")
    said = [server.client.get("/v1/memories") for _ in range(4)]
    assert [each.status_code for each in said] == [200, 200, 200, 429]
    assert [each.headers.get("ratelimit-remaining") for each in said[:3]] == ["2", "1", "0"]
    assert int(said[3].headers["retry-after"]) >= 1
    assert server.client.get("/health/live").status_code == 200


def test_another_tenant_reads_and_changes_nothing_and_learns_nothing(keyed: Any) -> None:
    other = keyed.make_key(
        tenant="other",
        user="bob",
        actor="person",
        permissions=["memory.read", "memory.manage", "memory.review"],
    )
    with keyed.connect(keyed.key) as ours:
        ours.post("/v1/memories", json={"content": "secret plans", "id": "plan"})
    routes = [
        operation.route.split(" ")
        for operation in OPERATIONS
        if operation.route and "{id}" in operation.route and operation.permission != "memory.admin"
    ]
    with keyed.connect(other) as theirs:
        for method, path in routes:
            body: dict[str, Any] = (
                {"json": {"title": "mine"} if method == "PATCH" else {}}
                if method in ("POST", "PATCH")
                else {}
            )
            if path.endswith("/feedback"):
                body = {"json": {"verdict": "useful", "question": "which?"}}
            if path.endswith("/checks") and method == "POST":
                body = {"json": {"kind": "entity", "entity": "thing:x"}}
            if path.endswith(("/checks/approve", "/checks/drop")):
                body = {"json": {"number": 1}}
            if path.startswith("/workspace/conversation-members/"):
                body = {"json": {"user": "bob"}} if method == "PUT" else {"params": {"user": "bob"}}
            known, unknown = (
                theirs.request(method, "/v1" + path.replace("{id}", id), **body) for id in ("plan", "nope")
            )
            assert known.status_code == unknown.status_code == 404, path
            assert known.json()["detail"].replace("plan", "nope") == unknown.json()["detail"]
        assert theirs.get("/v1/memories").json()["memories"] == []
        assert theirs.post("/v1/recall", json={"question": "secret plans"}).json()["hits"] == []
    with keyed.connect(keyed.key) as ours:
        assert ours.get("/v1/memories/plan").headers["etag"] == '"1"'


def test_two_origins_are_none_of_ours(server: Any) -> None:
    both = [("Origin", server.url), ("Origin", "https://elsewhere.example")]
    for origins in (both, both[::-1]):
        assert server.client.get("/v1/memories", headers=origins).status_code == 403


def test_what_parts_of_the_server_say_stands_in_its_log_without_the_words_of_an_error(server: Any) -> None:
    try:
        raise ValueError("the word is quagga")
    except ValueError:
        logging.getLogger("onrecord.access").warning("Refused: %s.", "a token", exc_info=True)
    (line,) = [each for each in server.log if each.get("from") == "onrecord.access"]
    assert line == {
        "level": "warning",
        "from": "onrecord.access",
        "said": "Refused: a token.",
        "error": "ValueError",
    }
