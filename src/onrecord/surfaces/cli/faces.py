"""HOW is a face chosen on a command line? By `--face`, the same for every command that serves or sets up agents."""

from collections.abc import Sequence
from typing import Final

import click

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
