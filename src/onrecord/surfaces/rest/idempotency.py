"""WAS it done already? A write with an `Idempotency-Key` is done once; who sends it again gets the same answer.

What is kept names a memory and its version, a conversation or a file, and not what stands in it: that stays where it
can be erased.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from starlette.datastructures import Headers

from onrecord.errors import Conflict, Fault, Invalid
from onrecord.model.limits import Permission
from onrecord.model.memory import Memory
from onrecord.model.wire import to_json
from onrecord.operation import Operation
from onrecord.service import OnRecord
from onrecord.surfaces.rest.request_runner import RequestRunner

HEADER: Final = "Idempotency-Key"
#: Printable, no white space at its ends.
SHAPE: Final = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")

#: The status and the JSON of an answer.
Answer = tuple[int, Any]


def key_in(headers: Headers) -> str | None:
    """The key that a request carries, if it carries one."""
    given = headers.getlist(HEADER)
    if len(given) > 1:
        raise Invalid([Fault(HEADER, "was given twice; send one")])
    return given[0] if given else None


def once(
    runner: RequestRunner,
    door: OnRecord,
    operation: Operation,
    key: str,
    sent: tuple[bytes, ...],
    act: Callable[[], Answer],
) -> tuple[Answer, bool]:
    """Do it unless it was done under this key, and say whether it was."""
    if not SHAPE.fullmatch(key):
        raise Invalid([Fault(HEADER, "must be 1 to 200 printable ASCII characters")])
    if not operation.is_offered_to(door.caller):
        # An answer is not given again to one who may not have it: the operation says so itself.
        return act(), False
    caller, fingerprint = door.caller, sha256(b"\n".join(sent)).hexdigest()
    with runner.store.ledger(caller.tenant) as ledger:
        claim = ledger.claim(caller.user, key, operation.name, fingerprint, runner.clock())
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
        with runner.store.ledger(caller.tenant) as ledger:
            ledger.drop(caller.user, key)
        raise
    with runner.store.ledger(caller.tenant) as ledger:
        if told.get("dry_run"):
            # Nothing was done, so there is nothing to find again; it is tried anew.
            ledger.drop(caller.user, key)
        else:
            ledger.keep(caller.user, key, status, json.dumps(_kept(operation, told), ensure_ascii=False))
    return (status, told), False


def _kept(operation: Operation, told: Any) -> Any:
    """An answer without what must not lie about: what memories and titles say, and the secret of a key."""
    kept = {name: value for name, value in told.items() if name != "secret"}
    # What was deleted cannot be looked up again.
    if operation.effect != "destroy":
        kept |= {
            name: {part: told[name][part] for part in ("id", "version") if part in told[name]}
            for name in _FOUND_AGAIN
            if isinstance(told.get(name), dict)
        }
    return kept


def _recalled(door: OnRecord, operation: Operation, kept: Any) -> Any:
    """The answer as it was, with the memory as it stood then, and a conversation or a file as it is."""
    if operation.name == "create_key":
        raise Conflict(
            f"This key was made before, and was shown that once: {kept['key']['id']}. "
            "If it did not arrive, revoke it and make another."
        )
    if operation.effect == "destroy":
        return kept
    # What was told to one who writes is told to them again, though they may read nothing else.
    reads: frozenset[Permission] = frozenset({"memory.read"})
    reading = door.as_caller(replace(door.caller, permissions=door.caller.permissions | reads))
    found = {
        name: to_json(find(reading, kept[name]))
        for name, find in _FOUND_AGAIN.items()
        if isinstance(kept.get(name), dict)
    }
    return kept | found


def _as_it_stood(door: OnRecord, wanted: Any) -> Memory:
    versions = door.history(wanted["id"]).versions
    return next((each.memory for each in versions if each.number == wanted["version"]), versions[-1].memory)


#: What an answer shows, and how that is looked up.
_FOUND_AGAIN: Final[Mapping[str, Callable[[OnRecord, Any], Any]]] = {
    "memory": _as_it_stood,
    "conversation": lambda door, wanted: door.show_conversation(wanted["id"]).conversation,
    "artifact": lambda door, wanted: door.read_artifact(wanted["id"]).artifact,
}
