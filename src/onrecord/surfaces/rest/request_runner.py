"""WHO runs a request? A thread, which finds the caller, counts the request, and opens the caller's door."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Protocol, TypeVar, TypeVarTuple, Unpack

from anyio import move_on_after
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from onrecord.access.identity import Authenticator
from onrecord.access.throttle import Budget, Throttle
from onrecord.errors import OutcomeUnknown, StoreUnavailable
from onrecord.lru_cache import LruCache
from onrecord.model.caller import Caller
from onrecord.service import OnRecord
from onrecord.store.ports.store import Store
from onrecord.surfaces.rest.lanes import Lane

Answer = TypeVar("Answer")
Given = TypeVarTuple("Given")

#: As many as a SQLite file has readers; slow work has threads of its own.
THREADS = 8
SLOW_THREADS = 2
#: Threads that authenticate callers.
DOOR_THREADS = 4
#: If store and model are in this process, reading is pure computing, and more threads would only compete for the interpreter.
COMPUTING_THREADS = 1
#: One tenant gets at most this fraction of the threads. Writers of one tenant wait for each other anyway, and computing
#: threads only compete for the interpreter.
_PARTS_OF_USUAL = 4
_PARTS_OF_OTHERS = 2
_MOST_CREDENTIALS = 10_000
#: How much of a body the server reads ahead.
_SMALL_BYTES = 64 * 1024


@dataclass(slots=True)
class RequestState:
    """What is known of one request while it is answered: for its log line, its headers and its problems."""

    request: str
    caller: Caller | None = None
    budget: Budget | None = None
    #: The door of the caller, once authenticated.
    door: OnRecord | None = None
    #: Counts one more piece of work of this request; TooMany if nothing is left.
    count_another: Callable[[], None] = lambda: None
    #: Whether its answer goes on until one side has enough.
    goes_on: bool = False
    #: How an error is shown to whoever asked, if not as a problem in JSON.
    show_problem: Callable[[Exception], Response] | None = None


class CallerSource(Protocol):
    """Finds the caller of a request. Several threads use it."""

    def caller(self, request: Request) -> Caller:
        """Unauthenticated if nobody is known to ask."""

    def credential(self, request: Request) -> str:
        """What shows who asks: two callers never show the same."""


class ByHeader:
    """By the key or token in the header; without one, by the address."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    def caller(self, request: Request) -> Caller:
        return self._authenticator.caller(request.headers, peer_of(request), state_of(request).request)

    def credential(self, request: Request) -> str:
        return request.headers.get("authorization") or peer_of(request) or ""


