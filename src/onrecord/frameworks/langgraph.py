"""HOW does a LangGraph program keep its long-term memory here? `OnRecordStore` is a `BaseStore`.

from onrecord import connect
from onrecord.frameworks.langgraph import OnRecordStore

store = OnRecordStore(connect("memory.db"))
graph = builder.compile(store=store)
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from onrecord.doors import Door
from onrecord.errors import Forbidden, VersionConflict, invalid
from onrecord.frameworks.addressed import Address, Shelf, address_of
from onrecord.model.limits import (
    BROWSE_LIMIT,
    CONTENT_BYTES,
    QUESTION_CHARACTERS,
    RECALL_LIMIT,
    SOURCE_CHARACTERS,
    Scope,
)
from onrecord.model.memory import Memory
from onrecord.model.rules import Json

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )
except ModuleNotFoundError as missing:
    if missing.name not in ("langgraph", "langgraph.store"):
        raise
    raise ModuleNotFoundError(
        "This store needs one more package: pip install 'onrecord[langgraph]'.", name=missing.name
    ) from None

_LOG: Final = logging.getLogger(__name__)
Namespace = tuple[str, ...]
#: What of the value is found by a question, unless the store or a `put` says otherwise: all of it.
_ALL: Final = ("$",)
#: The timer of an item that is read is set this much further, as a share of its time to live, so that not every read writes.
_SLACK: Final = 0.1
_WILDCARD: Final = "*"


class OnRecordStore(BaseStore):
    """A store over a door: each item is a memory, each `put` that changes one a version, and each `delete` retires it.

    Several processes, and users of one tenant, may share a store by its `name`. The embedder is that of the door.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Door,
        *,
        name: str = "langgraph",
        scope: Scope = "tenant",
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        erases: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`index` takes `fields`; `erases` erases what is deleted or expires with its history, instead of retiring it."""
        if extra := sorted({"embed", "dims"} & set(index or ())):
            raise invalid(
                "index",
                f"must not have {' or '.join(extra)}: give the embedder to the door, connect(…, embedder=…)",
            )
        self.ttl_config = ttl
        self._shelf = Shelf(memory, name, scope, needs=("value", "indexed"))
        self._fields: Sequence[str] = (index or {}).get("fields") or _ALL
        self._erases, self._clock = erases, clock
        self._swept_at = clock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do these operations: what reads sees the state before, then the last `put` of each item is done.

        Each `put` is a transaction of its own.
        """
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        self._sweep_if_due()
        found = self._shelf.find(_address(op) for op in asked if isinstance(op, GetOp))
        results: list[Result] = []
        puts: dict[Address, PutOp] = {}
        for op in asked:
            match op:
                case GetOp():
                    results.append(self._got(found.get(_address(op)), op.refresh_ttl))
                case SearchOp():
                    results.append(self._searched(op))
                case ListNamespacesOp():
                    results.append(self._listed(op))
                case PutOp():
                    puts[_address(op)] = op
                    results.append(None)
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        # What cannot be kept is refused before anything is written.
        kept = {address: self._kept(address, op) for address, op in puts.items() if op.value is not None}
        self._delete([address for address, op in puts.items() if op.value is None])
        for address, fields in kept.items():
            self._put(address, fields)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread, while the event loop goes on."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """End what has expired, as far as the caller may; returns how many items."""
        self._swept_at = self._clock()
        return sum(self._ended(each) for each in self._timed() if self._is_expired(each))

    # Reading

    def _got(self, held: Memory | None, refreshes: bool) -> Item | None:
        if held is None or self._is_hidden(held):
            return None
        if refreshes:
            self._refresh(held)
        return Item(**_fields_of(held))

    def _searched(self, op: SearchOp) -> list[SearchItem]:
        if op.limit < 0 or op.offset < 0:
            raise ValueError(f"limit and offset must not be negative (got {op.limit} and {op.offset})")
        wanted = op.offset + op.limit
        found = (
            (held, score)
            for held, score in (self._ranked(op, wanted) if op.query else self._newest(op, wanted))
            if not self._is_hidden(held) and _passes(held.metadata["value"], op.filter)
        )
        chosen = list(islice(found, op.offset, wanted))
        for held, _ in chosen if op.refresh_ttl else ():
            self._refresh(held)
        return [SearchItem(**_fields_of(held), score=score) for held, score in chosen]

    def _newest(self, op: SearchOp, wanted: int) -> Iterator[tuple[Memory, float | None]]:
        page = BROWSE_LIMIT if op.filter else wanted
        return ((held, None) for held in self._shelf.under(op.namespace_prefix, page=page))

    def _ranked(self, op: SearchOp, wanted: int) -> Iterator[tuple[Memory, float | None]]:
        """The items that bear on the question, best first, and after them the others, without a score."""
        told: set[str] = set()
        for held, score in self._recalled(op, wanted):
            told.add(held.id)
            yield held, score
        for held, _ in self._newest(op, wanted + len(told)):
            if held.id not in told:
                yield held, None

    def _recalled(self, op: SearchOp, wanted: int) -> Iterator[tuple[Memory, float]]:
        where = self._shelf.where()
        where["only_owners"] = where.pop("owners")
        after: str | None = None
        while True:
            answer = self._shelf.door.recall(
                # What is longer than a question may be is beyond what an embedder reads.
                (op.query or "")[:QUESTION_CHARACTERS],
                only_tags=[self._shelf.tag("in", op.namespace_prefix)],
                limit=RECALL_LIMIT if op.filter else max(1, min(wanted, RECALL_LIMIT)),
                min_relevance=0.0,
                times="off",
                after=after,
                **where,
            )
            for reason in answer.degraded:
                _LOG.warning("Searched without a part: %s", reason)
            whole = (hit for hit in answer.hits if self._shelf.is_whole(hit.memory))
            yield from ((hit.memory, hit.score) for hit in whole if hit.memory.metadata["indexed"])
            if answer.next is None:
                return
            after = answer.next

    def _listed(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        for each in conditions:
            if each.match_type not in ("prefix", "suffix"):
                raise ValueError(f"Match type {each.match_type} must be prefix or suffix.")
        there = (
            each for each in self._namespaces(conditions) if all(_matches(one, each) for one in conditions)
        )
        depth = op.max_depth
        return sorted({each[:depth] for each in there})[op.offset : op.offset + op.limit]

    def _namespaces(self, conditions: Sequence[MatchCondition]) -> set[Namespace]:
        prefix = max((_literal_head(each) for each in conditions), key=len, default=())
        if not any(map(self._is_hidden, self._timed())):
            tag = self._shelf.tag("in", prefix)
            counted = self._shelf.door.tally("source", tags=[tag], limit=BROWSE_LIMIT, **self._shelf.where())
            told = [self._namespace_of(group.value or "") for group in counted.groups]
            if not counted.omitted and None not in told:
                return {each for each in told if each is not None}
        there = self._shelf.under(prefix)
        return {address_of(each)[:-1] for each in there if not self._is_hidden(each)}

    # Writing

    def _kept(self, address: Address, op: PutOp) -> dict[str, Any]:
        """The fields of the memory that an item becomes."""
        *namespace, key = address
        try:
            value = Json()(op.value)
        except ValueError as reason:
            raise invalid("value", f"of {key!a} {reason}") from None
        paths = self._fields if op.index is None else (op.index or ())
        text = _cut("\n".join(text for path in paths for text in get_text_at_path(value, path)))
        metadata: dict[str, Any] = {"value": value, "indexed": bool(text.strip())}
        tags = []
        if op.ttl is not None:
            metadata |= {"ttl_minutes": op.ttl, "expires_at": self._expiry(key, op.ttl)}
            tags.append(self._ttl_tag)
        return {
            # What is not indexed is called by its name alone, so that no question finds its value.
            "content": text if metadata["indexed"] else _cut("/".join(address)),
            "metadata": metadata,
            "tags": tags,
            "source": self._source(tuple(namespace)),
        }

    def _put(self, address: Address, fields: dict[str, Any]) -> None:
        held = self._shelf.put(address, **fields)
        if held.metadata["value"] != fields["metadata"]["value"]:
            _LOG.warning("Secrets in %s were not kept: each was replaced by [secret:…].", address)

    def _delete(self, addresses: Sequence[Address]) -> None:
        for held in self._shelf.find(addresses).values():
            self._shelf.end(held, "deleted", erases=self._erases)

    # How long an item lives

    @property
    def _ttl_tag(self) -> str:
        return self._shelf.tag("ttl")

    def _timed(self) -> list[Memory]:
        """What has a time to live."""
        return list(self._shelf.under(tag=self._ttl_tag))

    def _ended(self, held: Memory) -> bool:
        try:
            return self._shelf.end_as_read(held, "expired", erases=self._erases)
        except Forbidden as reason:
            # It stays hidden, and someone who may will end it.
            _LOG.warning("Memory %s has expired and was not ended: %s", held.id, reason)
            return False

    def _in(self, minutes: float) -> str:
        return (self._clock() + timedelta(minutes=minutes)).isoformat()

    def _expiry(self, key: str, minutes: float) -> str:
        try:
            # Whoever reads it later sets the timer further, which must not fail then.
            self._in(2 * minutes)
            return self._in(minutes)
        except (OverflowError, TypeError, ValueError):
            raise invalid(
                "ttl", f"of {key!a} must be a number of minutes, less than 3000 years (got {minutes!a})"
            ) from None

    def _is_expired(self, held: Memory) -> bool:
        expires_at = held.metadata.get("expires_at")
        return expires_at is not None and datetime.fromisoformat(expires_at) <= self._clock()

    def _is_hidden(self, held: Memory) -> bool:
        return self._is_expired(held) and (self.ttl_config or {}).get("omit_expired", True)

    def _refresh(self, held: Memory) -> None:
        """Set the timer of an item that was read. Its text stays as it is, and so does the time of its last `put`."""
        minutes = held.metadata.get("ttl_minutes")
        if minutes is None or datetime.fromisoformat(held.metadata["expires_at"]) >= datetime.fromisoformat(
            self._in(minutes)
        ):
            return
        put_at = held.metadata.get("put_at") or held.updated_at.isoformat()
        timer = {"expires_at": self._in(minutes * (1 + _SLACK)), "put_at": put_at}
        try:
            self._shelf.revise(held, metadata={**held.metadata, **timer})
        except VersionConflict:
            # Someone put it or read it meanwhile, which has set the timer too.
            return

    def _sweep_if_due(self) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if minutes is not None and self._clock() >= self._swept_at + timedelta(minutes=minutes):
            self.sweep_ttl()

    # What people read of a namespace

    def _source(self, namespace: Namespace) -> str:
        """The namespace as one line, by which namespaces are counted. No label has a full stop in it."""
        told = f"{self._shelf.name}:{'.'.join(namespace)}"
        is_plain = len(told) <= SOURCE_CHARACTERS and told.isprintable() and told == told.strip()
        return told if is_plain and namespace else self._shelf.tag("ns", namespace)

    def _namespace_of(self, source: str) -> Namespace | None:
        """None if the line does not tell it."""
        head = f"{self._shelf.name}:"
        return tuple(source.removeprefix(head).split(".")) if source.startswith(head) else None


def _address(op: GetOp | PutOp) -> Address:
    return (*op.namespace, str(op.key))


def _fields_of(held: Memory) -> dict[str, Any]:
    *namespace, key = address_of(held)
    put_at = held.metadata.get("put_at")
    return {
        "namespace": tuple(namespace),
        "key": key,
        "value": held.metadata["value"],
        "created_at": held.created_at,
        "updated_at": datetime.fromisoformat(put_at) if put_at else held.updated_at,
    }


def _cut(text: str) -> str:
    return text.encode()[:CONTENT_BYTES].decode(errors="ignore")


def _literal_head(condition: MatchCondition) -> Namespace:
    """The part of a namespace that a condition fixes from its beginning on."""
    if condition.match_type != "prefix":
        return ()
    wild = next(
        (place for place, label in enumerate(condition.path) if label == _WILDCARD), len(condition.path)
    )
    return condition.path[:wild]


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in (_WILDCARD, label) for wanted, label in zip(path, part, strict=True))


def _passes(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    return all(_agrees(_part(value, key), wanted) for key, wanted in (conditions or {}).items())


def _part(value: Any, key: str) -> Any:
    """What stands under a key, or under a path of keys such as `user.name`; None if nothing does."""
    if not isinstance(value, Mapping) or key in value:
        return value.get(key) if isinstance(value, Mapping) else None
    head, _, rest = key.partition(".")
    return _part(value.get(head), rest) if rest else None


def _agrees(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter wants: the same, part by part, or within what its operators say."""
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_compares(value, operator, bound) for operator, bound in wanted.items())
        return isinstance(value, Mapping) and all(
            _agrees(value.get(key), each) for key, each in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        is_list = isinstance(value, list | tuple) and len(value) == len(wanted)
        return is_list and all(map(_agrees, value, wanted))
    return bool(value == wanted)


_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$gt": lambda value, bound: value > bound,
    "$gte": lambda value, bound: value >= bound,
    "$lt": lambda value, bound: value < bound,
    "$lte": lambda value, bound: value <= bound,
}


def _compares(value: Any, operator: str, bound: Any) -> bool:
    if operator == "$eq":
        return bool(value == bound)
    if operator == "$ne":
        return bool(value != bound)
    if operator not in _ORDERS:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return _ORDERS[operator](_as_number(value), _as_number(bound))
    except (TypeError, ValueError):
        # Other than numbers only texts have an order, such as dates.
        return isinstance(value, str) and isinstance(bound, str) and _ORDERS[operator](value, bound)


def _as_number(value: Any) -> int | float:
    """Integers stay as they are, since a float has room for 15 digits."""
    return value if isinstance(value, int) else float(value)
