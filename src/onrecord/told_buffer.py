"""WHAT was a conversation told already? Digests of what was attached to its answers, in memory alone."""

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
class _Told:
    """What one member of a conversation was told, the last told last; and when the conversation began, where it is known."""

    begun: datetime | None = None
    digests: dict[bytes, None] = field(default_factory=dict)


class ToldBuffer:
    """What the members of conversations were told; safe to share between threads.

    It holds no text and no name. What is dropped for want of room, of the conversations not used for longest, is told
    once more: that is all that a tenant can cost another.
    """

    def __init__(self, most: int = limits.TOLD, of_one: int = limits.TOLD_OF_ONE) -> None:
        self._of_one = of_one
        self._kept: LruCache[bytes, _Told] = LruCache(most, weigh=lambda told: 1 + len(told.digests))
        self._lock = Lock()

    def told(self, member: "Member", texts: Iterable[str]) -> set[str]:
        """Those of some texts that were told before, in exactly these words."""
        with self._lock:
            kept = self._of(member)
            return {text for text in texts if _digest(text) in kept.digests}

    def note(self, member: "Member", texts: Iterable[str]) -> None:
        """Some texts are told now."""
        with self._lock:
            kept = self._of(member)
            kept.begun = member.begun or kept.begun
            for text in texts:
                kept.digests.pop(digest := _digest(text), None)
                kept.digests[digest] = None
            for oldest in list(kept.digests)[: -self._of_one]:
                del kept.digests[oldest]
            self._kept.put(member.key, kept)

    def _of(self, member: "Member") -> _Told:
        kept = self._kept.get(member.key)
        # A conversation that was deleted, or deleted and begun anew, was told nothing.
        return kept if kept is not None and kept.begun in (None, member.begun) else _Told()


@dataclass(frozen=True, slots=True)
class Member:
    """A user in a conversation of a tenant. What one of its members is told, another is told as well."""

    tenant: str
    user: str
    conversation: ConversationKey
    begun: datetime | None = None

    @property
    def key(self) -> bytes:
        return _digest("\n".join((self.tenant, self.user, *self.conversation)))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
