"""WHICH words lead to a memory? Everything derived from a row: its postings and its facets.

The same memory always gives the same entries, so an index can be checked, dropped and rebuilt.
"""

import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from onrecord.model import ids
from onrecord.model.collections import MEMORIES, Collection
from onrecord.model.memory import Memory
from onrecord.store.audience import audience_of
from onrecord.text import ANALYZER_VERSION, gather_places
from onrecord.text.names import names_of, words_of

# Part of the version: other weights, gaps or facets make another index.
INDEX_VERSION: Final = f"6.{ANALYZER_VERSION}"

TITLE_WEIGHT: Final = 10
TAG_WEIGHT: Final = 8
CONTENT_WEIGHT: Final = 4
SOURCE_WEIGHT: Final = 2
SUBJECT_WEIGHT: Final = 4
# A posting travels as row, weight and length in one integer of 63 bits: 39, 8 and 16.
HEAVIEST: Final = 255
LONGEST: Final = 65_535
# Words of different fields must never look like neighbours.
_FIELD_GAP: Final = 32
_LAST_POSITION: Final = 65_535
_POSITIONS_KEPT: Final = 64
# Most words occur once in a memory, near its beginning.
_COMMON_PLACES: Final = 1_024
_ONE_PLACE: Final = tuple(place.to_bytes(2, "little") for place in range(_COMMON_PLACES))


# In English whatever the machine speaks: an index must be the same everywhere.
_MONTHS: Final = tuple(
    "January February March April May June July August September October November December".split()
)


class IndexEntries(NamedTuple):
    """Everything the index holds of one memory: its terms, the weight of each and its positions.

    Stored by column, since a bulk load makes tens of thousands a second and builds rows last.
    """

    length: int
    terms: tuple[str, ...]
    weights: tuple[int, ...]
    places: tuple[bytes, ...]
    facets: tuple[str, ...]

    @property
    def postings(self) -> Iterator[tuple[str, int, bytes]]:
        return zip(self.terms, self.weights, self.places, strict=True)


def entries_of(memory: Memory, collection: Collection = MEMORIES) -> IndexEntries:
    places: dict[str, list[int]] = {}
    weights: dict[str, int] = {}
    start = length = 0
    for text, weight in _fields(memory):
        found: dict[str, list[int]] = {}
        words = gather_places(text, start, found)
        length += words
        start += words + _FIELD_GAP
        if not places:
            places, weights = found, {term: len(at) * weight for term, at in found.items()}
            continue
        for term, at in found.items():
            places.setdefault(term, []).extend(at)
            weights[term] = weights.get(term, 0) + len(at) * weight
    entries = IndexEntries(
        length=min(length, LONGEST),
        terms=tuple(weights),
        weights=tuple([weight if weight < HEAVIEST else HEAVIEST for weight in weights.values()]),
        places=tuple(
            [
                _ONE_PLACE[at[0]] if len(at) == 1 and at[0] < _COMMON_PLACES else write_positions(at)
                for at in places.values()
            ]
        ),
        facets=facets_of(memory, collection),
    )
    return entries if collection is not MEMORIES or not memory.entities else _with_subjects(entries, memory)


def subject_term(term: str) -> str:
    """The term for a word of what a memory is about. It is kept apart from the memory's own words: only a search for
    subjects finds it.
    """
    return f"@{term}"


def _with_subjects(entries: IndexEntries, memory: Memory) -> IndexEntries:
    """Add the words of references. A word that all of them share has full weight, one of many has little."""
    words = list(filter(None, map(words_of, memory.entities)))
    mentions = Counter(term for each in words for term in each)
    return entries._replace(
        terms=(*entries.terms, *map(subject_term, mentions)),
        weights=(
            *entries.weights,
            *(max(SUBJECT_WEIGHT * count // len(words), 1) for count in mentions.values()),
        ),
        places=(*entries.places, *[b""] * len(mentions)),
    )


def _fields(memory: Memory) -> Iterator[tuple[str, int]]:
    # A title cut from the content would count its first words twice.
    if memory.has_own_title:
        yield memory.title, TITLE_WEIGHT
    if memory.hint:
        yield memory.hint, TITLE_WEIGHT
    for tag in memory.tags:
        yield tag, TAG_WEIGHT
    yield memory.content, CONTENT_WEIGHT
    if memory.source:
        yield memory.source, SOURCE_WEIGHT
    if memory.valid_from != memory.created_at:
        # Saved later than it became true: people ask for the day.
        day = memory.valid_from
        yield f"{day.day} {_MONTHS[day.month - 1]} {day.year}", CONTENT_WEIGHT


def facets_of(memory: Memory, collection: Collection = MEMORIES) -> tuple[str, ...]:
    if not (
        memory.tags or memory.entities or memory.always_inject or memory.proposes or ids.is_owned(memory.id)
    ):
        return tuple(collection.facets(memory))
    names = dict.fromkeys(name for reference in memory.entities for name in names_of(reference))
    return (
        *map(tag_facet, memory.tags),
        *map(reference_facet, memory.entities),
        *map(name_facet, names),
        *(_unasked_facets(memory) if memory.always_inject else ()),
        *(map(proposal_facet, memory.proposes.of) if memory.proposes is not None else ()),
        *([called_facet(ids.name_of(memory.id))] if ids.is_owned(memory.id) else ()),
        *collection.facets(memory),
    )


def _unasked_facets(memory: Memory) -> Iterator[str]:
    """The facet of memories given without asking, by user: for one user the preferences of a thousand others must not
    be read.
    """
    yield unasked_facet(audience_of(memory))
    if memory.scope == "system":
        yield OF_SOME_SYSTEM


def unasked_facet(audience: str) -> str:
    return f"unasked:{audience}"


#: The facet for callers who may read every system.
OF_SOME_SYSTEM: Final = "unasked:system"


def proposal_facet(id: str) -> str:
    """The facet of a proposal: the memory that it would change."""
    return f"proposes:{id}"


def called_facet(name: str) -> str:
    """The facet of memories whose id is this name with a user's name in front."""
    return f"called:{name}"


def tag_facet(tag: str) -> str:
    return f"tag:{tag}"


def reference_facet(reference: str) -> str:
    return f"ref:{reference}"


def name_facet(name: str) -> str:
    return f"name:{name}"


def write_positions(places: list[int]) -> bytes:
    kept = [place for place in places[:_POSITIONS_KEPT] if place <= _LAST_POSITION]
    return struct.pack(f"<{len(kept)}H", *kept)


def read_positions(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(packed) // 2}H", packed)
