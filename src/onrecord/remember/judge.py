"""IS a proposal new? An advisor gives the reviewer its opinion with the proposal; it decides nothing."""

from dataclasses import dataclass
from typing import Final

from onrecord.errors import no_memory
from onrecord.model.advice import NO, YES, AdviceInput, Advised, Verdict
from onrecord.model.answer import Answer
from onrecord.model.memory import Memory
from onrecord.model.request import ADVISED, Request, ask
from onrecord.model.rules import ID
from onrecord.operation import Call, operation
from onrecord.recall.advice import candidate_of
from onrecord.recall.recall import Recall, recall
from onrecord.remember.contradict import LOOKED_FOR, NEAREST, may_be_shown

_QUESTION_CHARACTERS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Judge(Request):
    """Ask an advisor what it thinks of a proposal: a duplicate, a contradiction, or new. Nothing changes by it."""

    id: str = ask(ID, "The memory that waits for review.", positional=True)
    advisor: str | None = ask(
        ADVISED, "Which of the configured models to ask; the usual one when left out.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Answer):
    """An opinion on a proposal, and the memories that it is about. Without one, `verdict` is None and `advice` says why."""

    id: str
    verdict: Verdict | None
    about: tuple[str, ...]
    why: str | None
    advice: Advised


@operation("read", "memory.review", "GET /memories/{id}/judgement")
def judge(call: Call, ask: Judge) -> Judged:
    with call.reading() as reading:
        memory = reading.memory(ask.id)
    if memory is None:
        raise no_memory(ask.id)
    known = _known(call, memory) if call.advisor.is_there else ()
    shown = AdviceInput(
        texts=(("proposal", f"{memory.title}\n{memory.content}"),), candidates=tuple(map(candidate_of, known))
    )
    advised = call.advise("judge", shown, ask.advisor or YES)
    return Judged(id=memory.id, verdict=advised.verdict, about=advised.said, why=advised.why, advice=advised)


def _known(call: Call, memory: Memory) -> tuple[Memory, ...]:
    """The nearest memories that count already; what a proposal would change is one of them."""
    question = f"{memory.title}\n{memory.content}"[:_QUESTION_CHARACTERS]
    asked = Recall(question, limit=LOOKED_FOR, min_relevance=0.0, times="off", expand=NO, rerank=NO)
    near = [hit.memory for hit in recall(call, asked).hits if hit.memory.id != memory.id]
    return tuple([each for each in near if may_be_shown(call.caller.user, each)][:NEAREST])
