"""HOW does one type what the semantic layer's users type? `onrecord slayer memory save`, `forget` and `search`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from onrecord.errors import Fault, Invalid, OnRecordError
from onrecord.faces.slayer.fields import CAPS
from onrecord.surfaces.cli.commands import COMMON, IN_CONVERSATION, common_options, opened_door

#: `--storage` is what it is called there; both mean the same.
_STORAGE = click.Option(
    ["--storage", "--db", "db"], help="A file, a folder or a DSN; else the store in force."
)
_COMMON = (_STORAGE, *(option for option in COMMON if option.name != "db"), IN_CONVERSATION)


def commands() -> list[click.Command]:
    group = click.Group("slayer", help="The words of the slayer semantic layer, on this store.")
    memory = click.Group(
        "memory",
        params=[_STORAGE],
        help="Keep and forget notes.",
        callback=_keep_storage,
        invoke_without_command=True,
    )
    memory.add_command(_save())
    memory.add_command(_forget())
    group.add_command(memory)
    group.add_command(_search())
    return [group]


@click.pass_context
def _keep_storage(context: click.Context, db: str | None) -> None:
    if db is not None:
        context.obj = {**(context.obj or {}), "db": db}
    if context.invoked_subcommand is None:
        raise _failed(context.get_help())


def _failed(message: str) -> click.exceptions.Exit:
    """There every failure leaves with 1."""
    click.echo(message, err=True)
    return click.exceptions.Exit(1)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OnRecordError as problem:
        raise _failed(f"Error: {problem}") from None


def _save() -> click.Command:
    @click.pass_context
    def run(
        context: click.Context,
        /,
        learning: str,
        entities: str | None,
        query: str | None,
        id: str | None,
        **given: Any,
    ) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, given)
        if entities is None and query is None:
            raise _failed("--entities or --query must be supplied (one or the other).")
        if entities is not None and query is not None:
            raise _failed("--entities and --query are mutually exclusive.")
        with _told(), opened_door(common, create=True) as door:
            linked: Any = _names(entities) if entities is not None else _json(query or "")
            saved = calls.save_memory(door, learning, linked, id)
        if common["as_json"]:
            _print(saved)
            return
        click.echo(f"Saved memory {saved['memory_id']}.")
        click.echo(f"Resolved entities: {', '.join(saved['resolved_entities'])}")
        for warning in saved["warnings"]:
            click.echo(f"Warning: {warning}")

    return click.Command(
        "save",
        params=[
            click.Option(["--learning"], required=True, help="What was learned."),
            click.Option(["--entities"], help="References, with commas between."),
            click.Option(["--query"], help="A query as JSON, or @file.json."),
            click.Option(["--id"], help="An id of your own."),
            *_COMMON,
        ],
        callback=run,
        help="Keep a note about entities, or the note that goes with an example query.",
    )


def _forget() -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, identifier: str, **given: Any) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, given)
        with _told(), opened_door(common) as door:
            forgotten = calls.forget_memory(door, identifier)
        if common["as_json"]:
            _print(forgotten)
        else:
            click.echo(f"Forgot memory {forgotten['deleted_id']}.")

    return click.Command(
        "forget",
        params=[click.Argument(["identifier"]), *_COMMON],
        callback=run,
        help="Delete a note, and every reference to it.",
        # An id may begin with a hyphen.
        context_settings={"ignore_unknown_options": True},
    )


def _search() -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, entities: str | None, query: str | None, **asked: Any) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, asked)
        given = {name: value for name, value in asked.items() if value is not None}
        with _told(), opened_door(common) as door:
            given["entities"] = _names(entities) if entities else None
            given["query"] = _json(query) if query else None
            found = calls.search_either(door, **given)
        _print(found)

    return click.Command(
        "search",
        params=[
            click.Option(["--entities"], help="References, with commas between."),
            click.Option(["--query"], help="A query as JSON, or @file.json."),
            click.Option(["--question"], help="In plain words."),
            click.Option(["--datasource"], help="Only what is about this one."),
            *(
                click.Option([f"--{name.replace('_', '-')}"], type=int, help=f"So many; else {most}.")
                for name, most in CAPS.items()
            ),
            click.Option(["--max-results"], type=int, help="One list of all kinds instead, so many at most."),
            click.Option(
                ["--cypher-filter"],
                help="That list with some kinds alone: MATCH (n:Memory:Column) RETURN n.id AS id",
            ),
            click.Option(
                ["--compact/--no-compact"],
                default=None,
                help="That list, with previews instead of texts or not.",
            ),
            *_COMMON,
        ],
        callback=run,
        help="Find notes, example queries and entities.",
    )


def _print(told: Any) -> None:
    click.echo(json.dumps(told, ensure_ascii=False, indent=2))


def _names(listed: str) -> list[str]:
    """What stands between commas, except those within brackets, as in `amount:weighted_avg(weight=a, by=b)`."""
    names, depth = [""], 0
    for letter in listed:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names if name.strip()]


def _json(given: str) -> dict[str, Any]:
    try:
        text = Path(given[1:]).read_text(encoding="utf-8-sig") if given.startswith("@") else given
        read = json.loads(text)
    except (OSError, ValueError) as problem:
        raise Invalid([Fault("query", f"cannot be read as JSON: {problem}")]) from None
    if not isinstance(read, dict):
        raise Invalid([Fault("query", f"must be a query as an object; got {type(read).__name__}")])
    return read
