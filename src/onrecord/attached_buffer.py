"""WHICH memories did a conversation get already? Digests of what was attached to tool answers, held in memory only."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from threading import Lock
from typing import Final

from onrecord.lru_cache import LruCache
from onrecord.model import limits
from onrecord.model.workspace import ConversationKey

_DIGEST_BYTES: Final = 16


@dataclass(slots=True)
class _Attached:
    """Digests of what one member got, the latest last; and when the conversation began, if that is known."""

    begun: datetime | None = None
    digests: dict[bytes, None] = field(default_factory=dict)


class AttachedBuffer:
    """What was attached for each member of a conversation; threads may share it.

    It holds digests, and neither texts nor names. If it is full, it drops the conversations not used for longest; a
    memory that it dropped is attached once more, and that is all that one tenant can do to another.
    """

    def __init__(
        self, most: int = limits.ATTACHED_DIGESTS, of_one: int = limits.ATTACHED_DIGESTS_OF_ONE
    ) -> None:
        self._of_one = of_one
        self._kept: LruCache[bytes, _Attached] = LruCache(most, weigh=lambda each: 1 + len(each.digests))
        self._lock = Lock()

    def attached_before(self, member: "Member", texts: Iterable[str]) -> set[str]:
        """Those of the texts that this member got before, word for word."""
        with self._lock:
            kept = self._of(member)
            return {text for text in texts if _digest(text) in kept.digests}

    def note(self, member: "Member", texts: Iterable[str]) -> None:
        """Note that this member gets these texts now."""
        with self._lock:
            kept = self._of(member)
            kept.begun = member.begun or kept.begun
            for text in texts:
                kept.digests.pop(digest := _digest(text), None)
                kept.digests[digest] = None
            for oldest in list(kept.digests)[: -self._of_one]:
                del kept.digests[oldest]
            self._kept.put(member.key, kept)

    def _of(self, member: "Member") -> _Attached:
        kept = self._kept.get(member.key)
        # Nothing was attached yet to a conversation that was deleted, or deleted and begun again.
        return kept if kept is not None and kept.begun in (None, member.begun) else _Attached()


@dataclass(frozen=True, slots=True)
class Member:
    """A user in a conversation of a tenant. Each member gets a memory once, whatever the others got."""

    tenant: str
    user: str
    conversation: ConversationKey
    begun: datetime | None = None

    @property
    def key(self) -> bytes:
        return _digest("\n".join((self.tenant, self.user, *self.conversation)))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
