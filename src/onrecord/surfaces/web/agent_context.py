"""WHAT would an agent be given unasked? The context of a chosen caller, part by part, and what it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from onrecord.context.give import GiveContext
from onrecord.context.parts import ContextGiven
from onrecord.model.ids import exactly
from onrecord.model.memory import Memory
from onrecord.surfaces.web.page_view import PageView
from onrecord.surfaces.web.site import Page

_FIELDS: Final = (
    *("question", "conversation", "parts", "max_tokens"),
    *("for_user", "for_personas", "for_systems"),
)
_ALL_TOKENS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _AgentContext:
    """What an agent is given, and what of it is given in every turn."""

    given: ContextGiven
    #: What is always applied, each with its tokens, and the tokens of all of it with the words around it.
    rent: Sequence[tuple[Memory, int]]
    rented: int


def agent_context(view: PageView) -> Response:
    fields = view.attempt(lambda: view.fields("context", view.query, *_FIELDS)) or {}
    shown = None if view.refused else view.attempt(lambda: _shown(view, fields))
    return view.html(
        "agent_context.html", shown=shown, budget=fields.get("max_tokens", GiveContext().max_tokens)
    )


def _shown(view: PageView, fields: Mapping[str, Any]) -> _AgentContext:
    # What is applied in every turn costs this again and again, whatever the budget of this one is.
    whom = {name: fields[name] for name in ("for_user", "for_personas", "for_systems") if name in fields}
    always = view.door.context(parts=("always",), max_tokens=_ALL_TOKENS, **whom)
    costs = [each for block in always.blocks for each in zip(block.memories, block.costs, strict=True)]
    return _AgentContext(
        given=view.door.context(**fields),
        rent=[(view.door.show(exactly(id)).memory, cost) for id, cost in costs],
        rented=always.tokens,
    )


PAGES = (Page(path="/context", show=agent_context, menu="Agent context"),)
