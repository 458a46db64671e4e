"""HOW does an answer look in a shell? Tables and colour on a terminal, plain lines elsewhere; one place decides."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.context.frame import visible
from onrecord.model.conversation_names import explicit, is_reserved
from onrecord.model.wire import to_json

if TYPE_CHECKING:
    from onrecord.access.auditing import Audited
    from onrecord.access.keys import CreatedKey, ListedKeys
    from onrecord.access.tenants import ErasedTenant, ListedTenants
    from onrecord.care.dismissing import Dismissed
    from onrecord.care.doctor import Examined
    from onrecord.care.embedding import EmbeddedMissing
    from onrecord.care.export import Exported
    from onrecord.care.importing import Imported
    from onrecord.care.reassigning import Reassigned
    from onrecord.care.renaming import AcceptedRenames, ListedRenames
    from onrecord.care.status import FailedJobs, StoreStatus, TenantStatus
    from onrecord.catalog.impact import Impacted
    from onrecord.catalog.ingest import Ingested
    from onrecord.catalog.operations import DroppedEntity, ListedEntities
    from onrecord.config import Setting
    from onrecord.context.attaching import Attached
    from onrecord.context.parts import ContextGiven
    from onrecord.model.advice import Advised
    from onrecord.model.agent import ShownAgent
    from onrecord.model.changesets import Changeset
    from onrecord.model.edits import Edit
    from onrecord.model.findings import Background, Compared, Edge
    from onrecord.model.ledger import AuditEntry, Key
    from onrecord.model.memory import Memory, Relation
    from onrecord.model.workspace import Artifact, Conversation
    from onrecord.recall.browse import Browsed, Tallied
    from onrecord.recall.history import ShownHistory
    from onrecord.recall.hits import Hit, Why
    from onrecord.recall.recall import Recalled
    from onrecord.recall.relations import ListedRelations, Neighbourhood
    from onrecord.recall.show import Shown
    from onrecord.recall.subjects import Searched
    from onrecord.remember.extract import Extracted
    from onrecord.remember.forget import Forgotten
    from onrecord.remember.judge import Judged
    from onrecord.remember.remember import Remembered
    from onrecord.remember.retire import Retired
    from onrecord.remember.review import Reviewed
    from onrecord.remember.revise import Revised
    from onrecord.review.applying import Applied
    from onrecord.review.listing import ListedChangesets
    from onrecord.review.planning import Planned
    from onrecord.review.rolling_back import RolledBack
    from onrecord.workspace.agents import SharedAgent
    from onrecord.workspace.artifacts import (
        ListedArtifacts,
        WrittenArtifact,
    )
    from onrecord.workspace.conversations import (
        DeletedConversation,
        ListedConversations,
        SharedConversation,
        ShownConversation,
    )
    from onrecord.workspace.scratchpads import (
        AppendedScratchpad,
        ListedScratchpads,
    )

#: The exit code of `impact` if something would go stale.
WOULD_GO_STALE: Final = 7
_EXCERPT: Final = 300


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings."""

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]


Part = Table | str
#: The heading of each column, and the field that it shows or a function that writes it.
Columns = dict[str, str | Callable[[Any], str]]

#: The function that shows an answer, by the name of its type.
_SHOWN: Final[dict[str, Callable[[Any], Iterator[Part]]]] = {}
#: The sentence for an answer that needs no more, by the name of its type.
_SENTENCES: Final[dict[str, Callable[[Any], str]]] = {
    "Related": lambda a: f"{'Related' if a.created else 'Already related'}: {_arrow(a.relation)}",
    "Unrelated": lambda a: f"No longer related: {_arrow(a.relation)}",
    "BackedUp": lambda a: f"Copied the store to {a.path} ({a.bytes:,} bytes).",
    "Inspected": lambda a: str(a.markdown),
    "Prioritised": lambda a: f"Order of datasources: {', '.join(a.datasources) or 'by name'}.",
    "Reindexed": lambda a: f"Rebuilt the index of {_memories(a.memories)} ({_many(a.postings, 'posting')}).",
    "RegisteredConversation": lambda a: (
        f"{'Registered' if a.created else 'Already known'}: {_conversation(a.conversation)}"
    ),
    "ArtifactContent": lambda a: str(a.content),
    "DeletedArtifact": lambda a: (
        f"Deleted {_artifact(a.artifact)}; {_memories(a.unlinked)} lost the link to it."
    ),
    "ScratchpadContent": lambda a: a.content.strip("\n") if a.exists else "The scratchpad is empty.",
    "ClearedScratchpad": lambda a: f"Cleared {a.cleared:,} bytes of the scratchpad of {a.agent}.",
    "WaivedKeys": lambda a: (
        f"Deleted {_many(a.forgotten, 'key')}. A server on this machine is open to local users again."
    ),
    "RevokedKey": lambda a: (
        f"Revoked key {a.key.id}."
        if a.changed
        else f"Key {a.key.id} was revoked already ({_minute(a.key.revoked_at)})."
    ),
    "CreatedTenant": lambda a: (
        f"Created tenant {a.tenant.name}." if a.created else f"There is a tenant {a.tenant.name} already."
    ),
}


