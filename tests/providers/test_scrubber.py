"""Secrets leave a text, everything else stays."""

from __future__ import annotations

import importlib
import random
import string
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.providers.scrubber import Scrubbed, scrub, scrub_value
from onrecord.providers.secret_contexts import CONTEXT_RULES, LONG_CONTEXT_RULES
from onrecord.providers.secret_rules import SHORTEST_TOKEN, TOKEN_RULES, SecretRule

ALNUM = string.ascii_letters + string.digits
HEX = string.digits + "abcdef"


def made(prefix: str, count: int, alphabet: str = ALNUM, seed: int = 3) -> str:
    """A secret built at run time, so that no secret-looking literal stands in this file."""
    return prefix + "".join(random.Random(seed).choices(alphabet, k=count))


GITHUB = made("gh" + "p_", 36)
OPENAI = made("s" + "k-proj-", 100)
JWT = "eyJ" + made("", 20) + ".eyJ" + made("", 40) + "." + made("", 43)
OPAQUE = made("", 39) + "7"
HEX32 = made("", 32, HEX)
PEM = "\n".join(
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        made("MII", 61),
        made("", 64),
        "-----END RSA " + "PRIVATE KEY-----",
    ]
)


# ---- what must go ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (made("AK" + "IA", 16, string.ascii_uppercase), "aws-key-id"),
        (made("AI" + "zaSy", 33), "gcp-api-key"),
        (GITHUB, "github-token"),
        (made("gl" + "pat-", 20), "gitlab-token"),
        (made("xo" + "xb-123456789012-123456789012-", 24), "slack-token"),
        (OPENAI, "openai-key"),
        (made("s" + "k-ant-api03-", 93), "anthropic-key"),
        (made("h" + "f_", 34, string.ascii_letters), "huggingface-token"),
        (made("s" + "k_live_", 24), "stripe-key"),
        (made("S" + "K", 32, HEX), "twilio-key"),
        (made("S" + "G.", 22) + "." + made("", 43), "sendgrid-key"),
        (made("np" + "m_", 36), "npm-token"),
        (made("da" + "pi", 32, HEX), "databricks-token"),
        (made("hv" + "s.", 92), "vault-token"),
        (made("r" + "k_", 40), "api-key"),
        ("1234567890:AA" + made("", 33), "telegram-token"),
        (JWT, "jwt"),
        (PEM, "private-key"),
        (PEM.replace("\n", "\\n"), "private-key"),
        (PEM[: PEM.index("-----END") - 1], "private-key"),
    ],
)
@pytest.mark.parametrize(
    "frame", ["{}", "use {} today", '"{}"', "`{}`", "部署用{}吧", "ключ{}", "값은 {}입니다", "({}),\n"]
)
def test_a_secret_that_names_itself_is_replaced_in_any_surroundings(text: str, rule: str, frame: str) -> None:
    before, after = frame.split("{}")
    assert scrub(before + text + after) == Scrubbed(f"{before}[secret:{rule}]{after}", (rule,))


