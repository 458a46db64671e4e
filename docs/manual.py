"""WHAT does `man onrecord` say? Writes the manual page from the commands, as the help has them; `make docs` runs it."""

from collections.abc import Iterator
from pathlib import Path

import click

from onrecord import __version__
from onrecord.surfaces.cli.commands import COMMON, IN_CONVERSATION
from onrecord.surfaces.cli.group import command_group
from onrecord.surfaces.cli.sections import SectionedGroup

FILE = Path(__file__).parents[1] / "src" / "onrecord" / "surfaces" / "cli" / "onrecord.1"
#: Told once for all commands.
SHARED = {option.name for option in (*COMMON, IN_CONVERSATION)}


def page() -> str:
    """The whole page."""
    return "\n".join(_lines(command_group())) + "\n"


def _lines(group: SectionedGroup) -> Iterator[str]:
    yield f'.TH ONRECORD 1 "" "onrecord {__version__}" "OnRecord"'
    yield from (".SH NAME", r"onrecord \- a memory layer for agents that work on real systems")
    yield from (".SH SYNOPSIS", ".B onrecord", "[OPTIONS] COMMAND [ARGUMENTS]")
    yield from (".SH DESCRIPTION", _text(str(group.help)))
    yield ".SH OPTIONS"
    yield "Before or after a command:"
    context = click.Context(group, info_name="onrecord")
    for parameter in (*group.params, IN_CONVERSATION):
        yield from _option(parameter, context)
    for section, names in group.sections.items():
        yield f".SH {_text(section.upper())}"
        for name in names:
            yield from _command(group.commands[name], context)
    yield from (".SH EXIT STATUS", _text(str(group.epilog)))
    yield from (
        ".SH SEE ALSO",
        _text("`onrecord COMMAND --help`, and `onrecord config` for the settings in force."),
    )


def _command(command: click.Command, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, context)
        return
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {_text(f'{context.command_path} {usage}')}"
    yield _text(command.help or command.get_short_help_str(1_000))
    for parameter in command.params:
        if parameter.name not in SHARED:
            yield from _option(parameter, context)


def _option(parameter: click.Parameter, context: click.Context) -> Iterator[str]:
    record = parameter.get_help_record(context)
    # An argument has a name alone.
    if record is not None and record[1]:
        yield from (".TP", f".B {_text(record[0])}", _text(record[1]))


def _text(words: str) -> str:
    """Plain words for roff, in which a backslash, a hyphen and a dot at the start of a line mean something."""
    lines = []
    for paragraph in words.replace("\b", "").strip().split("\n\n"):
        text = " ".join(paragraph.split()).replace("\\", r"\e").replace("-", r"\-")
        text = "".join(each if each.isascii() else rf"\[u{ord(each):04X}]" for each in text)
        lines.append(rf"\&{text}" if text.startswith((".", "'")) else text)
    return "\n.PP\n".join(lines)


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
