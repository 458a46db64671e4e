"""HOW is knowledge captured in the words of the data platform? capture_insight and recall_insight: records that propose
something and wait until a person has reviewed them.
"""

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any, Final

from onrecord.errors import Fault, Invalid, NotFound
from onrecord.faces.data_platform.actions import check_actions, edits_of, subject_of
from onrecord.faces.data_platform.fields import (
    LISTED,
    MOST_ACTIONS,
    MOST_COLUMNS,
    MOST_LISTED,
    MOST_THREADS,
    OF_INSIGHTS,
    RefusedField,
    check_choices,
    check_content,
    check_entities,
    check_number,
    clamped,
    in_its_words,
    refuse,
)
from onrecord.faces.data_platform.keeping import AS_A_RECORD, chain_of, placement_of, warned
from onrecord.faces.data_platform.recalling import AS_IT_IS, RECIPE
from onrecord.faces.data_platform.records import ACTIONS, COLUMNS, THREADS, insight_status_of, urns_of
from onrecord.model.findings import Background
from onrecord.model.limits import LIVE, STATUSES, Status
from onrecord.model.memory import Memory
from onrecord.model.wire import write_instant
from onrecord.recall.browse import Browsed
from onrecord.service import OnRecord

CAPTURED: Final = "Insight captured. It will be reviewed by a data catalog administrator."
_TEXT: Final = {"type": "string"}
#: The shape of an insight.
INSIGHT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("id", "created_at", "session_id", "captured_by", "persona", "source"), _TEXT),
        **dict.fromkeys(("category", "insight_text", "confidence", "status"), _TEXT),
        "entity_urns": {"type": "array", "items": _TEXT},
        "related_columns": {"type": "array", "items": {"type": "object"}},
        "suggested_actions": {"type": "array", "items": {"type": "object"}},
        **dict.fromkeys(("reviewed_by", "reviewed_at", "review_notes"), _TEXT),
        **dict.fromkeys(("applied_by", "applied_at", "changeset_ref", "superseded_by"), _TEXT),
    },
    "required": [
        *("id", "created_at", "session_id", "captured_by", "persona", "source", "category", "insight_text"),
        *("confidence", "status", "entity_urns", "related_columns", "suggested_actions"),
    ],
}


def insight_of(memory: Memory, background: Background) -> dict[str, Any]:
    """The insight that a memory is."""
    fields: dict[str, Any] = {
        "id": memory.id,
        "created_at": write_instant(memory.created_at),
        "session_id": str(memory.metadata.get("session_id", "")),
        "captured_by": memory.owner,
        "persona": memory.persona or "",
        "source": memory.source or "",
        "category": memory.category or "",
        "insight_text": memory.content,
        "confidence": memory.confidence,
        "entity_urns": urns_of(memory, background),
        "related_columns": list(memory.metadata.get(COLUMNS, ())),
        "suggested_actions": list(memory.metadata.get(ACTIONS, ())),
        "status": insight_status_of(memory, background) or "",
    }
    return fields | _reviewed(memory, background)


def _reviewed(memory: Memory, background: Background) -> dict[str, Any]:
    """Who reviewed and applied it, when, and their notes."""
    is_over = background.proposal in ("rejected", "rolled_back")
    by, at = memory.approved_by, memory.approved_at
    if is_over:
        by, at = background.ended_by or by, background.ended_at or at
    fields = {
        "reviewed_by": by,
        "reviewed_at": at and write_instant(at),
        "review_notes": memory.status_reason if by else None,
        "applied_by": background.applied_by,
        "applied_at": background.applied_at and write_instant(background.applied_at),
        "changeset_ref": memory.changeset,
        "superseded_by": background.superseded_by,
    }
    return {name: value for name, value in fields.items() if value}


def insights_in(page: Browsed) -> list[dict[str, Any]]:
    return [insight_of(*each) for each in zip(page.memories, page.background, strict=True)]


