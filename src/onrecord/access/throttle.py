"""HOW OFTEN may a caller ask? A bucket for each key, or each user without one, that fills evenly.

The buckets are in this process: several servers side by side allow as many times the limit.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from onrecord.errors import TooMany
from onrecord.lru_cache import LruCache
from onrecord.model.caller import Caller

_MOST_CALLERS: Final = 10_000
_MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many requests a caller has a minute, how many are left, and in how many seconds it has all again."""

    limit: int
    remaining: int
    reset: int


@dataclass(slots=True)
class _Bucket:
    """How much is left, and since when it is as it is."""

    left: float
    at: float


class Throttle:
    """Counts requests. Threads may share it; of very many callers those that were quiet the longest are forgotten."""

    def __init__(
        self,
        per_minute: int | None,
        *,
        of_key: Callable[[str], int | None] = lambda key: None,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """`per_minute` holds for everyone, or no one if None; `of_key` gives the lower limit of a key, if it has one."""
        self._per_minute, self._of_key, self._timer = per_minute, of_key, timer
        self._lock = Lock()
        self._buckets: LruCache[tuple[str, ...], _Bucket] = LruCache(_MOST_CALLERS)

    def take(self, caller: Caller) -> Budget | None:
        """Count one request: what is left after it, or None where nothing is limited; TooMany if nothing was left."""
        limit = self._limit(caller)
        if limit is None:
            return None
        with self._lock:
            bucket = self._bucket(caller, limit)
            if bucket.left < 1:
                raise TooMany(math.ceil((1 - bucket.left) * _MINUTE_S / limit))
            bucket.left -= 1
            return Budget(
                limit=limit,
                remaining=int(bucket.left),
                reset=math.ceil((limit - bucket.left) * _MINUTE_S / limit),
            )

    def _limit(self, caller: Caller) -> int | None:
        own = None if caller.key is None else self._of_key(caller.key)
        return min((limit for limit in (own, self._per_minute) if limit is not None), default=None)

    def _bucket(self, caller: Caller, limit: int) -> _Bucket:
        """The caller's bucket as it is now; a fresh one is full."""
        who = ("user", caller.tenant, caller.user) if caller.key is None else ("key", caller.key)
        now = self._timer()
        bucket = self._buckets.get_or_put(who, lambda: _Bucket(left=limit, at=now))
        bucket.left = min(limit, bucket.left + (now - bucket.at) * limit / _MINUTE_S)
        bucket.at = now
        return bucket
