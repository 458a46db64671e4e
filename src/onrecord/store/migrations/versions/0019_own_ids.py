"""A chosen id of what not everyone in the tenant sees is its owner's, `OWNER::NAME`: nobody learns from a refusal that it is taken.

What everyone saw once keeps its id, and so do numbers, which the store may have assigned, and UUIDs, which nobody
guesses. References get the new id where they tell nobody of it: in memories of the same owner or for the same readers.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_GLOBAL: Final = "global"
_ODD: Final = re.compile(r"[~:/?#\s\x00-\x1f\x7f-\x9f]")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_RANDOM: Final = re.compile(r"[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_ENDED_BY: Final = re.compile(r"superseded by (.+?)(, as .*)?", re.DOTALL)
_MEMORY: Final = "memory:"
#: How many rows are held in memory.
_AT_ONCE: Final = 1_000
#: What is, or was, for everyone in the tenant.
_FOR_ALL: Final = "{0}.scope = 'tenant' AND {0}.status <> 'pending' AND {0}.proposes IS NULL"


class _Renamed(NamedTuple):
    id: str
    owner: str
    audience: str


def upgrade() -> None:
    bind = op.get_bind()
    bind.exec_driver_sql(
        "CREATE TEMPORARY TABLE renamed (tenant INTEGER NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, "
        "owner TEXT NOT NULL, audience TEXT NOT NULL, PRIMARY KEY (tenant, before))"
    )
    for page in _pages(bind, _FOR_A_FEW, ("tenant", "row")):
        rows = [_row(each) for each in page if not _stays(each.id)]
        if rows:
            bind.execute(sa.text(_NOTE), rows)
    for table, column, its in _NAMING:
        there = f"FROM renamed AS n WHERE n.tenant = {table}.tenant AND n.before = {table}.{column}"
        bind.exec_driver_sql(
            f"UPDATE {table} SET {column} = (SELECT n.after {there}) WHERE EXISTS (SELECT 1 {there}){its}"
        )
    _rename_in_records(bind)
    _rename_in_changesets(bind)
    _rename_in_answers(bind)
    bind.exec_driver_sql("DROP TABLE renamed")


#: Where the id of a memory is a column, and of which rows.
_NAMING: Final = (
    ("memories", "id", " AND memories.collection = 1"),
    ("audit", "subject", ""),
    ("feedback", "memory", ""),
    ("check_runs", "memory", ""),
)


def _stays(id: str) -> bool:
    """Whether an id tells nothing when someone guesses it, or has its owner's name already."""
    return bool(_NUMBER.fullmatch(id) or _RANDOM.fullmatch(id) or "::" in id)


def _row(memory: Any) -> dict[str, Any]:
    odd = re.compile("^g") if memory.owner == _GLOBAL else _ODD
    escaped = odd.sub(lambda found: f"~{ord(found.group()):04x}", memory.owner)
    its = {"tenant": memory.tenant, "owner": memory.owner, "audience": memory.audience}
    return its | {"before": memory.id, "after": f"{escaped}::{memory.id}"}


_NOTE: Final = (
    "INSERT INTO renamed (tenant, before, after, owner, audience) "
    "VALUES (:tenant, :before, :after, :owner, :audience)"
)
_FOR_A_FEW: Final = (
    'SELECT m.tenant, m."row", m.id, m.owner, m.audience FROM memories AS m '
    f"WHERE m.collection = 1 AND m.tenant NOT IN (SELECT key FROM tenants WHERE name = '{_GLOBAL}') "
    f"AND NOT ({_FOR_ALL.format('m')}) AND NOT EXISTS (SELECT 1 FROM versions AS v "
    'WHERE v.tenant = m.tenant AND v.collection = m.collection AND v."row" = m."row" '
    f"AND {_FOR_ALL.format('v')})"
)


def _pages(bind: sa.Connection, select: str, key: tuple[str, ...]) -> Iterator[Sequence[Any]]:
    """What a statement finds, some at a time in the order of its key, so that a large store takes no more memory."""
    names = ", ".join(f'"{name}"' for name in key)
    behind = ", ".join(f":after_{name}" for name in key)
    first = f"SELECT * FROM ({select}) AS found ORDER BY {names} LIMIT {_AT_ONCE}"
    further = (
        f"SELECT * FROM ({select}) AS found WHERE ({names}) > ({behind}) ORDER BY {names} LIMIT {_AT_ONCE}"
    )
    page = bind.execute(sa.text(first)).all()
    while page:
        yield page
        after = {f"after_{name}": page[-1]._mapping[name] for name in key}
        page = bind.execute(sa.text(further), after).all() if len(page) == _AT_ONCE else []


def _renamed(bind: sa.Connection, tenant: int, ids: Collection[str]) -> dict[str, _Renamed]:
    """Those of some ids that have a new one."""
    if not ids:
        return {}
    found = sa.text(
        "SELECT before, after, owner, audience FROM renamed WHERE tenant = :tenant AND before IN :ids"
    )
    rows = bind.execute(
        found.bindparams(sa.bindparam("ids", expanding=True)), {"tenant": tenant, "ids": [*ids]}
    )
    return {before: _Renamed(*after) for before, *after in rows}


def _by_tenant(page: Sequence[Any]) -> Iterator[tuple[int, list[Any]]]:
    for tenant, rows in groupby(page, key=lambda row: row.tenant):
        yield tenant, list(rows)


