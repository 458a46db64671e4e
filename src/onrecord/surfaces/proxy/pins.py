"""HAS a tool changed since a person came to trust it? Its description is an instruction to a model, and any server may
change it on any day.

What a server says of its tools is kept by hash when it is first heard. Whatever differs later is reported, until a
person accepts it.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final

from onrecord.private_files import make_folder, replacing
from onrecord.providers.scrubber import scrub

_LOG: Final = logging.getLogger(__name__)
#: How much of a description a report shows.
_SHOWN: Final = 300
_HOW: Final = "Read it; if you trust it, start the proxy once with --accept-tools."


class Pins:
    """What one server said of its tools, kept in a file of its own."""

    def __init__(self, folder: Path, server: str, *, accepts: bool = False) -> None:
        # What begins it may hold a password, and with another one it is the same server.
        self._server, self._accepts = scrub(server).text, accepts
        self._file = folder / f"{sha256(self._server.encode()).hexdigest()[:32]}.json"
        self._lock = Lock()
        self._kept = self._read()
        #: Tools of a server that was never heard before are taken as they are.
        self._is_first = not self._kept
        self._reported: set[tuple[str, str]] = set()

    def compare(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Report what differs from what is kept, and keep what was not known."""
        with self._lock:
            before = dict(self._kept)
            for tool in tools:
                self._look_at(str(tool.get("name")), tool)
            if self._kept != before:
                self._write()

    def _look_at(self, name: str, tool: Mapping[str, Any]) -> None:
        pin, kept = _pin(tool), self._kept.get(name)
        if kept is not None and kept["sha256"] == pin["sha256"]:
            return
        if self._accepts or (self._is_first and kept is None):
            self._kept[name] = pin
            return
        if (name, pin["sha256"]) in self._reported:
            return
        self._reported.add((name, pin["sha256"]))
        if kept is None:
            _LOG.warning("The server has a new tool %r: %s\n%s", name, _cut(pin["description"]), _HOW)
        else:
            _LOG.warning(
                "The tool %r is not what it was on %s.\n  then: %s\n  now:  %s\n%s",
                *(name, kept["since"], _cut(kept["description"]), _cut(pin["description"]), _HOW),
            )

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            kept: dict[str, dict[str, str]] = json.loads(self._file.read_text("utf-8"))["tools"]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as problem:
            _LOG.warning("%s cannot be read (%s); the tools are taken as they are now.", self._file, problem)
            return {}
        return kept

    def _write(self) -> None:
        try:
            make_folder(self._file.parent)
            with replacing(self._file) as partial:
                # In ASCII: what it says may hold what no encoding has.
                text = json.dumps({"server": self._server, "tools": self._kept}, indent=1)
                partial.write_text(text + "\n", "utf-8")
        except OSError as problem:
            _LOG.warning("The hashes of the server's tools could not be saved: %s", problem)


def _pin(tool: Mapping[str, Any]) -> dict[str, str]:
    canonical = json.dumps(tool, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return {
        "sha256": sha256(canonical.encode()).hexdigest(),
        "description": str(tool.get("description") or ""),
        "since": datetime.now(UTC).date().isoformat(),
    }


def _cut(text: str) -> str:
    """One line without control characters: it comes from a server that may not be trusted."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
