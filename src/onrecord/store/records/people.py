"""WHO is signed in to the pages, and what was a person asked there? By hashes alone: tokens and codes are not kept."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from onrecord.model import ids
from onrecord.model.ledger import Key, PersonsQuestion, SignIn, YesOrNo
from onrecord.store.tables import api_keys, persons_questions, sign_ins

#: How long an old question is kept, so that whoever opens its link sees what became of it.
_KEPT: Final = timedelta(days=7)


class SqlSignIns:
    """The sign-ins in one transaction. `tenant` is None for those of all tenants."""

    def __init__(self, connection: Connection, tenant: str | None) -> None:
        self._connection, self._tenant = connection, tenant

    def begin(self, hash: str, sign_in: SignIn) -> None:
        self._connection.execute(delete(sign_ins).where(sign_ins.c.ends_at <= sign_in.began_at))
        row = {name: getattr(sign_in, name) for name in _SIGN_IN_FIELDS}
        self._connection.execute(insert(sign_ins), {"hash": hash, **row})

    def find(self, hash: str) -> tuple[SignIn, Key | None] | None:
        row = self._connection.execute(_SIGN_IN, {"wanted": hash}).one_or_none()
        if row is None:
            return None
        sign_in = SignIn(**row._mapping)
        key = self._connection.execute(_KEY, {"home": sign_in.tenant, "wanted": sign_in.key}).one_or_none()
        return sign_in, None if key is None else Key(**key._mapping)

    def end(self, hash: str) -> bool:
        return bool(self._connection.execute(delete(sign_ins).where(sign_ins.c.hash == hash)).rowcount)

    def end_all(self, user: str) -> int:
        its = (sign_ins.c.tenant == self._tenant, sign_ins.c.user == user)
        return self._connection.execute(delete(sign_ins).where(*its)).rowcount


class SqlPersonsQuestions:
    """The questions of one tenant, by its number, in one transaction."""

    def __init__(self, connection: Connection, tenant: int) -> None:
        self._connection, self._tenant = connection, tenant

    def ask(self, hash: str, question: PersonsQuestion) -> None:
        old = (persons_questions.c.tenant == self._tenant, persons_questions.c.ends_at < question.at - _KEPT)
        self._connection.execute(delete(persons_questions).where(*old))
        row = {name: getattr(question, name) for name in _QUESTION_FIELDS}
        self._connection.execute(insert(persons_questions), {"tenant": self._tenant, "hash": hash, **row})

    def find(self, hash: str) -> PersonsQuestion | None:
        row = self._connection.execute(_QUESTION, {"home": self._tenant, "wanted": hash}).one_or_none()
        return None if row is None else PersonsQuestion(**row._mapping)

    def answer(self, hash: str, answer: YesOrNo) -> bool:
        its = (
            persons_questions.c.tenant == self._tenant,
            persons_questions.c.hash == hash,
            persons_questions.c.answer.is_(None),
        )
        # The arguments go: they may hold texts that someone erases later.
        answered = update(persons_questions).where(*its).values(answer=answer, arguments={})
        return bool(self._connection.execute(answered).rowcount)


def forget_questions(connection: Connection, tenants: Iterable[int], id: str) -> None:
    """Remove every question about a memory; under its link nothing waits any more. Its user may have asked by its name alone,
    with which others mean their own.
    """
    asked = type_coerce(persons_questions.c.arguments, Text)
    named = or_(*(_holds(asked, each) for each in (id, ids.exactly(id))))
    if (user := ids.owner_of(id)) is not None:
        named = or_(named, and_(persons_questions.c.user == user, _holds(asked, ids.name_of(id))))
    for tenant in tenants:
        connection.execute(delete(persons_questions).where(persons_questions.c.tenant == tenant, named))


def _holds(asked: ColumnElement[str], id: str) -> ColumnElement[bool]:
    return asked.contains(json.dumps(id, ensure_ascii=False), autoescape=True)


KEY_FIELDS: Final = tuple(column.key for column in api_keys.columns if column.name != "hash")
KEY_COLUMNS: Final = tuple(api_keys.c[name].label(name) for name in KEY_FIELDS)
_KEY: Final = select(*KEY_COLUMNS).where(
    api_keys.c.tenant == bindparam("home"), api_keys.c.id == bindparam("wanted")
)
_SIGN_IN_FIELDS: Final = tuple(each.name for each in sign_ins.columns if each.name != "hash")
_QUESTION_FIELDS: Final = tuple(
    each.name for each in persons_questions.columns if each.name not in ("tenant", "hash")
)
_SIGN_IN: Final = select(*(sign_ins.c[name] for name in _SIGN_IN_FIELDS)).where(
    sign_ins.c.hash == bindparam("wanted")
)
_QUESTION: Final = select(*(persons_questions.c[name] for name in _QUESTION_FIELDS)).where(
    persons_questions.c.tenant == bindparam("home"), persons_questions.c.hash == bindparam("wanted")
)
