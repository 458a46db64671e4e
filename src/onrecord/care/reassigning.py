"""HOW do memories follow a user whose name has changed? They are given to the new name; their history keeps the old
one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from onrecord.errors import Fault
from onrecord.model import rules
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.limits import SCOPES, STATUSES, Scope
from onrecord.model.memory import Memory, pinned_to
from onrecord.model.request import Request, ask
from onrecord.operation import Call, operation
from onrecord.remember.dry_run import dry_run
from onrecord.store.ports.filters import MemoryFilter
from onrecord.store.ports.records import Writing

#: Under this name the metadata of a memory says whose it was before.
FORMER_OWNER: Final = "former_owner"
#: A memory of a session belongs to its conversation, which stays with the user who began it; a global one belongs to every tenant.
_STAYS: Final[frozenset[Scope]] = frozenset({"session", "global"})
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Reassign(Request):
    """Give all memories of one user to another: of someone whose email has changed, or who has left.

    Memories of a session stay with their conversation. A second call finds nothing left to do, and the reverse call takes
    it back.
    """

    owner: str = ask(rules.NAME, "Whose memories they are.", positional=True)
    to: str = ask(rules.NAME, "Whose they become.", positional=True)
    dry_run: bool = ask(rules.FLAG, "Say how many it would be, and change nothing.", False)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        if self.owner == self.to:
            yield Fault("to", "is the same user; name another")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reassigned(Answer):
    """How many memories changed their owner, and how many of a session stay with their conversation."""

    to: str
    memories: int
    left: int = 0
    #: Nothing was changed.
    dry_run: bool = False


@operation("write", "memory.admin", "POST /reassign")
def reassign(call: Call, ask: Reassign) -> Reassigned:
    call.caller.require_person("Giving memories to another user")
    with dry_run(ask.dry_run) as run, call.writing() as writing:
        moved = sum(_moved(call, ask, writing, memory) for memory in _theirs(ask, writing))
        left = writing.count(_of(ask, ["session"]))
        answer = call.done(writing, Reassigned(to=ask.to, memories=moved, left=left, dry_run=ask.dry_run))
        run.end()
    return answer


def _theirs(ask: Reassign, writing: Writing) -> Iterator[Memory]:
    """The memories of the user; each page holds what is still theirs."""
    wanted = _of(ask, [each for each in SCOPES if each not in _STAYS])
    while page := writing.browse(wanted)[0]:
        yield from page


def _of(ask: Reassign, scopes: list[Scope]) -> MemoryFilter:
    return MemoryFilter(owners=[ask.owner], scopes=scopes, statuses=STATUSES, limit=_AT_ONCE)


def _moved(call: Call, ask: Reassign, writing: Writing, memory: Memory) -> bool:
    before = writing.named(memory.id)
    kept = {name: value for name, value in before.metadata.items() if name != FORMER_OWNER}
    was = before.metadata.get(FORMER_OWNER, before.owner)
    metadata = kept if was == ask.to else {**kept, FORMER_OWNER: was}
    after = pinned_to(replace(before, owner=ask.to, metadata=metadata), before.pinned)
    writing.replace(before, after, call.change("reassign"))
    return True
