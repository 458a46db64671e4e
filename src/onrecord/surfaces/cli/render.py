"""HOW is an answer printed? Tables and colour on a terminal, plain lines elsewhere; one place decides."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from onrecord.context.frame import visible
from onrecord.model.wire import to_json
from onrecord.surfaces.cli.answers import SHOWN
from onrecord.surfaces.cli.parts import READER, Part, TextTable

#: The exit code of `impact` if something would go stale.
WOULD_GO_STALE: Final = 7


def show_json(value: Any, *, err: bool = False, indent: int | None = 2) -> None:
    """Print a value as JSON: unchanged for a program, with invisible characters written out on a screen."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    click.echo(visible(text, escaped=lambda letter: json.dumps(letter)[1:-1]), err=err)


def show(answer: Any, user: str = "") -> None:
    """Print an answer for a person, or for the program that reads our output; ids of the user's own are shown as they chose them.

    Memory text is not trusted: it must not move the cursor or change the title of a terminal, nor hide a word.
    """
    READER.set(user)
    for part in SHOWN.get(type(answer).__name__, _fields_of)(answer):
        if isinstance(part, str):
            click.echo(visible(part))
        elif sys.stdout.isatty():
            _show_table(part)
        else:
            for row in part.rows:
                click.echo("  ".join(visible(cell).replace("\n", " ") for cell in row if cell))


def exit_code(answer: Any) -> int:
    """The exit code: 0, or that something is wrong. A script must be able to distinguish that something would go stale
    from a failure of ours.
    """
    is_bad_news = bool(getattr(answer, "residue", ())) or not getattr(answer, "healthy", True)
    return (WOULD_GO_STALE if type(answer).__name__ == "Impacted" else 1) if is_bad_news else 0


@contextmanager
def progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar while a person waits; nothing if nobody watches."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(TextColumn):
        """How many are done in a second, once that is known."""

        def render(self, task: Task) -> Text:
            rate = task.finished_speed or task.speed
            return Text("" if rate is None else f"{rate:,.0f}/s")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(""),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield report


def _show_table(table: TextTable) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(*table.headings, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in table.rows:
        drawn.add_row(*(Text(visible(cell)) for cell in row))
    Console().print(drawn)


def _fields_of(answer: Any) -> Iterator[Part]:
    """Show the plain fields of an answer that has no function of its own."""
    for name, value in to_json(answer).items():
        yield f"{name.replace('_', ' ')}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
