"""WHAT does one text with many commands count as? As many requests as it has commands."""

from collections.abc import Callable
from typing import Any

from onrecord.faces.arbiter import slash
from onrecord.faces.arbiter.slash import grammar

from .conftest import Served

Serving = Callable[..., Served]


def send(server: Served, commands: int) -> Any:
    return server.client.post("/v1/slash", json={"text": "/mem help\n" * commands})


def test_each_command_of_a_text_counts_as_a_request(served: Serving) -> None:
    server = served(embedder="none", requests_per_minute="10")
    answer = send(server, 4)
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == 4
    assert answer.headers["ratelimit-remaining"] == "6"


def test_what_goes_beyond_the_limit_is_not_run_and_says_when_it_can_be(served: Serving) -> None:
    server = served(embedder="none", requests_per_minute="10")
    answer = send(server, 200)
    results = answer.json()["results"]
    assert (answer.status_code, [each["ok"] for each in results]) == (200, [True] * 10 + [False])
    assert (
        "too many commands; from '/mem help' on nothing was run. Send the rest in 6 s"
        in results[-1]["output"]
    )
    assert answer.headers["ratelimit-remaining"] == "0"
    assert server.client.get("/v1/memories").status_code == 429


def test_a_text_without_commands_counts_as_one_request(served: Serving) -> None:
    server = served(embedder="none", requests_per_minute="10")
    answer = server.client.post("/v1/slash", json={"text": "nothing to do"})
    assert answer.headers["ratelimit-remaining"] == "9"


def test_where_nothing_is_limited_all_commands_are_run(served: Serving) -> None:
    assert len(send(served(embedder="none"), slash.COMMANDS).json()["results"]) == slash.COMMANDS


def test_commands_that_are_not_run_are_not_read() -> None:
    read = grammar.commands("/mem help\n" * 300_000)
    assert [next(read).head for _ in range(3)] == ["/mem help"] * 3
