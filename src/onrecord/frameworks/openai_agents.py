"""HOW does a program of the OpenAI Agents SDK keep its conversations here, and use a memory?

from agents import Agent, Runner
from onrecord import connect
from onrecord.frameworks.openai_agents import OnRecordSession, tools

memory = connect("memory.db")
agent = Agent(name="Assistant", tools=tools(memory))
await Runner.run(agent, "…", session=OnRecordSession("support-17", memory))

A session is a conversation. What is added at once is one artifact of it, written once: what is taken back is marked beside it. So
whatever several processes add or take back at once, nothing is lost and nothing comes back twice.
"""

import asyncio
import json
import re
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from onrecord.doors import AsyncDoor, Door
from onrecord.errors import NotFound, OnRecordError, invalid
from onrecord.frameworks.operations import USUAL, Chosen, OfferedTool, offered
from onrecord.model.limits import ARTIFACT_BYTES
from onrecord.providers.scrubber import scrub_value

try:
    from agents import FunctionTool, SessionSettings
    from agents.memory import SessionABC
except ModuleNotFoundError as missing:
    if missing.name != "agents":
        raise
    raise ModuleNotFoundError(
        "This needs one more package: pip install 'onrecord[openai-agents]'.", name="agents"
    ) from None

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.tool_context import ToolContext

_FOLDER: Final = "openai-agents"
_MEDIA_TYPE: Final = "application/json"
#: Where a batch is and how many items it has, or how many were taken back. What else is in the folder is not of a session.
_PATH: Final = re.compile(rf"({_FOLDER}/[0-9]+-[0-9a-f]{{32}})/(?:([0-9]+)\.json|taken-([0-9]+))")


class _Batch(NamedTuple):
    """What was added at once: where it is, how many items it has, and how many of them were taken back."""

    place: str
    artifact: str
    size: int
    taken: int


