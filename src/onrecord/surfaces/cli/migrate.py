"""HOW is a store brought up to date from a shell? `onrecord migrate` copies what was left under the former name, then
updates the tables.
"""

from typing import Any

import click

from onrecord.surfaces.cli.commands import COMMON, WORKING, common_options, config_of, opened_door

_HELP = """Bring the store up to date, and take over what the project's former name left behind.

A config file and a store at their former places are copied to those of today, if nothing is there yet; stop what still
writes to the store first. Opening a store brings its tables up to date anyway; this command does only that, and says where
the copy of a store in a file is that was made before.

With --distribute a PostgreSQL store whose database has the extension citus is spread over the servers of its cluster, each
tenant's records in one place. What is spread already stays as it is. Stop what uses the store first.
"""


def migrate_command() -> click.Command:
    return click.Command(
        "migrate",
        params=[
            click.Option(
                ["--distribute"],
                is_flag=True,
                help="Spread a PostgreSQL store over the servers of its cluster.",
            ),
            *COMMON,
        ],
        help=_HELP,
        short_help="Bring the store up to date, also from the former name",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, distribute: bool, **given: Any) -> None:
    from onrecord import former_name
    from onrecord.config import config_path, default_store

    for former, now in former_name.take_over(config_path(), default_store()):
        click.echo(f"Copied {former} to {now}. The former one was left as it is.")
    common = common_options(context, given)
    with opened_door(common, create=False, waiting=WORKING) as door:
        state = door.status()
    click.echo(f"{state.location} is up to date.")
    if distribute:
        _distribute(common)


def _distribute(common: dict[str, Any]) -> None:
    from onrecord import app

    spread = app.distribute(config_of(common).db)
    click.echo(f"Distributed: {', '.join(spread)}." if spread else "Every table was distributed already.")
