"""WHAT came of a check? What it saw is compared with what it expects.

`verified` if it is so, `failed` with what was seen if it is not, `unverifiable` if nobody could look.
"""

import time
from dataclasses import replace
from decimal import Decimal, Overflow
from typing import Any, Final, NamedTuple

from onrecord.catalog.resolution import Ambiguous, Unresolved, resolve
from onrecord.catalog.stored import StoredCatalog
from onrecord.checks.running import (
    CouldNotLook,
    NoLongerRuns,
    Result,
    file_hash,
    on_one_line,
    query_result,
)
from onrecord.model.checks import Check, CheckOutcome, Expectation, number_of
from onrecord.model.connections import CheckPolicy, Connection
from onrecord.model.limits import CHECK_COLUMNS, CHECK_ROWS, CHECK_SEEN_CHARACTERS, CheckState
from onrecord.model.memory import Memory
from onrecord.store.ports.records import Reading

#: How far the rows of an example query may be from those of its first run, if no band is given.
_ROWS_APART: Final = 2


class JudgedCheck(NamedTuple):
    """What came of a check, and what an open expectation is from now on."""

    outcome: CheckOutcome
    learnt: Expectation | None = None
    #: What it reads is not set up here; another machine may have looked at it.
    is_elsewhere: bool = False


class EntityFinding(NamedTuple):
    """What the catalog says about an entity, read before anything runs."""

    state: CheckState
    seen: str | None


def entity_finding(check: Check, reading: Reading) -> EntityFinding:
    """Whether the catalog has an entity, and of which type."""
    lookup = StoredCatalog(reading)
    if lookup.is_empty:
        return EntityFinding("unverifiable", "this tenant has no catalog yet")
    assert check.entity is not None
    try:
        canonical = resolve(check.entity, lookup).canonical
    except Ambiguous as problem:
        return EntityFinding("unverifiable", _cut(problem.reason))
    except Unresolved as problem:
        return EntityFinding("failed", _cut(f"{check.entity}: {problem.reason}"))
    if check.type is None:
        return EntityFinding("verified", None)
    found = _type_of(canonical, lookup)
    if found is None:
        return EntityFinding("unverifiable", f"the catalog has no type for {canonical}")
    if found.casefold() == check.type.casefold():
        return EntityFinding("verified", None)
    return EntityFinding("failed", _cut(f"{canonical} is {found}, not {check.type}"))


def _type_of(canonical: str, lookup: StoredCatalog) -> str | None:
    datasource, _, rest = canonical.partition(".")
    model_name, _, column = rest.partition(".")
    model = lookup.model(datasource, model_name)
    if model is None:
        return None
    return next((each.type for each in model.parts if each.name == column and each.type), None)


def judged(check: Check, memory: Memory, policy: CheckPolicy) -> JudgedCheck:
    """Look, and compare. It may take seconds: no connection to the store is held meanwhile."""
    began = time.monotonic()
    learnt = None
    connection = policy.connection(memory.tenant, check.connection)
    try:
        if connection is None:
            raise CouldNotLook(f"no connection {check.connection} is set up here for this tenant")
        if check.kind == "file":
            state, seen = _file(check, connection, policy)
        else:
            expect = check.expect
            result = query_result(connection, _sql_of(check, memory), _needed(check, expect), policy.seconds)
            state, seen = compared(expect, result)
            if check.kind == "query" and state == "verified":
                learnt = _completed(expect, result)
    except CouldNotLook as problem:
        state, seen = "unverifiable", str(problem)
    except NoLongerRuns as problem:
        state, seen = "failed", f"it no longer runs: {problem}"
    ms = int((time.monotonic() - began) * 1_000)
    return JudgedCheck(
        CheckOutcome(number=check.number, state=state, seen=seen and _cut(seen), ms=ms),
        learnt,
        connection is None,
    )


def after(check: Check, judged: JudgedCheck) -> Check:
    """The check with what came of it. That nobody could look refutes no failure, nor what another machine has verified."""
    outcome = judged.outcome
    kept = ("failed", "verified") if judged.is_elsewhere else ("failed",)
    if outcome.state == "unverifiable" and check.state in kept:
        return check
    expect = judged.learnt or check.expect
    return replace(check, state=outcome.state, seen=outcome.seen, expect=expect)


