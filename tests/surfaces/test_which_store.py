"""WHICH store and whose? What a command is told counts wherever it stands; what is missing or empty is never guessed."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest

from onrecord import connect
from onrecord.config import NEVER_EMPTY, load
from onrecord.errors import Invalid, StoreUnavailable
from onrecord.features import OPERATIONS
from onrecord.surfaces.cli.group import command_group
from tests.forked import relayed

from .test_cli import CALLS
from .test_mcp_faces import write_model
from .test_rest_serving import Process

READING = [operation.command for operation in OPERATIONS if operation.command and operation.effect == "read"]
NEEDING = [operation.command for operation in OPERATIONS if operation.command and not operation.begins]
BEGINNING = [operation.command for operation in OPERATIONS if operation.command and operation.begins]
#: What has a store of its own.
WITHOUT_ONE = {"eval", "lint"}


def leaves(command: click.Command, *path: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from leaves(each, *path, name)
    else:
        yield " ".join(path), command


class TestForWhom:
    """`--tenant`, `--user` and `--in-conversation`, before a command and after it."""

    @pytest.fixture(autouse=True)
    def _with_a_catalog(self, shell: Any, once: Callable[[str, Callable[[], None]], None]) -> None:
        def read_in() -> None:
            write_model(Path("layer"), "mydb", "orders", "id", "amount")
            for tenant in ("default", "acme"):
                assert shell("--tenant", tenant, "ingest", "layer").code == 0

        once("catalog of two tenants", read_in)

    def test_every_command_takes_them(self) -> None:
        lacking = {
            name
            for name, command in leaves(command_group())
            if not {"db", "tenant", "user"} <= {parameter.name for parameter in command.params}
        }
        assert lacking == WITHOUT_ONE

    @pytest.mark.parametrize("is_before", [True, False])
    def test_a_note_of_the_slayer_face_is_of_the_tenant_and_the_user(
        self, shell: Any, is_before: bool
    ) -> None:
        whose = ["--tenant", "acme", "--user", "bob"]
        save = ["slayer", "memory", "save", "--learning", "net of refunds", "--entities", "orders.amount"]
        search = ["slayer", "search", "--entities", "orders.amount", "--format", "json"]
        forget = ["slayer", "memory", "forget", "1"]

        def said(words: list[str]) -> Any:
            return shell(*whose, *words) if is_before else shell(*words, *whose)

        assert said(save).code == 0
        assert shell("browse").out == "Nothing here.\n"
        kept = shell("--tenant", "acme", "show", "1", "--json").json["memory"]
        assert (kept["tenant"], kept["owner"]) == ("acme", "bob")
        assert [hit["id"] for hit in json.loads(said(search).out)["memories"]] == ["1"]
        assert json.loads(shell(*search).out)["memories"] == []
        assert shell(*forget).code == 1
        assert said(forget).out == "Forgot memory 1.\n"

    def test_it_may_be_kept_in_a_conversation(self, shell: Any) -> None:
        save = ["slayer", "memory", "save", "--learning", "net of refunds", "--entities", "orders.amount"]
        assert shell(*save, "--in-conversation", "c7").code == 0
        assert shell("show", "1", "--json").json["memory"]["conversation"] == "c7"

    @pytest.mark.parametrize("option", ["--storage", "--db"])
    @pytest.mark.parametrize("place", ["before the command", "of the group", "after it"])
    def test_the_store_too_stands_anywhere(self, shell: Any, option: str, place: str) -> None:
        note = ["--learning", "net of refunds", "--entities", "orders.amount"]
        where = [option, "other.db"]
        shell("--db", "other.db", "ingest", "layer")
        words = {
            "before the command": ["--db", "other.db", "slayer", "memory", "save", *note],
            "of the group": ["slayer", "memory", *where, "save", *note],
            "after it": ["slayer", "memory", "save", *note, *where],
        }[place]
        assert shell(*words).code == 0
        assert "net of refunds" in shell("--db", "other.db", "browse").out

    def test_as_json_counts_there_too(self, shell: Any) -> None:
        save = ["slayer", "memory", "save", "--learning", "net of refunds", "--entities", "orders.amount"]
        assert shell("--json", *save).json["memory_id"] == "1"
        assert shell("slayer", "memory", "forget", "1", "--json").json == {"deleted_id": "1"}

    @pytest.mark.parametrize("is_before", [True, False])
    def test_what_an_agents_text_keeps_is_of_the_tenant(self, shell: Any, is_before: bool) -> None:
        whose = ["--tenant", "acme", "--user", "bob"]
        text = "/mem add entry learning Pay day\nIt is the 27th.\n/endmem\n"
        words = [*whose, "slash"] if is_before else ["slash", *whose]
        assert "OK: added entry" in shell(*words, typed=text).out
        assert shell("browse").out == "Nothing here.\n"
        assert shell("--tenant", "acme", "show", "1", "--json").json["memory"]["owner"] == "bob"

    @pytest.mark.parametrize("is_before", [True, False])
    def test_the_settings_say_so(self, shell: Any, is_before: bool) -> None:
        whose = ["--tenant", "acme", "--user", "bob", "--db", "other.db"]
        said = shell(*whose, "config", "--json") if is_before else shell("config", "--json", *whose)
        told = {each["name"]: each["value"] for each in said.json}
        assert (told["tenant"], told["user"], told["db"]) == ("acme", "bob", "other.db")

    @pytest.mark.parametrize("is_before", [True, False])
    def test_an_agents_host_is_told_so(self, shell: Any, is_before: bool) -> None:
        whose, install = ["--tenant", "acme", "--user", "bob"], ["install", "cursor", "--print"]
        said = shell(*whose, *install) if is_before else shell(*install, *whose)
        told = json.loads(said.out)["mcpServers"]["onrecord"]["env"]
        assert (told["ONRECORD_TENANT"], told["ONRECORD_USER"]) == ("acme", "bob")

    @pytest.mark.parametrize("is_before", [True, False])
    def test_an_agent_over_standard_input_speaks_for_them(self, shell: Any, is_before: bool) -> None:
        whose = ["--tenant", "acme", "--user", "bob"]
        words = [*whose, "mcp"] if is_before else ["mcp", *whose]
        asked = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "memory_save", "arguments": {"content": "Pay day is the 27th."}},
            },
        ]
        with subprocess.Popen(
            relayed(shell.command[-1], *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as agent:
            assert agent.stdin is not None
            assert agent.stdout is not None
            for each in asked:
                agent.stdin.write(json.dumps(each) + "\n")
                agent.stdin.flush()
            while json.loads(agent.stdout.readline()).get("id") != 2:
                pass
            agent.stdin.close()
        kept = shell("--tenant", "acme", "show", "1", "--json").json["memory"]
        assert (kept["owner"], kept["origin"]) == ("bob", "agent")

    def test_a_server_serves_them(self, shell: Any) -> None:
        served = Process([*shell.command, "--tenant", "acme", "--user", "bob"])
        try:
            kept = served.client.post("/v1/memories", json={"content": "Pay day."}).json()["memory"]
        finally:
            served.stop()
        assert (kept["tenant"], kept["owner"]) == ("acme", "bob")

    @pytest.mark.parametrize("option", ["--db", "--tenant", "--user"])
    @pytest.mark.parametrize("value", ["x", ""])
    def test_a_measurement_has_a_store_of_its_own_and_says_so(
        self, shell: Any, option: str, value: str
    ) -> None:
        said = shell(option, value, "eval", "--data", ".")
        assert said.code == 2
        assert "Write the options of eval after" in said.err


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class TestWhereThereIsNone:
    """What only reads makes no store, and does not answer in the name of one."""

    @pytest.mark.parametrize("command", NEEDING)
    def test_a_command_that_needs_a_store_makes_none(self, shell: Any, command: str) -> None:
        before = sorted(Path().rglob("*"))
        given = ["nobody" if word == "KEY" else word for word in CALLS[command][0]]
        said = shell(*command.split(), *given, "--db", "typo/dir/x.db")
        assert (said.code, said.out) == (6, "")
        assert "There is no store at typo/dir/x.db." in said.err
        assert "onrecord remember" in said.err
        assert "--db" in said.err
        assert sorted(Path().rglob("*")) == before

    def test_all_that_read_are_among_them(self) -> None:
        assert set(READING) <= set(NEEDING)
        assert BEGINNING == [
            "remember", "remember-many", "ingest", "extract", "conversations register", "artifacts write", "scratchpads append", "agents set",
            "agents share",
            "keys create", "tenants create", "tenants set", "import",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "words", [["work", "--once"], ["slayer", "search"], ["slayer", "memory", "forget", "1"]]
    )
    def test_so_do_the_others_that_read(self, shell: Any, words: list[str]) -> None:
        before = sorted(Path().rglob("*"))
        said = shell("--db", "typo/dir/x.db", *words)
        assert (said.code, said.out) == (1 if words[0] == "slayer" else 6, "")
        assert "There is no store at typo/dir/x.db." in said.err
        assert sorted(Path().rglob("*")) == before

    @pytest.mark.parametrize("words", [["remember", "note", "--dry-run"], ["ingest", "layer", "--dry-run"]])
    def test_what_is_only_planned_makes_none_either(self, shell: Any, words: list[str]) -> None:
        write_model(Path("layer"), "mydb", "orders", "id")
        assert shell(*words).code == 6
        assert not Path("shell.db").exists()

    def test_the_default_place_is_no_exception(self, shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ONRECORD_DB")
        place = load().db
        said = shell("recall", "anything")
        assert said.code == 6
        assert f"There is no store at {place}." in said.err
        assert not Path(place).parent.exists()
        assert shell("remember", "the first").code == 0
        assert "the first" in shell("recall", "first").out

    @pytest.mark.parametrize("db", ["yaml:typo/notes", "typo/memories.yaml", "folder"])
    def test_a_folder_without_files_is_no_store_in_yaml(self, shell: Any, db: str) -> None:
        Path("folder").mkdir()
        before = sorted(Path().rglob("*"))
        said = shell("--db", db, "browse")
        assert said.code == 6
        assert "There is no store at " in said.err
        assert sorted(Path().rglob("*")) == before
        assert shell("--db", db, "remember", "note").code == 0
        assert "note" in shell("--db", db, "browse").out

    def test_an_empty_file_is_none_yet_and_stays_empty(self, shell: Any) -> None:
        Path("empty.db").touch()
        assert shell("--db", "empty.db", "browse").code == 6
        assert Path("empty.db").stat().st_size == 0
        assert shell("--db", "empty.db", "remember", "note").code == 0

    def test_nor_is_a_database_without_our_tables(self, shell: Any, postgres_dsn: str) -> None:
        said = shell("--db", postgres_dsn, "browse")
        assert said.code == 6
        assert "There is no store at postgresql://" in said.err
        with psycopg.connect(postgres_dsn) as connection:
            assert connection.execute("SELECT to_regclass('memories')").fetchone() == (None,)
        assert shell("--db", postgres_dsn, "remember", "note").code == 0
        assert "note" in shell("--db", postgres_dsn, "browse").out

    def test_what_is_wrong_with_a_request_is_said_first(self, shell: Any) -> None:
        assert shell("remember", "").code == 2
        assert shell("recall", "x", "--limit", "0").code == 2
        assert not Path("shell.db").exists()

    def test_a_program_may_ask_for_the_same(self, tmp_path: Path) -> None:
        with pytest.raises(StoreUnavailable, match="There is no store at"):
            connect(tmp_path / "x" / "store.db", create=False)
        assert not (tmp_path / "x").exists()
        connect(tmp_path / "x" / "store.db").close()
        connect(tmp_path / "x" / "store.db", create=False).close()

    def test_one_in_memory_is_always_new(self) -> None:
        with connect(":memory:", create=False) as memory:
            assert memory.browse().memories == ()


class TestWhatIsEmpty:
    """A variable that is not set must not stand for the next best store, tenant or person."""

    @pytest.mark.parametrize("option", ["--db", "--tenant", "--user"])
    @pytest.mark.parametrize("value", ["", "  "])
    @pytest.mark.parametrize("is_before", [True, False])
    @pytest.mark.parametrize(
        "words", [["browse"], ["slayer", "search"], ["config"], ["slash"], ["work", "--once"]]
    )
    def test_an_option_that_names_nobody_is_refused(
        self, filled: Any, option: str, value: str, is_before: bool, words: list[str]
    ) -> None:
        said = filled(option, value, *words) if is_before else filled(*words, option, value)
        assert (said.code, said.out) == (1 if words[0] == "slayer" else 2, "")
        assert f"{option.removeprefix('--')}: is empty" in said.err
        assert "leave it out" in said.err

    @pytest.mark.parametrize(
        "words", [["keys", "create", "--tenant"], ["keys", "create", "--user"], ["audit", "--user"]]
    )
    def test_so_is_one_of_that_name_which_the_request_has(self, filled: Any, words: list[str]) -> None:
        said = filled(*words, "")
        assert (said.code, said.out) == (2, "")
        assert f"{words[-1].removeprefix('--')}: must not be empty" in said.err

    def test_so_is_the_storage_of_the_slayer_face(self, filled: Any) -> None:
        said = filled("slayer", "search", "--storage", "")
        assert said.code == 1
        assert "is empty" in said.err

    def test_the_last_one_given_counts(self, filled: Any) -> None:
        assert filled("--db", "", "browse", "--db", "shell.db").code == 0

    @pytest.mark.parametrize(
        "name", ["db", "tenant", "user", "embedder_key", "oidc_issuer", "oidc_audience", "grants"]
    )
    @pytest.mark.parametrize("value", ["", " \t"])
    def test_a_setting_that_says_who_or_where_must_not_be_empty(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        variable = f"ONRECORD_{name.upper()}"
        with pytest.raises(Invalid, match=f"{variable}: is empty"):
            load({"ONRECORD_CONFIG": "none.toml", variable: value})
        Path("config.toml").write_text(f"{name} = {json.dumps(value)}\n")
        with pytest.raises(Invalid, match=f"config.toml: {name}: is empty"):
            load({"ONRECORD_CONFIG": "config.toml"})

    def test_where_settings_lie_is_one_of_them(self) -> None:
        with pytest.raises(Invalid, match="ONRECORD_CONFIG: is empty"):
            load({"ONRECORD_CONFIG": ""})

    @pytest.mark.parametrize("value", ["", " "])
    def test_any_other_that_is_empty_counts_as_not_set(self, value: str) -> None:
        whole = load({"ONRECORD_CONFIG": "none.toml"})
        others = [each.name for each in whole.settings if each.name not in NEVER_EMPTY]
        empty = {f"ONRECORD_{name.upper()}": value for name in others}
        assert load({"ONRECORD_CONFIG": "none.toml", **empty}) == whole

    def test_a_conversation_that_is_given_empty_is_none(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ONRECORD_CONVERSATION", "c7")
        shell("remember", "note", "--in-conversation", "")
        assert shell("show", "1", "--json").json["memory"]["conversation"] is None

    @pytest.mark.parametrize("db", ["", "  "])
    def test_a_program_names_a_store_or_none(self, db: str) -> None:
        with pytest.raises(Invalid, match="db: is empty"):
            connect(db)

    def test_a_server_listens_somewhere(self, shell: Any) -> None:
        assert "host: is empty" in shell("serve", "--host", "").err

    def test_a_measurement_is_made_where_it_was_asked_for(self, shell: Any) -> None:
        Path("task").mkdir()
        for name, line in (
            ("corpus", {"corpus": "c", "id": "1", "text": "a"}),
            ("queries", {"corpus": "c", "id": "1", "text": "a", "gold": ["1"], "group": "g"}),
        ):
            Path("task", f"{name}.jsonl").write_text(json.dumps(line) + "\n")
        said = shell("eval", "task", "--data", ".", "--store", "")
        assert said.code == 2
        assert "is empty" in said.err
