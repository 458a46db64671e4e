"""WHAT may checks read? Connections by name, set at the machine: a database or a folder, and for which tenant."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from onrecord.errors import invalid
from onrecord.model.limits import NAME_CHARACTERS

ConnectionKind = Literal["sqlite", "duckdb", "postgresql", "folder"]
#: How an address begins, and what it then is.
_SCHEMES: Final[dict[str, ConnectionKind]] = {
    "sqlite:///": "sqlite",
    "duckdb:///": "duckdb",
    "postgresql://": "postgresql",
    "postgres://": "postgresql",
    "folder:///": "folder",
}
_NAME: Final = re.compile(r"(?:(?P<tenant>[^\s=/,]+)/)?(?P<name>[A-Za-z0-9][\w.\-]*)")
EVERY_TENANT: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A connection that checks of a tenant may read; its address may hold a password, and is never shown."""

    name: str
    tenant: str
    kind: ConnectionKind
    address: str = field(repr=False)

    @property
    def path(self) -> str:
        """Where its file or folder is."""
        return self.address.partition(":///")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPolicy:
    """What checks may read here, how often a worker runs them, and how long one may take."""

    connections: Sequence[Connection] = ()
    every: timedelta = timedelta(hours=1)
    seconds: int = 10

    def connection(self, tenant: str, name: str | None) -> Connection | None:
        """The connection of this name that checks of the tenant may read."""
        of_tenant = [
            each for each in self.connections if each.name == name and each.tenant in (tenant, EVERY_TENANT)
        ]
        return of_tenant[0] if of_tenant else None


def read_connections(setting: str, entries: Iterable[str], tenant: str) -> tuple[Connection, ...]:
    """The connections of a setting or of a file's lines, as NAME=ADDRESS or TENANT/NAME=ADDRESS.

    A name alone is of this tenant. Errors repeat no address, since it may hold a password.
    """
    found: dict[tuple[str, str], Connection] = {}
    for number, entry in enumerate(filter(None, map(str.strip, entries)), 1):
        if entry.startswith("#"):
            continue
        called, equals, address = entry.partition("=")
        named = _NAME.fullmatch(called.strip())
        address = address.strip()
        kind = next((kind for begins, kind in _SCHEMES.items() if address.startswith(begins)), None)
        if not equals or named is None or len(called) > NAME_CHARACTERS:
            raise invalid(
                setting, f"entry {number} must be NAME=ADDRESS, such as warehouse=sqlite:////data/shop.db"
            )
        if kind is None:
            raise invalid(
                setting,
                f"the address of {named['name']} must begin with sqlite:///, duckdb:///, postgresql:// or folder:///",
            )
        whose = named["tenant"] or tenant
        found[whose, named["name"]] = Connection(name=named["name"], tenant=whose, kind=kind, address=address)
    return tuple(found.values())
