"""HOW OFTEN may a caller ask? A bucket for each key, or for each user without one, fills evenly."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from onrecord.errors import TooMany
from onrecord.lru_cache import LruCache
from onrecord.model.caller import Caller

_MOST_CALLERS: Final = 10_000
_MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many requests a minute a caller has, how many are left, and in how many seconds all are back."""

    limit: int
    remaining: int
    reset: int


class Buckets(Protocol):
    """What is left to each caller. A fresh bucket is full, and each fills evenly within a minute."""

    def take(self, who: tuple[str, ...], limit: int) -> float:
        """What is left after one request; less than 0, by what is lacking, if there was not enough: then nothing is taken."""

    def close(self) -> None: ...


@dataclass(slots=True)
class _Bucket:
    """How much is left, and at which time."""

    left: float
    at: float


class OwnBuckets:
    """Buckets of this process alone: of several side by side each allows the limit. Threads may share it; of very many
    callers those that were quiet the longest are forgotten."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer, self._lock = timer, Lock()
        self._buckets: LruCache[tuple[str, ...], _Bucket] = LruCache(_MOST_CALLERS)

    def take(self, who: tuple[str, ...], limit: int) -> float:
        with self._lock:
            now = self._timer()
            bucket = self._buckets.get_or_put(who, lambda: _Bucket(left=limit, at=now))
            bucket.left = min(limit, bucket.left + (now - bucket.at) * limit / _MINUTE_S)
            bucket.at = now
            left = bucket.left - 1
            if left >= 0:
                bucket.left = left
            return left

    def close(self) -> None:
        """There is nothing to close."""


class Throttle:
    """Counts requests."""

    def __init__(
        self,
        per_minute: int | None,
        *,
        of_key: Callable[[str], int | None] = lambda key: None,
        buckets: Buckets | None = None,
    ) -> None:
        """`per_minute` holds for everyone, or None for no limit; `of_key` gives the lower limit of a key, if it has
        one.
        """
        self._per_minute, self._of_key = per_minute, of_key
        self._buckets = buckets or OwnBuckets()

    def take(self, caller: Caller) -> Budget | None:
        """Count one request; returns what is left, or None without a limit. TooMany if nothing was left."""
        limit = self._limit(caller)
        if limit is None:
            return None
        who = ("user", caller.tenant, caller.user) if caller.key is None else ("key", caller.key)
        left = self._buckets.take(who, limit)
        if left < 0:
            raise TooMany(math.ceil(-left * _MINUTE_S / limit))
        return Budget(limit=limit, remaining=int(left), reset=math.ceil((limit - left) * _MINUTE_S / limit))

    def close(self) -> None:
        self._buckets.close()

    def _limit(self, caller: Caller) -> int | None:
        own = None if caller.key is None else self._of_key(caller.key)
        return min((limit for limit in (own, self._per_minute) if limit is not None), default=None)