def show_json(value: Any, *, err: bool = False, indent: int | None = 2) -> None:
    """Print a value as JSON: unchanged for a program, with invisible characters written out on a screen."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    click.echo(visible(text, escaped=lambda letter: json.dumps(letter)[1:-1]), err=err)


def show(answer: Any) -> None:
    """Print an answer for a person, or for the program that reads our output.

    Memory text is not trusted: it must not move the cursor or change the title of a terminal, nor hide a word.
    """
    for part in parts_of(answer):
        if isinstance(part, str):
            click.echo(visible(part))
        elif sys.stdout.isatty():
            _show_table(part)
        else:
            for row in part.rows:
                click.echo("  ".join(visible(cell).replace("\n", " ") for cell in row if cell))


def exit_code(answer: Any) -> int:
    """The exit code: 0, or that something is wrong. A script must be able to distinguish that something would go stale
    from a failure of ours.
    """
    is_bad_news = bool(getattr(answer, "residue", ())) or not getattr(answer, "healthy", True)
    return (WOULD_GO_STALE if type(answer).__name__ == "Impacted" else 1) if is_bad_news else 0


@contextmanager
def progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar while a person waits; nothing if nobody watches."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield report


def _show_table(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(*table.headings, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in table.rows:
        drawn.add_row(*(Text(visible(cell)) for cell in row))
    Console().print(drawn)


def _day(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d") if moment else ""


def _minute(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment else ""


def _number(item: Any) -> str:
    return f"#{item.id}"


def _size(item: Any) -> str:
    return f"{item.size:,}"


def _table(items: Sequence[Any], columns: Columns) -> Table:
    rows = [
        [_cell(getattr(each, show)) if isinstance(show, str) else show(each) for show in columns.values()]
        for each in items
    ]
    return Table(tuple(columns), rows)


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return _minute(value)
    return ", ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)


def _listed(
    items: Sequence[Any], columns: Columns, without_any: str, after: str | None = None
) -> Iterator[Part]:
    """A table of what was asked for, or a sentence if there is nothing; `after` is the mark of the next page."""
    if not items:
        yield without_any
        return
    yield _table(items, columns)
    if after:
        yield f"More: --after '{after}'"


def _many(number: int, one: str, several: str | None = None) -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"


def _held(tenant: "TenantStatus") -> str:
    if tenant.collection == "memories":
        return _memories(tenant.memories)
    return f"{tenant.memories} {tenant.collection}"


def _memories(number: int) -> str:
    return _many(number, "memory", "memories")


def parts_of(answer: Any) -> Iterator[Part]:
    """What is shown of an answer, top to bottom."""
    name = type(answer).__name__
    return iter((_SENTENCES[name](answer),)) if name in _SENTENCES else _SHOWN.get(name, _fields_of)(answer)


def _shows(show: Callable[[Any], Iterator[Part]]) -> None:
    """The function that shows this type of answer, found by the type's name, so that no other type is loaded."""
    _SHOWN[show.__annotations__["answer"].partition("[")[0]] = show


def _fields_of(answer: Any) -> Iterator[Part]:
    """Show the plain fields of an answer that has no function of its own."""
    for name, value in to_json(answer).items():
        yield f"{name.replace('_', ' ')}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


@_shows
def _(answer: "Remembered") -> Iterator[Part]:
    verb = {
        "created": "Remembered",
        "updated": "Updated",
        "unchanged": "Already known as",
        "proposed": "Proposed",
        "turned_down": "Rejected before:",
    }[answer.outcome]
    if answer.dry_run:
        yield "Nothing was saved (dry run). It would be:"
    yield f"{verb} #{answer.memory.id}  {answer.memory.title}"
    yield from _scrubbed(answer.scrubbed)
    if answer.superseded:
        yield "Superseded: " + ", ".join(f"#{id}" for id in answer.superseded)
    for each in answer.similar:
        yield f"Nearly the same: #{each.id}  {each.title}  ({each.likeness:.2f})"
    yield from _advice(answer.advice)
    yield from _put_off(answer.degraded)
    yield from answer.warnings


