"""HOW does the data platform write a changeset down? Under the names that its programs know, with what stood there before."""

from typing import Any, Final

from onrecord.errors import Invalid, NotFound
from onrecord.faces.data_platform.actions import place_of, type_of
from onrecord.model.changesets import Changeset
from onrecord.model.wire import write_instant
from onrecord.service import OnRecord

_TEXT: Final = {"type": "string"}
#: What the type of a changeset is with changes of several types.
_SEVERAL: Final = "multiple"
#: The shape of a changeset.
CHANGESET: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("id", "created_at", "target_urn", "change_type", "state"), _TEXT),
        "previous_value": {"type": "object"},
        "new_value": {"type": "object"},
        "source_insight_ids": {"type": "array", "items": _TEXT},
        **dict.fromkeys(("approved_by", "applied_by", "rolled_back_by", "rolled_back_at"), _TEXT),
        "rolled_back": {"type": "boolean"},
    },
    "required": ["id", "created_at", "target_urn", "change_type", "source_insight_ids", "rolled_back"],
}


def changeset_of(changeset: Changeset, urn: str) -> dict[str, Any]:
    """A changeset with the values before and after, each under its place."""
    fields = {"id": changeset.id} | _common_fields(changeset, urn)
    approved = dict.fromkeys(each.approved_by for each in changeset.changes if each.approved_by)
    return fields | {
        "state": changeset.state,
        "previous_value": {place_of(each, changeset.entity): each.before for each in changeset.changes},
        "new_value": {place_of(each, changeset.entity): each.after for each in changeset.changes},
        "approved_by": ", ".join(approved),
    }


def summary_of(changeset: Changeset, urn: str) -> dict[str, Any]:
    """A changeset without its values."""
    return {"changeset_id": changeset.id} | _common_fields(changeset, urn)


def _common_fields(changeset: Changeset, urn: str) -> dict[str, Any]:
    types = dict.fromkeys(type_of(each.edit) for each in changeset.changes)
    fields: dict[str, Any] = {
        "created_at": write_instant(changeset.at),
        "target_urn": urn,
        "change_type": next(iter(types), "") if len(types) < 2 else _SEVERAL,
        "applied_by": changeset.by,
        "source_insight_ids": list(changeset.memories),
        "rolled_back": changeset.state == "rolled_back",
    }
    if changeset.state == "rolled_back" and changeset.ended_at is not None:
        fields |= {"rolled_back_by": changeset.ended_by, "rolled_back_at": write_instant(changeset.ended_at)}
    return fields


def changeset_named(door: OnRecord, id: str) -> tuple[Changeset, str]:
    """A changeset and the URN of what it changed."""
    try:
        page = door.changesets(id)
    except (Invalid, NotFound):
        raise NotFound(f"changeset not found: {id}") from None
    [known] = page.changesets
    return known, page.urns.get(known.entity, known.entity)


def is_of(door: OnRecord, changeset: Changeset, urn: str, entity: str) -> bool:
    """Whether a changeset is about an entity, by whichever of its names."""
    if entity in (changeset.entity, urn):
        return True
    try:
        return door.plan(entity).entity == changeset.entity
    except (Invalid, NotFound):
        return False
