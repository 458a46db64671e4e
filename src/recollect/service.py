"""WHAT can be done? The one door: a method per operation, bound to one caller."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Final, Literal, ParamSpec, Self, TypeVar

from recollect import recall as recalling
from recollect import remember as remembering
from recollect.care import doctor, embedding, export, importing, reindex, status
from recollect.catalog import ingest as ingesting
from recollect.catalog import operations as catalogues
from recollect.catalog.inspection import as_markdown
from recollect.errors import Fault, Invalid, NotFound
from recollect.jobs.worker import Worker
from recollect.model import answers
from recollect.model.caller import Caller
from recollect.model.limits import GLOBAL_TENANT, RuleName
from recollect.model.memory import Memory
from recollect.model.requests import (
    Backup,
    Browse,
    Diff,
    Doctor,
    DropEntity,
    EmbedMissing,
    Export,
    Forget,
    History,
    Import,
    Ingest,
    Inspect,
    ListEntities,
    Neighbours,
    Prioritise,
    Recall,
    Reindex,
    Relate,
    Remember,
    Request,
    Retire,
    Revise,
    Search,
    Show,
    ShowStatus,
    Unrelate,
    checked,
    request_fields,
)
from recollect.model.when import When
from recollect.providers.embedding import NO_EMBEDDERS, Embedders
from recollect.recall import subjects
from recollect.remember import life
from recollect.store.port import Reading, Store

P = ParamSpec("P")
Asked = TypeVar("Asked", bound=Request)
Answer = TypeVar("Answer")
Effect = Literal["read", "write", "destroy"]
Progress = Callable[[str, int, int | None], None]
#: What an inspection passes on as it was asked.
_SHOWN: Final = ("sections", "show_sql", "descriptions_max_chars", "reachable_fields_depth", "num_rows")


@dataclass(frozen=True, slots=True)
class Operation:
    """What a door method is, for the surfaces that offer it: its request, what it does, and what it takes."""

    name: str
    request: type[Request]
    effect: Effect
    rule: RuleName
    method: Callable[..., Any]


def operation(
    request: Callable[P, Asked], effect: Effect, rule: RuleName
) -> Callable[[Callable[["Recollect", Asked], Answer]], Callable[Concatenate["Recollect", P], Answer]]:
    """Make a method take the fields of its request, or the request itself; check the rule and every field first."""
    kind: type[Asked] = request  # type: ignore[assignment]

    def bind(method: Callable[["Recollect", Asked], Answer]) -> Callable[Concatenate["Recollect", P], Answer]:
        @wraps(method)
        def call(self: "Recollect", /, *given: P.args, **named: P.kwargs) -> Answer:
            self.caller.require(rule)
            if len(given) == 1 and isinstance(given[0], kind) and not named:
                asked = given[0]
            else:
                asked = _build(kind, given, named)
            return method(self, checked(asked, self.caller))

        call.__doc__ = kind.__doc__
        call.operation = Operation(method.__name__, kind, effect, rule, call)  # type: ignore[attr-defined]
        return call

    return bind


def _build(kind: type[Asked], given: tuple[Any, ...], named: dict[str, Any]) -> Asked:
    """The request, or every field that it does not have and every one that is missing."""
    known = {each.name: each for each in request_fields(kind)}
    positional = [name for name, each in known.items() if not each.kw_only]
    values = dict(zip(positional, given, strict=False)) | named
    faults = [Fault(name, _unknown(name, known)) for name in named if name not in known]
    faults += [Fault(name, "was given twice") for name in positional[: len(given)] if name in named]
    if len(given) > len(positional):
        faults.append(
            Fault("arguments", f"at most {len(positional)} go without a name, {len(given)} were given")
        )
    for name, each in known.items():
        if each.default is MISSING and name not in values:
            faults.append(Fault(name, "is required"))
    if faults:
        raise Invalid(faults)
    return kind(**values)


def _unknown(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return "is not a field here" + (f"; did you mean {near[0]}?" if near else "")


class Recollect:
    """A store as one caller sees it. Several doors may share one store; closing any closes it for all."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        progress: Progress = lambda what, done, total: None,
        embedders: Embedders = NO_EMBEDDERS,
    ) -> None:
        self._store = store
        self._embedders = embedders
        self.caller = caller
        self._clock = clock
        self._progress = progress

    def as_caller(self, caller: Caller) -> "Recollect":
        """The same store through another caller's eyes."""
        return Recollect(
            self._store, caller, clock=self._clock, progress=self._progress, embedders=self._embedders
        )

    @operation(Remember, "write", "memory.manage")
    def remember(self, ask: Remember) -> answers.Remembered:
        return remembering.run(self.caller, ask, self._store, self._clock(), self._embedders.current)

    @operation(Recall, "read", "memory.read")
    def recall(self, ask: Recall) -> answers.Recalled:
        return recalling.run(self.caller, ask, self._store, self._embedders, self._clock())

    @operation(Show, "read", "memory.read")
    def show(self, ask: Show) -> answers.Shown:
        around = Neighbours(ask.id, as_of=ask.as_of, known_at=ask.known_at)
        with self._store.reading(self.caller, self._clock()) as reading:
            memory = _found(reading, ask.id, ask.as_of, ask.known_at)
            return answers.Shown(memory=memory, edges=tuple(reading.edges(memory, around)[: around.limit]))

    @operation(Browse, "read", "memory.read")
    def browse(self, ask: Browse) -> answers.Browsed:
        with self._store.reading(self.caller, self._clock()) as reading:
            memories, mark = reading.browse(ask)
        return answers.Browsed(memories=tuple(memories), next=mark)

    @operation(Revise, "write", "memory.manage")
    def revise(self, ask: Revise) -> answers.Revised:
        return life.revise(self.caller, ask, self._store, self._clock(), self._embedders.current)

    @operation(Retire, "write", "memory.manage")
    def retire(self, ask: Retire) -> answers.Retired:
        return life.retire(self.caller, ask, self._store, self._clock())

    @operation(Forget, "destroy", "memory.manage")
    def forget(self, ask: Forget) -> answers.Forgotten:
        return life.forget(self.caller, ask, self._store, self._clock())

    @operation(Relate, "write", "memory.manage")
    def relate(self, ask: Relate) -> answers.Related:
        return life.relate(self.caller, ask, self._store, self._clock())

    @operation(Unrelate, "write", "memory.manage")
    def unrelate(self, ask: Unrelate) -> answers.Unrelated:
        return life.unrelate(self.caller, ask, self._store, self._clock())

    @operation(Neighbours, "read", "memory.read")
    def neighbours(self, ask: Neighbours) -> answers.Neighbourhood:
        with self._store.reading(self.caller, self._clock()) as reading:
            center = _found(reading, ask.id, ask.as_of, ask.known_at)
            edges = reading.edges(center, ask)
        return answers.Neighbourhood(
            center=center, edges=tuple(edges[: ask.limit]), truncated=len(edges) > ask.limit
        )

    @operation(History, "read", "memory.read")
    def history(self, ask: History) -> answers.Told:
        with self._store.reading(self.caller, self._clock()) as reading:
            versions = reading.versions(ask.id)
        if not versions:
            raise NotFound(_no_memory(ask.id))
        return answers.Told(id=versions[-1].memory.id, versions=tuple(versions))

    @operation(Diff, "read", "memory.read")
    def diff(self, ask: Diff) -> answers.Compared:
        now = self._clock()
        with self._store.reading(self.caller, now) as reading:
            return reading.compare(ask.since, ask.until or now)

    @operation(Ingest, "write", "memory.admin")
    def ingest(self, ask: Ingest) -> answers.Ingested:
        from recollect.catalog.sources import open_source

        source = open_source(
            ask.path, datasource=ask.datasource, schema=ask.schema, sample_values=ask.sample_values
        )
        return ingesting.ingest(
            self._store,
            self.caller,
            source,
            now=self._clock(),
            dry_run=ask.dry_run,
            embeds=self._embedders.current is not None,
            progress=self._progress,
        )

    @operation(Search, "read", "memory.read")
    def search(self, ask: Search) -> answers.Searched:
        return subjects.search(self.caller, ask, self._store, self._embedders, self._clock())

    @operation(ListEntities, "read", "memory.read")
    def entities(self, ask: ListEntities) -> answers.ListedEntities:
        with self._store.reading(self.caller, self._clock()) as reading:
            return catalogues.entities(reading, ask)

    @operation(Inspect, "read", "memory.read")
    def inspect(self, ask: Inspect) -> answers.Inspected:
        shown = {name: getattr(ask, name) for name in _SHOWN}
        with self._store.reading(self.caller, self._clock()) as reading:
            model, told = catalogues.inspected(reading, ask.model, data_source=ask.data_source, **shown)
        return answers.Inspected(model=model.canonical, sections=told, markdown=as_markdown(told))

    @operation(DropEntity, "destroy", "memory.admin")
    def drop_entity(self, ask: DropEntity) -> answers.DroppedEntity:
        return catalogues.drop(self._store, self.caller, ask, self._clock())

    @operation(Prioritise, "write", "memory.admin")
    def prioritise(self, ask: Prioritise) -> answers.Prioritised:
        return catalogues.prioritise(self._store, self.caller, ask, self._clock())

    @operation(Export, "read", "memory.admin")
    def export(self, ask: Export) -> answers.Exported:
        if ask.all_tenants:
            self.caller.require_operator("An export of all tenants")
        return export.export_to(self._store, self.caller, ask, self._clock(), self._progress)

    @operation(Import, "write", "memory.admin")
    def import_(self, ask: Import) -> answers.Imported:
        if ask.keep_tenants:
            self.caller.require_operator("An import that keeps its tenants")
        return importing.import_from(
            self._store, self.caller, ask, self._progress, self._clock() if self._embedders.current else None
        )

    @operation(Backup, "read", "memory.admin")
    def backup(self, ask: Backup) -> answers.BackedUp:
        self.caller.require_operator("A backup")
        return export.back_up(self._store, self.caller, ask, self._clock(), self._progress)

    @operation(Doctor, "read", "memory.admin")
    def doctor(self, ask: Doctor) -> answers.Examined:
        return doctor.examine(self._store, self._progress)

    @operation(Reindex, "write", "memory.admin")
    def reindex(self, ask: Reindex) -> answers.Reindexed:
        return reindex.rebuild(self._store, self._progress)

    @operation(EmbedMissing, "write", "memory.admin")
    def embed_missing(self, ask: EmbedMissing) -> answers.EmbeddedMissing:
        tenants = self._tenants("Embedding all tenants", ask.all_tenants)
        return embedding.embed_tenants(
            self._store, self._embedders, tenants, ask, self._clock(), self._progress
        )

    @operation(ShowStatus, "read", "memory.admin")
    def status(self, ask: ShowStatus) -> answers.StoreStatus:
        tenants = self._tenants("The status of all tenants", ask.all_tenants)
        return status.look(self._store, self._embedders, tenants)

    def _tenants(self, what: str, every: bool) -> list[str]:
        """The caller's own tenant and what is for everyone, or all of them for the operator."""
        if every:
            self.caller.require_operator(what)
        with self._store.archive() as archive:
            there = archive.tenants()
        if every:
            return there
        others = (self.caller.in_catalog.tenant, GLOBAL_TENANT)
        return [self.caller.tenant, *(name for name in others if name in there)]

    @property
    def worker(self) -> Worker:
        """Someone to do what was put off; any number of them may work on one store."""
        return Worker(self._store, self._embedders.current, self._clock)

    @property
    def location(self) -> str:
        """Where the data lives."""
        return self._store.location

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _found(reading: Reading, id: str, as_of: datetime | None, known_at: datetime | None) -> Memory:
    """The memory at a time, or an error that tells apart "none" and "not then" to those who may see it."""
    memory = reading.memory(id, When(as_of, known_at))
    if memory is not None:
        return memory
    today = reading.memory(id)
    if today is None:
        raise NotFound(_no_memory(id))
    until = f" until {today.valid_to.isoformat()}" if today.valid_to else ""
    raise NotFound(
        f"Memory {id} was not there at that time: it was recorded on {today.created_at.isoformat()} and is "
        f"true from {today.valid_from.isoformat()}{until}. Ask for a time within, or leave the time out."
    )


def _no_memory(id: str) -> str:
    return f"No memory {id} that you can see. Check the id, or browse what is there."


#: Every operation, in the order in which people meet them.
OPERATIONS: tuple[Operation, ...] = tuple(
    member.operation for member in vars(Recollect).values() if hasattr(member, "operation")
)
