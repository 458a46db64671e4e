"""WAS it done already? A write with an `Idempotency-Key` is done once; sending it again gives the same answer.

The answer is stored in the transaction that does it, so that a crash or a lost connection leaves both or neither.
What is stored names a memory and its version, a conversation or an artifact, but not its text, which stays where it
can be erased.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from onrecord.access.identity import CONVERSATION
from onrecord.access.keys import CreatedKey
from onrecord.access.tenants import CreatedTenant, EraseTenant
from onrecord.errors import Conflict, NotFound, OnRecordError, StoreUnavailable, invalid
from onrecord.model import ids
from onrecord.model.limits import Permission
from onrecord.model.memory import Memory
from onrecord.model.request import Request
from onrecord.model.wire import from_json, to_json
from onrecord.operation import DoneBefore, IdempotentRequest, KeptAnswer, Operation, build_request
from onrecord.remember.forget import Forget
from onrecord.remember.remember import Remembered
from onrecord.service import OnRecord, perform_once, writing_through
from onrecord.store.ports.ledger import Done, SentRequest
from onrecord.surfaces.rest.request_runner import RequestRunner

HEADER: Final = "Idempotency-Key"
#: Says of an answer that it was given before.
REPLAYED: Final = "idempotent-replayed"
#: Printable, no white space at its ends.
SHAPE: Final = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")

#: The status and the JSON of an answer.
Answer = tuple[int, Any]


def key_in(headers: Headers) -> str | None:
    """The key that a request carries, if it carries one."""
    given = headers.getlist(HEADER)
    if len(given) > 1:
        raise invalid(HEADER, "was given twice; send one")
    return given[0] if given else None


def sent(request: HttpRequest, body: bytes) -> tuple[bytes, ...]:
    """Everything that makes a request the same as another."""
    expected = request.headers.get("if-match", "").encode("latin-1")
    query: bytes = request.scope.get("query_string", b"")
    spoken_in = request.headers.get(CONVERSATION, "").encode("latin-1")
    return request.method.encode(), request.scope["path"].encode(), query, expected, spoken_in, body


def once(
    runner: RequestRunner,
    door: OnRecord,
    operation: Operation,
    key: str,
    sent: tuple[bytes, ...],
    values: dict[str, Any],
) -> tuple[Answer, bool]:
    """Do the operation unless it was done under this key; returns the answer, and whether it was done before."""
    _check(key)
    if not operation.is_offered_to(door.caller):
        # An answer is not given again to one who may not have it: the operation says so itself.
        return worded(door.perform(operation, **values)), False
    guard = _Guard(runner, door, operation.name, key, sent)
    asked = build_request(operation.request, (), values)
    answer = guard.answer(door, operation, asked)
    if guard.done is not None:
        return _again(door, operation, asked, guard.done), True
    return worded(answer), False


def once_translated(
    runner: RequestRunner,
    door: OnRecord,
    name: str,
    key: str,
    sent: tuple[bytes, ...],
    act: Callable[[OnRecord], Response],
) -> Response:
    """Handle a request of a face, which may write once, under an idempotency key: that write is done once. The face makes
    the response from the kept answer too.
    """
    _check(key)
    guard = _Guard(runner, door, name, key, sent)
    if guard.done is not None:
        _check_answered(guard.done)
    try:
        response = act(writing_through(door, guard.write))
    except OnRecordError:
        if guard.done is None or guard.is_replayed:
            raise
        raise Conflict(
            "This request was done before, and the memory it was about has changed since, so the answer cannot be repeated; "
            f"nothing was done now. To do it again, send another {HEADER}."
        ) from None
    if guard.is_replayed:
        response.headers[REPLAYED] = "true"
    return response


class _Guard:
    """One request under a key: its kept answer, if there is one; otherwise it is done."""

    def __init__(
        self, runner: RequestRunner, door: OnRecord, name: str, key: str, sent: tuple[bytes, ...]
    ) -> None:
        self._runner = runner
        self._sent = SentRequest(
            tenant=door.caller.tenant,
            user=door.caller.user,
            # A key that a sender chose may contain something that must be forgotten later.
            key=sha256(key.encode()).hexdigest(),
            operation=name,
            fingerprint=sha256(b"\n".join(sent)).hexdigest(),
            at=runner.clock(),
        )
        with runner.store.ledger(door.caller.tenant, writes=False) as ledger:
            self.done = ledger.requests.done(self._sent)
        #: Whether the kept answer was given again.
        self.is_replayed = False

    def write(self, door: OnRecord, operation: Operation, asked: Request) -> Any:
        """The answer of an operation, from before if it was done then."""
        if not operation.is_offered_to(door.caller):
            return writing_through(door, None).perform(operation, asked)
        answer = self.answer(door, operation, asked)
        if self.done is None:
            return answer
        self.is_replayed = True
        return from_json(operation.answer, _again(door, operation, asked, self.done)[1])

    def answer(self, door: OnRecord, operation: Operation, asked: Request) -> Any:
        """Do the operation; None if it was done before."""
        if self.done is not None:
            return None
        doing = IdempotentRequest(self._sent, lambda answer: _kept(operation, answer))
        try:
            answer = perform_once(door, doing, operation, asked)
        except DoneBefore as meanwhile:
            self.done = meanwhile.done
            return None
        is_trial = getattr(answer, "dry_run", False)
        # A tenant that was just erased must stay empty.
        has_erased_itself = isinstance(asked, EraseTenant) and asked.name == self._sent.tenant
        if not (doing.is_kept or is_trial or has_erased_itself):
            # What it does, it does in memory, or bit by bit so that doing it again does no harm, or it has only looked.
            with suppress(StoreUnavailable), self._runner.store.ledger(self._sent.tenant) as ledger:
                ledger.requests.keep(self._sent, *_kept(operation, answer))
        return answer


def _check(key: str) -> None:
    if not SHAPE.fullmatch(key):
        raise invalid(HEADER, "must be 1 to 200 printable ASCII characters")


def worded(answer: Any) -> Answer:
    """An answer of an operation as an HTTP response."""
    match answer:
        case Remembered(outcome="created", dry_run=False) | CreatedKey() | CreatedTenant(created=True):
            return 201, to_json(answer)
    return 200, to_json(answer)


def _kept(operation: Operation, answer: Any) -> KeptAnswer:
    """An answer without what must not be stored twice: texts of memories and titles, the secret of a key, and the id
    of an erased memory, which a repeated request names anyway.
    """
    status, values = worded(answer)
    kept = {name: value for name, value in values.items() if name != "secret"}
    if operation.name == "forget":
        # A repeated request may say `kb.x`: whose memory of that name it meant is kept.
        kept["whose"] = ids.owner_of(kept.pop("id"))
    for name in _FOUND_AGAIN:
        # A file that was deleted cannot be looked up again.
        if isinstance(values.get(name), dict) and (operation.effect != "destroy" or name in _MEMORIES):
            parts = ("id", "version", "created_by")
            kept[name] = {part: values[name][part] for part in parts if part in values[name]}
    if "similar" in values:
        kept["similar"] = [{part: each[part] for part in ("id", "likeness")} for each in values["similar"]]
    extracted = _extracted(values)
    kept |= _about_facts(kept, _without_texts)
    about = {kept[name]["id"] for name in _MEMORIES if kept.get(name)}
    about |= {each["id"] for each in extracted.get("facts", ())}
    about |= {each["id"] for each in values.get("rejected", ())}
    about |= set(values["changeset"]["memories"] if "changeset" in values else ())
    about |= {values["relation"][end] for end in ("source", "target") if "relation" in values}
    about |= {*values.get("superseded", ())}
    if operation.name == "remember_many":
        about |= {id for each in values["memories"] for id in (each["id"], *each["superseded"]) if id}
    return KeptAnswer(status, kept, sorted(about))


def _extracted(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of an answer that is about the facts of a turn, or nothing."""
    part = values if "facts" in values else values.get("extracted")
    return part or {}


