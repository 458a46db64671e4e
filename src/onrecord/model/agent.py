"""WHAT are the name and the settings of an agent?"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from onrecord.errors import Fault
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.workspace import AgentSettings

_AGENT: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


AGENT_NAME: Final = rules.Text(at_least=1, at_most=limits.AGENT_CHARACTERS, line=True)


def agent_faults(agent: str | None) -> Iterator[Fault]:
    """Letters, digits, - and _ alone, since the name of an agent is part of addresses."""
    if agent is not None and not _AGENT.fullmatch(agent):
        yield Fault("agent", f"must be made of letters, digits, - and _ alone (got {agent!a})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAgent(Answer):
    """The settings of an agent, and who changed them last and when; None where nobody has.

    Its users and admins read and write its scratchpad and its settings; one that nobody uses yet is anybody's.
    """

    agent: str
    settings: AgentSettings
    updated_at: datetime | None = None
    updated_by: str | None = None
    users: tuple[str, ...] = ()
