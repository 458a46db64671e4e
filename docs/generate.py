"""WHAT can be asked, set and expected? Writes docs/reference.md from the code itself; `make docs` runs it.

Nothing here is typed twice: operations, fields, limits, lists, exit codes, settings, lines, steps and layers are read
off the values that the program uses, so the page is out of date only until someone runs this again.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Any

import click

from onrecord import config, errors, faces
from onrecord.care.kinds import FORMAT, KINDS
from onrecord.care.kinds import HEAD as HEAD_KEY
from onrecord.features import OPERATIONS
from onrecord.model import limits, rules
from onrecord.model.request import FieldsOf, request_fields
from onrecord.model.shapes import Object, Several
from onrecord.model.unset import Unset
from onrecord.operation import Operation
from onrecord.recall.recall import LAYERS
from onrecord.remember.remember import COMMIT, PREPARE
from onrecord.surfaces.cli import EXIT_CODES
from onrecord.surfaces.cli.commands import command_of

PAGE = Path(__file__).with_name("reference.md")

HEAD = """\
# Reference

Every operation with its fields, every limit and closed list, every exit code and setting, the lines of an export, and
the steps and layers that a save and a question pass through. This page is written by `make docs` from the code; a test
fails when it is out of date. For a walk through, read the [guide](guide.md); for the words, the [glossary](glossary.md).
"""

# What each setting falls back to, in words: the values differ from machine to machine.
DEFAULTS = {
    "db": "`onrecord.db` in the user's data folder",
    "url": "none",
    "key": "none",
    "tenant": "`default`",
    "project": "`no`",
    "user": "the login name",
    "conversation": "none",
    "embedder": "`e5`",
    "embedder_url": "the usual address of the service",
    "embedder_key": "none",
    "embedder_dimensions": "as long as the model makes them",
    "embedder_timeout": "10",
    "advisor": "`none`",
    "advisor_models": "the one model for all tasks",
    "advisor_url": "the usual address of the provider",
    "advisor_key": "none",
    "advisor_key_file": "none",
    "advisor_form": "`tools`",
    "advisor_timeout": "10",
    "advisor_at_once": "8",
    "advisor_calls_per_day": "no limit",
    "advisor_calls_per_agent": "no limit",
    "advisor_dollars_per_day": "no limit",
    "advisor_dollars_per_agent": "no limit",
    "advisor_prices": "those that the client library knows",
    "advisor_texts": "`no`",
    "host": "`127.0.0.1`",
    "port": "8321",
    "faces": "`native`",
    "worker": "yes",
    "sources": "none",
    "operator_key": "none: nobody runs the store over the network",
    "oidc_issuer": "none",
    "oidc_audience": "none",
    "oidc_jwks": "the issuer says where",
    "oidc_client_id": "none",
    "oidc_client_secret": "none",
    "oidc_client_secret_file": "none",
    "public_url": "the address that was asked",
    "embed_origins": "none",
    "oidc_claims": "`tenant`, `user` and the others by their names",
    "grants": "what a key or a token says",
    "trusted_proxies": "none",
    "allowed_hosts": "those of this machine, and what it listens on",
    "allowed_origins": "none but its own",
    "requests_per_minute": "no limit",
    "audit_days": "for good",
    "rates_file": "each server for itself",
    **{setting.name: setting.default for setting in faces.SETTINGS},
}

LISTS = (
    ("kind", limits.KINDS, limits.DEFAULT_KIND),
    ("dimension", limits.DIMENSIONS, "by kind, see below"),
    ("scope", limits.SCOPES, limits.DEFAULT_SCOPE),
    ("status", limits.STATUSES, "active"),
    ("relation", limits.RELATIONS, ""),
    ("confidence", limits.CONFIDENCES, limits.DEFAULT_CONFIDENCE),
    ("origin", limits.ORIGINS, "the caller's actor"),
    ("actor", limits.ACTORS, "person"),
    ("permission", limits.PERMISSIONS, ""),
)


def page() -> str:
    """The whole page."""
    parts = [
        HEAD,
        *operations(),
        *limits_and_lists(),
        *exit_codes(),
        *settings(),
        *export_lines(),
        *steps(),
        *layers(),
    ]
    return "\n".join(parts)


def operations() -> Iterator[str]:
    yield "## Operations\n"
    yield (
        "Each is a method of `OnRecord` and of `AsyncOnRecord`; most are a command of `onrecord` and a route below "
        "`/v1` of the server too. Fields without a default must be given; `OnRecord` takes the first ones by position.\n"
    )
    yield table(
        ("operation", "command", "route", "effect", "needs"),
        [
            (_link(each), _code(each.command), _code(each.route), each.effect, f"`{each.permission}`")
            for each in OPERATIONS
        ],
    )
    yield (
        f"On a command line a store that is not there yet is made by {_several(_beginning())}, by `serve`, `mcp`, `slash`, "
        "`slayer memory save`, `slayer ingest` and `slayer import`, and by no other command, nor by a dry run.\n"
    )
    for each in OPERATIONS:
        yield f"### {_command(each)}\n"
        yield _paragraphs(each.request.__doc__ or "") + "\n"
        fields = request_fields(each.request)
        if fields:
            options = _options(each)
            rows = [
                (f"`{field.name}`", options.get(field.name, ""), _default(field), _rule(field), _help(field))
                for field in fields
            ]
            yield table(("field", "command line", "default", "takes", "meaning"), rows)


def _beginning() -> Iterator[str]:
    return (each.command for each in OPERATIONS if each.begins and each.command is not None)


def limits_and_lists() -> Iterator[str]:
    yield "## Limits\n"
    numbers = [
        (name, value) for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)
    ]
    yield table(
        ("limit", "value"), [(name.lower().replace("_", " "), f"{value:,}") for name, value in numbers]
    )
    yield "## Closed lists\n"
    yield table(
        ("list", "values", "default"), [(name, _several(values), default) for name, values, default in LISTS]
    )
    yield f"`{next(iter(limits.SCOPE_ALIASES))}` is another word for the scope `tenant`.\n"
    yield "### The dimension of each kind\n"
    yield table(("kind", "dimension"), list(limits.DIMENSION_OF.items()))


def exit_codes() -> Iterator[str]:
    yield "## Exit codes\n"
    rows = [("0", "", "Done.")]
    rows += [
        (str(code), f"`{kind.__name__}`", kind.__doc__ or "")
        for kind, code in sorted(EXIT_CODES, key=_second)
    ]
    rows.append(("130", "", "Stopped by the person at the keyboard."))
    yield table(("code", "error", "meaning"), rows)
    yield "`onrecord doctor` also leaves with 1 when it finds problems.\n"
    yield "### Errors\n"
    yield "The same errors in Python, from `onrecord.errors`:\n"
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    yield table(("error", "is a", "meaning"), [_error(kind) for kind in kinds])


def settings() -> Iterator[str]:
    yield "## Settings\n"
    yield (
        "What is given on the spot wins over the environment, that over the config file, that over the default. "
        "`onrecord config` shows what is in force and where it comes from; `ONRECORD_CONFIG` names another file.\n"
    )
    yield (
        f"Set to nothing, {_several(sorted(config.NEVER_EMPTY))} and `ONRECORD_CONFIG` are an error, wherever they are set: "
        "they say who asks, where, and who is let in. In the environment or the file, any other that is empty or blank counts "
        "as not set. Of the options only `--in-conversation` may be empty, which is no conversation.\n"
    )
    options = {name: f"`--{name}`" for name in ("db", "url", "tenant", "user")}
    options["conversation"] = "`--in-conversation`"
    options |= {"host": "`serve --host`", "port": "`serve --port`", "faces": "`serve --face`"}
    options["worker"] = "`serve --no-worker`"
    rows = [
        (
            f"`{each.name}`",
            f"`ONRECORD_{each.name.upper()}`",
            options.get(each.name, ""),
            DEFAULTS.get(each.name, each.value or "none"),
            each.help,
        )
        for each in config.load({"ONRECORD_CONFIG": os.devnull}).settings
    ]
    yield table(("setting", "environment", "option", "default", "meaning"), rows)


def export_lines() -> Iterator[str]:
    yield "## Lines of an export\n"
    yield (
        "One JSON object a line, in UTF-8. The first is the head: "
        f"`{HEAD_KEY}` is the format ({FORMAT}), `exported_at` the time, `memories` how many there are. Every other has the "
        "`tenant` it is of, and a key by which it is known. Times are ISO 8601 in UTC.\n"
    )
    yield table(
        ("key", "line", "counted as"),
        [(f"`{kind.key}`", kind.meaning, _code(kind.counted_as)) for kind in KINDS],
    )


def steps() -> Iterator[str]:
    yield "## Steps of a save\n"
    yield "`remember` runs these in this order; those of the transaction see no other writer of the tenant.\n"
    rows = [(f"`{each.__name__}`", "before", _question(each)) for each in PREPARE]
    rows += [(f"`{each.__name__}`", "inside", _question(each)) for each in COMMIT]
    yield table(("step", "transaction", "question"), rows)


def layers() -> Iterator[str]:
    yield "## Layers of a question\n"
    yield "`recall` runs these in this order; `explain` shows what each did.\n"
    yield table(("layer", "question"), [(f"`{each.__name__}`", _question(each)) for each in LAYERS])


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [headings, ["---" for _ in headings], *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _command(operation: Operation) -> str:
    return operation.name.rstrip("_").replace("_", "-")


def _code(words: str | None) -> str:
    return f"`{words}`" if words else ""


def _options(operation: Operation) -> dict[str, str]:
    """How each field is given on the command line, if there is a command."""
    if operation.command is None:
        return {}
    command = command_of(operation, {})
    for word in operation.command.split()[1:]:
        command = command.commands[word]  # type: ignore[attr-defined]
    return {str(parameter.name): _option(parameter) for parameter in command.params}


def _link(operation: Operation) -> str:
    return f"[`{_command(operation)}`](#{_command(operation)})"


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _option(parameter: click.Parameter) -> str:
    return f"`{parameter.opts[0] if isinstance(parameter, click.Option) else parameter.metavar}`"


def _help(field: Field[Any]) -> str:
    return str(field.metadata["help"])


def _default(field: Field[Any]) -> str:
    if field.default is MISSING:
        return "required"
    if isinstance(field.default, Unset) or field.default in (None, ()):
        return ""
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def _rule(field: Field[Any]) -> str:
    return describe(field.metadata["rule"])


def describe(rule: rules.Rule) -> str:
    """What a field takes, in words."""
    match rule:
        case rules.OrNone(inner):
            return f"{describe(inner)}, or nothing"
        case rules.ListOf() | Several():
            return f"up to {rule.at_most}, each {describe(rule.each)}"
        case rules.Choice(options):
            known = {values: name for name, values, _ in LISTS}
            return (
                f"a [{known[options]}](#closed-lists)" if options in known else "one of " + _several(options)
            )
        case rules.Integer():
            return f"a whole number, {rule.at_least} to {rule.at_most:,}"
        case rules.Fraction():
            return "a number from 0 to 1"
        case rules.Text():
            return _describe_text(rule)
        case FieldsOf():
            return f"an object with the fields of `{rule.request.__name__.lower()}`"
        case Object():
            return f"{rule.noun}, an object of {_several(rule.fields)}"
        case rules.Json(text_too):
            return "a JSON object" + (" or a text" if text_too else "")
    return {
        rules.Identifier: "an id",
        rules.Timestamp: "a time",
        rules.Flag: "true or false",
        rules.Number: "a number",
        rules.Reference: "a reference",
        rules.Document: "any JSON value or text",
        rules.SystemGrant: "a system, with `=manage` behind it if more than to read",
    }[type(rule)]


def _describe_text(rule: rules.Text) -> str:
    most = f"{rule.at_most:,} characters" if rule.at_most else ""
    if rule.at_most_bytes:
        most = f"{rule.at_most_bytes:,} bytes of UTF-8"
    parts = ["a line" if rule.line else "a text"]
    if most:
        parts.append(f"of 1 to {most}" if rule.at_least else f"of up to {most}")
    return " ".join(parts)


def _several(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _second(pair: tuple[Any, int]) -> int:
    return pair[1]


def _error(kind: type[Exception]) -> tuple[str, str, str]:
    return f"`{kind.__name__}`", f"`{kind.__bases__[0].__name__}`", kind.__doc__ or ""


def _question(function: Callable[..., Any]) -> str:
    """The first line of the module that a step or layer lives in: the question it answers."""
    return (sys.modules[function.__module__].__doc__ or "").splitlines()[0]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE}")
