"""HOW does an agent's host learn of us? `onrecord install` writes our entry into its configuration; `uninstall`
removes it.

Nothing else in the file changes, not a byte: comments, order and layout stay.
"""

import difflib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click
import platformdirs

from onrecord import private_files
from onrecord.errors import invalid
from onrecord.former_name import renamed_variables
from onrecord.surfaces.cli.commands import COMMON, common_options
from onrecord.surfaces.cli.faces import FACE, names_in
from onrecord.surfaces.cli.host_config import Form, JsonForm, TomlForm, Unreadable
from onrecord.surfaces.cli.mcp import tools_of

NAME: Final = "onrecord"
#: What our entry was called while the project had another name; it goes on under the present one.
_FORMER: Final = "recollect"

_HELP = """Tell an agent's host where its memory is: claude-desktop, claude-code, cursor, vscode or codex.

What would change in its configuration is shown first and written when you say yes; a copy of the file as it was is kept
beside it. With --print, the configuration is printed and no file is touched.
"""


@dataclass(frozen=True, slots=True)
class Host:
    """A host of agents: where its configuration is, its format, and how it names a server."""

    title: str
    path: Callable[[], Path]
    form: Form
    typed: bool = False
    #: How a header refers to a variable of the environment; None if servers elsewhere are not for this file.
    variable: str | None = None


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
    ),
    "cursor": Host(
        "Cursor",
        lambda: Path.home() / ".cursor" / "mcp.json",
        JsonForm("mcpServers"),
        variable="${env:%s}",
    ),
    "vscode": Host(
        "VS Code",
        _of_application("Code", "User", "mcp.json"),
        JsonForm("servers"),
        typed=True,
        variable="${env:%s}",
    ),
    "codex": Host(
        "Codex", lambda: Path.home() / ".codex" / "config.toml", TomlForm("mcp_servers"), variable="%s"
    ),
}
_ARGUMENTS: Final = ["mcp"]
_HOST: Final = click.Argument(["host"], metavar="|".join(HOSTS), type=click.Choice(list(HOSTS)))
_YES: Final = click.Option(["--yes", "-y"], is_flag=True, help="Write without asking.")


def install_command() -> click.Command:
    return click.Command(
        "install",
        params=[
            _HOST,
            click.Option(["--print", "printed"], is_flag=True, help="Print the configuration and stop."),
            click.Option(["--url"], help="A server to ask, instead of the store on this machine."),
            click.Option(
                ["--key-from"],
                metavar="VARIABLE",
                help="The environment variable from which the host takes the key for that server.",
            ),
            FACE,
            _YES,
            *COMMON,
        ],
        help=_HELP,
        short_help="Tell an agent's host where its memory is",
        callback=click.pass_context(_install),
    )


def uninstall_command() -> click.Command:
    return click.Command(
        "uninstall",
        params=[_HOST, _YES, *COMMON],
        help="Take our entry out of the configuration of an agent's host, and nothing else.",
        callback=click.pass_context(_uninstall),
    )


def _install(
    context: click.Context, host: str, printed: bool, yes: bool, faces: tuple[str, ...], **given: Any
) -> None:
    url, variable = given.pop("url"), given.pop("key_from")
    common, chosen = common_options(context, given), HOSTS[host]
    names = names_in(faces)
    if url is None and variable is not None:
        raise invalid("key-from", "is for a server elsewhere; give its --url too")
    entry = _remote(chosen, url, variable, names) if url else _local(chosen, names, common)
    if printed:
        click.echo(chosen.form.whole(NAME, entry), nl=False)
        return
    path = chosen.path()
    before = _text(path)
    after = _edited(path, lambda: _put(chosen.form, before, entry))
    if after == before:
        click.echo(f"{chosen.title} knows it already: {path}")
        return
    _write(path, before, after, yes=yes)
    click.echo(
        f"Written to {path}. Restart {chosen.title} to use it; `onrecord uninstall {host}` takes it out."
    )


def _uninstall(context: click.Context, host: str, yes: bool, **given: Any) -> None:
    chosen = HOSTS[host]
    path = chosen.path()
    before = _text(path)
    after = _edited(path, lambda: chosen.form.remove(chosen.form.remove(before, _FORMER), NAME))
    if after == before:
        click.echo(f"Nothing of ours is in {path}.")
        return
    _write(path, before, after, yes=yes)
    click.echo(f"Taken out of {path}. Restart {chosen.title}.")


