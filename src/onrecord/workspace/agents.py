"""HOW is an agent set? A document of its own, which fills what its requests leave open."""

from dataclasses import fields, replace
from datetime import datetime
from typing import Final

from onrecord.model.answers import ShownAgent
from onrecord.model.caller import Caller
from onrecord.model.requests import Recall, SetAgent, ShowAgent, request_fields
from onrecord.model.workspace import AgentSettings
from onrecord.store.ports.store import Store

_NAMES: Final = tuple(each.name for each in fields(AgentSettings))
_DEFAULTS: Final = {each.name: each.default for each in request_fields(Recall)}


def put(caller: Caller, ask: SetAgent, store: Store, now: datetime) -> ShownAgent:
    settings = AgentSettings(**{name: getattr(ask, name) for name in _NAMES})
    with store.writing(caller, now) as writing:
        made = writing.workspace.set_agent(ask.agent, settings)
        writing.note("set_agent", ask.agent)
    return made


def shown(caller: Caller, ask: ShowAgent, store: Store, now: datetime) -> ShownAgent:
    with store.reading(caller, now) as reading:
        found = reading.workspace.agent(ask.agent)
    return found or ShownAgent(agent=ask.agent, settings=AgentSettings())


def filled(ask: Recall, settings: AgentSettings) -> Recall:
    """A question with what it leaves open taken from an agent's settings; what it says itself counts."""
    open_fields = [name for name in _NAMES if name in _DEFAULTS and getattr(ask, name) == _DEFAULTS[name]]
    return replace(ask, **{name: getattr(settings, name) for name in open_fields})
