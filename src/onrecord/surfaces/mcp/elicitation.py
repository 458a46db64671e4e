"""HOW is a person asked first? By a form where their client can show one, or else by a word that the second call brings back.

In the newer era of the protocol the question is the answer to the call, and the call comes again with what the person said;
in the older one it goes to the client while the call waits. Who said yes to what is signed, not kept.
"""

import json
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import mcp_types as protocol
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from onrecord.errors import Fault, Invalid
from onrecord.model.rules import Text
from onrecord.model.shapes import Described, Object
from onrecord.service import OnRecord
from onrecord.surfaces.mcp.tools import Arguments, Tool, ToolAnswer

#: The argument in which a client that cannot ask brings the word back.
CONFIRM: Final = "confirm"
_FORM: Final = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Yes, do it", "description": "It cannot be undone."},
    },
    "required": [CONFIRM],
}
Said = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Elicitation:
    """What a person is asked, and the word that the answer is to come back with."""

    text: str
    word: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: whether its client can ask a person, and what the person said, to which word."""

    arguments: Arguments
    can_ask: bool = False
    said: Said | None = None
    word: str | None = None

    def answered(self, said: Said, question: Elicitation) -> "ToolCall":
        return replace(self, said=said, word=question.word)


def is_modern(context: ServerRequestContext[Any, Any]) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def reply_of(
    context: ServerRequestContext[Any, Any], asked: protocol.CallToolRequestParams
) -> tuple[bool, Said | None, str | None]:
    """Whether a person can be asked through this client, and what one said if that came with the call."""
    able = context.session.client_capabilities
    forms = able.elicitation if able is not None else None
    # One that names no kind of question at all can show forms: they were the first kind.
    can_ask = forms is not None and (forms.form is not None or forms.url is None)
    if not is_modern(context):
        return can_ask and context.session.can_send_request, None, None
    reply = (asked.input_responses or {}).get(CONFIRM)
    if not isinstance(reply, protocol.ElicitResult):
        return can_ask, None, None
    return can_ask, _said(reply), asked.request_state


def _said(reply: protocol.ElicitResult) -> Said:
    """Yes is yes alone: a form that was sent back without it, or not at all, is a no."""
    return "yes" if reply.action == "accept" and (reply.content or {}).get(CONFIRM) is True else "no"


def input_required(question: Elicitation) -> protocol.InputRequiredResult:
    form = protocol.ElicitRequestFormParams(message=question.text, requested_schema=dict(_FORM))
    return protocol.InputRequiredResult(
        input_requests={CONFIRM: protocol.ElicitRequest(params=form)}, request_state=question.word
    )


async def asked_of_a_person(context: ServerRequestContext[Any, Any], question: Elicitation) -> Said:
    """In the older era: send the form and wait. A client that fails to show it has asked nobody."""
    try:
        reply = await context.session.elicit_form(question.text, dict(_FORM), context.request_id)
    except MCPError:
        return "no"
    return _said(reply)


def confirmed(door: OnRecord, tool: Tool, call: ToolCall) -> ToolAnswer | Elicitation:
    """Do it if no one need be asked, or a person has said yes to exactly this; else what to ask, or what comes of a no."""
    if tool.confirmation is None:
        return tool.handle(door, call.arguments)
    arguments = {name: value for name, value in call.arguments.items() if name != CONFIRM}
    text = tool.confirmation.question(door, arguments)
    if text is None:
        return tool.handle(door, arguments)
    # The text belongs to it: whoever said yes to other words, has not said yes to these.
    what = json.dumps([tool.name, arguments, text], sort_keys=True)
    if call.can_ask:
        if call.said is None or call.word is None or not door.verify_confirmation(what, call.word):
            return Elicitation(text, door.issue_confirmation(what))
        return tool.handle(door, arguments) if call.said == "yes" else tool.confirmation.declined
    word = call.arguments.get(CONFIRM)
    if word is None:
        return tool.confirmation.waiting(text, door.issue_confirmation(what))
    if not isinstance(word, str) or not door.verify_confirmation(what, word):
        reason = "is not the word that was given for exactly this in the last minutes; call without it for a new one"
        raise Invalid([Fault(CONFIRM, reason)])
    return tool.handle(door, arguments)


def takes_word(takes: Object) -> Object:
    """What a tool takes that asks first: also the word that a client brings back which cannot ask."""
    told = "Only where the first call gave you such a word, and after the person has agreed: that word."
    return replace(takes, fields={**takes.fields, CONFIRM: Described(Text(), told)})
