"""WHAT does an advisor add to a search? Paraphrases of the question before it, and a better order of the hits after it.

Neither holds a connection to the store. Without advice the answer is the usual one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from onrecord.model.advice import NO, NOT_ASKED, YES, AdviceInput, Advised, Candidate, RerankWhen, Task
from onrecord.model.memory import Memory
from onrecord.model.request import WHOM
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
EXPAND: Final = f"Let an advisor put the question in other words, too: {WHOM}."
RERANK: Final = f"Let an advisor put the best hits in order: {WHOM}."
RERANK_FINE: Final = f"Let an advisor look again at the first {FINE} of them, by more of their text: {WHOM}."
WHEN: Final = (
    "When to ask for an order: always, or only if the relevance of the first hits does not decide it (close)."
)
#: The first hit decides it if its relevance is at least this, and that of the next at most this share of it. Set by hand:
#: relevance falls with the place, to about 0.6 for a second hit of nearly the same score.
_DECIDED_FROM: Final = 0.5
_NEXT_SHARE: Final = 0.45


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Which model a search asks for advice on each task, or `no`."""

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
    """What the request asks for; what it leaves open follows from what its tenant lets an advisor do."""
    asked = Wishes(
        expand=ask.expand or NO,
        rerank=ask.rerank or NO,
        rerank_fine=ask.rerank_fine or NO,
        when=ask.rerank_when or "always",
    )
    if not call.advisor.is_there or not ask.question.strip():
        return asked
    asked = replace(asked, agent=paying_agent(call, ask.agent))
    usual = call.standing_advice()
    if ask.expand is None and "expand" in usual:
        asked = replace(asked, expand=YES)
    if ask.rerank is None and usual & {"rerank", "rerank_close"}:
        when: RerankWhen = "always" if "rerank" in usual else "close"
        asked = replace(asked, rerank=YES, when=ask.rerank_when or when)
    if ask.rerank_fine is None and "rerank_fine" in usual:
        asked = replace(asked, rerank_fine=YES)
    return asked


def in_other_words(call: Call, ask: "Recall", wishes: Wishes) -> tuple[tuple[str, ...], tuple[Advised, ...]]:
    """The question and its paraphrases, and whether and how an advisor gave them."""
    if not is_wanted(wishes.expand):
        return (ask.question,), ()
    if not ask.question.strip():
        return (ask.question,), (no_question("expand"),)
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
    fused = with_changes(first, parts=parts, boosts={}, farther=frozenset())
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
    return are_close(draft.relevance.get(key, 0.0) for key in draft.parts)


def are_close(relevances: Iterable[float]) -> bool:
    """Whether the best of these leave open which of them answers the question."""
    best = sorted(relevances, reverse=True)[:2]
    return len(best) == 2 and (best[0] < _DECIDED_FROM or best[1] > _NEXT_SHARE * best[0])


def pool_of(draft: RecallDraft) -> list[Key]:
    """Those whose order is looked at: 25, or as many as are asked for, up to 50."""
    return draft.ranked()[: min(max(draft.page.first, FEWEST), MOST)]


def read_shown(draft: RecallDraft, tools: RecallTools) -> RecallDraft:
    """Read what an advisor is shown, and what is chosen now, while the store is open. An order that only moves the first
    about brings in nothing else.
    """
    return with_texts(draft, tools, [*dict.fromkeys((*pool_of(draft), *draft.chosen, *draft.queries))])


def unadvised(call: Call, wishes: Wishes) -> tuple[Advised, ...]:
    """The note for a request to reorder the hits when no advisor is configured."""
    wanted: dict[Task, str] = {"rerank": wishes.rerank, "rerank_fine": wishes.rerank_fine}
    return tuple(
        call.advise(task, AdviceInput(texts=()), model) for task, model in wanted.items() if is_wanted(model)
    )


def looked_at_again(
    call: Call, draft: RecallDraft, wishes: Wishes
) -> tuple[RecallDraft, tuple[Advised, ...]]:
    """The draft in its final order, and what the advisor did for it; if the order is clear already, no advisor is asked."""
    if wishes.when == "always":
        return reordered(call, draft, wishes)
    if is_to_ask(call, is_close(draft)):
        return reordered(call, draft, wishes)
    return draft, (decided(call),)


def is_to_ask(call: Call, close: bool) -> bool:
    """Whether an order is asked for where it is too close to call; counted."""
    call.advisor.note_looked(call.caller.tenant, asked=close)
    return close


def decided(call: Call) -> Advised:
    """What is said where nobody was asked, since the order is clear."""
    state = call.advisor.state(call.caller.tenant)
    often = f" ({state.asked} of {state.looked_at} answers were too close to call)" if state else ""
    note = f"{NOT_ASKED}the relevance of the first hits decides their order{often}"
    return Advised(task="rerank", model="", applied=False, note=note)


def nothing_to_order(wishes: Wishes) -> Iterator[Advised]:
    """What is said to a request for an order of fewer than two."""
    note = f"{NOT_ASKED}there are fewer than two hits to put in order"
    wanted: dict[Task, str] = {"rerank": wishes.rerank, "rerank_fine": wishes.rerank_fine}
    for task, model in wanted.items():
        if is_wanted(model):
            yield Advised(task=task, model="", applied=False, note=note)


def no_question(task: Task) -> Advised:
    return Advised(
        task=task, model="", applied=False, note="there is no question, so there is nothing to ask"
    )


def reordered(call: Call, draft: RecallDraft, wishes: Wishes) -> tuple[RecallDraft, tuple[Advised, ...]]:
    """The draft in the order of an advisor, and what each model did: one orders all candidates, and another the first few of
    them, if the request wants that.
    """
    advice: list[Advised] = []
    pool = [key for key in pool_of(draft) if key in draft.read]
    if len(pool) < 2:
        return draft, tuple(nothing_to_order(wishes))
    order = pool
    if is_wanted(wishes.rerank):
        order, advised = _ordered(call, draft, order, "rerank", wishes)
        advice.append(advised)
    if is_wanted(wishes.rerank_fine):
        head, advised = _ordered(call, draft, order[:FINE], "rerank_fine", wishes)
        order = [*head, *order[FINE:]]
        advice.append(advised)
    if order == pool:
        return draft, tuple(advice)
    rest = [key for key in draft.ranked() if key not in set(order)]
    ranked = [Found(key, draft.score(key)) for key in (*order, *rest)]
    parts = {key: tuple(part._replace(share=0.0) for part in draft.parts[key]) for key in draft.parts}
    draft = with_changes(draft, parts=parts, boosts={})
    return with_part(draft, "advisor", ranked, by_rank(ranked, 1.0, 0.0)), tuple(advice)


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
