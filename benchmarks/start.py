"""WHAT does it cost to start? CPU seconds of a process, beside an empty Python and the libraries it needs.

    python benchmarks/start.py

Each figure is the least of several runs, of the process alone: what it used in user and system mode until it ended or,
for `onrecord mcp`, until it had answered. The bytecode is compiled and the store is made before anything is measured.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SAVED = (
    "Revenue is net of refunds.",
    "Orders are counted by the day they were shipped.",
    "The warehouse is closed on Sundays.",
)
COMMAND = [sys.executable, "-m", "onrecord"]
RECALL = [*COMMAND, "recall", "what is revenue", "--recipe", "lexical"]
#: The bars, in seconds of CPU.
BARS = {"--version": 0.25, "recall --recipe lexical": 0.6, "mcp, the first answer": 1.0}
Message = dict[str, Any]


def _request(method: str, parameters: dict[str, Any]) -> Message:
    return {"jsonrpc": "2.0", "id": method, "method": method, "params": parameters}


GREETING: list[Message] = [
    _request(
        "initialize",
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    ),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
SEARCH = {"name": "memory_search", "arguments": {"question": "what is revenue"}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="onrecord-bench-") as folder:
        environment = _environment(Path(folder))
        for text in SAVED:
            _ended([*COMMAND, "remember", text], environment)
        ways: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: _ended([sys.executable, "-c", "pass"], environment),
            "import sqlalchemy": lambda: _ended([sys.executable, "-c", "import sqlalchemy"], environment),
            "import numpy": lambda: _ended([sys.executable, "-c", "import numpy"], environment),
            "import mcp": lambda: _ended([sys.executable, "-c", "import mcp"], environment),
            "--version": lambda: _ended([*COMMAND, "--version"], environment),
            "recall --recipe lexical": lambda: _ended(RECALL, environment),
            "mcp, the first answer": lambda: _answered(GREETING[:1], environment),
            "mcp, tools/list": lambda: _answered([*GREETING, _request("tools/list", {})], environment),
            "mcp, memory_search": lambda: _answered([*GREETING, _request("tools/call", SEARCH)], environment),
        }
        # In turns, so that a busy minute is shared by all.
        seen: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(runs):
            for name, measured in ways.items():
                seen[name].append(measured())
    empty = min(seen["python -c pass"])
    print(f"{'what':<26}{'least':>8}{'median':>8}{'beyond empty':>14}{'bar':>6}")
    for name, times in seen.items():
        bar = f"{BARS[name]:.2f}" if name in BARS else ""
        median = sorted(times)[len(times) // 2]
        print(f"{name:<26}{min(times):>8.3f}{median:>8.3f}{min(times) - empty:>14.3f}{bar:>6}")


def _environment(folder: Path) -> dict[str, str]:
    """No setting of whoever runs this, and bytecode that is kept."""
    unset = ("ONRECORD_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
    return kept | {"ONRECORD_DB": str(folder / "store.db"), "ONRECORD_USER": "ann", "HOME": str(folder)}


def _ended(command: list[str], environment: dict[str, str]) -> float:
    """CPU seconds of a process, from its start to its end."""
    before = _of_children()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return _of_children() - before


def _answered(messages: list[Message], environment: dict[str, str]) -> float:
    """CPU seconds of `onrecord mcp` until every request among the messages is answered."""
    with subprocess.Popen(
        [*COMMAND, "mcp"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
            if "id" in message:
                answer = json.loads(server.stdout.readline())
                assert answer["id"] == message["id"], answer
                assert not answer["result"].get("isError"), answer
        used = _of_process(server.pid)
        server.stdin.close()
    return used


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_process(number: int) -> float:
    """What a process that still runs has used, as Linux counts it."""
    after_name = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
