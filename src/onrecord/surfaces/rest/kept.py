"""WHEN is a question not asked again? While nothing has changed, for a second, by the same caller, word for word.

Agents that work side by side ask the same things at once, and so does a client that tries again. What is kept is the
reply as it was sent, so nobody can change it; whether anything was written since is looked up in the store each time.
Most questions come once, so only one that comes again within the second is kept: the others cost no look.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from onrecord.model.caller import Caller
from onrecord.surfaces.rest.problems import Reply

#: A memory may begin or cease to be true without anyone writing; nobody is told so later than this.
SECONDS: Final = 1.0
_MOST: Final = 1_000
_LARGEST_BYTES: Final = 64 * 1024

Stamp = tuple[object, ...]


class Kept(NamedTuple):
    """A reply, the state of the store it was made from, and when."""

    reply: Reply
    stamp: Stamp
    at: float


class KeptReplies:
    """The replies of the last second; of many the latest. Threads may share it."""

    def __init__(self, *, timer: Callable[[], float] = monotonic) -> None:
        self._timer = timer
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._asked: OrderedDict[Hashable, float] = OrderedDict()
        self._turn = Lock()

    def comes_again(self, asked: Hashable) -> bool:
        """Take note of a question; whether it came within the last second already."""
        now = self._timer()
        with self._turn:
            before = self._asked.pop(asked, None)
            self._asked[asked] = now
            if len(self._asked) > _MOST:
                self._asked.popitem(last=False)
        return before is not None and now - before <= SECONDS

    def find(self, asked: Hashable) -> Kept | None:
        with self._turn:
            kept = self._kept.get(asked)
            if kept is None or self._timer() - kept.at > SECONDS:
                return None
            return kept

    def keep(self, asked: Hashable, reply: Reply, stamp: Stamp) -> None:
        if len(reply.body) > _LARGEST_BYTES:
            return
        with self._turn:
            self._kept[asked] = Kept(reply, stamp, self._timer())
            self._kept.move_to_end(asked)
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)


def question_of(caller: Caller, body: bytes) -> Hashable:
    """Who asks what: all that an answer depends on, apart from the store and the clock."""
    return (
        caller.tenant,
        caller.user,
        caller.personas,
        caller.rules,
        frozenset(caller.systems.items()),
        caller.conversation,
        caller.run,
        caller.actor,
        body,
    )
