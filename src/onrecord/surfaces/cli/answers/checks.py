"""HOW do checks look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import Part, check_mark, many, minute, shows, written

if TYPE_CHECKING:
    from onrecord.checks.adding import ChangedChecks
    from onrecord.checks.checking import RanChecks
    from onrecord.checks.listing import ListedChecks
    from onrecord.model.checks import Check


@shows
def _(answer: "ChangedChecks") -> Iterator[Part]:
    memory, check = answer.memory, answer.check
    if check is None:
        yield f"Memory #{memory.id} has {many(len(memory.checks), 'check')} left."
        return
    done = "Check" if answer.changed else "It was there already: check"
    yield f"{done} {check.number} of #{memory.id}: {_check(check)}"
    if answer.waits:
        yield f"It runs once a person has approved it: onrecord checks approve {memory.id} {check.number}"


@shows
def _(answer: "RanChecks") -> Iterator[Part]:
    if answer.report is not None:
        yield answer.report.rstrip()
        return
    for query in answer.queries:
        if query.problem is not None:
            yield f"Example query #{query.memory} of {query.owner} does not fit: {query.problem}"
            if query.rewrite is not None:
                yield f"    perhaps: {written(query.rewrite)}"
    for memory in answer.memories:
        yield f"#{memory.memory}  {memory.title}"
        for each in memory.outcomes:
            yield f"    {each.number}: {check_mark(each.state, each.seen)}"
    if answer.queries:
        broken = sum(each.problem is not None for each in answer.queries)
        yield f"{many(len(answer.queries), 'example query', 'example queries')}: {broken} do not fit."
    if not answer.memories:
        yield from () if answer.queries else ("Nothing to check.",)
        return
    yield f"{many(len(answer.memories), 'memory', 'memories')}: {answer.verified} verified, {answer.failed} failed, {answer.unverifiable} could not be checked."


@shows
def _(answer: "ListedChecks") -> Iterator[Part]:
    if not answer.checks:
        yield f"Memory #{answer.memory} has no checks."
    for table in answer.checkable:
        rows = table.problem or ("" if table.rows is None else f"{table.rows:,} rows now")
        yield f"It could be checked: {table.entity} on {table.connection}" + (f" ({rows})" if rows else "")
    for check in answer.checks:
        waits = "" if check.approved_by else f"; proposed by {check.proposed_by}, and waits for a person"
        yield f"{check.number}: {_check(check)}  [{check_mark(check.state, check.seen)}{waits}]"
    for run in answer.runs:
        came = ", ".join(f"{each.number} {each.state}" for each in run.outcomes)
        yield f"{minute(run.at)}  by {run.by}: {came}"
    if answer.connections:
        yield f"Checks may read: {', '.join(f'{each.name} ({each.kind})' for each in answer.connections)}"


def _check(check: "Check") -> str:
    expect = check.expect
    if check.kind == "entity":
        return f"the catalog has {check.entity}" + (f" of type {check.type}" if check.type else "")
    if check.kind == "file":
        lines = f", lines {check.lines[0]} to {check.lines[1]}" if check.lines else ""
        return f"{check.path} of {check.connection}{lines} is as it was"
    expected = []
    if expect.value is not None:
        within = f" within {expect.tolerance:g}" if expect.tolerance else ""
        expected.append(f"is {expect.value}{within}")
    if expect.columns:
        expected.append(f"has the columns {', '.join(expect.columns)}")
    if expect.min_rows is not None:
        expected.append(f"has at least {expect.min_rows} rows")
    if expect.max_rows is not None:
        expected.append(f"has at most {expect.max_rows} rows")
    what = "its example query" if check.kind == "query" else check.sql
    return f"{what} on {check.connection} " + (" and ".join(expected) or "runs")
