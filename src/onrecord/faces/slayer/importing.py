"""HOW does a store of the semantic layer come here? We ingest its models, then save its notes one by one
under their own ids.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from onrecord.catalog.sources import open_source
from onrecord.catalog.sources.model_store import ModelStore
from onrecord.errors import Fault, Invalid, invalid
from onrecord.faces.slayer.errors import in_their_words
from onrecord.faces.slayer.fields import LEARNING, PLAIN_ID, PREVIEW
from onrecord.model.catalog import MEMORY_PREFIX
from onrecord.model.ids import exact_reference, exactly
from onrecord.model.rules import INSTANT, Json, OrNone, Text
from onrecord.model.shapes import Object, Several, faults_at
from onrecord.model.wire import to_json
from onrecord.service import OnRecord

_NOTE: Final = Object(
    "a memory",
    {
        "id": PLAIN_ID,
        "learning": LEARNING,
        "description": PREVIEW,
        "entities": Several(Text()),
        "query": OrNone(Json()),
        "created_at": INSTANT,
    },
    needed=("id", "learning"),
    passes_over=True,
)
Note = Mapping[str, Any]


@in_their_words
def import_store(door: OnRecord, path: str | Path) -> dict[str, Any]:
    """Take over the models and notes of a SQLite store of the semantic layer; a second import takes over the changes.

    If a row of it cannot be understood, nothing is taken over. References to what is not in the catalog are left out,
    and so are queries that cannot be understood; the warnings say which.
    """
    source = open_source(str(path))
    if not isinstance(source, ModelStore):
        raise invalid("path", f"{path} is not a SQLite store of slayer, which has a table of models")
    notes = _notes(source)
    ingested = door.ingest(str(path))
    warnings: list[str] = []
    for note in notes:
        _keep(door, note, [each for each in note["entities"] if not each.startswith(MEMORY_PREFIX)], warnings)
    # Now that all notes are there, we can add their references to one another.
    for note in notes:
        if note["query"] is None and any(each.startswith(MEMORY_PREFIX) for each in note["entities"]):
            _keep(door, note, note["entities"], warnings)
    return {
        "memories": len(notes),
        "ingested": to_json(ingested),
        "warnings": list(dict.fromkeys(warnings)),
    }


def _notes(source: ModelStore) -> list[Note]:
    faults: list[Fault] = []
    notes: dict[str, Note] = {}
    for given in source.memories():
        place = f"{source.location}, memory {given.get('id')!r}"
        try:
            note = {"description": None, "entities": (), "query": None, **_NOTE(given)}
        except ValueError as reason:
            faults += [Fault(f"{place}: {each.field}", each.message) for each in faults_at("", reason)]
            continue
        note["id"] = str(note["id"])
        other = notes.setdefault(note["id"], note)
        if (other["learning"], other["entities"], other["query"]) != (
            note["learning"],
            note["entities"],
            note["query"],
        ):
            faults.append(Fault(place, "has the id of another memory, which says something else"))
    if faults:
        raise Invalid(faults)
    return list(notes.values())


def _keep(door: OnRecord, note: Note, references: Sequence[str], warnings: list[str]) -> None:
    kept = {
        "id": exactly(note["id"]),
        "kind": "learning",
        "hint": (note["description"] or "").strip() or None,
        "dedupe": False,
        "alike": "keep",
        **({"created_at": note["created_at"]} if "created_at" in note else {}),
    }
    if note["query"] is not None:
        try:
            door.remember(note["learning"], query=note["query"], entities=[], **kept)
            return
        except Invalid as problem:
            warnings.append(f"memory {note['id']}: its query was left out: {problem}")
    entities: Sequence[str] = ()
    if references:
        named = [exact_reference(each) for each in references]
        known = door.search(entities=named, max_memories=0, max_example_queries=0, max_entities=0)
        warnings += [f"memory {note['id']}: {warning}" for warning in known.warnings]
        entities = [exact_reference(each) for each in known.resolved_input_entities]
    door.remember(note["learning"], query=None, entities=entities, **kept)
