"""WAS a hit useful? Whoever asked says so, and their own store can be measured by it."""

from dataclasses import dataclass, replace

from onrecord.errors import Forbidden, no_memory
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.feedback import GIVEN_VERDICTS, Feedback, GivenVerdict, digest_of
from onrecord.model.request import Request, ask
from onrecord.model.rules import Choice
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub
from onrecord.store.ports.filters import FeedbackFilter


@dataclass(frozen=True, slots=True)
class GiveFeedback(Request):
    """Say whether a hit was useful for the question that was asked. It changes no memory and no ranking.

    A tenant that keeps questions can measure its own store by it; otherwise only a digest of the question is kept.
    A second verdict on the same hit and question replaces the first.
    """

    id: str = ask(rules.ID, "The memory that was found.", positional=True)
    verdict: GivenVerdict = ask(
        Choice(GIVEN_VERDICTS), "useful, not_useful, or none to take a verdict back.", positional=True
    )
    question: str = ask(
        rules.Text(at_least=1, at_most=limits.QUESTION_CHARACTERS), "What was asked.", positional=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFeedback(Answer):
    """The verdict that counts now, or none. `changed` is false if the same was said before; `scrubbed` counts the secrets
    that were taken out of the question.
    """

    feedback: Feedback | None
    changed: bool
    scrubbed: int = 0


@dataclass(frozen=True, slots=True)
class ListFeedback(FeedbackFilter):
    """List which hits were useful and which were not, newest first: your own feedback, for an admin everyone's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFeedback(Answer):
    """A page of feedback."""

    feedback: tuple[Feedback, ...]
    next: str | None = None


@operation("write", "memory.manage", "POST /memories/{id}/feedback", "feedback give")
def give_feedback(call: Call, ask: GiveFeedback) -> GivenFeedback:
    """Only about what the caller sees. The word of a person stays: an agent of theirs does not replace it."""
    clean = scrub(ask.question)
    digest, caller = digest_of(clean.text), call.caller
    with call.writing() as writing:
        memory = writing.memory(ask.id, by_name=True)
        if memory is None:
            raise no_memory(ask.id)
        kept = writing.feedback
        before = kept.own(memory.id, digest)
        if before is not None and before.origin == "person" != caller.actor:
            raise Forbidden(
                f"A person has said whether memory {memory.id} was useful for this question; their word stays."
            )
        now = None
        if ask.verdict == "none":
            if before is not None:
                kept.withdraw(before)
        else:
            now = kept.keep(
                Feedback(
                    memory=memory.id,
                    user=caller.user,
                    digest=digest,
                    question=clean.text,
                    verdict=ask.verdict,
                    origin=caller.actor,
                    at=call.now,
                )
            )
        changed = now != before
        if changed:
            writing.note("give_feedback", memory.id)
        return call.done(writing, GivenFeedback(feedback=now, changed=changed, scrubbed=len(clean.found)))


@operation("read", "memory.read", "GET /feedback", "feedback list")
def feedback(call: Call, ask: ListFeedback) -> ListedFeedback:
    with call.reading() as reading:
        if ask.id is not None:
            [meant] = reading.meant([ask.id])
            ask = replace(ask, id=meant)
        page, following = reading.feedback.page(ask)
    return ListedFeedback(feedback=tuple(page), next=following)
