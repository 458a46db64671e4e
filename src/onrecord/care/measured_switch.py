"""IS another embedder better for what is asked here? It is measured on the tenant's own questions before it is in use.

Its vectors are made beside those of the model in use, but for one memory: searches go by the model that has more of them,
and so stay with the old one until the last vectors are there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from onrecord.care.own_questions import DEPTH, ComparedMeasure, OwnTask, compared, own_task, scores_of
from onrecord.errors import Conflict
from onrecord.jobs.missing_vectors import BATCH, embed_batch
from onrecord.jobs.waiting_switch import model_in_use
from onrecord.model.advice import UNADVISED
from onrecord.model.answer import Answer
from onrecord.model.collections import MEMORIES, Home
from onrecord.model.embedding import EmbeddingModel
from onrecord.model.feedback import Feedback
from onrecord.model.limits import BROWSE_LIMIT
from onrecord.model.memory import Memory
from onrecord.operation import Call
from onrecord.providers.embedding import Embedder
from onrecord.recall.feedback import ListFeedback, feedback
from onrecord.recall.recall import Recall, recall


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSwitch(Answer):
    """What a change of embedders does to a tenant's own questions. Without measures, `note` says why it was not measured."""

    tenant: str
    before: str
    after: str
    questions: int
    measures: tuple[ComparedMeasure, ...] = ()
    note: str | None = None


class _OnlyThis:
    """The embedder that is tried, and no other."""

    def __init__(self, embedder: Embedder) -> None:
        self.current = embedder

    def open(self, model: EmbeddingModel) -> None:
        return None


def measure_switch(call: Call, embedder: Embedder, home: Home) -> MeasuredSwitch | None:
    """Measure the embedder on the questions of a tenant if it would take the place of another there. Conflict if it is worse;
    its vectors are dropped then.
    """
    with call.store.archive() as archive:
        before = model_in_use(archive, home, embedder.model)
    if home.collection is not MEMORIES or before is None:
        return None
    inside = replace(
        call, caller=replace(call.caller, tenant=home.tenant, conversation=None, conversation_by=None)
    )
    task = _task(inside)
    switch = MeasuredSwitch(
        tenant=home.tenant, before=before.name, after=embedder.model.name, questions=len(task.answerable)
    )
    if not task.is_enough:
        return replace(switch, note=task.too_little if task.questions or task.notices else None)
    call.progress(f"measuring {before.name}", 0, None)
    old = scores_of(task, lambda question: _found(inside, question))
    if failures := _embed_nearly_all(call, embedder, home, task):
        # Without their vectors the comparison would be unfair, and the old model stays in use.
        return replace(switch, note=f"Not every text could be embedded: {failures[0]}")
    trying = replace(inside, embedders=_OnlyThis(embedder))
    call.progress(f"measuring {embedder.model.name}", 0, None)
    new = scores_of(task, lambda question: _found(trying, question))
    measures = compared(old.questions, new.questions)
    if any(each.is_worse for each in measures):
        with call.store.restoring(home) as restoring:
            restoring.drop_vectors(embedder.model)
        raise Conflict(
            f"{embedder.model.name} answers the {len(old.questions)} judged questions of tenant {home.tenant} worse than "
            f"{before.name}: {'; '.join(each.in_words() for each in measures)}. Searches stay with {before.name}. Set the embedder "
            "back, or repeat with --anyway to change to it all the same."
        )
    return replace(switch, measures=measures)


def _task(call: Call) -> OwnTask:
    return own_task(_feedback(call), lambda id: _is_active(call, id))


def _feedback(call: Call) -> Iterator[Feedback]:
    after = None
    while True:
        page = feedback(call, ListFeedback(limit=BROWSE_LIMIT, after=after))
        yield from page.feedback
        if (after := page.next) is None:
            return


def _is_active(call: Call, id: str) -> bool:
    with call.reading() as reading:
        memory = reading.memory(id)
    return memory is not None and memory.status == "active"


def _found(call: Call, question: str) -> Sequence[str]:
    return [hit.memory.id for hit in recall(call, Recall(question, limit=DEPTH, **UNADVISED)).hits]


def _embed_nearly_all(call: Call, embedder: Embedder, home: Home, task: OwnTask) -> Sequence[str]:
    """Make the vectors, and say what failed. Leave out as few memories as keep the old model in use: such as everyone sees, so that it stays
    in use for everyone, and none that a question asks for.
    """
    asked = frozenset(id for question in task.questions for id in question.right | question.wrong)
    with call.store.archive() as archive:
        coverage = {each.model: each.memories for each in archive.coverage(home)}
        total = archive.count(home)
    left_out = total - max(count for model, count in coverage.items() if model != embedder.model) + 1
    todo = total - coverage.get(embedder.model, 0)
    after = done = 0
    failures: list[str] = []
    while True:
        with call.store.archive() as archive:
            memories = archive.unembedded(home, embedder.model, BATCH, after)
        if not memories:
            return failures
        after = max(memory.place.row for memory in memories if memory.place)
        chosen: list[Memory] = []
        for memory in memories:
            todo -= 1
            is_common = memory.scope == "tenant" and not memory.waits and memory.id not in asked
            if left_out > 0 and (is_common or todo < left_out):
                left_out -= 1
            else:
                chosen.append(memory)
        failures += embed_batch(call.store, embedder, home, chosen).failures
        done += len(chosen)
        call.progress(f"embedding {home} to measure", done, total)
