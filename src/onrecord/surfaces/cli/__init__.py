"""HOW does a person at a shell reach us? One command per operation, read off the operations themselves."""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from onrecord import __version__
from onrecord.errors import Conflict, Forbidden, Invalid, NotFound, OnRecordError, StoreUnavailable
from onrecord.service import OPERATIONS
from onrecord.surfaces.cli.commands import COMMON, command_of, config_command
from onrecord.surfaces.cli.evaluating import eval_command
from onrecord.surfaces.cli.installing import install_command, uninstall_command
from onrecord.surfaces.cli.mcp import mcp_command
from onrecord.surfaces.cli.migrating import migrate_command
from onrecord.surfaces.cli.sections import AGENTS, CARE, VOCABULARIES, Sectioned, section_of
from onrecord.surfaces.cli.serving import serve_command
from onrecord.surfaces.cli.slash import slash_command
from onrecord.surfaces.cli.slayer import slayer_command
from onrecord.surfaces.cli.working import work_command

EXIT_CODES: Final = (
    (Invalid, 2),
    (NotFound, 3),
    (Forbidden, 4),
    (Conflict, 5),
    (StoreUnavailable, 6),
    (OnRecordError, 1),
)

_EPILOG: Final = """\
Exit codes: 0 done, 1 the doctor found problems, 2 the request is wrong, 3 not found, 4 not allowed,
5 something stands in the way, 6 the store cannot be used.
"""


def _group() -> click.Group:
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
    group.put(VOCABULARIES, slayer_command(), slash_command())
    return group


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"onrecord {__version__}")
        context.exit()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with the exit code that fits."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code: Any = _group().main(given, prog_name="onrecord", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.ClickException as problem:
        problem.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        code = 130
    except OnRecordError as problem:
        _say(problem, as_json="--json" in given)
        code = next(code for kind, code in EXIT_CODES if isinstance(problem, kind))
    except SystemExit:
        # Click's way out when whoever reads our output has read enough; its 1 would mean something else here.
        code = 0
    except BrokenPipeError:
        # The same at the last flush; what is left in the buffer must not raise once more on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _say(problem: OnRecordError, *, as_json: bool) -> None:
    if not as_json:
        click.echo(f"onrecord: {problem}", err=True)
        return
    told: dict[str, Any] = {"error": type(problem).__name__, "message": str(problem)}
    if isinstance(problem, Invalid):
        told["faults"] = [{"field": fault.field, "message": fault.message} for fault in problem.faults]
    click.echo(json.dumps(told, ensure_ascii=False), err=True)
