"""WHAT do type checkers and editors know of the doors? Writes src/onrecord/doors.pyi from the operations; `make docs` runs it."""

import re
import types
from collections import defaultdict
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from onrecord.features import OPERATIONS
from onrecord.model import catalog, limits, workspace
from onrecord.model.request import request_fields
from onrecord.operation import Operation

FILE = Path(__file__).parents[1] / "src" / "onrecord" / "doors.pyi"

HEAD = '"""Written by `make docs` from the operations; change those, not this file."""\n'
#: Closed lists, by the names they have in the model.
NAMED = {
    value: (module.__name__, name)
    for module in (workspace, catalog, limits)
    for name, value in vars(module).items()
    if get_origin(value) is Literal
}


def stub() -> str:
    """The whole file."""
    imports: dict[str, set[str]] = defaultdict(set)
    imports["typing"].add("Any")
    imports["onrecord.operation"].add("Operation")
    classes = [_door("Door", "", imports), _door("AsyncDoor", "async ", imports)]
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(imports.items())]
    return "\n".join([HEAD, *lines, "", *classes])


def _door(name: str, prefix: str, imports: dict[str, set[str]]) -> str:
    perform = f"    {prefix}def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any: ..."
    methods = [_method(each, prefix, imports) for each in OPERATIONS]
    return "\n".join([f"class {name}:", perform, *methods, ""])


def _method(operation: Operation, prefix: str, imports: dict[str, set[str]]) -> str:
    fields = request_fields(operation.request)
    by_position = [each for each in fields if not each.kw_only]
    by_name = [each for each in fields if each.kw_only]
    parameters = ["self", *(_parameter(each, imports) for each in by_position)]
    if by_name:
        parameters += ["*", *(_parameter(each, imports) for each in by_name)]
    answer = _spelled(operation.answer, imports)
    lines = "".join(f"        {each},\n" for each in parameters)
    told = (operation.request.__doc__ or "").splitlines()[0]
    return f'    {prefix}def {operation.name}(\n{lines}    ) -> {answer}:\n        """{told}"""\n        ...'


def _parameter(field: Field[Any], imports: dict[str, set[str]]) -> str:
    default = "" if field.default is MISSING else " = ..."
    return f"{field.name}: {_spelled(field.type, imports)}{default}"


def _spelled(hint: Any, imports: dict[str, set[str]]) -> str:
    """A type as it is written, with what it takes to import it."""
    if hint is None or hint is types.NoneType:
        return "None"
    if get_origin(hint) in (Union, types.UnionType):
        return " | ".join(_spelled(each, imports) for each in get_args(hint))
    if get_origin(hint) is Literal:
        home, name = NAMED.get(hint, ("typing", "Literal"))
        imports[home].add(name)
        return name if hint in NAMED else re.sub(r"^typing\.", "", repr(hint)).replace("'", '"')
    if arguments := get_args(hint):
        inner = ", ".join("..." if each is ... else _spelled(each, imports) for each in arguments)
        return f"{_spelled(get_origin(hint), imports)}[{inner}]"
    if hint is Any:
        return "Any"
    if hint.__module__ != "builtins":
        imports[hint.__module__].add(hint.__name__)
    return str(hint.__name__)


if __name__ == "__main__":
    FILE.write_text(stub(), encoding="utf-8")
    print(f"Wrote {FILE}")
