"""WHEN is a provider no longer called? After several failures in a row, for a while."""

from collections.abc import Callable
from threading import Lock

from onrecord.errors import ProviderError


class Breaker:
    """Stops calling a provider that failed several times in a row; after a pause it tries one call."""

    def __init__(self, patience: int, pause_s: float, clock: Callable[[], float]) -> None:
        self._patience, self._pause_s, self._clock = patience, pause_s, clock
        self._lock = Lock()
        self._failures = 0
        self._closed_until = 0.0
        self._last = ""

    def check(self, called: str) -> None:
        """ProviderError while it is not to be called. After the pause the first one may try."""
        with self._lock:
            if (paused := self._paused(called)) is not None:
                raise ProviderError(paused)
            if self._failures >= self._patience:
                self._closed_until = (
                    self._clock() + self._pause_s
                )  # the others go on waiting while this one tries

    def paused(self, called: str) -> str | None:
        """Why it is not called now, if it is not; to look changes nothing."""
        with self._lock:
            return self._paused(called)

    def _paused(self, called: str) -> str | None:
        left = self._closed_until - self._clock()
        if self._failures < self._patience or left <= 0:
            return None
        return (
            f"{called} failed {self._failures} times in a row and is not called for another "
            f"{left:.0f} s. The last failure: {self._last}"
        )

    def failed(self, problem: ProviderError) -> None:
        with self._lock:
            self._failures += 1
            self._last = problem.for_all  # whoever asks next may be of another tenant
            self._closed_until = self._clock() + self._pause_s

    def worked(self) -> None:
        with self._lock:
            self._failures = 0
