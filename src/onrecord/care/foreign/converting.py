"""HOW does what another system remembers become memories? Each item becomes one, of tier `import`, with its times and where it
came from; what does not fit is cut, with a warning.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, cast

from onrecord.care.foreign.items import Item, Unread
from onrecord.model import ids, limits, rules
from onrecord.model.limits import DIMENSION_OF, RELATIONS, RelationName, Scope
from onrecord.model.memory import Memory, Relation, derive_title
from onrecord.model.record import record_faults
from onrecord.remember.scrub import scrub_memory

#: Where the metadata of a memory says what it was before.
IMPORTED: Final = "imported"
#: Where it names relations as they were called there.
RELATIONS_THERE: Final = "relations"
_KEY_CHARACTERS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is said about all memories of an import: the format, whose they become, who sees them, and the time of those
    without one.
    """

    source: str
    owner: str
    scope: Scope
    otherwise: datetime
    now: datetime


@dataclass(slots=True)
class Converted:
    """The memories and relations of a store, and what was noted meanwhile."""

    memories: list[Memory] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    secrets: int = 0
    #: Items that say the very same under the same key.
    repeated: int = 0
    #: Links to something that is not in the store.
    dangling: int = 0


def converted(items: Iterable[Item | Unread], terms: Terms) -> Converted:
    done = Converted()
    names: dict[str, str] = {}
    linked: list[tuple[Memory, Item]] = []
    taken: dict[str, Memory] = {}
    for item in items:
        if isinstance(item, Unread):
            done.unread.append(item)
            continue
        for each in _memories(item, terms):
            memory = _kept(each, item, taken, done)
            if memory is None:
                continue
            for name in (item.key, item.title, item.key.rpartition("/")[2]):
                names.setdefault((name or item.key).casefold(), memory.id)
            if item.links:
                linked.append((memory, item))
    for memory, item in linked:
        _relate(memory, item, names, done)
    return done


def _kept(memory: Memory, item: Item, taken: dict[str, Memory], done: Converted) -> Memory | None:
    """The memory without secrets, under an id of its own; None if it repeats another or is not sound."""
    memory, secrets = scrub_memory(memory)
    if (other := taken.get(memory.id)) is not None:
        if other.content == memory.content:
            done.repeated += 1
            return None
        memory = replace(memory, id=f"{memory.id}.{_digest(memory.content)[:8]}")
    if faults := list(record_faults(memory)):
        done.unread.append(Unread(item.place, "; ".join(map(str, faults))))
        return None
    done.secrets += secrets
    taken[memory.id] = memory
    done.memories.append(memory)
    return memory


def _memories(item: Item, terms: Terms) -> Iterator[Memory]:
    """One memory, or several if the text is too long for one."""
    created = item.created_at or item.updated_at or terms.otherwise
    updated = max(created, item.updated_at or created)
    has_ended = item.ended_at is not None and item.ended_at <= terms.now
    valid_from = item.valid_from or created
    if has_ended and item.ended_at is not None:
        updated = max(updated, item.ended_at)
        valid_from = min(valid_from, item.ended_at)
    metadata = _metadata(item, terms)
    chosen = f"{terms.source}.{_plain(item.key)}"
    id = ids.kept_under(chosen, terms.owner, is_everyones=terms.scope == "tenant")
    for number, part in enumerate(cut(item.content), 1):
        yield Memory(
            tenant="default",
            id=id if number == 1 else f"{id}.part-{number}",
            kind=item.kind,
            dimension="relationship" if item.is_relation else DIMENSION_OF[item.kind],
            title=derive_title(item.title or item.hint, part),
            hint=None if item.hint is None else item.hint.strip()[: limits.HINT_CHARACTERS] or None,
            content=part,
            tags=_lines(item.tags, limits.TAG_CHARACTERS, limits.TAGS),
            category=next(iter(_lines((item.category or "",), limits.CATEGORY_CHARACTERS, 1)), None),
            confidence="medium",
            source=terms.source,
            metadata=metadata,
            entities=_lines(item.about, limits.ENTITY_CHARACTERS, limits.ENTITIES),
            scope=terms.scope,
            owner=terms.owner,
            author=terms.owner,
            origin="import",
            created_at=created,
            updated_at=updated,
            valid_from=valid_from,
            valid_to=item.ended_at if has_ended else None,
            status="archived" if has_ended else "active",
            status_reason=f"ended in {terms.source}" if has_ended else None,
        )


def _metadata(item: Item, terms: Terms) -> dict[str, Any]:
    came = {IMPORTED: {"from": terms.source, "key": item.key, "place": item.place}}
    if item.ended_at is not None and item.ended_at > terms.now:
        came[IMPORTED]["ends_at"] = item.ended_at.isoformat()
    if item.links:
        came[RELATIONS_THERE] = [{"name": each.name, "to": each.target} for each in item.links]  # type: ignore[assignment]
    try:
        whole: dict[str, Any] = rules.Json()({**item.metadata, **came})
    except ValueError:
        return came
    return whole


def _relate(memory: Memory, item: Item, names: Mapping[str, str], done: Converted) -> None:
    """An edge for each link. Of names that we do not know the edge is `relates_to`; the metadata has the name."""
    known: set[tuple[str, str]] = set()
    for each in item.links:
        target = names.get(each.target.casefold())
        if target is None:
            done.dangling += 1
            continue
        name = each.name.casefold().replace(" ", "_").replace("-", "_")
        # Only a save here supersedes: the other memory would have to end.
        relation = cast(RelationName, name) if name in RELATIONS and name != "supersedes" else "relates_to"
        if target == memory.id or (relation, target) in known:
            continue
        known.add((relation, target))
        done.relations.append(
            Relation(
                id=str(len(done.relations) + 1),
                source=memory.id,
                relation=relation,
                target=target,
                created_at=memory.created_at,
                created_by=memory.owner,
            )
        )


def cut(text: str) -> Iterator[str]:
    """Parts of a text that each fit into one memory, cut only between characters."""
    raw = text.encode()
    while raw:
        part = raw[: limits.CONTENT_BYTES].decode(errors="ignore")
        yield part
        raw = raw[len(part.encode()) :]


def _lines(given: Iterable[str], longest: int, most: int) -> tuple[str, ...]:
    """Each as one line that is not too long; empty ones and repeated ones left out."""
    lines = (" ".join(each.split())[:longest].strip() for each in given)
    return tuple(dict.fromkeys(line for line in lines if line))[:most]


def _plain(key: str) -> str:
    """The key as part of an id, or its digest where it cannot be one."""
    try:
        if len(key) <= _KEY_CHARACTERS and ids.plain_id(key) == key:
            return key
    except ValueError:
        pass
    return _digest(key)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
