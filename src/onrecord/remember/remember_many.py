"""HOW are many memories saved at once? In one transaction, through the very steps of a single save.

What is wrong with one of them either refuses all, or leaves that one out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from onrecord.errors import Conflict, Fault, Forbidden, Invalid, NotFound, OnRecordError, SaveLimit, invalid
from onrecord.model import limits, rules
from onrecord.model.answer import Answer
from onrecord.model.request import FieldsOf, Request, ask, checked
from onrecord.model.rules import Choice
from onrecord.model.shapes import Several
from onrecord.operation import Call, build_request, operation
from onrecord.providers.advising import is_wanted
from onrecord.remember.check import is_global
from onrecord.remember.draft import Outcome, SaveDraft, SaveTools
from onrecord.remember.dry_run import dry_run
from onrecord.remember.embed import embed, embed_all
from onrecord.remember.remember import (
    PREPARE,
    PreparedSave,
    Remember,
    Remembered,
    begun,
    commit,
    end_what_it_contradicts,
)
from onrecord.store.ports.records import Writing

Step = Callable[[SaveDraft, SaveTools], SaveDraft]
OnFault = Literal["refuse", "skip"]
#: The errors of one save, which say nothing of the others. Any other ends the request.
_OF_ONE: Final = (Invalid, Conflict, Forbidden, NotFound)


@dataclass(frozen=True, slots=True)
class RememberMany(Request):
    """Save many memories at once, each as `remember` does.

    They are saved in one transaction: all, or with `on_fault` refuse none. With skip, what cannot be saved is left out
    and the answer says why. The very same text given twice is saved once; otherwise they are compared with
    what was there before, not with one another.
    """

    memories: Sequence[Mapping[str, Any]] = ask(
        Several(FieldsOf(Remember, without=("dry_run",)), at_least=1, at_most=limits.SAVED_AT_ONCE),
        f"The memories, each an object with the fields of `remember` (up to {limits.SAVED_AT_ONCE:,}); in a shell also a "
        "file of them, a JSON list or a line for each.",
        positional=True,
    )
    on_fault: OnFault = ask(
        Choice(("refuse", "skip")),
        "If one cannot be saved: refuse all, or skip that one and save the others.",
        "refuse",
    )
    dry_run: bool = ask(rules.FLAG, "Say what would be saved, and save nothing.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedOne(Answer):
    """What became of one of the memories: its id and version, or in `faults` why it was not saved; otherwise as
    `remember` answers.
    """

    id: str | None = None
    version: int | None = None
    outcome: Outcome | None = None
    scrubbed: int = 0
    superseded: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedMany(Answer):
    """What became of each memory, in the order in which they were given. `saved` counts those that changed the store, and
    `skipped` those that could not be saved.
    """

    memories: tuple[SavedOne, ...]
    saved: int
    skipped: int
    dry_run: bool = False


class _Asked(NamedTuple):
    """One of the saves: its place in the request, and what it has come to so far."""

    place: int
    draft: SaveDraft
    tools: SaveTools


class _Failed(Exception):
    """One save failed, which takes back those before it in its transaction."""

    def __init__(self, at: int, error: OnRecordError) -> None:
        super().__init__(error)
        self.at, self.error = at, error


@dataclass(slots=True)
class _Batch:
    """A request, and what has become of its saves."""

    call: Call
    ask: RememberMany
    saved: dict[int, Remembered] = field(default_factory=dict)
    faults: dict[int, OnRecordError] = field(default_factory=dict)

    def skip(self, place: int, error: OnRecordError) -> None:
        """Leave one out, or refuse all because of it."""
        if self.ask.on_fault == "refuse":
            if isinstance(error, Invalid):
                raise Invalid(_in_place(place, error)) from None
            error.args = (f"memories[{place}]: {error}",)
            raise error
        self.faults[place] = error

    def refusals(self) -> set[int]:
        """The refusals, each once: a limit that is reached is the fault of all that follow."""
        return {id(each) for each in self.faults.values() if isinstance(each, Forbidden)}

    def answer(self) -> RememberedMany:
        memories = tuple(map(self._one, range(len(self.ask.memories))))
        return RememberedMany(
            memories=memories,
            saved=sum(each.outcome in ("created", "updated", "proposed") for each in memories),
            skipped=len(self.faults),
            dry_run=self.ask.dry_run,
        )

    def _one(self, place: int) -> SavedOne:
        if place in self.faults:
            return SavedOne(faults=tuple(str(self.faults[place]).split("\n")))
        saved = self.saved[place]
        return SavedOne(
            id=saved.memory.id,
            version=saved.memory.version,
            outcome=saved.outcome,
            scrubbed=saved.scrubbed,
            superseded=saved.superseded,
            similar=tuple(each.id for each in saved.similar),
            degraded=saved.degraded,
            warnings=saved.warnings,
        )


@operation("write", "memory.manage", "POST /memories/batch", begins=True)
def remember_many(call: Call, ask: RememberMany) -> RememberedMany:
    """Save them; the answer comes after the commit."""
    batch = _Batch(call, ask)
    asked = [_Asked(place, *begun(call, one)) for place, one in _requests(batch).items()]
    for step in PREPARE:
        asked = _embedded(asked) if step is embed else list(_each(batch, step, asked))
    _saved(batch, asked)
    for _ in batch.refusals():
        call.note_refusal("remember_many")
    # Its kept answer is that of the whole.
    alone = replace(call, once=None)
    told = {
        place: end_what_it_contradicts(alone, draft.ask, batch.saved[place])
        for place, draft, _ in asked
        if place in batch.saved and is_wanted(draft.ask.auto_supersede)
    }
    if any(each is not batch.saved[place] for place, each in told.items()):
        batch.saved |= told
        call.amend(batch.answer())
    return batch.answer()


def _requests(batch: _Batch) -> dict[int, Remember]:
    """The single saves whose fields are sound. To refuse all, the faults of all are listed."""
    requests: dict[int, Remember] = {}
    faults: list[Fault] = []
    for place, fields in enumerate(batch.ask.memories):
        try:
            requests[place] = _request(fields, batch)
        except Invalid as error:
            if batch.ask.on_fault == "skip":
                batch.skip(place, error)
            faults += _in_place(place, error)
    if faults and batch.ask.on_fault == "refuse":
        raise Invalid(faults[: limits.FAULTS_SHOWN])
    return requests


def _request(fields: Mapping[str, Any], batch: _Batch) -> Remember:
    if "dry_run" in fields:
        raise invalid("dry_run", "is for the request as a whole; give it beside memories")
    caller = batch.call.caller
    ask = checked(build_request(Remember, (), {**fields, "dry_run": batch.ask.dry_run}), caller)
    if is_global(ask):
        raise invalid("scope", "a memory for every tenant is saved by itself, with remember")
    return ask


def _each(batch: _Batch, step: Step, asked: Iterable[_Asked]) -> Iterator[_Asked]:
    for place, draft, tools in asked:
        try:
            yield _Asked(place, step(draft, tools), tools)
        except _OF_ONE as error:
            batch.skip(place, error)


def _embedded(asked: list[_Asked]) -> list[_Asked]:
    """All texts are embedded together. All that are embedded have the same embedder."""
    wanted = [each for each in asked if each.tools.embedder is not None]
    if not wanted:
        return asked
    drafts = embed_all([each.draft for each in wanted], wanted[0].tools)
    done = {each.place: each._replace(draft=draft) for each, draft in zip(wanted, drafts, strict=True)}
    return [done.get(each.place, each) for each in asked]


def _saved(batch: _Batch, asked: list[_Asked]) -> None:
    """Save them in one transaction. One that fails takes back a part of it, which is done again without it."""
    runs = [asked]
    with dry_run(batch.ask.dry_run) as trial, batch.call.writing() as writing:
        while runs:
            run = runs.pop(0)
            try:
                with writing.part() as part:
                    saved = _save(run, part)
                batch.saved |= saved
            except _Failed as failed:
                rest = run[failed.at + 1 :]
                batch.skip(run[failed.at].place, failed.error)
                if isinstance(failed.error, SaveLimit):
                    # None of the others would be saved either.
                    batch.faults |= {each.place: failed.error for each in rest}
                    rest = []
                runs = [each for each in (run[: failed.at], rest) if each] + runs
        batch.call.done(writing, batch.answer())
        trial.end()


def _save(run: Sequence[_Asked], writing: Writing) -> dict[int, Remembered]:
    saved: dict[int, Remembered] = {}
    for at, (place, draft, tools) in enumerate(run):
        try:
            saved[place] = commit(PreparedSave(draft, tools, ()), writing)
        except _OF_ONE as error:
            raise _Failed(at, error) from error
    return saved


def _in_place(place: int, error: OnRecordError) -> list[Fault]:
    """The faults of one save, by their place in the request."""
    at = f"memories[{place}]"
    if isinstance(error, Invalid):
        return [Fault(f"{at}.{each.field}", each.message) for each in error.faults]
    return [Fault(at, str(error))]
