"""MAY an agent do this? The page that its link opens: a person sees what is asked, and says yes or no, once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from starlette.responses import Response

from onrecord.access import confirmation
from onrecord.context.frame import data
from onrecord.errors import Conflict, NotFound, OnRecordError
from onrecord.model.ledger import PersonsQuestion, YesOrNo
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.elicitation import CONFIRM
from onrecord.surfaces.mcp.tools import Tool, ToolAnswer, as_agent_of
from onrecord.surfaces.rest.request_runner import RequestRunner
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page

_CHANGED: Final = (
    "What this is about has changed since you opened the page. Look again; the link still counts."
)
_NOTHING_TO_DO: Final = "There is nothing left to decide here: it was done already, what it is about is gone, or it is not yours to decide."


def page(runner: RequestRunner, faces: Mapping[str, Sequence[Tool]]) -> Page:
    """The page behind every link; what is asked through it are calls of these tools."""
    card = _Cards(runner, faces)
    return Page(path=f"{CONFIRM}/{{code}}", show=card.show, acts={"yes": card.agree, "no": card.decline})


@dataclass(frozen=True, slots=True)
class _Card:
    """A question as a person sees it, and the tool that a yes calls."""

    question: PersonsQuestion
    tool: Tool
    text: str

    @property
    def digest(self) -> str:
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class _Cards:
    """Shows questions and takes their answers."""

    def __init__(self, runner: RequestRunner, faces: Mapping[str, Sequence[Tool]]) -> None:
        self._runner, self._faces = runner, faces

    def show(self, view: PageView) -> Response:
        return view.html("confirm.html", card=self._card(view), outcome=None)

    def agree(self, view: PageView, form: Form) -> Response:
        card = self._card(view)
        # A yes to a text that is no longer the same is not a yes.
        if form.one("shown") != card.digest:
            raise Conflict(_CHANGED)
        self._answer(view, "yes")
        try:
            answer = _done(card, view.door)
        except OnRecordError as problem:
            # The page of a refused form would open the link again, which is used up.
            outcome = f"It was not done, and the link is used up. {problem}"
            return view.html("confirm.html", status=409, card=card, outcome=outcome)
        return view.html("confirm.html", card=card, outcome=_outcome(answer))

    def decline(self, view: PageView, form: Form) -> Response:
        card = self._card(view)
        self._answer(view, "no")
        return view.html(
            "confirm.html", card=card, outcome="You said no. Nothing was done, and the link is used up."
        )

    def _answer(self, view: PageView, said: YesOrNo) -> None:
        runner = self._runner
        confirmation.answer(view.door.caller, view.path["code"], said, runner.store, runner.clock())

    def _card(self, view: PageView) -> _Card:
        runner = self._runner
        caller = view.door.caller
        question = confirmation.asked(caller, view.path["code"], runner.store, runner.clock())
        caller.require_person("To answer what an agent asked")
        tool = next((each for each in self._askable() if each.name == question.tool), None)
        text = None if tool is None else _text(tool, view.door, question.arguments)
        if tool is None or text is None:
            raise NotFound(_NOTHING_TO_DO)
        return _Card(question, tool, text)

    def _askable(self) -> list[Tool]:
        return [
            tool
            for name in self._faces
            for tool in self._faces[name]
            if tool.confirmation is not None or tool.card is not None
        ]


def _text(tool: Tool, door: OnRecord, arguments: Mapping[str, Any]) -> str | None:
    """What this person is asked, as far as they may see it themselves."""
    if tool.confirmation is not None:
        return tool.confirmation.question(as_agent_of(door), arguments)
    return None if tool.card is None else tool.card(door, arguments)


def _done(card: _Card, door: OnRecord) -> ToolAnswer:
    arguments = card.question.arguments
    if card.tool.confirmation is not None:
        return card.tool.confirmation.agreed(as_agent_of(door), arguments)
    return card.tool.handle(door, arguments)


def _outcome(answer: ToolAnswer) -> str:
    return answer.text or json.dumps(data(answer.structured), ensure_ascii=False)
