"""WHO can have an agent's text run? A person at a shell, and any program by one route; and a whole session as it reads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, connect
from onrecord.faces.arbiter import slash

from .. import kept
from ..surfaces.conftest import Served, Shell

TRANSCRIPT = Path(__file__).with_name("transcripts") / "arbiter_slash.txt"
BLOCK = "/mem add entry learning Tea\nGreen tea.\n/endmem\n"

#: Days later, which agent in which conversation, and what it writes.
SESSION: tuple[tuple[int, str, str, str], ...] = (
    (
        0,
        "index",
        "7",
        """Before I fetch anything I look at what is known.
/mem entries
/mem search honeycomb pricing
/mem read
""",
    ),
    (
        0,
        "scout",
        "7",
        """I keep the long form as a file and the facts as entries.
/write --persist notes/honeycomb-pricing.md
# Honeycomb, fetched live
Free up to 20 million events; Pro from 130 dollars a month.
A line such as
/mem invalidate 1
is only a line in here.
/endwrite
/mem add entry project Q3 observability rollout plan
Compare three vendors by the end of September, then roll out to checkout first.
/endmem
/mem add entry reference Honeycomb pricing page (live fetch 2026-03) --artifact #1
Free up to 20 million events a month; Pro starts at 130 dollars.
/endmem
/mem add entry reference Grafana pricing page
Free up to 50 GB of traces; then 0.50 dollars a GB.
/endmem
/mem add entry learning Honeycomb wins for trace-first small teams
Its query model fits traces best, and the free tier is enough for one team.
/endmem
/mem add link 2 supports 4
/mem add link #4 refines #1
/mem add link 4 refines 1
/mem shared write pricing pages are filed, see #2 and #3
/mem write ask sales about the annual discount
""",
    ),
    (
        1,
        "writer",
        "7",
        """/mem shared read
/mem search pricing
/mem search which vendor for small teams type=learning --rerank
/mem density 4
/mem expand 4 depth=2
/mem entry #2
/read #1
""",
    ),
    (
        30,
        "index",
        "9",
        """A month later, in another conversation.