@_shows
def _(answer: "Recalled") -> Iterator[Part]:
    if not answer.hits:
        yield answer.why_nothing()
    for hit in answer.hits:
        memory = hit.memory
        yield _hit_line(hit, f"[{memory.kind}]  {memory.title}")
        if not memory.title.startswith(memory.content.strip()[: len(memory.title)]):
            yield "    " + _excerpt(memory.content)
        if answer.trace:
            yield f"    {_reasons(hit.why)}"
    if answer.queries:
        yield "Example queries:"
        yield from (_hit_line(hit, hit.memory.title) for hit in answer.queries)
    yield from (f"Skipped {reason}" for reason in answer.degraded)
    yield from _advice(answer.advice)
    yield from answer.warnings
    yield from _background(answer.background)
    if answer.trace:
        columns: Columns = {"layer": "name", "time": lambda note: f"{note.ms:.2f} ms"}
        columns |= {"candidates": lambda note: str(note.candidates), "skipped because": "failed"}
        yield _table(answer.trace, columns)


def _advice(advice: "Sequence[Advised]") -> Iterator[str]:
    for each in advice:
        yield f"{each.told()} ({each.took()})" if each.tokens_in else each.told()


@_shows
def _(answer: "Extracted") -> Iterator[Part]:
    yield f"Extracted {_many(len(answer.facts), 'fact')}."
    yield from (f"- #{fact.id}  {fact.text}  [{fact.outcome}]" for fact in answer.facts)
    yield from _advice(answer.advice)
    yield from (f"Not saved: {reason}" for reason in answer.degraded)


@_shows
def _(answer: "Judged") -> Iterator[Part]:
    if answer.verdict is None:
        yield from _advice((answer.advice,))
        return
    of = f" of {', '.join(f'#{id}' for id in answer.about)}" if answer.about else ""
    yield f"#{answer.id}: {answer.verdict}{of}, as {answer.advice.model} thinks ({answer.advice.took()})."
    if answer.why:
        yield answer.why
    yield "Nothing was decided by it: approve or reject it yourself."


def _scrubbed(secrets: int) -> Iterator[str]:
    if secrets:
        yield f"{_many(secrets, 'secret')} taken out before saving."


def _put_off(reasons: Sequence[str]) -> Iterator[str]:
    return (f"Put off {reason}" for reason in reasons)


def _reasons(why: "Why") -> str:
    """The sum of the parts, times the boosts: `words 1st 0.35 + meaning 4th 0.21, pinned x1.5`."""
    parts = " + ".join(f"{part.channel} #{part.rank} {part.share:.3f}" for part in why.parts)
    return parts + "".join(f", {name} x{factor:g}" for name, factor in why.boosts)


def _hit_line(hit: "Hit", told: str) -> str:
    marks = "".join(f"  [{mark}]" for mark in _marks(hit.memory))
    return f"#{hit.memory.id}  {told}  ({hit.relevance:.2f}){marks}"


def _marks(memory: "Memory") -> Iterator[str]:
    yield memory.tier
    if memory.status != "active":
        yield f"{memory.status} {_day(memory.valid_to)}".strip() + _why_stale(memory)
    if proposal := _proposal(memory):
        yield f"proposes to {proposal}"
    if memory.conversation:
        yield "conversation"


def _why_stale(memory: "Memory") -> str:
    return f": {memory.status_reason}" if memory.status == "stale" and memory.status_reason else ""


