"""HOW does a store of another system come in? Through any door: read, made into memories, compared with what is here, and
imported; or only counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from onrecord.care.foreign import read
from onrecord.care.foreign.converting import Converted, Terms, converted
from onrecord.care.foreign.items import Item, Unread
from onrecord.care.foreign.taking_in import take_in
from onrecord.model.answer import Answer
from onrecord.model.limits import BROWSE_LIMIT, STATUSES, Scope
from onrecord.model.memory import Memory
from onrecord.operation import Progress, unshown

#: How many of those that differ, or could not be read, are named.
_NAMED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought(Answer):
    """What an import from another system brought, or would bring. `new` memories are added, `unchanged` ones are here
    already, and `differing` ones are here and say something else by now: what is here stays.
    """

    source: str
    path: str
    dry_run: bool
    new: int
    unchanged: int
    differing: tuple[str, ...] = ()
    relations: int = 0
    ended: int = 0
    repeated: int = 0
    dangling: int = 0
    secrets: int = 0
    unread: tuple[str, ...] = ()
    unread_in_all: int = 0
    by_category: Mapping[str, int] = field(default_factory=dict)


def bring(
    door: Any,
    source: str,
    path: str,
    *,
    owner: str,
    scope: Scope,
    dry_run: bool,
    progress: Progress = unshown,
) -> Brought:
    """Import what another system remembers. A second time finds nothing new."""
    now = datetime.now(UTC)
    items = _counted(read(source, path), progress)
    terms = Terms(source=source, owner=owner, scope=scope, otherwise=_written(path), now=now)
    came = converted(items, terms)
    here = {memory.id: memory.content for memory in _here(door, source)}
    new = [memory for memory in came.memories if memory.id not in here]
    differing = [each.id for each in came.memories if each.id in here and here[each.id] != each.content]
    related = len(came.relations)
    if not dry_run and (new or came.relations):
        related = _take_in(door, came, new, here)
    return Brought(
        source=source,
        path=path,
        dry_run=dry_run,
        new=len(new),
        unchanged=len(came.memories) - len(new) - len(differing),
        differing=tuple(differing[:_NAMED]),
        relations=related,
        ended=sum(not memory.is_live for memory in new),
        repeated=came.repeated,
        dangling=came.dangling,
        secrets=came.secrets,
        unread=tuple(f"{each.place} {each.reason}" for each in came.unread[:_NAMED]),
        unread_in_all=len(came.unread),
        by_category=dict(Counter(memory.category or "(none)" for memory in new).most_common()),
    )


def _counted(items: Iterable[Item | Unread], progress: Progress) -> Iterator[Item | Unread]:
    for number, item in enumerate(items, 1):
        progress("reading", number, None)
        yield item


def _take_in(door: Any, came: Converted, new: Sequence[Memory], here: Mapping[str, str]) -> int:
    if not new:
        return 0
    fresh = {memory.id for memory in new}
    edges = [each for each in came.relations if {each.source, each.target} & fresh]
    return take_in(door, new, relations=edges).relations


def _here(door: Any, source: str) -> Iterator[Memory]:
    """What came from there before, whatever became of it."""
    after: str | None = None
    while True:
        page = door.browse(sources=[source], statuses=list(STATUSES), limit=BROWSE_LIMIT, after=after)
        yield from page.memories
        after = page.next
        if after is None:
            return


def _written(path: str) -> datetime:
    """When the file was written: the time of what has none of its own."""
    return datetime.fromtimestamp(Path(path).expanduser().stat().st_mtime, UTC)
