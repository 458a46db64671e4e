"""WHAT does it contradict? After a save, an advisor may look at the nearest memories of its kind; those that it flags end.

The save is kept in any case. To end a memory that the caller may not end becomes a proposal, or is left undone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from onrecord.errors import Forbidden, NotFound, OnRecordError
from onrecord.model.advice import UNADVISED, AdviceInput, Advised
from onrecord.model.limits import SHARED_SCOPES
from onrecord.model.memory import Memory
from onrecord.operation import Call
from onrecord.providers.advising import is_wanted, unapplied
from onrecord.recall.advice import candidate_of
from onrecord.recall.recall import Recall, recall
from onrecord.remember.propose import Proposer, propose_end
from onrecord.remember.supersede import end_by, superseded_by
from onrecord.store.ports.records import Writing
from onrecord.workspace.agents import paying_agent

if TYPE_CHECKING:
    from onrecord.remember.remember import Remember, Remembered

#: How many of the nearest an advisor looks at, and among how many they are looked for.
NEAREST: Final = 5
LOOKED_FOR: Final = 25
_QUESTION_CHARACTERS: Final = 1_000


class _Ended(NamedTuple):
    """Which memories ended, and why the others could not."""

    ids: tuple[str, ...]
    notes: tuple[str, ...]


def end_contradicted(call: Call, ask: "Remember", saved: "Remembered") -> "Remembered":
    """End what a new memory directly contradicts, if that is wanted. What the save itself names always wins."""
    new = saved.memory
    model = ask.auto_supersede
    if model is None or not is_wanted(model) or ask.supersedes or ask.dry_run:
        return saved
    if saved.outcome != "created" or new.status != "active" or new.valid_from > call.now:
        return saved
    # The answer of the save is kept already if it must not be done twice.
    call = replace(call, once=None)
    olds = nearest_to(call, new) if call.advisor.is_there else []
    if call.advisor.is_there and not olds:
        return saved
    candidates = tuple(map(candidate_of, olds))
    shown = AdviceInput(texts=(("new note", f"{new.title}\n{new.content}"),), candidates=candidates)
    advised = call.advise("supersede", shown, model, paying_agent(call, ask.agent))
    flagged = [old for old in olds if old.id in advised.said]
    ended = _Ended((), ())
    if flagged:
        try:
            ended = _end(call, new, flagged, advised)
        except OnRecordError as problem:
            advised = unapplied(advised, f"what it flagged could not be ended: {problem}")
    advised = replace(advised, said=ended.ids)
    return replace(
        saved,
        superseded=(*saved.superseded, *ended.ids),
        warnings=(*saved.warnings, *ended.notes),
        advice=(*saved.advice, advised),
    )


def nearest_to(call: Call, new: Memory) -> list[Memory]:
    """The nearest memories of the same kind for the same readers that were true before, of those that are not another's own."""
    question = new.title if new.has_own_title else new.content
    asked = Recall(
        question[:_QUESTION_CHARACTERS],
        limit=LOOKED_FOR,
        only_kinds=(new.kind,),
        scopes=(new.scope,),
        min_relevance=0.0,
        times="off",
        **UNADVISED,
    )
    found = [hit.memory for hit in recall(call, asked).hits if hit.memory.id != new.id]
    return [old for old in found if _may_end(call.caller.user, new, old)][:NEAREST]


def _may_end(user: str, new: Memory, old: Memory) -> bool:
    """Whether a new memory is for the same readers as an old one, neither saved later nor true later."""
    audience = (new.tenant, new.scope, new.persona, new.system)
    is_same = audience == (old.tenant, old.scope, old.persona, old.system)
    return is_same and old.is_live and _is_earlier(old, new) and may_be_shown(user, old)


def _is_earlier(old: Memory, new: Memory) -> bool:
    # Of many saved at once all are there by now.
    assert old.place is not None
    assert new.place is not None
    return old.valid_from <= new.valid_from and old.place.row < new.place.row


def may_be_shown(user: str, memory: Memory) -> bool:
    """Whether an advisor may see a memory for this user's sake: an admin sees what others keep for themselves, which is
    not sent anywhere.
    """
    return memory.scope in SHARED_SCOPES or memory.owner == user


def _end(call: Call, new: Memory, flagged: Sequence[Memory], advised: Advised) -> _Ended:
    """End the flagged memories in one transaction, as far as they still say what an advisor read."""
    by = f"{advised.prompt} {advised.model}"
    notes: list[str] = []
    with call.store.writing(call.caller, call.now, new.tenant) as writing:
        here = writing.memory(new.id)
        if here is None or not here.is_live:
            return _Ended(
                (), ("The contradicted memories were left alone: this memory has ended meanwhile.",)
            )
        ended = tuple(_ended(call, writing, here, flagged, by, notes))
    return _Ended(ended, tuple(notes))


def _ended(
    call: Call, writing: Writing, new: Memory, flagged: Sequence[Memory], by: str, notes: list[str]
) -> Iterator[str]:
    for seen in flagged:
        try:
            old = writing.named(seen.id, ends=True)
        except (NotFound, Forbidden) as problem:
            notes.append(f"An advisor thinks that this contradicts #{seen.id}. {problem}")
            continue
        if not old.is_live or old.version != seen.version:
            notes.append(f"#{seen.id} has changed meanwhile and was left alone.")
        elif writing.is_outranked(old):
            reason = f"{superseded_by(new, old)}, as an advisor thinks ({by})"
            proposed = propose_end(Proposer.of(call, None), writing, old, "retire", reason, new.valid_from)
            notes.extend(proposed.notes)
        else:
            end_by(writing, new, old, call.change("supersede"), f", as advised ({by})")
            yield old.id
