"""HOW OFTEN may a caller ask? As often as its limit allows: that of its key, or of its user if it has no key."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from onrecord.errors import TooMany
from onrecord.lru_cache import LruCache
from onrecord.model.caller import Caller
from onrecord.model.rates import MINUTE_S, left_after_request

_MOST_CALLERS: Final = 10_000
#: How many attempts to sign in a minute has, for one address and for all together.
_ATTEMPTS, _ATTEMPTS_IN_ALL = 10, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A caller's requests per minute, how many are left now, and after how many seconds all are left again."""

    limit: int
    remaining: int
    reset: int


class Buckets(Protocol):
    """Counts how many requests each caller has left. `left_after_request` says how."""

    def take(self, who: tuple[str, ...], limit: int) -> float:
        """Take one request and return how many are left. If there is not enough, take nothing and return less than 0."""

    def close(self) -> None: ...


class OwnBuckets:
    """The buckets of this process alone; several processes each allow the whole limit. Threads may share it.

    It remembers a bounded number of callers, and drops those whose last request is the longest ago.
    """

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer, self._lock = timer, Lock()
        self._buckets: LruCache[tuple[str, ...], tuple[float, float]] = LruCache(_MOST_CALLERS)

    def take(self, who: tuple[str, ...], limit: int) -> float:
        with self._lock:
            now = self._timer()
            left = left_after_request(self._buckets.get(who), now, limit)
            if left >= 0:
                self._buckets.put(who, (left, now))
            return left

    def close(self) -> None:
        """Nothing to do: there is no file."""


class Throttle:
    """Counts the requests of each caller, and refuses those above the limit."""

    def __init__(
        self,
        per_minute: int | None,
        *,
        of_key: Callable[[str], int | None] = lambda key: None,
        buckets: Buckets | None = None,
    ) -> None:
        """`per_minute` is the limit of every caller, None for no limit. `of_key` returns the limit of a key or None; the
        lower of the two counts.
        """
        self._per_minute, self._of_key = per_minute, of_key
        self._buckets = buckets or OwnBuckets()

    def take(self, caller: Caller) -> Budget | None:
        """Count one request; returns the budget after it, or None without a limit. TooMany if nothing was left."""
        limit = self._limit(caller)
        if limit is None:
            return None
        who = ("user", caller.tenant, caller.user) if caller.key is None else ("key", caller.key)
        left = self._buckets.take(who, limit)
        if left < 0:
            raise TooMany(math.ceil(-left * MINUTE_S / limit))
        return Budget(limit=limit, remaining=int(left), reset=math.ceil((limit - left) * MINUTE_S / limit))

    def take_attempt(self, address: str) -> None:
        """Count one attempt to sign in from an address; TooMany if there were too many from it, or from everywhere."""
        for who, limit in ((("sign-in", address), _ATTEMPTS), (("sign-in",), _ATTEMPTS_IN_ALL)):
            if (left := self._buckets.take(who, limit)) < 0:
                raise TooMany(math.ceil(-left * MINUTE_S / limit))

    def close(self) -> None:
        self._buckets.close()

    def _limit(self, caller: Caller) -> int | None:
        own = None if caller.key is None else self._of_key(caller.key)
        return min((limit for limit in (own, self._per_minute) if limit is not None), default=None)
