"""WHO can speak datamind's words from afar? Its agents by four tools, and its pages by one route."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client

from onrecord import Caller, OnRecord, connect
from onrecord.context.frame import CAUTION
from onrecord.errors import Invalid
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.mcp.faces import FACES, chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.testing.embedder import StubEmbedder
from tests.conftest import Clock
from tests.surfaces.conftest import Served, Shell, shell
from tests.surfaces.test_mcp import ERAS, Agent, introduce

from .datamind_command import speaking_datamind

__all__ = ["introduce", "shell"]
Connect = Callable[..., Agent]
TOOLS = ["memory_save", "memory_recall", "memory_forget", "memory_list_profiles"]


@pytest.fixture
def door(clock: Clock) -> Iterator[OnRecord]:
    with connect(":memory:", clock=clock) as door:
        yield door


@pytest.fixture
def agent(door: OnRecord, introduce: Callable[[Client], Agent]) -> Connect:
    """An agent with these tools, for the profile and in the session that its request names."""

    def connected(
        profile: str = "lawfirm-A", session: str | None = None, mode: str = "auto", **who: Any
    ) -> Agent:
        known: dict[str, Any] = {"user": "ann", "actor": "agent"}
        caller = Caller(tenant=profile, conversation=session, **known | who)
        tool_request = ToolRequest(door.as_caller(caller), chosen(["datamind"]))
        return introduce(Client(build_server(lambda context: tool_request), mode=mode))

    return connected


@pytest.fixture
def admin(agent: Connect) -> Agent:
    return agent("lawfirm-A", permissions=frozenset(PERMISSIONS), user="chief")


def contents(answer: Any) -> list[str]:
    return [each["content"] for each in answer["results"]]


class TestTools:
    @pytest.mark.parametrize("era", ERAS)
    def test_there_are_four_with_their_known_shapes(self, agent: Connect, era: str) -> None:
        ann = agent(mode=era)
        assert ann.tools == TOOLS
        saved = ann.did("memory_save", content="ARR means annual recurring revenue")
        assert saved == {"id": "1", "scope": "profile", "kind": "fact"}
        told = ann.did("memory_recall", query="what is ARR")
        assert list(told) == ["notice", "query", "count", "results"]
        assert (told["query"], told["count"]) == ("what is ARR", 1)
        [item] = told["results"]
        assert (item["id"], item["profile"], item["kind"]) == ("1", "lawfirm-A", "fact")
        assert ann.did("memory_list_profiles")["profiles"] == ["lawfirm-A"]
        assert ann.did("memory_forget", item_id="1") == {"id": "1", "deleted": True, "hard": False}
        assert ann.did("memory_list_profiles")["profiles"] == []
        assert ann.did("memory_forget", item_id="1", hard=True) == {"id": "1", "deleted": True, "hard": True}

    def test_answers_keep_to_the_schemas_that_are_published(self, agent: Connect) -> None:
        ann = agent()
        shapes = {tool.name: tool.output_schema for tool in ann.listed().tools}
        saved = ann.did("memory_save", content="tea")
        jsonschema.validate(saved, shapes["memory_save"])
        jsonschema.validate(ann.did("memory_recall", query="tea"), shapes["memory_recall"])
        jsonschema.validate(ann.did("memory_forget", item_id="1"), shapes["memory_forget"])
        jsonschema.validate(ann.did("memory_list_profiles"), shapes["memory_list_profiles"])

    def test_only_forgetting_is_destructive(self) -> None:
        effects = {tool.name: tool.operation.effect for tool in FACES["datamind"]}
        assert [name for name, effect in effects.items() if effect == "destroy"] == ["memory_forget"]
        assert [name for name, effect in effects.items() if effect == "read"] == [
            "memory_recall",
            "memory_list_profiles",
        ]

    def test_they_are_not_mixed_with_tools_of_the_same_name(self) -> None:
        with pytest.raises(Invalid, match="native and datamind both have a tool memory_save"):
            chosen(["native", "datamind"])
        assert set(chosen(["slayer", "datamind"])) >= set(TOOLS)

    def test_a_failure_says_that_it_is_of_the_memory(self, agent: Connect) -> None:
        assert agent().refused("memory_save", content="").startswith("[memory] content: must not be empty")

    @pytest.mark.parametrize(
        ("tool", "arguments", "told"),
        [
            ("memory_save", {"content": "x", "kind": "opinion"}, "kind: must be one of preference"),
            ("memory_save", {"content": "x", "scope": "everyone"}, "scope: must be one of session"),
            ("memory_save", {"content": "x", "scope": "user"}, "scope: must be one of session"),
            ("memory_save", {"content": "x", "scope": "session"}, "session_id: is required"),
            (
                "memory_save",
                {"content": "x", "scope": "global"},
                "scope: saving for everyone needs the permission memory.global",
            ),
            ("memory_save", {"content": "x", "metadata": "y"}, "metadata: must be a JSON object"),
            ("memory_save", {"content": 5}, "content: must be a text"),
            ("memory_save", {"text": "x"}, "text: is not an argument of this tool"),
            ("memory_recall", {"query": "x", "top_k": 21}, "top_k: must be from 1 to 20"),
            ("memory_recall", {"query": "x", "top_k": "8"}, "top_k: must be a whole number"),
            ("memory_recall", {"query": 5}, "query: must be a text"),
            (
                "memory_recall",
                {"query": "x", "scope_filter": ["user"]},
                "scope_filter: item 1 must be one of",
            ),
            ("memory_recall", {"query": "x", "scope_filter": "global"}, "scope_filter: must be a list"),
            ("memory_recall", {"query": "x", "kinds": ["opinion"]}, "kinds: item 1 must be one of"),
            (
                "memory_recall",
                {"query": "x", "include_archived": 1},
                "include_archived: must be true or false",
            ),
            ("memory_recall", {}, "query: is required"),
            ("memory_forget", {"item_id": "1", "hard": "yes"}, "hard: must be true or false"),
            ("memory_forget", {}, "item_id: is required"),
        ],
    )
    def test_what_cannot_be_is_refused_with_its_field(
        self, agent: Connect, tool: str, arguments: dict[str, Any], told: str
    ) -> None:
        ann = agent()
        ann.did("memory_save", content="x marks the spot")
        assert told in ann.refused(tool, **arguments)
        assert contents(ann.did("memory_recall", query="x marks")) == ["x marks the spot"]


class TestWhoAsks:
    def test_the_session_of_the_request_is_filled_in(self, agent: Connect) -> None:
        inside = agent(session="paper-2026")
        saved = inside.did("memory_save", content="take the reviewer's side", scope="session")
        assert saved["scope"] == "session"
        [item] = inside.did("memory_recall", query="reviewer")["results"]
        assert (item["session_id"], item["profile"]) == ("paper-2026", None)
        assert agent(session="another").did("memory_recall", query="reviewer")["count"] == 0
        assert agent().did("memory_recall", query="reviewer")["count"] == 0

    def test_a_session_can_be_named_where_the_request_is_in_none(self, agent: Connect) -> None:
        ann = agent()
        ann.did("memory_save", content="the reviewer is Bob", scope="session", session_id="s")
        assert ann.did("memory_recall", query="reviewer", session_id="s")["count"] == 1
        assert ann.did("memory_recall", query="reviewer")["count"] == 0

    def test_nobody_names_their_way_from_one_session_into_another(self, agent: Connect) -> None:
        agent(session="hers").did("memory_save", content="the reviewer is Bob", scope="session")
        his = agent(session="his", user="bob")
        assert "session_id: is not the conversation" in his.refused(
            "memory_recall", query="reviewer", session_id="hers"
        )
        assert "session_id: is not the conversation" in his.refused(
            "memory_save", content="x", scope="session", session_id="hers"
        )

    def test_an_item_for_the_profile_is_found_in_every_session_of_it(self, agent: Connect) -> None:
        agent(session="one").did("memory_save", content="tea at four")
        assert contents(agent(session="two").did("memory_recall", query="tea")) == ["tea at four"]

    def test_an_admin_recalls_no_session_but_the_one_they_are_in(self, agent: Connect, admin: Agent) -> None:
        agent(session="hers").did("memory_save", content="the reviewer is Bob", scope="session")
        assert admin.did("memory_recall", query="reviewer")["count"] == 0

    def test_another_profile_looks_like_one_that_has_nothing(self, agent: Connect, admin: Agent) -> None:
        admin.did("memory_save", content="tea is for all", scope="global")
        agent("saas-B").did("memory_save", content="tea is theirs")
        ann = agent("lawfirm-A")
        theirs = ann.did("memory_recall", query="tea", profile="saas-B")
        nobodys = ann.did("memory_recall", query="tea", profile="no-such-profile")
        assert theirs == nobodys
        assert contents(theirs) == ["tea is for all"]

    def test_nobody_saves_into_another_profile(self, agent: Connect) -> None:
        ann = agent("lawfirm-A")
        assert "saas-B" in ann.refused("memory_save", content="x", profile="saas-B")
        assert ann.did("memory_save", content="x", profile="lawfirm-A")["scope"] == "profile"
        assert agent("saas-B").did("memory_list_profiles")["profiles"] == []

    def test_whoever_runs_the_store_has_one_profile_too_when_an_agent_asks_for_them(
        self, agent: Connect
    ) -> None:
        agent("saas-B").did("memory_save", content="tea is theirs")
        owner = agent("lawfirm-A", permissions=frozenset(PERMISSIONS), operator=True)
        assert owner.did("memory_recall", query="tea", profile="saas-B")["count"] == 0
        assert owner.did("memory_list_profiles")["profiles"] == []
        assert "saas-B" in owner.refused("memory_save", content="x", profile="saas-B")

    def test_nobody_forgets_what_is_anothers(self, agent: Connect, admin: Agent) -> None:
        agent("lawfirm-A").did("memory_save", content="tea at four")
        bob = agent("lawfirm-A", user="bob")
        for hard in (False, True):
            assert "belongs to ann" in bob.refused("memory_forget", item_id="1", hard=hard)
        eve = agent("saas-B", user="eve")
        assert eve.did("memory_forget", item_id="1", hard=True)["deleted"] is False
        assert contents(bob.did("memory_recall", query="tea")) == ["tea at four"]
        assert admin.did("memory_forget", item_id="1", hard=True)["deleted"] is True

    @pytest.mark.parametrize("id", ["a/b", "", "x" * 300, "no such", "global:a/b", "#", "\u202e", -1])
    @pytest.mark.parametrize("hard", [True, False])
    def test_an_id_that_cannot_exist_is_not_deleted_and_no_error(
        self, agent: Connect, id: Any, hard: bool
    ) -> None:
        assert agent().did("memory_forget", item_id=id, hard=hard)["deleted"] is False

    def test_what_an_unattended_run_shares_is_said_to_wait(self, agent: Connect) -> None:
        robot, person = agent(actor="unattended", run="night"), agent(actor="person")
        told = robot.did("memory_save", content="tea at five")
        assert "`onrecord approve 1` accepts it" in told["notes"][0]
        assert contents(person.did("memory_recall", query="tea")) == []

    def test_an_unattended_run_has_no_tool_to_forget_with(self, agent: Connect) -> None:
        assert "memory_forget" not in agent(actor="unattended", run="night").tools


class TestFilters:
    @pytest.fixture
    def filled(self, agent: Connect, admin: Agent) -> Agent:
        admin.did("memory_save", content="tea for all", scope="global", kind="preference")
        ann = agent(session="s")
        ann.did("memory_save", content="tea for the profile", kind="decision")
        ann.did("memory_save", content="tea for the session", scope="session", kind="summary")
        return ann

    @pytest.mark.parametrize(
        ("scopes", "expected"),
        [
            (["global"], {"tea for all"}),
            (["profile"], {"tea for the profile"}),
            (["session"], {"tea for the session"}),
            (["session", "global"], {"tea for the session", "tea for all"}),
            ([], {"tea for the session", "tea for the profile", "tea for all"}),
            (None, {"tea for the session", "tea for the profile", "tea for all"}),
        ],
    )
    def test_a_scope_filter_filters(self, filled: Agent, scopes: Any, expected: set[str]) -> None:
        assert set(contents(filled.did("memory_recall", query="tea", scope_filter=scopes))) == expected

    def test_kinds_filter(self, filled: Agent) -> None:
        assert contents(filled.did("memory_recall", query="tea", kinds=["decision"])) == [
            "tea for the profile"
        ]
        assert contents(filled.did("memory_recall", query="tea", kinds=["skill"])) == []

    def test_each_content_is_labelled_with_whose_word_it_is(self, filled: Agent) -> None:
        told = filled.did("memory_recall", query="tea")["results"]
        assert {each["scope"]: (each["author"], each["tier"]) for each in told} == {
            "global": ("chief", "agent"),
            "profile": ("ann", "agent"),
            "session": ("ann", "agent"),
        }

    def test_archived_items_are_shown_to_whoever_asks_for_them(self, filled: Agent) -> None:
        filled.did("memory_forget", item_id="1")
        assert "tea for the profile" not in contents(filled.did("memory_recall", query="tea"))
        told = filled.did("memory_recall", query="tea", include_archived=True)["results"]
        assert {each["status"] for each in told if each["content"] == "tea for the profile"} == {"archived"}

    def test_twenty_come_where_there_are_more(self, agent: Connect) -> None:
        ann = agent()
        for number in range(25):
            ann.did("memory_save", content=f"tea number {number}")
        assert ann.did("memory_recall", query="tea", top_k=20)["count"] == 20
        assert ann.did("memory_recall", query="tea")["count"] == 8

    @pytest.mark.usefixtures("with_and_without_vectors")
    def test_nothing_relevant_gives_nothing(self, filled: Agent) -> None:
        assert filled.did("memory_recall", query="zeppelin") == {
            "notice": CAUTION,
            "query": "zeppelin",
            "count": 0,
            "results": [],
        }


class TestRoute:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[Served]:
        served = Served(db=str(tmp_path / "served.db"), worker="no", tenant="lawfirm-A")
        door = served.parts.door
        door.remember("tea means matcha here")
        door.remember("tea is for everyone", scope="global")
        door.as_caller(Caller(tenant="saas-B", user="bob")).remember("tea is theirs")
        yield served
        served.stop()

    def test_a_profile_is_asked_about_by_its_name(self, server: Served) -> None:
        said = server.client.get("/api/memory/lawfirm-A", params={"query": "tea"})
        assert said.status_code == 200
        told = said.json()
        assert list(told) == ["profile", "query", "results"]
        assert (told["profile"], told["query"]) == ("lawfirm-A", "tea")
        assert set(contents(told)) == {"tea means matcha here", "tea is for everyone"}

    def test_another_profile_and_an_unknown_one_look_alike(self, server: Served) -> None:
        theirs = server.client.get("/api/memory/saas-B", params={"query": "tea"}).json()
        nobodys = server.client.get("/api/memory/nobody", params={"query": "tea"}).json()
        assert theirs["results"] == nobodys["results"]
        assert contents(theirs) == ["tea is for everyone"]

    def test_the_key_decides_whose_profile_it_is(self, server: Served) -> None:
        secret = server.make_key(user="bob", tenant="saas-B")
        with server.connect(secret) as bob:
            told = bob.get("/api/memory/saas-B", params={"query": "tea"}).json()
            assert set(contents(told)) == {"tea is theirs", "tea is for everyone"}
            told = bob.get("/api/memory/lawfirm-A", params={"query": "tea"}).json()
            assert contents(told) == ["tea is for everyone"]
        with server.connect() as nobody:
            assert nobody.get("/api/memory/saas-B", params={"query": "tea"}).status_code == 401

    def test_ten_come_unless_it_is_said_how_many(self, server: Served) -> None:
        for number in range(15):
            server.parts.door.remember(f"coffee number {number}", dedupe=False)
        asked = {"query": "coffee"}
        assert len(server.client.get("/api/memory/lawfirm-A", params=asked).json()["results"]) == 10
        more = server.client.get("/api/memory/lawfirm-A", params=asked | {"top_k": "12"}).json()
        assert len(more["results"]) == 12

    @pytest.mark.usefixtures("with_and_without_vectors")
    def test_nothing_relevant_gives_nothing(self, server: Served) -> None:
        said = server.client.get("/api/memory/lawfirm-A?query=zeppelin")
        assert (said.status_code, said.json()["results"]) == (200, [])

    @pytest.mark.parametrize("asked", ["", "?query=", "?query=%20"])
    def test_without_a_question_the_newest_are_listed(self, server: Served, asked: str) -> None:
        for number in range(12):
            server.parts.door.remember(f"coffee number {number}", dedupe=False)
        told = server.client.get(f"/api/memory/lawfirm-A{asked}").json()
        assert contents(told) == [f"coffee number {number}" for number in range(11, 1, -1)]
        assert {each["score"] for each in told["results"]} == {1.0}
        assert {(each["author"], each["tier"]) for each in told["results"]} == {
            (server.parts.door.caller.user, "person")
        }
        more = server.client.get("/api/memory/lawfirm-A?top_k=20").json()
        assert set(contents(more)) >= {"tea means matcha here", "tea is for everyone", "coffee number 0"}

    def test_of_another_profile_only_what_is_for_everyone_is_listed(self, server: Served) -> None:
        for profile in ("saas-B", "nobody"):
            assert contents(server.client.get(f"/api/memory/{profile}").json()) == ["tea is for everyone"]

    @pytest.mark.parametrize("asked", ["top_k=0", "top_k=21", "top_k=x", "top_k=-1", "limit=3"])
    def test_what_cannot_be_is_a_problem(self, server: Served, asked: str) -> None:
        said = server.client.get(f"/api/memory/lawfirm-A?query=tea&{asked}")
        assert said.status_code == 422
        assert said.json()["faults"][0]["field"] == asked.split("=")[0]

    def test_the_header_says_which_session_it_is(self, server: Served) -> None:
        with server.connect(**{"OnRecord-Conversation": "s"}) as inside:
            door = server.parts.door
            door.as_caller(door.caller.inside("s")).remember("tea of this thread", scope="session")
            told = inside.get("/api/memory/lawfirm-A", params={"query": "tea"}).json()
            assert "tea of this thread" in contents(told)
        told = server.client.get("/api/memory/lawfirm-A", params={"query": "tea"}).json()
        assert "tea of this thread" not in contents(told)


OWN_STORE = """
from onrecord.faces.datamind import MemoryItem, memory_registry

