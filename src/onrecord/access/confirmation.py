"""WAS someone asked exactly this? A signed token goes out with a question to a person, valid for a few minutes.

It is stored nowhere: any process of the same store can verify it, since the key of the signature is in the store.
"""

import hmac
import json
import re
import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal

from onrecord.model.caller import Caller
from onrecord.store.ports.store import Store

VALID_FOR: Final = timedelta(minutes=5)
_TOKEN: Final = re.compile(r"(?P<until>[0-9]{1,12})-(?P<signature>[0-9a-f]{64})", re.ASCII)
_SECRET_BYTES: Final = 32
#: The result of checking a token.
ConfirmationState = Literal["valid", "expired", "wrong"]


def issue(caller: Caller, what: str, store: Store, now: datetime) -> str:
    """The token for exactly this question and this caller."""
    until = int((now + VALID_FOR).timestamp())
    with store.ledger(writes=False) as ledger:
        secret = ledger.secret()
    if secret is None:
        with store.ledger() as ledger:
            secret = ledger.keep_secret(secrets.token_hex(_SECRET_BYTES))
    return f"{until}-{_signature(caller, what, until, secret)}"


def verify(caller: Caller, what: str, token: str, store: Store, now: datetime) -> ConfirmationState:
    read = _TOKEN.fullmatch(token)
    if read is None:
        return "wrong"
    with store.ledger(writes=False) as ledger:
        secret = ledger.secret()
    if secret is None:
        return "wrong"
    until = int(read["until"])
    if not hmac.compare_digest(_signature(caller, what, until, secret), read["signature"]):
        return "wrong"
    return "valid" if now.timestamp() < until else "expired"


def _signature(caller: Caller, what: str, until: int, secret: str) -> str:
    signed = json.dumps([caller.tenant, caller.user, caller.key, caller.conversation, what, until])
    return hmac.new(bytes.fromhex(secret), signed.encode(), sha256).hexdigest()
