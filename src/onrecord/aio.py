"""HOW does an async program come in? The same door; each operation hops to a thread once."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from onrecord.model.caller import Caller
from onrecord.service import OnRecord

P = ParamSpec("P")
Answer = TypeVar("Answer")
Made = TypeVar("Made")


class Once(Generic[Made]):
    """Something that takes a while to make: made when it is first needed, once, and off the loop."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._turn = threading.Lock()
        #: What was made, if it is needed already.
        self.made: Made | None = None

    def get(self) -> Made:
        with self._turn:
            if self.made is None:
                self.made = self._make()
            return self.made

    async def ready(self) -> Made:
        """The same, while the loop goes on."""
        return self.made if self.made is not None else await asyncio.to_thread(self.get)


def _hop(
    method: Callable[Concatenate[OnRecord, P], Answer],
) -> Callable[Concatenate["AsyncOnRecord", P], Coroutine[Any, Any, Answer]]:
    @wraps(method)
    async def call(self: "AsyncOnRecord", /, *given: P.args, **named: P.kwargs) -> Answer:
        return await asyncio.to_thread(method, await self._door.ready(), *given, **named)

    return call


class AsyncOnRecord:
    """A store as one caller sees it, for async programs. It is opened by `await`, by `async with`, or by its first operation."""

    def __init__(self, sync: OnRecord | Callable[[], OnRecord]) -> None:
        """A door, or how to open one."""
        self._door: Once[OnRecord]
        if isinstance(sync, OnRecord):
            self._door = Once(lambda: sync)
            self._door.get()
        else:
            self._door = Once(sync)

    @property
    def sync(self) -> OnRecord:
        """The door behind this one. Whoever asks before it is open opens it here, and the loop waits."""
        return self._door.get()

    @property
    def caller(self) -> Caller:
        return self.sync.caller

    @property
    def location(self) -> str:
        """Where the data lives."""
        return self.sync.location

    def as_caller(self, caller: Caller) -> "AsyncOnRecord":
        """The same store through another caller's eyes."""
        door = self._door.made
        return (
            AsyncOnRecord(lambda: self.sync.as_caller(caller))
            if door is None
            else AsyncOnRecord(door.as_caller(caller))
        )

    remember = _hop(OnRecord.remember)
    recall = _hop(OnRecord.recall)
    show = _hop(OnRecord.show)
    browse = _hop(OnRecord.browse)
    revise = _hop(OnRecord.revise)
    retire = _hop(OnRecord.retire)
    forget = _hop(OnRecord.forget)
    relate = _hop(OnRecord.relate)
    unrelate = _hop(OnRecord.unrelate)
    relations = _hop(OnRecord.relations)
    remove_relation = _hop(OnRecord.remove_relation)
    neighbours = _hop(OnRecord.neighbours)
    history = _hop(OnRecord.history)
    diff = _hop(OnRecord.diff)
    search = _hop(OnRecord.search)
    ingest = _hop(OnRecord.ingest)
    entities = _hop(OnRecord.entities)
    inspect = _hop(OnRecord.inspect)
    drop_entity = _hop(OnRecord.drop_entity)
    prioritise = _hop(OnRecord.prioritise)
    approve = _hop(OnRecord.approve)
    reject = _hop(OnRecord.reject)
    context = _hop(OnRecord.context)
    note_turn = _hop(OnRecord.note_turn)
    turns = _hop(OnRecord.turns)
    clear_turns = _hop(OnRecord.clear_turns)
    register_conversation = _hop(OnRecord.register_conversation)
    conversations = _hop(OnRecord.conversations)
    show_conversation = _hop(OnRecord.show_conversation)
    delete_conversation = _hop(OnRecord.delete_conversation)
    write_artifact = _hop(OnRecord.write_artifact)
    read_artifact = _hop(OnRecord.read_artifact)
    artifacts = _hop(OnRecord.artifacts)
    delete_artifact = _hop(OnRecord.delete_artifact)
    append_scratchpad = _hop(OnRecord.append_scratchpad)
    read_scratchpad = _hop(OnRecord.read_scratchpad)
    scratchpads = _hop(OnRecord.scratchpads)
    clear_scratchpad = _hop(OnRecord.clear_scratchpad)
    set_agent = _hop(OnRecord.set_agent)
    show_agent = _hop(OnRecord.show_agent)
    create_key = _hop(OnRecord.create_key)
    list_keys = _hop(OnRecord.list_keys)
    revoke_key = _hop(OnRecord.revoke_key)
    create_tenant = _hop(OnRecord.create_tenant)
    list_tenants = _hop(OnRecord.list_tenants)
    erase_tenant = _hop(OnRecord.erase_tenant)
    audit = _hop(OnRecord.audit)
    export = _hop(OnRecord.export)
    import_ = _hop(OnRecord.import_)
    backup = _hop(OnRecord.backup)
    doctor = _hop(OnRecord.doctor)
    reindex = _hop(OnRecord.reindex)
    embed_missing = _hop(OnRecord.embed_missing)
    status = _hop(OnRecord.status)
    issue_confirmation = _hop(OnRecord.issue_confirmation)
    verify_confirmation = _hop(OnRecord.verify_confirmation)

    async def close(self) -> None:
        if (door := self._door.made) is not None:
            await asyncio.to_thread(door.close)

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await self._door.ready()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
