"""WHICH changesets are there? Pages of them, by entity and state."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from onrecord.catalog.editing import root_of
from onrecord.catalog.resolution import resolve_leniently
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.answer import Answer
from onrecord.model.changesets import Changeset
from onrecord.operation import Call, operation
from onrecord.recall.background import urns_of
from onrecord.review.seeing import changeset_named, seen_by, seen_in
from onrecord.store.ports.filters import ChangesetFilter
from onrecord.store.ports.records import Reading


@dataclass(frozen=True, slots=True)
class ListChangesets(ChangesetFilter):
    """List what was applied to the catalog, newest first, with what stood there before; or show one by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedChangesets(Answer):
    """A page of changesets; `total` counts all that match, and `urns` are those of their entities, by name."""

    changesets: tuple[Changeset, ...]
    total: int
    urns: Mapping[str, str] = field(default_factory=dict)


@operation("read", "memory.read", "GET /changesets")
def changesets(call: Call, ask: ListChangesets) -> ListedChangesets:
    with call.reading() as reading:
        if ask.id is not None:
            page, total = [changeset_named(reading, ask.id)], 1
        else:
            page, total = reading.changesets.page(_resolved(ask, reading))
        seen = seen_in(reading, *page)
        urns = urns_of({each.entity for each in page}, reading)
    shown = tuple(seen_by(call.caller, each, seen) for each in page)
    return ListedChangesets(changesets=shown, total=total, urns=urns)


def _resolved(ask: ListChangesets, reading: Reading) -> ListChangesets:
    """The filter with the entity that a changeset would name; one that is not known stays as given."""
    if ask.entity is None:
        return ask
    known = resolve_leniently([ask.entity], StoredCatalog(reading)).canonicals
    return replace(ask, entity=root_of(known[0] if known else ask.entity))
