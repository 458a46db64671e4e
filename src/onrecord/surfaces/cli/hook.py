"""HOW does a coding agent's host speak to us? `onrecord hook` reads the event from standard input. When a session or a turn
begins, it gives what bears on it; when one ends, it takes what was said, from the transcript that the event names.

It never holds up the agent: hosts take the exit code 2 for a wish to block, so that every error is 1.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from onrecord.context.frame import framed
from onrecord.errors import OnRecordError, invalid
from onrecord.features import operation_named
from onrecord.model.advice import UNADVISED
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
from onrecord.surfaces.cli.hook_limit import let_go, message
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
matters itself, unless it has. Errors never block the agent: their exit code is always 1. With --within they are told to the
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


class _Reply(NamedTuple):
    """What a hook prints, and what is done once that has reached the host."""

    text: str
    delivered: Callable[[], None] = lambda: None


def _run(context: click.Context, event: str | None, within: float | None, **given: Any) -> None:
    common = common_options(context, given)
    if within is None:
        try:
            reply = _answered(_told(event), given, common)
        except OnRecordError as problem:
            click.echo(f"onrecord hook: {problem}", err=True)
            context.exit(_FAILED)
    else:
        reply = _forgiven(event, given, common)
    try:
        click.echo(reply.text, nl=False)
        if within is not None:
            let_go()
    except BrokenPipeError:
        # It was late: nobody waits for it any more.
        return
    reply.delivered()


def _forgiven(event: str | None, given: dict[str, Any], common: dict[str, Any]) -> _Reply:
    """What the host is to be told; a failure as a message to the person, whatever it is."""
    told: Any = None
    try:
        told = _told(event)
        return _answered(told, given, common)
    except OnRecordError as problem:
        reason = str(problem)
    except Exception as problem:
        reason = f"{type(problem).__name__} inside OnRecord"
    what = "this turn runs without memory" if _name(told) in _BEGINNINGS else "this turn may not be kept"
    return _Reply(message(f"{what}: {reason}"))


def _name(told: Any) -> str | None:
    name = told.get("hook_event_name") if isinstance(told, dict) else None
    return name if isinstance(name, str) else None


def _answered(told: Any, given: dict[str, Any], common: dict[str, Any]) -> _Reply:
    """What the hook of an event prints."""
    name = _name(told)
    options = request_of(EndTurn, given | {"event": "{}"})
    assert isinstance(options, EndTurn)
    with reached_door(common, create=True) as door:
        if name == "SessionStart":
            reply = _at_start(door, told)
        elif name in _BEGINNINGS:
            reply = _on_prompt(door, told)
        else:
            request = replace(options, event=told, transcript=_transcript(told))
            output = door.perform(operation_named("end_turn"), request).output
            reply = _Reply(f"{output}\n" if output else "")
        leave_worker(door, config_of(common))
    return reply


def _for_agent(name: str, text: str) -> str:
    added = {"hookEventName": name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": added}, ensure_ascii=False) + "\n"


def _at_start(door: "Door", told: dict[str, Any]) -> _Reply:
    """The standing notes, and how much more there is to search."""
    if told.get("source") in _GO_ON:
        return _Reply("")
    given = door.context(parts=["always", "briefing"], max_tokens=_TOKENS)
    kinds = door.tally("kind")
    if not kinds.total:
        return _Reply("")
    counted = ", ".join(f"{each.memories} {each.value}" for each in kinds.groups)
    held = f"Memory (OnRecord) holds {kinds.total} memories: {counted}. Search it before you decide what may be known."
    text = "\n".join(filter(None, (given.text, held)))
    return _Reply(_for_agent("SessionStart", text), lambda: _session(told).note((), anew=True))


def _on_prompt(door: "Door", told: dict[str, Any]) -> _Reply:
    """The memories that bear on a prompt, as data; each version of one once a session."""
    prompt = said_by_themselves(str(told.get("prompt") or ""))
    if len(prompt.split()) < _FEWEST_WORDS:
        return _Reply("")
    session = _session(told)
    known = session.shown()
    # It comes with every prompt, without a request, so it must not wait for a model.
    hits = door.recall(prompt[-QUESTION_CHARACTERS:], limit=_MEMORIES, **UNADVISED).hits
    fresh = {f"{hit.memory.id}@{hit.memory.version}": hit.memory for hit in hits}
    fresh = {version: memory for version, memory in fresh.items() if version not in known}
    if not fresh:
        return _Reply("")
    text = framed(list(fresh.values()), heading=_HEADING)
    return _Reply(_for_agent(str(told["hook_event_name"]), str(text)), lambda: session.note(fresh))


def _session(told: dict[str, Any]) -> HookSession:
    return HookSession(str(told.get("session_id") or told.get("conversation_id") or ""))


def _told(event: str | None) -> Any:
    try:
        told = json.loads(sys.stdin.read(_EVENT_BYTES) if event in (None, "-") else str(event))
        return (
            {name: value[-_LONGEST:] if isinstance(value, str) else value for name, value in told.items()}
            if isinstance(told, dict)
            else told
        )
    except (ValueError, RecursionError):
        raise invalid("event", "is not JSON; give what the host writes to its hook") from None


def _transcript(told: Any) -> str | None:
    """The last lines of the transcript that an event names; without it, the event alone is read."""
    named = told.get("transcript_path") if isinstance(told, dict) else None
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
