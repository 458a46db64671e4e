"""DOES a host learn of us without losing anything? Its configuration gains one entry, and is otherwise as it was."""

import json
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.surfaces.cli import rules
from onrecord.surfaces.cli.host_config import JsonForm, TomlForm, UnreadableConfig
from onrecord.surfaces.cli.hosts import HOSTS

from .conftest import Said, Shell

ROOT = Path(__file__).parents[2]
PATHS = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "gemini": ".gemini/settings.json",
    "zed": ".config/zed/settings.json",
}
SECTIONS = {"vscode": "servers", "codex": "mcp_servers", "zed": "context_servers"}
WITH_COMMENTS = """{
\t// mine
\t"mcpServers": {
\t\t"other": {"command": "x", "args": ["http://a/*b*/"]}, // keep, me
\t\t/* and me */
\t},
\t"theme": "dark",
}
"""
TOML = """# my settings
model = "m" # the best

[mcp_servers.other]
command = 'x'   # keep me

[profiles."a.b"]
x = 1
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home on Linux, in a shell that has set nothing."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("ONRECORD_USER", raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


class Untried(Shell):
    """Writes entries without starting each."""

    def __call__(self, *words: str, typed: str = "") -> Said:
        more = ["--no-check"] if "install" in words and "--check" not in words else []
        return super().__call__(*words, *more, typed=typed)


@pytest.fixture
def quiet(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.delenv("ONRECORD_DB")
    return Untried(monkeypatch)


def read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    told: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    return told


def entry(path: Path, host: str) -> dict[str, Any]:
    told: dict[str, Any] = read(path)[SECTIONS.get(host, "mcpServers")]["onrecord"]
    return told


@pytest.mark.parametrize("host", HOSTS)
class TestEveryHost:
    def test_its_configuration_is_printed_and_nothing_is_written(
        self, quiet: Shell, home: Path, host: str
    ) -> None:
        said = quiet("install", "--print", host)
        assert said.code == 0
        told = tomllib.loads(said.out) if host == "codex" else json.loads(said.out)
        ours = told[SECTIONS.get(host, "mcpServers")]["onrecord"]
        assert ours["args"] == ["mcp"]
        assert "env" not in ours
        assert list(home.iterdir()) == []

    def test_a_file_that_is_not_there_yet_is_made(self, quiet: Shell, home: Path, host: str) -> None:
        assert quiet("install", host, "--yes").code == 0
        path = home / PATHS[host]
        assert path.read_text() == quiet("install", "--print", host).out
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert list(path.parent.iterdir()) == [path]

    def test_the_change_is_shown_and_only_made_when_confirmed(
        self, quiet: Shell, home: Path, host: str
    ) -> None:
        refused = quiet("install", host, typed="n\n")
        assert refused.code == 130
        assert re.search(r"^\+.*onrecord", refused.out, re.MULTILINE)
        assert not (home / PATHS[host]).exists()
        assert quiet("install", host, typed="y\n").code == 0
        assert (home / PATHS[host]).exists()

    def test_a_second_time_changes_nothing_and_other_settings_replace_ours(
        self, quiet: Shell, home: Path, host: str
    ) -> None:
        quiet("install", host, "--yes")
        written = (home / PATHS[host]).read_bytes()
        assert "already" in quiet("install", host).out
        assert (home / PATHS[host]).read_bytes() == written
        assert quiet("install", host, "--yes", "--face", "slayer,native").code == 0
        assert entry(home / PATHS[host], host)["args"] == ["mcp", "--face", "slayer", "--face", "native"]

    def test_it_is_taken_out_again_and_nothing_else(self, quiet: Shell, home: Path, host: str) -> None:
        path = home / PATHS[host]
        path.parent.mkdir(parents=True, exist_ok=True)
        section = SECTIONS.get(host, "mcpServers")
        before = TOML if host == "codex" else WITH_COMMENTS.replace("mcpServers", section)
        path.write_text(before)
        path.chmod(0o640)
        assert quiet("install", host, "--yes").code == 0
        assert path.read_text() != before
        assert path.with_name(f"{path.name}.before-onrecord").read_text() == before
        assert quiet("uninstall", host, "--yes").code == 0
        assert path.read_text() == before
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert "Nothing of ours" in quiet("uninstall", host).out

    def test_a_broken_file_is_named_and_left_alone(self, quiet: Shell, home: Path, host: str) -> None:
        path = home / PATHS[host]
        path.parent.mkdir(parents=True, exist_ok=True)
        for broken in (b'{"a": 1,\n oops', b"\xff\xfe", b"[[[", b'{"a": {"b": }}'):
            path.write_bytes(broken)
            for command in ("install", "uninstall"):
                said = quiet(command, host, "--yes")
                assert said.code == 2
                assert str(path) in said.err
                assert path.read_bytes() == broken
                assert [each.name for each in path.parent.iterdir() if each.is_file()] == [path.name]

    def test_settings_that_were_given_here_go_with_it(self, shell: Shell, home: Path, host: str) -> None:
        shell("install", host, "--yes", "--tenant", "acme")
        env = entry(home / PATHS[host], host)["env"]
        assert env == {"ONRECORD_DB": str(Path("shell.db").absolute()), "ONRECORD_TENANT": "acme"}

    def test_what_is_gone_with_each_session_is_refused(self, shell: Shell, home: Path, host: str) -> None:
        assert "db" in shell("install", host, "--yes", "--db", ":memory:").err
        assert list(home.iterdir()) == []


class TestServersElsewhere:
    @pytest.mark.parametrize(
        ("host", "expected"),
        [
            ("claude-code", {"type": "http", "url": "https://m.example/mcp"}),
            ("cursor", {"url": "https://m.example/mcp"}),
            ("vscode", {"type": "http", "url": "https://m.example/mcp"}),
            ("codex", {"url": "https://m.example/mcp"}),
            ("windsurf", {"serverUrl": "https://m.example/mcp"}),
            ("gemini", {"httpUrl": "https://m.example/mcp"}),
        ],
    )
    def test_a_host_is_told_the_address(
        self, quiet: Shell, home: Path, host: str, expected: dict[str, str]
    ) -> None:
        quiet("install", host, "--yes", "--url", "https://m.example/")
        assert entry(home / PATHS[host], host) == expected

    @pytest.mark.parametrize(
        ("host", "expected"),
        [
            ("claude-code", {"headers": {"Authorization": "Bearer ${MEMORY_KEY}"}}),
            ("cursor", {"headers": {"Authorization": "Bearer ${env:MEMORY_KEY}"}}),
            ("vscode", {"headers": {"Authorization": "Bearer ${env:MEMORY_KEY}"}}),
            ("codex", {"bearer_token_env_var": "MEMORY_KEY"}),
        ],
    )
    def test_the_key_is_named_and_never_written(
        self, quiet: Shell, home: Path, host: str, expected: dict[str, Any]
    ) -> None:
        url = ["--url", "http://127.0.0.1:8321"]
        quiet("install", host, "--yes", *url, "--key-from", "MEMORY_KEY", "--face", "slayer")
        ours = entry(home / PATHS[host], host)
        assert ours["url"] == "http://127.0.0.1:8321/mcp/slayer"
        assert expected.items() <= ours.items()
        secret = "onr_abc12345_" + "x" * 32
        said = quiet("install", host, "--yes", *url, "--key-from", f"Bearer {secret}")
        assert said.code == 2
        assert secret not in said.out + said.err

    def test_claude_desktop_starts_a_bridge_and_finds_the_key_in_our_config_file(
        self, quiet: Shell, home: Path
    ) -> None:
        url = ["--url", "http://127.0.0.1:8321"]
        quiet("install", "claude-desktop", "--yes", *url)
        assert entry(home / PATHS["claude-desktop"], "claude-desktop")["args"] == ["mcp", *url]
        said = quiet("install", "claude-desktop", "--yes", *url, "--key-from", "MEMORY_KEY")
        assert said.code == 2
        assert "config.toml as key" in said.err

    @pytest.mark.parametrize(
        "url", ["m.example", "ftp://m.example", "http://a:b@m.example", "http://m?x=1", "http://["]
    )
    def test_what_is_no_address_is_refused(self, quiet: Shell, url: str) -> None:
        assert "url" in quiet("install", "cursor", "--yes", "--url", url).err


def test_a_link_stays_a_link(quiet: Shell, home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "mcp.json").write_text("{}")
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(home / "dotfiles" / "mcp.json")
    quiet("install", "cursor", "--yes")
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "onrecord" in (home / "dotfiles" / "mcp.json").read_text()


def test_every_other_byte_stays(quiet: Shell, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(WITH_COMMENTS)
    quiet("install", "cursor", "--yes")
    lines = path.read_text().splitlines()
    assert [line for line in WITH_COMMENTS.splitlines() if line not in lines] == []
    assert '\t\t"onrecord": {' in lines


ENTRY = {"command": "onrecord", "args": ["mcp"]}
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(lambda name: name != "onrecord")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(names.filter(lambda name: name != "servers"), values, max_size=3),
    st.dictionaries(names, values, max_size=3),
    st.booleans(),
    st.sampled_from([None, 1, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_a_json_file_holds_only_ours_comes_and_goes(
    around: dict[str, Any], servers: dict[str, Any], has_section: bool, indent: Any, newline: str
) -> None:
    form = JsonForm("servers")
    held = around | ({"servers": servers} if has_section else {})
    text = json.dumps(held, indent=indent).replace("\n", newline) + newline
    put = form.put(text, "onrecord", ENTRY)
    assert json.loads(put) == around | {"servers": (servers if has_section else {}) | {"onrecord": ENTRY}}
    assert form.put(put, "onrecord", ENTRY) == put
    removed = form.remove(put, "onrecord")
    assert json.loads(removed) == around | {"servers": servers if has_section else {}}
    if has_section:
        assert removed == text


@given(st.text(max_size=60))
def test_no_text_is_changed_that_cannot_be_read(text: str) -> None:
    for form in (JsonForm("servers"), TomlForm("servers")):
        for change in (
            lambda form=form: form.put(text, "onrecord", ENTRY),
            lambda form=form: form.remove(text, "onrecord"),
        ):
            try:
                change()
            except UnreadableConfig as problem:
                assert str(problem)


@pytest.mark.parametrize(
    "text",
    [
        'servers = {a = {command = "x"}}\n',
        "servers.onrecord = {command = 'y'}\n",
        "x = '''\n[servers.onrecord]\n'''\n[servers]\nonrecord.command = 'z'\n",
    ],
)
def test_a_layout_that_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    with pytest.raises(UnreadableConfig, match="cannot be"):
        TomlForm("servers").put(text, "onrecord", ENTRY)


def test_tables_of_ours_are_found_however_they_are_written() -> None:
    text = "[ 'servers' . \"onrecord\" ]\ncommand = 'x'\n[servers.onrecord.env]\nA = 'b'\n\n# next\n[z]\n"
    assert tomllib.loads(TomlForm("servers").remove(text, "onrecord")) == {"z": {}}


def test_a_deep_file_is_refused_and_not_waited_for() -> None:
    with pytest.raises(UnreadableConfig, match="deep"):
        JsonForm("servers").put('{"a":' * 100_000, "onrecord", ENTRY)
    nested = '{"a":' * 60 + "1" + "}" * 60
    assert "onrecord" in JsonForm("servers").put(nested, "onrecord", ENTRY)


def test_the_page_shows_what_is_printed(quiet: Shell) -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    shown = re.findall(r"`onrecord install --print ([^`]+)`\n\n```(?:json|toml)\n(.*?)```", page, re.DOTALL)
    assert {words.split()[0] for words, _ in shown} == set(HOSTS)
    for words, block in shown:
        printed = re.sub(
            r'"[^"\n]*[/\\]onrecord"', '"onrecord"', quiet("install", "--print", *words.split()).out
        )
        assert block == printed, words


def test_a_face_that_is_none_is_refused_before_a_host_is_told_of_it(quiet: Shell, home: Path) -> None:
    said = quiet("install", "cursor", "--face", "slyer", "--yes")
    assert said.code == 2
    assert "'slyer' is not a face" in said.err
    assert not (home / ".cursor").exists()


class TestAnEntryOfTheFormerName:
    """It goes on under ours: nobody's agent is left with a command that is not there."""

    @pytest.mark.parametrize("host", HOSTS)
    def test_it_is_replaced_and_keeps_what_it_was_told(self, quiet: Shell, home: Path, host: str) -> None:
        path, form = home / PATHS[host], HOSTS[host].form
        path.parent.mkdir(parents=True, exist_ok=True)
        told = {
            "command": "/opt/bin/recollect",
            "args": ["mcp", "--face", "slayer"],
            "env": {"RECOLLECT_DB": "/data/team.db", "PATH": "/bin"},
        }
        path.write_text(form.whole("recollect", told), encoding="utf-8")
        assert quiet("install", host, "--yes").code == 0
        servers = read(path)[SECTIONS.get(host, "mcpServers")]
        assert list(servers) == ["onrecord"]
        assert servers["onrecord"]["args"] == ["mcp", "--face", "slayer"]
        assert servers["onrecord"]["env"] == {"ONRECORD_DB": "/data/team.db", "PATH": "/bin"}
        assert Path(servers["onrecord"]["command"]).name == "onrecord"

    def test_what_is_said_now_counts(self, quiet: Shell, home: Path) -> None:
        told = {"command": "recollect", "args": ["mcp"], "env": {"RECOLLECT_DB": "/data/team.db"}}
        (home / ".claude.json").write_text(json.dumps({"mcpServers": {"recollect": told}}), encoding="utf-8")
        assert quiet("--db", "/data/mine.db", "install", "claude-code", "--face", "full", "--yes").code == 0
        ours = entry(home / ".claude.json", "claude-code")
        assert (ours["args"], ours["env"]) == (["mcp", "--face", "full"], {"ONRECORD_DB": "/data/mine.db"})

    def test_a_server_elsewhere_stays_the_server(self, quiet: Shell, home: Path) -> None:
        told = {"type": "http", "url": "https://memory.example/mcp"}
        (home / ".claude.json").write_text(json.dumps({"mcpServers": {"recollect": told}}), encoding="utf-8")
        assert quiet("install", "claude-code", "--yes").code == 0
        assert read(home / ".claude.json")["mcpServers"] == {"onrecord": told}

    def test_it_is_taken_out_too(self, quiet: Shell, home: Path) -> None:
        servers = {"recollect": {"command": "recollect"}, "other": {"command": "x"}}
        (home / ".claude.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        assert quiet("uninstall", "claude-code", "--yes").code == 0
        assert read(home / ".claude.json") == {"mcpServers": {"other": {"command": "x"}}}


def test_without_a_name_every_host_that_is_here_learns_of_us(quiet: Shell, home: Path) -> None:
    assert "none found on this machine" in quiet("install", "--yes").err
    (home / ".gemini").mkdir()
    (home / ".claude.json").write_text("{}")
    assert quiet("install", "--yes").code == 0
    assert {path.name for path in home.rglob("*.json")} == {".claude.json", "settings.json"}
    assert entry(home / PATHS["gemini"], "gemini")["args"] == ["mcp"]
    assert quiet("uninstall", "--yes").code == 0
    assert "onrecord" not in (home / ".claude.json").read_text() + (home / PATHS["gemini"]).read_text()


def test_an_entry_is_tried_before_it_is_written(
    shell: Shell, home: Path, words_alone: None, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONRECORD_DB")
    said = shell("install", "gemini", "--yes")
    assert "The entry for Gemini CLI works: 6 tools answer." in said.out, said.err
    said = shell("install", "cursor", "--yes", "--url", server.url)
    assert "The entry for Cursor works: 6 tools answer." in said.out, said.err
    said = shell("install", "zed", "--yes", "--url", "http://127.0.0.1:9")
    assert (said.code, "No answer from http://127.0.0.1:9/mcp" in said.err) == (6, True)
    assert not (home / PATHS["zed"]).exists()
    said = shell("install", "vscode", "--yes", "--url", server.url, "--key-from", "NOT_SET_HERE")
    assert "Not tried: NOT_SET_HERE is not set here" in said.out
    assert (home / PATHS["vscode"]).exists()


def test_a_team_shares_an_entry_in_its_repository(quiet: Shell, home: Path, tmp_path: Path) -> None:
    assert "wants a repository" in quiet("install", "claude-code", "--project", "--yes").err
    (tmp_path / ".git").mkdir()
    assert "name one of claude-code, cursor" in quiet("install", "--project", "--yes").err
    assert "no file of a repository" in quiet("install", "windsurf", "--project", "--yes").err
    shared = ["--project", "--yes", "--url", "https://memory.example", "--key-from", "TEAM_KEY"]
    for host, file in (
        ("claude-code", ".mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
    ):
        assert quiet("install", host, *shared).code == 0
        assert entry(tmp_path / file, host)["url"] == "https://memory.example/mcp"
        assert stat.S_IMODE((tmp_path / file).stat().st_mode) == 0o644
        assert quiet("install", host, "--project", "--yes").code == 0
        # Its place differs from machine to machine, and so does the store of each.
        ours = entry(tmp_path / file, host)
        assert (ours["command"], ours["args"], ours.get("env")) == ("onrecord", ["mcp"], None)
        assert quiet("uninstall", host, "--project", "--yes").code == 0
        assert "onrecord" not in (tmp_path / file).read_text()
    assert list(home.iterdir()) == []
    assert not list(tmp_path.rglob("*before-onrecord"))


def test_rules_come_into_agents_md_and_go_again(quiet: Shell, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    page = tmp_path / "AGENTS.md"
    for before in ("", "# Ours\n\nUse tabs.\n"):
        page.write_text(before)
        assert quiet("install", "rules", "--yes").code == 0
        once = page.read_text()
        assert once.startswith(before)
        assert "`memory_search`" in once
        page.write_text(f"{once}\nMore.\n")
        assert "there already" in quiet("install", "rules", "--yes").out
        assert quiet("uninstall", "rules", "--yes").code == 0
        assert page.read_text() == f"{before}\nMore.\n"
    assert quiet("install", "rules", "--print").out == rules.put("")


def test_the_plugin_and_the_rules_say_the_same() -> None:
    skill = (ROOT / "plugins" / "claude-code" / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    assert skill.endswith(f"# Memory\n\n{rules.RULES}")