def _sql_of(check: Check, memory: Memory) -> str:
    if check.kind == "sql":
        assert check.sql is not None
        return check.sql
    query = memory.query
    sql = query.get("sql") if isinstance(query, dict) else query
    if not isinstance(sql, str):
        raise CouldNotLook("the memory has no example query in SQL")
    return sql


def _needed(check: Check, expect: Expectation) -> int:
    """How many rows must be counted: to know that there are too many, one more than may be there."""
    if check.kind == "query" and expect.is_open:
        return CHECK_ROWS
    wanted = [1, expect.min_rows or 0, 0 if expect.max_rows is None else expect.max_rows]
    return max(wanted)


def expectation_of(result: Result) -> Expectation:
    """What an example query returns, as what it should return from now on: its columns, types, and a band of rows."""
    return Expectation(
        columns=result.columns[:CHECK_COLUMNS],
        types=result.types[:CHECK_COLUMNS] if result.rows else (),
        min_rows=None if result.more else result.rows // _ROWS_APART,
        max_rows=None if result.more else min(max(result.rows * _ROWS_APART, 1), CHECK_ROWS),
    )


def _completed(expect: Expectation, result: Result) -> Expectation:
    """What is expected of an example query, with the columns that it returns if none are said, and the rows likewise."""
    if expect.is_open:
        return expectation_of(result)
    if expect.columns:
        return expect
    return replace(expect, columns=(found := expectation_of(result)).columns, types=found.types)


def compared(expect: Expectation, result: Result) -> tuple[CheckState, str | None]:
    """Whether a result is what was expected, and what was seen if not."""
    if expect.columns and result.columns != expect.columns:
        return (
            "failed",
            f"it returns the columns {', '.join(result.columns)}, not {', '.join(expect.columns)}",
        )
    for name, wanted, found in zip(result.columns, expect.types, result.types, strict=False):
        # Nothing is known of the type of a column without values.
        if found != "null" and wanted != "null" and found.casefold() != wanted.casefold():
            return "failed", f"{name} is {found}, not {wanted}"
    if expect.value is not None and (fault := _value_fault(expect, result)):
        return "failed", fault
    many = f"more than {result.rows}" if result.more else str(result.rows)
    if expect.min_rows is not None and result.rows < expect.min_rows:
        return "failed", f"it returns {many} rows, not at least {expect.min_rows}"
    if expect.max_rows is not None and (result.more or result.rows > expect.max_rows):
        return "failed", f"it returns {many} rows, not at most {expect.max_rows}"
    return "verified", None


def _value_fault(expect: Expectation, result: Result) -> str | None:
    if len(result.columns) != 1 or result.rows != 1 or result.more:
        rows = f"more than {result.rows}" if result.more else str(result.rows)
        return f"it returns {rows} rows of {len(result.columns)} columns, not one value"
    if is_same(expect.value, result.first, expect.tolerance or 0.0):
        return None
    within = f" within {expect.tolerance:g}" if expect.tolerance else ""
    return f"it returns {_in_words(result.first)}, not {_in_words(expect.value)}{within}"


def is_same(expected: Any, seen: Any, tolerance: float) -> bool:
    """Whether two values are the same: numbers by their value, true as 1, texts by their letters."""
    one, other = number_of(expected), number_of(seen)
    if one is not None and other is not None:
        try:
            return abs(one - other) <= Decimal(str(tolerance))
        except Overflow:
            return False
    if isinstance(seen, bool):
        return str(expected).casefold() == _in_words(seen)
    # What was seen is on one line, too.
    return seen is not None and on_one_line(str(expected)) == str(seen)


def _in_words(value: Any) -> str:
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _file(check: Check, connection: Connection, policy: CheckPolicy) -> tuple[CheckState, str | None]:
    assert check.path is not None
    assert check.sha256 is not None
    found = file_hash(connection, check.path, check.lines, policy.seconds)
    if found == check.sha256.lower():
        return "verified", None
    what = f"lines {check.lines[0]} to {check.lines[1]} of {check.path}" if check.lines else check.path
    return "failed", f"{what} have changed" if check.lines else f"{what} has changed"


def _cut(text: str) -> str:
    return text if len(text) <= CHECK_SEEN_CHARACTERS else text[: CHECK_SEEN_CHARACTERS - 1] + "…"
