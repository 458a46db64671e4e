"""HOW does our catalog show what was written elsewhere? The model's records are refreshed from its source."""

from datetime import datetime

from onrecord.catalog.amendments import amendments_of
from onrecord.catalog.record_writing import rewritten
from onrecord.catalog.records import RECORD_VERSION, model_of, record_id, records_of_model, samples_of
from onrecord.catalog.sources.fingerprinting import fingerprint
from onrecord.model.caller import Caller
from onrecord.model.catalog import Model
from onrecord.model.collections import ENTITIES
from onrecord.model.memory import Change
from onrecord.store.ports.store import Store


def refresh_records(store: Store, caller: Caller, now: datetime, model: Model, *, embeds: bool) -> None:
    """Update the records of a model and its parts. A model from another source, or with other parts by now, is left to
    the next ingest.
    """
    with store.writing(caller, now) as writing:
        catalog = writing.writing_of(ENTITIES)
        known = catalog.memory(record_id(model.canonical)) if catalog.size else None
        if known is None or not known.is_live or samples_of(known):
            return
        held = model_of(known)
        if held.aliases != model.aliases or _parts(held) != _parts(model):
            return
        change = Change("ingest", caller.user, caller.actor, now)
        mark = f"{RECORD_VERSION}.{fingerprint(model)}"
        for record in records_of_model(model, mark, amendments_of(known)):
            saved = rewritten(catalog, record, change)
            if saved is not None and embeds:
                catalog.embed(saved, None, ())


def _parts(model: Model) -> list[str]:
    return [part.name for part in model.parts]