def _rename_in_records(bind: sa.Connection) -> None:
    """Write the new ids in memories and their versions: in references, proposals, and reasons of an end."""
    told = (
        "(r.entities LIKE '%\"memory:%' OR r.proposes IS NOT NULL OR r.status_reason LIKE 'superseded by %')"
    )
    for table, version in (("memories", "0"), ("versions", "r.version")):
        select = (
            f'SELECT r.tenant, r."row", {version} AS version, r.entities, r.proposes, r.status_reason, '
            f"m.owner, m.audience FROM {table} AS r JOIN memories AS m "
            'ON m.tenant = r.tenant AND m.collection = r.collection AND m."row" = r."row" '
            f"WHERE r.collection = 1 AND {told}"
        )
        here = "" if version == "0" else " AND version = :version"
        change = sa.text(
            f"UPDATE {table} SET entities = :entities, proposes = :proposes, status_reason = :status_reason "
            f'WHERE tenant = :tenant AND collection = 1 AND "row" = :row{here}'
        )
        for page in _pages(bind, select, ("tenant", "row", "version")):
            changed: list[dict[str, Any]] = []
            for tenant, records in _by_tenant(page):
                names = _renamed(bind, tenant, {id for each in records for id in _told(each)})
                for record in records if names else ():
                    # What is damaged stays as it is, for `doctor` to report.
                    with suppress(ValueError, TypeError, AttributeError):
                        if changes := dict(_changes(record, names)):
                            told_now = {name: getattr(record, name) for name in _TOLD} | changes
                            place = {"tenant": tenant, "row": record.row}
                            changed.append(told_now | place | ({"version": record.version} if here else {}))
            if changed:
                bind.execute(change, changed)


_TOLD: Final = ("entities", "proposes", "status_reason")


def _told(record: Any) -> set[str]:
    """The ids that a record tells of."""
    told: set[str] = set()
    with suppress(ValueError, TypeError, AttributeError):
        told |= {
            each.removeprefix(_MEMORY) for each in json.loads(record.entities) if each.startswith(_MEMORY)
        }
        if record.proposes is not None:
            told |= set(json.loads(record.proposes).get("of", ()))
        if ended := _ENDED_BY.fullmatch(record.status_reason or ""):
            told.add(ended.group(1))
    return told


def _changes(record: Any, names: Mapping[str, _Renamed]) -> Iterator[tuple[str, str]]:
    entities = json.loads(record.entities)
    now = [_reference(each, record, names) for each in entities]
    if now != entities:
        yield "entities", _json(now)
    if record.proposes is not None:
        proposal = json.loads(record.proposes)
        of = [names[each].id if each in names else each for each in proposal.get("of", ())]
        if of != proposal.get("of", []):
            yield "proposes", _json(proposal | {"of": of})
    ended = _ENDED_BY.fullmatch(record.status_reason or "")
    if ended and ended.group(1) in names:
        by = names[ended.group(1)]
        # Whoever sees only this one is not told the id of the other.
        named = by.id if by.audience == record.audience else "another memory"
        yield "status_reason", f"superseded by {named}{ended.group(2) or ''}"


def _reference(reference: str, record: Any, names: Mapping[str, _Renamed]) -> str:
    after = names.get(reference.removeprefix(_MEMORY)) if reference.startswith(_MEMORY) else None
    if after is None or not (record.owner == after.owner or record.audience == after.audience):
        return reference
    return _MEMORY + after.id


def _rename_in_changesets(bind: sa.Connection) -> None:
    change = sa.text(
        "UPDATE changesets SET memories = :memories, changes = :changes WHERE tenant = :tenant AND id = :id"
    )
    select = "SELECT tenant, id, memories, changes FROM changesets"
    for page in _pages(bind, select, ("tenant", "id")):
        for tenant, written in _by_tenant(page):
            told = list[tuple[Any, list[str], list[dict[str, Any]]]]()
            for each in written:
                with suppress(ValueError):
                    told.append((each, json.loads(each.memories), json.loads(each.changes)))
            ids = {id for _, memories, changes in told for id in (*memories, *_of_changes(changes))}
            if not (names := _renamed(bind, tenant, ids)):
                continue
            for each, memories, changes in told:
                for part in changes:
                    if "memories" in part:
                        part["memories"] = _now(part["memories"], names)
                now = {"memories": _json(_now(memories, names)), "changes": _json(changes)}
                bind.execute(change, now | {"tenant": tenant, "id": each.id})


def _of_changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for part in changes:
        yield from part.get("memories", ())


def _now(ids: Sequence[str], names: Mapping[str, _Renamed]) -> list[str]:
    return [names[id].id if id in names else id for id in ids]


def _rename_in_answers(bind: sa.Connection) -> None:
    """Answers that are kept for repeated requests go when a memory that they are about is erased, and show it: they learn its new
    id.
    """
    change = sa.text(
        'UPDATE idempotency SET body = :body WHERE tenant = :tenant AND "user" = :user AND key = :key'
    )
    select = 'SELECT tenant, "user", key, body FROM idempotency WHERE body LIKE \'%"about"%\''
    for page in _pages(bind, select, ("tenant", "user", "key")):
        for tenant, kept in _by_tenant(page):
            told = [(each, json.loads(each.body)) for each in kept]
            names = _renamed(bind, tenant, {id for _, body in told for id in body["about"]})
            for each, body in told:
                if not names.keys().isdisjoint(body["about"]):
                    body["about"] = [*body["about"], *(names[id].id for id in body["about"] if id in names)]
                    for shown in map(body["answer"].get, ("memory", "proposal")):
                        if isinstance(shown, dict) and shown.get("id") in names:
                            shown["id"] = names[shown["id"]].id
                    its = {"tenant": tenant, "user": each.user, "key": each.key}
                    bind.execute(change, its | {"body": json.dumps(body, ensure_ascii=False)})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
