"""WHAT can be learned from two calls? If one failed, and nearly the same one then worked, the difference is worth knowing.

It becomes a proposal, which waits until a person has approved it: an answer of a server is nobody's word.
"""

import json
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from threading import BoundedSemaphore
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from onrecord.catalog.mentions import mentions
from onrecord.catalog.sql_text import tables_of
from onrecord.doors import Door
from onrecord.errors import OnRecordError
from onrecord.surfaces.attach_lookup import request_for
from onrecord.surfaces.proxy.session import CallReply, Session

_LOG: Final = logging.getLogger(__name__)
#: Two calls belong together if so much of their arguments is the same, and so little time lies between them.
_NEAR: Final = 0.6
_WITHIN_S: Final = 600.0
#: So many failures a session may have that no call has mended yet.
_MOST_FAILURES: Final = 20
#: Longer arguments are no variant of anything: they are compared and shown in full.
_LONGEST: Final = 4_000
_LONGEST_ERROR: Final = 500
_MOST_TABLES: Final = 8
#: So many calls may wait to be compared; what comes while as many wait teaches nothing.
_MOST_UNHEARD: Final = 100
#: How long a lesson waits for a store that is still being opened.
_OPENS_S: Final = 30.0
#: Waits so many seconds at most for the door.
WaitForDoor = Callable[[float], Door | None]
_ERROR: Final = re.compile(r"\W*(?:\w+ ){0,2}(?:error|exception)\b", re.IGNORECASE)


class _Failure(NamedTuple):
    tool: str
    arguments: str
    error: str
    at: float


class Lessons:
    """Pairs the calls of each session and saves what it finds, in a thread of its own: no answer waits for it."""

    def __init__(self) -> None:
        self._failures: WeakKeyDictionary[Session, deque[_Failure]] = WeakKeyDictionary()
        self._places = BoundedSemaphore(_MOST_UNHEARD)
        self._hearing = ThreadPoolExecutor(1, thread_name_prefix="onrecord-lessons")

    def note(self, door: WaitForDoor, session: Session, reply: CallReply) -> None:
        """Hear of one more call and its answer."""
        if self._places.acquire(blocking=False):
            heard = self._hearing.submit(self._hear, door, session, reply, time.monotonic())
            heard.add_done_callback(lambda _: self._places.release())

    def close(self) -> None:
        """Wait for what is being compared and saved."""
        self._hearing.shutdown()

    def _hear(self, door: WaitForDoor, session: Session, reply: CallReply, now: float) -> None:
        arguments = reply.request.params.get("arguments")
        if not isinstance(arguments, dict) or not arguments:
            return
        shown = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        if len(shown) > _LONGEST:
            return
        error, tool = _error_of(reply), reply.request.tool
        failures = self._failures.setdefault(session, deque(maxlen=_MOST_FAILURES))
        if error is not None:
            failures.append(_Failure(tool, shown, error, now))
            return
        mended = [
            each
            for each in failures
            if each.tool == tool and now - each.at <= _WITHIN_S and _is_near(each.arguments, shown)
        ]
        for each in mended:
            failures.remove(each)
        if mended:
            _propose(door, mended[-1], shown, arguments)


def _error_of(reply: CallReply) -> str | None:
    """What went wrong; None if the call worked."""
    if reply.result is None:
        message = reply.error.get("message") if isinstance(reply.error, dict) else reply.error
        return str(message)[:_LONGEST_ERROR]
    answer = request_for({}, {"content": [], **reply.result})["answer"]
    said = "\n".join(each for each in answer if isinstance(each, str))
    # Many servers answer with the text of an error, and do not say that it is one.
    return said[:_LONGEST_ERROR] if reply.result.get("isError") or _ERROR.match(said) else None


def _is_near(failed: str, worked: str) -> bool:
    if failed == worked:
        # The same call works now: that was the server's fault, and says nothing about calls.
        return False
    matcher = SequenceMatcher(None, failed, worked, autojunk=False)
    return matcher.quick_ratio() >= _NEAR and matcher.ratio() >= _NEAR


def _propose(
    wait_for_door: WaitForDoor, failure: _Failure, worked: str, arguments: Mapping[str, Any]
) -> None:
    content = (
        f"A call of the tool `{failure.tool}` failed, and this one worked instead.\n\n"
        # A server words the error: in one line, it cannot pass for one of ours.
        f"Failed: {failure.arguments}\nWith: {json.dumps(failure.error, ensure_ascii=False)}\nWorked: {worked}"
    )
    sql = [each.sql for each in mentions(arguments).found if each.sql is not None]
    tables = dict.fromkeys(".".join(table) for each in sql for table in tables_of(each))
    door = wait_for_door(_OPENS_S)
    if door is None:
        _LOG.warning("A lesson from two calls could not be proposed: the store is not open")
        return
    try:
        door.remember(
            content,
            kind="learning",
            title=f"How to call {failure.tool}"[:120],
            entities=list(tables)[:_MOST_TABLES],
            unknown="keep",
            tags=["tool-call"],
            review=True,
        )
    except OnRecordError as problem:
        _LOG.warning("A lesson from two calls could not be proposed: %s", problem)
    except Exception as problem:
        _LOG.warning("A lesson from two calls could not be proposed: %s", type(problem).__name__)
