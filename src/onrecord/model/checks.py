"""WHAT proves a memory? Its checks: what a query returns, the catalog has or a file holds, against what is expected."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.limits import CheckKind, CheckState
from onrecord.model.rules import Choice, Integer, Number, OrNone, Reference, Rule, Text
from onrecord.model.shapes import Either, Object, Several
from onrecord.model.wire import to_json

#: What makes a memory's state, the worst first.
_WORST_FIRST: Final[tuple[CheckState, ...]] = ("failed", "unverifiable", "unchecked", "verified")
#: What is said of each state.
CHECK_WORDS: Final[Mapping[CheckState, str]] = {
    "unchecked": "not checked yet",
    "verified": "checked",
    "failed": "check failed",
    "unverifiable": "could not be checked",
}
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")
_SQL: Final = Text(at_least=1, at_most_bytes=limits.CHECK_SQL_BYTES)
CONNECTION_NAME: Final = Text(at_least=1, at_most=limits.NAME_CHARACTERS, line=True, strip=True)
_COUNT: Final = Integer(0, limits.CHECK_ROWS)
_VALUE: Final = Either(
    "a text, a number, true or false",
    {
        str: Text(at_most=limits.CHECK_SEEN_CHARACTERS),
        bool: rules.FLAG,
        int: Integer(),
        float: Number(),
    },
)
_WORD: Final = Text(at_least=1, at_most=limits.NAME_CHARACTERS, line=True, strip=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a check expects. What is left out may be anything.

    `value` is the one value of the one row, a number within `tolerance`; `columns` are their names in order, `types` what the
    database calls their types; the rows are a band.
    """

    value: str | int | float | bool | None = None
    tolerance: float | None = None
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    min_rows: int | None = None
    max_rows: int | None = None

    @property
    def is_open(self) -> bool:
        return self == Expectation()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of a memory. `connection` names what its machine is set to read; no address and no password is part of it.

    Of kind *sql* it is a query; *query* is the example query of the memory itself; *entity* that the catalog has
    something, perhaps of a type; *file* the hash of a file, or of some of its lines. It runs once a person has added or
    approved it. `state` and `seen` say what came of it last.
    """

    number: int
    kind: CheckKind
    connection: str | None = None
    sql: str | None = None
    expect: Expectation = field(default_factory=Expectation)
    entity: str | None = None
    type: str | None = None
    path: str | None = None
    lines: tuple[int, ...] = ()
    sha256: str | None = None
    proposed_by: str = ""
    approved_by: str | None = None
    state: CheckState = "unchecked"
    seen: str | None = None

    @property
    def definition(self) -> "Check":
        """The check without what came of it."""
        return replace(self, state="unchecked", seen=None)

    def of_new_query(self) -> "Check":
        """The check once its memory has another query, which may have other columns."""
        if self.kind != "query":
            return self
        return replace(self, expect=replace(self.expect, columns=(), types=()))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """What came of one check: its state, what was seen, and how long it took."""

    number: int
    state: CheckState
    seen: str | None = None
    ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One run of the checks of a memory: when, for whom, and what came of each."""

    at: datetime
    by: str
    outcomes: tuple[CheckOutcome, ...]


def state_of(checks: Iterable[Check]) -> CheckState | None:
    """The worst state of the checks that count; None if there are none."""
    states = {each.state for each in checks if each.approved_by is not None}
    return next((each for each in _WORST_FIRST if each in states), None)


