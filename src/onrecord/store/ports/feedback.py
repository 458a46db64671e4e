"""WHICH hits were useful? What users said of the hits that they got, and how it is kept."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from onrecord.model.feedback import Feedback
from onrecord.store.ports.filters import FeedbackFilter


class KeptFeedback(Protocol):
    """The feedback of the caller's own tenant, in one consistent state: the caller's own, for an admin everyone's."""

    def page(self, ask: FeedbackFilter) -> tuple[list[Feedback], str | None]:
        """A page of feedback, newest first, and the mark of the next page."""


class WritableFeedback(KeptFeedback, Protocol):
    """The same in one transaction that keeps other writers out of the tenant."""

    def own(self, memory: str, digest: str) -> Feedback | None:
        """What the caller said of a hit before."""

    def keep(self, feedback: Feedback) -> Feedback:
        """Keep feedback of the caller in place of what they said of the hit before, and return what counts now. What says
        the same as before leaves it as it is. The question goes if the tenant does not keep questions, and the oldest of the
        caller if there is no more room.
        """

    def withdraw(self, feedback: Feedback) -> None:
        """Remove feedback."""


class FeedbackArchive(Protocol):
    """All feedback of a tenant, unfiltered by caller."""

    def every(self) -> Iterator[Feedback]:
        """In the order in which it was given."""

    def questions(self) -> int:
        """How many questions are kept that had a useful hit."""


class FeedbackRestoring(FeedbackArchive, Protocol):
    """One transaction in one tenant that imports feedback."""

    def restore(self, feedback: Sequence[Feedback]) -> int:
        """Add what is about memories that are here and was not said yet; returns how many."""
