"""WHO gives advice? The port of an advisor: a task and what it is about go in, checked advice comes out, or a reason why
there is none.

The caller holds no store connection meanwhile, and without advice goes on as if there were no advisor.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from onrecord.errors import ProviderError
from onrecord.model.advice import NO, YES, AdviceInput, Advised, Task
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller

#: The note on a request for advice when no advisor is configured.
NO_ADVISOR: Final = "no advisor is configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """For whom advice is asked: the caller and its agent, to whom the cost is attributed, at which time."""

    caller: Caller
    now: datetime
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState(Answer):
    """A model that may be asked: for which tasks it is the usual one, and why it is not asked right now, if it is not."""

    model: str
    tasks: tuple[Task, ...] = ()
    paused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisorState(Answer):
    """What an advisor may do, and what this process has asked of it. A call gets `timeout_s` seconds, with its repetitions.

    Limits are for a day: calls and dollars of a tenant, and of one agent in it. Of `looked_at` answers, `asked` were too
    close to call, so that an order was asked for.
    """

    models: tuple[ModelState, ...]
    timeout_s: float
    at_once: int
    busy: int
    calls_per_day: int | None = None
    calls_per_agent: int | None = None
    dollars_per_day: float | None = None
    dollars_per_agent: float | None = None
    looked_at: int = 0
    asked: int = 0


class Advisor(Protocol):
    """Gives advice. It never raises when there is none: `applied` is then false, and `note` says why."""

    @property
    def is_there(self) -> bool:
        """Whether anyone is configured to give advice."""

    def advise(self, task: Task, input: AdviceInput, by: Asker, model: str = YES) -> Advised:
        """Advice on a task, by the model that is configured for it or by another one of those that are.

        The reply is checked against the request, and contains nothing that was not asked for.
        """

    def note_looked(self, tenant: str, *, asked: bool) -> None:
        """Count an answer of a tenant that was looked at, and whether it was too close to call."""

    def state(self, tenant: str | None = None) -> AdvisorState | None:
        """Its models and limits, or None if there is none; and what one tenant, or all, looked at."""

    def listen(self, heard: Callable[[Advised], None]) -> None:
        """Report every call to this listener from now on."""

    def close(self) -> None:
        """Close its connections."""


class _NoAdvisor:
    is_there = False

    def advise(self, task: Task, input: AdviceInput, by: Asker, model: str = YES) -> Advised:
        return Advised(task=task, model="" if model == YES else model, applied=False, note=NO_ADVISOR)

    def note_looked(self, tenant: str, *, asked: bool) -> None:
        """Count nothing."""

    def state(self, tenant: str | None = None) -> None:
        return None

    def listen(self, heard: Callable[[Advised], None]) -> None:
        """Nothing is ever reported."""

    def close(self) -> None:
        """There is none."""


#: The advisor when none is configured.
NO_ADVISORS: Final[Advisor] = _NoAdvisor()


class NoAdvice(ProviderError):
    """An advisor gave no advice that can be used."""


def is_wanted(model: str | None) -> bool:
    """Whether a request asks for advice: it names a model, or says yes."""
    return model is not None and model != NO


def unapplied(advised: Advised, note: str) -> Advised:
    """Advice that came and was not taken, with the reason."""
    return replace(advised, applied=False, note=note)
