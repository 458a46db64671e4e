"""WHAT is kept while there is room? The values used last; the one not used for longest goes first."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Values by key, up to a total weight; threads may share it.

    Each value weighs one unless `weigh` says otherwise. A caller that lets a value grow must call `weigh_again`. The
    value used last stays, however much it weighs.
    """

    def __init__(self, most: int, weigh: Callable[[Value], int] = lambda value: 1) -> None:
        self._most, self._weigh = most, weigh
        #: Each value with its weight; the least recently used comes first.
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        # Counted as values come and go, since there may be very many.
        self._weight = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """What all of them weighed when they were last weighed."""
        return self._weight

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def get_or_put(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of the key, made if there is none. Every thread that asks gets the same value."""
        with self._lock:
            if key not in self._kept:
                self._put(key, make())
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._put(key, value)

    def weigh_again(self, key: Key) -> None:
        """Weigh a value again after it has grown, if it is still here."""
        with self._lock:
            if key in self._kept:
                self._put(key, self._kept[key][0])

    def pop(self, key: Key) -> Value | None:
        with self._lock:
            value, weight = self._kept.pop(key, (None, 0))
            self._weight -= weight
            return value

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._weight = 0

    def _put(self, key: Key, value: Value) -> None:
        weight = self._weigh(value)
        self._weight += weight - (self._kept[key][1] if key in self._kept else 0)
        self._kept[key] = value, weight
        self._kept.move_to_end(key)
        while len(self._kept) > 1 and self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
