"""IS this ours? Signatures with the secret of the store, so that any of its processes can verify them."""

import hmac
import json
import secrets
from hashlib import sha256
from typing import Any, Final

from onrecord.store.ports.store import Store

_SECRET_BYTES: Final = 32


def secret_of(store: Store) -> bytes:
    """The secret of the store, which is made when it is first needed."""
    with store.ledger(writes=False) as ledger:
        secret = ledger.secret()
    if secret is None:
        with store.ledger() as ledger:
            secret = ledger.keep_secret(secrets.token_hex(_SECRET_BYTES))
    return bytes.fromhex(secret)


def signature(secret: bytes, *signed: Any) -> str:
    """The signature of values that JSON can write. Begin with a word for their purpose, so that no signature serves
    another.
    """
    return hmac.new(secret, json.dumps(signed).encode(), sha256).hexdigest()


def is_signature(shown: str, expected: str) -> bool:
    """Compares in a time that does not depend on the texts."""
    return hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), expected.encode())


def hash_of(secret: str) -> str:
    """The stored hash of a key or a code. Both are random and long, so no slow hash is needed."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
