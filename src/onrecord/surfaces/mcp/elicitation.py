"""HOW is a person asked first? By a form that their client shows; if it cannot show one, by a link to a page.

In the newer version of the protocol the question is the answer to the call, and the call comes again with the
person's reply; in the older one the question goes to the client while the call waits. Nothing that a model sees or
sends counts as an agreement: the question is signed, not stored, and travels between client and server alone.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import anyio
import mcp_types as protocol
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from onrecord.access.confirmation import VALID_FOR
from onrecord.errors import OnRecordError
from onrecord.model.ids import exactly
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import CONVERSATION, Arguments, Tool, ToolAnswer, in_conversation

#: The path of the page where a person answers, before the code.
CONFIRM: Final = "/confirm"
_YES: Final = "confirm"
_FORM: Final = {
    "type": "object",
    "properties": {
        _YES: {"type": "boolean", "title": "Yes, do it", "description": "It cannot be undone."},
    },
    "required": [_YES],
}
#: How long a call of the older era waits for the person.
ANSWER_WITHIN: Final = VALID_FOR.total_seconds()
Said = Literal["yes", "no", "nothing"]


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The question to a person, and the token that must come back with the reply."""

    text: str
    word: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: whether its client can ask a person, and the person's reply with its token."""

    arguments: Arguments
    can_ask: bool = False
    said: Said | None = None
    word: str | None = None

    def answered(self, said: Said | None, question: Elicitation) -> "ToolCall":
        """The call with the reply; None means that the client could not show the question."""
        if said is None:
            return replace(self, can_ask=False)
        return replace(self, said=said, word=question.word)


def is_modern(context: ServerRequestContext[Any, Any]) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def reply_of(
    context: ServerRequestContext[Any, Any], asked: protocol.CallToolRequestParams
) -> tuple[bool, Said | None, str | None]:
    """Whether this client can ask a person, and the person's reply if it came with the call."""
    able = context.session.client_capabilities
    forms = able.elicitation if able is not None else None
    # A client that lists no kinds of questions can show forms, which were the first kind.
    can_ask = forms is not None and (forms.form is not None or forms.url is None)
    if not is_modern(context):
        return can_ask and context.session.can_send_request, None, None
    reply = (asked.input_responses or {}).get(_YES)
    if not isinstance(reply, protocol.ElicitResult):
        return can_ask, None, None
    return can_ask, _said(reply), asked.request_state


def _said(reply: protocol.ElicitResult) -> Said:
    """Only a yes is a yes: a form that came back without it, or not at all, is a no."""
    return "yes" if reply.action == "accept" and (reply.content or {}).get(_YES) is True else "no"


def input_required(question: Elicitation) -> protocol.InputRequiredResult:
    form = protocol.ElicitRequestFormParams(message=question.text, requested_schema=dict(_FORM))
    return protocol.InputRequiredResult(
        input_requests={_YES: protocol.ElicitRequest(params=form)}, request_state=question.word
    )


async def asked_of_a_person(context: ServerRequestContext[Any, Any], question: Elicitation) -> Said | None:
    """In the older version: send the form and wait for a limited time. None if the client failed to show it."""
    with anyio.move_on_after(ANSWER_WITHIN):
        try:
            return _said(await context.session.elicit_form(question.text, dict(_FORM), context.request_id))
        except MCPError:
            return None
    return "nothing"


def confirmed(
    door: OnRecord, tool: Tool, call: ToolCall, pages: str | None = None
) -> ToolAnswer | Elicitation:
    """Do it if no one needs to be asked, or if a person has said yes to exactly this; otherwise the question, or the
    answer to a refusal. `pages` is the address under which people open pages, if they can.
    """
    asks = tool.confirmation
    text = None if asks is None else asks.question(door, call.arguments)
    if asks is None or text is None:
        return _with_link(door, tool, call, pages)
    if not call.can_ask:
        link = pages and _link(door, tool.name, _placed(door, tool, call.arguments), pages)
        return asks.unable(door, call.arguments, text, link)
    # The text is part of what is signed, so a yes to another text does not count.
    what = json.dumps([tool.name, call.arguments, text], sort_keys=True)
    checked = "wrong" if call.word is None else door.verify_confirmation(what, call.word)
    if call.said is None or checked == "wrong":
        return Elicitation(text, door.issue_confirmation(what))
    if call.said == "no":
        return asks.declined(call.arguments)
    if call.said == "nothing" or checked == "expired":
        return asks.late(call.arguments)
    return asks.agreed(door, call.arguments)


def _with_link(door: OnRecord, tool: Tool, call: ToolCall, pages: str | None) -> ToolAnswer:
    """The tool's answer; with the address where a person does what the call leaves to them."""
    answer = tool.handle(door, call.arguments)
    left = None if pages is None or tool.leaves is None else tool.leaves(door, call.arguments, answer)
    if left is None or pages is None:
        return answer
    note = f"This waits for a person, who opens {_link(door, left.tool, left.arguments, pages)}"
    notes = [*answer.structured.get("notes", ()), note]
    text = None if answer.text is None else f"{answer.text}\n{note}"
    return ToolAnswer({**answer.structured, "notes": notes}, text)


def _link(door: OnRecord, tool: str, arguments: Arguments, pages: str) -> str:
    return f"{pages}{CONFIRM}/{door.ask_person(tool, dict(_in_full(door, arguments)))}"


def _in_full(door: OnRecord, arguments: Arguments) -> Iterator[tuple[str, Any]]:
    """The arguments with whole ids of memories: whoever opens the link may have another of the same name."""
    here, _ = in_conversation(door, arguments)

    def in_full(id: Any) -> Any:
        try:
            return exactly(here.show(id).memory.id)
        except OnRecordError:
            return id

    for name, value in arguments.items():
        if name == "id":
            value = in_full(value)
        elif name == "insight_ids":
            value = [in_full(each) for each in value]
        yield name, value


def _placed(door: OnRecord, tool: Tool, arguments: Arguments) -> Arguments:
    """The arguments with the conversation of the connection, since the person's page is in none."""
    here = door.caller.conversation
    if here is None or CONVERSATION in arguments or CONVERSATION not in tool.takes.get("properties", {}):
        return arguments
    return {**arguments, CONVERSATION: here}