def unchecked(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks of a text that is new: nothing has come of them yet."""
    return tuple(each.definition for each in checks)


def proposed(check: Check) -> Check:
    """The check as one that waits for approval; nothing has come of it yet."""
    return replace(check.definition, approved_by=None)


def number_of(value: object) -> Decimal | None:
    """A value as a number, true as 1; None if it is none, or has no end."""
    try:
        number = Decimal(int(value)) if isinstance(value, bool) else Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def tolerance_faults(value: object, tolerance: float | None) -> Iterator[Fault]:
    """What is wrong with how far a value may be from what is expected."""
    if tolerance is None:
        return
    if isinstance(value, bool) or number_of(value) is None:
        yield Fault("tolerance", "is for a value that is a number")
    if not 0 <= tolerance < math.inf:
        yield Fault("tolerance", "must be a number that is not negative")


def _expectation_faults(clean: Mapping[str, Any], _given: Mapping[str, Any]) -> Iterator[Fault]:
    yield from tolerance_faults(clean.get("value"), clean.get("tolerance"))
    least, most = clean.get("min_rows"), clean.get("max_rows")
    if least is not None and most is not None and least > most:
        yield Fault("max_rows", "must not be less than min_rows")
    columns, types = clean.get("columns", ()), clean.get("types", ())
    if types and len(types) != len(columns):
        yield Fault("types", "must have one entry for each column")


EXPECTATION: Final = Object(
    "an expectation",
    {
        "value": OrNone(_VALUE),
        "tolerance": OrNone(Number()),
        "columns": Several(_WORD, at_most=limits.CHECK_COLUMNS),
        "types": Several(_WORD, at_most=limits.CHECK_COLUMNS),
        "min_rows": OrNone(_COUNT),
        "max_rows": OrNone(_COUNT),
    },
    build=Expectation,
    between=_expectation_faults,
)
#: What each kind of check needs; whatever else is given does not belong to it.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "sql": ("connection", "sql", "expect"),
    "query": ("connection",),
    "entity": ("entity",),
    "file": ("connection", "path", "sha256"),
}
_TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "sql": (),
    "query": ("expect",),
    "entity": ("type",),
    "file": ("lines",),
}


def check_faults(clean: Mapping[str, Any], _given: Mapping[str, Any]) -> Iterator[Fault]:
    """What must hold between the fields of a check."""
    kind = clean.get("kind")
    if kind is None:
        return
    for name in _NEEDS[kind]:
        value = clean.get(name)
        if value is None or (name == "expect" and value.is_open):
            yield Fault(name, f"is missing: a check of kind {kind} needs it")
    for name in ("connection", "sql", "entity", "type", "path", "lines", "sha256"):
        if clean.get(name) and name not in (*_NEEDS[kind], *_TAKES[kind]):
            yield Fault(name, f"does not belong to a check of kind {kind}")
    if "expect" not in (*_NEEDS[kind], *_TAKES[kind]) and not clean.get("expect", Expectation()).is_open:
        yield Fault("expect", f"does not belong to a check of kind {kind}")
    if (hashed := clean.get("sha256")) and not _SHA256.fullmatch(hashed):
        yield Fault("sha256", "must be 64 hexadecimal digits")
    lines = clean.get("lines")
    if lines and (len(lines) != 2 or lines[0] > lines[1]):
        yield Fault("lines", "must be the first and the last line, counted from 1")


class _ReadExpectation(Object):
    __slots__ = ()

    def __call__(self, value: Any, /) -> Any:
        return Object.__call__(self, to_json(value) if isinstance(value, Expectation) else value)


#: The fields that whoever adds a check gives.
GIVEN_RULES: Final[Mapping[str, Rule]] = {
    "kind": Choice(limits.CHECK_KINDS),
    "connection": OrNone(CONNECTION_NAME),
    "sql": OrNone(_SQL),
    "expect": _ReadExpectation(
        EXPECTATION.noun, EXPECTATION.fields, build=Expectation, between=_expectation_faults
    ),
    "entity": OrNone(Reference()),
    "type": OrNone(_WORD),
    "path": OrNone(Text(at_least=1, at_most=limits.PATH_CHARACTERS, line=True)),
    "lines": Several(Integer(1, 2**31 - 1), at_most=2),
    "sha256": OrNone(Text(at_least=64, at_most=64, line=True)),
}


class _ReadCheck(Object):
    """A check as it is kept, given as a JSON object or as a `Check`."""

    __slots__ = ()

    def __call__(self, value: Any, /) -> Any:
        return Object.__call__(self, to_json(value) if isinstance(value, Check) else value)


CHECKS: Final = Several(
    _ReadCheck(
        "a check",
        {
            "number": Integer(1, 2**31 - 1),
            **GIVEN_RULES,
            "proposed_by": rules.NAME,
            "approved_by": OrNone(rules.NAME),
            "state": Choice(limits.CHECK_STATES),
            "seen": OrNone(Text(at_most=limits.CHECK_SEEN_CHARACTERS)),
        },
        needed=("number", "kind", "proposed_by"),
        build=Check,
        between=check_faults,
    ),
    at_most=limits.CHECKS,
)
