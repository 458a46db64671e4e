"""HOW much is asked, and how quickly is it answered? Metrics for Prometheus, of all workers of a server."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from onrecord.model.advice import Advised
from onrecord.providers.advising import Advisor, AdvisorState

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_Joined = Literal["livesum", "livemax"]
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_ADVICE: Final = {
    "calls": "Calls of the advisor.",
    "unused": "Calls whose advice was not taken: no reply, or none that can be used.",
    "repeated": "Requests that were sent again after a failure.",
    "seconds": "How long they took.",
    "tokens_in": "Tokens that it read.",
    "tokens_out": "Tokens that it wrote.",
    "dollars": "What they cost.",
}
#: What is so of an advisor now, with its labels, and how the figures of several processes are joined.
_ADVISOR: Final[Mapping[str, tuple[str, tuple[str, ...], _Joined]]] = {
    "busy": ("Calls that are under way.", (), "livesum"),
    "places": ("How many calls may be under way at once.", (), "livesum"),
    "paused": ("Whether a model is not called because it failed.", ("model",), "livemax"),
    "limit": ("Seconds for a call; calls and dollars of a day.", ("of",), "livemax"),
}
_LIMITS: Final = ("timeout_s", "calls_per_day", "calls_per_agent", "dollars_per_day", "dollars_per_agent")


class Metrics:
    """Counts requests by route, method and status; it does not record who asked or what."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "onrecord_requests",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "onrecord_request_seconds",
            "How long they took.",
            ("route", "method"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.in_flight = Gauge(
            "onrecord_requests_in_flight",
            "Requests that are being answered.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )

        self._advice = {
            name: Counter(f"onrecord_advice_{name}", help, ("task", "model"), registry=self._registry)
            for name, help in _ADVICE.items()
        }

        self._advisor = {
            name: Gauge(
                f"onrecord_advisor_{name}", help, labels, registry=self._registry, multiprocess_mode=of
            )
            for name, (help, labels, of) in _ADVISOR.items()
        }
        self._watched: Callable[[], AdvisorState | None] = lambda: None

    def watch_advisor(self, advisor: Advisor) -> None:
        """Count the calls of an advisor, and show its limits and whether it can be asked."""
        self._watched = advisor.state
        advisor.listen(self._note_advice)

    def _look_at_advisor(self) -> None:
        state = self._watched()
        if state is None:
            return
        self._advisor["busy"].set(state.busy)
        self._advisor["places"].set(state.at_once)
        for each in state.models:
            self._advisor["paused"].labels(each.model).set(each.paused is not None)
        limits = {name: getattr(state, name) for name in _LIMITS}
        for name, value in limits.items():
            if value is not None:
                self._advisor["limit"].labels(name).set(value)

    def _note_advice(self, advised: Advised) -> None:
        """Count a call of the advisor; not for whom it was made."""
        self._look_at_advisor()
        took = {
            "calls": 1.0,
            "unused": float(not advised.applied),
            "repeated": float(max(advised.tries - 1, 0)),
            "seconds": advised.ms / 1000,
            "tokens_in": float(advised.tokens_in),
            "tokens_out": float(advised.tokens_out),
            "dollars": advised.cost,
        }
        for name, value in took.items():
            self._advice[name].labels(advised.task, advised.model).inc(value)

    def note(self, route: str, method: str, status: int, took_s: float) -> None:
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(took_s)

    def exposition(self) -> bytes:
        """All metrics, of every worker if there are several."""
        self._look_at_advisor()
        try:
            gathered = CollectorRegistry()
            MultiProcessCollector(gathered)  # type: ignore[no-untyped-call]
        except ValueError:
            # There is no folder for shared figures, so this process is the only one.
            gathered = self._registry
        return generate_latest(gathered)


def forget(worker: int | None) -> None:
    """Drop the gauges of a dead worker; its counters stay."""
    mark_process_dead(worker)  # type: ignore[no-untyped-call]
