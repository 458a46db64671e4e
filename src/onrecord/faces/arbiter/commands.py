"""HOW does one run an agent's text from a shell? `onrecord slash` runs the commands in it and prints the answers."""

import sys
from pathlib import Path
from typing import Any, Final

import click

from onrecord.errors import invalid
from onrecord.model.wire import to_json
from onrecord.surfaces.cli.commands import COMMON, IN_CONVERSATION, common_options, opened_door
from onrecord.surfaces.cli.render import show_json

_HELP: Final = """Run the memory commands in an agent's text and print what they answer.

FILE holds the text; without it, or with -, it is read from standard input. Every `/mem …` line and
`/mem add entry … /endmem` block, `/write --persist PATH … /endwrite` and `/read #ID` in it is run in order; the rest is
left alone. A command that fails says so in its block, and the next is run all the same.
"""
_STANDARD: Final = "-"


def commands() -> list[click.Command]:
    slash = click.Command(
        "slash",
        params=[
            click.Argument(["file"], metavar="[FILE]", required=False, default=_STANDARD),
            click.Option(
                ["--agent"], help="The agent whose scratchpad and settings are used.", metavar="NAME"
            ),
            IN_CONVERSATION,
            *COMMON,
        ],
        help=_HELP,
        short_help="Run the memory commands in an agent's text",
        callback=click.pass_context(_run),
    )
    return [slash]


def _run(context: click.Context, file: str, agent: str | None, **given: Any) -> None:
    from onrecord.faces.arbiter import slash

    common = common_options(context, given)
    text = _text(file)
    # Create a missing store, as over MCP: an agent's turn must not fail because nothing is stored yet.
    with opened_door(common, create=True) as door:
        answer = slash.run(door, text, agent=agent)
    if common["as_json"]:
        show_json(to_json(answer))
    elif answer.output:
        click.echo(answer.output)


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == _STANDARD else Path(file).read_bytes().decode()
    except OSError as problem:
        raise invalid("file", f"{file} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        reason = f"is not UTF-8 ({problem.reason} at byte {problem.start}); convert it first"
        raise invalid("file", reason) from None
