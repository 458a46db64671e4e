"""WHAT does an advisor add to a search? Other ways to ask before it, and a last look at the order after it.

Neither holds a connection. Where there is no advice, the answer is what it would be without.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from onrecord.model.advice import NO, YES, AdviceInput, Advised, Candidate, RerankWhen, Task
from onrecord.model.memory import Memory
from onrecord.operation import Call
from onrecord.providers.advising import is_wanted
from onrecord.recall.draft import RecallDraft, RecallTools, with_part
from onrecord.recall.draft import replace as with_changes
from onrecord.recall.fusion import by_rank
from onrecord.recall.sharing import with_texts
from onrecord.store.ports.index import Found, Key
from onrecord.workspace.agents import paying_agent

if TYPE_CHECKING:
    from onrecord.recall.recall import Recall

#: What the places in the lists of the question and of its paraphrases are worth.
WEIGHTS: Final = (1.0, 0.7)
#: How many candidates are put in order, at least and at most; and how many of those get a second look.
FEWEST: Final = 25
MOST: Final = 50
FINE: Final = 8
#: The first hit decides it if its relevance is at least this, and that of the next at most this share of it. Set by hand:
#: relevance falls with the place, to about 0.6 for a second hit of nearly the same score.
_DECIDED_FROM: Final = 0.5
_NEXT_SHARE: Final = 0.45


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Whom a search asks for advice: the model for each task, or `no`."""

    expand: str = NO
    rerank: str = NO
    rerank_fine: str = NO
    when: RerankWhen = "always"
    #: The agent that pays for it.
    agent: str | None = None

    @property
    def reorders(self) -> bool:
        return is_wanted(self.rerank) or is_wanted(self.rerank_fine)


def wishes_of(call: Call, ask: "Recall") -> Wishes:
    """What the request says; where it leaves something open, what its tenant lets an advisor do."""
    asked = Wishes(
        expand=ask.expand or NO,
        rerank=ask.rerank or NO,
        rerank_fine=ask.rerank_fine or NO,
        when=ask.rerank_when or "always",
    )
    if not call.advisor.is_there or not ask.question.strip():
        return asked
    asked = replace(asked, agent=paying_agent(call, ask.agent))
    standing = call.standing_advice()
    if ask.expand is None and "expand" in standing:
        asked = replace(asked, expand=YES)
    if ask.rerank is None and standing & {"rerank", "rerank_close"}:
        when: RerankWhen = "always" if "rerank" in standing else "close"
        asked = replace(asked, rerank=YES, when=ask.rerank_when or when)
    return asked


def in_other_words(call: Call, ask: "Recall", wishes: Wishes) -> tuple[tuple[str, ...], tuple[Advised, ...]]:
    """The question and its paraphrases, and what became of asking for them."""
    if not is_wanted(wishes.expand):
        return (ask.question,), ()
    shown = AdviceInput(texts=(("question", ask.question),))
    advised = call.advise("expand", shown, wishes.expand, wishes.agent)
    return (ask.question, *advised.said), (advised,)


def joined(drafts: Sequence[RecallDraft]) -> RecallDraft:
    """One order out of those of a question and its paraphrases: only the places count, and the question's own most.

    Earlier parts are shown without a share.
    """
    first, *others = drafts
    if not others:
        return first
    matches, relevance, paths = dict(first.matches), dict(first.relevance), dict(first.paths)
    parts = {key: tuple(part._replace(share=0.0) for part in first.parts[key]) for key in first.parts}
    fused = with_changes(first, parts=parts, boosts={})
    for number, draft in enumerate(drafts):
        ranked = [Found(key, draft.score(key)) for key in draft.ranked()]
        name = f"paraphrase {number}" if number else "question"
        fused = with_part(fused, name, ranked, by_rank(ranked, WEIGHTS[min(number, 1)], 0.0))
        matches = {**draft.matches, **matches}
        paths = {**draft.paths, **paths}
        for key, each in draft.relevance.items():
            relevance[key] = max(each, relevance.get(key, 0.0))
    return with_changes(
        fused,
        matches=matches,
        relevance=relevance,
        paths=paths,
        found={name: found for draft in reversed(drafts) for name, found in draft.found.items()},
        best_relevance=max(draft.best_relevance for draft in drafts),
    )


