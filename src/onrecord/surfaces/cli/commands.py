"""WHICH commands are there? Each request becomes a command: its fields are the arguments and options."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, Field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.errors import Fault, Invalid, StoreUnavailable, Unauthenticated, invalid
from onrecord.model.request import Request, checked, request_fields
from onrecord.model.rules import (
    Choice,
    Document,
    Flag,
    Fraction,
    Identifier,
    Integer,
    Json,
    ListOf,
    OrNone,
    Rule,
    Timestamp,
)
from onrecord.model.shapes import Several
from onrecord.model.unset import UNSET
from onrecord.model.wire import to_json
from onrecord.operation import Operation
from onrecord.surfaces.cli import render
from onrecord.surfaces.cli.background_embedding import leave_worker
from onrecord.surfaces.cli.completion import completion_of
from onrecord.surfaces.cli.parts import Columns, Part, shows, table
from onrecord.surfaces.cli.sections import OrderedGroup
from onrecord.surfaces.parsing import list_parser, text_parser, why_no_list

if TYPE_CHECKING:
    from onrecord.config import Config, Setting
    from onrecord.doors import Door
    from onrecord.model.caller import Caller
    from onrecord.operation import Progress
    from onrecord.service import OnRecord

COMMON: Final = (
    click.Option(
        ["--db"], help="A file, :memory:, or a PostgreSQL DSN; else ONRECORD_DB, else the default file."
    ),
    click.Option(
        ["--url"],
        help="A server to ask instead, with the key in ONRECORD_KEY if it needs one; else ONRECORD_URL.",
    ),
    click.Option(["--tenant"], help="Whose memories; else ONRECORD_TENANT."),
    click.Option(["--user"], help="Who you are; else ONRECORD_USER."),
    click.Option(["--json", "as_json"], is_flag=True, help="Print the whole answer as JSON."),
)
IN_CONVERSATION: Final = click.Option(
    ["--in-conversation"], help="The conversation you speak in; else ONRECORD_CONVERSATION."
)
#: Shown to a person who waits where nothing is counted.
WORKING: Final = "working"
# How a field that holds several values is called when one of them is given.
_SINGULAR: Final = {"statuses": "status", "supersedes": "supersedes"}
_PLURAL: Final = re.compile(r"ies$|s$")
_STANDARD: Final = "-"
#: Fields in which an empty text is an error, and not the same as left out.
_WHO: Final = frozenset({"tenant", "user"})
_GROUPS: Final = {
    "keys": "Make, list, revoke and waive the keys that agents and people come with.",
    "tenants": "Make, list and erase tenants.",
    "conversations": "Register, list, share and delete conversations.",
    "artifacts": "Keep artifacts with a conversation: its files.",
    "scratchpads": "Keep the scratchpads of agents.",
    "checks": "Add, approve, drop and list the checks of a memory.",
    "feedback": "Say which hits were useful, and list what was said.",
    "agents": "Set how each agent recalls, and share it.",
}


def command_of(operation: Operation, known: Mapping[str, click.Command]) -> click.Command:
    """The command of an operation; if its name has two words, the group that holds it, which may exist already."""
    first, _, second = (operation.command or "").partition(" ")
    if not second:
        return operation_command(operation, first)
    group = known.get(first) or OrderedGroup(first, help=_GROUPS[first])
    assert isinstance(group, click.Group)
    group.add_command(operation_command(operation, second))
    return group


def operation_command(operation: Operation, name: str) -> click.Command:
    asked = {str(each.name): each for each in parameters_of(operation.request)}
    # A field comes before a common option of its name: `keys create --user ann` is ann's key, even if someone else makes it. Who
    # that is comes before the command, or from the settings.
    common = [option for option in COMMON if option.name not in asked]
    return click.Command(
        name,
        params=[*asked.values(), IN_CONVERSATION, *common],
        help=operation.request.__doc__,
        short_help=_summary(operation.request.__doc__ or ""),
        callback=click.pass_context(_runner(operation)),
    )


def _summary(text: str) -> str:
    """What a list of commands says of one: the first sentence of its help, up to a semicolon."""
    return " ".join(text.split()).split(". ")[0].split("; ")[0].rstrip(".")


def config_command() -> click.Command:
    """The settings in force and where each comes from; the only command that opens no store."""

    def run(context: click.Context, **given: Any) -> None:
        common = common_options(context, given)
        _print(config_of(common).settings, as_json=common["as_json"])

    return click.Command(
        "config",
        params=[IN_CONVERSATION, *COMMON],
        help="Show the settings in force and where each comes from.",
        callback=click.pass_context(run),
    )


@shows
def _(answer: "tuple[Setting, ...]") -> Iterator[Part]:
    columns: Columns = {"setting": "name", "value": "value", "from": "origin", "what it is": "help"}
    yield table(answer, columns)


def parameters_of(request: type[Request]) -> list[click.Parameter]:
    """The arguments and options of a request's fields."""
    return [_parameter(each) for each in request_fields(request)]


