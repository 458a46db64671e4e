"""WAS a person asked exactly this? Either a signed token goes out with a question, or a link with a code that counts
once.

The token is valid for a few minutes and stored nowhere: any process of the same store can verify it. The code is for
a client that cannot ask its person: it stands for a question in the store, by its hash, which a person answers on a
page.
"""

import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, cast

from onrecord.access.signing import hash_of, is_signature, secret_of, signature
from onrecord.errors import Conflict, NotFound
from onrecord.model.caller import Caller
from onrecord.model.ledger import PersonsQuestion, YesOrNo
from onrecord.providers import scrubber
from onrecord.store.ports.store import Store

VALID_FOR: Final = timedelta(minutes=5)
#: How long a link waits for a person.
OPEN_FOR: Final = timedelta(hours=1)
_TOKEN: Final = re.compile(r"(?P<until>[0-9]{1,12})-(?P<signature>[0-9a-f]{64})", re.ASCII)
_CODE_BYTES: Final = 24
#: The result of checking a token.
ConfirmationState = Literal["valid", "expired", "wrong"]


def issue(caller: Caller, what: str, store: Store, now: datetime) -> str:
    """The token for exactly this question and this caller."""
    until = int((now + VALID_FOR).timestamp())
    return f"{until}-{_signature(caller, what, until, secret_of(store))}"


def verify(caller: Caller, what: str, token: str, store: Store, now: datetime) -> ConfirmationState:
    read = _TOKEN.fullmatch(token)
    if read is None:
        return "wrong"
    until = int(read["until"])
    if not is_signature(read["signature"], _signature(caller, what, until, secret_of(store))):
        return "wrong"
    return "valid" if now.timestamp() < until else "expired"


def ask(caller: Caller, tool: str, arguments: Mapping[str, Any], store: Store, now: datetime) -> str:
    """Keep a question to a person of the caller's tenant: may this tool be called so? Returns the code of its link."""
    code = secrets.token_urlsafe(_CODE_BYTES)
    clean = cast(dict[str, Any], scrubber.scrub_value("", dict(arguments))[0])
    question = PersonsQuestion(
        tool=tool,
        arguments=clean,
        user=caller.user,
        origin=caller.actor,
        at=now,
        ends_at=now + OPEN_FOR,
    )
    with store.ledger(caller.tenant) as ledger:
        ledger.questions.ask(hash_of(code), question)
        ledger.note(caller, "ask_person", now, tool)
    return code


def asked(caller: Caller, code: str, store: Store, now: datetime) -> PersonsQuestion:
    """The question behind a code of the caller's tenant, which still waits; Conflict if it does not."""
    with store.ledger(caller.tenant, writes=False) as ledger:
        question = ledger.questions.find(hash_of(code))
    if question is None:
        raise NotFound("Nothing waits under this link. It may have been cut off, or be for another tenant.")
    if question.answer is not None:
        said = "agreed to" if question.answer == "yes" else "declined"
        raise Conflict(f"This was {said} already; a link counts once, and nothing was done now.")
    if question.ends_at <= now:
        raise Conflict("This link has expired, and nothing was done. Let the agent ask again.")
    return question


def answer(caller: Caller, code: str, said: YesOrNo, store: Store, now: datetime) -> PersonsQuestion:
    """The question, with whose yes or no the code is used up; Conflict if it was before. Only a person answers."""
    caller.require_person("To answer what an agent asked")
    question = asked(caller, code, store, now)
    with store.ledger(caller.tenant) as ledger:
        if not ledger.questions.answer(hash_of(code), said):
            raise Conflict("This was answered already; a link counts once, and nothing was done now.")
        ledger.note(caller, "agree" if said == "yes" else "decline", now, question.tool)
    return question


def _signature(caller: Caller, what: str, until: int, secret: bytes) -> str:
    return signature(secret, caller.tenant, caller.user, caller.key, caller.conversation, what, until)
