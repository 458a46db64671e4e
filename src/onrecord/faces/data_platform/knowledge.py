"""HOW is knowledge curated in the words of the data platform? apply_knowledge: one tool with eight actions.

This module only translates. Who may approve, apply and roll back, what a change finds in its way, and how it is written
and taken back, the operations decide.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from onrecord.catalog.resolution import Unresolved
from onrecord.catalog.targets.unsourced import NAME as UNSOURCED
from onrecord.errors import Conflict, Invalid, NotFound, VersionConflict
from onrecord.faces.data_platform.actions import check_actions, edits_of, place_of, type_of
from onrecord.faces.data_platform.changesets import changeset_named, is_of, summary_of
from onrecord.faces.data_platform.fields import (
    MOST_CHANGES,
    MOST_INSIGHTS,
    MOST_LISTED,
    RefusedField,
    check_number,
    in_its_words,
    refuse,
)
from onrecord.faces.data_platform.insights import insight_of, insights_in
from onrecord.faces.data_platform.records import ACTIONS, insight_status_of, urns_of
from onrecord.model.changesets import Changeset
from onrecord.model.findings import Background
from onrecord.model.ids import exactly
from onrecord.model.limits import BROWSE_LIMIT
from onrecord.model.memory import Memory
from onrecord.model.wire import write_instant
from onrecord.service import OnRecord

#: From each state, those that a person may move an insight to.
_MOVES: Final[Mapping[str, frozenset[str]]] = {
    "pending": frozenset({"approved", "rejected", "superseded"}),
    "approved": frozenset({"applied", "rejected"}),
    "applied": frozenset({"rolled_back"}),
}
_CONFIRM: Final = "Set confirm: true to"
#: How many entities a review lists.
_MOST_ENTITIES: Final = 100


def apply_knowledge(door: OnRecord, action: str | None = None, **given: Any) -> dict[str, Any]:
    """Do one action."""
    named = ", ".join(_ACTIONS)
    if not action:
        raise RefusedField("action", f"action is required and must be one of: {named}")
    if action not in _ACTIONS:
        raise RefusedField("action", f'invalid action "{action}": must be one of: {named}')
    return _ACTIONS[action](door, **given)


def _needs(value: Any, field: str, action: str) -> None:
    if not value:
        raise RefusedField(field, f"{field} is required for {action} action")


def transition(status: str | None, to: str) -> Conflict:
    return Conflict(f'invalid status transition from "{status or ""}" to "{to}"')


def shown_insight(door: OnRecord, id: str) -> tuple[Memory, Background]:
    """One insight; NotFound if there is none that the caller sees."""
    try:
        shown = door.show(id, background=True)
    except (Invalid, NotFound):
        raise NotFound("insight not found") from None
    assert shown.background is not None
    if insight_status_of(shown.memory, shown.background) is None:
        raise NotFound("insight not found")
    return shown.memory, shown.background


@in_its_words()
def bulk_review(door: OnRecord, **_: Any) -> dict[str, Any]:
    """What waits, by entity, category and confidence."""
    categories, confidences = Counter[str](), Counter[str]()
    entities: dict[str, dict[str, Any]] = {}
    total = 0
    for memory, background in _all_pending(door):
        total += 1
        categories[memory.category or ""] += 1
        confidences[memory.confidence] += 1
        for urn in urns_of(memory, background):
            known = entities.setdefault(urn, {"entity_urn": urn, "count": 0, "categories": {}, "at": []})
            known["count"] += 1
            known["categories"][memory.category or ""] = None
            known["at"].append(memory.created_at)
    largest = sorted(entities.values(), key=lambda each: (-each["count"], each["entity_urn"]))
    return {
        "total_pending": total,
        "by_entity": [
            {
                "entity_urn": each["entity_urn"],
                "count": each["count"],
                "categories": sorted(each["categories"]),
                "latest_at": write_instant(max(each["at"])),
            }
            for each in largest[:_MOST_ENTITIES]
        ],
        "by_category": dict(categories),
        "by_confidence": dict(confidences),
    }


def _all_pending(door: OnRecord) -> Iterator[tuple[Memory, Background]]:
    mark: str | None = None
    while True:
        page = door.browse(
            proposal="pending", order="created", limit=BROWSE_LIMIT, after=mark, background=True
        )
        yield from zip(page.memories, page.background, strict=True)
        if page.next is None:
            return
        mark = page.next


@in_its_words()
def review(door: OnRecord, entity_urn: str | None = None, **_: Any) -> dict[str, Any]:
    """The values of an entity in the catalog, and the pending insights about it."""
    _needs(entity_urn, "entity_urn", "review")
    page = door.browse(
        proposal="pending", entities=[str(entity_urn)], order="created", limit=MOST_LISTED, background=True
    )
    return {
        "entity_urn": entity_urn,
        "current_metadata": current_metadata(door, str(entity_urn)),
        "insights": insights_in(page),
    }


def current_metadata(door: OnRecord, urn: str) -> dict[str, Any] | None:
    """What the catalog says of an entity; None if it does not know it."""
    try:
        sections = door.inspect(door.plan(urn).entity).sections
    except (Invalid, NotFound):
        return None
    promoted = sections.get("promoted") or ()
    terms = [
        each["key"]
        for each in promoted
        if each["field"] == "terms" and each["value"] and each["entity"] == sections["canonical"]
    ]
    return {
        "description": sections.get("description") or "",
        "tags": list(sections.get("tags") or ()),
        "glossary_terms": terms,
        "owners": [],
    }


@in_its_words()
def synthesize(
    door: OnRecord, entity_urn: str | None = None, insight_ids: Sequence[str] | None = None, **_: Any
) -> dict[str, Any]:
    """What the approved insights about an entity would change, with the present values."""
    _needs(entity_urn, "entity_urn", "synthesize")
    urn = str(entity_urn)
    page = door.browse(
        proposal="approved", entities=[urn], order="created", limit=MOST_LISTED, background=True
    )
    both = zip(page.memories, page.background, strict=True)
    approved = [each for each in both if not insight_ids or each[0].id in insight_ids]
    fields: dict[str, Any] = {
        "entity_urn": urn,
        "current_metadata": current_metadata(door, urn),
        "approved_insights": [insight_of(*each) for each in approved],
        "proposed_changes": _proposed(door, urn, [memory for memory, _ in approved]),
    }
    return fields if approved else fields | {"note": "No approved insights found for this entity."}


def _proposed(door: OnRecord, urn: str, approved: Sequence[Memory]) -> list[dict[str, Any]]:
    """Each suggestion once, with the insights that make it."""
    current = _current_values(door, urn, [each.id for each in approved if each.edits])
    changes: dict[tuple[str, str, str], dict[str, Any]] = {}
    for memory in reversed(approved):
        for action in memory.metadata.get(ACTIONS, ()):
            target, detail = action.get("target") or "", action.get("detail") or ""
            known = changes.setdefault(
                (action["action_type"], target, detail),
                {
                    "change_type": action["action_type"],
                    "target": target,
                    "current_value": next(
                        (current[key] for key in _cells(action, urn) if current.get(key) is not None), ""
                    ),
                    "suggested_value": action.get("query_sql") or detail,
                    "source_insight_ids": [],
                },
            )
            known["source_insight_ids"].append(memory.id)
    return list(changes.values())


def _current_values(door: OnRecord, urn: str, ids: Sequence[str]) -> dict[tuple[str, str | None], Any]:
    """The present values at the places that the insights would change, by place."""
    if not ids:
        return {}
    try:
        planned = door.plan(urn, memories=list(map(exactly, ids[:MOST_INSIGHTS])), unknown="keep")
    except (Invalid, NotFound):
        return {}
    return {(type_of(each.edit), each.edit.key): each.before for each in planned.changes}


def _cells(action: Mapping[str, Any], urn: str) -> list[tuple[str, str | None]]:
    return [(action["action_type"], edit.get("key")) for edit in edits_of(action, "action_type", urn)]


def _reviewed(to: str) -> Callable[..., dict[str, Any]]:
    def act(
        door: OnRecord,
        insight_ids: Sequence[str] | None = None,
        review_notes: str | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        action = "approve" if to == "approved" else "reject"
        _needs(insight_ids, "insight_ids", action)
        refuse(check_number("insight_ids", insight_ids, MOST_INSIGHTS))
        ids, errors = list(dict.fromkeys(insight_ids or ())), []
        for id in ids:
            try:
                move(door, id, to, review_notes)
            except NotFound:
                errors.append(f"{id}: not found")
            except Conflict as problem:
                errors.append(f"{id}: {problem}")
        answer: dict[str, Any] = {"action": action, "updated": len(ids) - len(errors), "total": len(ids)}
        return answer | ({"errors": errors} if errors else {})

    return in_its_words()(act)


def move(door: OnRecord, id: str, to: str, notes: str | None) -> None:
    """Approve or reject one insight; Conflict if its state does not allow that."""
    memory, background = shown_insight(door, id)
    status = insight_status_of(memory, background)
    # What is in that state already may be so by this very request, sent again under its key: the operation knows.
    if status != to and to not in _MOVES.get(str(status), ()):
        raise transition(status, to)
    reason = notes or None
    try:
        if to == "approved":
            done = door.approve(exactly(memory.id), expected_version=memory.version, reason=reason)
        else:
            done = door.reject(exactly(memory.id), reason=reason)
    except VersionConflict:
        raise Conflict("it has changed meanwhile; look at it again") from None
    if not done.changed:
        raise transition(status, to)


@in_its_words()
def apply(
    door: OnRecord,
    entity_urn: str | None = None,
    changes: Sequence[Mapping[str, Any]] | None = None,
    insight_ids: Sequence[str] | None = None,
    confirm: bool = False,
    review_notes: str | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Write some changes into the catalog, and mark the approved insights that they come from."""
    _needs(entity_urn, "entity_urn", "apply")
    if not changes:
        raise RefusedField("changes", "changes is required and must not be empty")
    refuse(
        check_number("changes", changes, MOST_CHANGES),
        check_actions(changes, "changes", "change_type"),
        check_number("insight_ids", insight_ids, MOST_INSIGHTS),
    )
    ids = list(dict.fromkeys(insight_ids or ()))
    for id in ids:
        status = insight_status_of(*_one(door, id))
        if status != "approved":
            raise Conflict(f"{id}: {transition(status, 'applied')}")
    if not confirm:
        return {
            "confirmation_required": True,
            "entity_urn": entity_urn,
            "changes_count": len(changes),
            "message": f"{_CONFIRM} apply these changes. A person applies them: use the key of one.",
        }
    urn = str(entity_urn)
    edits = [edit for change in changes for edit in edits_of(change, "change_type", urn)]
    try:
        done = door.apply(
            urn, memories=ids, edits=edits, reason=review_notes or None, unknown="keep"
        ).changeset
    except Unresolved as unknown:
        problem = f"{unknown.reason} Read it in first (onrecord ingest), then apply; insights stay approved."
        raise RefusedField("entity_urn", problem) from None
    return {
        "changeset_id": done.id,
        "entity_urn": urn,
        "changes_applied": len(changes),
        "insights_marked_applied": len(done.memories),
        "message": f"Changes applied. Roll them back with changeset {done.id}.{_hint_on_the_urn(done)}",
        "resulting_state": current_metadata(door, urn),
    }


