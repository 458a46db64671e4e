"""MAY the caller save so much? Limits of unattended runs and quotas of keys, counted in the transaction that saves."""

from onrecord.errors import SaveLimit
from onrecord.model.caller import Caller
from onrecord.remember.draft import SaveDraft, SaveTools
from onrecord.store.ports.records import Writing


def within_limits(draft: SaveDraft, writing: Writing, tools: SaveTools) -> SaveDraft:
    """Take back a save beyond the limit. A save that failed or changed nothing does not count."""
    if draft.outcome != "unchanged":
        refuse_too_many(draft.caller, writing, tools.saves_per_run)
    return draft


def refuse_too_many(caller: Caller, writing: Writing, saves_per_run: int) -> None:
    """SaveLimit if this transaction exceeds the limit; a proposal counts like any save."""
    capped = caller.actor == "unattended" and caller.run is not None
    if not (capped or caller.key):
        return
    saves = writing.save_counts()
    if capped and saves.by_run > saves_per_run:
        raise SaveLimit(
            f"This run has reached its limit of saves ({saves_per_run}); nothing more is saved in this run. "
            "Save what matters most first, or let a person save the rest.",
            "run",
            saves_per_run,
        )
    if saves.key_may is not None and saves.by_key > saves.key_may:
        raise SaveLimit(
            f"The key {caller.key} has reached its limit of saves in 24 hours ({saves.key_may}). "
            "Try again later, or ask an admin for a key that may save more.",
            "key",
            saves.key_may,
        )