@memory_registry.register("shelf")
class ShelfMemoryStore:
    kept = []

    async def save(self, content, *, scope, profile=None, session_id=None,
                   kind="fact", metadata=None) -> str:
        id = f"shelf-{len(self.kept)}"
        self.kept.append(MemoryItem(
            id=id, scope=scope, profile=profile if scope == "profile" else None, session_id=session_id,
            kind=kind, status="active", content=content, score=1.0, metadata=metadata or {},
            created_at="0.0", namespace=profile or ""))
        return id

    async def recall(self, query, *, profile=None, session_id=None,
                     top_k=8, kinds=None, include_archived=False):
        return [each for each in self.kept
                if each.profile in (None, profile) and each.session_id in (None, session_id)][:top_k]

    async def forget(self, item_id, *, hard=False) -> bool:
        before = len(self.kept)
        self.kept[:] = [each for each in self.kept if each.id != item_id]
        return len(self.kept) < before

    async def list_profiles(self) -> list[str]:
        return sorted({each.profile for each in self.kept if each.profile} | {"saas-B"})
"""


class TestSettingsOverMcp:
    """`onrecord mcp --face datamind`, as a host starts it, with datamind's own settings."""

    @pytest.mark.parametrize("era", ERAS)
    def test_with_the_long_term_switched_off_nothing_is_kept(
        self, tmp_path: Path, introduce: Callable[[Client], Agent], era: str
    ) -> None:
        db = tmp_path / "never.db"
        off = speaking_datamind(db, DATAMIND__MEMORY__LONG_TERM_ENABLED="false")
        agent = introduce(Client(off, mode=era))
        assert agent.tools == TOOLS
        assert "long_term: is switched off" in agent.refused("memory_save", content="tea")
        assert agent.did("memory_recall", query="tea")["results"] == []
        assert agent.did("memory_forget", item_id="1")["deleted"] is False
        assert agent.did("memory_list_profiles")["profiles"] == []
        assert not db.exists()

    @pytest.mark.parametrize("era", ERAS)
    def test_a_store_of_ones_own_is_used(
        self, tmp_path: Path, introduce: Callable[[Client], Agent], era: str
    ) -> None:
        """The class has just what the protocol asks for: no more methods, and nothing that it is made with."""
        (tmp_path / "my_shelf.py").write_text(OWN_STORE)
        own = speaking_datamind(
            None, tmp_path, DATAMIND__MEMORY__BACKEND="my_shelf:shelf", ONRECORD_TENANT="lawfirm-A"
        )
        agent = introduce(Client(own, mode=era))
        assert agent.did("memory_save", content="tea at four", kind="decision") == {
            "id": "shelf-0",
            "scope": "profile",
            "kind": "decision",
        }
        agent.did("memory_save", content="the reviewer is Bob", scope="session", session_id="s")
        assert contents(agent.did("memory_recall", query="tea")) == ["tea at four"]
        assert contents(agent.did("memory_recall", query="x", session_id="s", scope_filter=["session"])) == [
            "the reviewer is Bob"
        ]
        assert agent.did("memory_recall", query="tea", profile="saas-B")["results"] == []
        assert "saas-B" in agent.refused("memory_save", content="x", profile="saas-B")
        assert "kind: must be one of" in agent.refused("memory_save", content="x", kind="opinion")
        assert "session_id: is required" in agent.refused("memory_save", content="x", scope="session")
        assert agent.did("memory_list_profiles") == {"notice": CAUTION, "profiles": ["lawfirm-A"]}
        assert agent.did("memory_forget", item_id="shelf-0")["deleted"] is True
        assert agent.did("memory_forget", item_id="shelf-0")["deleted"] is False

    @pytest.mark.parametrize(
        ("setting", "value", "told"),
        [
            ("BACKEND", "nowhere", "'nowhere' is not registered; there are"),
            ("BACKEND", "no_such_module:redis", "the module 'no_such_module'"),
            ("BACKEND", "postgres", "db: must be a PostgreSQL DSN"),
            ("LONG_TERM_ENABLED", "perhaps", "long_term: must be one of yes, no"),
        ],
    )
    def test_what_cannot_be_ends_the_command_before_it_begins(
        self, shell: Shell, setting: str, value: str, told: str
    ) -> None:
        said = shell.process("mcp", "--face", "datamind", **{f"DATAMIND__MEMORY__{setting}": value})
        assert (said.code, told in said.err) == (2, True), said.err

    def test_a_server_obeys_them_too(self, tmp_path: Path, introduce: Callable[[Client], Agent]) -> None:
        served = Served(db=str(tmp_path / "served.db"), worker="no", long_term="no")
        try:
            agent = introduce(Client(f"{served.url}/mcp/datamind"))
            assert "long_term: is switched off" in agent.refused("memory_save", content="tea")
        finally:
            served.stop()


def test_meaning_counts_where_there_is_an_embedder(introduce: Callable[[Client], Agent]) -> None:
    with connect(":memory:", embedder=StubEmbedder()) as door:
        tool_request = ToolRequest(door, chosen(["datamind"]))
        ann = introduce(Client(build_server(lambda context: tool_request)))
        ann.did("memory_save", content="Ann takes oat milk in her coffee.")
        ann.did("memory_save", content="The ferry leaves at nine.")
        told = ann.did("memory_recall", query="What do we know about Ann's coffee?")
        assert contents(told)[0] == "Ann takes oat milk in her coffee."
