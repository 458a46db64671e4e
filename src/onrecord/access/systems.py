"""WHICH systems are meant? `crm` may be read, `warehouse=manage` managed, wherever they are written."""

from collections.abc import Iterable, Mapping
from typing import cast

from onrecord.model.limits import Grant
from onrecord.model.rules import GRANT

Systems = Mapping[str, Grant]


def read_systems(names: Iterable[object]) -> tuple[dict[str, Grant], list[str]]:
    """Systems from `name`, `name=read` and `name=manage`, and what is wrong with the others."""
    systems, problems = dict[str, Grant](), []
    for each in names:
        try:
            text = GRANT(each)
        except ValueError as reason:
            problems.append(str(reason))
            continue
        name, _, grant = text.rpartition("=")
        found: Systems = {name.strip(): cast(Grant, grant)} if name else {text: "read"}
        systems = strongest(systems, found)
    return systems, problems


def strongest(first: Systems, second: Systems) -> dict[str, Grant]:
    """Both combined; `manage` wins over `read`."""
    joined = dict(first)
    for system, grant in second.items():
        if joined.get(system) != "manage":
            joined[system] = grant
    return joined
