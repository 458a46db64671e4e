"""WHO gives advice? The port of an advisor: a task and what it is about go in, checked advice comes out, or a reason why
there is none.

Whoever asks holds no connection meanwhile, and goes on as without an advisor where there is no advice.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from onrecord.errors import ProviderError
from onrecord.model.advice import NO, YES, AdviceInput, Advised, Task
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller

#: Said wherever advice was asked for and nobody is configured to give any.
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
    """What an advisor may do, and what this process has asked of it.

    Limits are for a day: calls and dollars of a tenant, and of one agent in it. Of `looked_at` answers, `asked` were too
    close to call, so that an order was asked for.
    """

    models: tuple[ModelState, ...]
    at_once: int
    busy: int
    #: How much was put off and waits in this process.
    waiting: int = 0
    calls_per_day: int | None = None
    calls_per_agent: int | None = None
    dollars_per_day: float | None = None
    dollars_per_agent: float | None = None
    looked_at: int = 0
    asked: int = 0


class Advisor(Protocol):
    """Gives advice. It never raises for want of it: `applied` is false then, and `note` says why."""

    @property
    def is_there(self) -> bool:
        """Whether anyone is configured to give advice."""

    def advise(self, task: Task, input: AdviceInput, by: Asker, model: str = YES) -> Advised:
        """Advice on a task, by the model that is configured for it or by another one of those that are.

        What is said is checked against what was sent: nothing in it was not asked for.
        """

    def note_looked(self, *, asked: bool) -> None:
        """Count an answer that was looked at, and whether it was too close to call."""

    def state(self) -> AdvisorState | None:
        """Its models and limits, or None if there is none."""

    def listen(self, heard: Callable[[Advised], None]) -> None:
        """Tell of every call from now on."""

    def later(self, work: Callable[[], object]) -> bool:
        """Do work that asks it once nobody waits for it; False if it cannot be put off."""

    def close(self) -> None:
        """Close its connections."""


class _NoAdvisor:
    is_there = False

    def advise(self, task: Task, input: AdviceInput, by: Asker, model: str = YES) -> Advised:
        return Advised(task=task, model="" if model == YES else model, applied=False, note=NO_ADVISOR)

    def note_looked(self, *, asked: bool) -> None:
        """Nobody counts."""

    def state(self) -> None:
        return None

    def listen(self, heard: Callable[[Advised], None]) -> None:
        """There is nothing to tell."""

    def later(self, work: Callable[[], object]) -> bool:
        return False

    def close(self) -> None:
        """There is none."""


#: For whoever has configured none.
NO_ADVISORS: Final[Advisor] = _NoAdvisor()


class NoAdvice(ProviderError):
    """An advisor gave no advice that can be used."""


def is_wanted(model: str | None) -> bool:
    """Whether a request asks for advice: it names a model, or says yes."""
    return model is not None and model != NO


def unapplied(advised: Advised, note: str) -> Advised:
    """Advice that came and was not taken, with the reason."""
    return replace(advised, applied=False, note=note)