/mem entries type=reference
/mem entries tag=pricing
/mem entry 2
/read #1
/read #1 via=mem:2
/mem add entry learning Vendor choice is settled --supersedes #4,#9
Honeycomb it is.
/endmem
/mem add entry learning Vendor choice is settled --supersedes #4,#3
Honeycomb, on the Pro plan; Grafana was dropped over its missing query model.
/endmem
/mem search honeycomb
/mem entry 4
/mem expand #5
/mem invalidate 1
/mem invalidate 1
/mem add link 5 loves 2
/mem remember this
/mem add entry feedback Never finished
This block has no end.
/mem entries
""",
    ),
)


class TestShell:
    @pytest.fixture
    def shell(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ONRECORD_DB", "shell.db")
        return Shell(monkeypatch)

    @pytest.mark.parametrize("words", [("slash",), ("slash", "-")])
    def test_a_text_is_read_from_standard_input(self, shell: Shell, words: tuple[str, ...]) -> None:
        said = shell(*words, "--in-conversation", "7", typed=f"Hello.\n{BLOCK}")
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith("[/mem add entry learning Tea]\nOK: added entry #1 [learning] Tea.")
        assert "conversation: 7" in shell("slash", typed="/mem entry 1").out

    def test_a_text_is_read_from_a_file(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "turn.txt").write_text("/mem write café", encoding="utf-8")
        assert "[/mem write] OK: " in shell("slash", "turn.txt", "--agent", "scout").out
        assert "café" in shell("scratchpads", "read", "scout").out

    def test_a_text_without_commands_prints_nothing(self, shell: Shell) -> None:
        assert shell("slash", typed="Nothing to do.\n") == (0, "", "")

    def test_the_answer_as_json_has_each_result(self, shell: Shell) -> None:
        told = shell("--json", "slash", typed="/mem entries\n/mem nonsense").json
        assert [(each["command"], each["ok"]) for each in told["results"]] == [
            ("/mem entries", True),
            ("/mem", False),
        ]

    def test_a_file_that_is_not_there_is_said_to_be(self, shell: Shell) -> None:
        said = shell("slash", "nowhere.txt")
        assert said.code == 2
        assert "nowhere.txt cannot be read" in said.err

    def test_a_file_that_is_no_text_is_said_to_be(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "turn.txt").write_bytes(b"/mem write \xff")
        said = shell("slash", "turn.txt")
        assert said.code == 2
        assert "not UTF-8" in said.err

    def test_an_agent_that_cannot_be_is_refused(self, shell: Shell) -> None:
        said = shell("slash", "--agent", "../x", typed="/mem write x")
        assert said.code == 2
        assert "agent" in said.err


class TestRoute:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Any:
        served = Served(db=str(tmp_path / "served.db"), worker="no")
        yield served
        served.stop()

    def test_a_text_goes_in_and_the_blocks_come_back(self, server: Served) -> None:
        said = server.client.post("/v1/slash", json={"text": BLOCK, "agent": "scout", "conversation": "7"})
        assert said.status_code == 200
        told = said.json()
        assert told["output"].startswith("[/mem add entry learning Tea]\nOK: added entry #1")
        assert told["results"] == [
            {"command": "/mem add entry learning Tea", "ok": True, "output": told["output"]}
        ]
        memory = server.parts.door.show("1").memory
        assert (memory.conversation, memory.source, memory.origin) == ("7", "agent", "agent")

    def test_the_conversation_of_the_header_counts(self, server: Served) -> None:
        key = server.make_key(user="bob")
        inside = server.connect(key, **{"OnRecord-Conversation": "12"})
        inside.post("/v1/slash", json={"text": BLOCK})
        assert server.parts.door.show("1").memory.conversation == "12"
        said = inside.post("/v1/slash", json={"text": BLOCK, "conversation": "13"})
        inside.close()
        assert said.status_code == 400
        assert said.json()["error"].startswith("conversation: ")

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({}, "text"),
            ({"text": 7}, "text"),
            ({"text": "", "agent": "../x"}, "agent"),
            ({"text": "", "agent": 7}, "agent"),
            ({"text": "", "conversation": 7}, "conversation"),
            ({"text": "", "txet": ""}, "txet"),
        ],
    )
    def test_what_is_wrong_has_the_one_shape_of_the_face(
        self, server: Served, body: dict[str, Any], field: str
    ) -> None:
        said = server.client.post("/v1/slash", json=body)
        assert said.status_code == 400
        assert list(said.json()) == ["error"]
        assert said.json()["error"].startswith(f"{field}: ")

    def test_what_is_no_json_and_what_is_too_large_are_refused(self, server: Served) -> None:
        said = server.client.post("/v1/slash", content=b"{", headers={"Content-Type": "application/json"})
        assert said.status_code == 400
        assert server.client.post("/v1/slash", json={"text": "x" * 5_000_000}).status_code == 413

    def test_a_whole_file_fits(self, server: Served) -> None:
        text = f"/write --persist a\n{'x' * 1024 * 1024}\n/endwrite"
        said = server.client.post("/v1/slash", json={"text": text, "conversation": "7"}).json()
        assert "OK: saved artifact #1" in said["output"]

    def test_halves_of_characters_come_back_as_text(self, server: Served) -> None:
        raw = b'{"text": "/mem search \\ud800\\n/mem write \\ud800\\n/mem \\ud800"}'
        said = server.client.post("/v1/slash", content=raw, headers={"Content-Type": "application/json"})
        assert said.status_code == 200
        assert len(said.json()["results"]) == 3

    def test_a_key_sees_its_own_tenant_alone(self, server: Served) -> None:
        server.client.post("/v1/slash", json={"text": BLOCK})
        door = server.parts.door
        other = door.as_caller(
            Caller(
                tenant="other",
                user="eve",
                permissions=frozenset({"memory.read", "memory.manage", "memory.admin"}),
            )
        )
        server.parts.authenticator.forget_keys()
        key = other.create_key(label="theirs", user="eve").secret
        client = server.connect(key)
        told = client.post("/v1/slash", json={"text": "/mem entries\n/mem search tea\n/mem entry 1"}).json()
        client.close()
        assert "(no entries)" in told["output"]
        assert "Tea" not in told["output"]


@pytest.mark.golden
def test_a_session_reads_as_it_is_kept(clock: Callable[[], Any]) -> None:
    """Every block of a realistic session, word by word; the file is for people to read."""
    told: list[str] = []
    with connect(":memory:", clock=clock, embedder="none", caller=Caller(tenant="acme", user="ann")) as door:
        for days, agent, conversation, text in SESSION:
            clock.tick(days=days)  # type: ignore[attr-defined]
            answer = slash.run(door, text, agent=agent, conversation=conversation)
            told.append(f"=== {agent}, conversation {conversation}, {days} days later ===\n")
            told += [f"> {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n")]
            told.append(f"\n{answer.output}\n\n")
    kept.check(TRANSCRIPT, "".join(told))
