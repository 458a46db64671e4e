"""HOW much is written about what the catalog knows? References of memories to entities, counted by few statements."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from onrecord.catalog.records import canonical_of
from onrecord.catalog.resolution import resolve_leniently
from onrecord.catalog.stored import StoredCatalog
from onrecord.model.catalog import URN_PREFIX, field_of
from onrecord.model.limits import Status
from onrecord.model.memory import Memory
from onrecord.model.when import NOW, When
from onrecord.store.ports.filters import TallyFilter
from onrecord.store.ports.records import Reading

_COUNTED: Final[tuple[Status, ...]] = ("active", "stale")
#: So many names that the catalog does not have are looked up, such as `orders` for `shop.orders`.
_LOOKED_UP: Final = 1_000


class References(NamedTuple):
    """How often memories refer to an entity or to what is in it, and how often stale ones do."""

    all: int
    stale: int


def counted_references(
    records: Sequence[Memory], reading: Reading, when: When = NOW
) -> Mapping[str, References]:
    """The references to each of these entities, and to what is in it, from the memories that the caller sees."""
    known = _known_names(records)
    every = _counted(known, _COUNTED, reading, when)
    stale = _counted(known, ("stale",), reading, when) if every else {}
    names = map(canonical_of, records)
    return {name: References(every.get(name, 0), stale.get(name, 0)) for name in names}


def _known_names(records: Sequence[Memory]) -> dict[str, str]:
    """The entity of each name under which memories may know it."""
    aliases = {alias: canonical_of(record) for record in records for alias in record.entities}
    return aliases | {name: name for name in map(canonical_of, records)}


def _counted(
    known: Mapping[str, str], statuses: Sequence[Status], reading: Reading, when: When
) -> Mapping[str, int]:
    counts, unknown = Counter[str](), dict[str, int]()
    for group in reading.tally(TallyFilter(by="entity", statuses=statuses, known_at=when.known_at)):
        name = group.value or ""
        holders = list(_holders(name, known))
        counts.update(dict.fromkeys(holders, group.memories))
        if not holders:
            unknown[name] = group.memories
    lookup = StoredCatalog(reading, when)
    for name in islice(unknown, _LOOKED_UP):
        for canonical in resolve_leniently([name], lookup).canonicals:
            counts.update(dict.fromkeys(_holders(canonical, known), unknown[name]))
    return counts


def _holders(name: str, known: Mapping[str, str]) -> Iterator[str]:
    """The entities that a reference is about: what it names, and what that is in."""
    if name.startswith(URN_PREFIX):
        field = field_of(name)
        found = known.get(name) or (known.get(field.model) if field is not None else None)
        if found is not None:
            yield found
        return
    while name:
        if name in known:
            yield known[name]
        name = name.rpartition(".")[0]