def _about_facts(
    values: Mapping[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """The fields about the facts of a turn, changed; no fields if the answer has none."""
    if not (extracted := _extracted(values)):
        return {}
    changed = {**extracted, **change(extracted)}
    return changed if "facts" in values else {"extracted": changed}


def _without_texts(extracted: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a turn by their ids. What was found and could not be saved lies nowhere where it could be erased."""
    failures = len(extracted["degraded"])
    return {
        "facts": [{part: each[part] for part in ("id", "outcome")} for each in extracted["facts"]],
        "advice": [{**each, "said": []} for each in extracted["advice"]],
        "degraded": [f"{failures} of the facts could not be saved"] if failures else [],
    }


def _with_texts(door: OnRecord, extracted: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a turn that the caller still sees, as their memories say them now."""
    facts = list[dict[str, Any]]()
    for each in extracted["facts"]:
        with suppress(NotFound):
            facts.append({**each, "text": door.show(ids.exactly(each["id"])).memory.content})
    said = [each["text"] for each in facts]
    advice = [{**each, "said": said if each["applied"] else []} for each in extracted["advice"]]
    return {"facts": facts, "advice": advice}


def _check_answered(done: Done) -> None:
    """That there is an answer to give again; the error says what there is instead."""
    if done.state == "different":
        raise invalid(HEADER, "was used for another request before; choose a new one")
    if done.state == "forgotten":
        raise NotFound(
            "This request was done before, and the memory it was about has been erased since; nothing was done now. "
            f"To do it again, send another {HEADER}."
        )


def _again(door: OnRecord, operation: Operation, asked: Request, done: Done) -> Answer:
    """The same answer again, with a memory in its state then, and a conversation, an artifact or a changeset as it is now."""
    _check_answered(done)
    kept = _with_present_names(done.answer)
    if operation.name == "create_key":
        raise Conflict(
            f"This request has created the key {kept['key']['id']} before, and its secret is shown only once. "
            "If you did not get it, revoke that key and create another."
        )
    if isinstance(asked, Forget):
        home, plain = ids.address(asked.id)
        whose = kept.pop("whose", None)
        plain = plain if whose is None else ids.owned(whose, ids.name_of(plain))
        kept = {"id": ids.spell(home or "", plain)} | kept
    # A writer gets the same answer again, even without the permission to read.
    reads: frozenset[Permission] = frozenset({"memory.read"})
    reading = door.as_caller(replace(door.caller, permissions=door.caller.permissions | reads))
    found = {
        name: to_json(find(reading, kept[name]))
        for name, find in _FOUND_AGAIN.items()
        if isinstance(kept.get(name), dict) and (operation.effect != "destroy" or name in _MEMORIES)
    }
    if "similar" in kept:
        found["similar"] = list(_with_titles(reading, kept["similar"]))
    # Facts are for a conversation alone, unless another scope was given.
    spoken_in = kept.get("conversation") or getattr(asked, "conversation", None)
    if isinstance(spoken_in, str):
        reading = reading.as_caller(reading.caller.inside(spoken_in))
    found |= _about_facts(kept, partial(_with_texts, reading))
    return done.status, kept | found


def _with_present_names(kept: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as this version names its fields. Those of a version before may still be kept, for a day."""
    renamed = {_FORMER_NAMES.get(name, name): value for name, value in kept.items()}
    outcome = renamed.get("outcome")
    return renamed | ({"outcome": _FORMER_NAMES[outcome]} if outcome in _FORMER_NAMES else {})


def _with_titles(door: OnRecord, similar: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The similar memories that still exist, with their titles."""
    for each in similar:
        with suppress(NotFound):
            yield {**each, "title": door.show(ids.exactly(each["id"])).memory.title}


def _as_it_stood(door: OnRecord, wanted: Any) -> Memory:
    versions = door.history(ids.exactly(wanted["id"])).versions
    return next((each.memory for each in versions if each.number == wanted["version"]), versions[-1].memory)


#: What an answer shows, and how that is looked up.
_FOUND_AGAIN: Final[Mapping[str, Callable[[OnRecord, Any], Any]]] = {
    "memory": _as_it_stood,
    "proposal": _as_it_stood,
    "conversation": lambda door, wanted: door.show_conversation(wanted["id"]).conversation,
    "artifact": lambda door, wanted: door.read_artifact(wanted["id"]).artifact,
    "changeset": lambda door, wanted: door.changesets(wanted["id"]).changesets[0],
}
_MEMORIES: Final = ("memory", "proposal")
#: What earlier versions called a field or an outcome.
_FORMER_NAMES: Final = {"turned_down": "rejected"}
