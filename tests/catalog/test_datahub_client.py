"""Is DataHub asked within limits, again where that is harmless, and without ever showing the token?"""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest

from onrecord import connect
from onrecord.catalog.datahub import client as asking
from onrecord.catalog.datahub.client import ANSWER_BYTES, TRIES, DatahubClient, Refused
from onrecord.errors import CatalogUnavailable, Invalid, OnRecordError
from onrecord.model.service_address import ServiceAddress
from onrecord.surfaces.cli import main

from .datahub_server import TOKEN, Datahub

EXISTS = 'query q { entityExists(urn: "urn:li:tag:core") }'
CREATE = 'mutation m { createTag(input: {id: "core", name: "core"}) }'


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it was waited each time; nobody really waits."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


@pytest.fixture
def client(hub: Datahub) -> Iterator[DatahubClient]:
    with DatahubClient(ServiceAddress(url=hub.url, token=TOKEN, timeout_s=5)) as opened:
        yield opened


def test_a_question_is_asked_again_and_a_change_only_if_it_certainly_was_not_taken_up(
    hub: Datahub, client: DatahubClient, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE_S", 0.5)
    for status in (500, 502, 503, 504, 429):
        hub.fail(status, times=TRIES - 1)
        assert client.read(EXISTS) == {"entityExists": False}
        assert len(pauses) == TRIES - 1
        assert pauses[0] <= 0.75 < 1 <= pauses[2] <= 3, "each longer than the last, and none like the others"
        assert len(set(pauses)) == len(pauses)
        pauses.clear()
        hub.calm()
    hub.fail(429, "createTag", times=2)
    assert client.change(CREATE) == {"createTag": "urn:li:tag:core"}
    hub.calm()
    hub.state.tags.clear()
    hub.requests.clear()
    hub.fail(500, "createTag", times=9)
    with pytest.raises(CatalogUnavailable, match="failed \\(HTTP 500"):
        client.change(CREATE)
    assert hub.requests == ["createTag"], "it may have been done"
    hub.calm()
    hub.requests.clear()
    hub.fail(500, times=99)
    with pytest.raises(CatalogUnavailable, match="failed \\(HTTP 500"):
        client.read(EXISTS)
    assert len(hub.requests) == TRIES


def test_it_waits_as_long_as_it_is_asked_to_or_says_so(
    hub: Datahub, client: DatahubClient, pauses: list[float]
) -> None:
    hub.fail(429, Retry_After="7")
    assert client.read(EXISTS)
    assert pauses == [7.0]
    hub.calm()
    hub.fail(503, Retry_After=formatdate(time.time() + 9, usegmt=True))
    assert client.read(EXISTS)
    assert 7 < pauses[1] <= 9
    hub.calm()
    hub.fail(429, Retry_After="3600")
    with pytest.raises(CatalogUnavailable, match=r"too many requests.*Ask again in 3600 s"):
        client.read(EXISTS)
    assert len(pauses) == 2
    hub.calm()
    hub.fail(429, Retry_After="soon")
    assert client.read(EXISTS)


def test_what_is_no_answer_is_an_error_that_says_what_to_do(
    hub: Datahub, client: DatahubClient, pauses: list[float]
) -> None:
    broken = {
        b"<html>log in</html>": "something other than JSON. Is `datahub_url`",
        b'{"data": null}': "something other than GraphQL",
        b"[]": "something other than GraphQL",
        b"[" * 100_000: "something other than JSON",
        b'{"data": {"entityExists": true}, "errors": [{"message": "half of it failed"}]}': "refused: half of it failed",
        b'{"errors": "what?"}': "refused: what?",
        b'{"data": {"x": "' + b"y" * ANSWER_BYTES + b'"}}': "more than the 8,388,608 bytes",
    }
    for body, said in broken.items():
        hub.answer(body)
        with pytest.raises(CatalogUnavailable, match=said):
            client.read(EXISTS)
        hub.calm()
    for status, said in {
        403: "does not allow this token",
        404: "is not at this address",
        302: "refused \\(HTTP 302",
    }.items():
        hub.fail(status, Location="http://127.0.0.1:1/")
        with pytest.raises(CatalogUnavailable, match=said):
            client.read(EXISTS)
        hub.calm()
    with pytest.raises(Refused, match="Cannot query field 'nonsense'"):
        client.read("query q { nonsense }")
    assert not pauses, "none of these gets better by asking again"
    hub.requests.clear()
    hub.hang(times=9)
    with DatahubClient(ServiceAddress(url=hub.url, token=TOKEN, timeout_s=0.05)) as hasty:
        with pytest.raises(CatalogUnavailable, match=r"did not answer within 0\.05 s\. Allow it more"):
            hasty.read(EXISTS)
        assert len(hub.requests) == 2, "whoever waits does not wait four times"
        with pytest.raises(CatalogUnavailable, match="did not answer"):
            hasty.change(CREATE)
        assert len(hub.requests) == 3
    nobody = DatahubClient(ServiceAddress(url="http://127.0.0.1:1"))
    with (
        nobody,
        pytest.raises(CatalogUnavailable, match=r"http://127\.0\.0\.1:1 cannot be reached\. Is it running"),
    ):
        nobody.read(EXISTS)


def test_the_token_is_nowhere_to_be_seen(
    hub: Datahub, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = ServiceAddress(url=hub.url, token=TOKEN)
    told = [repr(address)]
    for wrong in (replace(address, token="wrong-" + TOKEN), address):
        hub.fail(403, "entityExists")
        hub.answer(json.dumps({"errors": [{"message": f"bad {TOKEN}"}]}).encode(), "entityExists", nth=2)
        with DatahubClient(wrong) as client:
            for _ in range(2):
                with pytest.raises(CatalogUnavailable) as refused:
                    client.read(EXISTS)
                told += [str(refused.value), repr(refused.value)]
        hub.calm()
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["config"])
    told.append(capsys.readouterr().out)
    assert "datahub_token" in told[-1]
    assert hub.url in told[-1]
    hub.add("acme.sales.orders")
    export = f"{tmp_path}/export.jsonl"
    with connect(f"{tmp_path}/shop.db", embedder="none") as door:
        told.append(str(door.ingest("datahub")))
        door.export(export, all_tenants=True)
    told += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()] + [*capsys.readouterr()]
    assert not [each for each in told if TOKEN in each]
    for url in (
        "datahub.example",
        "ftp://x",
        "https://",
        f"https://ann:{TOKEN}@x",
        f"https://x?token={TOKEN}",
        "https://x:y",
    ):
        monkeypatch.setenv("ONRECORD_DATAHUB_URL", url)
        with pytest.raises(Invalid, match="datahub_url: must be") as refusal:
            connect(":memory:", embedder="none")
        assert TOKEN not in str(refusal.value)
    monkeypatch.setenv("ONRECORD_DATAHUB_URL", hub.url)
    monkeypatch.setenv("ONRECORD_DATAHUB_TOKEN", f"{TOKEN}\r\nHost: x")
    with pytest.raises(OnRecordError, match="must be one word") as refusal:
        connect(":memory:", embedder="none")
    assert TOKEN not in str(refusal.value)
