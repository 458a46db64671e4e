"""HOW does an agent's host learn of us? `onrecord install` writes our entry into its configuration; `uninstall`
removes it.

Nothing else in the file changes, not a byte: comments, order and layout stay.
"""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord import private_files
from onrecord.errors import invalid
from onrecord.former_name import renamed_variables
from onrecord.surfaces.cli.commands import COMMON, common_options, config_of
from onrecord.surfaces.cli.entry_check import tools_of_entry
from onrecord.surfaces.cli.faces import FACE, names_in
from onrecord.surfaces.cli.host_config import Form, UnreadableConfig
from onrecord.surfaces.cli.hosts import ARGUMENTS, HOSTS, NAME, Host, kept_settings, local_entry, remote_entry
from onrecord.surfaces.cli.mcp import tools_of

if TYPE_CHECKING:
    from onrecord.config import Config

#: What our entry was called while the project had another name; it goes on under the present one.
_FORMER: Final = "recollect"

_HELP = f"""Tell an agent's host where its memory is: {", ".join(HOSTS)}. Without a name, every one that is found on this
machine.

What would change in its configuration is shown first and written when you say yes; a copy of the file as it was is kept
beside it. With --print, the configuration is printed and no file is touched.
"""


_HOST: Final = click.Argument(["host"], metavar="[HOST]", required=False, type=click.Choice(list(HOSTS)))
_YES: Final = click.Option(["--yes", "-y"], is_flag=True, help="Write without asking.")


def install_command() -> click.Command:
    return click.Command(
        "install",
        params=[
            _HOST,
            click.Option(["--print", "printed"], is_flag=True, help="Print the configuration and stop."),
            click.Option(
                ["--key-from"],
                metavar="VARIABLE",
                help="The environment variable from which the host takes the key for that server.",
            ),
            click.Option(
                ["--check"], is_flag=True, help="Start the entry as the host will, and ask for its tools."
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


def _hosts(host: str | None) -> list[str]:
    """The host that was named, or all that are here."""
    if host is not None:
        return [host]
    found = [name for name, each in HOSTS.items() if each.is_here]
    if not found:
        raise invalid("host", f"is none found on this machine; name one of {', '.join(HOSTS)}")
    return found


def _install(context: click.Context, host: str | None, faces: tuple[str, ...], **given: Any) -> None:
    names = names_in(faces)
    for name in _hosts(host):
        _install_in(context, name, names, **given)


def _install_in(
    context: click.Context, host: str, names: list[str], printed: bool, yes: bool, check: bool, **given: Any
) -> None:
    variable = given.pop("key_from")
    common, chosen = common_options(context, given), HOSTS[host]
    config = config_of(common)
    if config.url is None and variable is not None:
        raise invalid("key-from", "is for a remote server; give its --url too")
    entry = (
        _local(chosen, names, config)
        if config.url is None
        else remote_entry(chosen, config.url, variable, names)
    )
    if printed:
        click.echo(chosen.form.whole(NAME, entry), nl=False)
        return
    if check:
        click.echo(f"The entry for {chosen.title} works: {tools_of_entry(entry)} tools answer.")
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


def _uninstall(context: click.Context, host: str | None, yes: bool, **given: Any) -> None:
    for name in _hosts(host):
        _uninstall_from(name, yes)


def _uninstall_from(host: str, yes: bool) -> None:
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
    if entry["args"] == ARGUMENTS and former.get("args", [])[:1] == ARGUMENTS:
        kept["args"] = former["args"]
    if env := renamed_variables(former.get("env", {})) | entry.get("env", {}):
        kept["env"] = env
    return kept


def _local(host: Host, faces: list[str], config: "Config") -> dict[str, Any]:
    """Our command, with the settings that were given here."""
    if faces:
        # Checked now: a host that starts us with an unknown face only reports that we do not answer.
        tools_of(faces)
    return local_entry(host, faces, kept_settings(config))


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
    except UnreadableConfig as problem:
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
