"""HOW do users of the semantic layer type their commands? `onrecord slayer memory save`, `search` and the rest."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from onrecord.catalog.rendering import in_words
from onrecord.context.frame import visible
from onrecord.errors import OnRecordError, invalid
from onrecord.faces.slayer.fields import CAPS
from onrecord.model.tiers import WORDS
from onrecord.surfaces.cli.commands import COMMON, IN_CONVERSATION, common_options, opened_door
from onrecord.surfaces.cli.render import show_json

#: The semantic layer calls it `--storage`; `--db` means the same.
_STORAGE = click.Option(
    ["--storage", "--db", "db"], help="A file, a folder or a DSN; the configured store if left out."
)
_COMMON = (_STORAGE, *(option for option in COMMON if option.name != "db"), IN_CONVERSATION)


def commands() -> list[click.Command]:
    group = click.Group("slayer", help="The words of the slayer semantic layer, on this store.")
    memory = click.Group(
        "memory",
        params=[_STORAGE],
        help="Save and forget notes.",
        callback=_keep_storage,
        invoke_without_command=True,
    )
    memory.add_command(_save())
    memory.add_command(_forget())
    group.add_command(memory)
    for name, noun in (("models", "model"), ("datasources", "datasource")):
        listed = click.Group(name, help=f"List the {name}, and delete one.")
        listed.add_command(_list(name))
        listed.add_command(_delete(noun))
        group.add_command(listed)
    for command in (_search(), _inspect(), _ingest(), _import(), _delete(None)):
        group.add_command(command)
    return [group]


@click.pass_context
def _keep_storage(context: click.Context, db: str | None) -> None:
    if db is not None:
        context.obj = {**(context.obj or {}), "db": db}
    if context.invoked_subcommand is None:
        raise _failed(context.get_help())


def _failed(message: str) -> click.exceptions.Exit:
    """Show the message and exit with 1, as the semantic layer does on every failure."""
    click.echo(visible(message), err=True)
    return click.exceptions.Exit(1)


@contextmanager
def _errors_shown() -> Iterator[None]:
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
        description: str | None,
        **given: Any,
    ) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, given)
        if entities is None and query is None:
            raise _failed("--entities or --query must be supplied (one or the other).")
        if entities is not None and query is not None:
            raise _failed("--entities and --query are mutually exclusive.")
        with _errors_shown(), opened_door(common, create=True) as door:
            linked: Any = _names(entities) if entities is not None else _json(query or "")
            saved = calls.save_memory(door, learning, linked, id, description)
        if common["as_json"]:
            show_json(saved)
            return
        click.echo(f"Saved memory {saved['memory_id']}.")
        click.echo(visible(f"Resolved entities: {', '.join(saved['resolved_entities'])}"))
        for warning in saved["warnings"]:
            click.echo(visible(f"Warning: {warning}"))

    return click.Command(
        "save",
        params=[
            click.Option(["--learning"], required=True, help="What was learned."),
            click.Option(["--entities"], help="References, with commas between."),
            click.Option(["--query"], help="A query as JSON, or @file.json."),
            click.Option(["--id"], help="An id of your own."),
            click.Option(["--description"], help="A preview of at most 500 characters."),
            *_COMMON,
        ],
        callback=run,
        help="Save a note about entities, or the note that goes with an example query.",
    )


def _forget() -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, identifier: str, **given: Any) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, given)
        with _errors_shown(), opened_door(common) as door:
            forgotten = calls.forget_memory(door, identifier)
        if common["as_json"]:
            show_json(forgotten)
        elif forgotten["deleted_id"] is None:
            click.echo(visible("\n".join(forgotten["warnings"])))
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
    def run(
        context: click.Context,
        /,
        entity: tuple[str, ...],
        entities: str | None,
        query: str | None,
        format: str,
        verbose: bool,
        **asked: Any,
    ) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, asked)
        given = {name: value for name, value in asked.items() if value is not None}
        if verbose:
            given["compact"] = False
        with _errors_shown(), opened_door(common) as door:
            given["entities"] = [*entity, *_names(entities or "")] or None
            given["query"] = _json(query) if query else None
            found = calls.search_either(door, **given)
        if common["as_json"] or format == "json":
            show_json(found)
        else:
            click.echo(visible("\n".join(_found_in_words(found))))

    return click.Command(
        "search",
        params=[
            click.Option(["--entity"], multiple=True, help="A reference; may be given several times."),
            click.Option(["--entities"], help="References, with commas between."),
            click.Option(["--query"], help="A query as JSON, or @file.json."),
            click.Option(["--question"], help="A question in plain words."),
            click.Option(["--datasource"], help="Search only what is about this datasource."),
            *(
                click.Option(
                    [f"--{name.replace('_', '-')}"],
                    type=int,
                    help=f"The most entries of this list; {most} if left out.",
                )
                for name, most in CAPS.items()
            ),
            click.Option(
                ["--max-results"], type=int, help="Return one list of all kinds, with at most this many hits."
            ),
            click.Option(
                ["--cypher-filter"],
                help="With --max-results: only some kinds, as in MATCH (n:Memory:Column) RETURN n.id AS id",
            ),
            click.Option(
                ["--compact/--no-compact"],
                default=None,
                help="With --max-results: previews or texts.",
            ),
            click.Option(
                ["--verbose"], is_flag=True, help="With --max-results: texts; the same as --no-compact."
            ),
            click.Option(
                ["--format"],
                type=click.Choice(["text", "json"]),
                default="text",
                help="text or json.",
            ),
            *_COMMON,
        ],
        callback=run,
        help="Find notes, example queries and entities.",
    )


_HEADINGS: Final = {
    "results": "Results",
    "memories": "Memories",
    "example_queries": "Example queries",
    "entities": "Entities",
}


def _found_in_words(found: Mapping[str, Any]) -> Iterator[str]:
    """Two lines for each hit: its kind, id and score, then the first line of its text."""
    yield from (f"[warning] {warning}" for warning in found["warnings"])
    if found["resolved_input_entities"]:
        yield f"Resolved input entities: {', '.join(found['resolved_input_entities'])}"
    for name, heading in _HEADINGS.items():
        if name in found:
            yield f"{heading} ({len(found[name])}):"
            for hit in found[name]:
                kind = hit.get("kind", "memory")
                mark = f"[{kind}]" if kind != "memory" else "Q" if hit.get("query") is not None else "M"
                whose = f", {WORDS[hit['tier']]}" if hit.get("tier") else ""
                yield f"  {mark} {hit['id']} (score={hit['score']:.4f}{whose})"
                yield f"    {in_words((hit['text'] or hit.get('description') or '').strip().partition(chr(10))[0])}"


def _inspect() -> click.Command:
    @click.pass_context
    def run(
        context: click.Context,
        /,
        reference: str,
        section: tuple[str, ...],
        type: str,
        format: str,
        **asked: Any,
    ) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, asked)
        given = {name: value for name, value in asked.items() if value is not None}
        with _errors_shown(), opened_door(common) as door:
            model = calls.inspect_model(
                door,
                reference,
                sections=list(section) or None,
                format="json" if common["as_json"] or format == "json" else "markdown",
                **given,
            )
        if isinstance(model, str):
            click.echo(visible(model))
        else:
            show_json(model)

    return click.Command(
        "inspect",
        params=[
            click.Argument(["reference"], metavar="MODEL"),
            click.Option(
                ["--type"],
                type=click.Choice(["model"]),
                default="model",
                help="Only models can be inspected.",
            ),
            click.Option(["--format"], type=click.Choice(["markdown", "json"]), default="markdown"),
            click.Option(
                ["--num-rows"], type=int, help="How many example values of each column; 3 if left out."
            ),
            click.Option(["--show-sql"], is_flag=True, help="Show the SQL behind columns and measures."),
            click.Option(["--section"], multiple=True, help="Only this section; may be given several times."),
            click.Option(
                ["--descriptions-max-chars"], type=int, help="Cut descriptions to this many characters."
            ),
            click.Option(
                ["--reachable-fields-depth"], type=int, help="How many joins to follow; 5 if left out."
            ),
            click.Option(["--data-source"], help="Its datasource, if several have such a model."),
            click.Option(
                ["--max-tokens"], type=int, help="The most tokens of the answer, which says what is left out."
            ),
            *_COMMON,
        ],
        callback=run,
        help="Look at a model, and at what was learned about it.",
    )


def _ingest() -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, path: str, dry_run: bool, **asked: Any) -> None:
        from onrecord.model.wire import to_json
        from onrecord.surfaces.cli import render

        common = common_options(context, asked)
        given = {name: value for name, value in asked.items() if value is not None}
        with _errors_shown(), opened_door(common, create=not dry_run) as door:
            ingested = door.ingest(path, dry_run=dry_run, **given)
        if common["as_json"]:
            show_json(to_json(ingested))
        else:
            render.show(ingested)

    return click.Command(
        "ingest",
        params=[
            click.Argument(["path"]),
            click.Option(["--datasource"], help="The name of the datasource; its own if left out."),
            click.Option(["--schema"], help="The schema of a database; its default one if left out."),
            click.Option(
                ["--sample-values"], type=int, help="How many example values to take from each column."
            ),
            click.Option(["--dry-run"], is_flag=True, help="Say what would change, and change nothing."),
            *_COMMON,
        ],
        callback=run,
        help="Read models in: a database, a folder of models, a store of slayer, or what dbt has written.",
    )


def _import() -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, path: str, **given: Any) -> None:
        from onrecord.faces.slayer.importing import import_store

        common = common_options(context, given)
        with _errors_shown(), opened_door(common, create=True) as door:
            imported = import_store(door, path)
        if common["as_json"]:
            show_json(imported)
            return
        added = imported["ingested"]["added"]
        click.echo(f"Took over {imported['memories']} memories; {added['models']} models are new.")
        for warning in imported["warnings"]:
            click.echo(visible(f"Warning: {warning}"))

    return click.Command(
        "import",
        params=[click.Argument(["path"]), *_COMMON],
        callback=run,
        help="Take over the models and memories of a SQLite store of slayer.",
    )


def _list(what: str) -> click.Command:
    @click.pass_context
    def run(context: click.Context, /, **given: Any) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, given)
        with _errors_shown(), opened_door(common) as door:
            listed = (
                calls.list_datasources(door)
                if what == "datasources"
                else calls.models_summary(door, format="json")
            )
        if common["as_json"]:
            show_json(listed)
            return
        assert isinstance(listed, dict)
        for each in listed[what]:
            about = f"  — {in_words(each['description'])}" if each["description"] else ""
            click.echo(visible(f"{each['name']}{about}"))
        for note in listed.get("notes", ()):
            click.echo(visible(note))

    return click.Command("list", params=list(_COMMON), callback=run, help=f"List the {what}.")


def _delete(noun: str | None) -> click.Command:
    """The command for one kind, or for the kind that `--type` names."""

    @click.pass_context
    def run(context: click.Context, /, name: str, **given: Any) -> None:
        from onrecord.faces.slayer import calls

        common = common_options(context, given)
        data_source = given.get("data_source")
        with _errors_shown(), opened_door(common) as door:
            if (noun or given["type"]) == "datasource":
                deleted = calls.delete_datasource(door, name)
            else:
                deleted = calls.delete_model(door, name, data_source)
        if common["as_json"]:
            show_json(deleted)
        else:
            lost = f"{deleted['stripped_memories']} memories lost references to it."
            click.echo(visible(f"Deleted {deleted['deleted']}; {lost}"))

    kinds = (
        []
        if noun
        else [click.Option(["--type"], type=click.Choice(["model", "datasource"]), default="model")]
    )
    sources = (
        [] if noun == "datasource" else [click.Option(["--data-source"], help="The datasource of a model.")]
    )
    return click.Command(
        "delete",
        params=[click.Argument(["name"]), *kinds, *sources, *_COMMON],
        callback=run,
        help=f"Take a {noun or 'model or a datasource'} out of the catalog, and out of every memory's references.",
    )


def _names(listed: str) -> list[str]:
    """The names between commas. Commas in brackets do not count, as in `amount:weighted_avg(weight=a, by=b)`."""
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
        raise invalid("query", f"cannot be read as JSON: {problem}") from None
    if not isinstance(read, dict):
        raise invalid("query", f"must be a query as an object; got {type(read).__name__}")
    return read
