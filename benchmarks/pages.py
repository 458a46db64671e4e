"""HOW much does a page cost beside its operation? Each is asked of the whole server, as a ratio of processor time.

Run it with: python benchmarks/pages.py [MEMORIES]
"""

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from starlette.testclient import TestClient

from onrecord import OnRecord
from onrecord.app import open_server_parts
from onrecord.config import load
from onrecord.surfaces.serving import application

_ROUNDS = 30
_QUESTION = "which region reports revenue late?"


def fill(door: OnRecord, many: int) -> None:
    for number in range(many):
        door.remember(
            f"Note {number}: region {number % 97} reports revenue {number % 13} days late, by rule {number % 1009}.",
            tags=[f"region{number % 97}"],
            alike="keep",
            dedupe=False,
        )


def milliseconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(_ROUNDS):
        started = process_time()
        work()
        times.append((process_time() - started) * 1000)
    return statistics.median(times)


def asked(client: TestClient, method: str, path: str, **body: object) -> Callable[[], object]:
    """A request that must be answered."""

    def send() -> None:
        client.request(method, path, json=body or None).raise_for_status()

    return send


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    config = load(db=str(Path(tempfile.mkdtemp()) / "pages.db"), embedder="none", worker="no")
    parts = open_server_parts(config)
    fill(parts.door, many)
    some = parts.door.browse(limit=1).memories[0].id
    app = application(config, parts, log=lambda event, **told: None)
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client:
        cases = {
            "50 memories": (asked(client, "GET", "/v1/memories"), asked(client, "GET", "/memory")),
            "50 memories of one tag": (
                asked(client, "GET", "/v1/memories?tags=region7"),
                asked(client, "GET", "/memory?tags=region7"),
            ),
            "an answer": (
                asked(client, "POST", "/v1/recall", question=_QUESTION, explain=True),
                asked(client, "GET", f"/?question={_QUESTION}"),
            ),
            "one memory": (
                asked(client, "GET", f"/v1/memories/{some}?background=true"),
                asked(client, "GET", f"/memory/{some}"),
            ),
            "the moments of change": (
                asked(client, "GET", "/v1/moments"),
                asked(client, "GET", "/compare/moments"),
            ),
            "the counts of a list": (
                asked(client, "GET", "/v1/tally?by=kind"),
                asked(client, "GET", "/memory?counts=1"),
            ),
        }
        print(f"{many:,} memories, medians of {_ROUNDS} rounds")
        for name, (operation, page) in cases.items():
            alone, whole = milliseconds(operation), milliseconds(page)
            print(f"{name:24} operation {alone:7.2f} ms   page {whole:7.2f} ms   {whole / alone:5.2f} times")


if __name__ == "__main__":
    main()
