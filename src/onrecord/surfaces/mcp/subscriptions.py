"""WHEN does an agent learn that a resource has changed? Soon after: while it listens, the resource is read again every few
seconds, by whichever process it was changed.

Each time the agent's key is checked too, so that a revoked one learns no more.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final

import anyio
import mcp_types as protocol
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, ResourceUpdated, event_to_notification

from onrecord.errors import Forbidden, OnRecordError, StoreUnavailable, TooMany, Unauthenticated
from onrecord.surfaces.mcp import resources
from onrecord.surfaces.mcp.tool_request import ToolRequest

Context = ServerRequestContext[Any, Any]
StateOf = Callable[[Context], ToolRequest]
Tell = Callable[[str], Awaitable[None]]

#: How long after a change an agent learns of it, at most.
LOOK_EVERY_S: Final = 2.0
#: So many addresses one agent listens to, and so many agents of one tenant listen at once.
_ADDRESSES: Final = 16
_LISTENERS: Final = 32


class Listening:
    """Answers `subscriptions/listen` of the newer version of the protocol: one call is one stream of news."""

    def __init__(self, state_of: StateOf) -> None:
        self._state_of = state_of
        self._of_tenant: Counter[str] = Counter()

    async def __call__(
        self, context: Context, asked: protocol.SubscriptionsListenRequestParams
    ) -> protocol.SubscriptionsListenResult:
        request = self._state_of(context)
        addresses = _read_addresses(asked.notifications.resource_subscriptions or ())
        number = context.request_id
        if number is None:
            raise MCPError(protocol.INVALID_REQUEST, "Listening needs a request with an id.")
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: number}

        async def tell(address: str) -> None:
            news = event_to_notification(ResourceUpdated(uri=address), meta)
            await context.session.send_notification(news, related_request_id=number)

        with self._counted(request.door.caller.tenant):
            request.on_listening()
            before = await _looked_at(request, addresses)
            # Lists never change while an agent is connected, so news of resources are all there is.
            honoured = protocol.SubscriptionFilter(resource_subscriptions=list(addresses) or None)
            await context.session.send_notification(
                protocol.SubscriptionsAcknowledgedNotification(
                    params=protocol.SubscriptionsAcknowledgedNotificationParams(
                        notifications=honoured, _meta=meta
                    )
                ),
                related_request_id=number,
            )
            await _follow(request, before, tell)
        return protocol.SubscriptionsListenResult(_meta=meta)

    @contextmanager
    def _counted(self, tenant: str) -> Iterator[None]:
        if self._of_tenant[tenant] >= _LISTENERS:
            raise MCPError(
                protocol.INTERNAL_ERROR, f"{_LISTENERS} agents listen already; no more can at the same time."
            )
        self._of_tenant[tenant] += 1
        try:
            yield
        finally:
            self._of_tenant[tenant] -= 1


class Subscriptions:
    """Answers `resources/subscribe` of the older version, for the one agent at the other end of a stream."""

    def __init__(self, state_of: StateOf, tasks: TaskGroup) -> None:
        self._state_of, self._tasks = state_of, tasks
        self._followed: dict[str, anyio.CancelScope] = {}

    async def subscribe(
        self, context: Context, asked: protocol.SubscribeRequestParams
    ) -> protocol.EmptyResult:
        request, [address] = self._state_of(context), _read_addresses([str(asked.uri)])
        before = await _looked_at(request, (address,))
        _read_addresses({*self._followed, address})
        # Nothing waits from here on, so of two requests for one address only one begins to follow it.
        if address not in self._followed:
            scope = self._followed[address] = anyio.CancelScope()
            self._tasks.start_soon(
                self._follow, scope, request, before, context.session.send_resource_updated
            )
        return protocol.EmptyResult()

    async def unsubscribe(
        self, context: Context, asked: protocol.UnsubscribeRequestParams
    ) -> protocol.EmptyResult:
        if scope := self._followed.pop(str(asked.uri), None):
            scope.cancel()
        return protocol.EmptyResult()

    async def _follow(
        self, scope: anyio.CancelScope, request: ToolRequest, before: dict[str, str | None], tell: Tell
    ) -> None:
        with scope:
            await _follow(request, before, tell)
            # The caller may no longer know of it. If they may again, they can subscribe again.
            self._followed = {address: each for address, each in self._followed.items() if each is not scope}


def _read_addresses(given: Iterable[str]) -> tuple[str, ...]:
    addresses = tuple(dict.fromkeys(given))
    if wrong := [each for each in addresses if not resources.is_address(each)]:
        raise MCPError(protocol.INVALID_PARAMS, resources.missing(wrong[0]))
    if len(addresses) > _ADDRESSES:
        raise MCPError(protocol.INVALID_PARAMS, f"At most {_ADDRESSES} addresses can be listened to at once.")
    return addresses


async def _follow(request: ToolRequest, before: dict[str, str | None], tell: Tell) -> None:
    """Tell of each change until the caller may no longer know of it."""
    while True:
        await anyio.sleep(LOOK_EVERY_S)
        try:
            now = await _looked_at(request, tuple(before))
        except (StoreUnavailable, TooMany):
            # It may be back at the next look.
            continue
        except OnRecordError:
            return
        for address in before:
            if now[address] != before[address]:
                await tell(address)
        before = now


async def _looked_at(request: ToolRequest, addresses: tuple[str, ...]) -> dict[str, str | None]:
    """What is at each address, as a digest; None for nothing."""
    return {each: await request.run(_digest, request, each) for each in addresses}


def _digest(request: ToolRequest, address: str) -> str | None:
    door = request.door if request.door_now is None else request.door_now()
    try:
        return sha256(resources.read(door, address).encode("utf-8", "surrogatepass")).hexdigest()
    except (StoreUnavailable, TooMany, Unauthenticated, Forbidden):
        raise
    except OnRecordError:
        return None
