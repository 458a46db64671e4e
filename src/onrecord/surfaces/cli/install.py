"""HOW does an agent's host learn of us? `onrecord install` writes our entry into its configuration; `uninstall`
removes it.

Nothing else in the file changes, not a byte: comments, order and layout stay.
"""

import difflib
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord import private_files
from onrecord.errors import invalid
from onrecord.former_name import renamed_variables
from onrecord.repository import root_of
from onrecord.surfaces.cli import rules
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

#: Named like a host: what agents read in a repository, whichever their host.
_RULES: Final = "rules"

_HELP = f"""Tell an agent's host where its memory is: {", ".join(HOSTS)}. Without a name, every one that is found on this
machine. `rules` tells the agents themselves when to use memory, in the {rules.FILE} of this repository.

What would change in its configuration is shown first. When you say yes, the entry is tried and written; a copy of the file as it
was is kept beside it. With --print, the configuration is printed and no file is touched.
"""


_HOST: Final = click.Argument(["host"], metavar="[HOST]", required=False, type=click.Choice([*HOSTS, _RULES]))
_YES: Final = click.Option(["--yes", "-y"], is_flag=True, help="Write without asking.")
_PROJECT: Final = click.Option(
    ["--project", "shared"],
    is_flag=True,
    help="In the file of this repository that its team shares, such as .mcp.json, not in your own.",
)