@pytest.mark.parametrize(
    "text",
    [
        "the password is ⟦hunter2⟧",
        "The password is ⟦swordfish⟧.",
        "password for the db is: ⟦Tr0ub4dor&3⟧",
        "pw: ⟦xyz123!⟧",
        "my passcode is ⟦4711-aa⟧",
        'export DB_PASSWORD="⟦correct horse battery staple⟧"',
        "login --password ⟦hunter2⟧ --yes",
        "mysql -u root -p⟦hunter2⟧ shop",
        "curl -u admin:⟦hunter2⟧ http://es:9200",
        "postgres://app:⟦hunter2⟧@db.internal:5432/main",
        "postgres://app:⟦p@ss⟧@db.internal:5432/main",
        "redis://:⟦hunter2⟧@cache:6379/0",
        "Server=x;User Id=sa;Password=⟦hunter2⟧;Encrypt=True",
        "jdbc:postgresql://db/main?user=app&password=⟦hunter2⟧&ssl=true",
        "host=db user=app password='⟦hunter2⟧' dbname=main",
        "CREATE USER app WITH PASSWORD '⟦hunter2⟧';",
        "<password>⟦hunter2⟧</password>",
        '{\\"password\\": \\"⟦hunter2⟧\\"}',
        "**Password:** ⟦hunter2⟧",
        "Password:\n⟦hunter2⟧\n",
        "use ⟦hunter2⟧ as the password",
        "das Passwort ist ⟦hunter2⟧",
        "mot de passe : ⟦hunter2⟧",
        "la contraseña es ⟦hunter2⟧",
        "a senha é ⟦hunter2⟧",
        "пароль: ⟦hunter2⟧",
        "пароль от базы — ⟦hunter2⟧, не терять",
        "密码是⟦hunter2⟧请保密",
        "パスワードは⟦hunter2⟧です",
        "비밀번호는 ⟦hunter2⟧입니다",
        "كلمة المرور هي ⟦hunter2⟧",
        "הסיסמה היא ⟦hunter2⟧",
        "पासवर्ड ⟦hunter2⟧ है",
        f"Authorization: Bearer ⟦{OPAQUE}⟧",
        f"-H 'X-Api-Key: ⟦{OPAQUE}⟧'",
        f'{{"client_secret": "⟦{OPAQUE}⟧", "id": 1}}',
        f"https://api.example.com/v1?limit=5&token=⟦{OPAQUE}⟧&page=2",
        f"https://b.example.com/k?X-Amz-Signature=⟦{made('', 64, HEX)}⟧",
        f"twilio auth token: ⟦{HEX32}⟧",
        f"aws_secret_access_key = ⟦{made('', 37)}/+7⟧",
        f"Cookie: theme=dark; sessionid=⟦{HEX32}⟧; lang=de",
        f"https://hooks.slack.com/services/⟦T0{made('', 8)}/B0{made('', 8)}/{made('', 24)}⟧",
    ],
)
def test_only_the_secret_goes_and_its_surroundings_stay(text: str) -> None:
    before, rest = text.split("⟦")
    secret, after = rest.split("⟧")
    scrubbed = scrub(before + secret + after)
    assert len(scrubbed.found) == 1
    assert scrubbed.text == f"{before}[secret:{scrubbed.found[0]}]{after}"


def test_a_very_long_value_is_hidden_to_its_end() -> None:
    value = made("", 5000)
    assert scrub(f"api_key={value} end").text == "api_key=[secret:api-key] end"


def test_names_of_rules_come_in_order_of_place() -> None:
    scrubbed = scrub(f"password=hunter2 then {GITHUB} then postgres://a:hunter2@h/d")
    assert scrubbed.found == ("password", "github-token", "url-password")


def test_overlapping_findings_become_one_under_the_most_telling_name() -> None:
    assert scrub(f"Authorization: Bearer {JWT}") == Scrubbed("Authorization: Bearer [secret:jwt]", ("jwt",))
    assert scrub(f"token={GITHUB}") == Scrubbed("token=[secret:github-token]", ("github-token",))


# ---- what must stay --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "",
        "the password is stored in Vault",
        "the password is rotated every 90 days",
        "The password is wrong!",
        "use the API key from 1Password",
        "password: see vault",
        "set password=<your password>",
        "password=${DB_PASSWORD}",
        'password=os.environ["X"]',
        "password=********",
        "api_key=YOUR_API_KEY",
        "PASSWORD=$(vault read -field=password secret/db)",
        "postgres://user:password@localhost:5432/db",
        "https://example.com:8080/path/@scope/package",
        "def get_token(user):",
        "token = get_token()",
        "password: str",
        "token count is 4096",
        "WHERE password IS NULL",
        "users.password_hash and token_id and api_key_id",
        "run 550e8400-e29b-41d4-a716-446655440000 failed",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://host.example.com/sk-something-readable-slug",
        "pip install sk-learn, model text-embedding-3-small",
        "2001:0db8:85a3:0000:0000:8a2e:0370:7334 and 00:1A:2B:3C:4D:5E",
        "the prefix is xoxb- for bots and ghp_ for people",
        "-----BEGIN PRIVATE KEY----- is how the file starts",
        "密码是必填项",
        "パスワードはVaultに保存されています",
        "пароль хранится в сейфе",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(text) == Scrubbed(text, ())


