"""WAS it done already? A write with an `Idempotency-Key` is done once; who sends it again gets the same answer.

What is kept names a memory and its version, not its text: that stays where it can be erased.
"""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

from recollect.errors import Conflict, Fault, Invalid
from recollect.model.wire import to_json
from recollect.service import Operation, Recollect
from recollect.surfaces.rest.host import Host

HEADER: Final = "Idempotency-Key"
#: Printable, no white space at its ends.
SHAPE: Final = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")
_REPEATED: Final = [(b"idempotent-replayed", b"true")]

#: The status and the JSON of an answer.
Told = tuple[int, Any]


def once(
    host: Host,
    door: Recollect,
    operation: Operation,
    key: str,
    sent: tuple[bytes, ...],
    act: Callable[[], Told],
) -> tuple[Told, bool]:
    """Do it unless it was done under this key, and say whether it was."""
    if not SHAPE.fullmatch(key):
        raise Invalid([Fault(HEADER, "must be 1 to 200 printable ASCII characters")])
    caller, fingerprint = door.caller, sha256(b"\n".join(sent)).hexdigest()
    with host.store.ledger(caller.tenant) as ledger:
        claim = ledger.claim(caller.user, key, operation.name, fingerprint, host.clock())
    if claim.state == "different":
        raise Invalid([Fault(HEADER, "was used for another request before; choose a new one")])
    if claim.state == "in progress":
        raise Conflict(
            "The same request is being worked on. Send it again in a moment to see what came of it."
        )
    if claim.state == "answered":
        return (claim.status or 200, _recalled(door, operation, json.loads(claim.body or "{}"))), True
    try:
        status, told = act()
    except BaseException:
        # It has failed and may be sent again.
        with host.store.ledger(caller.tenant) as ledger:
            ledger.drop(caller.user, key)
        raise
    with host.store.ledger(caller.tenant) as ledger:
        ledger.keep(caller.user, key, status, json.dumps(_kept(told), ensure_ascii=False))
    return (status, told), False


def _kept(told: Any) -> Any:
    """An answer without what must not lie about: the text of a memory, and the secret of a key."""
    kept = {name: value for name, value in told.items() if name != "secret"}
    if "memory" in kept:
        kept["memory"] = {"id": told["memory"]["id"], "version": told["memory"]["version"]}
    return kept


def _recalled(door: Recollect, operation: Operation, kept: Any) -> Any:
    """The answer as it was, with the memory as it stood then."""
    if operation.name == "create_key":
        raise Conflict(
            f"This key was made before, and was shown that once: {kept['key']['id']}. "
            "If it did not arrive, revoke it and make another."
        )
    if "memory" not in kept:
        return kept
    wanted = kept["memory"]
    versions = door.history(wanted["id"]).versions
    stood = next((each.memory for each in versions if each.number == wanted["version"]), versions[-1].memory)
    return kept | {"memory": to_json(stood)}
