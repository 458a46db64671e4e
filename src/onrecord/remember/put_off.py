"""WHERE does a turn wait until its facts are extracted? In a row without secrets, with a job, in the transaction that
accepted it.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from onrecord.model.caller import Caller
from onrecord.operation import Call
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.records import Writing
from onrecord.store.ports.workspace import WaitingTurn
from onrecord.workspace import conversations

if TYPE_CHECKING:
    from onrecord.remember.extract import Extract, SaidTurn

#: What else of a request counts for its facts.
KEPT_FIELDS = ("scope", "kind", "turn", "advisor", "agent", "review")


def put_off(call: Call, writing: Writing, ask: "Extract", said: "SaidTurn") -> None:
    """Let a turn wait for a worker. It goes with its conversation, which begins if nobody has begun it."""
    here = conversations.enter(writing)
    caller = call.caller if here is None else call.caller.inside(here.key.id, here.key.by)
    asked = {name: getattr(ask, name) for name in KEPT_FIELDS}
    asked |= {"user": scrub(said.user).text, "assistant": scrub(said.assistant).text, "sha256": said.sha256}
    writing.put_off(WaitingTurn(_kept(caller), asked, said.at))


def _kept(caller: Caller) -> dict[str, Any]:
    """A caller as JSON: whoever waits is saved for with the rights that they had."""
    values = {each.name: getattr(caller, each.name) for each in fields(caller)}
    return values | {
        "personas": sorted(caller.personas),
        "permissions": sorted(caller.permissions),
        "systems": dict(caller.systems),
    }
