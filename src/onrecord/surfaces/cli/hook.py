"""HOW does a coding agent's host speak to us? `onrecord hook` reads the event from standard input. When a session or a turn
begins, it gives what bears on it; when one ends, it takes what was said, from the transcript that the event names.

It never holds up the agent: hosts take the exit code 2 for a wish to block, so that every error is 1.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from onrecord.context.frame import framed
from onrecord.errors import OnRecordError, invalid
from onrecord.features import operation_named
from onrecord.model.limits import QUESTION_CHARACTERS
from onrecord.remember.end_turn import TRANSCRIPT_BYTES, EndTurn
from onrecord.surfaces.cli.background_embedding import leave_worker
from onrecord.surfaces.cli.commands import (
    COMMON,
    IN_CONVERSATION,
    common_options,
    config_of,
    parameters_of,
    reached_door,
    request_of,
)
from onrecord.surfaces.cli.hook_limit import HookReply
from onrecord.surfaces.cli.hook_limit import within as in_time
from onrecord.surfaces.cli.hook_session import HookSession
from onrecord.text.spoken import said_by_themselves

if TYPE_CHECKING:
    from onrecord.doors import Door

_FAILED: Final = 1
#: So much of an event is read, and so much of each text in it: a long answer is in the transcript, too.
_EVENT_BYTES: Final = 4 * 1024 * 1024
_LONGEST: Final = 12_000
#: Events at which an agent is given something.
_BEGINNINGS: Final = frozenset({"SessionStart", "UserPromptSubmit", "BeforeAgent"})
#: Sessions that still have before them what they were shown.
_GO_ON: Final = frozenset({"resume"})
_TOKENS: Final = 1_500
_HEADING: Final = "What memory holds on this prompt, best first:"
#: In fewer words nothing is asked that memory could bear on.
_FEWEST_WORDS: Final = 3
_MEMORIES: Final = 5
_HELP = """Give a coding agent what bears on its work, and take what was said: the hook of its host runs this.

At SessionStart it prints the standing notes and what was learned, at UserPromptSubmit the memories that bear on the prompt and
that this session was not shown yet. At Stop, PreCompact and SessionEnd it hands over the turn to extract its facts.

