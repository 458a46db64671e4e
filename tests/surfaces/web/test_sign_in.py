"""WHO comes in to the pages, how, and until when? Over HTTP as a browser speaks it, and in a browser."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote, urlsplit

import httpx2
import pytest

from tests.surfaces.conftest import Served
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.identity_provider import IdentityProvider

PROOF = re.compile(r'name="form_token" value="([0-9a-f]+)"')
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FROM_ELSEWHERE = {"sec-fetch-site": "cross-site", **NAVIGATION}


def proof(client: httpx2.Client, path: str) -> str:
    """What the forms of a page carry."""
    found = PROOF.search(client.get(path).text)
    assert found, path
    return found[1]


def enter(client: httpx2.Client, key: str, wanted: str = "/") -> httpx2.Response:
    """Sign in on the page, as a browser does."""
    form = {"form_token": proof(client, "/sign-in"), "key": key, "next": wanted}
    return client.post("/sign-in", data=form)


@pytest.fixture
def key(server: Served) -> str:
    """The key of a person; from now on everyone needs one."""
    return server.make_key(user="bob", actor="person", permissions=["memory.read", "memory.manage"])


@pytest.fixture
def browser(server: Served) -> Iterator[httpx2.Client]:
    """A browser without a window, which keeps cookies."""
    with server.connect() as client:
        yield client


def test_at_the_machine_nobody_signs_in_before_there_is_a_key(server: Served, browser: httpx2.Client) -> None:
    assert browser.get("/").status_code == 200
    said = browser.get("/sign-in?next=/memory")
    assert (said.status_code, said.headers["location"]) == (303, "/memory")
    assert "You did not sign in" in browser.get("/sign-out").text
    passed_on = browser.get("/", headers={"X-Forwarded-For": "203.0.113.9"})
    assert passed_on.headers["location"] == "/sign-in?next=%2F"


def test_a_key_signs_in_once_and_the_pages_are_its_owners(
    server: Served, browser: httpx2.Client, key: str
) -> None:
    led = browser.get("/memory?tag=a b")
    assert (led.status_code, led.headers["location"]) == (303, "/sign-in?next=%2Fmemory%3Ftag%3Da%2520b")
    # As it was sent, so that what someone asked for is what they get.
    named = browser.get("/conversation/%C3%A4%2F%3F")
    assert named.headers["location"] == "/sign-in?next=%2Fconversation%2F%25C3%25A4%252F%253F"
    said = enter(browser, key, "/memory?tag=a%20b")
    assert (said.status_code, said.headers["location"]) == (303, "/memory?tag=a%20b")
    kept = said.headers["set-cookie"]
    for part in ("onrecord_session=", "HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"):
        assert part in kept
    assert "Secure" not in kept
    page = browser.get("/sign-out").text
    assert "bob" in page
    assert key not in page
    # It opens pages, and nothing else.
    assert browser.get("/v1/memories/1").status_code == 401
    assert browser.post("/mcp", json={}).status_code == 401
    assert browser.post("/v1/recall", json={"question": "x"}).status_code == 401


def test_over_tls_the_cookie_is_for_this_host_alone(server: Served, browser: httpx2.Client, key: str) -> None:
    behind = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    shown = browser.get("/sign-in", headers=behind)
    visitor = shown.headers["set-cookie"].split(";")[0]
    form = {"form_token": PROOF.search(shown.text)[1], "key": key}  # type: ignore[index]
    said = browser.post("/sign-in", data=form, headers=behind | {"Cookie": visitor})
    assert said.status_code == 303
    assert re.fullmatch(
        r"__Host-onrecord_session=[\w-]{43}; HttpOnly; Max-Age=43200; Path=/; SameSite=strict; Secure",
        said.headers["set-cookie"],
    )
    assert "plain http" in browser.get("/sign-in", headers={"X-Forwarded-For": "203.0.113.9"}).text


def test_what_is_no_key_is_refused_in_plain_words_and_not_repeated(
    server: Served, browser: httpx2.Client, key: str
) -> None:
    for wrong in (key[:-1], "my-word", "", "onr_x'><script>"):
        said = enter(browser, wrong)
        assert said.status_code == 401
        assert "This key is not valid here" in said.text
        assert not wrong or wrong not in said.text
        assert "onrecord_session" not in said.headers.get("set-cookie", "")


def test_nobody_tries_keys_without_end(server: Served, browser: httpx2.Client, key: str) -> None:
    tries = [enter(browser, "wrong").status_code for _ in range(12)]
    assert tries[0] == 401
    said = enter(browser, key)
    assert (tries[-1], said.status_code) == (429, 429)
    assert int(said.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "/a\r\nSet-Cookie: b=c",
        "\t//evil.example",
        "/\t/evil.example",
        "evil",
        "",
        "/ä",
        "/" + "x" * 3000,
    ],
)
def test_signing_in_leads_to_own_pages_alone(wanted: str) -> None:
    from onrecord.surfaces.web.sign_in import own_path

    assert own_path(wanted) == "/"
    assert own_path("/memory/1?as_of=2026-01-01&x=%2F%2F") == "/memory/1?as_of=2026-01-01&x=%2F%2F"


def test_signing_in_makes_a_new_token_and_ends_the_old_one(
    server: Served, browser: httpx2.Client, key: str
) -> None:
    browser.cookies.set("onrecord_session", "chosen-by-someone-else", domain="127.0.0.1")
    enter(browser, key)
    first = browser.cookies["onrecord_session"]
    assert first != "chosen-by-someone-else"
    enter(browser, key)
    assert browser.cookies["onrecord_session"] != first
    with server.connect() as other:
        other.cookies.set("onrecord_session", first)
        assert other.get("/").status_code == 303


def test_signing_out_is_seen_by_every_process_at_once(
    server: Served, served: Callable[..., Served], key: str
) -> None:
    # The other worker: the same store, another server.
    worker = served(db=server.config.db)
    clients = [server.connect() for _ in range(2)]
    others = [worker.connect() for _ in range(2)]
    for client, other in zip(clients, others, strict=True):
        enter(client, key)
        other.cookies.set("onrecord_session", client.cookies["onrecord_session"])
        assert other.get("/").status_code == 200
    form = {"act": "here", "form_token": proof(clients[0], "/sign-out")}
    assert clients[0].post("/sign-out", data=form).headers["location"] == "/sign-in?next=%2F"
    assert [each.get("/").status_code for each in others] == [303, 200]
    form = {"act": "everywhere", "form_token": proof(others[1], "/sign-out")}
    others[1].post("/sign-out", data=form)
    assert clients[1].get("/").status_code == 303
    assert server.parts.door.audit(limit=2).entries[0].operation == "sign_out_everywhere"
    for each in (*clients, *others):
        each.close()


def test_a_revoked_key_ends_its_sign_ins(server: Served, browser: httpx2.Client, key: str) -> None:
    enter(browser, key)
    server.parts.door.revoke_key(key.split("_")[1])
    assert browser.get("/").status_code == 303


def test_a_sign_in_ends_after_twelve_hours(server: Served, browser: httpx2.Client, key: str) -> None:
    enter(browser, key)
    form = {"act": "save", "content": "Too late.", "form_token": proof(browser, "/memory/new")}
    server.parts.authenticator._clock = lambda: datetime.now(UTC) + timedelta(hours=12)
    assert browser.get("/").headers["location"] == "/sign-in?next=%2F"
    said = browser.post("/memory/new", data=form)
    assert (said.status_code, "You are not signed in" in said.text) == (401, True)
    assert server.parts.door.browse().memories == ()


def test_two_people_behind_one_address_are_told_apart(server: Served, key: str) -> None:
    carol = server.make_key(user="carol", actor="agent", permissions=["memory.read"])
    with server.connect() as one, server.connect() as two:
        enter(one, key)
        enter(two, carol)
        for _ in range(3):
            assert "bob" in one.get("/sign-out").text
            assert "carol" in two.get("/sign-out").text
        # An agent stays an agent, with exactly what its key allows.
        page = two.get("/sign-out").text
        assert "<dd>agent</dd>" in page
        assert "<dd>memory.read</dd>" in page
        # A key in a header counts before a cookie.
        assert "bob" in two.get("/sign-out", headers={"Authorization": f"Bearer {key}"}).text


def test_the_limit_of_a_key_holds_on_pages(server: Served, browser: httpx2.Client) -> None:
    brief = server.make_key(actor="person", per_minute=3)
    enter(browser, brief)
    assert [browser.get("/").status_code for _ in range(5)][-1] == 429


def test_a_form_counts_in_the_sign_in_that_showed_it(
    server: Served, browser: httpx2.Client, key: str
) -> None:
    enter(browser, key)
    server.parts.door.remember("Deploys are frozen on Fridays.")
    mine = proof(browser, "/memory/new")
    with server.connect() as thief:
        enter(thief, key)
        thief.cookies.set("onrecord_visitor", browser.cookies["onrecord_visitor"])
        forged = [mine, proof(thief, "/memory/new")[:-1], "", "ä" * 64]
        for each in forged:
            form = {"act": "revise", "content": "Anything goes.", "form_token": each}
            assert thief.post("/memory/1", data=form).status_code == 403
    assert server.parts.door.show("1").memory.version == 1


def test_a_link_from_elsewhere_opens_a_page_and_nothing_else(
    server: Served, browser: httpx2.Client, key: str
) -> None:
    enter(browser, key)
    with server.connect() as without:
        led = without.get("/memory?tag='x'%22", headers=FROM_ELSEWHERE)
    assert (led.status_code, led.headers.get("location")) == (200, None)
    assert "content=\"0; url='/memory?tag=%27x%27%22'\"" in led.text
    refused = [
        browser.post("/memory/1", data={"act": "revise"}, headers=FROM_ELSEWHERE),
        browser.post("/sign-out", data={"act": "here"}, headers=FROM_ELSEWHERE),
        browser.get("/", headers=FROM_ELSEWHERE | {"sec-fetch-dest": "iframe"}),
        browser.get("/", headers=FROM_ELSEWHERE | {"sec-fetch-mode": "no-cors"}),
        browser.get("/", headers=FROM_ELSEWHERE | {"sec-fetch-dest": "image"}),
        browser.get("/v1/memories/1", headers=FROM_ELSEWHERE),
        browser.get("/metrics", headers=FROM_ELSEWHERE),
    ]
    assert [each.status_code for each in refused] == [403] * len(refused)


def test_a_link_in_a_chat_leads_to_the_memory_for_whoever_is_signed_in(
    server: Served, key: str, window: Callable[..., Window], chat: str
) -> None:
    server.parts.door.remember("Deploys are frozen on Fridays.")
    mine = window(server)
    page = mine.open("/memory/1")
    assert urlsplit(page.url).path == "/sign-in"
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/memory/1")
    page.goto(chat + "/?" + quote(f"{server.url}/memory/1?as_of=2030-01-01"))
    page.get_by_role("link", name="look").click()
    page.wait_for_url("**/memory/1?as_of=2030-01-01")
    page.get_by_text("Deploys are frozen on Fridays.").first.wait_for()
    assert mine.problems == []


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    running = IdentityProvider(client="onrecord", secret="s3cret/with+signs")
    yield running
    running.close()


@pytest.fixture
def chat() -> Iterator[str]:
    """Another site, whose pages hold one link: the address after the question mark."""
    from tests.surfaces.web.identity_provider import other_site

    with other_site() as url:
        yield url


@pytest.fixture
def with_provider(served: Callable[..., Served], provider: IdentityProvider) -> Served:
    return served(
        oidc_issuer=provider.url,
        oidc_audience="https://memory.example.com",
        oidc_claims="tenant=org,permissions=scope",
        oidc_client_id="onrecord",
        oidc_client_secret="s3cret/with+signs",
    )


def test_a_person_signs_in_with_the_identity_provider(
    with_provider: Served, provider: IdentityProvider, window: Callable[..., Window]
) -> None:
    mine = window(with_provider)
    page = mine.open("/sign-out")
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.get_by_role("link", name="I am ann").click()
    page.wait_for_url("**/sign-out")
    facts = page.locator("dl.facts-list").inner_text()
    for each in ("ann", "acme", "person", "memory.read"):
        assert each in facts
    assert "memory.manage" not in facts
    assert provider.redeemed == 1
    page.get_by_role("button", name="Sign out everywhere").click()
    page.wait_for_url("**/sign-in?*")
    assert mine.problems == []


def begun(client: httpx2.Client, wanted: str = "/sign-out") -> dict[str, str]:
    """What the provider is asked, once a browser has begun."""
    said = client.get(f"/sign-in/provider?next={quote(wanted, safe='')}")
    assert said.status_code == 303
    assert "SameSite=lax" in said.headers["set-cookie"]
    return {name: values[0] for name, values in parse_qs(urlsplit(said.headers["location"]).query).items()}


def test_only_the_browser_that_began_comes_back(with_provider: Served, provider: IdentityProvider) -> None:
    with with_provider.connect() as mine, with_provider.connect() as theirs:
        asked = begun(mine)
        assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
        code = provider.agree(asked)
        # Someone else's browser is handed this answer.
        assert (
            theirs.get("/sign-in/callback", params={"code": code, "state": asked["state"]}).status_code == 401
        )
        begun(theirs)
        for state in (asked["state"], "", "ä"):
            said = theirs.get("/sign-in/callback", params={"code": code, "state": state})
            assert said.status_code == 401
            assert "onrecord_session" not in str(said.headers)
            begun(theirs)
        wrong = mine.get(
            "/sign-in/callback", params={"code": code, "state": asked["state"], "iss": "https://evil.example"}
        )
        assert wrong.status_code == 401
        assert provider.redeemed == 0


@pytest.mark.parametrize(
    "how",
    ["verifier", "nonce", "audience", "expired", "signature", "azp", "no_id_token", "status", "not_json"],
)
def test_a_provider_whose_answer_is_wrong_signs_nobody_in(
    with_provider: Served, provider: IdentityProvider, how: str
) -> None:
    provider.wrong = how
    with with_provider.connect() as client:
        asked = begun(client)
        said = client.get(
            "/sign-in/callback", params={"code": provider.agree(asked), "state": asked["state"]}
        )
        assert said.status_code == 401
        assert "You are not signed in" in said.text
        assert client.get("/").status_code == 303


def test_what_the_provider_refuses_is_said_plainly(with_provider: Served) -> None:
    with with_provider.connect() as client:
        asked = begun(client)
        said = client.get(
            "/sign-in/callback",
            params={"error": "access_denied", "error_description": "<b>No.</b>", "state": asked["state"]},
        )
    assert said.status_code == 403
    assert "access_denied &lt;b&gt;No.&lt;/b&gt;" in said.text


def test_an_access_token_for_us_says_what_someone_may_do(
    with_provider: Served, provider: IdentityProvider
) -> None:
    provider.access = {"aud": "https://memory.example.com", "scope": "memory.read memory.review"}
    with with_provider.connect() as client:
        asked = begun(client)
        said = client.get(
            "/sign-in/callback", params={"code": provider.agree(asked), "state": asked["state"]}
        )
        assert (said.status_code, said.headers["location"]) == (303, "/sign-out")
        assert "memory.read, memory.review" in client.get("/sign-out").text


def test_an_issuer_without_tls_elsewhere_is_refused() -> None:
    from onrecord.app import open_server_parts
    from onrecord.config import load
    from onrecord.errors import Invalid

    told = {"oidc_issuer": "http://id.example.com", "oidc_audience": "us", "oidc_claims": "tenant=org"}
    with pytest.raises(Invalid, match="must be an https address"):
        open_server_parts(load(db=":memory:", oidc_client_id="onrecord", **told))
    with pytest.raises(Invalid, match="needs oidc_issuer"):
        open_server_parts(load(db=":memory:", oidc_client_id="onrecord"))


def test_what_was_typed_outlives_a_sign_in_that_ends_meanwhile(
    server: Served, window: Callable[..., Window], key: str
) -> None:
    typed = 'First line, "quoted".\nSecond <b>line</b>.'
    mine = window(server, key)
    page = mine.open("/memory/new")
    page.get_by_label("Text", exact=True).fill(typed)
    other = mine.tab()
    other.goto(server.url + "/sign-out")
    other.get_by_role("button", name="Sign out", exact=True).click()
    other.wait_for_url("**/sign-in*")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("heading", name="Your sign-in has ended").wait_for()
    assert page.get_by_label("Content").input_value() == typed
    # Before someone signs in again, there is only this to be had.
    page.get_by_role("button", name="Bring the form back").click()
    page.get_by_role("heading", name="Your sign-in has ended").wait_for()
    other.get_by_label("API key").fill(key)
    other.keyboard.press("Enter")
    other.wait_for_url(server.url + "/")
    page.get_by_role("button", name="Bring the form back").click()
    page.get_by_text("send it again").wait_for()
    assert page.get_by_label("Text", exact=True).input_value() == typed
    assert server.parts.door.tally("status").total == 0
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/memory/1*")
    assert typed in page.locator("main").inner_text()
    assert mine.problems == []


def test_a_form_without_our_proof_is_shown_again_to_this_browser_alone_and_does_nothing(
    server: Served, browser: httpx2.Client, key: str
) -> None:
    enter(browser, key)
    form = {"act": "save", "content": "Typed on some page."}
    for site, shown in (("same-origin", True), ("same-site", False), ("cross-site", False), (None, False)):
        came = browser.post("/memory/new", data=form, headers={"sec-fetch-site": site} if site else {})
        assert (came.status_code, "Typed on some page." in came.text) == (403, shown), site
    assert browser.post("/memory/new", data=form | {"act": "no such"}).status_code == 403
    assert server.parts.door.tally("status").total == 0
