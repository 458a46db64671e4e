"""HOW does one bring the records of an original data platform here? `onrecord data-platform migrate` does it."""

from typing import Any, Final

import click

from onrecord.model.wire import to_json
from onrecord.surfaces.cli.commands import COMMON, common_options, opened_door
from onrecord.surfaces.cli.render import show_json

_HELP: Final = """Take over the memory records and changesets of a data platform.

SOURCE is the address of its PostgreSQL database, a file of JSON lines (rows of memory_records and of
knowledge_changesets), or a folder of such files. It is read and left as it is; a second time finds nothing new.
"""


def commands() -> list[click.Command]:
    group = click.Group("data-platform", help="The words of a data platform, on this store.")
    group.add_command(
        click.Command(
            "migrate",
            params=[
                click.Argument(["source"], metavar="SOURCE"),
                click.Option(
                    ["--dry-run"], is_flag=True, help="Say what would be taken over, and change nothing."
                ),
                *COMMON,
            ],
            help=_HELP,
            short_help="Take over the records of a data platform",
            callback=click.pass_context(_migrate),
        )
    )
    return [group]


def _migrate(context: click.Context, source: str, dry_run: bool, **given: Any) -> None:
    from onrecord.faces.data_platform.legacy import migrate

    common = common_options(context, given)
    with opened_door(common, create=not dry_run) as door:
        migrated = migrate(door, source, dry_run=dry_run)
    if common["as_json"]:
        show_json(to_json(migrated))
        return
    verb = "would be" if dry_run else "were"
    counts = ", ".join(f"{number} {status}" for status, number in sorted(migrated.by_status.items()))
    click.echo(
        f"{migrated.records} records ({counts or 'none'}) and {migrated.changesets} changesets; {migrated.taken} {verb} new here."
    )
    for warning in migrated.warnings:
        click.echo(warning, err=True)
