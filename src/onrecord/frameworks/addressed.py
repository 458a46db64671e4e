"""WHICH memory stands at an address? At most one live memory for each, found by tags, whatever the address looks like.

An address is a tuple of texts, such as a namespace with a key, or the parts of a path. What a framework keeps under one
address is one memory: replacing it makes a version, removing it retires it, and what comes there later is a new memory.
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from onrecord.doors import Door
from onrecord.errors import Conflict, Forbidden, NotFound, invalid
from onrecord.model import ids
from onrecord.model.limits import BROWSE_LIMIT, STATUSES, TAGS, Scope, Status
from onrecord.model.memory import Memory
from onrecord.remember.remember import Remembered

_LOG: Final = logging.getLogger(__name__)
Address = tuple[str, ...]

#: For everyone of the tenant, or for one user.
SHELF_SCOPES: Final[tuple[Scope, ...]] = ("tenant", "user")
_LIVE: Final[tuple[Status, ...]] = ("active", "stale")
_ENDED: Final[tuple[Status, ...]] = tuple(each for each in STATUSES if each not in _LIVE)
_ADDRESS: Final = "address"
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,23}")
_TRIES: Final = 30
#: The tags of a memory beside those of the prefixes of its address: where it is, and one of its keeper.
_OTHER_TAGS: Final = 2


class Shelf:
    """The memories of one keeper, such as a store of a framework, in one scope."""

    def __init__(self, door: Door, name: str, scope: Scope, needs: Sequence[str] = ()) -> None:
        """`needs` are the keys of the metadata that each of its memories has."""
        if scope not in SHELF_SCOPES:
            raise invalid("scope", f"must be one of {', '.join(SHELF_SCOPES)} (got {scope!a})")
        if not _NAME.fullmatch(name):
            raise invalid("name", f"must be up to 24 of a-z, 0-9, _ and -, from a letter on (got {name!a})")
        self.door, self.name, self.scope = door, name, scope
        self._needs = needs
        self._owners: tuple[str, ...] | None = None if scope == "user" else ()

    # Names

    def tag(self, word: str, address: Iterable[str] = ()) -> str:
        """A tag that nothing but this address has in this keeper and scope."""
        told = json.dumps([self.scope, *address])
        return f"{self.name}.{word}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"

    def tags(self, address: Address, *more: str) -> list[str]:
        """What a memory at an address is found by: the address, and each of its prefixes."""
        if len(address) > TAGS - _OTHER_TAGS:
            raise invalid("address", f"must have at most {TAGS - _OTHER_TAGS} parts (has {len(address)})")
        within = [self.tag("in", address[:depth]) for depth in range(len(address))]
        return [self.tag("at", address), *within, *more]

    def _id(self, address: Address, number: int) -> str:
        return f"{self.tag('id', address).replace(':', '.')}.{number}"

    # Reading

    def where(self) -> dict[str, Any]:
        """The filter for what is live in this scope. An admin sees what others keep for themselves; it is not ours."""
        if self._owners is None:
            # Nothing is saved by this; it tells who we are at a server, too.
            tried = self.door.remember("Whose is this?", scope="user", alike="keep", dry_run=True)
            self._owners = (tried.memory.owner,)
        return {"scopes": [self.scope], "statuses": _LIVE, "owners": self._owners}

    def find(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """The live memory at each of these addresses, where there is one."""
        found: dict[Address, Memory] = {}
        wanted = [self.tag("at", each) for each in dict.fromkeys(addresses)]
        for start in range(0, len(wanted), TAGS):
            at = wanted[start : start + TAGS]
            page = self.door.browse(tags=at, limit=BROWSE_LIMIT, **self.where())
            found |= {address_of(each): each for each in page.memories if self.is_whole(each)}
        return found

    def under(
        self, prefix: Address = (), *, tag: str | None = None, page: int = BROWSE_LIMIT
    ) -> Iterator[Memory]:
        """The live memories whose address begins so, last updated first; with a tag of the keeper, those that have it."""
        after: str | None = None
        while True:
            told = self.door.browse(
                tags=[tag or self.tag("in", prefix)],
                limit=max(1, min(page, BROWSE_LIMIT)),
                after=after,
                **self.where(),
            )
            yield from filter(self.is_whole, told.memories)
            if told.next is None:
                return
            after = told.next

    def is_whole(self, held: Memory) -> bool:
        """Whether this is as a keeper writes it. Anyone who may write may give its tags to another, or empty its metadata."""
        address = held.metadata.get(_ADDRESS)
        is_named = isinstance(address, list) and all(isinstance(part, str) for part in address)
        if is_named and all(each in held.metadata for each in self._needs):
            return self.tag("at", address_of(held)) in held.tags
        _LOG.warning(
            "Memory %s has the tags of %s without what it keeps; it is left out.", held.id, self.name
        )
        return False

    # Writing

    def put(self, address: Address, content: str, **fields: Any) -> Memory:
        """Keep this at the address, instead of what is there; whoever comes last is right."""
        number, id = 0, self._id(address, 0)
        for _ in range(_TRIES):
            try:
                return _kept(self._remember(address, content, id, fields))
            except Conflict:
                # What had this id has ended.
                held = self.find([address]).get(address)
                if held is not None:
                    id = ids.exactly(held.id)
                    continue
                ended = self._ended_at(address)
                # Where some were erased, more numbers are used than are counted.
                is_skipped = id == self._id(address, number) and ended <= number
                number = number + 1 if is_skipped else ended
                id = self._id(address, number)
        raise _busy(address)

    def create(self, address: Address, content: str, **fields: Any) -> Memory | None:
        """Keep this at the address, or None if something is there."""
        if self.find([address]):
            return None
        saved = _kept(self._remember(address, content, None, fields))
        there = self.door.browse(tags=[self.tag("at", address)], **self.where()).memories
        # The store gives numbers in the order in which it writes, so of several that came at once one was first.
        if any(_number(each) < _number(saved) for each in there):
            self.end(saved, "another was created first")
            return None
        return saved

    def revise(self, held: Memory, **changes: Any) -> Memory:
        """Change what was read; VersionConflict if someone else has changed it since."""
        revised = self.door.revise(ids.exactly(held.id), expected_version=held.version, **changes)
        if revised.proposal is not None or revised.rejected:
            _refuse_waiting(held.id)
        return revised.memory

    def move(self, held: Memory, to: Address, *tags: str, **changes: Any) -> Memory | None:
        """Put what was read at another address, with its id and versions; None if something came there meanwhile."""
        metadata = {**held.metadata, _ADDRESS: list(to)}
        moved = self.revise(held, tags=[*self.tags(to), *tags], metadata=metadata, **changes)
        page = self.door.browse(tags=[self.tag("at", to)], limit=2, **self.where())
        if len(page.memories) > 1:
            # Only where it is goes back, so that an edit which someone made meanwhile stays.
            back = {name: getattr(held, name) for name in changes}
            self.door.revise(ids.exactly(held.id), tags=held.tags, metadata=held.metadata, **back)
            return None
        return moved

    def end(self, held: Memory, reason: str, *, erases: bool = False) -> bool:
        """Retire it, or erase it with its history; false if it had ended before."""
        if not erases:
            return self._retired(held, reason) is not None
        try:
            gone = self.door.forget(ids.exactly(held.id))
        except NotFound:
            return False
        if gone.proposal is not None or gone.rejected:
            _refuse_waiting(held.id)
        return gone.versions > 0

    def end_as_read(self, held: Memory, reason: str, *, erases: bool = False) -> bool:
        """End it, unless someone has put something there since it was read: that is kept, as a new memory."""
        ended = self._retired(held, reason)
        if ended is None:
            return False
        if ended.version == held.version + 1:
            return not erases or self.end(ended, reason, erases=True)
        address = address_of(ended)
        if address not in self.find([address]):
            more = [each for each in ended.tags if each not in self.tags(address)]
            self.put(address, ended.content, tags=more, metadata=dict(ended.metadata), source=ended.source)
        return False

    def _retired(self, held: Memory, reason: str) -> Memory | None:
        """What was retired, as it was then; None if it had ended before."""
        try:
            ended = self.door.retire(ids.exactly(held.id), reason=reason)
        except NotFound:
            return None
        if ended.proposal is not None or ended.rejected:
            _refuse_waiting(held.id)
        return ended.memory if ended.changed else None

    def _remember(
        self, address: Address, content: str, id: str | None, fields: Mapping[str, Any]
    ) -> Remembered:
        given = dict(fields)
        more: Sequence[str] = given.pop("tags", ())
        metadata = {_ADDRESS: list(address), **given.pop("metadata", {})}
        tags = [*self.tags(address), *more]
        if id is not None:
            given["id"] = id
        saved = self.door.remember(
            content, tags=tags, dedupe=False, metadata=metadata, alike="keep", scope=self.scope, **given
        )
        if saved.outcome in ("proposed", "rejected"):
            _refuse_waiting(saved.memory.id)
        if saved.scrubbed and (address_of(saved.memory) != address or set(tags) - set(saved.memory.tags)):
            # Nobody would find it there again.
            self.end(saved.memory, "its address holds a secret")
            raise invalid("address", "holds what looks like a secret, which is not kept; choose another")
        return saved

    def _ended_at(self, address: Address) -> int:
        """How many have ended at this address, which is the number of the next. All who put it there at once count the same."""
        told = self.door.browse(
            tags=[self.tag("at", address)], limit=1, count=True, **{**self.where(), "statuses": _ENDED}
        )
        return told.total or 0


def address_of(memory: Memory) -> Address:
    return tuple(memory.metadata[_ADDRESS])


def _number(held: Memory) -> int:
    return ids.whole_number(held.id) or 0


def _kept(saved: Remembered) -> Memory:
    if saved.memory.waits:
        _refuse_waiting(saved.memory.id)
    return saved.memory


def _busy(address: Address) -> Conflict:
    return Conflict(f"What is kept at {address} was removed again and again meanwhile. Try it once more.")


def _refuse_waiting(id: str) -> NoReturn:
    raise Forbidden(
        f"This waits for a person to approve it (memory {id}), so it is not in effect: what an agent or an unattended run may "
        "change by itself depends on who wrote it and whom it is for."
    )