def _put(form: Form, text: str, entry: dict[str, Any]) -> str:
    """Our entry in place of an earlier one; settings of an entry of the former name are kept unless replaced."""
    former = form.entry(text, _FORMER)
    if former is None:
        return form.put(text, NAME, entry)
    return form.put(form.remove(text, _FORMER), NAME, _taken_over(former, entry))


def _taken_over(former: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    if "url" in former or "url" in entry:
        return entry if "url" in entry else former
    kept = dict(entry)
    if entry["args"] == _ARGUMENTS and former.get("args", [])[:1] == _ARGUMENTS:
        kept["args"] = former["args"]
    if env := renamed_variables(former.get("env", {})) | entry.get("env", {}):
        kept["env"] = env
    return kept


def _local(host: Host, faces: list[str], common: dict[str, Any]) -> dict[str, Any]:
    """Our command over standard input and output, with the settings that were given here."""
    if faces:
        # Checked now: a host that starts us with an unknown face only reports that we do not answer.
        tools_of(faces)
    entry: dict[str, Any] = {"type": "stdio"} if host.typed else {}
    entry |= {
        "command": _command(),
        "args": [*_ARGUMENTS, *(word for face in faces for word in ("--face", face))],
    }
    if settings := _settings(common):
        entry["env"] = settings
    return entry


def _settings(common: dict[str, Any]) -> dict[str, str]:
    """The settings of this shell that a host started elsewhere would not have."""
    from onrecord.config import load

    config = load(db=common["db"], tenant=common["tenant"], user=common["user"])
    told = {each.name: each.origin for each in config.settings if each.name in ("db", "tenant", "user")}
    kept = {}
    for name, origin in told.items():
        if origin in ("given", f"ONRECORD_{name.upper()}"):
            value = getattr(config, name)
            kept[f"ONRECORD_{name.upper()}"] = _absolute(value) if name == "db" else value
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


def _remote(host: Host, url: str, variable: str | None, faces: list[str]) -> dict[str, Any]:
    if host.variable is None:
        raise invalid(
            "url",
            f"{host.title} starts local servers from this file and no others; add a server under "
            "Settings, Connectors, or install without --url",
        )
    entry: dict[str, Any] = {"type": "http"} if host.typed else {}
    entry["url"] = _endpoint(url, faces)
    if variable is None:
        return entry
    if not variable.isidentifier():
        # Perhaps it is the key itself, which must not end up in a file, nor here.
        raise invalid("key-from", "must be the name of an environment variable, not a key")
    if isinstance(host.form, TomlForm):
        return entry | {"bearer_token_env_var": host.variable % variable}
    return entry | {"headers": {"Authorization": f"Bearer {host.variable % variable}"}}


def _endpoint(url: str, faces: list[str]) -> str:
    """The address of the protocol, if only the server is given."""
    try:
        there = urlsplit(url)
        is_address = there.scheme in ("http", "https") and bool(there.hostname) and not there.username
    except ValueError:
        is_address = False
    if not is_address or there.query or there.fragment:
        raise invalid("url", "must be the address of a server, such as http://127.0.0.1:8321")
    base = url.rstrip("/")
    if "/mcp" not in there.path:
        base += "/mcp"
    return f"{base}/{'+'.join(faces)}" if faces else base


def _text(path: Path) -> str:
    try:
        # Line ends stay what they are.
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as problem:
        raise invalid(str(path), f"cannot be read, and was left as it is: {problem}") from None


def _edited(path: Path, edit: Callable[[], str]) -> str:
    try:
        return edit()
    except Unreadable as problem:
        reason = f"{problem}. The file was left as it is; repair it, or see onrecord install --print"
        raise invalid(str(path), reason) from None


def _write(path: Path, before: str, after: str, *, yes: bool) -> None:
    """Show the changes, ask, and replace the file; the old one is kept as a copy."""
    lines = (before.splitlines(), after.splitlines())
    for line in difflib.unified_diff(*lines, str(path), str(path), lineterm=""):
        click.echo(line)
    if not yes and not click.confirm("Write this?", err=True):
        raise click.Abort
    try:
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        if target.exists():
            _replace(target.with_name(f"{target.name}.before-onrecord"), before, mode)
        _replace(target, after, mode)
    except OSError as problem:
        raise invalid(str(path), f"cannot be written: {problem.strerror or problem}") from None


def _replace(path: Path, text: str, mode: int) -> None:
    """Replace the whole file or nothing."""
    with private_files.replacing(path) as partial:
        partial.write_bytes(text.encode())
        partial.chmod(mode)
