"""WHICH operations are there? Those of the files listed here. Each file holds one feature: its requests, its answers
and its functions.

A file is loaded when one of its operations is first used, so that using one does not wait for all.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from onrecord.operation import Operation

if TYPE_CHECKING:
    OPERATIONS: tuple[Operation, ...]

#: In the order in which people meet them: the file of each feature, and its operations.
FEATURES: Final = {
    "onrecord.remember.remember": ("remember",),
    "onrecord.remember.remember_many": ("remember_many",),
    "onrecord.recall.recall": ("recall",),
    "onrecord.recall.feedback": ("give_feedback", "feedback"),
    "onrecord.recall.show": ("show",),
    "onrecord.recall.browse": ("browse", "tally"),
    "onrecord.remember.revise": ("revise",),
    "onrecord.remember.retire": ("retire",),
    "onrecord.remember.forget": ("forget",),
    "onrecord.remember.relate": ("relate", "unrelate", "remove_relation"),
    "onrecord.recall.relations": ("relations", "neighbours"),
    "onrecord.recall.history": ("history", "diff", "moments"),
    "onrecord.catalog.ingest": ("ingest",),
    "onrecord.recall.subjects": ("search",),
    "onrecord.catalog.operations": ("entities", "inspect", "drop_entity", "prioritise"),
    "onrecord.catalog.impact": ("impact",),
    "onrecord.care.renaming": ("renames", "accept_renames"),
    "onrecord.remember.review": ("approve", "reject"),
    "onrecord.remember.judge": ("judge",),
    "onrecord.remember.extract": ("extract",),
    "onrecord.remember.end_turn": ("end_turn",),
    "onrecord.checks.adding": ("add_check", "approve_check", "drop_check"),
    "onrecord.checks.checking": ("check",),
    "onrecord.checks.listing": ("checks",),
    "onrecord.review.planning": ("plan",),
    "onrecord.review.applying": ("apply",),
    "onrecord.review.rolling_back": ("roll_back",),
    "onrecord.review.listing": ("changesets",),
    "onrecord.context.give": ("context",),
    "onrecord.context.attaching": ("attach",),
    "onrecord.context.turns": ("note_turn", "turns", "clear_turns"),
    "onrecord.workspace.conversations": (
        "register_conversation",
        "conversations",
        "show_conversation",
        "share_conversation",
        "unshare_conversation",
        "delete_conversation",
    ),
    "onrecord.workspace.artifacts": ("write_artifact", "read_artifact", "artifacts", "delete_artifact"),
    "onrecord.workspace.scratchpads": (
        "append_scratchpad",
        "read_scratchpad",
        "scratchpads",
        "clear_scratchpad",
    ),
    "onrecord.workspace.agents": ("set_agent", "show_agent", "share_agent", "unshare_agent"),
    "onrecord.access.keys": ("create_key", "change_key", "list_keys", "revoke_key", "waive_keys"),
    "onrecord.access.tenants": ("create_tenant", "list_tenants", "set_tenant", "erase_tenant"),
    "onrecord.access.auditing": ("audit",),
    "onrecord.care.export": ("export",),
    "onrecord.care.importing": ("import_",),
    "onrecord.care.backup": ("backup",),
    "onrecord.care.doctor": ("doctor",),
    "onrecord.care.reindex": ("reindex",),
    "onrecord.care.embedding": ("embed_missing",),
    "onrecord.care.status": ("status",),
    "onrecord.care.reassigning": ("reassign",),
    "onrecord.care.dismissing": ("dismiss_failures",),
}
#: Only for a person at the command line, never for a model: these use a file of this machine, erase a tenant, or open the
#: store.
FOR_PEOPLE: Final = frozenset({"export", "import_", "backup", "erase_tenant", "waive_keys"})
#: The file of each operation by its name.
HOMES: Final = {name: file for file, names in FEATURES.items() for name in names}


@cache
def operation_named(name: str) -> Operation:
    """The operation of this name, one of `HOMES`. Its feature is loaded for it."""
    operation: Operation = getattr(import_module(HOMES[name]), name).operation
    return operation


def __getattr__(name: str) -> tuple[Operation, ...]:
    """`OPERATIONS`, all of them; this loads every feature."""
    if name != "OPERATIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(operation_named(each) for each in HOMES)
