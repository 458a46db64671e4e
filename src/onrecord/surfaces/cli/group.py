"""WHICH commands are there? One for each operation, and those about the program itself."""

from functools import cached_property
from importlib import import_module
from typing import Any, Final

import click

from onrecord import __version__, faces, features
from onrecord.surfaces.cli.commands import COMMON, command_of
from onrecord.surfaces.cli.sections import AGENTS, CARE, VOCABULARIES, SectionedGroup, section_of

_EPILOG: Final = """\
Exit codes: 0 done, 1 the doctor found problems, 2 the request is wrong, 3 not found, 4 not allowed,
5 something stands in the way, 6 the store cannot be used, 7 `impact` found what would go stale.
"""
#: The module and the section of those about the program itself; each is made by `NAME_command` there.
_OWN: Final = {
    "import": ("importing", CARE),
    "config": ("commands", CARE),
    "folder": ("folder", CARE),
    "lint": ("lint", CARE),
    "migrate": ("migrate", CARE),
    "work": ("work", CARE),
    "hook": ("hook", AGENTS),
    "eval": ("evaluate", CARE),
    "serve": ("serve", AGENTS),
    "demo": ("demo", AGENTS),
    "mcp": ("mcp", AGENTS),
    "proxy": ("proxy", AGENTS),
    "install": ("install", AGENTS),
    "uninstall": ("install", AGENTS),
}


class CommandLine(click.Group):
    """The command line. Calling a command by name loads no other; listing them loads all."""

    @cached_property
    def _all(self) -> SectionedGroup:
        return command_group()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _OWN:
            return _own_command(cmd_name)
        for name in (cmd_name.replace("-", "_"), f"{cmd_name}_"):
            if name in features.HOMES and features.operation_named(name).command == cmd_name:
                return command_of(features.operation_named(name), {})
        return self._all.get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # The log of who did what takes no path: whoever gives one asks what is wrong in that store.
        if args[0] == "audit" and len(args) > 1 and not args[1].startswith("-"):
            args = ["lint", *args[1:]]
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._all.list_commands(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self._all.format_commands(ctx, formatter)


def command_line() -> click.Group:
    return CommandLine(**_root())


def command_group() -> SectionedGroup:
    """All commands, loaded."""
    group = SectionedGroup(**_root())
    for operation in features.OPERATIONS:
        if operation.command is not None:
            group.put(section_of(operation), command_of(operation, group.commands))
    for name, (_, section) in _OWN.items():
        group.put(section, _own_command(name))
    for face in faces.loaded("commands"):
        group.put(VOCABULARIES, *face.commands())
    return group


def _own_command(name: str) -> click.Command:
    command: click.Command = getattr(
        import_module(f"onrecord.surfaces.cli.{_OWN[name][0]}"), f"{name}_command"
    )()
    return command


def _root() -> dict[str, Any]:
    """The options before every command, and the general help."""
    return {
        "name": "onrecord",
        "params": [
            *COMMON,
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_version,
                help="Print the version and stop.",
            ),
        ],
        "help": "The memory layer for agents that work on real systems: no model, no network, only the store you name.",
        "epilog": _EPILOG,
        "callback": click.pass_context(lambda context, **common: setattr(context, "obj", common)),
        "context_settings": {
            "help_option_names": ["-h", "--help"],
            "max_content_width": 110,
            # Whoever knows a field by its name in Python may write it so; the help has hyphens alone.
            "token_normalize_func": lambda token: token.replace("_", "-"),
        },
    }


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"onrecord {__version__}")
        context.exit()
