"""HOW does an async program come in? The same door; each operation hops to a thread once."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from recollect.model.caller import Caller
from recollect.service import Recollect

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _hop(
    method: Callable[Concatenate[Recollect, P], Answer],
) -> Callable[Concatenate["AsyncRecollect", P], Coroutine[Any, Any, Answer]]:
    @wraps(method)
    async def call(self: "AsyncRecollect", /, *given: P.args, **named: P.kwargs) -> Answer:
        return await asyncio.to_thread(method, self.sync, *given, **named)

    return call


class AsyncRecollect:
    """A store as one caller sees it, for async programs."""

    def __init__(self, sync: Recollect) -> None:
        self.sync = sync

    @property
    def caller(self) -> Caller:
        return self.sync.caller

    @property
    def location(self) -> str:
        """Where the data lives."""
        return self.sync.location

    def as_caller(self, caller: Caller) -> "AsyncRecollect":
        """The same store through another caller's eyes."""
        return AsyncRecollect(self.sync.as_caller(caller))

    remember = _hop(Recollect.remember)
    recall = _hop(Recollect.recall)
    show = _hop(Recollect.show)
    browse = _hop(Recollect.browse)
    revise = _hop(Recollect.revise)
    retire = _hop(Recollect.retire)
    forget = _hop(Recollect.forget)
    relate = _hop(Recollect.relate)
    unrelate = _hop(Recollect.unrelate)
    relations = _hop(Recollect.relations)
    remove_relation = _hop(Recollect.remove_relation)
    neighbours = _hop(Recollect.neighbours)
    history = _hop(Recollect.history)
    diff = _hop(Recollect.diff)
    search = _hop(Recollect.search)
    ingest = _hop(Recollect.ingest)
    entities = _hop(Recollect.entities)
    inspect = _hop(Recollect.inspect)
    drop_entity = _hop(Recollect.drop_entity)
    prioritise = _hop(Recollect.prioritise)
    approve = _hop(Recollect.approve)
    reject = _hop(Recollect.reject)
    context = _hop(Recollect.context)
    note_turn = _hop(Recollect.note_turn)
    turns = _hop(Recollect.turns)
    clear_turns = _hop(Recollect.clear_turns)
    register_conversation = _hop(Recollect.register_conversation)
    conversations = _hop(Recollect.conversations)
    show_conversation = _hop(Recollect.show_conversation)
    delete_conversation = _hop(Recollect.delete_conversation)
    write_artifact = _hop(Recollect.write_artifact)
    read_artifact = _hop(Recollect.read_artifact)
    artifacts = _hop(Recollect.artifacts)
    delete_artifact = _hop(Recollect.delete_artifact)
    append_scratchpad = _hop(Recollect.append_scratchpad)
    read_scratchpad = _hop(Recollect.read_scratchpad)
    scratchpads = _hop(Recollect.scratchpads)
    clear_scratchpad = _hop(Recollect.clear_scratchpad)
    set_agent = _hop(Recollect.set_agent)
    show_agent = _hop(Recollect.show_agent)
    create_key = _hop(Recollect.create_key)
    list_keys = _hop(Recollect.list_keys)
    revoke_key = _hop(Recollect.revoke_key)
    create_tenant = _hop(Recollect.create_tenant)
    list_tenants = _hop(Recollect.list_tenants)
    erase_tenant = _hop(Recollect.erase_tenant)
    audit = _hop(Recollect.audit)
    export = _hop(Recollect.export)
    import_ = _hop(Recollect.import_)
    backup = _hop(Recollect.backup)
    doctor = _hop(Recollect.doctor)
    reindex = _hop(Recollect.reindex)
    embed_missing = _hop(Recollect.embed_missing)
    status = _hop(Recollect.status)
    leave_for = _hop(Recollect.leave_for)
    has_leave = _hop(Recollect.has_leave)

    async def close(self) -> None:
        await asyncio.to_thread(self.sync.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
