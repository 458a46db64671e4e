"""WHICH kind is it? The list of kinds that an agent reads before it saves something."""

from typing import Final

from onrecord.model.limits import KINDS, Kind

#: What goes in each kind, in a few words: an agent reads this with every prompt.
MEANING: Final[dict[Kind, str]] = {
    "user": "durable facts about the person: role, constraints",
    "feedback": 'corrections, "do this, not that"',
    "project": "deliverables and work in progress",
    "reference": "sources outside: papers, docs, pages",
    "learning": "conclusions drawn from several sources",
    "context": "the situation: current focus, blockers",
    "preference": "how someone likes things done",
    "decision": "what was decided, and why",
    "workflow": "how something is done, step by step",
    "summary": "what a longer text or talk came to",
    "skill": "a way of solving a kind of problem",
    "fact": "anything else that is true",
}


def legend() -> str:
    """One line for each kind."""
    return "\n".join(["Kinds of memory:", *(f"- {kind}: {MEANING[kind]}" for kind in KINDS)])
