"""WHO asks? Keys, tokens and the lack of them; headers that narrow, and headers that try more."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from onrecord import OnRecord, connect
from onrecord.access import identity
from onrecord.access.grants import open_grants
from onrecord.access.identity import Authenticator
from onrecord.access.keys import CreatedKey
from onrecord.access.throttle import OwnBuckets, Throttle
from onrecord.errors import Invalid, TooMany, Unauthenticated
from onrecord.model.caller import Caller
from onrecord.model.limits import PERMISSIONS

LOCAL = Caller(
    tenant="default", user="ann", permissions=frozenset(PERMISSIONS), systems={"*": "manage"}, operator=True
)
TOKEN_CALLER = Caller(tenant="acme", user="ann", permissions=frozenset({"memory.read"}), actor="agent")


class Tokens:
    """An issuer that knows one token."""

    def caller(self, token: str) -> Caller:
        if token != "good.to.ken":
            raise Unauthenticated()
        return TOKEN_CALLER


def bearer(key: CreatedKey | str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key if isinstance(key, str) else key.secret}"}


@pytest.fixture
def authenticator(memory: OnRecord, clock, timer) -> Authenticator:
    return Authenticator(memory._store, tokens=Tokens(), clock=clock, timer=timer)


@pytest.fixture
def door(clock) -> Iterator[OnRecord]:
    """A store of one kind, for what no store has a part in."""
    with connect(":memory:", clock=clock) as door:
        yield door


def made(door: OnRecord, **wanted: Any) -> CreatedKey:
    """A key that can do less than its maker in every way."""
    chosen = {
        "tenant": "acme",
        "user": "bot",
        "permissions": ["memory.read"],
        "systems": ["crm"],
        "personas": ["analyst"],
    }
    return door.create_key(**{**chosen, **wanted})


# Keys.


def test_a_key_says_who_asks_and_what_they_may_do(memory: OnRecord, authenticator: Authenticator) -> None:
    key = made(memory, systems=["crm", "warehouse=manage"])
    caller = authenticator.caller(bearer(key), "192.0.2.1", "request-1")
    assert caller == Caller(
        tenant="acme",
        user="bot",
        personas=frozenset({"analyst"}),
        permissions=frozenset({"memory.read"}),
        systems={"crm": "read", "warehouse": "manage"},
        actor="agent",
        key=key.key.id,
        request="request-1",
    )


def refused(authenticator: Authenticator, headers: Any, peer: str | None = "127.0.0.1") -> str:
    with pytest.raises(Unauthenticated) as answer:
        authenticator.caller(headers, peer)
    return str(answer.value)


def test_a_revoked_key_works_no_longer_than_a_moment(
    memory: OnRecord, authenticator: Authenticator, timer
) -> None:
    key = made(memory, tenant=None)
    authenticator.caller(bearer(key))
    memory.revoke_key(key.key.id)
    timer.tick(2)
    refused(authenticator, bearer(key))


def test_a_key_that_was_revoked_here_stops_at_once(memory: OnRecord, authenticator: Authenticator) -> None:
    key = made(memory, tenant=None)
    authenticator.caller(bearer(key))
    memory.revoke_key(key.key.id)
    authenticator.forget_keys()
    refused(authenticator, bearer(key))


def test_a_key_stops_at_its_end_to_the_second(memory: OnRecord, authenticator: Authenticator, clock) -> None:
    key = made(memory, expires_at=clock.now + timedelta(seconds=1))
    authenticator.caller(bearer(key))
    clock.tick(seconds=1)
    refused(authenticator, bearer(key))


def test_a_key_that_is_new_works_at_once_though_it_was_tried_before(
    memory: OnRecord, authenticator: Authenticator, clock
) -> None:
    key = made(memory, expires_at=clock.now + timedelta(seconds=9))
    clock.tick(seconds=10)
    refused(authenticator, bearer(key))
    authenticator.caller(bearer(made(memory)))


def wrong_credentials(memory: OnRecord, authenticator: Authenticator, clock) -> Iterator[Any]:
    """Every way not to have a key, next to one that works and is known to the authenticator."""
    good = made(memory)
    authenticator.caller(bearer(good))
    revoked = made(memory, tenant=None)
    memory.revoke_key(revoked.key.id)
    expired = made(memory, expires_at=clock.now + timedelta(seconds=1))
    clock.tick(seconds=2)
    secret = good.secret
    yield {}
    yield from map(bearer, (revoked, expired))
    yield from map(
        bearer,
        (
            secret[:-1] + ("a" if secret[-1] != "a" else "b"),
            secret[:-1],
            secret + "a",
            secret.upper(),
            secret.replace("onr_", ""),
            f"onr_{good.key.id}_",
            f"onr_{good.key.id}_{'a' * 43}",
            f"onr_zzzzzzzz{secret[12:]}",
            f"{secret}, {secret}",
            f"{secret}\x00",
            f"{secret} x",
            "onr_' OR 1=1 --_x",
            "",
            " ",
            "ü",
            "bad.to.ken",
            "a" * 20_000,
            f"onr_abcdefgh_{'a' * 20_000}",
        ),
    )
    for header in (
        secret,
        f"Basic {secret}",
        f"Token {secret}",
        "Bearer",
        f"Bearer\n{secret}",
        f"Bearer{secret}",
    ):
        yield {"Authorization": header}
    yield {"X-Api-Key": secret, "Cookie": f"authorization=Bearer {secret}"}
    yield {"Authorization": f"Bearer {secret}", "authorization": f"Bearer {secret}"}
    yield Headers(raw=[(b"authorization", f"Bearer {secret}".encode())] * 2)


def test_whatever_is_wrong_with_a_key_the_answer_is_the_same(
    memory: OnRecord, authenticator: Authenticator, clock
) -> None:
    answers = {refused(authenticator, headers) for headers in wrong_credentials(memory, authenticator, clock)}
    assert answers == {str(Unauthenticated())}


def test_the_names_of_headers_and_of_the_scheme_are_of_any_case(
    memory: OnRecord, authenticator: Authenticator
) -> None:
    secret = made(memory).secret
    for headers in (
        {"AUTHORIZATION": f"BEARER {secret}"},
        {"authorization": f"bearer   {secret}"},
        Headers({"Authorization": f"Bearer {secret}"}),
    ):
        assert authenticator.caller(headers).user == "bot"


def test_a_key_in_an_address_is_not_looked_at(memory: OnRecord, authenticator: Authenticator) -> None:
    secret = made(memory).secret
    refused(
        authenticator, {":path": f"/v1/recall?access_token={secret}", "Referer": f"https://x/?key={secret}"}
    )


def test_requests_in_a_row_ask_the_store_once(door: OnRecord, timer, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    find = identity.keys.find
    monkeypatch.setattr(
        identity.keys, "find", lambda secret, *rest: looked.append(secret) or find(secret, *rest)
    )
    authenticator, key = Authenticator(door._store, timer=timer), made(door)
    for _ in range(10):
        authenticator.caller(bearer(key))
    assert len(looked) == 1
    timer.tick(2)
    authenticator.caller(bearer(key))
    assert len(looked) == 2


def test_a_key_that_is_revoked_while_it_is_looked_up_is_not_kept(
    door: OnRecord, timer, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticator, key = Authenticator(door._store, timer=timer), made(door, tenant=None)
    find = identity.keys.find

    def find_and_revoke(*asked: Any) -> Any:
        found = find(*asked)
        door.revoke_key(key.key.id)
        authenticator.forget_keys()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(identity.keys, "find", find_and_revoke)
        authenticator.caller(bearer(key))
    refused(authenticator, bearer(key))


def test_of_very_many_keys_only_the_latest_are_kept(door: OnRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_KEPT_KEYS", 3)
    authenticator = Authenticator(door._store)
    for _ in range(6):
        authenticator.caller(bearer(made(door)))
    assert len(authenticator._keys._known) == 3


def test_many_threads_with_many_keys_each_get_their_own_caller(
    memory: OnRecord, authenticator: Authenticator
) -> None:
    keys = [made(memory, user=f"bot {number}") for number in range(8)]

    def ask(number: int) -> bool:
        key = keys[number % 8]
        if number % 50 == 0:
            authenticator.forget_keys()
        caller = authenticator.caller(
            {**bearer(key), "OnRecord-Conversation": f"talk {number}"}, None, f"r{number}"
        )
        return (caller.user, caller.key, caller.conversation, caller.request) == (
            key.key.user,
            key.key.id,
            f"talk {number}",
            f"r{number}",
        )

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(ask, range(400)))


def test_the_limit_of_a_key_is_known_once_it_was_shown(
    memory: OnRecord, authenticator: Authenticator, timer
) -> None:
    key = made(memory, per_minute=2)
    throttle = Throttle(100, of_key=authenticator.per_minute, buckets=OwnBuckets(timer))
    caller = authenticator.caller(bearer(key))
    assert authenticator.per_minute(key.key.id) == 2
    assert authenticator.per_minute("abcdefgh") is None
    throttle.take(caller)
    throttle.take(caller)
    with pytest.raises(TooMany):
        throttle.take(caller)


# No key at all.


@pytest.fixture
def local_gate(door: OnRecord, timer) -> Authenticator:
    return Authenticator(door._store, local=LOCAL, timer=timer)


def test_without_keys_whoever_sits_at_the_machine_is_the_local_caller(local_gate: Authenticator) -> None:
    for peer in ("127.0.0.1", "::1", None):
        caller = local_gate.caller({"OnRecord-Conversation": "talk"}, peer)
        assert (caller.tenant, caller.user, caller.conversation) == ("default", "ann", "talk")


def test_the_local_caller_of_a_server_does_not_run_the_store(local_gate: Authenticator) -> None:
    assert not local_gate.caller({}, "127.0.0.1").operator


def test_once_there_is_a_key_nobody_comes_in_without(
    local_gate: Authenticator, door: OnRecord, timer
) -> None:
    local_gate.caller({})
    key = made(door)
    timer.tick(2)
    refused(local_gate, {})
    assert local_gate.caller(bearer(key)).user == "bot"


def test_where_tokens_are_read_nobody_comes_in_without(door: OnRecord) -> None:
    refused(Authenticator(door._store, local=LOCAL, tokens=Tokens()), {})


def test_a_key_that_does_not_work_is_not_as_good_as_none(local_gate: Authenticator) -> None:
    refused(local_gate, bearer(f"onr_abcdefgh_{'a' * 43}"))
    refused(local_gate, {"Authorization": ""})
    refused(local_gate, bearer("good.to.ken"))


@pytest.mark.parametrize(
    ("headers", "peer"),
    [
        ({}, "192.0.2.1"),
        ({}, "10.0.0.1"),
        ({"X-Forwarded-For": "127.0.0.1"}, "127.0.0.1"),
        ({"Forwarded": "for=127.0.0.1"}, "127.0.0.1"),
        ({"Via": "1.1 proxy"}, None),
    ],
)
def test_whoever_comes_from_elsewhere_is_not_local(
    local_gate: Authenticator, headers: dict[str, str], peer: str | None
) -> None:
    refused(local_gate, headers, peer)


def test_without_a_local_caller_nobody_comes_in_without_a_key(authenticator: Authenticator) -> None:
    refused(authenticator, {}, "127.0.0.1")


# Tokens.


def test_a_token_is_read_by_its_reader(authenticator: Authenticator) -> None:
    caller = authenticator.caller(
        {**bearer("good.to.ken"), "OnRecord-Conversation": "talk"}, "192.0.2.1", "r1"
    )
    assert caller == replace(TOKEN_CALLER, conversation="talk", request="r1")


def test_where_no_tokens_are_read_none_is_valid(door: OnRecord) -> None:
    refused(Authenticator(door._store), bearer("good.to.ken"))


# Headers that narrow.


def test_an_unattended_caller_always_has_a_run(memory: OnRecord, authenticator: Authenticator, clock) -> None:
    key = made(memory, actor="unattended")
    assert authenticator.caller(bearer(key)).run == f"key:{key.key.id}:2026-03-01"
    assert authenticator.caller({**bearer(key), "OnRecord-Run": "nightly-7"}).run == "nightly-7"
    clock.tick(days=1)
    assert authenticator.caller(bearer(key)).run == f"key:{key.key.id}:2026-03-02"
    assert authenticator.caller(bearer(made(memory, actor="agent"))).run is None


def test_an_unattended_caller_with_a_long_name_and_no_key_has_a_run_too(door: OnRecord, clock) -> None:
    class LongName:
        def caller(self, token: str) -> Caller:
            return Caller(tenant="acme", user="u" * 200, actor="unattended")

    run = Authenticator(door._store, tokens=LongName(), clock=clock).caller(bearer("a.b.c")).run
    assert run is not None
    assert run.startswith("user:uuu")
    assert run.endswith(":2026-03-01")


@pytest.mark.parametrize("header", ["OnRecord-Conversation", "OnRecord-Run"])
@pytest.mark.parametrize("value", ["", "  ", "a\nb", "x" * 201, "a\x00"])
def test_a_narrowing_header_that_is_no_name_is_told(door: OnRecord, header: str, value: str) -> None:
    authenticator, key = Authenticator(door._store), made(door)
    with pytest.raises(Invalid) as told:
        authenticator.caller({**bearer(key), header: value})
    assert [fault.field for fault in told.value.faults] == [header]


def test_a_narrowing_header_that_is_sent_twice_is_told(door: OnRecord) -> None:
    raw = [(b"authorization", f"Bearer {made(door).secret}".encode())]
    raw += [(b"onrecord-run", b"one"), (b"onrecord-run", b"two")]
    with pytest.raises(Invalid, match="OnRecord-Run: was sent twice"):
        Authenticator(door._store).caller(Headers(raw=raw))


def test_whether_a_header_is_valid_is_not_told_to_strangers(authenticator: Authenticator) -> None:
    refused(authenticator, {"OnRecord-Run": ""})


@pytest.mark.parametrize("sent", ["Grüße, 世界".encode(), "Grüße".encode("latin-1")])
def test_a_name_beyond_ascii_arrives_as_it_was_meant(door: OnRecord, sent: bytes) -> None:
    raw = [(b"authorization", f"Bearer {made(door).secret}".encode()), (b"onrecord-conversation", sent)]
    assert str(Authenticator(door._store).caller(Headers(raw=raw)).conversation).startswith("Grüße")


# Grants.


def test_grants_add_to_those_of_the_key_and_to_no_others(door: OnRecord, tmp_path: Path) -> None:
    path = tmp_path / "grants.toml"
    path.write_text('[acme.bot]\ncrm = "manage"\nmail = "read"\n', encoding="utf-8")
    authenticator = Authenticator(door._store, grants=open_grants(str(path)))
    assert authenticator.caller(bearer(made(door, systems=["crm", "warehouse=manage"]))).systems == {
        "crm": "manage",
        "mail": "read",
        "warehouse": "manage",
    }
    assert authenticator.caller(bearer(made(door, tenant="globex"))).systems == {"crm": "read"}


def test_a_grant_in_a_header_counts_from_the_proxy_alone_and_only_if_sent_once(door: OnRecord) -> None:
    authenticator = Authenticator(
        door._store, grants=open_grants("header:X-Systems", trusted_proxies="10.0.0.0/8")
    )
    key = made(door, systems=[])
    sent = {**bearer(key), "X-Systems": "mail=manage"}
    assert authenticator.caller(sent, "10.0.0.1").systems == {"mail": "manage"}
    for peer in ("192.0.2.1", None):
        assert authenticator.caller({**sent, "X-Forwarded-For": "10.0.0.1"}, peer).systems == {}
    raw = [(b"authorization", f"Bearer {key.secret}".encode())]
    raw += [(b"x-systems", b"*=manage"), (b"x-systems", b"mail")]
    assert authenticator.caller(Headers(raw=raw), "10.0.0.1").systems == {}


# Nothing widens.

NAMES = st.sampled_from(
    [
        *(
            "OnRecord-Tenant",
            "OnRecord-User",
            "OnRecord-Permissions",
            "OnRecord-Systems",
            "OnRecord-Personas",
        ),
        *(
            "OnRecord-Actor",
            "OnRecord-Key",
            "OnRecord-Operator",
            "OnRecord-Conversation",
            "OnRecord-Run",
        ),
        *(
            "X-Systems",
            "X-Forwarded-For",
            "X-Forwarded-User",
            "Forwarded",
            "X-Real-Ip",
            "Via",
            "Cookie",
            "Host",
        ),
        *("X-Request-Id", "Proxy-Authorization", "X-Api-Key", "tenant", "user", "operator"),
    ]
)
VALUES = st.text(max_size=30) | st.sampled_from(
    [
        "globex",
        "admin",
        "memory.admin",
        "*=manage",
        "*",
        "10.0.0.1",
        "127.0.0.1",
        "true",
        "person",
        "good.to.ken",
    ]
)
PEERS = (
    st.none() | st.ip_addresses().map(str) | st.sampled_from(["127.0.0.1", "::1", "192.0.2.1", "unix", ""])
)


@pytest.fixture(scope="module")
def one_key() -> Iterator[tuple[Authenticator, CreatedKey]]:
    """A authenticator that could let much in, and a key that may do little."""
    with connect(":memory:", embedder="none", caller=LOCAL) as door:
        grants = open_grants("header:X-Systems", trusted_proxies="198.51.100.1")
        yield Authenticator(door._store, local=LOCAL, tokens=Tokens(), grants=grants), made(door)


@given(
    headers=st.dictionaries(NAMES, VALUES, max_size=8), peer=PEERS.filter(lambda peer: peer != "198.51.100.1")
)
def test_no_headers_give_a_caller_more_than_its_key(
    one_key: tuple[Authenticator, CreatedKey], headers: dict[str, str], peer: str | None
) -> None:
    authenticator, key = one_key
    try:
        caller = authenticator.caller({**headers, **bearer(key)}, peer)
    except Invalid as told:
        assert {fault.field for fault in told.faults} <= {"OnRecord-Conversation", "OnRecord-Run"}
        return
    assert replace(caller, conversation=None, run=None) == authenticator.caller(bearer(key))
    assert not caller.operator


@given(headers=st.dictionaries(NAMES | st.just("Authorization"), VALUES, max_size=8), peer=PEERS)
def test_no_headers_open_the_door_without_a_key(
    one_key: tuple[Authenticator, CreatedKey], headers: dict[str, str], peer: str | None
) -> None:
    with pytest.raises(Unauthenticated):
        one_key[0].caller(headers, peer)
