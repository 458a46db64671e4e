"""HOW OFTEN may a caller ask? A bucket for each key, or for each user without one, fills evenly.

The buckets are in this process: several servers side by side multiply the limit.
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
    """How many requests a minute a caller has, how many are left, and in how many seconds all are back."""

    limit: int
    remaining: int
    reset: int


@dataclass(slots=True)
class _Bucket:
    """How much is left, and at which time."""

    left: float
    at: float


class Throttle:
    """Counts requests. Threads may share it; of very many callers, those quiet for longest are forgotten."""

    def __init__(
        self,
        per_minute: int | None,
        *,
        of_key: Callable[[str], int | None] = lambda key: None,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """`per_minute` holds for everyone, or None for no limit; `of_key` gives the lower limit of a key, if it has
        one.
        """
        self._per_minute, self._of_key, self._timer = per_minute, of_key, timer
        self._lock = Lock()
        self._buckets: LruCache[tuple[str, ...], _Bucket] = LruCache(_MOST_CALLERS)

    def take(self, caller: Caller) -> Budget | None:
        """Count one request; returns what is left, or None without a limit. TooMany if nothing was left."""
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
        """The caller's bucket now; a new one is full."""
        who = ("user", caller.tenant, caller.user) if caller.key is None else ("key", caller.key)
        now = self._timer()
        bucket = self._buckets.get_or_put(who, lambda: _Bucket(left=limit, at=now))
        bucket.left = min(limit, bucket.left + (now - bucket.at) * limit / _MINUTE_S)
        bucket.at = now
        return bucket
