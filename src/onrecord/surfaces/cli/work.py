"""HOW does a worker run from a shell? `onrecord work` does jobs that saves have put off, until it is stopped."""

import os
import signal
import threading
from contextlib import ExitStack
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.surfaces.cli.commands import COMMON, common_options, config_of, opened_door
from onrecord.surfaces.forced_exit import end_within, shutdown_timeout

if TYPE_CHECKING:
    from onrecord.jobs.worker import Worker

#: How far a gentle worker steps back behind other processes.
_LAST: Final = 10
_LOOK_EVERY_S: Final = 1.0

_HELP = """Do what was put off: make the vectors of memories and entities that have none yet, for whatever reason, end
changesets that a process left half applied, and delete lines of the audit that are older than they are kept
(ONRECORD_AUDIT_DAYS).

What is missing is looked for at the start and every 15 minutes.

Any number of workers may run beside each other and beside programs that save and ask. A worker that is stopped, or
killed, leaves its jobs to the next one.
"""


def work_command() -> click.Command:
    return click.Command(
        "work",
        params=[
            click.Option(["--once"], is_flag=True, help="Stop when nothing is due any more."),
            click.Option(
                ["--within"], type=click.IntRange(1), help="Stop after so many seconds at the latest."
            ),
            click.Option(
                ["--gently"], is_flag=True, help="One job at a time, with rests between, after everyone else."
            ),
            *COMMON,
        ],
        help=_HELP,
        short_help="Do what was put off, such as making vectors",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, once: bool, within: int | None, gently: bool, **given: Any) -> None:
    common = common_options(context, given)
    grace_s = shutdown_timeout(config_of(common))
    if gently:
        os.nice(_LAST)
    with opened_door(common) as door, ExitStack() as at_end:
        stop = threading.Event()
        if within is not None:
            alarm = threading.Timer(within, stop.set)
            alarm.daemon = True
            alarm.start()
            at_end.callback(alarm.cancel)

        def end(number: int, frame: FrameType | None) -> None:
            if not stop.is_set():
                end_within(grace_s)
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        worker = door.worker
        if once:
            at_end.callback(stop.set)
            threading.Thread(target=_watch, args=(worker, stop), daemon=True).start()
            worker.run(stop, _tell, gently=gently, once=True)
            return
        click.echo(f"Working on {door.location}; Ctrl-C stops.", err=True)
        worker.run(stop, _tell, gently=gently)


def _watch(worker: "Worker", stop: threading.Event) -> None:
    """End this process soon after its store is deleted, also in the middle of a job, which no longer has a purpose."""
    while not stop.wait(_LOOK_EVERY_S):
        if worker.works_in_vain():
            end_within(0)
            stop.set()


def _tell(done: int, failures: tuple[str, ...]) -> None:
    if done:
        click.echo(f"Made vectors of {done} {'memory' if done == 1 else 'memories'}.")
    for reason in dict.fromkeys(failures):
        click.echo(f"Failed, to be tried again: {reason}", err=True)
