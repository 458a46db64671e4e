"""HOW is a face chosen on a command line? By `--face`, the same for every command that serves or sets up agents; at a server
it is part of the address."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import click

from onrecord.errors import invalid
from onrecord.faces import USUAL, WITH_TOOLS
from onrecord.surfaces.cli.completion import among

_LISTED: Final = "; ".join(
    f"{face.name}{' (the usual one)' if face.name == USUAL else ''}, {face.summary}"
    for face in WITH_TOOLS.values()
)
FACE: Final = click.Option(
    ["--face", "faces"],
    multiple=True,
    metavar="NAME",
    help=f"Which tools: {_LISTED}. May be repeated, or with commas between.",
    shell_complete=among(lambda: WITH_TOOLS, several=True),
)


def names_in(given: Sequence[str]) -> list[str]:
    """The given names, one by one or separated by commas."""
    return [name for each in given for part in each.split(",") if (name := part.strip())]


def endpoint(url: str, faces: Sequence[str]) -> str:
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
