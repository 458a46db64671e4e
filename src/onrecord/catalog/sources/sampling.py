"""WHICH example values does a column hold? A few short ones without secrets, and none for a column with a
secret's name.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Text, cast, column, func, select, table
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.types import Integer, Numeric, String

from onrecord.providers.scrubber import scrub
from onrecord.providers.secret_names import possible_kind, secret_kind

_ROWS: Final = 10_000
_LONGEST: Final = 80
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")


def may_be_sampled(given: ReflectedColumn) -> bool:
    """Texts and numbers, unless the name is, or may be, that of a credential."""
    name = given["name"]
    return isinstance(given["type"], String | Integer | Numeric) and not (
        secret_kind(name) or possible_kind(name)
    )


def sample(
    connection: Connection,
    place: tuple[str | None, str],
    names: Sequence[str],
    key: Sequence[str],
    count: int,
) -> Mapping[str, str]:
    """For each of these columns up to `count` values of the first rows, in the order of the table's key."""
    schema, name = place
    source = table(name, *map(column, dict.fromkeys([*names, *key])), schema=schema)
    # Only whole values, since a cut secret would not be recognised as one.
    texts = [func.substr(cast(source.c[each], Text), 1, _LONGEST + 1) for each in names]
    order: list[ColumnElement[Any]] = [source.c[each] for each in key or names]
    rows = connection.execute(select(*texts).order_by(*order).limit(_ROWS)).all()
    found = {each: _examples([row[place] for row in rows], count) for place, each in enumerate(names)}
    return {each: ", ".join(values) for each, values in found.items() if values}


def _examples(values: Sequence[Any], count: int) -> list[str]:
    examples: dict[str, None] = {}
    for value in dict.fromkeys(values):
        if len(examples) == count:
            break
        if isinstance(value, str) and value.strip() and len(value) <= _LONGEST and not _UNFIT.search(value):
            examples.setdefault(scrub(value).text)
    return list(examples)
