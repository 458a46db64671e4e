"""HOW far is it? A bar on standard error with a rate and an estimate, for whatever takes longer than a moment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(TextColumn):
    """How many are done in a second, once that can be told."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Task) -> Text:
        rate = task.finished_speed or task.speed
        return Text("" if rate is None else f"{rate:,.0f}/s")


class _Count(MofNCompleteColumn):
    """How many of how many, of what is counted at all."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.completed else Text("")


class _Left(TimeRemainingColumn):
    """How long it still takes where that can be told; else how long it has taken."""

    def __init__(self) -> None:
        super().__init__()
        self._passed = TimeElapsedColumn()

    def render(self, task: Task) -> Text:
        return self._passed.render(task) if task.total is None else super().render(task)


@contextmanager
def shown_after(seconds: float, waiting: str | None) -> Iterator[Callable[[str, int, int | None], None]]:
    """What is reported within is shown, once so many seconds have passed; `waiting` stands there until then."""
    # Only a screen mixes a bar with what is printed: elsewhere standard output is a file, and stays one.
    is_mixed = sys.stdout.isatty()
    bar = Progress(
        *(TextColumn("{task.description}"), BarColumn(), _Count(), _Rate(), _Left()),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=is_mixed,
        redirect_stderr=is_mixed,
    )
    tasks: dict[str | None, Any] = {}
    lock, is_due, is_shown, is_over = Lock(), False, False, False

    def show() -> None:
        nonlocal is_shown
        if is_due and not (is_shown or is_over) and (tasks or waiting is not None):
            if not tasks:
                tasks[None] = bar.add_task(str(waiting), total=None)
            bar.start()
            is_shown = True

    def begin() -> None:
        nonlocal is_due
        with lock:
            is_due = True
            show()

    def report(what: str, done: int, total: int | None) -> None:
        with lock:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            if None in tasks:
                bar.remove_task(tasks.pop(None))
            bar.update(tasks[what], completed=done, total=total)
            show()

    timer = Timer(seconds, begin)
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        with lock:
            is_over = True
            if is_shown:
                bar.stop()
