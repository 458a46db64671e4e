"""HOW does a person at a shell reach us? Through one command for each operation, derived from the operations."""

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from onrecord import __version__
from onrecord.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    OnRecordError,
    StoreUnavailable,
    Unauthenticated,
)

EXIT_CODES: Final = (
    (Invalid, 2),
    (NotFound, 3),
    (Forbidden, 4),
    (Unauthenticated, 4),
    (Conflict, 5),
    (StoreUnavailable, 6),
    (OnRecordError, 1),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the right code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:
        # Scripts ask it often, and nothing need be loaded for it.
        print(f"onrecord {__version__}")
        sys.exit(0)
    if given[:1] == ["hook"]:
        # Before anything is loaded: that takes time, and a host waits.
        from onrecord.surfaces.cli.hook_limit import hold_up, seconds_in

        if (seconds := seconds_in(given)) is not None:
            hold_up(seconds)
    from onrecord.surfaces.cli.group import command_line

    try:
        code: Any = command_line().main(given, prog_name="onrecord", standalone_mode=False)
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
        # Click's exit when the reader of our output has closed it; its 1 would mean something else here.
        code = 0
    except BrokenPipeError:
        # The same at the last flush; what is left in the buffer must not raise once more on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _say(problem: OnRecordError, *, as_json: bool) -> None:
    # Here, not above: `--version` loads nothing.
    from onrecord.context.frame import visible
    from onrecord.surfaces.cli.render import show_json

    if not as_json:
        click.echo(visible(f"onrecord: {problem}"), err=True)
        return
    fields: dict[str, Any] = {"error": type(problem).__name__, "message": str(problem)}
    if isinstance(problem, Invalid):
        fields["faults"] = [{"field": fault.field, "message": fault.message} for fault in problem.faults]
    show_json(fields, err=True, indent=None)
