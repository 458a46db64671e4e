"""DOES an entry work? It is started as the host will start it, and asked for its tools; a server elsewhere through a bridge."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from onrecord.errors import StoreUnavailable

_WITHIN_S: Final = 60.0
_HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "onrecord install", "version": "1"},
}
_ASKED: Final = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)


def tools_of_entry(entry: Mapping[str, Any], url: str | None = None, key: str | None = None) -> int:
    """How many tools it offers; StoreUnavailable with the reason if none answer. A host asks the server at `url` itself, with
    `key`, if its entry starts no program.
    """
    if "command" in entry:
        command, environment = [entry["command"], *entry.get("args", ())], dict(entry.get("env", {}))
    else:
        command = ["onrecord", "mcp", "--url", str(url)]
        environment = {} if key is None else {"ONRECORD_KEY": key}
    if command[0] == "onrecord":
        command[:1] = [sys.executable, "-m", "onrecord"]
    try:
        with subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as started:
            return _tools(started)
    except OSError as problem:
        raise StoreUnavailable(f"{command[0]} cannot be started: {problem.strerror or problem}.") from None


def _tools(started: "subprocess.Popen[str]") -> int:
    alarm = threading.Timer(_WITHIN_S, started.kill)
    alarm.start()
    assert started.stdin is not None
    assert started.stdout is not None
    assert started.stderr is not None
    try:
        for each in _ASKED:
            started.stdin.write(json.dumps(each) + "\n")
            started.stdin.flush()
        for line in started.stdout:
            answer = json.loads(line)
            if "error" in answer:
                raise StoreUnavailable(f"The entry starts, and refuses: {answer['error'].get('message')}")
            if answer.get("id") == 2:
                return len(answer["result"]["tools"])
        said = started.stderr.read().strip()[-500:]
        raise StoreUnavailable(f"The entry does not answer. {said}".strip())
    except (BrokenPipeError, ValueError):
        raise StoreUnavailable("The entry does not speak the protocol.") from None
    finally:
        alarm.cancel()
        started.kill()