@pytest.mark.parametrize(
    "text",
    [
        "password=[secret:password]",
        "https://user:[secret:url-password]@host/x",
        "Authorization: Bearer [secret:authorization]",
        "REDIS_PASS=[secret:password]\nREDIS_HOST=cache1",
        "[secret:password] hunter2",
    ],
)
def test_a_placeholder_is_neither_a_secret_nor_a_key_to_one(text: str) -> None:
    assert scrub(text) == Scrubbed(text, ())


def test_a_bracket_with_an_unknown_name_is_no_placeholder() -> None:
    assert GITHUB not in scrub(f"[secret:{GITHUB}]").text


# ---- properties ------------------------------------------------------------------------------------------
KEYS = [
    "password",
    "pass",
    "pw",
    "secret",
    "token",
    "api key",
    "admin",
    "密码",
    "пароль",
    "--password ",
    "-u ",
    "Bearer ",
]
LINKS = [*"=:/@.,;'\"`()[]{}<>|&?#\\ \n", " is ", ": ", "://", "是", "«", "»"]
VALUES = ["hunter2", "Abc123!x", "swordfish", "${X}", "***", "sk-", "eyJ", GITHUB, JWT, OPAQUE, "İ"]
MARKS = ["[secret:password]", "[secret:", "-----BEGIN PRIVATE KEY-----"]
PIECES = st.sampled_from([*KEYS, *LINKS, *VALUES, *MARKS])
JUMBLES = st.lists(PIECES, max_size=25).map("".join)
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # with lone surrogates and NUL
PROSE = st.lists(
    st.sampled_from("the load of orders runs at night and 12 people wait 订单 заказ 주문".split())
).map(" ".join)


@given(st.one_of(JUMBLES, ANY_TEXT))
def test_a_scrubbed_text_holds_nothing_more_to_scrub(text: str) -> None:
    once = scrub(text)
    assert scrub(once.text) == Scrubbed(once.text, ())


@given(ANY_TEXT)
def test_no_text_raises(text: str) -> None:
    scrubbed = scrub(text)
    assert isinstance(scrubbed.text, str)
    assert scrubbed.found or scrubbed.text == text


@given(st.text(string.ascii_lowercase + " .,\n"))
def test_words_without_a_hint_of_a_secret_stay(text: str) -> None:
    if not any(hint in text for hint in ("pass", "pw", "psk", "psw")):
        assert scrub(text) == Scrubbed(text, ())


@given(PROSE, PROSE, st.sampled_from([GITHUB, OPENAI, JWT, PEM]))
def test_what_stands_around_a_secret_survives(before: str, after: str, secret: str) -> None:
    scrubbed = scrub(f"{before} {secret} {after}")
    assert scrubbed.text == f"{before} [secret:{scrubbed.found[0]}] {after}"


@given(JUMBLES)
def test_every_finding_stands_in_the_text_as_a_placeholder(text: str) -> None:
    scrubbed = scrub(text)
    assert scrubbed.text.count("[secret:") >= len(scrubbed.found)


# ---- effort ----------------------------------------------------------------------------------------------
NASTY = (
    *(
        "password ",
        "password=",
        "password is ",
        "password for ",
        "token=",
        "api_key=",
        "key ",
        "secret: ",
        "_auth=",
    ),
    *(
        "://a:",
        "://a:b@",
        "eyJ",
        "eyJ-",
        "-sk-",
        "sk_",
        "glpat-",
        "-----BEGIN PRIVATE KEY-----",
        "a",
        "A1",
        "--a-",
    ),
    *(
        "'",
        '"',
        "\\",
        "\n",
        " ",
        "[secret:",
        "[secret:password]",
        "MTIzMTIzMTIzMTIzMTIzMTIz.",
        "12345678:AA",
        "密码是",
    ),
    *(
        "пароль a ",
        "password=a,",
        "password=a&",
        'password="\\',
        "x is password ",
        "cookie: auth",
        "?key=a1b2c3d4e5f6",
    ),
)


