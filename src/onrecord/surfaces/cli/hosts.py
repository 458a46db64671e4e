"""WHICH hosts of agents are there, and what is our entry in the configuration of each?"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import platformdirs

from onrecord.config import Config, config_path
from onrecord.errors import invalid
from onrecord.surfaces.cli.faces import endpoint
from onrecord.surfaces.cli.host_config import Form, JsonForm, TomlForm

NAME: Final = "onrecord"
ARGUMENTS: Final = ["mcp"]


@dataclass(frozen=True, slots=True)
class Host:
    """A host of agents: where its configuration is, its format, and how it names a server."""

    title: str
    path: Callable[[], Path]
    form: Form
    typed: bool = False
    #: How a header refers to a variable of the environment; None if servers elsewhere are not for this file.
    variable: str | None = None
    #: What it calls the address of a server elsewhere.
    address: str = "url"
    #: Where in a repository it looks for what its team shares; empty if nowhere.
    in_project: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it was used on this machine: its folder is there, or in the home folder its file."""
        path = self.path()
        return path.exists() if path.parent == Path.home() else path.parent.is_dir()


def _of_application(folder: str, *parts: str) -> Callable[[], Path]:
    return lambda: platformdirs.user_config_path(folder, appauthor=False, roaming=True).joinpath(*parts)


HOSTS: Final[dict[str, Host]] = {
    "claude-desktop": Host(
        "Claude Desktop", _of_application("Claude", "claude_desktop_config.json"), JsonForm("mcpServers")
    ),
    "claude-code": Host(
        "Claude Code",
        lambda: Path.home() / ".claude.json",
        JsonForm("mcpServers"),
        typed=True,
        variable="${%s}",
        in_project=".mcp.json",
    ),
    "cursor": Host(
        "Cursor",
        lambda: Path.home() / ".cursor" / "mcp.json",
        JsonForm("mcpServers"),
        variable="${env:%s}",
        in_project=".cursor/mcp.json",
    ),
    "vscode": Host(
        "VS Code",
        _of_application("Code", "User", "mcp.json"),
        JsonForm("servers"),
        typed=True,
        variable="${env:%s}",
        in_project=".vscode/mcp.json",
    ),
    "codex": Host(
        "Codex",
        lambda: Path.home() / ".codex" / "config.toml",
        TomlForm("mcp_servers"),
        variable="%s",
        in_project=".codex/config.toml",
    ),
    "windsurf": Host(
        "Windsurf",
        lambda: Path.home() / ".codeium" / "windsurf" / "mcp_config.json",
        JsonForm("mcpServers"),
        variable="${env:%s}",
        address="serverUrl",
    ),
    "gemini": Host(
        "Gemini CLI",
        lambda: Path.home() / ".gemini" / "settings.json",
        JsonForm("mcpServers"),
        variable="${%s}",
        address="httpUrl",
        in_project=".gemini/settings.json",
    ),
    "zed": Host(
        "Zed",
        lambda: Path.home() / ".config" / "zed" / "settings.json",
        JsonForm("context_servers"),
        in_project=".zed/settings.json",
    ),
}


def local_entry(
    host: Host, faces: list[str], settings: dict[str, str], *, shared: bool = False
) -> dict[str, Any]:
    """Our command over standard input and output, with settings that a host started elsewhere would not have. An entry that a
    team shares names it without its place, which differs from machine to machine.
    """
    entry: dict[str, Any] = {"type": "stdio"} if host.typed else {}
    entry |= {
        "command": NAME if shared else _command(),
        "args": _arguments(faces),
    }
    return entry | {"env": settings} if settings else entry


def _arguments(faces: list[str]) -> list[str]:
    return [*ARGUMENTS, *(word for face in faces for word in ("--face", face))]


def kept_settings(config: Config) -> dict[str, str]:
    """The settings of a configuration that were given to this process alone, by the variables that a host sets."""
    kept = {}
    for each in config.settings:
        variable = f"ONRECORD_{each.name.upper()}"
        if each.name in ("db", "tenant", "user") and each.origin in ("given", variable):
            value = getattr(config, each.name)
            kept[variable] = _absolute(value) if each.name == "db" else value
    return kept


def _absolute(db: str) -> str:
    """The store as an absolute path, since a host starts us in any folder."""
    if db == ":memory:":
        raise invalid("db", "in memory is lost when the host stops; name a file or a DSN")
    is_file = "://" not in db and not db.startswith("yaml:")
    return str(Path(db).expanduser().absolute()) if is_file else db


def _command() -> str:
    """The path of our command: a host has no shell that would look for it."""
    beside = Path(sys.executable).with_name("onrecord.exe" if os.name == "nt" else "onrecord")
    return str(beside) if beside.exists() else "onrecord"


def remote_entry(
    host: Host, url: str, variable: str | None, faces: list[str], *, shared: bool = False
) -> dict[str, Any]:
    """The address of a server elsewhere, and the variable from which the host takes a key for it."""
    if host.variable is None:
        if variable is not None:
            raise invalid(
                "key-from",
                f'{host.title} passes no variables on; put the key into {config_path()} as key = "…", where `onrecord mcp` '
                "finds it",
            )
        # It starts local servers from this file and no others; ours passes everything on.
        endpoint(url, faces)
        command = NAME if shared else _command()
        return {"command": command, "args": [*_arguments(faces), "--url", url.rstrip("/")]}
    entry: dict[str, Any] = {"type": "http"} if host.typed else {}
    entry[host.address] = endpoint(url, faces)
    if variable is None:
        return entry
    if not variable.isidentifier():
        # Perhaps it is the key itself, which must not end up in a file, nor here.
        raise invalid("key-from", "must be the name of an environment variable, not a key")
    if isinstance(host.form, TomlForm):
        return entry | {"bearer_token_env_var": host.variable % variable}
    return entry | {"headers": {"Authorization": f"Bearer {host.variable % variable}"}}
