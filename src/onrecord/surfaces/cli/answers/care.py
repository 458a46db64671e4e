"""HOW do the answers of maintenance look in a shell?"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import (
    Columns,
    Part,
    TextTable,
    listed,
    many,
    many_memories,
    minute,
    named,
    says,
    scrubbed_line,
    shows,
    table,
    written,
)

if TYPE_CHECKING:
    from onrecord.care.dismissing import Dismissed
    from onrecord.care.doctor import Examined
    from onrecord.care.embedding import EmbeddedMissing
    from onrecord.care.export import Exported
    from onrecord.care.folder.applying import FolderSteps
    from onrecord.care.foreign.bringing import Brought
    from onrecord.care.foreign.linting import Linted
    from onrecord.care.importing import Imported
    from onrecord.care.reassigning import Reassigned
    from onrecord.care.renaming import AcceptedRenames, ListedRenames
    from onrecord.care.status import FailedJobs, StoreStatus, TenantStatus

#: How many categories of an import are listed.
_CATEGORIES = 8


@shows
def _(answer: "Exported") -> Iterator[Part]:
    if answer.path != "-":
        yield (
            f"Exported {many_memories(answer.memories)} with {many(answer.versions, 'version')} "
            f"and {many(answer.relations, 'relation')} to {answer.path}."
        )
        if workspace := _workspace(answer):
            yield f"With them: {workspace}."
        if answer.feedback:
            yield f"And what was said of {many(answer.feedback, 'hit')}."


@shows
def _(answer: "Imported") -> Iterator[Part]:
    yield (
        f"Imported {many_memories(answer.added)} and {many(answer.relations, 'relation')}; "
        f"{answer.unchanged} were here already."
    )
    if (workspace := _workspace(answer)) or answer.workspace_unchanged:
        moved = workspace or "no conversation, artifact, scratchpad or agent"
        yield f"With them: {moved}; {answer.workspace_unchanged} were here already."
    if answer.feedback:
        yield f"And what was said of {many(answer.feedback, 'hit')}."
    if answer.conflicts:
        yield f"Skipped, because something else has their place here: {', '.join(answer.conflicts)}"


@shows
def _(answer: "Brought") -> Iterator[Part]:
    would = "would be " if answer.dry_run else ""
    yield (
        f"{many_memories(answer.new)} {would}new, {answer.unchanged} here already, "
        f"{many(answer.relations, 'relation')} from {answer.source}."
    )
    if len(answer.by_category) > 1:
        counts = sorted(answer.by_category.items(), key=lambda each: -each[1])
        yield "Of these " + ", ".join(f"{number} {name}" for name, number in counts[:_CATEGORIES]) + "."
    for number, what in (
        (answer.ended, "Ended there, and kept with their times"),
        (answer.repeated, "Said twice, and kept once"),
        (answer.dangling, "Links to what is not there, kept in the metadata"),
        (answer.unread_in_all, "Not read"),
    ):
        if number:
            yield f"{what}: {number}"
    yield from (f"  {each}" for each in answer.unread)
    yield from scrubbed_line(answer.secrets)
    if answer.differing:
        yield f"Here already and different, so kept as they are: {', '.join(answer.differing)}"


@shows
def _(answer: "Linted") -> Iterator[Part]:
    unread = f"; {answer.unread} could not be read" if answer.unread else ""
    yield f"{many(answer.items, 'item')} of {answer.source} in {answer.path}{unread}. {answer.flawed} {'has' if answer.flawed == 1 else 'have'} a flaw."
    yield TextTable(
        ("flaw", "items", "share", "which"),
        [(each.name, str(each.count), f"{each.share:.1%}", f"{each.meaning}") for each in answer.flaws],
    )
    for each in answer.flaws:
        if each.evidence:
            yield f"{each.name}, such as"
            yield from (f"  {line}" for line in each.evidence)


@shows
def _(answer: "FolderSteps") -> Iterator[Part]:
    if not answer.steps:
        yield f"{answer.folder} and the store agree."
        return
    yield TextTable(
        ("step", "file", "why", "outcome"),
        [(each.action, each.file, each.why, each.outcome or "") for each in answer.steps],
    )


says(
    FolderWritten=lambda answer: f"Wrote {many_memories(answer.memories)} into {answer.folder}.",
)


def _workspace(answer: "Exported | Imported") -> str:
    """How much of the workspace was moved, if any."""
    moved = {
        "conversation": answer.conversations,
        "file": answer.artifacts,
        "scratchpad": answer.scratchpads,
        "agent": answer.agents,
    }
    return ", ".join(many(count, one) for one, count in moved.items() if count)


@shows
def _(answer: "Examined") -> Iterator[Part]:
    yield from (f"Mended {each.check} of {each.where}: {each.detail}." for each in answer.fixed)
    if answer.open_files:
        yield f"Others on this machine can read {', '.join(answer.open_files)}. `onrecord doctor --fix` closes what is open."
    if answer.closed_files:
        yield f"Closed to others on this machine: {', '.join(answer.closed_files)}."
    if answer.healthy:
        yield f"Healthy: {many_memories(answer.memories)}, and everything agrees."
        return
    yield f"{many(len(answer.problems), 'problem')} in {many_memories(answer.memories)}:"
    yield table(answer.problems, {"check": "check", "where": "where", "what": "detail", "cure": "cure"})


@shows
def _(answer: "EmbeddedMissing") -> Iterator[Part]:
    yield f"Made vectors of {many_memories(answer.embedded)} with {answer.model}."
    for switch in answer.measured:
        head = f"{switch.tenant}: {switch.before} → {switch.after}"
        if switch.measures:
            measures = "; ".join(each.in_words() for each in switch.measures)
            yield f"{head}, measured on {many(switch.questions, 'question')} that people judged: {measures}."
        elif switch.note:
            yield f"{head}, not measured. {switch.note}"
    yield from (f"Failed: {reason}" for reason in answer.failures)


@shows
def _(answer: "StoreStatus") -> Iterator[Part]:
    yield f"Store: {answer.location}"
    yield f"Embedder: {answer.embedder or 'none'}"
    yield from _advisor(answer)
    if (watching := answer.watching) is not None:
        last = "never" if watching.last_look is None else minute(watching.last_look)
        following = "" if watching.next_look is None else f", next look {minute(watching.next_look)}"
        yield f"Watched: last look {last}{following}"
        yield from (f"Cure: {cure}." for cure in (watching.cure,) if cure)
    yield from answer.degraded
    yield from _failed_jobs(answer.failures)
    for tenant in answer.tenants:
        yield (
            f"Tenant {tenant.tenant}: {_held(tenant)}, "
            f"{many(tenant.waiting, 'job')} waiting, {tenant.failed} failed."
        )
        rows = [
            (each.model, f"{each.indexed} of {each.expected}", "in use" if each.current else "")
            for each in tenant.models
        ]
        if rows:
            yield TextTable(("model", "memories with vectors", ""), rows)
        yield from (
            f"{each.expected - each.indexed} have no vectors of {each.model} yet: {each.cure}."
            for each in tenant.models
            if each.cure
        )
        if turns := tenant.turns_waiting + tenant.turns_failed:
            yield f"{many(turns, 'turn')} of conversations wait until their facts are extracted."
        of_checks = {
            "failed": tenant.checks_failed,
            "could not be run": tenant.checks_unverifiable,
            "have not run yet": tenant.checks_waiting,
        }
        if counts := ", ".join(f"{many} {what}" for what, many in of_checks.items() if many):
            yield f"Memories by their checks: {counts}."
        yield from _failed_jobs(tenant.failures)


def _advisor(answer: "StoreStatus") -> Iterator[Part]:
    state = answer.advisor
    if state is None:
        return
    named = ", ".join(each.model for each in state.models)
    yield f"Advisor: {named}; {state.busy} of {state.at_once} places are in use, {state.timeout_s:g} s for a call."
    yield from (f"Not asked now: {each.paused}" for each in state.models if each.paused)
    limits = {
        "calls of a tenant": state.calls_per_day,
        "calls of an agent": state.calls_per_agent,
        "dollars of a tenant": state.dollars_per_day,
        "dollars of an agent": state.dollars_per_agent,
    }
    if listed_limits := ", ".join(f"{value:g} {what}" for what, value in limits.items() if value is not None):
        yield f"Limits for a day: {listed_limits}."
    if state.looked_at:
        yield f"An order was asked for where it was too close to call: {state.asked} of {state.looked_at} answers."
    for tenant in answer.advice:
        yield f"Asked today by tenant {tenant.tenant}: {many(tenant.calls, 'call')}, ${tenant.cost:.5f}."
        yield table(
            tenant.usage,
            {
                "user": "user",
                "agent": "agent",
                "task": "task",
                "model": "model",
                "calls": "calls",
                "failed": "failed",
            }
            | {
                "tokens": lambda each: f"{each.tokens_in} + {each.tokens_out}",
                "$": lambda each: f"{each.cost:.5f}",
            },
        )


def _failed_jobs(failures: "Sequence[FailedJobs]") -> Iterator[Part]:
    for each in failures:
        jobs = "Job" if each.jobs == 1 else f"{each.jobs} jobs"
        again = "" if each.next_try is None else f", next at {minute(each.next_try)}"
        error = each.error if each.error.endswith(".") else f"{each.error}."
        yield f"{jobs} {each.name} failed ({many(each.attempts, 'time')}{again}): {error} Cure: {each.cure}."


def _held(tenant: "TenantStatus") -> str:
    if tenant.collection == "memories":
        return many_memories(tenant.memories)
    return f"{tenant.memories} {tenant.collection}"


@shows
def _(answer: "ListedRenames") -> Iterator[Part]:
    columns: Columns = {"was": "entity", "is perhaps": "to", "why": "why"}
    columns |= {"memories": lambda each: str(each.total)}
    yield from listed(answer.renames, columns, "No memory waits for a new name.")
    rewrites = {one.memory: one for each in answer.renames for one in each.rewrites}
    for one in rewrites.values():
        told = f"stays as it is: {one.problem}" if one.problem else f"would be: {written(one.query)}"
        yield f"The query of {named(one.memory)} {told}"


@shows
def _(answer: "AcceptedRenames") -> Iterator[Part]:
    yield from (f"{each.entity} is {each.to} now: {many_memories(each.total)}" for each in answer.renames)
    yield (
        f"{many_memories(answer.changed)} followed." if answer.changed else "No memory waited for a new name."
    )
    yield from (f"{named(each.memory)} stays stale: {each.reason}" for each in answer.kept)
    for left in answer.left:
        what = " ".join(filter(None, (left.field, left.key)))
        yield f"The promoted {what} of {left.entity} stays there; propose it for {left.to}."


@shows
def _(answer: "Reassigned") -> Iterator[Part]:
    number = f"{answer.memories} {'memory' if answer.memories == 1 else 'memories'}"
    verb = "would be" if answer.dry_run else "was" if answer.memories == 1 else "were"
    yield f"{number} {verb} given to {answer.to}."
    if answer.left:
        yield f"{answer.left} of a session stay with their conversation."


@shows
def _(answer: "Dismissed") -> Iterator[Part]:
    yield f"Forgot {answer.jobs} {'job' if answer.jobs == 1 else 'jobs'} that {'was' if answer.jobs == 1 else 'were'} given up."


says(
    BackedUp=lambda a: f"Copied the store to {a.path} ({a.bytes:,} bytes).",
    Reindexed=lambda a: f"Rebuilt the index of {many_memories(a.memories)} ({many(a.postings, 'posting')}).",
)
