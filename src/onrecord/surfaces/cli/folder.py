"""HOW are memories edited as files from a shell? `onrecord folder write`, `plan` and `apply`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from onrecord.model.wire import to_json
from onrecord.surfaces.cli import render
from onrecord.surfaces.cli.background_embedding import leave_worker
from onrecord.surfaces.cli.commands import (
    COMMON,
    IN_CONVERSATION,
    WORKING,
    common_options,
    config_of,
    reached_door,
)
from onrecord.surfaces.cli.sections import OrderedGroup

_HELP: Final = """Edit memories as a folder of Markdown, one file each, for example in git.

`write` writes the folder, `plan` says what differs between it and the store, and `apply` brings them together: what was changed,
added or removed here goes into the store, what was changed there comes into the files. Where both changed the same lines, both stay
in the file between marks, and nothing is saved until you have chosen.
"""
_COMMANDS: Final = {
    "write": "Write every memory that counts into a folder.",
    "plan": "Say what differs between a folder and the store, and change nothing. Exits with 1 if something is in conflict.",
    "apply": "Bring a folder and the store together. Exits with 1 if something is in conflict.",
}


def folder_command() -> click.Command:
    group = OrderedGroup("folder", help=_HELP, short_help="Edit memories as a folder of Markdown files")
    for name, help_text in _COMMANDS.items():
        group.add_command(
            click.Command(
                name,
                params=[click.Argument(["folder"], metavar="DIR"), IN_CONVERSATION, *COMMON],
                help=help_text,
                callback=click.pass_context(_runner(name)),
            )
        )
    return group


def _runner(name: str) -> Callable[..., None]:
    def run(context: click.Context, folder: str, **given: Any) -> None:
        from onrecord.care.folder import applying

        act = {"write": applying.write, "plan": applying.planned, "apply": applying.apply}[name]
        common = common_options(context, given)
        with render.progress(WORKING) as report, reached_door(common, report=report) as door:
            answer = act(door, Path(folder).expanduser(), report)
            if common["as_json"]:
                render.show_json(to_json(answer))
            else:
                render.show(answer)
            leave_worker(door, config_of(common))
        if code := render.exit_code(answer):
            context.exit(code)

    return run
