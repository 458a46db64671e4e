"""HOW is an agent of the arbiter runtime set? By its own document; we follow the memory block in it.

What an advisor does for it is done by the model that the document names under `advisor`, if that is one of those configured.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from onrecord.faces.arbiter.entries import seconds
from onrecord.faces.arbiter.fields import Wrong
from onrecord.model import rules
from onrecord.model.advice import NO
from onrecord.model.agent import ShownAgent
from onrecord.model.rules import shown
from onrecord.model.shapes import Object, checked_field
from onrecord.providers.advising import NO_ADVISOR
from onrecord.service import OnRecord
from onrecord.workspace.agents import SetAgent

#: The key in the agent's metadata under which we store its document.
_KEPT: Final = "arbiter"
#: The settings that we follow: the name in the document, and the name of our setting.
_OBEYED: Final = {
    "intent_routing": "intent",
    "age_decay": "decay",
    "age_half_life_days": "half_life_days",
    "age_floor": "decay_floor",
}
_ADVISED: Final = ("search_expand", "auto_tag", "auto_supersede")
#: Said of switches without a model that could obey them.
NO_MODEL: Final = "the document names no advisor.model"
_ASKED: Final = SetAgent.__dataclass_fields__
_DOCUMENT: Final = Object(
    "the document of an agent",
    {
        "name": rules.NAME,
        "advisor": Object("an advisor", {"model": rules.NAME, "mode": rules.NAME}, passes_over=True),
        "memory": Object(
            "the memory block",
            {name: _ASKED[ours].metadata["rule"] for name, ours in _OBEYED.items()}
            | dict.fromkeys(_ADVISED, rules.FLAG),
        ),
    },
    passes_over=True,
)


def put_agent(door: OnRecord, agent: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Set an agent from its document. Settings that the memory block leaves out return to their defaults."""
    checked_field("", _DOCUMENT, document)
    if document.get("name") not in (None, agent):
        raise Wrong(
            "name", f"name must be {shown(agent)}, the agent that is set (got {shown(document['name'])})"
        )
    before = door.show_agent(agent).settings
    block = document.get("memory") or {}
    asked = {ours: block[name] for name, ours in _OBEYED.items() if block.get(name) is not None}
    kept = {name: value for name, value in asdict(before).items() if name not in _OBEYED.values()}
    metadata = {**before.metadata, _KEPT: dict(document)}
    return _shown(door, door.set_agent(agent, **kept | asked | {"metadata": metadata}))


def get_agent(door: OnRecord, agent: str) -> dict[str, Any]:
    """The document of an agent; its memory block shows the settings in force."""
    return _shown(door, door.show_agent(agent))


def wants(agent: ShownAgent, switch: str) -> bool:
    """Whether the agent's document turns on this switch of the advisor."""
    return bool(_block(agent).get(switch, False))


def whom(agent: ShownAgent, switch: str) -> str | None:
    """Which advisor a switch asks: the agent's own, or none. None if the document does not contain the switch."""
    value = _block(agent).get(switch)
    return None if value is None else advisor_of(agent) if value else NO


def advisor_of(agent: ShownAgent) -> str:
    """The model of the agent's advisor; `no` if its document names none."""
    advisor = _document(agent).get("advisor")
    model = advisor.get("model") if isinstance(advisor, Mapping) else None
    return model if isinstance(model, str) and model.strip() else NO


def decays(agent: ShownAgent) -> bool:
    """Whether old entries weigh less for this agent: yes, unless someone has turned that off."""
    return agent.settings.decay is not False


def _shown(door: OnRecord, agent: ShownAgent) -> dict[str, Any]:
    document = _document(agent)
    in_force = {name: getattr(agent.settings, ours) for name, ours in _OBEYED.items()}
    in_force |= {"age_decay": decays(agent)} | {name: wants(agent, name) for name in _ADVISED}
    fields = {
        "agent": {**document, "name": agent.agent, "memory": in_force},
        "updated_at": None if agent.updated_at is None else seconds(agent.updated_at),
    }
    without_effect = [name for name in _ADVISED if in_force[name]]
    if door.advisor.is_there:
        why = NO_MODEL if advisor_of(agent) == NO else ""
    else:
        without_effect += ["advisor"] if document.get("advisor") else []
        why = f"{NO_ADVISOR} here"
    if not without_effect or not why:
        return fields
    return fields | {"note": f"{why}: {', '.join(without_effect)} is stored as given, without any effect"}


def _document(agent: ShownAgent) -> Mapping[str, Any]:
    kept = agent.settings.metadata.get(_KEPT)
    return kept if isinstance(kept, Mapping) else {}


def _block(agent: ShownAgent) -> Mapping[str, Any]:
    block = _document(agent).get("memory")
    return block if isinstance(block, Mapping) else {}
