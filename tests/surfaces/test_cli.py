"""WHAT can a person or a program do from a shell? Every command, its options, its output and its exit code."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord import Caller, connect
from onrecord.features import OPERATIONS
from tests.forked import relayed

COMMAND = [sys.executable, "-c", "from onrecord.surfaces.cli import main; main()"]
COMMANDS = [*(operation.command for operation in OPERATIONS if operation.command), "config"]
#: Commands that are no operations: some work until they are stopped, one has a store of its own.
OTHERS = [
    "demo",
    "migrate",
    "serve",
    "mcp",
    "install",
    "uninstall",
    "work",
    "eval",
    "proxy",
    "folder",
    "lint",
    "hook",
    "slayer",
    "data-platform",
    "slash",
]

#: Stands for the id of a key that is there.
KEY = "KEY"
# What each command is given in the tests that try all of them, and a key of the answer.
CALLS: dict[str, tuple[list[str], str]] = {
    "remember": (["a new thing"], "outcome"),
    "remember-many": (['[{"content": "another new thing"}]'], "memories"),
    "recall": (["revenue"], "hits"),
    "show": (["1"], "memory"),
    "browse": ([], "memories"),
    "tally": (["kind"], "groups"),
    "revise": (["1", "--title", "net revenue"], "changed"),
    "retire": (["1"], "changed"),
    "forget": (["1"], "versions"),
    "relate": (["1", "refines", "2"], "created"),
    "unrelate": (["1", "supports", "2"], "relation"),
    "relations": ([], "relations"),
    "remove-relation": (["1"], "relation"),
    "neighbours": (["1"], "edges"),
    "history": (["1"], "versions"),
    "diff": (["2020-01-01"], "memories"),
    "moments": ([], "moments"),
    "search": (["revenue"], "memories"),
    "ingest": (["shop"], "added"),
    "entities": (["shop"], "entities"),
    "inspect": (["orders"], "markdown"),
    "drop-entity": (["shop.orders"], "stripped"),
    "prioritise": ([], "datasources"),
    "impact": (["--sql", "CREATE TABLE fresh (id INT)"], "memories"),
    "renames": ([], "renames"),
    "accept-renames": ([], "renames"),
    "feedback give": (["1", "useful", "how much?"], "changed"),
    "feedback list": ([], "feedback"),
    "checks add": (["1", "--kind", "entity", "--entity", "orders"], "check"),
    "checks approve": (["1", "1"], "check"),
    "checks drop": (["1", "1"], "changed"),
    "checks list": (["1"], "checks"),
    "check": (["1"], "memories"),
    "judge": (["robot::proposal"], "verdict"),
    "extract": (["I live in Lisbon.", "--scope", "tenant"], "facts"),
    "approve": (["1"], "changed"),
    "reject": (["robot::proposal"], "changed"),
    "plan": (["orders"], "changes"),
    "apply": (["orders"], "changeset"),
    "roll-back": (["1"], "changeset"),
    "changesets": ([], "changesets"),
    "context": (["revenue"], "text"),
    "attach": (["orders", "--arguments", "select amount from orders"], "references"),
    "conversations register": (["talk"], "created"),
    "conversations list": ([], "conversations"),
    "conversations show": (["told"], "artifacts"),
    "conversations share": (["told", "bob"], "changed"),
    "conversations unshare": (["told", "bob"], "changed"),
    "conversations delete": (["told"], "unpinned"),
    "artifacts write": (["note.md", "text", "--conversation", "told"], "artifact"),
    "artifacts read": (["1"], "content"),
    "artifacts list": (["--conversation", "told"], "artifacts"),
    "artifacts delete": (["1"], "unlinked"),
    "scratchpads append": (["a note"], "size"),
    "scratchpads read": ([], "content"),
    "scratchpads list": ([], "scratchpads"),
    "scratchpads clear": ([], "cleared"),
    "agents set": (["planner", "--limit", "7"], "settings"),
    "agents show": (["planner"], "settings"),
    "agents share": (["planner", "bob"], "users"),
    "agents unshare": (["planner", "bob"], "users"),
    "keys create": (["--label", "for the robot"], "secret"),
    "keys list": ([], "keys"),
    "keys change": ([KEY, "--label", "weekly"], "changed"),
    "keys revoke": ([KEY], "changed"),
    "keys waive": ([], "forgotten"),
    "tenants create": (["acme"], "created"),
    "tenants list": ([], "tenants"),
    "tenants set": (["--agents-share"], "settings"),
    "tenants erase": (["default", "--confirm", "default"], "residue"),
    "audit": ([], "entries"),
    "export": (["out.jsonl"], "memories"),
    "import": (["in.jsonl"], "added"),
    "backup": (["copy.db"], "bytes"),
    "doctor": ([], "problems"),
    "reindex": ([], "postings"),
    "embed-missing": ([], "embedded"),
    "dismiss-failures": ([], "jobs"),
    "reassign": (["bob", "carol"], "memories"),
    "status": ([], "tenants"),
    "config": ([], ""),
}


@pytest.fixture
def prepared(filled: Any, once: Callable[[str, Callable[[], None]], None]) -> Callable[[str], list[str]]:
    """What a command is given. Some need a catalog, a file, a key, a proposal."""

    def prepare(command: str) -> list[str]:
        if command == "ingest":
            _write_models()
        else:
            once("prepared", lambda: _prepare(filled))
        key = filled("keys", "create", "--json").json["key"]["id"] if KEY in CALLS[command][0] else ""
        return [key if word == KEY else word for word in CALLS[command][0]]

    return prepare


def _write_models() -> None:
    models = Path("shop/models/shop")
    models.mkdir(parents=True)
    text = "{version: 6, name: orders, data_source: shop, sql_table: orders, columns: [{name: amount}]}"
    (models / "orders.yaml").write_text(text)


def _prepare(shell: Any) -> None:
    _write_models()
    assert shell("ingest", "shop").code == 0
    assert shell("checks", "add", "1", "--kind", "entity", "--entity", "shop").code == 0
    shell("export", "in.jsonl")
    assert shell("conversations", "register", "told").code == 0
    assert shell("artifacts", "write", "a.md", "text", "--conversation", "told").code == 0
    robot = Caller(tenant="default", user="robot", actor="unattended")
    with connect("shell.db", caller=robot) as door:
        door.remember("a proposal", id="proposal")
    for entity in ("shop", "orders"):
        edits = [{"entity": entity, "field": "description", "value": f"what {entity} is"}]
        saved = shell("remember", f"about {entity}", "--edits", json.dumps(edits), "--json")
        assert shell("approve", saved.json["memory"]["id"]).code == 0
    assert shell("apply", "shop").code == 0


def sections_of(help: str) -> dict[str, list[str]]:
    """The commands that a help names, under each of its headings."""
    parts = re.split(r"^(\w[\w ]*):\n", help.split("Options:")[1], flags=re.MULTILINE)
    headed = zip(parts[1::2], parts[2::2], strict=True)
    return {title: re.findall(r"^  ([a-z-]+)  ", text, re.MULTILINE) for title, text in headed}


class TestEveryCommand:
    def test_each_operation_has_a_command_and_a_call_here(self) -> None:
        assert sorted(CALLS) == sorted(COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_it_prints_plain_text_through_a_pipe(
        self, filled: Any, command: str, prepared: Callable[[str], list[str]]
    ) -> None:
        given = prepared(command)
        said = filled(*command.split(), *given)
        assert (said.code, said.err) == (0, "")
        assert said.out.strip()
        assert "\x1b" not in said.out

    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize("where", ["before", "after"])
    def test_it_prints_the_whole_answer_as_json(
        self, filled: Any, command: str, where: str, prepared: Callable[[str], list[str]]
    ) -> None:
        given, key = prepared(command), CALLS[command][1]
        words = [*command.split(), *given]
        words = ["--json", *words] if where == "before" else [*words, "--json"]
        said = filled(*words)
        assert (said.code, said.err) == (0, "")
        assert not key or key in said.json

    @pytest.mark.parametrize("command", [*COMMANDS, *OTHERS])
    def test_its_help_names_every_option_with_a_text(self, shell: Any, command: str) -> None:
        said = shell(*command.split(), "--help")
        assert said.code == 0
        assert f"onrecord {command}" in said.out
        for option in re.findall(r"^  (--[\w-]+)", said.out, re.MULTILINE):
            assert re.search(rf"{option}\b[^\n]*(\n {{10,}}| {{2,}})[A-Za-z]", said.out), option

    def test_the_help_of_all_names_each_once_under_a_heading(self, shell: Any) -> None:
        told = sections_of(shell("--help").out)
        assert list(told) == [
            "Memories", "Questions", "Catalog", "Checks", "Workspace", "Access", "Care of the store",
            "Agents and servers", "Other vocabularies",
        ]  # fmt: skip
        named = [name for names in told.values() for name in names]
        assert len(named) == len(set(named))
        assert set(named) == {command.split()[0] for command in [*COMMANDS, *OTHERS]}

    def test_what_is_about_one_thing_stands_together_in_the_order_in_which_people_meet_it(
        self, shell: Any
    ) -> None:
        told = sections_of(shell("--help").out)
        for names in told.values():
            placed = [name for name in dict.fromkeys(each.split()[0] for each in COMMANDS) if name in names]
            assert names[: len(placed)] == placed
        assert told["Questions"][0] == "recall"
        assert told["Other vocabularies"] == ["slayer", "data-platform", "slash"]

    def test_without_a_command_the_help_appears(self, shell: Any) -> None:
        said = shell()
        assert said.code == 2
        assert "Other vocabularies:" in said.out + said.err

    def test_the_version_is_told(self, shell: Any) -> None:
        assert re.fullmatch(r"onrecord \d+\.\d+\.\d+\S*\n", shell("--version").out)


class TestVectors:
    def test_a_worker_does_what_a_long_save_put_off(self, shell: Any) -> None:
        shell("remember", "-", typed="The kestrel hovers over the motorway. " * 200)
        assert shell("status", "--json").json["tenants"][0]["waiting"] == 1
        said = shell("work", "--once")
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith("Made vectors of 1 ")
        assert shell("work", "--once").out == ""
        (tenant,) = shell("status", "--json").json["tenants"]
        assert (tenant["waiting"], tenant["failed"], tenant["models"][0]["indexed"]) == (0, 0, 1)

    def test_a_memory_is_found_by_what_it_means(self, filled: Any) -> None:
        filled("embed-missing")
        said = filled(
            "recall", "no deployments before the weekend", "--recipe", "semantic", "--limit", "1", "--json"
        )
        assert [hit["memory"]["id"] for hit in said.json["hits"]] == ["policy.deploys"]

    def test_without_an_embedder_missing_vectors_cannot_be_made(self, words_alone: None, filled: Any) -> None:
        said = filled("embed-missing")
        assert said.code == 2
        assert "ONRECORD_EMBEDDER" in said.err

    def test_an_embedder_that_is_none_is_named(self, shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ONRECORD_EMBEDDER", "word2vec")
        said = shell("remember", "note")
        assert said.code == 2
        assert "embedder: 'word2vec' is not an embedder" in said.err


class TestWhichStore:
    def test_the_environment_names_it(self, shell: Any) -> None:
        shell("remember", "here")
        assert Path("shell.db").exists()

    @pytest.mark.parametrize("words", [["--db", "other.db", "browse"], ["browse", "--db", "other.db"]])
    def test_an_option_before_or_after_the_command_wins(self, shell: Any, words: list[str]) -> None:
        shell("--db", "other.db", "remember", "in the other store")
        shell("remember", "in the usual store")
        out = shell(*words).out
        assert "in the other store" in out
        assert "in the usual store" not in out

    def test_the_option_after_the_command_wins_over_the_one_before(self, shell: Any) -> None:
        shell("--db", "one.db", "remember", "--db", "two.db", "note")
        assert not Path("one.db").exists()
        assert "note" in shell("--db", "two.db", "browse").out

    def test_a_postgresql_dsn_will_do(self, shell: Any, postgres_dsn: str) -> None:
        assert shell("--db", postgres_dsn, "remember", "on a server").code == 0
        assert "on a server" in shell("recall", "server", "--db", postgres_dsn).out
        assert not Path("shell.db").exists()

    def test_each_tenant_has_its_own(self, shell: Any) -> None:
        shell("--tenant", "acme", "remember", "ours")
        assert shell("browse").out == "Nothing here.\n"
        assert "ours" in shell("browse", "--tenant", "acme").out

    def test_the_user_owns_what_they_save(self, shell: Any) -> None:
        shell("remember", "note", "--user", "bob")
        assert shell("show", "1", "--json").json["memory"]["owner"] == "bob"

    def test_people_read_and_write_their_own_ids_as_they_chose_them(self, shell: Any) -> None:
        ann = ("--user", "ann")
        first = shell("remember", "Ask for Mondays off.", "--id", "kb.plan", "--scope", "user", *ann)
        shell("remember", "We plan on Tuesdays.", "--id", "other", *ann)
        said = [
            first,
            shell("show", "kb.plan", *ann),
            shell("browse", *ann),
            shell("relate", "other", "supports", "kb.plan", *ann),
            shell("neighbours", "other", *ann),
            shell("forget", "kb.plan", *ann),
        ]
        assert all("#kb.plan" in each.out and "::" not in each.out for each in said), said

    def test_what_is_said_in_a_conversation_is_pinned_to_it(self, shell: Any) -> None:
        shell("remember", "note", "--in-conversation", "c7")
        assert shell("show", "1", "--json").json["memory"]["conversation"] == "c7"


class TestSettings:
    def settings(self, shell: Any, *words: str) -> dict[str, tuple[str, str]]:
        said = shell("config", "--json", *words)
        return {each["name"]: (each["value"], each["origin"]) for each in said.json}

    def test_what_is_given_wins_over_the_environment_that_over_the_file(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("config.toml").write_text('db = "file.db"\ntenant = "acme"\nuser = "file"\n')
        monkeypatch.setenv("ONRECORD_CONFIG", "config.toml")
        monkeypatch.setenv("ONRECORD_DB", "environment.db")
        told = self.settings(shell, "--user", "bob")
        assert {name: told[name] for name in ("db", "tenant", "user", "conversation", "embedder")} == {
            "db": ("environment.db", "ONRECORD_DB"),
            "tenant": ("acme", "config.toml"),
            "user": ("bob", "given"),
            "conversation": (None, "default"),
            "embedder": ("e5", "default"),
        }

    def test_the_file_decides_where_a_save_goes(self, shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("config.toml").write_text('db = "file.db"\n')
        monkeypatch.setenv("ONRECORD_CONFIG", "config.toml")
        monkeypatch.delenv("ONRECORD_DB")
        assert shell("remember", "note").code == 0
        assert Path("file.db").exists()

    def test_the_default_lies_in_the_users_data_folder(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ONRECORD_DB")
        value, origin = self.settings(shell)["db"]
        assert (Path(value).name, origin) == ("onrecord.db", "default")

    def test_it_opens_no_store(self, shell: Any) -> None:
        assert shell("config").code == 0
        assert not Path("shell.db").exists()

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("db = [", "cannot be read"),
            ('colour = "red"', "colour: is not a field of the settings"),
            ("db = 5", "db: must be a text"),
            ("b\xe4d", "cannot be read"),
        ],
    )
    def test_a_file_that_cannot_be_right_is_refused(
        self, shell: Any, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
    ) -> None:
        Path("config.toml").write_bytes(text.encode("latin-1"))
        monkeypatch.setenv("ONRECORD_CONFIG", "config.toml")
        said = shell("browse")
        assert said.code == 2
        assert complaint in said.err
        assert "config.toml" in said.err

    @pytest.mark.parametrize(
        "dsn",
        [
            "postgresql://ann:hunter2@db.internal/memories",
            "postgresql://ann@db.internal/memories?password=hunter2&sslmode=require",
        ],
    )
    def test_the_password_of_a_dsn_is_not_printed(self, shell: Any, dsn: str) -> None:
        for words in (["config"], ["config", "--json"]):
            said = shell(*words, "--db", dsn)
            assert "hunter2" not in said.out
            assert "db.internal/memories" in said.out


class TestExitCodes:
    @pytest.mark.parametrize(
        ("words", "code", "text"),
        [
            (["show", "1"], 0, ""),
            (["remember", ""], 2, "content: must not be empty"),
            (["show"], 2, "Missing argument 'ID'"),
            (["recall", "x", "--colour", "red"], 2, "No such option"),
            (["onrecord"], 2, "No such command"),
            (["show", "99"], 3, "No memory 99 that you can see"),
            (["unrelate", "2", "supports", "1"], 3, "No relation 2 supports 1"),
            (["revise", "1", "--title", "t", "--expected-version", "7"], 5, "at version 1, not 7"),
            (["--db", "mysql://host/db", "browse"], 6, "not a kind of store"),
            (["--db", "postgresql://u:hunter2@127.0.0.1:1/x", "browse"], 6, "cannot be reached"),
            (["import", "nowhere.jsonl"], 6, "cannot be read"),
            (["export", "nowhere/out.jsonl"], 6, "cannot be written"),
        ],
    )
    def test_an_error_has_its_code_and_says_so_on_standard_error(
        self, filled: Any, words: list[str], code: int, text: str
    ) -> None:
        said = filled(*words)
        assert said.code == code
        assert text in said.err
        assert bool(said.out) == (code == 0)
        assert "Traceback" not in said.err
        assert "hunter2" not in said.err

    def test_a_change_that_is_not_allowed_leaves_with_four(self, shell: Any) -> None:
        from onrecord.surfaces.cli import EXIT_CODES

        # At a shell one is the owner of everything, so only the table can say it.
        assert {kind.__name__: code for kind, code in EXIT_CODES}["Forbidden"] == 4

    def test_a_retired_memory_stands_in_the_way(self, filled: Any) -> None:
        filled("retire", "1")
        said = filled("remember", "again", "--id", "1")
        assert said.code == 5
        assert "Save what is true now as a new memory" in said.err

    def test_problems_that_the_doctor_finds_leave_with_one(self, filled: Any) -> None:
        import sqlite3

        with sqlite3.connect("shell.db") as connection:
            connection.execute("DELETE FROM postings")
        connection.close()
        said = filled("doctor")
        assert said.code == 1
        assert "onrecord reindex" in said.out
        assert filled("reindex").code == 0
        assert filled("doctor").code == 0

    def test_nothing_found_is_no_error(self, filled: Any) -> None:
        said = filled("recall", "zebra", "--recipe", "lexical")
        assert (said.code, said.out) == (
            0,
            "Nothing found: none of the 3 memories here is relevant to this.\n",
        )

    def test_a_search_without_an_embedder_says_so(self, words_alone: None, filled: Any) -> None:
        said = filled("recall", "zebra")
        assert (said.code, said.out) == (
            0,
            "Nothing found: none of the 3 memories here is relevant to this.\nSkipped semantic: no embedder is configured\n",
        )

    def test_a_damaged_file_is_named(self, shell: Any) -> None:
        Path("broken.db").write_bytes(b"this is not a database at all, it only looks long enough" * 20)
        said = shell("--db", "broken.db", "browse")
        assert said.code == 6
        assert "broken.db is not a SQLite database" in said.err

    def test_all_faults_come_at_once_with_their_fields(self, shell: Any) -> None:
        said = shell(
            "remember", " ", "--kind", "facts", "--title", "a\nb", "--tag", "x" * 65, "--scope", "persona",
            "--metadata", "[1]", "--valid-from", "yesterday", "--id", "a b",
        )  # fmt: skip
        assert said.code == 2
        lines = said.err.removeprefix("onrecord: ").splitlines()
        assert [line.split(":")[0] for line in lines] == [
            "content", "id", "kind", "title", "tags", "metadata", "valid_from", "persona",
        ]  # fmt: skip
        assert "did you mean fact?" in said.err
        assert not Path("shell.db").exists() or shell("browse").out == "Nothing here.\n"

    def test_an_error_is_json_when_json_is_asked_for(self, shell: Any) -> None:
        said = shell("remember", "", "--kind", "facts", "--json")
        told = json.loads(said.err)
        assert (said.code, said.out, told["error"]) == (2, "", "Invalid")
        assert [fault["field"] for fault in told["faults"]] == ["content", "kind"]


class TestWhatIsTyped:
    def test_a_dash_reads_the_content_from_standard_input(self, shell: Any) -> None:
        shell("remember", "-", typed="two\nlines\n")
        assert shell("show", "1", "--json").json["memory"]["content"] == "two\nlines"

    def test_the_same_text_piped_or_given_is_the_same_memory(self, shell: Any) -> None:
        shell("remember", "note")
        assert shell("remember", "-", typed="note\n").out == "Already known as #1  note\n"

    def test_a_correction_may_come_from_standard_input_too(self, filled: Any) -> None:
        filled("revise", "1", "--content", "-", typed="Revenue is gross.\n")
        assert filled("show", "1", "--json").json["memory"]["content"] == "Revenue is gross."

    def test_another_tools_answer_is_a_file_standard_input_or_the_text_itself(self, shell: Any) -> None:
        shell("remember", "Store 12 closed in May.", "--entity", "shop.stores")
        Path("answer.json").write_text('{"rows": [{"table": "shop.stores"}]}')
        for given, typed in (("answer.json", ""), ("-", "no rows in shop.stores"), ("shop.stores", "")):
            assert "| Store 12 closed in May." in shell("attach", given, typed=typed).out, given
        sql = ("--arguments", "select * from shop.stores")
        assert "| Store 12 closed in May." in shell("attach", "12 rows", *sql).out
        assert shell("attach", "12 rows").out == "No memories about what it mentions.\n"
        Path("answer.bin").write_bytes(b"\xff\xfe")
        assert "answer: is not UTF-8" in shell("attach", "answer.bin").err

    def test_nothing_on_standard_input_is_refused(self, shell: Any) -> None:
        said = shell("remember", "-", typed="")
        assert said.code == 2
        assert "content: must not be empty" in said.err

    def test_standard_input_that_is_not_utf_8_is_refused(self, shell: Any) -> None:
        said = shell.process("remember", "-", typed=b"caf\xe9", anew=True, PYTHONIOENCODING="utf-8:strict")
        assert said.code == 2
        assert "content: is not UTF-8" in said.err

    @pytest.mark.parametrize(
        "words",
        [[b"remember", b"caf\xe9"], [b"recall", b"caf\xe9"], [b"show", b"caf\xe9"], [b"--tenant", b"\xff", b"browse"]],
    )  # fmt: skip
    def test_an_argument_that_is_not_utf_8_is_refused_clearly(self, shell: Any, words: list[bytes]) -> None:
        said = shell.process(*words, anew=words[0] == b"remember")
        assert said.code == 2
        assert re.search(r"lone surrogate|must not contain", said.err)
        assert "Traceback" not in said.err

    @pytest.mark.parametrize("word", [b"--caf\xe9", b"caf\xe9"])
    def test_a_command_or_option_that_is_not_utf_8_is_unknown(self, shell: Any, word: bytes) -> None:
        said = shell.process(word, anew=True)
        assert said.code == 2
        assert "No such" in said.err

    def test_several_values_are_given_by_repeating_and_ids_and_lists_also_with_commas(
        self, filled: Any
    ) -> None:
        filled("remember", "new", "--tag", "a,b", "--tag", "c", "--supersedes", "1,2")
        told = filled("show", "3", "--json").json["memory"]
        assert told["tags"] == ["a,b", "c"]
        listed = filled("browse", "--status", "superseded,archived", "--json").json["memories"]
        assert {memory["id"] for memory in listed} == {"1", "2"}

    def test_an_empty_text_takes_a_value_away(self, filled: Any) -> None:
        filled("revise", "1", "--hint", "what revenue is", "--source", "finance")
        filled("revise", "1", "--hint", "", "--tag", "")
        told = filled("show", "1", "--json").json["memory"]
        assert (told["hint"], told["source"], told["tags"]) == (None, "finance", [])

    def test_json_goes_in_as_json(self, shell: Any) -> None:
        shell("remember", "note", "--metadata", '{"rows": [1, 2]}', "--query", "select 1")
        told = shell("show", "1", "--json").json["memory"]
        assert (told["metadata"], told["query"]) == ({"rows": [1, 2]}, "select 1")

    @pytest.mark.parametrize("number", ["0", "201", "--5", "many", "1.5", "٣", "9" * 5000])
    def test_a_number_out_of_bounds_or_none_at_all_is_refused(self, shell: Any, number: str) -> None:
        said = shell("recall", "x", f"--limit={number}")
        assert said.code == 2
        assert said.err.startswith("onrecord: limit: must be")

    @pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"a": NaN}', "5", '{"\\ud800": 1}'])
    def test_metadata_that_is_no_json_object_is_refused(self, shell: Any, text: str) -> None:
        said = shell("remember", "note", "--metadata", text)
        assert said.code == 2
        assert said.err.startswith("onrecord: metadata: ")

    def test_a_flag_can_be_taken_back(self, shell: Any) -> None:
        shell("remember", "note", "--always-inject")
        assert shell("show", "1", "--json").json["memory"]["always_inject"] is True
        shell("revise", "1", "--no-always-inject")
        assert shell("show", "1", "--json").json["memory"]["always_inject"] is False

    def test_a_text_that_looks_like_an_option_follows_two_dashes(self, shell: Any) -> None:
        shell("remember", "--", "--help is an option")
        assert "--help is an option" in shell("show", "1").out


class TestWhatIsPrinted:
    def test_a_control_character_cannot_reach_the_terminal(self, shell: Any) -> None:
        shell("remember", "red \x1b[31malert\x07 and a \x9b title\ttab\nline")
        for words in (["show", "1"], ["recall", "red"], ["browse"]):
            out = shell(*words).out
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out), words
            assert "\\u{1b}[31malert\\u{7}" in out or words == ["browse"]

    def test_what_cannot_be_seen_or_turns_the_line_round_is_written_out(self, shell: Any) -> None:
        hidden = "pay \u202eeve\u202c the\u200b \u2066rest\u2069 \U000e0041"
        shell("remember", f"first\n{hidden}", "--title", "the rest")
        said = [shell(*words).out for words in (["show", "1"], ["context", "rest"], ["show", "1", "--json"])]
        said += [shell("show", "no\u202esuch").err, shell("show", "no\u202esuch", "--json").err]
        for out in said:
            assert not [letter for letter in out if unicodedata.category(letter) in {"Cf", "Cs"}], out
        assert "pay \\u{202e}eve\\u{202c} the\\u{200b}" in said[0]
        assert json.loads(said[2])["memory"]["content"] == f"first\n{hidden}"

    def test_a_table_is_one_line_a_row_through_a_pipe(self, shell: Any) -> None:
        shell("remember", "first\nsecond")
        assert len(shell("browse").out.splitlines()) == 1

    def test_an_export_to_standard_output_is_nothing_but_the_export(self, filled: Any) -> None:
        for words in (["export", "-"], ["export", "-", "--json"]):
            lines = filled(*words).out.splitlines()
            assert all(isinstance(json.loads(line), dict) for line in lines)
            assert json.loads(lines[0])["memories"] == 3

    def test_an_export_through_a_pipe_can_be_imported(self, filled: Any) -> None:
        exported = filled("export", "-").out
        said = filled("--db", "other.db", "import", "-", typed=exported)
        assert said.out == "Imported 3 memories and 1 relation; 0 were here already.\n"

    def test_an_export_and_an_import_say_how_much_lies_beside_memories(self, shell: Any) -> None:
        shell("conversations", "register")
        for path in ("a.txt", "b.txt"):
            shell("artifacts", "write", path, "x", "--conversation", "1")
        shell("scratchpads", "append", "half done", "--agent", "scout")
        shell("agents", "set", "scout", "--decay")
        said = shell("export", "all.jsonl").out.splitlines()
        assert said[1] == "With them: 1 conversation, 2 files, 1 scratchpad, 1 agent."
        told = [shell("--db", "other.db", "import", "all.jsonl").out.splitlines()[1] for _ in range(2)]
        assert told == [
            "With them: 1 conversation, 2 files, 1 scratchpad, 1 agent; 0 were here already.",
            "With them: no conversation, artifact, scratchpad or agent; 5 were here already.",
        ]

    def test_a_bad_line_of_an_import_is_named_by_file_and_line(self, shell: Any) -> None:
        shell("remember", "makes the tenant known")
        exported = shell("export", "-").out
        broken = exported + '{"tenant": "default", "conversation": {}}\n'
        said = shell("--db", "other.db", "import", "-", typed=broken)
        assert "standard input, line 4, conversation.id: is missing" in said.err

    def test_other_scripts_come_out_as_they_went_in(self, shell: Any) -> None:
        text = "注文 é e\u0301 🧠 שלום नमस्ते"
        shell("remember", text)
        assert shell("show", "1", "--json").json["memory"]["content"] == text
        assert text in shell("recall", "注文").out

    # The first without anything loaded before it, the others by forks.
    @pytest.mark.parametrize("words", [["--help"], ["browse"], ["browse", "--json"], ["export", "-"]])
    def test_a_reader_who_leaves_early_is_no_error(self, filled: Any, words: list[str]) -> None:
        with connect("shell.db") as memory:
            memory.remember("long " * 10_000)
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            command = [*COMMAND, *words] if words == ["--help"] else relayed(COMMAND[-1], *words)
            done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (0, b"")

    def test_a_terminal_gets_a_table_with_headings(self, filled: Any) -> None:
        told = on_a_terminal("browse")
        assert re.search(r"id\s+kind\s+updated\s+title\s+tags", told)
        assert "Revenue is net of refunds." in told
        assert "─" in told

    def test_a_terminal_is_safe_from_what_a_memory_holds(self, shell: Any) -> None:
        shell("remember", "[bold]not markup[/bold] \x1b]0;title\x07 \u202ehidden\u200b")
        told = on_a_terminal("show", "1") + on_a_terminal("browse") + on_a_terminal("export", "-")
        assert "[bold]not markup[/bold]" in told
        assert not [sign for sign in ("\x1b]0;", "\u202e", "\u200b") if sign in told]
        assert "\u202e" in shell("export", "-").out


def on_a_terminal(*words: str) -> str:
    """What a command prints when its output is a terminal."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "160", "LINES": "50"}
    process = subprocess.Popen([*COMMAND, *words], stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    told = b"".join(_read(master))
    assert process.wait() == 0
    os.close(master)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", told.decode())


def _read(terminal: int) -> Iterator[bytes]:
    while select.select([terminal], [], [], 60)[0]:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            # Linux says that the other end is closed by an input error.
            return
        if not piece:
            return
        yield piece


class TestQuickHelp:
    def test_help_loads_neither_the_database_library_nor_numpy(self, shell: Any) -> None:
        """Time is not measured here: what is not loaded cannot be waited for."""
        watch = (
            "import sys, atexit\n"
            "atexit.register(lambda: print('LOADED', *sorted(sys.modules)))\n"
            "from onrecord.surfaces.cli import main; main()\n"
        )
        for words in (["--help"], ["remember", "--help"], ["--version"], ["config"]):
            done = subprocess.run([sys.executable, "-c", watch, *words], capture_output=True, check=True)
            loaded = set(done.stdout.decode().rpartition("LOADED ")[2].split())
            assert "click" in loaded
            assert not loaded & {"sqlalchemy", "alembic", "numpy", "rich", "psycopg", "asyncio"}, words

    def test_the_package_loads_nothing_heavy_until_it_is_used(self, shell: Any) -> None:
        code = "import onrecord, sys; print(*sorted(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert not set(done.stdout.decode().split()) & {"sqlalchemy", "numpy", "click", "rich", "alembic"}


class TestWhoAndForWhom:
    """`--user` and `--tenant` of a command are what it asks about, where it asks about someone."""

    def test_a_key_for_another_is_made_by_whoever_makes_it(self, shell: Any) -> None:
        made = shell("--user", "ann", "keys", "create", "--tenant", "acme", "--user", "robot", "--json").json
        assert made["key"]["user"] == "robot"
        assert made["key"]["tenant"] == "acme"
        assert made["key"]["created_by"] == "ann"
        [line] = shell("audit", "--tenant", "acme", "--json").json["entries"]
        assert (line["user"], line["operation"]) == ("ann", "create_key")

    def test_the_audit_of_one_user_holds_nothing_of_another(self, shell: Any) -> None:
        shell("remember", "Gates open at six.", "--user", "ann")
        shell("remember", "Ports close at nine.", "--user", "bob")
        assert [each["user"] for each in shell("audit", "--user", "bob", "--json").json["entries"]] == ["bob"]


def test_the_shell_shows_the_relevance_and_says_what_was_looked_at(shell: Any) -> None:
    notes = ("Deploys are frozen on Fridays.", "Revenue is net of refunds.", "Ann prefers dark charts.")
    for note in notes:
        shell("remember", note)
    told = json.loads(shell("recall", "may I deploy on a Friday?", "--json").out)
    assert 0.4 < told["hits"][0]["relevance"] <= 1
    assert f"({told['hits'][0]['relevance']:.2f})" in shell("recall", "may I deploy on a Friday?").out
    assert shell("recall", "zeppelin").out.startswith(
        "Nothing found: none of the 3 memories here is relevant to this"
    )
