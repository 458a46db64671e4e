"""HOW do memories that were found, listed or compared look in a shell?"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from onrecord.model.conversation_names import explicit
from onrecord.surfaces.cli.parts import (
    Columns,
    Part,
    TextTable,
    advice_lines,
    arrow,
    artifact_line,
    check_mark,
    day,
    edit_line,
    excerpt,
    listed,
    minute,
    named,
    number_of,
    scrubbed_line,
    shows,
    table,
)

if TYPE_CHECKING:
    from onrecord.model.findings import Background, Compared, Edge
    from onrecord.model.memory import Memory
    from onrecord.recall.browse import Browsed, Tallied
    from onrecord.recall.feedback import GivenFeedback, ListedFeedback
    from onrecord.recall.history import ShownHistory
    from onrecord.recall.hits import Hit, Why
    from onrecord.recall.recall import Recalled
    from onrecord.recall.relations import ListedRelations, Neighbourhood
    from onrecord.recall.show import Shown
    from onrecord.recall.subjects import Searched


@shows
def _(answer: "Recalled") -> Iterator[Part]:
    if not answer.hits:
        yield answer.why_nothing()
    for hit in answer.hits:
        memory = hit.memory
        yield _hit_line(hit, f"[{memory.kind}]  {memory.title}")
        if not memory.title.startswith(memory.content.strip()[: len(memory.title)]):
            yield "    " + excerpt(memory.content)
        if answer.trace:
            yield f"    {_reasons(hit.why)}"
    if answer.queries:
        yield "Example queries:"
        yield from (_hit_line(hit, hit.memory.title) for hit in answer.queries)
    yield from (f"Skipped {reason}" for reason in answer.degraded)
    yield from advice_lines(answer.advice)
    yield from answer.warnings
    yield from _background(answer.background)
    if answer.trace:
        columns: Columns = {"layer": "name", "time": lambda note: f"{note.ms:.2f} ms"}
        columns |= {"candidates": lambda note: str(note.candidates), "skipped because": "failed"}
        yield table(answer.trace, columns)


def _hit_line(hit: "Hit", text: str) -> str:
    marks = "".join(f"  [{mark}]" for mark in _marks(hit.memory))
    return f"{named(hit.memory.id)}  {text}  ({hit.relevance:.2f}){marks}"


def _reasons(why: "Why") -> str:
    """The sum of the parts, times the boosts: `words 1st 0.35 + meaning 4th 0.21, pinned x1.5`."""
    parts = " + ".join(f"{part.channel} #{part.rank} {part.share:.3f}" for part in why.parts)
    return parts + "".join(f", {name} x{factor:g}" for name, factor in why.boosts)


def _marks(memory: "Memory") -> Iterator[str]:
    yield memory.tier
    if memory.status != "active":
        yield f"{memory.status} {day(memory.valid_to)}".strip() + _why_stale(memory)
    if memory.check_state:
        yield check_mark(memory.check_state, memory.check_seen)
    if proposal := _proposal(memory):
        yield f"proposes to {proposal}"
    if memory.conversation:
        yield "conversation"


def _why_stale(memory: "Memory") -> str:
    return f": {memory.status_reason}" if memory.status == "stale" and memory.status_reason else ""


def _proposal(memory: "Memory") -> str | None:
    """What a pending memory would change."""
    if memory.proposes is None:
        return None
    proposal = " ".join((memory.proposes.change, *(named(id) for id in memory.proposes.of)))
    return f"{proposal} (new: {memory.proposes.what_is_new})" if memory.proposes.what_is_new else proposal


@shows
def _(answer: "Shown") -> Iterator[Part]:
    memory = answer.memory
    yield f"{named(memory.id)}  {memory.title}"
    yield TextTable(("field", "value"), list(_fields(memory)))
    yield memory.content
    if answer.artifact:
        yield f"Artifact: {artifact_line(answer.artifact)}"
    if answer.edges:
        yield _edges(answer.edges)
    yield from _background([answer.background] if answer.background else ())


def _fields(memory: "Memory") -> Iterator[tuple[str, str]]:
    until = minute(memory.valid_to) or "now"
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
        "approved": memory.approved_by and f"by {memory.approved_by}, {minute(memory.approved_at)}",
        "proposes": _proposal(memory),
        "edits": "; ".join(map(edit_line, memory.edits or ())),
        "changeset": memory.changeset,
        "conversation": _pin(memory),
        "true": f"{minute(memory.valid_from)} to {until}",
        "verified": minute(memory.verified_at),
        "checks": check_mark(memory.check_state, memory.check_seen) if memory.check_state else None,
        "status": memory.status + reason,
        "version": f"{memory.version}, updated {minute(memory.updated_at)}",
    }
    yield from ((name, value) for name, value in shown.items() if value)


def _pin(memory: "Memory") -> str | None:
    """The conversation of a memory; one that another user began is named with that user."""
    return (
        memory.conversation
        if memory.pinned is None or memory.conversation_by is None
        else explicit(memory.pinned)
    )


@shows
def _(answer: "Browsed") -> Iterator[Part]:
    columns: Columns = {
        "id": number_of,
        "kind": "kind",
        "updated": "updated_at",
        "title": "title",
        "tags": "tags",
    }
    columns |= {"": lambda each: " ".join(_marks(each))}
    yield from listed(answer.memories, columns, "Nothing here.", answer.next)
    if answer.total is not None:
        yield f"{answer.total:,} in all."
    yield from _background(answer.background)


def _background(backgrounds: Sequence["Background"]) -> Iterator[Part]:
    if backgrounds:
        columns: Columns = {"id": number_of, "embedded by": "embedded_by", "superseded by": "superseded_by"}
        yield table(backgrounds, columns | {"URNs": lambda each: ", ".join(each.urns.values())})


@shows
def _(answer: "Tallied") -> Iterator[Part]:
    if answer.groups:
        columns: Columns = {
            "value": lambda each: each.value or "(none)",
            "memories": "memories",
            "oldest": "oldest",
        }
        yield table(answer.groups, columns)
    if answer.omitted:
        yield f"{answer.omitted:,} smaller groups are not shown; --limit shows more."
    yield f"{answer.total:,} memories match."


@shows
def _(answer: "Searched") -> Iterator[Part]:
    for heading, hits in (("Memories", answer.memories), ("Example queries", answer.example_queries)):
        if hits:
            yield f"{heading}:"
            columns: Columns = {
                "id": number_of,
                "": lambda hit: excerpt(hit.text),
                "tier": "tier",
                "about": "matched_entities",
            }
            yield table(hits, columns)
    if answer.entities:
        yield "Entities:"
        yield table(answer.entities, {"name": "id", "kind": "kind"})
    if not (answer.memories or answer.example_queries or answer.entities):
        yield "Nothing found."
    yield from advice_lines(answer.advice)
    yield from (f"Warning: {warning}" for warning in answer.warnings)


@shows
def _(answer: "ListedRelations") -> Iterator[Part]:
    columns: Columns = {"id": "id", "relation": arrow, "since": "created_at", "by": "created_by"}
    return listed(answer.relations, columns, "No relations.", answer.next)


@shows
def _(answer: "Neighbourhood") -> Iterator[Part]:
    yield f"{named(answer.center.id)}  {answer.center.title}"
    if answer.edges:
        yield _edges(answer.edges)
    else:
        yield "No relations."
    if answer.truncated:
        yield "There are more; raise --limit."


@shows
def _(answer: "GivenFeedback") -> Iterator[Part]:
    if answer.feedback is None:
        yield "Taken back." if answer.changed else "Nothing was said of it before."
    else:
        verdict = answer.feedback.verdict.replace("_", " ")
        said = f"#{answer.feedback.memory} was {verdict}"
        yield f"Noted: {said}." if answer.changed else f"Noted before: {said}."
        if answer.feedback.question is None:
            yield "The question is not kept; an admin changes that with `onrecord tenants set --keep-questions`."
    yield from scrubbed_line(answer.scrubbed)


@shows
def _(answer: "ListedFeedback") -> Iterator[Part]:
    columns: Columns = {
        "memory": lambda each: f"#{each.memory}",
        "verdict": lambda each: each.verdict.replace("_", " "),
        "by": lambda each: f"{each.user} ({each.origin})",
        "at": "at",
        "question": lambda each: each.question or f"({each.digest[:8]}…)",
    }
    return listed(answer.feedback, columns, "No feedback.", answer.next)


def _edges(edges: "Sequence[Edge]") -> TextTable:
    columns: Columns = {
        "relation": lambda edge: arrow(edge.relation),
        "memory": lambda edge: edge.memory.title,
    }
    return table(edges, columns | {"status": lambda edge: edge.memory.status, "steps": "hop"})


@shows
def _(answer: "ShownHistory") -> Iterator[Part]:
    columns: Columns = {"version": "number", "at": "at", "change": "change"}
    columns |= {"by": lambda each: f"{each.by} ({each.origin})", "changed": "changed"}
    columns |= {"text by": lambda each: f"{each.memory.author} ({each.memory.tier})"}
    yield table(answer.versions, columns | {"title": lambda each: each.memory.title})


@shows
def _(answer: "Compared") -> Iterator[Part]:
    yield f"From {minute(answer.since)} to {minute(answer.until)}:"
    signs = {"added": "+", "revised": "~", "retired": "-"}
    rows: list[tuple[str, ...]] = [
        (signs[each.change], named(each.id), each.change, each.after.title, ", ".join(each.changed))
        for each in answer.memories
    ]
    rows += [("+", "", "related", arrow(edge), "") for edge in answer.related]
    rows += [("-", "", "unrelated", arrow(edge), "") for edge in answer.unrelated]
    if rows:
        yield TextTable(("", "id", "change", "memory", "fields"), rows)
    else:
        yield "Nothing changed."
    if answer.next:
        yield f"More: --after '{answer.next}'"
