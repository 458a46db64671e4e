"""WHICH homes does maintenance cover?"""

from onrecord.model.collections import COLLECTIONS, ENTITIES, Home
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.operation import Call


def examined(call: Call) -> list[Home] | None:
    """Those of the caller's own tenant; None, which means all, for the operator of the store."""
    caller = call.caller
    return None if caller.operator else [Home(caller.tenant, each) for each in COLLECTIONS]


def embedded(call: Call, what: str, every: bool) -> list[Home]:
    """Those of the caller's own tenant and the global memories; all for the operator of the store."""
    if every:
        call.caller.require_operator(what)
    with call.store.archive() as archive:
        there = archive.homes()
    if every:
        return there
    others = (Home(call.caller.tenant, ENTITIES), Home(GLOBAL_TENANT))
    return [Home(call.caller.tenant), *(home for home in others if home in there)]
