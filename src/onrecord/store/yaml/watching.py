"""WHAT has a transaction changed? Triggers of this connection note it, so that only that is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from onrecord.store.tables import RECORD

_NOTED: Final = "yaml_changes"
_IS_SET_UP: Final = f"SELECT 1 FROM temp.sqlite_master WHERE name = '{_NOTED}'"
_HAS_COUNTED: Final = "WHEN OLD.last_id <> NEW.last_id OR OLD.last_relation <> NEW.last_relation"

# The end of a version follows from the next one. After any other change of a version the history is rewritten.
_REWRITES: Final = ", ".join((*RECORD, "version", "recorded_at", "change", "changed_by", "changed_as"))
_TRIGGERS: Final[Sequence[tuple[str, str, str]]] = (
    ("memory", "INSERT ON main.memories", "NEW.tenant, NEW.collection, NEW.id, 0"),
    ("memory", "UPDATE ON main.memories", "NEW.tenant, NEW.collection, NEW.id, 0"),
    ("memory", "DELETE ON main.memories", "OLD.tenant, OLD.collection, OLD.id, 0"),
    ("version", "INSERT ON main.versions", "NEW.tenant, NEW.collection, NEW.row, NEW.version"),
    ("anew", f"UPDATE OF {_REWRITES} ON main.versions", "0, 0, 0, 0"),
    ("anew", "DELETE ON main.versions", "0, 0, 0, 0"),
    ("edge", "INSERT ON main.relations", "NEW.tenant, NEW.collection, NEW.id, 0"),
    ("edge", "UPDATE ON main.relations", "NEW.tenant, NEW.collection, NEW.id, 0"),
    ("anew", "DELETE ON main.relations", "0, 0, 0, 0"),
    ("counters", "INSERT ON main.counters", "NEW.tenant, NEW.collection, 0, 0"),
    ("counters", f"UPDATE ON main.counters {_HAS_COUNTED}", "NEW.tenant, NEW.collection, 0, 0"),
    ("anew", "DELETE ON main.counters", "0, 0, 0, 0"),
)


#: The number of a tenant, and that of a collection.
Place = tuple[int, int]


@dataclass(slots=True)
class Changes:
    """What changed, by the keys of the index: homes by number, memories by id, versions by row and number."""

    memories: dict[Place, set[str]] = field(default_factory=dict)
    versions: dict[Place, set[tuple[int, int]]] = field(default_factory=dict)
    edges: dict[Place, set[int]] = field(default_factory=dict)
    counters: set[Place] = field(default_factory=set)
    #: Whether old versions changed, for instance because a memory was forgotten.
    anew: bool = False

    def __bool__(self) -> bool:
        return self.anew or any((self.memories, self.versions, self.edges, self.counters))


def watch(connection: Connection) -> None:
    """From here on, note what this transaction changes."""
    if connection.exec_driver_sql(_IS_SET_UP).first() is None:
        connection.exec_driver_sql(f"CREATE TABLE temp.{_NOTED} (what, tenant, collection, first, second)")
        for number, (what, when, values) in enumerate(_TRIGGERS):
            connection.exec_driver_sql(
                f"CREATE TRIGGER temp.{_NOTED}_{number} AFTER {when} "
                f"BEGIN INSERT INTO {_NOTED} VALUES ('{what}', {values}); END"
            )
    connection.exec_driver_sql(f"DELETE FROM temp.{_NOTED}")


def changes_of(connection: Connection) -> Changes:
    changes = Changes()
    noted = connection.exec_driver_sql(
        f"SELECT DISTINCT what, tenant, collection, first, second FROM temp.{_NOTED}"
    )
    for what, tenant, collection, first, second in noted:
        place = (tenant, collection)
        match what:
            case "memory":
                changes.memories.setdefault(place, set()).add(first)
            case "version":
                changes.versions.setdefault(place, set()).add((first, second))
            case "edge":
                changes.edges.setdefault(place, set()).add(first)
            case "counters":
                changes.counters.add(place)
            case _:
                changes.anew = True
    return changes
