"""HOW does an agent get at this store? The text for the configuration of each host, as `onrecord install` writes it."""

import shlex
from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from starlette.responses import Response

from onrecord.app import is_loopback
from onrecord.config import Config
from onrecord.surfaces.cli.hosts import HOSTS, NAME, Host, kept_settings, local_entry, remote_entry
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.sign_in import ComingIn
from onrecord.surfaces.web.site import Page

#: The environment variable that holds a key, in the texts of this page.
_VARIABLE: Final = "ONRECORD_KEY"
_DB: Final = "ONRECORD_DB"
#: The options of `onrecord install` for settings of this server alone.
_OPTIONS: Final = {"--db": _DB, "--tenant": "ONRECORD_TENANT", "--user": "ONRECORD_USER"}


class HostTexts(NamedTuple):
    """What a host gets: by which name it is installed, what it is, and its texts; None where it takes no such thing."""

    name: str
    host: Host
    path: str
    #: The command that writes it, with the store that this server was given.
    command: str
    local: str | None
    remote: str | None


def pages(config: Config, coming: ComingIn) -> tuple[Page, ...]:
    return (Page(path="/connect", show=partial(_connect, config, coming), menu="Connect"),)


def _connect(config: Config, coming: ComingIn, view: PageView) -> Response:
    is_here = _is_here(config, view)
    url = coming.address(view.request, "/mcp")
    return view.html(
        "connect.html",
        hosts=list(_shown(config, url, is_here)),
        is_here=is_here,
        hides_db=is_here and "://" in config.db,
        url=url,
        variable=_VARIABLE,
    )


def _is_here(config: Config, view: PageView) -> bool:
    """Whether the server's owner asks, on the machine of both: they showed nothing, and were let in."""
    shows_key = view.is_signed_in or "authorization" in view.request.headers
    return is_loopback(config.host) and not shows_key


def _shown(config: Config, url: str, is_here: bool) -> Iterable[HostTexts]:
    # Nobody else gets at a store in memory.
    has_local = is_here and config.db != ":memory:"
    settings = kept_settings(config) if has_local else {}
    if "://" in config.db:
        # It may hold a password, which no page shows.
        settings.pop(_DB, None)
    options = [
        word
        for option, variable in _OPTIONS.items()
        if variable in settings
        for word in (option, settings[variable])
    ]
    for name, host in HOSTS.items():
        local = remote = None
        if has_local:
            local = host.form.whole(NAME, local_entry(host, [], settings))
        if host.variable is not None:
            remote = host.form.whole(NAME, remote_entry(host, url, _VARIABLE, []))
        command = shlex.join(["onrecord", "install", name, *options])
        yield HostTexts(name, host, str(host.path()) if has_local else "", command, local, remote)