def _hint_on_the_urn(done: Changeset) -> str:
    """A warning that the URN may be misspelt, if no source has an entity with it."""
    if done.target != UNSOURCED:
        return ""
    return " No source lists this entity yet: check that the URN is right. Once a source does, the entity keeps what was applied."


def _one(door: OnRecord, id: str) -> tuple[Memory, Background]:
    try:
        return shown_insight(door, id)
    except NotFound:
        raise NotFound(f"{id}: not found") from None


@in_its_words()
def rollback(
    door: OnRecord,
    changeset_id: str | None = None,
    entity_urn: str | None = None,
    confirm: bool = False,
    review_notes: str | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Take back what a changeset has written; its insights end with it."""
    _needs(changeset_id, "changeset_id", "rollback")
    known, urn = changeset_named(door, str(changeset_id))
    if entity_urn and not is_of(door, known, urn, entity_urn):
        raise Conflict(f"changeset {changeset_id} does not belong to entity {entity_urn}")
    if not confirm and known.state != "rolled_back":
        return {
            "confirmation_required": True,
            "changeset_id": changeset_id,
            "message": f"{_CONFIRM} roll back this changeset. A person rolls it back: use the key of one.",
        }
    return rolled_back(door, known, urn, review_notes)


def rolled_back(door: OnRecord, known: Changeset, urn: str, notes: str | None) -> dict[str, Any]:
    """Roll back, and say which values were restored and which were not."""
    done = door.roll_back(known.id, reason=notes or None, then="archive").changeset
    kept = [each for each in done.changes if each.note is not None]
    answer: dict[str, Any] = {
        "changeset_id": done.id,
        "target_urn": urn,
        "reverted_changes": [
            f"{type_of(each.edit)}: {place_of(each, done.entity)}"
            for each in done.changes
            if each not in kept
        ],
        "insights_rolled_back": len(done.memories),
        "rolled_back_by": done.ended_by,
    }
    return answer | ({"skipped_changes": [each.note for each in kept]} if kept else {})


@in_its_words()
def list_changesets(door: OnRecord, entity_urn: str | None = None, **_: Any) -> dict[str, Any]:
    """What was applied to an entity, the newest first."""
    _needs(entity_urn, "entity_urn", "list_changesets")
    page = door.changesets(entity=str(entity_urn), limit=MOST_LISTED)
    return {
        "entity_urn": entity_urn,
        "total": page.total,
        "changesets": [summary_of(each, str(entity_urn)) for each in page.changesets],
    }


_ACTIONS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "bulk_review": bulk_review,
    "review": review,
    "synthesize": synthesize,
    "apply": apply,
    "approve": _reviewed("approved"),
    "reject": _reviewed("rejected"),
    "rollback": rollback,
    "list_changesets": list_changesets,
}
ACTIONS_OF_APPLY: Final = tuple(_ACTIONS)
#: Those that a person must agree to.
DECISIONS: Final = frozenset({"approve", "reject", "apply", "rollback"})
