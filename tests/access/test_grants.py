"""WHICH systems may a caller touch? A file that changes, a header that is forged, a service that fails."""

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.access import grants as module
from onrecord.access.grants import (
    NO_GRANTS,
    FileGrants,
    HeaderGrants,
    RequestOrigin,
    ServiceGrants,
    open_grants,
    read_networks,
)
from onrecord.access.systems import read_systems, strongest
from onrecord.errors import Invalid
from onrecord.model.caller import Caller

ANN = Caller(tenant="acme", user="ann")
BOB = Caller(tenant="acme", user="bob")
STRANGER = Caller(tenant="globex", user="ann")
HERE = RequestOrigin(headers={}, peer="127.0.0.1")


# A file.


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "grants.toml"
    path.write_text('[acme.ann]\nwarehouse = "manage"\n"the crm" = "read"\n', encoding="utf-8")
    return path


def rewrite(path: Path, text: str) -> None:
    """Another file in its place, as configuration is usually deployed."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)


def test_a_file_grants_by_tenant_and_user(path: Path) -> None:
    grants = open_grants(str(path))
    assert grants.systems(ANN, HERE) == {"warehouse": "manage", "the crm": "read"}
    assert grants.systems(BOB, HERE) == {}
    assert grants.systems(STRANGER, HERE) == {}


def test_a_file_may_be_json(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    path.write_text(json.dumps({"acme": {"ann": {"crm": "read"}}}), encoding="utf-8")
    assert open_grants(str(path)).systems(ANN, HERE) == {"crm": "read"}


def test_a_file_is_read_again_when_it_has_changed(path: Path) -> None:
    grants = FileGrants(path)
    rewrite(path, '[acme.bob]\ncrm = "read"\n')
    assert grants.systems(ANN, HERE) == {}
    assert grants.systems(BOB, HERE) == {"crm": "read"}


def test_a_file_that_breaks_leaves_what_it_said_before_and_a_warning(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    grants = FileGrants(path)
    rewrite(path, "[acme.ann\n")
    for _ in range(3):
        assert grants.systems(ANN, HERE)["warehouse"] == "manage"
    assert caplog.text.count("broken") == 1
    path.unlink()
    assert grants.systems(ANN, HERE)["warehouse"] == "manage"
    rewrite(path, "")
    assert grants.systems(ANN, HERE) == {}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("g.toml", "[acme.ann\n", "line 1"),
        ("g.json", '{"acme": {\n', "line 2"),
        ("g.json", "[]", "must be an object of tenants"),
        ("g.json", "[" * 100_000, "cannot be read"),
        ("g.toml", 'acme = "ann"', "acme: must be an object of the tenant's users, not a text"),
        (
            "g.toml",
            '[acme]\nann = "manage"',
            "acme.ann: must be an object of systems, each with read or manage, not a text",
        ),
        ("g.toml", '[acme.ann]\ncrm = "write"', "acme.ann.crm: must be one of read, manage (got 'write')"),
        ("g.toml", '[acme.ann]\ncrm = ["read"]', "acme.ann.crm: must be one of read, manage"),
        ("g.toml", '[acme.ann]\n"" = "read"', "acme.ann.'': must not be empty"),
        ("g.toml", '[acme.ann]\n" crm" = "read"', "acme.ann. crm: must be written as 'crm'"),
    ],
)
def test_a_file_that_is_broken_at_the_start_is_told_with_its_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid) as refused:
        open_grants(str(path))
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(Invalid, match=r"nowhere\.toml: cannot be read"):
        open_grants("nowhere.toml")


def test_many_threads_read_a_file_that_changes(path: Path) -> None:
    grants = FileGrants(path)
    states = ({"crm": "read"}, {"crm": "manage"})
    rewrite(path, '[acme.ann]\ncrm = "read"\n')
    with ThreadPoolExecutor(8) as threads:
        seen = [threads.submit(grants.systems, ANN, HERE) for _ in range(200)]
        for number in range(50):
            rewrite(path, f'[acme.ann]\ncrm = "{("read", "manage")[number % 2]}"\n')
            seen += [threads.submit(grants.systems, ANN, HERE) for _ in range(20)]
        assert all(each.result() in states for each in seen)
    assert grants.systems(ANN, HERE) == {"crm": "manage"}


# A header.


def arriving(value: str | None, peer: str | None) -> RequestOrigin:
    return RequestOrigin(headers={} if value is None else {"x-systems": value}, peer=peer)


@pytest.fixture
def header() -> Any:
    return open_grants("header:X-Systems", trusted_proxies="10.0.0.0/8, ::1")


@pytest.mark.parametrize("peer", ["10.1.2.3", "::1", "::ffff:10.1.2.3"])
def test_a_header_of_a_trusted_proxy_grants(header: HeaderGrants, peer: str) -> None:
    systems = header.systems(ANN, arriving("crm, warehouse=manage,", peer))
    assert systems == {"crm": "read", "warehouse": "manage"}


@pytest.mark.parametrize(
    "peer",
    [
        "11.1.2.3",
        "127.0.0.1",
        "::ffff:11.1.2.3",
        "::a01:203",
        None,
        "",
        "unix",
        "10.1.2.3, 11.1.2.3",
        "10.1.2.3:80",
    ],
)
def test_the_same_header_from_anyone_else_is_not_looked_at(header: HeaderGrants, peer: str | None) -> None:
    assert header.systems(ANN, arriving("*=manage", peer)) == {}


def test_what_is_no_system_in_a_header_is_left_out_and_noted(
    header: HeaderGrants, caplog: pytest.LogCaptureFixture
) -> None:
    assert header.systems(ANN, arriving("crm,warehouse=own,=manage", "10.1.2.3")) == {"crm": "read"}
    assert "warehouse=own" in caplog.text


def test_a_header_without_trusted_proxies_is_refused_at_the_start() -> None:
    with pytest.raises(Invalid, match="trusted_proxies: must say who may send the header X-Systems"):
        open_grants("header:X-Systems")


@pytest.mark.parametrize(
    "setting", ["header:", "header:X Systems", "header:X-Systeme-für-uns", "ftp://host/file"]
)
def test_a_setting_that_names_nothing_is_refused_at_the_start(setting: str) -> None:
    with pytest.raises(Invalid, match="grants:"):
        open_grants(setting, trusted_proxies="10.0.0.0/8")


def test_networks_are_read_and_what_is_none_is_named() -> None:
    assert [str(each) for each in read_networks("10.0.0.0/8, 192.0.2.1,fd00::/8")] == [
        "10.0.0.0/8",
        "192.0.2.1/32",
        "fd00::/8",
    ]
    assert read_networks(None) == ()
    with pytest.raises(Invalid) as refused:
        read_networks("10.0.0.0/8,proxy.local,10.0.0.1/8")
    assert "'proxy.local'" in str(refused.value)
    assert "'10.0.0.1/8'" in str(refused.value)


# A service.


def test_a_service_is_asked_for_the_tenant_and_the_user(site) -> None:
    grants = open_grants(site.says("/grants", {"systems": {"crm": "manage"}}))
    assert grants.systems(ANN, HERE) == {"crm": "manage"}
    assert site.asked == [("/grants", {"tenant": "acme", "user": "ann"})]
    grants.close()


def test_an_answer_counts_for_a_while_and_for_one_user_alone(site, timer) -> None:
    grants = ServiceGrants(site.says("/grants", {"systems": {"crm": "manage"}}), timer=timer)
    for _ in range(5):
        grants.systems(ANN, HERE)
    assert len(site.asked) == 1
    grants.systems(STRANGER, HERE)
    assert len(site.asked) == 2
    site.says("/grants", {"systems": {}})
    timer.tick(31)
    assert grants.systems(ANN, HERE) == {}
    grants.close()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"systems": {"crm": "manage"}}),
        (404, b"nothing"),
        (302, {"systems": {"crm": "manage"}}),
        (200, b""),
        (200, b"<html>"),
        (200, b"\xff\xfe"),
        (200, b"[" * 100_000),
        (200, b'{"systems": {"crm": "manage"}}' + b" " * 2_000_000),
        (200, []),
        (200, {}),
        (200, {"systems": ["crm"]}),
        (200, {"systems": {"crm": "own"}}),
        (200, {"systems": {"crm": "read", "": "manage"}}),
        (200, {"systems": {"crm": ["manage"]}}),
    ],
)
def test_a_service_that_does_not_say_clearly_grants_nothing_and_is_noted(
    site, timer, caplog: pytest.LogCaptureFixture, status: int, body: Any
) -> None:
    grants = ServiceGrants(site.says("/grants", body, status), timer=timer)
    assert grants.systems(ANN, HERE) == {}
    assert "No systems are granted" in caplog.text
    site.says("/grants", {"systems": {"crm": "read"}})
    timer.tick(6)
    assert grants.systems(ANN, HERE) == {"crm": "read"}
    grants.close()


def test_what_a_service_granted_before_it_failed_ends_with_its_time(site, timer) -> None:
    grants = ServiceGrants(site.says("/grants", {"systems": {"crm": "manage"}}), timer=timer)
    grants.systems(ANN, HERE)
    site.says("/grants", b"", status=503)
    timer.tick(31)
    assert grants.systems(ANN, HERE) == {}
    grants.close()


def test_a_service_that_hangs_is_waited_for_once_and_not_by_everyone(timer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://user:hidden@127.0.0.1:{silent.getsockname()[1]}/grants"
        grants = ServiceGrants(url, timeout_s=0.2, timer=timer)
        assert grants.systems(ANN, HERE) == {}
        silent.accept()[0].close()
        assert grants.systems(BOB, HERE) == {}
        assert grants.systems(STRANGER, HERE) == {}
        grants.close()
        # Nobody asked it again.
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_the_password_of_a_service_is_not_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    grants = ServiceGrants(f"http://user:hidden@127.0.0.1:{port}/grants")
    assert grants.systems(ANN, HERE) == {}
    assert "127.0.0.1" in caplog.text
    assert "hidden" not in caplog.text
    grants.close()


def test_of_very_many_callers_only_the_latest_answers_are_kept(
    site, timer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_CALLERS", 3)
    grants = ServiceGrants(site.says("/grants", {"systems": {}}), timer=timer)
    for number in range(9):
        grants.systems(Caller(tenant="acme", user=f"user {number}"), HERE)
    assert len(grants._answers) == 3
    grants.close()


@pytest.mark.parametrize("url", ["http://", "https:///path", "http://host:port/"])
def test_an_address_that_is_none_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(Invalid, match="grants:"):
        open_grants(url)


# Together.


def test_without_a_setting_nothing_is_granted() -> None:
    assert open_grants(None) is NO_GRANTS
    assert open_grants("") is NO_GRANTS
    assert NO_GRANTS.systems(ANN, arriving("*=manage", "10.1.2.3")) == {}


SYSTEMS = st.dictionaries(st.sampled_from(["a", "b", "c", "*"]), st.sampled_from(["read", "manage"]))


@given(first=SYSTEMS, second=SYSTEMS)
def test_grants_add_up_and_take_nothing_away(first: dict[str, Any], second: dict[str, Any]) -> None:
    both = strongest(first, second)
    assert both == strongest(second, first)
    assert set(both) == set(first) | set(second)
    for system, grant in both.items():
        assert (grant == "manage") == ("manage" in (first.get(system), second.get(system)))


@given(st.lists(st.text(max_size=20) | st.sampled_from(["crm", "crm=read", "a=b=manage"]) | st.none()))
def test_what_is_read_as_systems_makes_a_caller(names: list[Any]) -> None:
    systems, problems = read_systems(names)
    assert len(problems) <= len(names)
    assert Caller(tenant="acme", user="ann", systems=systems).systems == systems