def _parameter(each: Field[Any]) -> click.Parameter:
    rule, help_text = each.metadata["rule"], each.metadata["help"]
    completion = completion_of(each.name, rule)
    if not each.kw_only:
        required = each.default is MISSING
        name = each.name.upper() if required else f"[{each.name.upper()}]"
        return click.Argument([each.name], metavar=name, required=required, shell_complete=completion)
    kind = rule.rule if isinstance(rule, OrNone) else rule
    name = each.name.replace("_", "-")
    if isinstance(kind, Flag):
        return click.Option([f"--{name}/--no-{name}", each.name], default=None, help=help_text)
    if isinstance(kind, ListOf):
        one = _SINGULAR.get(each.name) or _PLURAL.sub(lambda end: "y" if end[0] == "ies" else "", name)
        return click.Option(
            [f"--{one}", each.name],
            multiple=True,
            help=f"{help_text} May be repeated.",
            metavar=_metavar(kind.each),
            shell_complete=completion,
        )
    shown = None if each.default in (UNSET, None, MISSING) else str(each.default)
    return click.Option(
        [f"--{name}", each.name],
        default=None,
        help=help_text,
        metavar=_metavar(kind),
        show_default=shown or False,
        shell_complete=completion,
    )


def _metavar(rule: Rule) -> str:
    if isinstance(rule, Choice):
        return "|".join(rule.options)
    names: dict[type, str] = {
        Integer: "NUMBER",
        Fraction: "SHARE",
        Timestamp: "TIME",
        Json: "JSON",
        Document: "JSON",
        Several: "JSON",
        Identifier: "ID",
    }
    return names.get(type(rule), "TEXT")


def _runner(operation: Operation) -> Callable[..., None]:
    def run(context: click.Context, **given: Any) -> None:
        request = request_of(operation.request, given)
        own = {each.name for each in request_fields(operation.request)}
        common = common_options(context, {name: value for name, value in given.items() if name not in own})
        config = config_of(common)
        if config.url is None:
            # Faults of a request are reported before a store is opened or made.
            checked(request, _owner(config))
        # A dry run makes no store.
        creates = operation.begins and not getattr(request, "dry_run", False)
        with reached_door(common, create=creates, waiting=WORKING) as door:
            answer = door.perform(operation, request)
            _print(
                answer,
                as_json=common["as_json"],
                user="" if config.url is not None else _owner(config).user,
            )
            sys.stdout.flush()
            leave_worker(door, config)
        if code := render.exit_code(answer):
            context.exit(code)

    return run


