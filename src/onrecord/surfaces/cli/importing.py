"""HOW does a shell import? `onrecord import` reads an export of ours, and with --from the store of another system."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.care.foreign import FORMATS
from onrecord.errors import NoStore, invalid
from onrecord.features import operation_named
from onrecord.model.wire import to_json
from onrecord.surfaces.cli import render
from onrecord.surfaces.cli.background_embedding import leave_worker
from onrecord.surfaces.cli.commands import WORKING, common_options, config_of, operation_command, reached_door

if TYPE_CHECKING:
    from onrecord.doors import Door
    from onrecord.operation import Progress

_HELP: Final = """Read an export. What is already here in the same form is left as it is, so an import can be repeated.

With --from the file or folder is another system's store, which is read and left as it is. Each thing it remembers becomes a
memory of tier import with its times and where it came from; secrets are taken out, and a second time finds nothing new.
`onrecord audit PATH` shows beforehand what is in it.

\b
"""
_FORMATS: Final = "\n".join(f"\b\n  {name}: {form.title}" for name, form in FORMATS.items())


def import_command() -> click.Command:
    command = operation_command(operation_named("import_"), "import")
    ours = command.callback
    assert ours is not None
    command.help = _HELP + _FORMATS
    command.short_help = "Read an export, or with --from the store of another system"
    command.params[1:1] = [
        click.Option(["--from", "source"], type=click.Choice(list(FORMATS)), help="Of which system it is."),
        click.Option(
            ["--dry-run"], is_flag=True, help="With --from: say what would be imported, and import nothing."
        ),
        click.Option(
            ["--scope"],
            type=click.Choice(["user", "tenant"]),
            default="user",
            show_default=True,
            help="With --from: who sees it, its owner or all of the tenant.",
        ),
        click.Option(["--owner"], help="With --from: whose memories they become; you."),
    ]

    @click.pass_context
    def run(
        context: click.Context,
        /,
        source: str | None,
        dry_run: bool,
        scope: str,
        owner: str | None,
        **given: Any,
    ) -> None:
        if source is None:
            if dry_run or owner:
                raise invalid(
                    "from", "is missing: --dry-run, --scope and --owner are for the store of another system"
                )
            context.invoke(ours, **given)
            return
        _bring(context, source, dry_run, scope, owner, given)

    command.callback = run
    return command


def _bring(
    context: click.Context, source: str, dry_run: bool, scope: Any, owner: str | None, given: dict[str, Any]
) -> None:
    from onrecord.care.foreign.bringing import bring

    path = given.pop("path")
    for name in ("keep_tenants", "skip_conflicts"):
        if given.pop(name) is not None:
            raise invalid(name, "is for an export of ours, without --from")
    common = common_options(context, given)
    config = config_of(common)
    if owner is None and config.url is not None:
        raise invalid("owner", "is required at a server: whose memories they become")
    with render.progress(WORKING) as report, _door(common, report, dry_run=dry_run) as door:
        brought = bring(
            door,
            source,
            path,
            owner=owner or config.user,
            scope=scope,
            dry_run=dry_run,
            progress=report,
        )
        if common["as_json"]:
            render.show_json(to_json(brought))
        else:
            render.show(brought)
        if not dry_run:
            leave_worker(door, config)


@contextmanager
def _door(common: dict[str, Any], report: "Progress", *, dry_run: bool) -> "Iterator[Door]":
    """The door to the store; where there is none yet, a dry run is made against an empty one."""
    with ExitStack() as opened:
        try:
            door = opened.enter_context(reached_door(common, create=not dry_run, report=report))
        except NoStore:
            empty = {**common, "db": ":memory:"}
            door = opened.enter_context(reached_door(empty, create=True, report=report))
        yield door
