"""One memory on screen: what it says, what became of it, and what each kind of person may do."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx2
import pytest

from onrecord.errors import NotFound
from onrecord.model.limits import TENANT_PERMISSIONS
from onrecord.model.wire import write_instant
from tests.databases import BACKENDS, address_of
from tests.soak import some
from tests.surfaces.conftest import Served
from tests.surfaces.test_structured_answers import PAYLOADS
from tests.surfaces.web.conftest import Window
from tests.surfaces.web.forms import acts_on, at_the_machine, send, text_of

Person = Callable[..., httpx2.Client]
READER, MEMBER, REVIEWER = (
    ["memory.read"],
    ["memory.read", "memory.manage"],
    ["memory.read", "memory.manage", "memory.review"],
)
CHANGES = {"revise", "verify", "always", "pin", "add_check"}
OWN = CHANGES | {"relate", "share", "retire", "try_forgetting"}
#: Who looks: their key, and the forms that they see on a memory of the tenant that Ann has written, on her private one,
#: and on one that an agent of hers has saved. None where there is no such page for them.
PEOPLE: dict[str, tuple[dict[str, Any], set[str], set[str] | None, set[str]]] = {
    "its owner": ({"user": "ann", "permissions": MEMBER, "actor": "person"}, OWN, OWN, OWN),
    "her agent": (
        {"user": "ann", "permissions": MEMBER, "actor": "agent"},
        CHANGES | {"share", "retire"},
        CHANGES | {"share", "retire"},
        OWN - {"try_forgetting"},
    ),
    "a member": ({"user": "bob", "permissions": MEMBER, "actor": "person"}, set(), None, set()),
    "a reader": ({"user": "ann", "permissions": READER, "actor": "person"}, set(), set(), set()),
    "a reviewer": ({"user": "rev", "permissions": REVIEWER, "actor": "person"}, set(), None, set()),
    "an admin": ({"user": "root", "permissions": list(TENANT_PERMISSIONS), "actor": "person"}, OWN, OWN, OWN),
}
#: Signs that nobody sees, and that titles may hold.
UNSEEN = "\u202e\u2066\u200b"
#: What sends each form, for whoever may.
FILLED: dict[str, dict[str, str]] = {
    "revise": {"content": "Changed by someone."},
    "verify": {},
    "always": {"always_inject": "true"},
    "pin": {"conversation": ""},
    "add_check": {"kind": "entity", "entity": "orders"},
    "relate": {"relation": "supports", "target": "2"},
    "share": {"scope": "user"},
    "retire": {"reason": "Over."},
    "try_forgetting": {},
    "forget": {"sure": "yes"},
}


@pytest.fixture
def keyed(served: Callable[..., Served], person: Person) -> Served:
    """A server with keys, on which Ann has written for all and for herself, and an agent of hers for all."""
    server = served(embedder="none", user="operator")
    ann, agent = (person(server, **PEOPLE[who][0]) for who in ("its owner", "her agent"))
    for client, scope, text in (
        (ann, "tenant", "Ann: deploys are frozen on Fridays."),
        (ann, "user", "Ann: my badge number is 17."),
        (agent, "tenant", "An agent: the staging host is called oak."),
    ):
        assert client.post("/v1/memories", json={"content": text, "scope": scope}).status_code == 201
    return server


def test_a_page_is_about_the_memory_whose_link_was_followed(keyed: Served, person: Person) -> None:
    """Though its reader keeps one under the same name. Both are changed by their forms, and each shows its own id."""
    ann, bob = (
        person(keyed, user=name, permissions=MEMBER, actor="person", personas=["chef"])
        for name in ("ann", "bob")
    )
    for client, scope in ((ann, {"scope": "persona", "persona": "chef"}), (bob, {})):
        told = client.post("/v1/memories", json={"content": "A plan.", "id": "kb.plan", **scope})
        assert told.status_code == 201
    own, everyones = (ann.get(f"/memory/{id}", follow_redirects=True) for id in ("ann::kb.plan", "kb.plan"))
    assert (own.status_code, everyones.status_code) == (200, 200)
    assert everyones.url.path == "/memory/::kb.plan"
    assert all("#kb.plan" in text_of(page.text) for page in (own, everyones))
    assert 'href="/memory/ann::kb.plan"' in ann.get("/memory").text
    assert "#ann::kb.plan" in text_of(bob.get("/memory/ann::kb.plan").text)
    assert "#kb.plan" in text_of(ann.get("/graph?memory=kb.plan").text)
    judged = send(ann, "/?question=plan", "judge_useful", id="kb.plan", question="plan")
    assert (judged.status_code, ann.get("/v1/feedback").json()["feedback"][0]["memory"]) == (303, "kb.plan")
    # What cites it still does when it is said again, or was said before.
    cites = {"content": "It counts.", "id": "cites", "entities": ["memory:::kb.plan"]}
    assert ann.post("/v1/memories", json=cites).status_code == 201
    assert "memory:::kb.plan" in ann.get("/memory/new?again=cites").text
    assert ann.patch("/v1/memories/cites", json={"entities": []}).status_code == 200
    assert "memory:::kb.plan" in ann.get("/memory/cites?restore=1").text
    asked = send(bob, "/memory/kb.plan", "try_forgetting")
    assert 'action="/memory/::kb.plan"' in unquote(asked.text)
    assert send(ann, "/memory/ann::kb.plan", "retire", reason="Over.").status_code == 303
    assert send(bob, "/memory/kb.plan", "share", scope="user").status_code == 303
    found = [client.get("/v1/memories/::kb.plan").status_code for client in (ann, bob)]
    assert found == [200, 200]
    assert bob.get("/v1/memories/::kb.plan").json()["memory"]["scope"] == "user"
    assert ann.get("/v1/memories/::kb.plan").json()["memory"]["id"] == "ann::kb.plan"


@pytest.mark.parametrize("who", PEOPLE)
def test_each_sees_what_they_may_do_and_may_do_nothing_else(keyed: Served, person: Person, who: str) -> None:
    key, *seen = PEOPLE[who]
    client = person(keyed, **key)
    for id, expected in zip(("1", "2", "3"), seen, strict=True):
        page = client.get(f"/memory/{id}")
        assert page.status_code == (404 if expected is None else 200), id
        assert acts_on(page.text) - {"unrelate"} == (expected or set()), id
        for act in sorted(FILLED.keys() - {"forget"} - (expected or set())):
            # An agent may not relate what a person wrote, and every refusal names its reason.
            told = send(client, f"/memory/{id}", act, **FILLED[act])
            assert told.status_code in (403, 404, 422), (id, act, told.text)
            assert client.get(f"/v1/memories/{id}").json().get("version", 1) == 1
    stranger = person(keyed, tenant="beta", user="ann", permissions=MEMBER, actor="person")
    assert stranger.get("/memory/1").status_code == 404
    assert "frozen" not in stranger.get("/memory").text + stranger.get("/compare").text
    assert stranger.get("/compare/moments").json() == []
    assert person(keyed).get("/memory/1", follow_redirects=False).status_code == 303


def test_what_an_agent_changes_of_a_persons_text_waits(keyed: Served, person: Person) -> None:
    agent = person(keyed, **PEOPLE["her agent"][0])
    assert "waits for a person" in text_of(agent.get("/memory/1").text)
    sent = send(agent, "/memory/1", "revise", content="An agent: deploys are free.", expected_version="1")
    assert sent.headers["location"] == "/memory/1?done=waits"
    assert "your change waits for a person" in text_of(agent.get("/memory/1?done=waits").text)
    assert agent.get("/v1/memories/1").json()["memory"]["content"] == "Ann: deploys are frozen on Fridays."
    # A page is for people: what erases for good is asked of no agent.
    assert send(agent, "/memory/3", "forget", sure="yes").status_code == 403
    assert agent.get("/memory/3").status_code == 200


@pytest.fixture(params=BACKENDS)
def db(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    return address_of(request, tmp_path)


def test_the_life_of_a_memory_is_led_on_its_page(served: Callable[..., Served], db: str) -> None:
    server = served(db=db)
    client, door = server.client, server.parts.door
    secret = "The staging login is postgres://etl:hunter2secret@db.internal/staging."
    tried = send(client, "/memory/new", "save", content=secret, tags="login\nstaging", act_button="")
    assert tried.headers["location"] == "/memory/1?done=remembered"
    door.remember(
        "The staging host is oak.",
        kind="reference",
        query={"measures": ["revenue < 5"]},
        entities=["memory:1"],
    )
    door.register_conversation("talk")

    again = client.get("/memory/new").text
    token = re.search(r'name="form_token" value="(\w+)"', again)
    assert token is not None
    pressed = {"act": ["save", "try_saving"], "form_token": token[1], "content": secret, "category": ""}
    dry = client.post("/memory/new", data=pressed)
    assert "Said already, word for word" in text_of(dry.text)
    assert "1 secret would be taken out" in text_of(dry.text)
    assert "hunter2secret" in dry.text.split("<textarea")[1], "what was typed stays"
    assert "hunter2secret" not in client.get("/memory/1").text
    assert door.show("1").memory.version == 1

    steps: tuple[tuple[str, dict[str, str], str, Callable[[], bool]], ...] = (
        ("verify", {}, "verified", lambda: door.show("2").memory.verified_at is not None),
        ("always", {"always_inject": "true"}, "always", lambda: door.show("2").memory.always_inject),
        ("pin", {"conversation": "talk"}, "pinned", lambda: door.show("2").memory.conversation == "talk"),
        ("pin", {"conversation": ""}, "unpinned", lambda: door.show("2").memory.conversation is None),
        (
            "relate",
            {"relation": "supports", "target": "1"},
            "related",
            lambda: len(door.show("2").edges) == 1,
        ),
        (
            "unrelate",
            {"source": "2", "relation": "supports", "target": "1"},
            "unrelated",
            lambda: not door.show("2").edges,
        ),
        ("share", {"scope": "user"}, "shared", lambda: door.show("2").memory.scope == "user"),
        (
            "revise",
            {"content": "The staging host is elm."},
            "revised",
            lambda: "elm" in door.show("2").memory.content,
        ),
        (
            "revise",
            {"content": "The staging host is elm."},
            "same",
            lambda: door.show("2").memory.version == 7,
        ),
        ("retire", {"reason": "It was turned off."}, "retired", lambda: not door.show("2").memory.is_live),
    )
    for act, fields, done, holds in steps:
        sent = send(client, "/memory/2", act, **fields)
        assert (sent.status_code, sent.headers.get("location")) == (303, f"/memory/2?done={done}"), sent.text
        assert holds(), act
    page = client.get("/memory/2").text
    assert acts_on(page) == {"try_forgetting"}
    assert "Archived because: It was turned off." in text_of(page)
    assert "<del>oak</del><ins>elm</ins>" in page
    assert "<del>no</del><ins>yes</ins>" in page
    assert '<bdi dir="auto">The staging host is <del>oak</del>' in page, "each text has its own direction"
    assert '{ "measures": [ "revenue < 5" ] }' in text_of(page)
    assert 'href="/memory/1"' in page
    assert "The staging host is elm." in client.get("/memory/new?again=2").text

    asked = send(client, "/memory/2", "try_forgetting")
    assert "8 versions" in text_of(asked.text)
    assert door.show("2").memory.id == "2"
    unsure = send(client, "/memory/2", "forget")
    assert unsure.status_code == 422
    assert "tick the box" in unsure.text
    assert send(client, "/memory/2", "forget", sure="yes").headers["location"] == "/memory?done=forgotten"
    with pytest.raises(NotFound):
        door.show("2")


def test_two_tabs_that_edit_one_memory_lose_nothing(server: Served, window: Callable[..., Window]) -> None:
    door = server.parts.door
    door.remember("Deploys are frozen on Fridays.", tags=["deploys"], hint="when to deploy")
    mine = window(server)
    first, second = mine.open("/memory/1"), mine.tab()
    second.goto(mine.url + "/memory/1")
    for page in (first, second):
        page.get_by_text("Revise", exact=True).click()
    first.get_by_label("Text", exact=True).fill("Deploys are frozen on Fridays and Mondays.")
    first.get_by_label("Tags").fill("deploys\nfreeze")
    first.get_by_role("button", name="Save").click()
    first.wait_for_url("**done=revised")
    second.get_by_label("Text", exact=True).fill("Deploys are frozen from Thursday noon.")
    second.get_by_role("button", name="Save").click()

    second.get_by_role("button", name="Save on top").wait_for()
    assert door.show("1").memory.content == "Deploys are frozen on Fridays and Mondays."
    assert "and Mondays" in second.get_by_label("Changed meanwhile").inner_text()
    assert second.get_by_label("Text", exact=True).input_value() == "Deploys are frozen from Thursday noon."
    assert "There now: Deploys are frozen on Fridays and Mondays." in second.locator("#revise").inner_text()
    # What the second did not touch is as the first has left it.
    assert second.get_by_label("Tags").input_value() == "deploys\nfreeze"
    second.get_by_role("button", name="Save on top").click()
    second.wait_for_url("**done=revised")
    after = door.show("1").memory
    assert (after.content, after.tags) == ("Deploys are frozen from Thursday noon.", ("deploys", "freeze"))
    assert [version.memory.content for version in door.history("1").versions][1].endswith("and Mondays.")


def test_a_refused_revision_keeps_every_field_as_it_was_typed(server: Served) -> None:
    server.parts.door.remember("Deploys are frozen on Fridays.")
    typed = {
        "content": "New.",
        "metadata": "{not json",
        "tags": "a" * 80,
        "valid_from": "soon",
        "kind": "rumour",
    }
    answer = send(server.client, "/memory/1", "revise", **typed, expected_version="1")
    assert answer.status_code == 422
    assert all(f'id="fault-field-revise-{name}"' in answer.text for name in typed.keys() - {"content"})
    assert "{not json" in answer.text
    assert 'value="soon"' in answer.text
    assert server.parts.door.show("1").memory.version == 1


def test_an_earlier_version_is_put_back_through_the_form(
    server: Served, window: Callable[..., Window]
) -> None:
    door = server.parts.door
    door.remember("Deploys are frozen on Fridays.", tags=["deploys"])
    door.revise("1", content="Deploys are frozen from Thursday noon.", tags=["deploys", "freeze"])
    door.revise("1", hint="when to deploy")
    mine = window(server)
    page = mine.open("/memory/1")
    told = page.locator("ol.timeline > li").all_inner_texts()
    assert [each.count("Deploys are frozen") for each in told] == [0, 1, 1], (
        "a title cut from a text is no news"
    )
    page.locator("ol.timeline > li").last.get_by_role("link", name="Restore").click()
    assert page.get_by_label("Text", exact=True).input_value() == "Deploys are frozen on Fridays."
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/memory/1?done=revised")
    after = door.show("1").memory
    assert (after.version, after.content, after.tags) == (4, "Deploys are frozen on Fridays.", ("deploys",))
    assert (after.hint, after.has_own_title) == (None, False)
    # Nobody restores in the past, what is over, or what is not theirs to change.
    past = server.client.get("/memory/1", params={"known_at": write_instant(after.updated_at)}).text
    assert "Restore" not in past
    door.retire("1")
    assert "Restore" not in server.client.get("/memory/1?restore=1").text
    assert mine.problems == []


def test_relations_are_a_picture_and_a_list(server: Served, window: Callable[..., Window]) -> None:
    door = server.parts.door
    old = door.remember("Revenue is net.", kind="decision").memory.id
    new = door.remember("Revenue is gross.", kind="decision", supersedes=[old]).memory.id
    note = door.remember("The tax office wrote in May.").memory.id
    door.relate(note, "supports", new)
    # What hangs on that is in the picture too, and so in the list.
    door.relate(door.remember("Letters are kept in the archive.").memory.id, "relates_to", note)
    mine = window(server)
    page = mine.open(f"/memory/{new}")
    page.locator("[data-graph][data-drawn='4']").wait_for()
    assert page.locator("ul.relations li").all_inner_texts()[0].startswith("supersedes Revenue is net.")
    assert "is supported by The tax office wrote in May." in page.locator("ul.relations").inner_text()
    assert (
        "One step further: 1\nLetters are kept in the archive." in page.locator("ul.relations").inner_text()
    )
    thread = page.locator("ol.thread li").all_inner_texts()
    assert [each.split(" #")[0] for each in thread] == ["Revenue is net.", "Revenue is gross."]
    assert page.locator("ol.thread del").inner_text() == "net"
    assert mine.problems == []
    assert mine.foreign() == []


def test_hostile_texts_execute_nothing_and_break_no_layout(
    served: Callable[..., Served], window: Callable[..., Window]
) -> None:
    server = served(embedder="none")
    door = server.parts.door
    own = (
        "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
        "</textarea></pre></svg><style>body{display:none}</style><iframe src='javascript:alert(1)'></iframe>",
        "'\"><a href=\"javascript:document.title='owned'\">x</a>{{ 7 * 7 }}{% raw %}",
        "w" * 65_536,
        "\u202eright to left\u2066 and \u200bzero width \x07bell",
        "שלום " * 60 + "a" * 400,
    )
    for number, payload in enumerate((*own, *(each.replace("\0", "") for each in some(PAYLOADS, 12)))):
        line = (
            "".join(letter if letter.isprintable() or letter in UNSEEN else " " for letter in payload).strip()
            or "x"
        )
        whole = payload.encode()[:65_000].decode(errors="ignore")
        saved = door.remember(
            whole, alike="keep", dedupe=False, unknown="keep", tags=[line[:60]], category=line[:60]
        ).memory
        door.revise(saved.id, title=line[:190], source=line[:190])
        door.revise(
            saved.id, content=f"{whole[:60_000]} again", query=whole[:30_000], metadata={"a": whole[:9_000]}
        )
        if number:
            door.relate(saved.id, "relates_to", "1")
    mine = window(server, viewport={"width": 390, "height": 800})
    ids = [memory.id for memory in door.browse(limit=100).memories]
    for path in ("/memory", "/?question=script+title+owned", "/compare", *(f"/memory/{id}" for id in ids)):
        page = mine.open(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
        assert not page.title().startswith("owned"), path
        assert page.locator("main script, main iframe, main style, main img").count() == 0, path
        assert (
            page.locator("main [onerror], main [style]:not(.graph, .graph *), a[href^='javascript']").count()
            == 0
        )
    assert mine.problems == []
    assert mine.foreign() == []


def test_who_reviews_is_told_what_nobody_checks_and_may_ask(
    served: Callable[..., Served], person: Person, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.executescript("create table orders (id integer); insert into orders values (1), (2)")
    server = served(
        embedder="none", user="operator", check_connections=f"*/shop=sqlite:///{tmp_path}/shop.db"
    )
    admin = person(server, user="root", permissions=list(TENANT_PERMISSIONS), actor="person")
    agent = person(server, user="ann", permissions=MEMBER, actor="agent")
    models = tmp_path / "source" / "models" / "shop"
    models.mkdir(parents=True)
    (models / "orders.yaml").write_text(
        "name: orders\ndata_source: shop\nsql_table: orders\ncolumns: [{name: id, type: INT}]\n"
    )
    at_the_machine(server).ingest(str(tmp_path / "source"))
    said = {"content": "There are three orders.", "entities": ["shop.orders"], "review": True}
    assert agent.post("/v1/memories", json=said).status_code == 201
    for path, form in (("/memory/1", {}), ("/review", {"id": "1"})):
        page = text_of(admin.get(path).text)
        assert "Nobody checks this claim" in page
        assert "It has 2 rows now." not in page
        assert "It has 2 rows now." in text_of(send(admin, path, "observe", **form).text)
    assert "observe" not in acts_on(agent.get("/memory/1").text)


def test_checks_are_added_approved_run_and_dropped_on_the_page(
    served: Callable[..., Served], person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.executescript("create table stores (id integer); insert into stores values (1), (2)")
    server = served(
        embedder="none", user="operator", check_connections=f"*/shop=sqlite:///{tmp_path}/shop.db"
    )
    admin = person(server, user="root", permissions=list(TENANT_PERMISSIONS), actor="person")
    member = person(server, user="ann", permissions=MEMBER, actor="person")
    assert member.post("/v1/memories", json={"content": "There are three stores."}).status_code == 201
    asked = {"kind": "sql", "connection": "shop", "sql": "select count(*) from stores", "value": "3"}
    assert send(member, "/memory/1", "add_check", **asked).headers["location"] == "/memory/1?done=check_waits"
    assert acts_on(member.get("/memory/1").text).isdisjoint({"approve_check", "check"})
    assert "Approve" in admin.get("/memory/1").text
    assert send(admin, "/memory/1", "approve_check", number="1").status_code == 303
    assert send(admin, "/memory/1", "check").headers["location"] == "/memory/1?done=checked"
    page = text_of(member.get("/memory/1").text)
    assert "check failed" in page
    assert "it returns 2, not 3" in page
    assert member.get("/v1/memories/1").json()["memory"]["check_state"] == "failed"
    assert send(admin, "/memory/1", "drop_check", number="1").status_code == 303
    assert member.get("/v1/memories/1").json()["memory"]["checks"] == []