class OnRecordSession(SessionABC):
    """The history of one session, kept as artifacts of the conversation of that name."""

    def __init__(
        self, session_id: str, memory: Door, session_settings: SessionSettings | dict[str, Any] | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings = SessionSettings().resolve(session_settings)
        self._door = memory
        self._is_begun = False
        # What this program adds from several tasks stays in the order in which it was added.
        self._lock = Lock()

    async def get_items(self, limit: int | None = None) -> list["TResponseInputItem"]:
        """The last so many items, or all, oldest first."""
        settings = self.session_settings
        most = limit if limit is not None or settings is None else settings.limit
        return await asyncio.to_thread(self._read, most)

    async def add_items(self, items: list["TResponseInputItem"]) -> None:
        """Add these items: all of them, or none."""
        await _to_its_end(self._add, list(items))

    async def pop_item(self) -> "TResponseInputItem | None":
        """Take the last item back; None if there is none."""
        taken: TResponseInputItem | None = await _to_its_end(self._pop)
        return taken

    async def clear_session(self) -> None:
        """Delete every item. The conversation stays, with what else it holds."""
        await _to_its_end(self._clear)

    def _read(self, limit: int | None) -> list[Any]:
        found: list[Any] = []
        for batch in reversed(self._batches()):
            if limit is not None and len(found) >= limit:
                break
            found = [*self._items_of(batch), *found]
        if limit is None:
            return found
        return found[-limit:] if limit > 0 else []

    def _add(self, items: list[Any]) -> None:
        if not items:
            return
        text = _written(items)
        with self._lock:
            if not self._is_begun:
                self._door.register_conversation(id=self.session_id)
                self._is_begun = True
            last = max((_number(each.place) for each in self._batches()), default=0)
            # Two processes may come upon the same number; then either came first.
            place = f"{_FOLDER}/{last + 1:09d}-{uuid4().hex}"
            self._door.write_artifact(
                f"{place}/{len(items)}.json", text, media_type=_MEDIA_TYPE, conversation=self.session_id
            )

    def _pop(self) -> Any:
        passed: set[str] = set()
        while batches := [each for each in self._batches() if each.artifact not in passed]:
            batch = batches[-1]
            items = self._items_of(batch)
            if not items:
                passed.add(batch.artifact)
                continue
            mark = f"{batch.place}/taken-{batch.taken + 1}"
            taken = self._door.write_artifact(mark, "", media_type="text/plain", conversation=self.session_id)
            if not taken.created:
                # Another process took this one back.
                continue
            if batch.artifact not in {each.id for each in self._artifacts()}:
                # Another took back the whole batch meanwhile, with its marks.
                self._delete([taken.artifact.id])
                continue
            if batch.taken + 1 == batch.size:
                self._delete([batch.artifact, *self._marks_of(batch.place)])
            return items[-1]
        return None

    def _clear(self) -> None:
        # The items first: a mark alone means nothing.
        paths = {each.path: each.id for each in self._artifacts()}
        self._delete([id for _, id in sorted(paths.items(), key=lambda each: "/taken-" in each[0])])

    def _artifacts(self) -> tuple[Any, ...]:
        try:
            kept = self._door.artifacts(conversation=self.session_id).artifacts
        except NotFound:
            # Nothing was ever added.
            return ()
        return tuple(each for each in kept if _PATH.fullmatch(each.path))

    def _batches(self) -> list[_Batch]:
        """What is there, oldest first."""
        kept: dict[str, tuple[str, int]] = {}
        taken: dict[str, int] = {}
        for each in self._artifacts():
            [(place, size, number)] = _PATH.findall(each.path)
            if size:
                kept[place] = each.id, int(size)
            else:
                taken[place] = max(taken.get(place, 0), int(number))
        there = (_Batch(place, id, size, taken.get(place, 0)) for place, (id, size) in sorted(kept.items()))
        return [each for each in there if each.taken < each.size]

    def _items_of(self, batch: _Batch) -> list[Any]:
        try:
            text = self._door.read_artifact(batch.artifact).content
        except NotFound:
            # Taken back or cleared since it was listed.
            return []
        return list(json.loads(text))[: batch.size - batch.taken]

    def _marks_of(self, place: str) -> list[str]:
        return [each.id for each in self._artifacts() if each.path.startswith(f"{place}/taken-")]

    def _delete(self, artifacts: list[str]) -> None:
        for each in artifacts:
            try:
                self._door.delete_artifact(each)
            except NotFound:
                continue


async def _to_its_end(change: Callable[..., Any], *given: Any) -> Any:
    """Make a change in a thread. A task that is cancelled meanwhile ends once the change is made, not in the midst of it."""
    task = asyncio.ensure_future(asyncio.to_thread(change, *given))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


def tools(memory: Door | AsyncDoor, chosen: Chosen = USUAL) -> list[FunctionTool]:
    """Operations of a store as function tools of an agent. What erases needs the approval of a person."""
    return [_function_tool(memory, each) for each in offered(chosen)]


def _function_tool(memory: Door | AsyncDoor, tool: OfferedTool) -> FunctionTool:
    async def invoke(context: "ToolContext[Any]", arguments: str) -> str:
        try:
            return await tool.call(memory, _arguments(arguments))
        except OnRecordError as problem:
            return f"Error: {problem}"

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=dict(tool.takes),
        on_invoke_tool=invoke,
        # In strict mode every field would be required.
        strict_json_schema=False,
        needs_approval=tool.asks_first,
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError) as reason:
        raise invalid("arguments", f"must be a JSON object: {reason}") from None
    if not isinstance(given, dict):
        raise invalid("arguments", "must be a JSON object")
    return given


def _number(place: str) -> int:
    return int(place.removeprefix(f"{_FOLDER}/").partition("-")[0])


def _written(items: list[Any]) -> str:
    """Items as JSON, without secrets: taken out of each value, since the text as a whole must stay JSON."""
    clean = [scrub_value("", item)[0] for item in items]
    text = json.dumps(clean, ensure_ascii=True, separators=(",", ":"))
    if len(text) > ARTIFACT_BYTES:
        raise invalid(
            "items",
            f"take {len(text)} bytes as JSON, and what is added at once may take {ARTIFACT_BYTES}; give large files by reference",
        )
    return text