class RequestRunner:
    """Authenticates and runs requests from the network."""

    def __init__(
        self,
        door: OnRecord,
        store: Store,
        authenticator: Authenticator,
        throttle: Throttle,
        *,
        readers: int = THREADS,
        within_s: float | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`readers` is how many requests read at once; writes have threads of their own, since they wait for each
        other. Requests that are not slow by nature must end within `within_s` seconds.
        """
        self.door, self.store, self.authenticator, self.clock = door, store, authenticator, clock
        self.throttle, self._within_s = throttle, within_s
        self._who: CallerSource = ByHeader(authenticator)
        self._lanes = _Lanes(readers)
        #: The tenant of each credential that was used before.
        self._tenants: LruCache[int, str] = LruCache(_MOST_CREDENTIALS)

    def asked_by(self, who: CallerSource) -> "RequestRunner":
        """The same threads and limits, for requests whose callers are found otherwise."""
        runner = copy(self)
        runner._who, runner._tenants = who, LruCache(_MOST_CREDENTIALS)
        return runner

    def admit(self, request: Request) -> OnRecord:
        """The door of the request's caller; Unauthenticated or TooMany otherwise. Call it in a thread."""
        state = state_of(request)
        if state.door is None:
            caller = self._who.caller(request)
            state.caller = caller
            self._tenants.put(hash(self._who.credential(request)), caller.tenant)
            state.count_another = lambda: self._count(state, caller)
            state.count_another()
            state.door = self.door.as_caller(caller)
        return state.door

    def admit_again(self, request: Request) -> OnRecord:
        """The door of who sent a request whose answer still goes on; Unauthenticated once their key is revoked. It is not
        counted again.
        """
        return self.door.as_caller(self._who.caller(request))

    def _count(self, state: RequestState, caller: Caller) -> None:
        state.budget = self.throttle.take(caller)

    async def authenticate_large(self, request: Request) -> None:
        """Authenticate the sender of a large body before reading it, so that a stranger cannot fill our memory.

        A small body is there with the headers; checking first would cost every request a second thread hop.
        """
        if _may_be_large(request.headers):
            await self.authenticate(request)

    async def authenticate(self, request: Request) -> OnRecord:
        """The door of this request's caller, found without waiting for other work of any tenant."""
        return await self.run_unknown(partial(self.admit, request))

    async def run_unknown(self, act: Callable[[], Answer]) -> Answer:
        """Run what finds out who asks, without waiting for the work of any tenant."""
        with move_on_after(self._within_s):
            return await self._lanes.opened.door.run(None, act)
        raise StoreUnavailable(f"{self._late}.")

    async def call(self, request: Request, act: Callable[[OnRecord], Answer]) -> Answer:
        """Run `act` with the door of the request's caller, in one thread hop.

        Errors pass through; uncaught ones of ours become problem details.
        """
        return await self.run(lambda: act(self.admit(request)), by=request)

    async def run(
        self,
        act: Callable[[Unpack[Given]], Answer],
        *given: *Given,
        by: Request | None = None,
        slow: bool = False,
        reads: bool = False,
    ) -> Answer:
        """Run something in a thread; slow work has a few threads of its own, so that nothing else waits for it.

        Work `by` a request waits for others of its tenant if the tenant has its share of the threads.
        """
        lanes = self._lanes.opened
        lane = lanes.slow if slow else lanes.reading if reads else lanes.usual
        whose = None if by is None else await self._whose(by)
        with move_on_after(None if slow else self._within_s):
            return await lane.run(whose, partial(act, *given))
        # The thread goes on, so a write may still be done.
        raise (
            StoreUnavailable(f"{self._late}.")
            if reads
            else OutcomeUnknown(f"{self._late}; it may still be done.")
        )

    @property
    def _late(self) -> str:
        return f"There was no answer within {self._within_s} seconds (see request_timeout)"

    async def _whose(self, request: Request) -> str:
        """The tenant of a request. Unknown credentials are checked first, so that many keys, or many spellings of one,
        still give a tenant one share.
        """
        if known := self._tenants.get(hash(self._who.credential(request))):
            return known
        return (await self.authenticate(request)).caller.tenant


def peer_of(request: Request) -> str | None:
    """The other end of the connection."""
    return request.client.host if request.client else None


class _Lanes:
    """The lanes of a server, opened when they are first used, since they belong to the running event loop."""

    def __init__(self, readers: int) -> None:
        self._readers = readers

    @cached_property
    def opened(self) -> "_OpenLanes":
        return _OpenLanes(
            door=Lane(DOOR_THREADS, DOOR_THREADS),
            usual=_lane(THREADS, _PARTS_OF_USUAL),
            slow=_lane(SLOW_THREADS, _PARTS_OF_OTHERS),
            reading=_lane(self._readers, _PARTS_OF_OTHERS),
        )


@dataclass(frozen=True, slots=True)
class _OpenLanes:
    """The lanes for finding out who asks, for usual work, slow work, and reading."""

    door: Lane
    usual: Lane
    slow: Lane
    reading: Lane


def _lane(threads: int, parts: int) -> Lane:
    return Lane(threads, max(threads // parts, 1))


def _may_be_large(headers: Headers) -> bool:
    length = headers.get("content-length", "0")
    return "transfer-encoding" in headers or not length.isdigit() or int(length[:20]) > _SMALL_BYTES


def state_of(request: Request) -> RequestState:
    """The state of the request, which the outermost layer has created."""
    state: RequestState = request.scope["onrecord.request"]
    return state