@in_its_words()
def capture_insight(
    door: OnRecord,
    category: str | None = None,
    insight_text: str | None = None,
    entity_urns: Sequence[str] | None = None,
    suggested_actions: Sequence[Mapping[str, Any]] | None = None,
    **given: Any,
) -> dict[str, Any]:
    """Save an insight for review; until it is reviewed, only its owner finds it."""
    choices = {name: given[name] for name in ("confidence", "source") if given.get(name)}
    _check(category, insight_text, entity_urns, suggested_actions, given | {"choices": choices})
    linked, unlinked = _threads(door, given.get("thread_ids") or ())
    metadata = {
        "session_id": door.caller.conversation,
        COLUMNS: list(given.get("related_columns") or ()),
        ACTIONS: list(map(dict, suggested_actions or ())),
        THREADS: linked,
    }
    urns = list(entity_urns or ())
    wanted: dict[str, Any] = {
        "confidence": "medium",
        "source": "user",
        **choices,
        **placement_of(door, given.get("persona")),
        "content": insight_text,
        "category": category,
        "dimension": "knowledge",
        "entities": urns,
        "metadata": {name: value for name, value in metadata.items() if value},
        "edits": _suggested(suggested_actions or (), urns),
        "what_is_new": given.get("what_is_new"),
    }
    saved = door.remember(**AS_A_RECORD, id=token_hex(16), **wanted)
    if saved.outcome == "rejected":
        return {"insight_id": saved.memory.id, "status": "rejected", "message": saved.warnings[-1]}
    answer: dict[str, Any] = {"insight_id": saved.memory.id, "status": "pending", "message": CAPTURED}
    answer |= {"linked_thread_count": len(linked)} if linked else {}
    answer |= {"unlinked_thread_ids": unlinked} if unlinked else {}
    # The message already says that it waits.
    return (
        answer | chain_of(saved) | warned([each for each in saved.warnings if "Kept as proposal" not in each])
    )


def _check(
    category: str | None,
    insight_text: str | None,
    entity_urns: Sequence[str] | None,
    suggested_actions: Sequence[Mapping[str, Any]] | None,
    given: Mapping[str, Any],
) -> None:
    if not category:
        named = ", ".join(OF_INSIGHTS["category"])
        missing = [Fault("category", f"category is required and must be one of: {named}")]
    refuse(
        iter([] if category else missing),
        check_choices({"category": category, **given["choices"]}, OF_INSIGHTS),
        check_content(insight_text, "insight_text"),
        check_entities(entity_urns),
        check_number("related_columns", given.get("related_columns"), MOST_COLUMNS),
        check_number("suggested_actions", suggested_actions, MOST_ACTIONS),
        check_actions(suggested_actions, "suggested_actions", "action_type"),
        check_number("thread_ids", given.get("thread_ids"), MOST_THREADS),
    )


def _suggested(actions: Sequence[Mapping[str, Any]], urns: Sequence[str]) -> list[dict[str, Any]]:
    """The edits that some suggestions are; without an entity they are suggestions to a reader alone."""
    return [
        edit
        for action in actions
        if (urn := subject_of(action, urns)) is not None
        for edit in edits_of(action, "action_type", urn)
    ]


def _threads(door: OnRecord, ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of some threads that are conversations here which the caller is in, and the others."""
    linked: list[str] = []
    for id in dict.fromkeys(ids):
        try:
            door.show_conversation(id)
            linked.append(id)
        except (NotFound, Invalid):
            pass
    return linked, [id for id in dict.fromkeys(ids) if id not in linked]


@in_its_words()
def recall_insight(
    door: OnRecord, query: str | None = None, status: str | None = None, limit: int | None = None
) -> dict[str, Any]:
    """The caller's own insights about a question, best first: those that wait or count, unless a status is named."""
    if not (query or "").strip():
        raise RefusedField("query", "query is required for recall_insight")
    refuse(check_choices({"status": status}, OF_INSIGHTS))
    scored, is_hybrid = found_insights(door, str(query), status, clamped(limit, LISTED, MOST_LISTED))
    return {
        "insights": [{"insight": insight, "score": score} for insight, score in scored],
        "count": len(scored),
        "ranking": "hybrid" if is_hybrid else "lexical",
    }


def found_insights(
    door: OnRecord, query: str, status: str | None, limit: int
) -> tuple[list[tuple[dict[str, Any], float]], bool]:
    """The caller's own insights with their scores, and whether meaning counted."""
    live: Sequence[Status] = sorted(LIVE)
    found = door.recall(
        query.strip(),
        recipe=RECIPE,
        limit=limit,
        only_owners=[door.caller.user],
        proposal=status or "any",  # type: ignore[arg-type]
        statuses=STATUSES if status else live,
        **AS_IT_IS,
    )
    insights = [
        (insight_of(hit.memory, background), hit.score)
        for hit, background in zip(found.hits, found.background, strict=True)
    ]
    return insights, "semantic" in found.channels
