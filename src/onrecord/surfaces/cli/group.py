"""WHICH commands are there? One for each operation, and those that are about the program itself."""

from typing import Final

import click

from onrecord import __version__, faces
from onrecord.features import OPERATIONS
from onrecord.surfaces.cli.commands import COMMON, command_of, config_command
from onrecord.surfaces.cli.evaluate import eval_command
from onrecord.surfaces.cli.install import install_command, uninstall_command
from onrecord.surfaces.cli.mcp import mcp_command
from onrecord.surfaces.cli.migrate import migrate_command
from onrecord.surfaces.cli.sections import AGENTS, CARE, VOCABULARIES, Sectioned, section_of
from onrecord.surfaces.cli.serve import serve_command
from onrecord.surfaces.cli.work import work_command

_EPILOG: Final = """\
Exit codes: 0 done, 1 the doctor found problems, 2 the request is wrong, 3 not found, 4 not allowed,
5 something stands in the way, 6 the store cannot be used.
"""


def command_group() -> click.Group:
    group = Sectioned(
        "onrecord",
        params=[
            *COMMON,
            click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version),
        ],
        help="The memory layer for agents that work on real systems: no model, no network, only the store you name.",
        epilog=_EPILOG,
        callback=click.pass_context(lambda context, **common: setattr(context, "obj", common)),
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": 110,
            # Whoever knows a field by its name in Python may write it so; the help has hyphens alone.
            "token_normalize_func": lambda token: token.replace("_", "-"),
        },
    )
    for operation in OPERATIONS:
        if operation.command is not None:
            group.put(section_of(operation), command_of(operation, group.commands))
    group.put(CARE, config_command(), migrate_command(), work_command(), eval_command())
    group.put(AGENTS, serve_command(), mcp_command(), install_command(), uninstall_command())
    for face in faces.loaded("commands"):
        group.put(VOCABULARIES, *face.commands())
    return group


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"onrecord {__version__}")
        context.exit()
