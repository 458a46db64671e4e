"""HOW does a worker run from a shell? `onrecord work` does jobs that saves have put off, until it is stopped."""

import signal
import threading
from types import FrameType
from typing import Any

import click

from onrecord.surfaces.cli.commands import COMMON, common_options, config_of, opened_door
from onrecord.surfaces.last_word import end_within, shutdown_timeout

_HELP = """Do what was put off: make the vectors of memories that have none yet, and delete lines of the audit that are older
than they are kept (ONRECORD_AUDIT_DAYS).

Any number of workers may run beside each other and beside whoever saves and asks. A worker that is stopped, or
killed, leaves its jobs to the next one.
"""


def work_command() -> click.Command:
    return click.Command(
        "work",
        params=[
            click.Option(["--once"], is_flag=True, help="Stop when nothing is due any more."),
            *COMMON,
        ],
        help=_HELP,
        short_help="Do what was put off, such as making vectors",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, once: bool, **given: Any) -> None:
    common = common_options(context, given)
    grace_s = shutdown_timeout(config_of(common))
    with opened_door(common) as door:
        worker = door.worker
        if once:
            while (did := worker.run_once()) is not None:
                _tell(*did)
            worker.sweep()
            return
        stop = threading.Event()

        def end(number: int, frame: FrameType | None) -> None:
            if not stop.is_set():
                end_within(grace_s)
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        click.echo(f"Working on {door.location}; Ctrl-C stops.", err=True)
        worker.run(stop, _tell)


def _tell(done: int, failures: tuple[str, ...]) -> None:
    if done:
        click.echo(f"Made vectors of {done} {'memory' if done == 1 else 'memories'}.")
    for reason in dict.fromkeys(failures):
        click.echo(f"Failed, to be tried again: {reason}", err=True)
