"""WHAT is another system's memory worth? `onrecord lint` reads its store and says what is wrong in it; nothing is imported."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click

from onrecord.care.foreign import FORMATS, format_of, read
from onrecord.model.wire import to_json
from onrecord.surfaces.cli import render

Found = TypeVar("Found")

_HELP: Final = """Say what is wrong in a store of another system, without importing anything: how much in it is repeated, a secret,
contradictory, true for a moment only, old, or leads nowhere, each with evidence.

PATH is its file or folder. No store of ours is opened, nothing is sent anywhere, and no model is asked.
"""


def _counted(items: Iterable[Found], report: render.Report) -> Iterator[Found]:
    for number, item in enumerate(items, 1):
        report("reading", number, None)
        yield item


def lint_command() -> click.Command:
    return click.Command(
        "lint",
        params=[
            click.Argument(["path"], metavar="PATH"),
            click.Option(
                ["--from", "source"],
                type=click.Choice(list(FORMATS)),
                help="The system that wrote it; recognised by its content if left out.",
            ),
            click.Option(
                ["--stale-days"],
                type=click.IntRange(1),
                default=180,
                show_default=True,
                help="What nobody touched for so many days is stale.",
            ),
            click.Option(["--json", "as_json"], is_flag=True, help="Print the whole answer as JSON."),
        ],
        help=_HELP,
        short_help="Say what is wrong in another system's memory, and import nothing",
        callback=_run,
    )


def _run(path: str, source: str | None, stale_days: int, as_json: bool, **_: Any) -> None:
    from onrecord.care.foreign.linting import linted

    name = source or format_of(path)
    with render.progress("comparing") as report:
        items = _counted(read(name, path), report)
        found = linted(items, source=name, path=path, now=datetime.now(UTC), stale_days=stale_days)
    if as_json:
        render.show_json(to_json(found))
    else:
        render.show(found)