def calls_for(text: str) -> int:
    """How many functions scrubbing the text calls: effort that no other load on the machine can change."""
    count = 0

    def tally(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        scrub(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", NASTY)
def test_effort_grows_with_the_length_of_the_text_and_no_faster(unit: str) -> None:
    small, large = (calls_for(unit * (size // len(unit))) for size in (4_000, 16_000))
    assert large <= 5 * small + 500


def test_a_huge_text_is_scrubbed_as_well() -> None:
    filler = "the nightly load runs at three. " * 40_000
    assert scrub(filler + "password=hunter2").text == filler + "password=[secret:password]"


def repetitions(tree: Any, inside: bool = False) -> Iterator[tuple[str, bool, bool]]:
    """(operator, is unbounded, stands inside another unbounded one) of every repetition in a parsed pattern."""
    limit = importlib.import_module("re._constants").MAXREPEAT
    for operator, argument in tree:
        name, endless = str(operator), False
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            endless = argument[1] == limit
            yield name, endless, inside
        for part in argument if isinstance(argument, tuple | list) else [argument]:
            for branch in part if isinstance(part, list) else [part]:
                if hasattr(branch, "pattern") or hasattr(branch, "data"):
                    yield from repetitions(branch, inside or (endless and name != "POSSESSIVE_REPEAT"))


def parsed(rule: SecretRule) -> Any:
    return importlib.import_module("re._parser").parse(rule.pattern.pattern, rule.pattern.flags)


@pytest.mark.parametrize(
    "rule", [*TOKEN_RULES, *LONG_CONTEXT_RULES, *CONTEXT_RULES], ids=lambda rule: rule.name
)
def test_no_pattern_repeats_a_repetition_without_end(rule: SecretRule) -> None:
    assert not any(endless and inside for _, endless, inside in repetitions(parsed(rule)))


@pytest.mark.parametrize("rule", [*LONG_CONTEXT_RULES, *CONTEXT_RULES], ids=lambda rule: rule.name)
def test_patterns_tried_at_ordinary_words_read_a_bounded_stretch(rule: SecretRule) -> None:
    assert all(not endless or name == "POSSESSIVE_REPEAT" for name, endless, _ in repetitions(parsed(rule)))


@pytest.mark.parametrize(
    "rule", [*TOKEN_RULES, *LONG_CONTEXT_RULES, *CONTEXT_RULES], ids=lambda rule: rule.name
)
def test_every_anchor_is_lower_case_and_so_can_be_found(rule: SecretRule) -> None:
    assert rule.anchors
    assert all(anchor == anchor.lower() for anchor in rule.anchors)


def test_no_token_is_shorter_than_the_run_that_makes_rules_look_for_tokens() -> None:
    assert min(parsed(rule).getwidth()[0] for rule in TOKEN_RULES) >= SHORTEST_TOKEN


# ---- metadata --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "key",
    "apiKey api_key APIKey x-api-key authorization Authorization password passwd DB_PASSWORD dbPassword x-secret clientSecret "
    "client_secret secret secrets access_token refreshToken token private_key privateKey credential credentials bearer "
    "aws_secret_access_key apikey passphrase smtp_pass password_prod пароль 密码".split(),
)
def test_the_name_of_a_credential_hides_its_value_whole(key: str) -> None:
    for value in ("abc", "two words", 12345, 1.5, b"raw"):
        clean, found = scrub_value(key, value)
        assert clean == f"[secret:{found[0]}]"
        assert len(found) == 1


@pytest.mark.parametrize(
    "key",
    "token_count max_tokens password_policy secretary tokens_used primary_key key sort_key total_tokens password_hash "
    "token_type token_id api_key_id access_key_id secret_name is_secret has_password public_key monkey keyboard author "
    "compass passport pad_token next_page_token account_key project_key tokenizer tokens keys auth_method value".split(),
)
def test_a_name_that_only_sounds_like_a_credential_hides_nothing(key: str) -> None:
    for value in ("abc", 42, 1.5, True, None, b"raw"):
        assert scrub_value(key, value) == (value, ())


def test_other_texts_in_metadata_are_scrubbed_and_other_values_stay() -> None:
    value = {"note": "pw: hunter2", "n": 3, "ok": True, "none": None, "list": ["a", (1, f"use {GITHUB}")]}
    clean, found = scrub_value("extra", value)
    assert clean == {
        "note": "pw: [secret:password]",
        "n": 3,
        "ok": True,
        "none": None,
        "list": ["a", (1, "use [secret:github-token]")],
    }
    assert found == ("password", "github-token")


def test_credentials_are_found_at_any_depth_and_in_arrays() -> None:
    value = {
        "db": [{"user": "bob", "conn": {"Password": "x", "port": 5432}}],
        "passwords": ["a", 2, None, True],
    }
    clean, found = scrub_value("", value)
    assert clean == {
        "db": [{"user": "bob", "conn": {"Password": "[secret:password]", "port": 5432}}],
        "passwords": ["[secret:password]", "[secret:password]", None, True],
    }
    assert found == ("password",) * 3


def test_what_stands_below_a_credential_is_hidden_except_who_and_where() -> None:
    clean, _ = scrub_value("credentials", {"username": "bob", "host": "db", "blob": "x", "nested": {"v": 1}})
    hidden = "[secret:credential]"
    assert clean == {"username": "bob", "host": "db", "blob": hidden, "nested": {"v": hidden}}


def test_an_entry_named_by_its_neighbour_is_hidden() -> None:
    clean, _ = scrub_value("env", [{"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_HOST", "value": "db"}])
    assert clean == [
        {"name": "DB_PASSWORD", "value": "[secret:password]"},
        {"name": "DB_HOST", "value": "db"},
    ]


def test_a_doubtful_name_hides_only_what_looks_machine_made() -> None:
    assert scrub_value("account_key", OPAQUE)[1] == ("api-key",)
    assert scrub_value("account_key", "customer")[1] == ()
    assert scrub_value("pass", 312) == (312, ())


def test_keys_that_are_secrets_themselves_are_scrubbed_and_kept_apart() -> None:
    first, second = GITHUB, made("gh" + "p_", 36, seed=4)
    clean, found = scrub_value("seen", {first: 1, second: 2, 7: "x"})
    assert clean == {"[secret:github-token]": 1, "[secret:github-token] 2": 2, 7: "x"}
    assert found == ("github-token",) * 2


def test_empty_values_and_placeholders_stay_under_the_name_of_a_credential() -> None:
    for value in ("", "  ", "[secret:password]"):
        assert scrub_value("password", value) == (value, ())


def test_a_cycle_ends_and_is_marked() -> None:
    loop: dict[str, object] = {"password": "x"}
    loop["self"] = loop
    assert scrub_value("a", loop) == ({"password": "[secret:password]", "self": "[cycle]"}, ("password",))


def test_shared_parts_are_walked_once_and_depth_has_an_end() -> None:
    shared: list[object] = ["leaf"]
    for _ in range(60):
        shared = [shared, shared]
    assert scrub_value("a", shared)[1] == ()
    deep: object = "password: hunter2"
    for _ in range(5_000):
        deep = [deep]
    assert "hunter2" not in repr(scrub_value("a", deep)[0])


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), JUMBLES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["password", "note", "apiKey", "key", "credentials", "name", "value"]), inner
        ),
    ),
    max_leaves=12,
)


@given(st.sampled_from(["note", "password"]), JSON)
def test_scrubbed_metadata_holds_nothing_more_to_scrub(key: str, value: object) -> None:
    clean, _ = scrub_value(key, value)
    assert scrub_value(key, clean) == (clean, ())