def is_close(draft: RecallDraft) -> bool:
    """Whether the relevance of the first hits leaves open which of them answers the question."""
    best = sorted((draft.relevance.get(key, 0.0) for key in draft.parts), reverse=True)[:2]
    if len(best) < 2:
        return False
    return best[0] < _DECIDED_FROM or best[1] > _NEXT_SHARE * best[0]


def pool_of(draft: RecallDraft) -> list[Key]:
    """Those whose order is looked at: 25, or as many as are asked for, up to 50."""
    return draft.ranked()[: min(max(draft.page.first, FEWEST), MOST)]


def read_shown(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Read what an advisor is shown, and what is chosen now, while the store is open. An order that only moves the first
    about brings in nothing else.
    """
    return with_texts(draft, tools, [*dict.fromkeys((*pool_of(draft), *draft.chosen, *draft.queries))])


def unadvised(call: Call, wishes: Wishes) -> tuple[Advised, ...]:
    """What is said of an order that was wanted where nobody can be asked."""
    wanted: dict[Task, str] = {"rerank": wishes.rerank, "rerank_fine": wishes.rerank_fine}
    return tuple(
        call.advise(task, AdviceInput(texts=()), model) for task, model in wanted.items() if is_wanted(model)
    )


def looked_at_again(
    call: Call, draft: RecallDraft, wishes: Wishes
) -> tuple[RecallDraft, tuple[Advised, ...]]:
    """The draft in its last order, and what became of asking for one: where it is clear already, nobody is asked."""
    if wishes.when == "always":
        return reordered(call, draft, wishes)
    close = is_close(draft)
    call.advisor.note_looked(asked=close)
    if close:
        return reordered(call, draft, wishes)
    state = call.advisor.state()
    often = f" ({state.asked} of {state.looked_at} answers were too close to call)" if state else ""
    note = f"not asked: the relevance of the first hits decides their order{often}"
    return draft, (Advised(task="rerank", model="", applied=False, note=note),)


def reordered(call: Call, draft: RecallDraft, wishes: Wishes) -> tuple[RecallDraft, tuple[Advised, ...]]:
    """The draft in the order of an advisor, and what became of asking: all candidates by one model, and the first few of
    them by another one, if that is wanted.
    """
    told: list[Advised] = []
    pool = [key for key in pool_of(draft) if key in draft.read]
    order = pool
    if len(pool) > 1 and is_wanted(wishes.rerank):
        order, advised = _ordered(call, draft, order, "rerank", wishes)
        told.append(advised)
    if len(pool) > 1 and is_wanted(wishes.rerank_fine):
        head, advised = _ordered(call, draft, order[:FINE], "rerank_fine", wishes)
        order = [*head, *order[FINE:]]
        told.append(advised)
    if order == pool:
        return draft, tuple(told)
    rest = [key for key in draft.ranked() if key not in set(order)]
    ranked = [Found(key, draft.score(key)) for key in (*order, *rest)]
    parts = {key: tuple(part._replace(share=0.0) for part in draft.parts[key]) for key in draft.parts}
    draft = with_changes(draft, parts=parts, boosts={})
    return with_part(draft, "advisor", ranked, by_rank(ranked, 1.0, 0.0)), tuple(told)


def _ordered(
    call: Call,
    draft: RecallDraft,
    keys: Sequence[Key],
    task: Literal["rerank", "rerank_fine"],
    wishes: Wishes,
) -> tuple[list[Key], Advised]:
    """The keys in the order of the reply; those that it does not name keep theirs, after the named."""
    by_id = {draft.read[key].id: key for key in keys}
    shown = AdviceInput(
        texts=(("question", draft.ask.question),),
        candidates=tuple(candidate_of(draft.read[key]) for key in keys),
    )
    model = wishes.rerank if task == "rerank" else wishes.rerank_fine
    advised = call.advise(task, shown, model, wishes.agent)
    named = [by_id[id] for id in advised.said]
    return [*named, *(key for key in keys if key not in set(named))], advised


def candidate_of(memory: Memory) -> Candidate:
    """A memory as an advisor sees it."""
    return Candidate(
        id=memory.id,
        kind=memory.kind,
        day=f"{memory.valid_from:%Y-%m-%d}",
        title=memory.title,
        text=memory.content,
        superseded=memory.valid_to is not None,
    )
