"""HOW does someone look around in a minute? `onrecord demo` serves a demo shop, and opens a browser on it."""

import tempfile
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.errors import invalid
from onrecord.surfaces.cli.commands import COMMON, common_options, config_of
from onrecord.surfaces.cli.serve import address_of, announce, listen, require_packages, serve

if TYPE_CHECKING:
    from onrecord.service import OnRecord

_HELP: Final = """Look around in a demo shop: what a small team and its agents learned in seven months.

It is served to this machine alone, from a temporary store that is deleted when you stop it; with --db, from an empty
store of your own, which stays.
"""


def demo_command() -> click.Command:
    return click.Command(
        "demo",
        params=[
            click.Option(["--port"], help="On which port; a free one when left out."),
            click.Option(["--no-browser"], is_flag=True, help="Print the address, and open no browser."),
            *COMMON,
        ],
        help=_HELP,
        short_help="Look around in a demo shop",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, port: str | None, no_browser: bool, **given: Any) -> None:
    require_packages()
    from onrecord.app import open_server_parts
    from onrecord.surfaces.serving import application
    from onrecord.surfaces.serving.connections import server_settings

    common = common_options(context, given)
    with ExitStack() as at_end:
        if common["db"] is None:
            folder = at_end.enter_context(tempfile.TemporaryDirectory(prefix="onrecord-demo-"))
            common["db"] = str(Path(folder, "demo.db"))
        config = config_of(common, host="127.0.0.1", port=port or "0")
        parts = open_server_parts(config)
        try:
            _load(parts.door)
            app, settings = application(config, parts), server_settings(config)
            listening = at_end.enter_context(listen(config))
        except BaseException:
            parts.close()
            raise
        address = address_of(listening)
        announce(f"The demo shop is at {address}; Ctrl-C ends it. Its store is {parts.door.location}.")
        if not no_browser:
            # Some browsers only return when they are closed.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        serve(app, settings, listening)


def _load(door: "OnRecord") -> None:
    from onrecord import demo

    if demo.is_loaded(door):
        return
    if door.tally("status").total:
        raise invalid("db", "holds memories of its own; name an empty store, or leave it out")
    demo.load(door)
