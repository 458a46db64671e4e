"""WHAT can be opened by address? memory://entry/{id}, memory://entity/{ref}, memory://context, and memory://overview, which
lists what is there; all framed like every memory.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

import mcp_types as protocol

from onrecord.context.frame import enclosed, entry, entry_line, framed, one_line, quoted
from onrecord.errors import Invalid, NotFound
from onrecord.model.caller import Caller
from onrecord.model.ids import exact_reference
from onrecord.model.limits import TallyBy
from onrecord.service import OnRecord

MIME_TYPE: Final = "text/plain"
ENTRY: Final = "memory://entry/{id}"
ENTITY: Final = "memory://entity/{ref}"
_CONTEXT: Final = "memory://context"
_OVERVIEW: Final = "memory://overview"
_ADDRESS: Final = re.compile(r"memory://(?P<kind>entry|entity)/(?P<name>[^?#]+)")
#: How many memories about one thing are shown.
_SHOWN: Final = 25
#: What the overview counts by, in its words, and how many groups and newest memories it names.
_COUNTED: Final[Mapping[str, TallyBy]] = {
    "kinds": "kind",
    "tags": "tag",
    "about": "entity",
    "owners": "owner",
}
_GROUPS: Final = 20
_NEWEST: Final = 10
_OF_A_MODEL: Final = ("columns", "measures", "aggregations", "joins")


def listed(caller: Caller) -> list[protocol.Resource]:
    if "memory.read" not in caller.permissions:
        return []
    return [
        protocol.Resource(
            uri=_CONTEXT,
            name="context",
            title="What to know first",
            description="What an agent should know before it begins.",
            mime_type=MIME_TYPE,
        ),
        protocol.Resource(
            uri=_OVERVIEW,
            name="overview",
            title="What memory holds",
            description="How many memories there are, by kind, tag, thing and owner, and the newest.",
            mime_type=MIME_TYPE,
        ),
    ]


def templates(caller: Caller) -> list[protocol.ResourceTemplate]:
    if "memory.read" not in caller.permissions:
        return []
    return [
        protocol.ResourceTemplate(
            uri_template=ENTRY,
            name="entry",
            title="A memory",
            description="One memory in full, with its relations.",
            mime_type=MIME_TYPE,
        ),
        protocol.ResourceTemplate(
            uri_template=ENTITY,
            name="entity",
            title="What is known about a thing",
            description="The memories about a table, a column, a measure or anything else, newest first.",
            mime_type=MIME_TYPE,
        ),
    ]


def read(door: OnRecord, uri: str) -> str:
    """The text at an address; NotFound both for what does not exist and for what this caller may not see."""
    if "memory.read" not in door.caller.permissions:
        raise NotFound(missing(uri))
    if uri == _CONTEXT:
        return door.context().text
    if uri == _OVERVIEW:
        return _overview(door)
    address = _ADDRESS.fullmatch(uri)
    if address is None:
        raise NotFound(missing(uri))
    return _READERS[address["kind"]](door, unquote(address["name"]))


def is_address(uri: str) -> bool:
    """Whether something can be there."""
    return uri in (_CONTEXT, _OVERVIEW) or _ADDRESS.fullmatch(uri) is not None


def _overview(door: OnRecord) -> str:
    blocks, total = [], 0
    for words, by in _COUNTED.items():
        counted = door.tally(by, limit=_GROUPS)
        total = counted.total
        named = [f"{each.value} ({each.memories})" for each in counted.groups if each.value is not None]
        if named:
            more = f", and {counted.omitted} more" if counted.omitted else ""
            blocks.append(quoted(f"{words}: {', '.join(map(one_line, named))}{more}"))
    blocks += map(entry_line, door.browse(limit=_NEWEST).memories)
    return enclosed(f"Memory holds {total} memories; the newest {min(total, _NEWEST)} come last:", blocks)


def _entry(door: OnRecord, id: str) -> str:
    found = door.show(id)
    lines = [f"{edge.direction}: {edge.relation.relation} #{edge.memory.id}" for edge in found.edges]
    text = framed([found.memory], heading=f"Memory #{found.memory.id}:")
    return "\n".join((text, "Relations:", *lines)) if lines else text


def _entity(door: OnRecord, reference: str) -> str:
    named = door.search(
        entities=[reference], max_memories=0, max_example_queries=0, max_entities=0
    ).resolved_input_entities
    about = named or (reference,)
    asked = [exact_reference(each) for each in named] or [reference]
    blocks = [*_model(door, reference), *map(entry, door.browse(entities=asked, limit=_SHOWN).memories)]
    name = ", ".join(map(one_line, about))
    if not blocks:
        raise NotFound(f"Nothing is known about {name!a}. Check the name, or search for it.")
    return enclosed(f"What is known about {name}, what was learned newest first:", blocks)


def _model(door: OnRecord, reference: str) -> list[str]:
    """What the catalog says of a model; a description is untrusted text too."""
    try:
        return [quoted(door.inspect(reference, sections=_OF_A_MODEL).markdown)]
    except (Invalid, NotFound):
        return []


_READERS: Final[dict[str, Callable[[OnRecord, str], str]]] = {"entry": _entry, "entity": _entity}


def missing(uri: str) -> str:
    return (
        f"There is nothing at {uri!a}. Addresses are memory://context, memory://overview, memory://entry/ID and "
        "memory://entity/NAME."
    )
