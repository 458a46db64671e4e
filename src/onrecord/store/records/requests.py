"""WAS it done already? The answers to requests that must not be done twice, kept in the transaction that did them."""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, select, update

from onrecord.model import ids
from onrecord.store.ports.ledger import Done, SentRequest
from onrecord.store.tables import idempotency
from onrecord.store.transaction import Transaction

#: How long a repeated request gets the kept answer.
_KEPT: Final = timedelta(hours=24)
#: Replaces the fingerprint once the answer is forgotten; no request has this one.
_FORGOTTEN: Final = ""


class SqlRequests:
    """One transaction. A row says that the request was done, and what was answered."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._connection = transaction.connection

    def done(self, sent: SentRequest) -> Done | None:
        number = self._transaction.tenants.look_up(self._connection, sent.tenant)
        its = (idempotency.c.tenant == number, idempotency.c.user == sent.user, idempotency.c.key == sent.key)
        found = _ANSWER.where(*its, idempotency.c.at >= sent.at - _KEPT)
        row = None if number is None else self._connection.execute(found).one_or_none()
        if row is None:
            return None
        if row.fingerprint == _FORGOTTEN:
            return Done("forgotten")
        if (row.operation, row.fingerprint) != (sent.operation, sent.fingerprint):
            return Done("different")
        return Done("answered", row.status, json.loads(row.body)["answer"])

    def keep(self, sent: SentRequest, status: int, answer: Any, about: Sequence[str]) -> bool:
        connection, backend = self._transaction.connection, self._transaction.backend
        tenants = self._transaction.tenants
        number = tenants.look_up(connection, sent.tenant) or tenants.register_in(connection, sent.tenant)
        old = (idempotency.c.tenant == number, idempotency.c.at < sent.at - _KEPT)
        connection.execute(delete(idempotency).where(*old))
        row = {
            "operation": sent.operation,
            "fingerprint": sent.fingerprint,
            "at": sent.at,
            "status": status,
            "body": _body(answer, about),
        }
        kept = backend.insert(idempotency).values(tenant=number, user=sent.user, key=sent.key, **row)
        # Two requests with one key may hold different locks; the database accepts only the first.
        new = connection.execute(kept.on_conflict_do_nothing().returning(idempotency.c.at))
        return new.first() is not None

    def amend(self, sent: SentRequest, status: int, answer: Any, about: Sequence[str]) -> None:
        number = self._transaction.tenants.look_up(self._connection, sent.tenant)
        its = (idempotency.c.tenant == number, idempotency.c.user == sent.user, idempotency.c.key == sent.key)
        amended = update(idempotency).where(*its, idempotency.c.fingerprint == sent.fingerprint)
        self._connection.execute(amended.values(status=status, body=_body(answer, about)))

    def forget(self, tenants: Iterable[int], id: str) -> None:
        """Remove every answer that mentions a memory. The row stays, so that the request is not done again."""
        for tenant in tenants:
            its = select(idempotency.c.user, idempotency.c.key, idempotency.c.body).where(
                idempotency.c.tenant == tenant,
                idempotency.c.fingerprint != _FORGOTTEN,
                idempotency.c.body.contains(json.dumps(id, ensure_ascii=False)[1:-1], autoescape=True),
            )
            for user, key, body in self._connection.execute(its).all():
                stored = json.loads(body)
                # Answers of earlier versions do not list the memories they are about.
                if id in stored.get("about", [id]) or _names(stored["answer"], id):
                    mine = (idempotency.c.user == user, idempotency.c.key == key)
                    gone = update(idempotency).where(idempotency.c.tenant == tenant, *mine)
                    self._connection.execute(gone.values(fingerprint=_FORGOTTEN, body="{}"))


def _body(answer: Any, about: Sequence[str]) -> str:
    return json.dumps({"about": [*about], "answer": answer}, ensure_ascii=False)


def _names(value: Any, id: str) -> bool:
    """Whether a text of an answer names a memory. A number reveals nothing; an id that someone chose may."""
    if isinstance(value, dict | list):
        return any(_names(each, id) for each in (value.values() if isinstance(value, dict) else value))
    is_chosen = ids.whole_number(ids.address(id).id) is None
    return is_chosen and isinstance(value, str) and _is_word(id, value)


def _is_word(id: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(id)}(?!\w)", text) is not None


_ANSWER: Final = select(
    idempotency.c.operation, idempotency.c.fingerprint, idempotency.c.status, idempotency.c.body
)