def _excerpt(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


@_shows
def _(answer: "Shown") -> Iterator[Part]:
    memory = answer.memory
    yield f"#{memory.id}  {memory.title}"
    yield Table(("field", "value"), list(_fields(memory)))
    yield memory.content
    if answer.artifact:
        yield f"Artifact: {_artifact(answer.artifact)}"
    if answer.edges:
        yield _edges(answer.edges)
    yield from _background([answer.background] if answer.background else ())


def _fields(memory: "Memory") -> Iterator[tuple[str, str]]:
    until = _minute(memory.valid_to) or "now"
    reason = f" ({memory.status_reason})" if memory.status_reason else ""
    placed_in = next(filter(None, (memory.persona, memory.system)), "")
    shown = {
        "kind": f"{memory.kind} ({memory.dimension})",
        "hint": memory.hint,
        "tags": ", ".join(memory.tags),
        "about": ", ".join(memory.entities),
        "category": memory.category,
        "confidence": memory.confidence,
        "source": memory.source,
        "scope": f"{memory.scope} {placed_in}".strip(),
        "owner": memory.owner,
        "written": f"by {memory.author} ({memory.origin})",
        "approved": memory.approved_by and f"by {memory.approved_by}, {_minute(memory.approved_at)}",
        "proposes": _proposal(memory),
        "edits": "; ".join(map(_edit, memory.edits or ())),
        "changeset": memory.changeset,
        "conversation": _pin(memory),
        "true": f"{_minute(memory.valid_from)} to {until}",
        "verified": _minute(memory.verified_at),
        "status": memory.status + reason,
        "version": f"{memory.version}, updated {_minute(memory.updated_at)}",
    }
    yield from ((name, value) for name, value in shown.items() if value)


def _proposal(memory: "Memory") -> str | None:
    """What a pending memory would change."""
    if memory.proposes is None:
        return None
    told = " ".join((memory.proposes.change, *(f"#{id}" for id in memory.proposes.of)))
    return f"{told} (new: {memory.proposes.what_is_new})" if memory.proposes.what_is_new else told


def _edit(edit: "Edit") -> str:
    what = " ".join(filter(None, (edit.op, edit.entity, edit.field, edit.key)))
    return what if edit.value is None else f"{what}: {_value(edit.value)}"


def _value(value: Any) -> str:
    if value is None:
        return "(nothing)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@_shows
def _(answer: "Planned") -> Iterator[Part]:
    for each in answer.changes:
        yield f"{_edit(each.edit)}  (now: {_value(each.before)}; from {', '.join(map('#{}'.format, each.memories))})"
        if each.conflict:
            yield f"  conflict: {each.conflict}"
    for anew in answer.said_anew:
        what = " ".join(filter(None, (anew.edit.entity, anew.edit.field, anew.edit.key)))
        yield f"{what} was promoted (changeset {anew.changeset}); its source now says: {_value(anew.source)}"
    if answer.changes:
        yield f"Apply it with: onrecord apply {answer.entity} --mark {answer.mark}"
        yield from _more(answer.left)
    else:
        yield f"No approved proposal changes {answer.entity}."


@_shows
def _(answer: "Applied") -> Iterator[Part]:
    yield from _changeset(answer.changeset)
    yield f"Take it back with: onrecord roll-back {answer.changeset.id}"
    yield from _more(answer.left)


def _more(left: int) -> Iterator[Part]:
    if left:
        yield f"{left:,} more approved proposals are left for the next time."


@_shows
def _(answer: "RolledBack") -> Iterator[Part]:
    yield f"Rolled back changeset {answer.changeset.id} of {answer.changeset.entity}."
    yield from (f"Stays as it is: {each}" for each in answer.kept)


@_shows
def _(answer: "ListedChangesets") -> Iterator[Part]:
    if not answer.changesets:
        yield "Nothing was applied."
    for each in answer.changesets:
        yield from _changeset(each)
    yield f"{answer.total:,} in all."


def _changeset(changeset: "Changeset") -> Iterator[Part]:
    from_ids = ", ".join(f"#{id}" for id in changeset.memories)
    yield (
        f"Changeset {changeset.id} of {changeset.entity}: {changeset.state}, by {changeset.by} "
        f"{_minute(changeset.at)}" + (f", from {from_ids}" if from_ids else "")
    )
    if changeset.ended_reason:
        yield f"  {changeset.state}: {changeset.ended_reason}"
    for each in changeset.changes:
        yield f"  {_edit(each.edit)}  (before: {_value(each.before)})" + (
            f"; {each.note}" if each.note else ""
        )


@_shows
def _(answer: "Browsed") -> Iterator[Part]:
    columns: Columns = {
        "id": _number,
        "kind": "kind",
        "updated": "updated_at",
        "title": "title",
        "tags": "tags",
    }
    columns |= {"": lambda each: " ".join(_marks(each))}
    yield from _listed(answer.memories, columns, "Nothing here.", answer.next)
    if answer.total is not None:
        yield f"{answer.total:,} in all."
    yield from _background(answer.background)


def _background(told: Sequence["Background"]) -> Iterator[Part]:
    if told:
        columns: Columns = {"id": _number, "embedded by": "embedded_by", "superseded by": "superseded_by"}
        yield _table(told, columns | {"URNs": lambda each: ", ".join(each.urns.values())})


@_shows
def _(answer: "Tallied") -> Iterator[Part]:
    if answer.groups:
        columns: Columns = {
            "value": lambda each: each.value or "(none)",
            "memories": "memories",
            "oldest": "oldest",
        }
        yield _table(answer.groups, columns)
    if answer.omitted:
        yield f"{answer.omitted:,} smaller groups are not shown; --limit shows more."
    yield f"{answer.total:,} memories match."


@_shows
def _(answer: "Revised") -> Iterator[Part]:
    what = ", ".join(answer.changed)
    if answer.proposal is not None:
        yield from answer.warnings
        return
    yield (
        f"Revised #{answer.memory.id} ({what}), now version {answer.memory.version}."
        if what
        else "Nothing to change."
    )
    yield from _put_off(answer.degraded)


@_shows
def _(answer: "Retired") -> Iterator[Part]:
    if answer.proposal is not None:
        yield from answer.warnings
        return
    done = "Retired" if answer.changed else "Nothing changed: already retired"
    yield f"{done} #{answer.memory.id}, true until {_minute(answer.memory.valid_to)}. It stays readable in the past."


@_shows
def _(answer: "Forgotten") -> Iterator[Part]:
    if answer.proposal is not None:
        yield from answer.warnings
        return
    yield (
        f"{'Would erase' if answer.dry_run else 'Erased'} #{answer.id} with {_many(answer.versions, 'version')}, {_many(answer.relations, 'relation')} "
        f"and {_many(answer.references, 'reference')} to it."
    )
    yield from answer.warnings


@_shows
def _(answer: "ListedRelations") -> Iterator[Part]:
    columns: Columns = {"id": "id", "relation": _arrow, "since": "created_at", "by": "created_by"}
    return _listed(answer.relations, columns, "No relations.", answer.next)


def _arrow(relation: "Relation") -> str:
    return f"#{relation.source} --[{relation.relation}]--> #{relation.target}"


@_shows
def _(answer: "Neighbourhood") -> Iterator[Part]:
    yield f"#{answer.center.id}  {answer.center.title}"
    if answer.edges:
        yield _edges(answer.edges)
    else:
        yield "No relations."
    if answer.truncated:
        yield "There are more; raise --limit."


def _edges(edges: "Sequence[Edge]") -> Table:
    columns: Columns = {
        "relation": lambda edge: _arrow(edge.relation),
        "memory": lambda edge: edge.memory.title,
    }
    return _table(edges, columns | {"status": lambda edge: edge.memory.status, "steps": "hop"})


@_shows
def _(answer: "ShownHistory") -> Iterator[Part]:
    columns: Columns = {"version": "number", "at": "at", "change": "change"}
    columns |= {"by": lambda each: f"{each.by} ({each.origin})", "changed": "changed"}
    columns |= {"text by": lambda each: f"{each.memory.author} ({each.memory.tier})"}
    yield _table(answer.versions, columns | {"title": lambda each: each.memory.title})


@_shows
def _(answer: "Compared") -> Iterator[Part]:
    yield f"From {_minute(answer.since)} to {_minute(answer.until)}:"
    signs = {"added": "+", "revised": "~", "retired": "-"}
    rows: list[tuple[str, ...]] = [
        (signs[each.change], f"#{each.id}", each.change, each.after.title, ", ".join(each.changed))
        for each in answer.memories
    ]
    rows += [("+", "", "related", _arrow(edge), "") for edge in answer.related]
    rows += [("-", "", "unrelated", _arrow(edge), "") for edge in answer.unrelated]
    if rows:
        yield Table(("", "id", "change", "memory", "fields"), rows)
    else:
        yield "Nothing changed."
    if answer.next:
        yield f"More: --after '{answer.next}'"


@_shows
def _(answer: "Exported") -> Iterator[Part]:
    if answer.path != "-":
        yield (
            f"Exported {_memories(answer.memories)} with {_many(answer.versions, 'version')} "
            f"and {_many(answer.relations, 'relation')} to {answer.path}."
        )
        if workspace := _workspace(answer):
            yield f"With them: {workspace}."


@_shows
def _(answer: "Imported") -> Iterator[Part]:
    yield (
        f"Imported {_memories(answer.added)} and {_many(answer.relations, 'relation')}; "
        f"{answer.unchanged} were here already."
    )
    if (workspace := _workspace(answer)) or answer.workspace_unchanged:
        told = workspace or "no conversation, artifact, scratchpad or agent"
        yield f"With them: {told}; {answer.workspace_unchanged} were here already."
    if answer.conflicts:
        yield f"Skipped, because something else has their place here: {', '.join(answer.conflicts)}"


def _workspace(answer: "Exported | Imported") -> str:
    """How much of the workspace was moved, if any."""
    moved = {
        "conversation": answer.conversations,
        "file": answer.artifacts,
        "scratchpad": answer.scratchpads,
        "agent": answer.agents,
    }
    return ", ".join(_many(count, one) for one, count in moved.items() if count)


@_shows
def _(answer: "Examined") -> Iterator[Part]:
    yield from (f"Mended {each.check} of {each.where}: {each.detail}." for each in answer.fixed)
    if answer.open_files:
        yield f"Others on this machine can read {', '.join(answer.open_files)}. `onrecord doctor --fix` closes what is open."
    if answer.closed_files:
        yield f"Closed to others on this machine: {', '.join(answer.closed_files)}."
    if answer.healthy:
        yield f"Healthy: {_memories(answer.memories)}, and everything agrees."
        return
    yield f"{_many(len(answer.problems), 'problem')} in {_memories(answer.memories)}:"
    yield _table(answer.problems, {"check": "check", "where": "where", "what": "detail", "cure": "cure"})


@_shows
def _(answer: "EmbeddedMissing") -> Iterator[Part]:
    yield f"Made vectors of {_memories(answer.embedded)} with {answer.model}."
    yield from (f"Failed: {reason}" for reason in answer.failures)


@_shows
def _(answer: "StoreStatus") -> Iterator[Part]:
    yield f"Store: {answer.location}"
    yield f"Embedder: {answer.embedder or 'none'}"
    yield from _advisor(answer)
    if (watching := answer.watching) is not None:
        last = "never" if watching.last_look is None else _minute(watching.last_look)
        following = "" if watching.next_look is None else f", next look {_minute(watching.next_look)}"
        yield f"Watched: last look {last}{following}"
        yield from (f"Cure: {cure}." for cure in (watching.cure,) if cure)
    yield from answer.degraded
    yield from _failed_jobs(answer.failures)
    for tenant in answer.tenants:
        yield (
            f"Tenant {tenant.tenant}: {_held(tenant)}, "
            f"{_many(tenant.waiting, 'job')} waiting, {tenant.failed} failed."
        )
        rows = [
            (each.model, f"{each.indexed} of {each.expected}", "in use" if each.current else "")
            for each in tenant.models
        ]
        if rows:
            yield Table(("model", "memories with vectors", ""), rows)
        yield from (
            f"{each.expected - each.indexed} have no vectors of {each.model} yet: {each.cure}."
            for each in tenant.models
            if each.cure
        )
        yield from _failed_jobs(tenant.failures)


def _advisor(answer: "StoreStatus") -> Iterator[Part]:
    state = answer.advisor
    if state is None:
        return
    yield f"Advisor: {', '.join(each.model for each in state.models)}; {state.busy} of {state.at_once} places are in use."
    yield from (f"Not asked now: {each.paused}" for each in state.models if each.paused)
    limits = {
        "calls of a tenant": state.calls_per_day,
        "calls of an agent": state.calls_per_agent,
        "dollars of a tenant": state.dollars_per_day,
        "dollars of an agent": state.dollars_per_agent,
    }
    if told := ", ".join(f"{value:g} {what}" for what, value in limits.items() if value is not None):
        yield f"Limits for a day: {told}."
    if state.looked_at:
        yield f"An order was asked for where it was too close to call: {state.asked} of {state.looked_at} answers."
    for tenant in answer.advice:
        yield f"Asked today by tenant {tenant.tenant}: {_many(tenant.calls, 'call')}, ${tenant.cost:.5f}."
        yield _table(
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
        again = "" if each.next_try is None else f", next at {_minute(each.next_try)}"
        error = each.error if each.error.endswith(".") else f"{each.error}."
        yield f"{jobs} {each.name} failed ({_many(each.attempts, 'time')}{again}): {error} Cure: {each.cure}."


@_shows
def _(answer: "Ingested") -> Iterator[Part]:
    yield f"{'Would ingest' if answer.dry_run else 'Ingested'} {answer.location} ({answer.source})."
    for what, changes in (("added", answer.added), ("changed", answer.changed), ("gone", answer.gone)):
        counts = ((name, getattr(changes, name)) for name in changes.__dataclass_fields__)
        told = ", ".join(_many(count, name.removesuffix("s")) for name, count in counts if count)
        yield f"{what}: {told or 'nothing'}"
    yield from (f"gone: {name}" for name in answer.gone_entities)
    if answer.stripped:
        lost = "would lose" if answer.dry_run else "lost"
        yield f"{_memories(answer.stripped)} {lost} references to what is no longer there."
        yield from (f"#{each.memory} {lost} {', '.join(each.entities)}" for each in answer.lost)
    yield from (f"Stale example query: {each}" for each in answer.stale_queries)
    yield from (f"Note: {note}" for note in answer.notes)


@_shows
def _(answer: "Impacted") -> Iterator[Part]:
    if answer.markdown is not None:
        yield answer.markdown.rstrip("\n")
        return
    for heading, told in (("memory", answer.memories), ("example query", answer.example_queries)):
        yield from (
            f"Would make {heading} #{each.memory} of {each.owner} stale: {each.reason}" for each in told
        )
    for one in answer.amendments:
        value = " ".join(filter(None, (one.entity, one.field, one.key)))
        yield f"Would make the promoted {value} stale (approved by {one.owner or 'nobody known'}): {one.reason}"
    if not answer.total:
        yield "Nothing that is known here would go stale."
    yield from (f"Not understood, so not told: {each}" for each in answer.unread)
    yield from (f"Note: {note}" for note in answer.notes)


@_shows
def _(answer: "ListedRenames") -> Iterator[Part]:
    columns: Columns = {"was": "entity", "is perhaps": "to", "why": "why"}
    columns |= {"memories": lambda each: str(each.total)}
    yield from _listed(answer.renames, columns, "No memory waits for a new name.")


@_shows
def _(answer: "AcceptedRenames") -> Iterator[Part]:
    yield from (f"{each.entity} is {each.to} now: {_memories(each.total)}" for each in answer.renames)
    yield f"{_memories(answer.changed)} followed." if answer.changed else "No memory waited for a new name."
    yield from (f"#{each.memory} stays stale: {each.reason}" for each in answer.kept)
    for left in answer.left:
        what = " ".join(filter(None, (left.field, left.key)))
        yield f"The promoted {what} of {left.entity} stays there; propose it for {left.to}."


@_shows
def _(answer: "Searched") -> Iterator[Part]:
    for heading, hits in (("Memories", answer.memories), ("Example queries", answer.example_queries)):
        if hits:
            yield f"{heading}:"
            columns: Columns = {
                "id": _number,
                "": lambda hit: _excerpt(hit.text),
                "tier": "tier",
                "about": "matched_entities",
            }
            yield _table(hits, columns)
    if answer.entities:
        yield "Entities:"
        yield _table(answer.entities, {"name": "id", "kind": "kind"})
    if not (answer.memories or answer.example_queries or answer.entities):
        yield "Nothing found."
    yield from (f"Warning: {warning}" for warning in answer.warnings)


@_shows
def _(answer: "ListedEntities") -> Iterator[Part]:
    columns: Columns = {"name": "canonical", "kind": "kind"}
    columns |= {"description": lambda each: _excerpt(each.description or "")}
    columns |= {"": lambda each: "hidden" if each.hidden else ""}
    yield from _listed(answer.entities, columns, "No such entities. Read a source with `onrecord ingest`.")
    if answer.total > len(answer.entities) > 0:
        yield f"{len(answer.entities)} of {answer.total}; --limit shows more."


@_shows
def _(answer: "DroppedEntity") -> Iterator[Part]:
    yield f"Removed {answer.kind} {answer.entity} from the catalog, with {_many(answer.entities - 1, 'entity', 'entities')} under it."
    yield f"{_memories(answer.stripped)} lost a reference."


@_shows
def _(answer: "ListedConversations") -> Iterator[Part]:
    columns: Columns = {
        "id": lambda each: _numbered(each.id),
        "title": "title",
        "agent": "agent",
        "begun": "created_at",
    }
    return _listed(answer.conversations, columns | {"by": "created_by"}, "No conversations.", answer.next)


@_shows
def _(answer: "ShownConversation") -> Iterator[Part]:
    yield _conversation(answer.conversation)
    yield f"Begun {_minute(answer.conversation.created_at)} by {answer.conversation.created_by}."
    if answer.conversation.members:
        yield _shared_with(answer.conversation)
    yield f"{_many(answer.artifacts, 'artifact')} ({answer.bytes:,} bytes)."


@_shows
def _(answer: "SharedConversation") -> Iterator[Part]:
    yield _conversation(answer.conversation)
    yield _shared_with(answer.conversation)


def _shared_with(conversation: "Conversation") -> str:
    return (
        f"Shared with {', '.join(conversation.members)}." if conversation.members else "Shared with nobody."
    )


@_shows
def _(answer: "SharedAgent") -> Iterator[Part]:
    yield f"Agent {answer.agent} is used by {', '.join(answer.users)}."


@_shows
def _(answer: "DeletedConversation") -> Iterator[Part]:
    yield f"Deleted conversation {_numbered(answer.id)} with {_many(answer.artifacts, 'artifact')}."
    yield (
        f"{_memories(answer.unpinned)} no longer pinned, {answer.unlinked} no longer linked to a deleted artifact, "
        f"{answer.retired} retired because nobody else could see them."
    )


def _numbered(name: str) -> str:
    """The name of a conversation, marked like an id unless it says whose it is."""
    return name if is_reserved(name) else f"#{name}"


def _pin(memory: "Memory") -> str | None:
    """The conversation of a memory; one that another user began is named with that user."""
    return (
        memory.conversation
        if memory.pinned is None or memory.conversation_by is None
        else explicit(memory.pinned)
    )


def _conversation(conversation: "Conversation") -> str:
    agent = f" (with {conversation.agent})" if conversation.agent else ""
    return f"{_numbered(conversation.id)}  {conversation.title or ''}".rstrip() + agent


@_shows
def _(answer: "WrittenArtifact") -> Iterator[Part]:
    yield f"{'Wrote' if answer.created else 'Replaced'} {_artifact(answer.artifact)}"
    yield from _scrubbed(answer.scrubbed)


@_shows
def _(answer: "ListedArtifacts") -> Iterator[Part]:
    columns: Columns = {"id": _number, "path": "path", "media type": "media_type", "bytes": _size}
    columns |= {"updated": "updated_at", "conversation": "conversation"}
    return _listed(answer.artifacts, columns, "No artifacts.")


def _artifact(artifact: "Artifact") -> str:
    return f"#{artifact.id}  {artifact.path} ({artifact.media_type}, {artifact.size:,} bytes)"


@_shows
def _(answer: "AppendedScratchpad") -> Iterator[Part]:
    yield f"Noted; the scratchpad of {answer.agent} takes {answer.size:,} bytes."
    yield from _scrubbed(answer.scrubbed)


@_shows
def _(answer: "ListedScratchpads") -> Iterator[Part]:
    columns: Columns = {"agent": "agent", "bytes": _size, "updated": "updated_at"}
    return _listed(answer.scratchpads, columns, "No scratchpads.")


@_shows
def _(answer: "ShownAgent") -> Iterator[Part]:
    since = (
        f"set {_minute(answer.updated_at)} by {answer.updated_by}" if answer.updated_at else "the defaults"
    )
    yield f"Agent {answer.agent}: {since}."
    if len(answer.users) > 1:
        yield f"Used by {', '.join(answer.users)}."
    yield Table(
        ("setting", "value"),
        [(name, str(getattr(answer.settings, name))) for name in answer.settings.__dataclass_fields__],
    )


@_shows
def _(answer: "Reviewed") -> Iterator[Part]:
    memory = answer.memory
    settled = "Approved" if memory.is_live else "Rejected"
    yield f"{settled if answer.changed else f'{settled} already:'} #{memory.id}  {memory.title}"
    if not memory.is_live and memory.status_reason:
        yield f"Reason: {memory.status_reason}"
    if answer.restored:
        yield "Brought back: " + ", ".join(f"#{id}" for id in answer.restored)


@_shows
def _(answer: "Reassigned") -> Iterator[Part]:
    number = f"{answer.memories} {'memory' if answer.memories == 1 else 'memories'}"
    verb = "would be" if answer.dry_run else "was" if answer.memories == 1 else "were"
    yield f"{number} {verb} given to {answer.to}."
    if answer.left:
        yield f"{answer.left} of a session stay with their conversation."


@_shows
def _(answer: "Dismissed") -> Iterator[Part]:
    yield f"Forgot {answer.jobs} {'job' if answer.jobs == 1 else 'jobs'} that {'was' if answer.jobs == 1 else 'were'} given up."


@_shows
def _(answer: "ContextGiven") -> Iterator[Part]:
    yield answer.text
    yield from (f"Left out {reason}" for reason in answer.degraded)


@_shows
def _(answer: "Attached") -> Iterator[Part]:
    if answer.text:
        yield answer.text
    elif answer.repeated:
        told = ", ".join(f"#{each}" for each in answer.repeated)
        yield f"This conversation got before: {told}"
    else:
        yield "No memories about what it mentions."
    if answer.cut:
        yield "Only its beginning was read: it is too long."


@_shows
def _(answer: "CreatedKey") -> Iterator[Part]:
    yield f"Key {answer.key.id} for {answer.key.user} in tenant {answer.key.tenant}, shown this once:"
    yield answer.secret
    yield "Store it safely now: only its hash is kept, and it cannot be shown again."


@_shows
def _(answer: "ListedKeys") -> Iterator[Part]:
    columns: Columns = {"id": "id", "user": "user", "actor": "actor", "may": _may, "systems": _granted}
    columns |= {"made": lambda key: _day(key.created_at), "stands": _stands, "for": "label"}
    return _listed(answer.keys, columns, "No keys. Make one with `onrecord keys create`.")


def _may(key: "Key") -> str:
    return ", ".join(each.removeprefix("memory.") for each in key.permissions)


def _granted(key: "Key") -> str:
    return ", ".join(name if grant == "read" else f"{name}={grant}" for name, grant in key.systems.items())


def _stands(key: "Key") -> str:
    if key.revoked_at is not None:
        return f"revoked {_day(key.revoked_at)}"
    return f"until {_minute(key.expires_at)}" if key.expires_at else "for good"


@_shows
def _(answer: "ListedTenants") -> Iterator[Part]:
    columns: Columns = {"tenant": "name", "memories": "memories", "entities": "entities"}
    return _listed(answer.tenants, columns, "No tenants yet: the first save makes one.")


@_shows
def _(answer: "ErasedTenant") -> Iterator[Part]:
    yield f"Erased tenant {answer.name}: {_many(sum(answer.erased.values()), 'row')}."
    yield Table(("table", "rows"), [(name, str(count)) for name, count in answer.erased.items()])
    if answer.residue:
        yield "STILL THERE: " + ", ".join(f"{name} {count}" for name, count in answer.residue.items())
    else:
        yield "Checked afterwards: nothing of it is left."
    yield from answer.warnings


@_shows
def _(answer: "Audited") -> Iterator[Part]:
    columns: Columns = {
        "no.": "number",
        "when": "at",
        "user": "user",
        "as": "origin",
        "operation": "operation",
    }
    columns |= {"": lambda entry: entry.outcome if entry.outcome != "done" else "", "about": "subject"}
    return _listed(
        answer.entries, columns | {"with": _came_with}, "Nothing was written or refused.", answer.next
    )


def _came_with(entry: "AuditEntry") -> str:
    known = ((name, getattr(entry, name)) for name in ("key", "run", "request"))
    return " ".join(f"{name}={value}" for name, value in known if value)


@_shows
def _(answer: "tuple[Setting, ...]") -> Iterator[Part]:
    columns: Columns = {"setting": "name", "value": "value", "from": "origin", "what it is": "help"}
    yield _table(answer, columns)
