"""HOW do keys, tenants and the audit look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import Columns, Part, TextTable, day, listed, many, minute, says, shows

if TYPE_CHECKING:
    from onrecord.access.auditing import Audited
    from onrecord.access.keys import CreatedKey, ListedKeys
    from onrecord.access.tenants import ErasedTenant, ListedTenants
    from onrecord.model.ledger import AuditEntry, Key


@shows
def _(answer: "CreatedKey") -> Iterator[Part]:
    yield f"Key {answer.key.id} for {answer.key.user} in tenant {answer.key.tenant}, shown this once:"
    yield answer.secret
    yield "Store it safely now: only its hash is kept, and it cannot be shown again."


@shows
def _(answer: "ListedKeys") -> Iterator[Part]:
    columns: Columns = {"id": "id", "user": "user", "actor": "actor", "may": _may, "systems": _granted}
    columns |= {"made": lambda key: day(key.created_at), "state": _state, "for": "label"}
    return listed(answer.keys, columns, "No keys. Make one with `onrecord keys create`.")


def _may(key: "Key") -> str:
    return ", ".join(each.removeprefix("memory.") for each in key.permissions)


def _granted(key: "Key") -> str:
    return ", ".join(name if grant == "read" else f"{name}={grant}" for name, grant in key.systems.items())


def _state(key: "Key") -> str:
    if key.revoked_at is not None:
        return f"revoked {day(key.revoked_at)}"
    return f"until {minute(key.expires_at)}" if key.expires_at else "for good"


@shows
def _(answer: "ListedTenants") -> Iterator[Part]:
    columns: Columns = {"tenant": "name", "memories": "memories", "entities": "entities"}
    return listed(answer.tenants, columns, "No tenants yet: the first save makes one.")


@shows
def _(answer: "ErasedTenant") -> Iterator[Part]:
    yield f"Erased tenant {answer.name}: {many(sum(answer.erased.values()), 'row')}."
    yield TextTable(("table", "rows"), [(name, str(count)) for name, count in answer.erased.items()])
    if answer.residue:
        yield "STILL THERE: " + ", ".join(f"{name} {count}" for name, count in answer.residue.items())
    else:
        yield "Checked afterwards: nothing of it is left."
    yield from answer.warnings


@shows
def _(answer: "Audited") -> Iterator[Part]:
    columns: Columns = {
        "no.": "number",
        "when": "at",
        "user": "user",
        "as": "origin",
        "operation": "operation",
    }
    columns |= {"": lambda entry: entry.outcome if entry.outcome != "done" else "", "about": "subject"}
    return listed(
        answer.entries, columns | {"with": _came_with}, "Nothing was written or refused.", answer.next
    )


def _came_with(entry: "AuditEntry") -> str:
    known = ((name, getattr(entry, name)) for name in ("key", "run", "request"))
    return " ".join(f"{name}={value}" for name, value in known if value)


says(
    WaivedKeys=lambda a: (
        f"Deleted {many(a.forgotten, 'key')}. A server on this machine is open to local users again."
    ),
    RevokedKey=lambda a: (
        f"Revoked key {a.key.id}."
        if a.changed
        else f"Key {a.key.id} was revoked already ({minute(a.key.revoked_at)})."
    ),
    CreatedTenant=lambda a: (
        f"Created tenant {a.tenant.name}." if a.created else f"There is a tenant {a.tenant.name} already."
    ),
)
