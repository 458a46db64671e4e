"""WHO adds a check, and who lets it run? A person who reviews; what anyone else adds waits until one has approved it.

The text of a memory never becomes SQL: a check is given as one, or is not there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from onrecord.checks.statement import refuse
from onrecord.errors import Conflict, Fault, Forbidden, NotFound, invalid
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.checks import GIVEN_RULES, Check, Expectation, check_faults, tolerance_faults
from onrecord.model.limits import CheckKind
from onrecord.model.memory import Memory, with_checks
from onrecord.model.record import GLOBAL_CHECKS
from onrecord.model.request import Request, ask
from onrecord.model.rules import Choice, Integer, ListOf, Number, OrNone
from onrecord.operation import Call, operation
from onrecord.providers import scrubber
from onrecord.remember.save import refuse_retired
from onrecord.store.ports.records import Writing

_COUNT = OrNone(Integer(0, limits.CHECK_ROWS))
_COLUMNS = ListOf(rules.NAME, at_most=limits.CHECK_COLUMNS)
_NUMBER = Integer(1, 2**31 - 1)


@dataclass(frozen=True, slots=True)
class AddCheck(Request):
    """Add a check to a memory: a query with what it should return, an entity that should be there, or the hash of a file.

    It runs over a connection that only reads, which this machine must be set to have. What an agent adds is a proposal:
    it runs once a person who reviews has approved it.
    """

    id: str = ask(rules.ID, "The memory that it checks.", positional=True)
    kind: CheckKind = ask(
        Choice(limits.CHECK_KINDS),
        "sql: a query of its own; query: the memory's example query; entity: what the catalog has; file: the hash of a file.",
        "sql",
    )
    connection: str | None = ask(
        GIVEN_RULES["connection"],
        "The connection that it reads; for a file, the name of its folder.",
        None,
    )
    sql: str | None = ask(GIVEN_RULES["sql"], "One query that only reads.", None)
    value: str | None = ask(
        OrNone(rules.Text(at_most=limits.CHECK_SEEN_CHARACTERS)),
        "The one value that it should return; numbers are compared by their value.",
        None,
    )
    tolerance: float | None = ask(OrNone(Number()), "How far a number may be from that.", None)
    columns: Sequence[str] = ask(_COLUMNS, "The columns that it should return, in order.", ())
    min_rows: int | None = ask(_COUNT, "How many rows it should return at least.", None)
    max_rows: int | None = ask(_COUNT, "How many rows it should return at most.", None)
    entity: str | None = ask(GIVEN_RULES["entity"], "What the catalog should have.", None)
    type: str | None = ask(GIVEN_RULES["type"], "The type that the column should have.", None)
    path: str | None = ask(GIVEN_RULES["path"], "The file, from its folder on.", None)
    first_line: int | None = ask(OrNone(_NUMBER), "Only from this line of the file on.", None)
    last_line: int | None = ask(OrNone(_NUMBER), "Only up to this line of the file.", None)
    sha256: str | None = ask(GIVEN_RULES["sha256"], "The SHA-256 of the file, or of these lines.", None)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from check_faults({name: value for name, value in self._given().items() if value}, {})
        if (self.first_line is None) != (self.last_line is None):
            yield Fault("last_line", "comes with first_line")
        yield from tolerance_faults(self.value, self.tolerance)
        if None not in (self.min_rows, self.max_rows) and self.min_rows > self.max_rows:  # type: ignore[operator]
            yield Fault("max_rows", "must not be less than min_rows")

    def _given(self) -> dict[str, object]:
        lines = () if self.first_line is None or self.last_line is None else (self.first_line, self.last_line)
        return {
            "kind": self.kind,
            "connection": self.connection,
            "sql": self.sql,
            "expect": Expectation(
                value=self.value,
                tolerance=self.tolerance,
                columns=tuple(self.columns),
                min_rows=self.min_rows,
                max_rows=self.max_rows,
            ),
            "entity": self.entity,
            "type": self.type,
            "path": self.path,
            "lines": lines,
            "sha256": self.sha256,
        }

    def check(self, number: int, caller: Caller, approved: bool) -> Check:
        """The check that is asked for."""
        by = caller.user
        return Check(
            number=number,
            proposed_by=by,
            approved_by=by if approved else None,
            **self._given(),  # type: ignore[arg-type]
        )


@dataclass(frozen=True, slots=True)
class ApproveCheck(Request):
    """Let a check run that an agent proposed. Read its query first: it runs again and again from now on."""

    id: str = ask(rules.ID, "The memory that it checks.", positional=True)
    number: int = ask(_NUMBER, "The number of the check.", positional=True)


@dataclass(frozen=True, slots=True)
class DropCheck(Request):
    """Take a check away from a memory; what came of it stays in the history."""

    id: str = ask(rules.ID, "The memory that it checks.", positional=True)
    number: int = ask(_NUMBER, "The number of the check.", positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedChecks(Answer):
    """The memory with its checks. `check` is the one that was added or approved; `waits` says that it runs only after a
    person has approved it.
    """

    memory: Memory
    check: Check | None = None
    waits: bool = False
    changed: bool = True


@operation("write", "memory.manage", "POST /memories/{id}/checks", "checks add")
def add_check(call: Call, ask: AddCheck) -> ChangedChecks:
    """Add it to a memory that the caller may change, or propose to change."""
    _refuse_sql(call, ask)
    with call.writing(ask.id) as writing:
        before = writing.named(ask.id, by_name=True)
        refuse_retired(before)
        if before.scope == "global":
            raise invalid("id", f"checks {GLOBAL_CHECKS}")
        if len(before.checks) >= limits.CHECKS:
            raise Conflict(f"Memory {before.id} has {limits.CHECKS} checks already. Drop one first.")
        if ask.kind == "query" and before.query is None:
            raise invalid("kind", "memory has no example query to check; give the SQL itself")
        number = max((each.number for each in before.checks), default=0) + 1
        approved = call.caller.lets_checks_run
        check = ask.check(number, call.caller, approved)
        same = next((each for each in before.checks if _same(each, check)), None)
        if same is not None:
            waits = same.approved_by is None
            return call.done(writing, ChangedChecks(memory=before, check=same, waits=waits, changed=False))
        saved = _keep(call, writing, before, (*before.checks, check), "add_check")
        return call.done(writing, ChangedChecks(memory=saved, check=check, waits=not approved))


@operation("write", "memory.review", "POST /memories/{id}/checks/approve", "checks approve")
def approve_check(call: Call, ask: ApproveCheck) -> ChangedChecks:
    call.caller.require_person("Approving a check")
    with call.writing(ask.id) as writing:
        before = writing.reviewable(ask.id, by_name=True)
        refuse_retired(before)
        check = _numbered(before, ask.number)
        if check.approved_by is not None:
            return call.done(writing, ChangedChecks(memory=before, check=check, changed=False))
        approved = replace(check.definition, approved_by=call.caller.user)
        every = tuple(approved if each is check else each for each in before.checks)
        saved = _keep(call, writing, before, every, "approve_check")
        return call.done(writing, ChangedChecks(memory=saved, check=approved))


@operation("write", "memory.manage", "POST /memories/{id}/checks/drop", "checks drop")
def drop_check(call: Call, ask: DropCheck) -> ChangedChecks:
    """Take it away: one that counts only by whoever may add such, a proposal also by its proposer."""
    with call.writing(ask.id) as writing:
        before = writing.named(ask.id, by_name=True)
        check = _numbered(before, ask.number)
        own = check.approved_by is None and check.proposed_by == call.caller.user
        if not own and not call.caller.lets_checks_run:
            raise Forbidden("Only a person who reviews may drop a check that runs, or that another proposed.")
        rest = tuple(each for each in before.checks if each is not check)
        saved = _keep(call, writing, before, rest, "drop_check")
        return call.done(writing, ChangedChecks(memory=saved))


def _refuse_sql(call: Call, ask: AddCheck) -> None:
    """Refuse what could not run, in the words of its database if that is set up here."""
    if ask.sql is None:
        return
    if scrubber.scrub(ask.sql).found:
        raise invalid("sql", "holds what looks like a secret; a check has none, its connection logs in")
    connection = call.policy.checks.connection(call.caller.tenant, ask.connection)
    try:
        refuse(ask.sql, None if connection is None else connection.kind)
    except ValueError as reason:
        raise invalid("sql", str(reason)) from None


def _numbered(memory: Memory, number: int) -> Check:
    found = next((each for each in memory.checks if each.number == number), None)
    if found is None:
        known = ", ".join(str(each.number) for each in memory.checks) or "none"
        raise NotFound(f"Memory {memory.id} has no check {number}. It has: {known}.")
    return found


def _same(one: Check, other: Check) -> bool:
    anonymous = {"number": 0, "proposed_by": "", "approved_by": None}
    return replace(one.definition, **anonymous) == replace(other, **anonymous)  # type: ignore[arg-type]


def _keep(call: Call, writing: Writing, before: Memory, checks: Sequence[Check], name: str) -> Memory:
    """The memory with these checks. What it says has not changed, so neither has the time of that."""
    return writing.replace(before, with_checks(before, checks), call.change(name))
