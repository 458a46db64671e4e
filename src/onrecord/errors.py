"""WHAT can go wrong? One small tree; the text always says what to do next."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one field of a request."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class OnRecordError(Exception):
    """Something went wrong in OnRecord."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__ or type(self).__name__)


class Invalid(OnRecordError):
    """The request is invalid: each fault names its field."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


def invalid(field: str, message: str) -> Invalid:
    """The error for a single fault."""
    return Invalid([Fault(field, message)])


def no_such_page() -> Invalid:
    return invalid(
        "after", "is not a page mark from an earlier answer; leave it out to start at the first page"
    )


class NotFound(OnRecordError):
    """There is no such thing, or this caller may not know of it."""


def no_memory(id: str) -> NotFound:
    return NotFound(f"No memory {id} that you can see. Check the id, or browse what is there.")


class Forbidden(OnRecordError):
    """The caller may not do that."""


class HigherTier(Forbidden):
    """The text of this memory is of a higher tier than this caller, who may propose a change but not make it."""


class SaveLimit(Forbidden):
    """This run or this key has saved as much as it may."""

    def __init__(self, message: str, of: Literal["run", "key"], most: int) -> None:
        self.of, self.most = of, most
        super().__init__(message)


class Unauthenticated(OnRecordError):
    """No valid API key or token was sent. Send `Authorization: Bearer …` with a key or token that is valid for this server."""


class TooMany(OnRecordError):
    """Too many requests in too short a time."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"Too many requests from this caller. Try again in {retry_after} s.")


class Conflict(OnRecordError):
    """Something in the store prevents this."""


class VersionConflict(Conflict):
    """Someone else changed this memory first: read it again and repeat the change."""

    def __init__(self, memory: str, expected: int, actual: int) -> None:
        self.memory, self.expected, self.actual = memory, expected, actual
        super().__init__(
            f"Memory {memory} is at version {actual}, not {expected}: someone changed it first. "
            "Read it again and repeat the change on what you find."
        )


class StoreUnavailable(OnRecordError):
    """The database cannot be used right now; nothing was changed."""


class NoStore(StoreUnavailable):
    """There is no store where one was named, and nothing that would make one was asked for."""


class OutcomeUnknown(StoreUnavailable):
    """The connection to the store broke, or the store was too slow, during a change. It is unknown whether the change
    was made: look before you repeat it.
    """


class IdentityUnavailable(StoreUnavailable):
    """The server cannot check who asks right now; nothing was changed. Try again in a moment."""


class ProviderError(OnRecordError):
    """A model or another optional helper failed; the answer goes on without it.

    `for_all` is the same without the words of the service, which may repeat what one caller has sent.
    """

    def __init__(self, message: str | None = None, *, for_all: str | None = None) -> None:
        super().__init__(message)
        self.for_all = for_all or str(self)


class CatalogUnavailable(ProviderError):
    """Another system's catalog did not answer as it should. Nothing is assumed about what it did not say."""