def common_options(context: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Options before or after the command; the one after it wins."""
    before = context.obj or {}
    common = {}
    for name in (str(option.name) for option in (*COMMON, IN_CONVERSATION)):
        after = given.pop(name, None)
        # An empty text counts as given, and is refused later if it must name someone; a flag that is off does not.
        common[name] = before.get(name) if after in (None, False) else after
    return common


def config_of(common: dict[str, Any], **more: str | None) -> "Config":
    """The settings in force, with these options."""
    from onrecord.config import load

    return load(
        None,
        db=common["db"],
        url=common["url"],
        tenant=common["tenant"],
        user=common["user"],
        conversation=common["in_conversation"],
        **more,
    )


def request_of(kind: type[Request], given: dict[str, Any]) -> Request:
    """The request of a command's arguments and options."""
    values = {}
    for each in request_fields(kind):
        value = given.get(each.name)
        if value is not None and value != ():
            is_nobody = each.name in _WHO and not value.strip()
            if isinstance(each.metadata["rule"], Document | Several) and not each.kw_only:
                value = _document(value, each.name)
            values[each.name] = value if is_nobody else _read(value, each.metadata["rule"])
            if isinstance(each.metadata["rule"], Several) and isinstance(values[each.name], str):
                raise invalid(each.name, why_no_list(values[each.name]))
    if values.get("content") == _STANDARD:
        values["content"] = _standard_input("content")
    return kind(**values)


def _standard_input(field: str) -> str:
    """All of standard input, without the line break that `echo` adds."""
    with _as_utf8(field):
        return sys.stdin.read().removesuffix("\n")


def _document(given: str, field: str) -> str:
    """What is in a file or comes from standard input; a name that is none of a file is the text itself."""
    if given == _STANDARD:
        return _standard_input(field)
    if not os.path.isfile(given):
        return given
    with _as_utf8(field):
        try:
            return Path(given).read_text(encoding="utf-8")
        except OSError as problem:
            raise invalid(field, f"the file {given} cannot be read ({problem.strerror})") from None


@contextmanager
def _as_utf8(field: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as problem:
        reason = f"is not UTF-8 ({problem.reason} at byte {problem.start}); convert it first"
        raise invalid(field, reason) from None


def _read(value: Any, rule: Rule) -> Any:
    """A value from the command line, converted for the rule."""
    several = list_parser(rule)
    if several is not None:
        return several(value)
    return value if isinstance(value, bool) else text_parser(rule)(value)


def _owner(config: "Config") -> "Caller":
    from onrecord.app import local_caller

    return local_caller(config)


@contextmanager
def reached_door(
    common: dict[str, Any],
    *,
    create: bool = False,
    waiting: str | None = None,
    report: "Progress | None" = None,
) -> "Iterator[Door]":
    """The door to the store in the options: of this machine, or of a server. A person who waits longer than a moment is shown
    `waiting`, or how far it is; not by this where `report` already shows it.
    """
    config = config_of(common)
    if config.url is None:
        with opened_door(common, create=create, waiting=waiting, report=report) as door:
            yield door
        return
    refuse_names(common)
    with client_needed():
        from onrecord.client import connect
    with (
        nullcontext() if report else render.progress(waiting),
        connect(config.url, key=config.key, conversation=config.conversation) as client,
    ):
        try:
            yield client
        except Unauthenticated:
            what = (
                "needs a key: set ONRECORD_KEY" if config.key is None else "refuses the key in ONRECORD_KEY"
            )
            raise Unauthenticated(f"The server at {client.location} {what}.") from None


def refuse_names(common: dict[str, Any]) -> None:
    """Invalid for a caller who is named to a server, where the key says who that is."""
    faults = [
        Fault(name, "is for the key to say at a server; leave it out, or name a store with --db")
        for name in ("tenant", "user")
        if common[name] is not None
    ]
    if faults:
        raise Invalid(faults)


@contextmanager
def client_needed() -> Iterator[None]:
    """Turn a missing HTTP client into an error that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as problem:
        if problem.name != "httpx2":
            raise
        raise StoreUnavailable(
            "To ask a server needs one more package: pip install 'onrecord[client]'."
        ) from None


@contextmanager
def opened_door(
    common: dict[str, Any],
    *,
    create: bool = False,
    waiting: str | None = None,
    report: "Progress | None" = None,
) -> "Iterator[OnRecord]":
    """The door to a store of this machine, for the caller in the options; Invalid if they name a server. A store is made
    only with `create`.
    """
    # Here, not above: `onrecord --help` must not wait for the database library.
    from onrecord.app import connect, refuse_server

    config = config_of(common)
    refuse_server(config)
    with (
        nullcontext(report) if report else render.progress(waiting) as progress,
        connect(config.db, caller=_owner(config), progress=progress, create=create) as door,
    ):
        yield door


def _print(answer: Any, *, as_json: bool, user: str = "") -> None:
    if as_json:
        # An export to standard output is already there; the report must not end up in it.
        beside = getattr(answer, "path", None) == _STANDARD
        render.show_json(to_json(answer), err=beside)
    else:
        render.show(answer, user)
