"""MAY a page of another system show what is known of one system here? A link that its backend signs, for ten minutes
at most.

It is signed with the hash of an API key, so that whoever holds the key signs without asking us, and a revoked key ends
all of its links. The link names the key by its id, never the key itself.
"""

import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import quote, urlencode

from onrecord.access import keys
from onrecord.access.signing import hash_of, is_signature
from onrecord.errors import Unauthenticated
from onrecord.model.caller import Caller
from onrecord.store.ports.store import Store

#: How far ahead the end of a link may lie.
LASTS_AT_MOST: Final = timedelta(minutes=10)
_SECONDS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_REFUSED: Final = "This link is not valid here, or no longer: let the page that holds it make a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedLink:
    """What a link says: the system it is for, the id of the key, its end in seconds since 1970, and the signature."""

    system: str
    key: str
    until: str
    signature: str

    def address(self) -> str:
        """Its path and query."""
        query = urlencode({"key": self.key, "until": self.until, "signature": self.signature})
        return f"/embed/system/{quote(self.system, safe='')}?{query}"


def make(secret: str, system: str, until: datetime) -> EmbedLink:
    """A link for whoever holds this key; `docs/pages.md` says how others make one."""
    id, end = secret.split("_")[1], str(int(until.timestamp()))
    return EmbedLink(system=system, key=id, until=end, signature=_signature(hash_of(secret), id, system, end))


def check(link: EmbedLink, store: Store, now: datetime) -> Caller:
    """The caller of a link, who reads what is about this one system and changes nothing; Unauthenticated if the link
    or its key is not valid, or the key does not read the system.
    """
    if not _SECONDS.fullmatch(link.until):
        raise Unauthenticated(_REFUSED)
    left_s = int(link.until) - now.timestamp()
    if not 0 < left_s <= LASTS_AT_MOST.total_seconds():
        raise Unauthenticated(_REFUSED)
    with store.ledger(writes=False) as ledger:
        known = ledger.keys_named(link.key)
    for key, hash in known:
        if not is_signature(link.signature, _signature(hash, link.key, link.system, link.until)):
            continue
        owner = keys.caller_of(key)
        if keys.is_valid(key, now) and "memory.read" in owner.permissions and owner.reads(link.system):
            return Caller(
                tenant=key.tenant,
                # Nobody's: a fragment shows nothing that is of the owner of the key alone.
                user=f"embed:{key.id}",
                permissions=frozenset({"memory.read"}),
                systems={link.system: "read"},
                actor="agent",
                key=key.id,
            )
    raise Unauthenticated(_REFUSED)


def _signature(key_hash: str, key: str, system: str, until: str) -> str:
    said = "\n".join(("embed", key, system, until))
    return hmac.new(key_hash.encode(), said.encode("utf-8", "surrogatepass"), sha256).hexdigest()
