"""IS a proposal new? What is near it, what was rejected like it, and an advisor's opinion: for the reviewer, who decides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onrecord.errors import no_memory
from onrecord.model.advice import NO, UNADVISED, YES, AdviceInput, Advised, Verdict
from onrecord.model.answer import Answer
from onrecord.model.findings import RejectedProposal, Similar
from onrecord.model.memory import Memory, Proposal
from onrecord.model.request import ADVISED, Request, ask
from onrecord.model.rules import ID
from onrecord.operation import Call, operation
from onrecord.providers.embedding import likeness_of, score_of
from onrecord.recall.advice import candidate_of
from onrecord.recall.recall import Recall, recall
from onrecord.remember.alike import LISTED_FROM, listed
from onrecord.remember.contradict import LOOKED_FOR, NEAREST, may_be_shown
from onrecord.remember.rejected import rejected_before, rejected_like
from onrecord.store.ports.records import Alike, Reading

_QUESTION_CHARACTERS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Judge(Request):
    """See what is near a proposal and what was rejected like it, and ask an advisor what it thinks: a duplicate, a
    contradiction, or new. Nothing changes by it.
    """

    id: str = ask(ID, "The memory that waits for review.", positional=True)
    advisor: str | None = ask(
        ADVISED, "Which of the configured models to ask; the usual one when left out, `no` for none.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Answer):
    """An opinion on a proposal, and the memories that it is about. Without one, `verdict` is None and `advice` says why.

    `similar` are live memories for the same readers that say nearly the same, whoever wrote them, most similar first;
    `rejected` are earlier proposals like this one, who rejected them and why.
    """

    id: str
    verdict: Verdict | None
    about: tuple[str, ...]
    why: str | None
    advice: Advised
    similar: tuple[Similar, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()


@operation("read", "memory.review", "GET /memories/{id}/judgement")
def judge(call: Call, ask: Judge) -> Judged:
    with call.reading() as reading:
        memory = reading.memory(ask.id, by_name=True)
        if memory is None:
            raise no_memory(ask.id)
        near = _near(call, reading, memory)
        rejected = tuple(_rejected(reading, memory, near))
    fields: dict[str, Any] = {"similar": listed(near), "rejected": rejected}
    if ask.advisor == NO:
        nobody = Advised(task="judge", model=NO, applied=False, note="nobody was asked")
        return Judged(id=memory.id, verdict=None, about=(), why=None, advice=nobody, **fields)
    known = _known(call, memory) if call.advisor.is_there else ()
    shown = AdviceInput(
        texts=(("proposal", f"{memory.title}\n{memory.content}"),), candidates=tuple(map(candidate_of, known))
    )
    advised = call.advise("judge", shown, ask.advisor or YES)
    return Judged(
        id=memory.id, verdict=advised.verdict, about=advised.said, why=advised.why, advice=advised, **fields
    )


def _near(call: Call, reading: Reading, memory: Memory) -> Sequence[Alike]:
    """What says nearly the same, rejected ones too; nothing without an embedder."""
    embedder = call.embedders.current
    if embedder is None:
        return ()
    found = reading.near_to(memory, embedder.model, least=score_of(LISTED_FROM, embedder))
    changed = () if memory.proposes is None else memory.proposes.of
    return [
        each._replace(score=likeness_of(each.score, embedder))
        for each in found
        if each.memory.id not in changed
    ]


def _rejected(reading: Reading, memory: Memory, near: Sequence[Alike]) -> Iterator[RejectedProposal]:
    """What was rejected: proposals of such a text, or to change the same memory in the same way."""
    proposal = memory.proposes or Proposal(change="save")
    known = {
        each.memory.id: each
        for each in (*near, *reading.rejected_with_content(memory))
        if each.rejected is not None and each.memory.id != memory.id
    }
    like = rejected_like(memory, proposal, known.values())
    for target in map(reading.memory, proposal.of):
        before = None if target is None else rejected_before(reading, target, memory)
        if before is not None and before.finding.id not in known:
            yield before.finding
    yield from like


def _known(call: Call, memory: Memory) -> tuple[Memory, ...]:
    """The nearest memories that count already; what a proposal would change is one of them."""
    question = f"{memory.title}\n{memory.content}"[:_QUESTION_CHARACTERS]
    asked = Recall(question, limit=LOOKED_FOR, min_relevance=0.0, times="off", **UNADVISED)
    near = [hit.memory for hit in recall(call, asked).hits if hit.memory.id != memory.id]
    return tuple([each for each in near if may_be_shown(call.caller.user, each)][:NEAREST])
