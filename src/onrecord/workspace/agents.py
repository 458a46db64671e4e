"""HOW is an agent set? Its settings fill in what its requests leave open."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.agent import AGENT_NAME, ShownAgent, agent_faults
from onrecord.model.caller import Caller
from onrecord.model.request import PLACES, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.workspace import AgentSettings
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub_value

_DEFAULT: Final = AgentSettings()


@dataclass(frozen=True, slots=True)
class SetAgent(Request):
    """Set how an agent searches when its requests leave it open. What is left out takes its default."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)
    intent: bool = ask(
        rules.FLAG, "Let cue words of a question raise the kinds of memory they hint at.", _DEFAULT.intent
    )
    decay: bool | None = ask(
        OrNone(rules.FLAG),
        "Let old memories weigh less. When left out, each request decides.",
        _DEFAULT.decay,
    )
    half_life_days: int = ask(
        rules.Integer(1, 36_500),
        "With decay: after how many days old memories weigh less.",
        _DEFAULT.half_life_days,
    )
    decay_floor: float = ask(
        rules.Fraction(),
        "With decay: the share of its score that the oldest memory keeps.",
        _DEFAULT.decay_floor,
    )
    limit: int = ask(rules.Integer(1, limits.RECALL_LIMIT), "How many hits at most.", _DEFAULT.limit)
    conversation_places: int = ask(
        PLACES, "Places kept for its conversation's own memories.", _DEFAULT.conversation_places
    )
    tenant_places: int = ask(PLACES, "Places kept for the tenant's memories.", _DEFAULT.tenant_places)
    global_places: int = ask(PLACES, "Places kept for global memories.", _DEFAULT.global_places)
    max_tokens: int | None = ask(
        OrNone(rules.Integer(0, 10_000_000)),
        "How many tokens its hits may cost to read.",
        _DEFAULT.max_tokens,
    )
    metadata: Mapping[str, Any] | None = ask(
        OrNone(rules.Json()), "Anything else that is kept with it, as a JSON object.", None
    )

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class ShowAgent(Request):
    """Show the settings of an agent; without any, the defaults."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


_NAMES: Final = tuple(each.name for each in fields(AgentSettings))


@operation("write", "memory.manage", "PUT /workspace/agents/{agent}", "agents set", begins=True)
def set_agent(call: Call, ask: SetAgent) -> ShownAgent:
    clean = cast(Mapping[str, Any], scrub_value("", ask.metadata or {})[0])
    settings = AgentSettings(**{name: getattr(ask, name) for name in _NAMES} | {"metadata": clean})
    with call.writing() as writing:
        made = writing.workspace.set_agent(ask.agent, settings)
        writing.note("set_agent", ask.agent)
        return call.done(writing, made)


@operation("read", "memory.read", "GET /workspace/agents/{agent}", "agents show")
def show_agent(call: Call, ask: ShowAgent) -> ShownAgent:
    with call.reading() as reading:
        found = reading.workspace.agent(ask.agent)
    return found or ShownAgent(agent=ask.agent, settings=AgentSettings())
