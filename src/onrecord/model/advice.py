"""WHAT does an advisor answer, and at what cost? Advice is kept beside its subject, and decides nothing by itself."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from onrecord.model.answer import Answer

#: What an advisor is asked to do.
Task = Literal["expand", "rerank", "rerank_fine", "tag", "supersede", "extract", "judge"]
#: What a tenant or an agent may let it do without being asked each time.
Standing = Literal["expand", "rerank", "rerank_close", "rerank_fine", "tag", "supersede", "extract"]
Nothing = Literal["nothing"]
#: When an order is asked for: always, or only if the relevance of the first hits does not decide it.
RerankWhen = Literal["always", "close"]
Verdict = Literal["duplicate", "contradiction", "new"]

TASKS: Final[tuple[Task, ...]] = get_args(Task)
NOTHING: Final[Nothing] = "nothing"
#: How the note begins where there was no need to ask.
NOT_ASKED: Final = "not asked: "
STANDING: Final[tuple[Standing, ...]] = get_args(Standing)
RERANK_WHEN: Final[tuple[RerankWhen, ...]] = get_args(RerankWhen)
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
#: Costs are counted in millionths of a dollar, so that sums stay exact.
MICROS: Final = 1_000_000
#: Which model a request asks: none, the usual one, or a configured one by its name.
NO, YES = "no", "yes"
#: The fields of a search for which no model is called, whatever the tenant lets an advisor do: nobody asked for that search.
UNADVISED: Final[dict[str, Any]] = dict.fromkeys(("expand", "rerank", "rerank_fine"), NO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised(Answer):
    """The result of one question to an advisor.

    `applied` says whether the answer took it into account; if not, `note` says why, and the answer is what it would be
    without an advisor. `shown` are the ids of the candidates that it saw, and `said` is what was taken of its reply:
    paraphrases, ids in their order, tags or facts. `prompt` is the prompt with its version. `tries` is how often the model was
    called for it. Tokens and `cost`, in dollars, are those of the call; a repeated question calls nobody and costs nothing.
    """

    task: Task
    model: str
    applied: bool
    shown: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    verdict: Verdict | None = None
    why: str | None = None
    note: str | None = None
    prompt: str | None = None
    ms: float = 0.0
    tries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    @property
    def was_needless(self) -> bool:
        """Whether nobody was asked because there was nothing to ask."""
        return (self.note or "").startswith(NOT_ASKED)

    def summary(self) -> str:
        """One line about it for a person or an agent."""
        if not self.applied:
            return f"No advice ({self.task}): {self.note}"
        listed = ", ".join(f"#{id}" for id in self.said)
        if self.task == "expand":
            return "Also searched: " + " | ".join(f"'{each}'" for each in self.said)
        if self.task in ("rerank", "rerank_fine"):
            return f"Put in order by {self.model}."
        if self.task == "tag":
            return f"Tagged by {self.model}: {', '.join(self.said) or 'nothing'}"
        if self.task == "supersede":
            return f"Contradicted, as {self.model} thinks: {listed or 'nothing'}"
        return f"Read by {self.model}."

    def took(self) -> str:
        """What it took: time, tokens and dollars."""
        tries = f" in {self.tries} tries" if self.tries > 1 else ""
        return f"{self.ms:.0f} ms{tries}, {self.tokens_in} + {self.tokens_out} tokens, ${self.cost:.5f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory as an advisor sees it: which it is, and as much of its text as the task has room for."""

    id: str
    kind: str
    day: str
    title: str
    text: str
    superseded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceInput:
    """What an advisor is shown: texts by what they are, and the only candidates that it may name."""

    texts: tuple[tuple[str, str], ...]
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Answer):
    """What an advisor was asked on one day: by whom, for which agent, to do what; and what that took."""

    user: str
    agent: str | None
    task: Task
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: float
