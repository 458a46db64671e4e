"""HOW much is asked, and how quickly is it answered? Metrics for Prometheus, of all workers of a server."""

from typing import Final

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

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_ADVICE: Final = {
    "calls": "Calls of the advisor.",
    "unused": "Calls whose advice was not taken: no reply, or none that can be used.",
    "seconds": "How long they took.",
    "tokens_in": "Tokens that it read.",
    "tokens_out": "Tokens that it wrote.",
    "dollars": "What they cost.",
}


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
            name: Counter(f"onrecord_advice_{name}", told, ("task", "model"), registry=self._registry)
            for name, told in _ADVICE.items()
        }

    def note_advice(self, advised: Advised) -> None:
        """Count a call of the advisor; not for whom it was made."""
        took = {
            "calls": 1.0,
            "unused": float(not advised.applied),
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