Reads the event, a JSON object, from standard input or from the argument, and the transcript that it names; prints what the
host is to hand to the agent, if anything. Every turn is read once. Without an advisor, the agent is asked to save what
matters itself, unless it has. Errors never block the agent: their exit code is always 1. With --within they go to the
person and the exit code is 0, and whatever takes longer goes on alone.
"""


class _HookCommand(click.Command):
    """A command whose misspelt options are no wish to block, either."""

    def make_context(self, *given: Any, **named: Any) -> click.Context:
        try:
            return super().make_context(*given, **named)
        except click.UsageError as problem:
            problem.show()
            raise click.exceptions.Exit(_FAILED) from None


def hook_command() -> click.Command:
    given = [each for each in parameters_of(EndTurn) if each.name not in ("event", "transcript")]
    return _HookCommand(
        "hook",
        params=[
            click.Argument(["event"], required=False),
            *given,
            click.Option(
                ["--within"], type=click.FloatRange(0.1), help="Hold up the host for so many seconds at most."
            ),
            IN_CONVERSATION,
            *COMMON,
        ],
        help=_HELP,
        short_help="Give a coding agent what bears on its work, and take what was said, from a hook of its host",
        callback=click.pass_context(_run),
    )


def _run(context: click.Context, event: str | None, within: float | None, **given: Any) -> None:
    common = common_options(context, given)
    try:
        message = _read(event)
        if within is None:
            reply = _answered(message, given, common)
            click.echo(reply.text, nl=False)
            reply.delivered()
            return
        late = _without_memory(message, f"no answer within {within:g} s")
        click.echo(in_time(within, lambda: _forgiven(message, given, common), late), nl=False)
    except OnRecordError as problem:
        if within is not None:
            click.echo(_without_memory({}, str(problem)), nl=False)
            return
        click.echo(f"onrecord hook: {problem}", err=True)
        context.exit(_FAILED)


def _forgiven(message: Any, given: dict[str, Any], common: dict[str, Any]) -> HookReply:
    """The reply to the host; any failure becomes a message to the person."""
    try:
        return _answered(message, given, common)
    except OnRecordError as problem:
        return HookReply(_without_memory(message, str(problem)))
    except Exception as problem:
        return HookReply(_without_memory(message, f"{type(problem).__name__} inside OnRecord"))


def _without_memory(message: Any, reason: str) -> str:
    """Said to the person: the agent would take it for something to do."""
    begins = isinstance(message, dict) and message.get("hook_event_name") in _BEGINNINGS
    what = "this turn runs without memory" if begins else "this turn may not be kept"
    return json.dumps({"systemMessage": f"OnRecord: {what}: {reason}"}, ensure_ascii=False) + "\n"


def _answered(message: Any, given: dict[str, Any], common: dict[str, Any]) -> HookReply:
    """What the hook of an event prints."""
    name = message.get("hook_event_name") if isinstance(message, dict) else None
    options = request_of(EndTurn, given | {"event": "{}"})
    assert isinstance(options, EndTurn)
    with reached_door(common, create=True) as door:
        if name == "SessionStart":
            reply = _at_start(door, message)
        elif name in _BEGINNINGS:
            reply = _on_prompt(door, message)
        else:
            request = replace(options, event=message, transcript=_transcript(message))
            output = door.perform(operation_named("end_turn"), request).output
            reply = HookReply(f"{output}\n" if output else "")
        leave_worker(door, config_of(common))
    return reply


def _for_agent(name: str, text: str) -> str:
    added = {"hookEventName": name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": added}, ensure_ascii=False) + "\n"


def _at_start(door: "Door", message: dict[str, Any]) -> HookReply:
    """The standing notes, and how much more there is to search."""
    if message.get("source") in _GO_ON:
        return HookReply("")
    given = door.context(parts=["always", "briefing"], max_tokens=_TOKENS)
    kinds = door.tally("kind")
    if not kinds.total:
        return HookReply("")
    counted = ", ".join(f"{each.memories} {each.value}" for each in kinds.groups)
    held = f"Memory (OnRecord) holds {kinds.total} memories: {counted}. Search it before you decide what may be known."
    text = "\n".join(filter(None, (given.text, held)))
    return HookReply(_for_agent("SessionStart", text), lambda: _session(message).note((), anew=True))


def _on_prompt(door: "Door", message: dict[str, Any]) -> HookReply:
    """The memories that bear on a prompt, as data; each version of one once a session."""
    prompt = said_by_themselves(str(message.get("prompt") or ""))
    if len(prompt.split()) < _FEWEST_WORDS:
        return HookReply("")
    session = _session(message)
    known = session.shown()
    hits = door.recall(prompt[-QUESTION_CHARACTERS:], limit=_MEMORIES).hits
    fresh = {f"{hit.memory.id}@{hit.memory.version}": hit.memory for hit in hits}
    fresh = {version: memory for version, memory in fresh.items() if version not in known}
    if not fresh:
        return HookReply("")
    text = framed(list(fresh.values()), heading=_HEADING)
    return HookReply(_for_agent(str(message["hook_event_name"]), str(text)), lambda: session.note(fresh))


def _session(message: dict[str, Any]) -> HookSession:
    return HookSession(str(message.get("session_id") or message.get("conversation_id") or ""))


def _read(event: str | None) -> Any:
    text = sys.stdin.read(_EVENT_BYTES) if event in (None, "-") else str(event)
    try:
        message = json.loads(text)
        return (
            {name: value[-_LONGEST:] if isinstance(value, str) else value for name, value in message.items()}
            if isinstance(message, dict)
            else message
        )
    except (ValueError, RecursionError):
        raise invalid("event", "is not JSON; give what the host writes to its hook") from None


def _transcript(message: Any) -> str | None:
    """The last lines of the transcript that an event names; without it, the event alone is read."""
    named = message.get("transcript_path") if isinstance(message, dict) else None
    if not isinstance(named, str) or not named:
        return None
    path = Path(named).expanduser()
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            # A character that is cut or broken becomes one of three bytes.
            most = TRANSCRIPT_BYTES - 1_000
            file.seek(max(os.fstat(file.fileno()).st_size - most, 0))
            return file.read(most).decode("utf-8", "ignore")
    except OSError as problem:
        raise invalid("event", f"names a transcript that cannot be read ({type(problem).__name__})") from None
