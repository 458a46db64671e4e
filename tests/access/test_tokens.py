"""WHOM does a token speak for? Real keys, a real issuer on this machine, and every way to forge a token."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from onrecord.access.tokens import (
    Claims,
    FetchedSigningKeys,
    FileSigningKeys,
    OidcTokens,
    open_tokens,
    read_claims,
)
from onrecord.errors import IdentityUnavailable, Invalid, StoreUnavailable, Unauthenticated
from onrecord.model.limits import PERMISSIONS, TENANT_PERMISSIONS

ISSUER, AUDIENCE = "https://id.example.com/", "https://memory.example.com"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()
CLAIMS = Claims(tenant="org", permissions="scope")


def jwk(key: Any, kid: str | None, **more: Any) -> dict[str, Any]:
    """The public half of a key, as an issuer publishes it."""
    algorithm = (
        "RS256"
        if isinstance(key, rsa.RSAPrivateKey)
        else "ES256"
        if isinstance(key, ec.EllipticCurvePrivateKey)
        else "EdDSA"
    )
    public = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {**public, **({} if kid is None else {"kid": kid}), "use": "sig", **more}


def token(
    key: Any = RSA_KEY,
    *,
    alg: str = "RS256",
    kid: str | None = "one",
    without: tuple[str, ...] = (),
    **claims: Any,
) -> str:
    """A token that is valid unless told otherwise."""
    now = int(time.time())
    said = {"iss": ISSUER, "aud": AUDIENCE, "exp": now + 300, "iat": now, "org": "acme", "sub": "ann"}
    said |= {"scope": "openid memory.read", **claims}
    for name in without:
        del said[name]
    return jwt.encode(said, key, algorithm=alg, headers={} if kid is None else {"kid": kid})


def part(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    keys = [jwk(RSA_KEY, "one"), jwk(EC_KEY, "two"), jwk(ED_KEY, "three")]
    path.write_text(json.dumps({"keys": keys}), encoding="utf-8")
    return path


@pytest.fixture
def tokens(keys_file: Path) -> OidcTokens:
    return open_tokens(
        issuer=ISSUER, audience=AUDIENCE, jwks=str(keys_file), claims="tenant=org,permissions=scope"
    )


@pytest.mark.parametrize(
    ("key", "alg", "kid"),
    [
        *((RSA_KEY, alg, "one") for alg in ("RS256", "RS512", "PS256")),
        (EC_KEY, "ES256", "two"),
        (ED_KEY, "EdDSA", "three"),
    ],
)
def test_a_token_of_the_issuer_for_us_says_who_asks(tokens: OidcTokens, key: Any, alg: str, kid: str) -> None:
    caller = tokens.caller(token(key, alg=alg, kid=kid))
    assert (caller.tenant, caller.user, caller.permissions) == ("acme", "ann", {"memory.read"})
    assert not caller.operator
    assert caller.key is None


def test_a_token_that_names_no_key_is_checked_with_each_that_fits(tokens: OidcTokens) -> None:
    assert tokens.caller(token(EC_KEY, alg="ES256", kid=None)).user == "ann"
    with pytest.raises(Unauthenticated):
        tokens.caller(token(OTHER_RSA_KEY, kid=None))


def test_an_audience_among_several_is_enough(tokens: OidcTokens) -> None:
    assert tokens.caller(token(aud=["https://other.example.com", AUDIENCE])).user == "ann"


def test_a_clock_may_be_a_little_off(tokens: OidcTokens) -> None:
    now = time.time()
    assert tokens.caller(token(exp=now - 5, nbf=now + 5, iat=now + 5)).user == "ann"


def forged_with_the_public_key() -> str:
    """HS256 with what everyone knows as the secret; our library would not write such a token."""
    known = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    valid = token().split(".")[1]
    signed = f"{part({'alg': 'HS256', 'typ': 'JWT', 'kid': 'one'})}.{valid}"
    signature = hmac.new(known, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def altered() -> str:
    head, _, signature = token().split(".")
    said = jwt.decode(token(), options={"verify_signature": False}) | {"org": "globex"}
    return f"{head}.{part(said)}.{signature}"


def with_its_own_key() -> str:
    """A token that brings the key it is to be checked with."""
    head = {"alg": "RS256", "jwk": jwk(OTHER_RSA_KEY, "one")}
    return jwt.encode(
        jwt.decode(token(), options={"verify_signature": False}),
        OTHER_RSA_KEY,
        algorithm="RS256",
        headers=head,
    )


REFUSED: dict[str, Callable[[], str]] = {
    "for someone else": lambda: token(aud="https://other.example.com"),
    "for no one": lambda: token(without=("aud",)),
    "of another issuer": lambda: token(iss="https://evil.example.com/"),
    "of an issuer that is nearly ours": lambda: token(iss=ISSUER.rstrip("/")),
    "of no issuer": lambda: token(without=("iss",)),
    "expired": lambda: token(exp=time.time() - 120),
    "without an end": lambda: token(without=("exp",)),
    "with an end that is no time": lambda: jwt.encode(
        {"exp": "soon", "iss": ISSUER, "aud": AUDIENCE}, RSA_KEY, algorithm="RS256", headers={"kid": "one"}
    ),
    "not yet valid": lambda: token(nbf=time.time() + 120),
    "issued in the future": lambda: token(iat=time.time() + 120),
    "signed by another": lambda: token(OTHER_RSA_KEY),
    "with an unknown key": lambda: token(kid="nine"),
    "with the key of another kind": lambda: token(EC_KEY, alg="ES256", kid="one"),
    "with a path as the name of its key": lambda: token(OTHER_RSA_KEY, kid="../../etc/passwd"),
    "with the key it brings": with_its_own_key,
    "unsigned": lambda: f"{part({'alg': 'none', 'kid': 'one'})}.{token().split('.')[1]}.",
    "unsigned, in other letters": lambda: f"{part({'alg': 'NoNe', 'kid': 'one'})}.{token().split('.')[1]}.",
    "without its signature": lambda: token().rpartition(".")[0] + ".",
    "signed with the public key as a secret": forged_with_the_public_key,
    "altered": altered,
    "with an algorithm that is a list": lambda: f"{part({'alg': ['RS256'], 'kid': 'one'})}.{part({})}.AAAA",
    "with a critical extension": lambda: jwt.encode(
        {"sub": "ann"}, RSA_KEY, algorithm="RS256", headers={"kid": "one", "crit": ["x"], "x": 1}
    ),
    "without a tenant": lambda: token(without=("org",)),
    "without a user": lambda: token(without=("sub",)),
    "with an empty tenant": lambda: token(org=""),
    "with a tenant that is a list": lambda: token(org=["acme"]),
    "with a tenant that is true": lambda: token(org=True),
    "for the tenant of everyone": lambda: token(org="global"),
    "for a catalog": lambda: token(org="catalog:acme"),
    "with a tenant of two lines": lambda: token(org="acme\nglobex"),
    "nested too deeply": lambda: (
        f"{part({'alg': 'RS256', 'kid': 'one'})}.{base64.urlsafe_b64encode(b'[' * 100_000).decode()}.AAAA"
    ),
    "nested too deeply in its head": lambda: f"{base64.urlsafe_b64encode(b'[' * 100_002).decode()}.e30.AAAA",
    "no token": lambda: "a.b.c",
    "nothing": lambda: "..",
}


@pytest.mark.parametrize("forge", REFUSED.values(), ids=REFUSED.keys())
def test_whatever_is_wrong_with_a_token_the_answer_is_the_same(
    tokens: OidcTokens, forge: Callable[[], str]
) -> None:
    with pytest.raises(Unauthenticated) as refused:
        tokens.caller(forge())
    assert str(refused.value) == str(Unauthenticated())


def test_why_a_token_was_refused_is_in_the_log_and_the_token_is_not(
    tokens: OidcTokens, caplog: pytest.LogCaptureFixture
) -> None:
    # At the level that is heard where nobody has asked for more.
    caplog.set_level("WARNING")
    sent = token(aud="https://other.example.com")
    with pytest.raises(Unauthenticated):
        tokens.caller(sent)
    assert "audience" in caplog.text.lower()
    assert not any(piece in caplog.text for piece in sent.split("."))


def test_a_key_that_is_not_for_signatures_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    for wrong in ({"use": "enc"}, {"alg": "RS512"}, {"kty": "oct", "k": "c2VjcmV0"}):
        path.write_text(json.dumps({"keys": [jwk(RSA_KEY, "one", **wrong)]}), encoding="utf-8")
        with pytest.raises(Unauthenticated):
            OidcTokens(issuer=ISSUER, audience=AUDIENCE, keys=FileSigningKeys(path), claims=CLAIMS).caller(
                token()
            )


def test_a_key_that_is_too_short_opens_nothing(tmp_path: Path) -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [jwk(short, "one")]}), encoding="utf-8")
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        sent = token(short)
    with pytest.raises(Unauthenticated):
        OidcTokens(issuer=ISSUER, audience=AUDIENCE, keys=FileSigningKeys(path), claims=CLAIMS).caller(sent)


# What the claims say.


def reader(keys_file: Path, claims: str) -> OidcTokens:
    return open_tokens(issuer=ISSUER, audience=AUDIENCE, jwks=str(keys_file), claims=claims)


def test_without_a_claim_for_permissions_a_token_reads_and_manages(keys_file: Path) -> None:
    assert reader(keys_file, "tenant=org").caller(token()).permissions == {"memory.read", "memory.manage"}


@pytest.mark.parametrize(
    ("scope", "rules"),
    [
        ("openid memory.read memory.review", {"memory.read", "memory.review"}),
        (["memory.admin", "email"], set(TENANT_PERMISSIONS)),
        (["memory.read", "memory.global"], {"memory.read"}),
        ("memory.everything MEMORY.ADMIN memory.readmemory.admin", set()),
        ("", set()),
        (None, set()),
        (7, set()),
        ({"memory.admin": True}, set()),
        ([["memory.admin"], {"memory.admin": 1}, None], set()),
    ],
)
def test_only_known_permissions_count(tokens: OidcTokens, scope: Any, rules: set[str]) -> None:
    assert tokens.caller(token(scope=scope)).permissions == rules


def test_a_token_without_the_claim_for_permissions_may_do_nothing(tokens: OidcTokens) -> None:
    assert tokens.caller(token(without=("scope",))).permissions == frozenset()


def test_personas_systems_and_the_actor_come_from_their_claims(keys_file: Path) -> None:
    mapped = reader(keys_file, "tenant=org, user=email, personas=groups, systems=systems, actor=kind")
    caller = mapped.caller(
        token(
            email="ann@example.com",
            groups=["analyst", "on call", 7, ""],
            systems={"crm": "read", "warehouse": "manage", "mail": "own"},
            kind="unattended",
        )
    )
    assert caller.user == "ann@example.com"
    assert caller.personas == {"analyst", "on call"}
    assert caller.systems == {"crm": "read", "warehouse": "manage"}
    assert caller.actor == "unattended"


def test_systems_may_be_words_or_a_list_too(keys_file: Path) -> None:
    mapped = reader(keys_file, "tenant=org,systems=systems")
    for said in ("crm warehouse=manage", ["crm", "warehouse=manage"]):
        assert mapped.caller(token(systems=said)).systems == {"crm": "read", "warehouse": "manage"}


def test_a_claim_may_lie_in_another_or_have_dots_in_its_name(keys_file: Path) -> None:
    nested = reader(keys_file, "tenant=https://example.com/org,permissions=realm_access.roles")
    caller = nested.caller(
        token(**{"https://example.com/org": "acme", "realm_access": {"roles": ["memory.admin"]}})
    )
    assert caller.tenant == "acme"
    assert caller.permissions == set(TENANT_PERMISSIONS)


def test_a_tenant_that_is_a_number_is_its_digits(tokens: OidcTokens) -> None:
    assert tokens.caller(token(org=42)).tenant == "42"


def test_whoever_comes_with_a_token_is_an_agent_unless_it_says_otherwise(keys_file: Path) -> None:
    mapped = reader(keys_file, "tenant=org,actor=kind")
    assert mapped.caller(token()).actor == "agent"
    assert mapped.caller(token(kind="person")).actor == "person"
    with pytest.raises(Unauthenticated):
        mapped.caller(token(kind="robot"))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from([*PERMISSIONS, "*", "crm=manage"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@given(
    claims=st.fixed_dictionaries(
        dict.fromkeys(("org", "who", "scope", "groups", "systems", "kind"), json_values)
    )
)
def test_whatever_the_claims_hold_it_is_a_caller_or_unauthenticated(claims: dict[str, Any]) -> None:
    mapping = read_claims("tenant=org,user=who,permissions=scope,personas=groups,systems=systems,actor=kind")
    reader = OidcTokens(issuer=ISSUER, audience=AUDIENCE, keys=_OneKey(), claims=mapping)
    try:
        caller = reader.caller(token(EC_KEY, alg="ES256", **claims))
    except Unauthenticated:
        return
    said = claims["scope"].split() if isinstance(claims["scope"], str) else claims["scope"]
    assert caller.tenant == str(claims["org"])
    # An admin counts as all the others.
    assert "memory.admin" in said or all(rule in said for rule in caller.permissions)
    assert not caller.operator


class _OneKey:
    def among(self, kid: str | None) -> list[dict[str, Any]]:
        return [jwk(EC_KEY, None)]


# What is set.


def test_claims_are_read_from_a_text() -> None:
    assert read_claims("tenant=org, user = email ,permissions=scope") == Claims(
        tenant="org", user="email", permissions="scope"
    )
    assert read_claims("tenant=org").user == "sub"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (None, "tenant=org"),
        ("user=sub", "which claim holds the tenant"),
        ("tenant=org,tenannt=x", "'tenannt'"),
        ("tenant=org,permissions", "'permissions'"),
        ("tenant=", "'tenant='"),
        ("tenant=org,user=sub,user=email", "twice, as sub and as email"),
        ("tenant=org,operator=admin", "there are tenant, user, permissions, personas, systems, actor"),
    ],
)
def test_a_mapping_that_is_wrong_is_said_when_the_server_starts(setting: str | None, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        open_tokens(issuer=ISSUER, audience=AUDIENCE, claims=setting)
    assert said in str(refused.value)
    assert "oidc_claims" in str(refused.value)


def test_an_audience_is_required() -> None:
    for missing in (None, ""):
        with pytest.raises(Invalid, match="oidc_audience: is required"):
            open_tokens(issuer=ISSUER, audience=missing, claims="tenant=org")


def test_every_fault_of_the_settings_is_told_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        open_tokens(issuer="id.example.com", audience=None, claims="user=sub")
    assert [fault.field for fault in refused.value.faults] == ["oidc_issuer", "oidc_audience", "oidc_claims"]


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b"{}", b'{"keys": []}', b'{"keys": [1]}', b"\xff"]
)
def test_a_broken_file_of_keys_is_said_when_the_server_starts(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "keys.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Invalid, match=r"oidc_jwks: .*keys\.json: cannot be read"):
        open_tokens(issuer=ISSUER, audience=AUDIENCE, jwks=str(path), claims="tenant=org")


# Keys that the issuer publishes.


class Issuer:
    """An issuer on this machine whose keys can be changed."""

    def __init__(self, site, timer) -> None:
        self.site, self.url = site, site.url
        self.publishes(jwk(RSA_KEY, "one"))
        site.says("/.well-known/openid-configuration", {"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
        self.keys = FetchedSigningKeys(self.url, timer=timer)
        self.reader = OidcTokens(issuer=self.url, audience=AUDIENCE, keys=self.keys, claims=CLAIMS)

    def publishes(self, *keys: dict[str, Any]) -> None:
        self.site.says("/keys", {"keys": keys})

    def caller(self, key: Any = RSA_KEY, kid: str | None = "one") -> Any:
        return self.reader.caller(token(key, kid=kid, iss=self.url))

    @property
    def looks(self) -> int:
        return sum(path == "/keys" for path, _ in self.site.asked)


@pytest.fixture
def issuer(site, timer) -> Issuer:
    return Issuer(site, timer)


def test_the_issuer_says_where_its_keys_are_and_is_asked_once(issuer: Issuer) -> None:
    for _ in range(5):
        assert issuer.caller().user == "ann"
    assert [path for path, _ in issuer.site.asked] == ["/.well-known/openid-configuration", "/keys"]


def test_an_address_of_keys_that_is_set_is_asked_alone(site) -> None:
    url = site.says("/elsewhere", {"keys": [jwk(RSA_KEY, "one")]})
    read = open_tokens(issuer=ISSUER, audience=AUDIENCE, jwks=url, claims="tenant=org")
    assert read.caller(token()).user == "ann"
    assert site.asked == [("/elsewhere", None)]


def test_a_server_starts_while_its_issuer_is_away(site) -> None:
    read = open_tokens(issuer=site.url, audience=AUDIENCE, claims="tenant=org")
    with pytest.raises(IdentityUnavailable):
        read.caller(token(iss=site.url))


def test_a_key_that_is_new_is_looked_up(issuer: Issuer, timer) -> None:
    issuer.caller()
    issuer.publishes(jwk(RSA_KEY, "one"), jwk(OTHER_RSA_KEY, "two"))
    timer.tick(11)
    assert issuer.caller(OTHER_RSA_KEY, "two").user == "ann"
    assert issuer.caller().user == "ann"


def test_a_key_that_was_withdrawn_counts_no_longer(issuer: Issuer, timer) -> None:
    issuer.caller()
    issuer.publishes(jwk(OTHER_RSA_KEY, "two"))
    timer.tick(601)
    with pytest.raises(Unauthenticated):
        issuer.caller()


def test_tokens_with_unknown_keys_do_not_make_us_ask_without_end(issuer: Issuer, timer) -> None:
    issuer.caller()
    for number in range(100):
        with pytest.raises(Unauthenticated):
            issuer.caller(kid=f"made up {number}")
    assert issuer.looks == 1
    for _ in range(10):
        timer.tick(5)
        with pytest.raises(Unauthenticated):
            issuer.caller(kid="made up")
    assert issuer.looks == 6


def test_while_the_issuer_is_away_the_keys_of_before_count_for_a_day(issuer: Issuer, timer) -> None:
    issuer.caller()
    issuer.site.says("/keys", b"down for repairs", status=500)
    timer.tick(3600)
    assert issuer.caller().user == "ann"
    timer.tick(24 * 3600)
    with pytest.raises(IdentityUnavailable):
        issuer.caller()


def test_a_new_key_while_the_issuer_is_away_is_not_called_a_forgery(issuer: Issuer, timer) -> None:
    issuer.caller()
    issuer.site.says("/keys", b"", status=503)
    timer.tick(11)
    with pytest.raises(IdentityUnavailable):
        issuer.caller(OTHER_RSA_KEY, "two")


def test_an_issuer_that_is_away_is_left_alone_for_a_moment(issuer: Issuer, timer) -> None:
    issuer.site.says("/keys", b"", status=503)
    for _ in range(20):
        with pytest.raises(IdentityUnavailable) as failed:
            issuer.caller()
    assert issuer.looks == 1
    assert isinstance(failed.value, StoreUnavailable)
    issuer.publishes(jwk(RSA_KEY, "one"))
    timer.tick(11)
    assert issuer.caller().user == "ann"


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example.com", "jwks_uri": "https://evil.example.com/keys"},
        {"issuer": None},
        [],
        b"<html>",
        b"[" * 100_000,
        b" " * 2_000_000,
    ],
)
def test_a_discovery_document_that_is_wrong_gives_no_keys(issuer: Issuer, document: Any) -> None:
    issuer.site.says("/.well-known/openid-configuration", document)
    with pytest.raises(IdentityUnavailable):
        issuer.caller()


def test_keys_behind_a_redirect_are_not_followed(issuer: Issuer) -> None:
    issuer.site.says("/keys", {"keys": [jwk(RSA_KEY, "one")]}, status=302)
    with pytest.raises(IdentityUnavailable):
        issuer.caller()


def test_keys_of_an_encrypted_issuer_do_not_come_unencrypted(issuer: Issuer, monkeypatch) -> None:
    from onrecord.access import tokens as module

    document = {"issuer": "https://id.example.com", "jwks_uri": "http://id.example.com/keys"}
    monkeypatch.setattr(module, "fetch_json", lambda *asked: document)
    with pytest.raises(IdentityUnavailable):
        FetchedSigningKeys("https://id.example.com").among("one")


def test_many_threads_ask_the_issuer_once(issuer: Issuer) -> None:
    with ThreadPoolExecutor(16) as threads:
        callers = list(threads.map(lambda _: issuer.caller(), range(64)))
    assert {caller.user for caller in callers} == {"ann"}
    assert issuer.looks == 1