def install_command() -> click.Command:
    return click.Command(
        "install",
        params=[
            _HOST,
            _PROJECT,
            click.Option(["--print", "printed"], is_flag=True, help="Print the configuration and stop."),
            click.Option(
                ["--key-from"],
                metavar="VARIABLE",
                help="The environment variable from which the host takes the key for that server.",
            ),
            click.Option(
                ["--check/--no-check"],
                default=True,
                help="Start the entry as the host will, and ask for its tools, before it is written.",
                show_default=True,
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
        params=[_HOST, _PROJECT, _YES, *COMMON],
        help="Take our entry out of the configuration of an agent's host, and nothing else.",
        callback=click.pass_context(_uninstall),
    )


def _install(context: click.Context, host: str | None, faces: tuple[str, ...], **given: Any) -> None:
    common = common_options(context, given)
    if host == _RULES:
        _install_rules(printed=given["printed"], yes=given["yes"])
        return
    config = config_of(common)
    if config.url is None and given["key_from"] is not None:
        raise invalid("key-from", "is for a remote server; give its --url too")
    tried: dict[str, int] = {}
    for name in _hosts(host, shared=given["shared"]):
        _install_in(name, names_in(faces), config, tried, **given)


def _install_in(
    name: str,
    faces: list[str],
    config: "Config",
    tried: dict[str, int],
    *,
    key_from: str | None,
    **given: Any,
) -> None:
    """Show and write the entry of one host; `tried` are entries that work, each of which is started once."""
    host, shared = HOSTS[name], given["shared"]
    entry = (
        _local(host, faces, config, shared=shared)
        if config.url is None
        else remote_entry(host, config.url, key_from, faces, shared=shared)
    )
    if given["printed"]:
        click.echo(host.form.whole(NAME, entry), nl=False)
        return

    def try_it() -> None:
        if key_from is not None and key_from not in os.environ:
            click.echo(f"Not tried: {key_from} is not set here, so that there is no key.")
            return
        if (started := json.dumps(entry)) not in tried:
            key = config.key if key_from is None else os.environ[key_from]
            tried[started] = tools_of_entry(entry, config.url, key)
        click.echo(f"The entry for {host.title} works: {tried[started]} tools answer.")

    path = _path(host, shared=shared)
    before = _text(path)
    after = _edited(path, lambda: _put(host.form, before, entry))
    if after == before:
        click.echo(f"{host.title} knows it already: {path}")
        return
    first = try_it if given["check"] else _nothing
    _write(path, before, after, yes=given["yes"], shared=shared, first=first)
    out = f"onrecord uninstall {name}{' --project' if shared else ''}"
    click.echo(f"Written to {path}. Restart {host.title} to use it; `{out}` takes it out.")


def _uninstall(context: click.Context, host: str | None, shared: bool, yes: bool, **given: Any) -> None:
    if host == _RULES:
        _uninstall_from(_rules_path(), rules.remove, yes=yes, shared=True)
        return
    for name in _hosts(host, shared=shared):
        path, form = _path(HOSTS[name], shared=shared), HOSTS[name].form
        if _uninstall_from(path, partial(_without_ours, form), yes=yes, shared=shared):
            click.echo(f"Restart {HOSTS[name].title}.")


def _uninstall_from(path: Path, remove: Callable[[str], str], *, yes: bool, shared: bool) -> bool:
    before = _text(path)
    after = _edited(path, lambda: remove(before))
    if after == before:
        click.echo(f"Nothing of ours is in {path}.")
        return False
    _write(path, before, after, yes=yes, shared=shared)
    click.echo(f"Taken out of {path}.")
    return True


def _install_rules(*, printed: bool, yes: bool) -> None:
    if printed:
        click.echo(rules.put(""), nl=False)
        return
    path = _rules_path()
    before = _text(path)
    after = rules.put(before)
    if after == before:
        click.echo(f"It is there already: {path}")
        return
    _write(path, before, after, yes=yes, shared=True)
    click.echo(f"Written to {path}; `onrecord uninstall rules` takes it out.")


def _hosts(host: str | None, *, shared: bool) -> list[str]:
    """The host that was named, or all that are here."""
    if host is not None:
        return [host]
    if shared:
        named = ", ".join(name for name, each in HOSTS.items() if each.in_project)
        raise invalid("host", f"is needed with --project; name one of {named}")
    found = [name for name, each in HOSTS.items() if each.is_here]
    if not found:
        raise invalid("host", f"is none found on this machine; name one of {', '.join(HOSTS)}")
    return found


def _path(host: Host, *, shared: bool) -> Path:
    if not shared:
        return host.path()
    if not host.in_project:
        raise invalid("project", f"is not for {host.title}, which reads no file of a repository")
    return _repository() / host.in_project


def _rules_path() -> Path:
    return _repository() / rules.FILE


def _repository() -> Path:
    root = root_of(Path.cwd())
    if root is None:
        raise invalid("project", "wants a repository; there is none here")
    return root


def _without_ours(form: Form, text: str) -> str:
    return form.remove(form.remove(text, _FORMER), NAME)


def _nothing() -> None:
    return


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


def _local(host: Host, faces: list[str], config: "Config", *, shared: bool) -> dict[str, Any]:
    """Our command, with the settings that were given here, unless others share them."""
    if faces:
        # Checked now: a host that starts us with an unknown face only reports that we do not answer.
        tools_of(faces)
    return local_entry(host, faces, {} if shared else kept_settings(config), shared=shared)


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


def _write(
    path: Path, before: str, after: str, *, yes: bool, shared: bool, first: Callable[[], None] = _nothing
) -> None:
    """Show the changes, ask, do what comes `first`, and replace the file. Of a person's own file the old one is kept as a copy;
    what a team shares, its repository keeps.
    """
    lines = (before.splitlines(), after.splitlines())
    for line in difflib.unified_diff(*lines, str(path), str(path), lineterm=""):
        click.echo(line)
    if not yes and not click.confirm("Write this?", err=True):
        raise click.Abort
    first()
    try:
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        usual = 0o644 if shared else 0o600
        mode = target.stat().st_mode & 0o777 if target.exists() else usual
        if target.exists() and not shared:
            _replace(target.with_name(f"{target.name}.before-onrecord"), before, mode)
        _replace(target, after, mode)
    except OSError as problem:
        raise invalid(str(path), f"cannot be written: {problem.strerror or problem}") from None


def _replace(path: Path, text: str, mode: int) -> None:
    """Replace the whole file or nothing."""
    with private_files.replacing(path) as partial:
        partial.write_bytes(text.encode())
        partial.chmod(mode)
