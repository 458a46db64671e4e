"""HOW does a check look? In a process of its own, which is ended if it takes too long, and whose words are cleaned.

What comes back is what was seen, or that the query no longer runs there, or that nobody could look.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from onrecord.checks.statement import refuse
from onrecord.model.connections import Connection
from onrecord.model.limits import CHECK_COLUMNS, NAME_CHARACTERS
from onrecord.providers import scrubber

_MEGABYTES: Final[Mapping[str, int]] = {"sqlite": 512, "duckdb": 4_096, "postgresql": 1_024, "folder": 256}
_MOST_SAID: Final = 1024 * 1024
_MOST_WORDS: Final = 300
#: The variables that a process needs to find its libraries; no others are passed on.
_KEPT: Final = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT", "LD_LIBRARY_PATH", "LANG", "TMPDIR")


class CouldNotLook(Exception):
    """Nobody could look: this says nothing about the memory."""


class NoLongerRuns(Exception):
    """What the query or the path names is not there any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a query returned: its columns, how many rows up to a bound and whether there are more, and the first value."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: int
    more: bool
    first: Any


def query_result(connection: Connection, sql: str, rows: int, seconds: int) -> Result:
    """Run one query and count its rows up to a bound."""
    if connection.kind == "folder":
        raise CouldNotLook(f"{connection.name} is a folder; a query needs a connection to a database")
    try:
        refuse(sql, connection.kind)
    except ValueError as reason:
        raise CouldNotLook(f"its SQL {reason}") from None
    address = connection.address if connection.kind == "postgresql" else connection.path
    work = {"kind": connection.kind, "address": address, "sql": sql, "rows": rows}
    found = _done(connection, work, seconds)
    try:
        return Result(
            columns=_names(found["columns"]),
            types=_names(found["types"]),
            rows=int(found["rows"]),
            more=bool(found["more"]),
            first=_clean(found["first"]) if isinstance(found["first"], str) else found["first"],
        )
    except (KeyError, TypeError, ValueError):
        raise CouldNotLook("its process returned no result that can be read") from None


def file_hash(connection: Connection, path: str, lines: Sequence[int], seconds: int) -> str:
    """The hash of a file in a folder, or of some of its lines."""
    if connection.kind != "folder":
        raise CouldNotLook(f"{connection.name} is not a folder")
    work = {"kind": "folder", "address": connection.path, "path": path, "lines": list(lines)}
    return str(_done(connection, work, seconds).get("sha256"))


def _done(connection: Connection, work: dict[str, Any], seconds: int) -> dict[str, Any]:
    work |= {"seconds": seconds, "megabytes": _MEGABYTES[connection.kind]}
    said, code, is_late = _said(json.dumps(work).encode(), seconds)
    if is_late:
        raise CouldNotLook(f"it took longer than {seconds} s and was ended")
    try:
        found = json.loads(said)
        assert isinstance(found, dict)
    except (ValueError, AssertionError):
        raise CouldNotLook(f"its process ended without a result ({_ending(code)})") from None
    if "broken" in found:
        raise NoLongerRuns(_words(connection, str(found["broken"])))
    if "problem" in found:
        raise CouldNotLook(_words(connection, str(found["problem"])))
    return found


def _said(work: bytes, seconds: int) -> tuple[bytes, int, bool]:
    """What the process said, its exit code, and whether it had to be ended."""
    try:
        process = _started()
    except OSError as problem:
        raise CouldNotLook(f"no process could be started ({problem.strerror})") from None
    assert process.stdin is not None
    assert process.stdout is not None
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    # The process ends itself a little later, if this one dies meanwhile.
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        try:
            process.stdin.write(work)
            process.stdin.close()
        except OSError:
            pass  # It has ended already; its exit code says how.
        said = process.stdout.read(_MOST_SAID + 1)
        if len(said) > _MOST_SAID:
            process.kill()
            said = b""
        return said, process.wait(), late.is_set()
    finally:
        timer.cancel()
        process.kill()
        process.stdout.close()
        process.wait()


def _started() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        # -P: no file of the folder that somebody works in is taken for a library.
        [sys.executable, "-P", "-m", "onrecord.checks.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        start_new_session=True,
    )


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _words(connection: Connection, text: str) -> str:
    """What a database said, without the address, its password and other secrets."""
    for secret in _secrets_of(connection):
        text = text.replace(secret, "***")
    for name in _names_in(connection.address):
        # In quotes, as databases write them: a user may be called as any word is.
        text = re.sub(rf"""(?<=["']){re.escape(name)}(?=["'/])""", "***", text)
    return _clean(text)[:_MOST_WORDS].rstrip() or "it failed and gave no reason"


def _names(names: Sequence[object]) -> tuple[str, ...]:
    """The names of columns or types as they can be kept; what a database calls them may be of any length."""
    return tuple(_clean(str(each))[:NAME_CHARACTERS].strip() or "?" for each in names[:CHECK_COLUMNS])


def _secrets_of(connection: Connection) -> list[str]:
    secrets = [connection.address, connection.path]
    try:
        parts = urlsplit(connection.address)
    except ValueError:
        return secrets
    given = [value.partition("=") for value in parts.query.split("&")]
    passwords = [parts.password, *(value for name, _, value in given if "password" in name)]
    for each in filter(None, passwords):
        secrets += [each, unquote(each)]
    return sorted(filter(None, secrets), key=len, reverse=True)


def _names_in(address: str) -> Iterator[str]:
    """The names of the user, the server and the database in an address."""
    try:
        parts = urlsplit(address)
        named = [parts.username, *re.split(r"[,:]", parts.netloc.rpartition("@")[2]), parts.path[1:]]
    except ValueError:
        return
    named += [value.partition("=")[2] for value in parts.query.split("&")]
    yield from filter(None, (unquote(each) for each in named if each))


def _clean(text: str) -> str:
    """A text from outside on one line, without what cannot be stored and without secrets."""
    return scrubber.scrub(on_one_line(text)).text


def on_one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
