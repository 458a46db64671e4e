"""WHAT came back? The answer, or the error that the local door would have raised."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from onrecord.client.sending import HttpCall
from onrecord.errors import (
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    OnRecordError,
    OutcomeUnknown,
    ProviderError,
    StoreUnavailable,
    TooMany,
    Unauthenticated,
    VersionConflict,
)
from onrecord.model.wire import from_json

_WAITS_S: Final = (0.1, 0.4)
#: If the server asks for a longer pause, the error is raised instead.
_LONGEST_WAIT_S: Final = 5.0
_BUSY: Final = frozenset({429, 503})
_KIND: Final = "urn:onrecord:"
#: What every version of a server says of an address that it does not have.
_NO_ROUTE: Final = "There is nothing at this address."
_BY_NAME: Final[Mapping[str, type[OnRecordError]]] = {
    "not-found": NotFound,
    "forbidden": Forbidden,
    "foreign-origin": Forbidden,
    "unauthenticated": Unauthenticated,
    "conflict": Conflict,
    "unavailable": StoreUnavailable,
    "outcome-unknown": OutcomeUnknown,
    "provider-failed": ProviderError,
    "internal": OnRecordError,
}


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server sent back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class ConnectionFailure:
    """Why nothing came back, whether to try once more at once, and whether anything may have been received."""

    reason: str
    is_passing: bool
    was_sent: bool = True


def pause_before_repeating(call: HttpCall, came: HttpReply | ConnectionFailure, attempt: int) -> float | None:
    """How many seconds to wait before sending the same again, or None if this answer is final."""
    if attempt >= len(_WAITS_S) or not call.is_repeatable:
        return None
    if isinstance(came, ConnectionFailure):
        return _WAITS_S[attempt] if came.is_passing else None
    if came.status in _BUSY:
        wait = _retry_after(came)
        if wait is None:
            return _WAITS_S[attempt]
        return wait if wait <= _LONGEST_WAIT_S else None
    return None


def after(
    before: HttpReply | ConnectionFailure, came: HttpReply | ConnectionFailure
) -> HttpReply | ConnectionFailure:
    """What came of a repetition; what may have been received before it still may."""
    if isinstance(before, ConnectionFailure) and isinstance(came, ConnectionFailure) and before.was_sent:
        return replace(came, was_sent=True)
    return came


def read_answer(call: HttpCall, came: HttpReply | ConnectionFailure, location: str) -> Any:
    """The answer in its own type; errors are raised."""
    if isinstance(came, ConnectionFailure):
        reason = f"No answer from {location}: {came.reason}."
        if call.operation.effect == "read" or not came.was_sent:
            raise StoreUnavailable(reason)
        raise OutcomeUnknown(f"{reason} It is unknown whether the request was carried out.")
    if not 200 <= came.status < 300:
        try:
            error = _error(call, came, location)
        except (ValueError, KeyError, TypeError):
            # It looks like an error of OnRecord, and is not.
            error = _stranger(came, location)
        raise error
    if call.into is not None:
        return None
    try:
        return from_json(call.operation.answer, json.loads(came.body))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _stranger(came, location) from None


def _error(call: HttpCall, came: HttpReply, location: str) -> OnRecordError:
    problem = _problem(came)
    if problem is None:
        return _stranger(came, location)
    name, detail = problem["type"].removeprefix(_KIND), str(problem.get("detail") or problem.get("title"))
    if "actual" in problem:
        return VersionConflict(problem["memory"], problem["expected"], problem["actual"])
    if name == "too-many-requests":
        return TooMany(int(_retry_after(came) or 1))
    if name in ("unavailable", "outcome-unknown"):
        detail = f"{location}: {detail}"
    if name == "not-found" and detail.startswith(_NO_ROUTE):
        return StoreUnavailable(
            f"The server at {location} does not know {call.operation.name}: it is of an older version, or another."
        )
    if name == "internal":
        detail = f"{detail} Request {problem.get('request')} at {location}."
    if name in _BY_NAME:
        return _BY_NAME[name](detail)
    faults = [Fault(str(each["field"]), str(each["message"])) for each in problem.get("faults", [])]
    return Invalid(faults or [Fault("request", detail)])


def _problem(came: HttpReply) -> dict[str, Any] | None:
    """Our problem details in a reply, if it holds any."""
    try:
        value = json.loads(came.body)
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(value, dict) and str(value.get("type", "")).startswith(_KIND)
    return value if is_ours else None


def _stranger(came: HttpReply, location: str) -> StoreUnavailable:
    """The error for an answer that does not come from an OnRecord server."""
    moved = came.headers.get("location")
    where = f" and points to {moved}" if 300 <= came.status < 400 and moved else ""
    other = ", or of a version that answers differently" if 200 <= came.status < 300 else ""
    return StoreUnavailable(
        f"The server at {location} is not OnRecord{other} (status {came.status}{where}). "
        "Check the address, and any proxy in front of the server."
    )


def _retry_after(came: HttpReply) -> float | None:
    seconds = came.headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 9 else None
