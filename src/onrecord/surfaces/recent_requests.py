"""HOW did this server do in the last hour? Figures for each quarter of a minute, and its slowest requests; in memory
alone, of this process.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Final

EVERY_S: Final = 15
_KEPT: Final = 3_600 // EVERY_S
#: Quicker requests are not worth a look.
_SLOW_S: Final = 0.1
_MOST_SLOW: Final = 500


@dataclass(slots=True)
class Interval:
    """A quarter of a minute: how many requests were answered, how many failed, and how long they took."""

    since: int
    requests: int = 0
    failed: int = 0
    seconds: float = 0.0
    longest: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRequest:
    """A request that took long. What was asked is not kept."""

    at: datetime
    route: str
    method: str
    status: int
    took_s: float
    tenant: str
    user: str
    request: str


class RecentRequests:
    """The figures of the last hour. Threads may share it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._intervals: deque[Interval] = deque(maxlen=_KEPT)
        self._slow: deque[SlowRequest] = deque(maxlen=_MOST_SLOW)
        self._lock = Lock()

    def note(
        self, route: str, method: str, status: int, took_s: float, *, tenant: str, user: str, request: str
    ) -> None:
        now = self._clock()
        since = int(now // EVERY_S) * EVERY_S
        with self._lock:
            if not self._intervals or self._intervals[-1].since != since:
                self._intervals.append(Interval(since))
            last = self._intervals[-1]
            last.requests += 1
            last.failed += status >= 500
            last.seconds += took_s
            last.longest = max(last.longest, took_s)
            if took_s >= _SLOW_S and tenant:
                at = datetime.fromtimestamp(now, UTC)
                self._slow.append(
                    SlowRequest(
                        at=at,
                        route=route,
                        method=method,
                        status=status,
                        took_s=took_s,
                        tenant=tenant,
                        user=user,
                        request=request,
                    )
                )

    def intervals(self) -> list[Interval]:
        """The last hour, oldest first; where nobody asked there is no interval."""
        oldest = self._clock() - _KEPT * EVERY_S
        with self._lock:
            return [each for each in self._intervals if each.since >= oldest]

    def slowest(self, tenant: str, most: int) -> list[SlowRequest]:
        """The slowest requests of a tenant, the slowest first."""
        with self._lock:
            own = [each for each in self._slow if each.tenant == tenant]
        return sorted(own, key=lambda each: -each.took_s)[:most]
