"""WHAT can be done? The one door: a method per operation, bound to one caller."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Final, Literal, ParamSpec, Self, TypeVar, Union, get_args, get_type_hints

from onrecord import context as telling
from onrecord import recall as recalling
from onrecord import remember as remembering
from onrecord.access import auditing, confirmation, keys, tenants
from onrecord.care import doctor, embedding, export, importing, reindex, status
from onrecord.catalog import ingest as ingesting
from onrecord.catalog import operations as catalogues
from onrecord.catalog.inspection import as_markdown
from onrecord.context.turns import Turns
from onrecord.errors import Fault, Forbidden, Invalid, NotFound
from onrecord.jobs.worker import Worker
from onrecord.model import answers
from onrecord.model.caller import Caller
from onrecord.model.collections import COLLECTIONS, ENTITIES, Home
from onrecord.model.limits import GLOBAL_TENANT, SAVES_PER_RUN, Permission
from onrecord.model.memory import Memory
from onrecord.model.requests import (
    AppendScratchpad,
    Approve,
    Backup,
    Browse,
    ClearScratchpad,
    ClearTurns,
    CreateKey,
    CreateTenant,
    DeleteArtifact,
    DeleteConversation,
    Diff,
    Doctor,
    DropEntity,
    EmbedMissing,
    EraseTenant,
    Export,
    Forget,
    GiveContext,
    History,
    Import,
    Ingest,
    Inspect,
    ListArtifacts,
    ListAudit,
    ListConversations,
    ListEntities,
    ListKeys,
    ListRelations,
    ListScratchpads,
    ListTenants,
    ListTurns,
    Neighbours,
    NoteTurn,
    Prioritise,
    ReadArtifact,
    ReadScratchpad,
    Recall,
    RegisterConversation,
    Reindex,
    Reject,
    Relate,
    Remember,
    RemoveRelation,
    Request,
    Retire,
    Revise,
    RevokeKey,
    Search,
    SetAgent,
    Show,
    ShowAgent,
    ShowConversation,
    ShowStatus,
    Unrelate,
    WriteArtifact,
    checked,
    request_fields,
)
from onrecord.model.unset import Unset
from onrecord.model.when import When
from onrecord.providers.embedding import NO_EMBEDDERS, Embedders
from onrecord.recall import subjects
from onrecord.remember import life, review
from onrecord.store.ports.records import Reading
from onrecord.store.ports.store import Store
from onrecord.workspace import agents
from onrecord.workspace import artifacts as files
from onrecord.workspace import conversations as conversing
from onrecord.workspace import scratchpads as notes

P = ParamSpec("P")
Asked = TypeVar("Asked", bound=Request)
Answer = TypeVar("Answer")
Effect = Literal["read", "write", "destroy"]
Progress = Callable[[str, int, int | None], None]
#: What an inspection passes on as it was asked.
_SHOWN: Final = ("sections", "show_sql", "descriptions_max_chars", "reachable_fields_depth", "num_rows")


@dataclass(frozen=True, slots=True)
class Operation:
    """What a door method is, for the surfaces that offer it: its request, what it does, and what it takes.

    `route` is where it is found over HTTP, or None if it is for this machine alone; `command` what it is called on a
    command line, or None if there is nothing to call: what it keeps ends with the process. `begins` says whether it may be
    the first thing in a store, which is then made; all others need one that is there.
    """

    name: str
    request: type[Request]
    effect: Effect
    permission: Permission
    route: str | None
    command: str | None
    method: Callable[..., Any]
    begins: bool = False

    @property
    def answer(self) -> Any:
        """The type of what comes back."""
        return get_type_hints(inspect.unwrap(self.method))["return"]

    def is_offered_to(self, caller: Caller) -> bool:
        """Whether there is any use in showing it to this caller."""
        return self.permission in caller.permissions and not (
            self.effect == "destroy" and caller.actor == "unattended"
        )


def operation(
    request: Callable[P, Asked],
    effect: Effect,
    permission: Permission,
    route: str | None = None,
    command: str | None = "",
    begins: bool = False,
) -> Callable[[Callable[["OnRecord", Asked], Answer]], Callable[Concatenate["OnRecord", P], Answer]]:
    """Make a method take the fields of its request, or the request itself; check the permission and every field first."""
    kind: type[Asked] = request  # type: ignore[assignment]

    def bind(method: Callable[["OnRecord", Asked], Answer]) -> Callable[Concatenate["OnRecord", P], Answer]:
        @wraps(method)
        def call(self: "OnRecord", /, *given: P.args, **named: P.kwargs) -> Answer:
            try:
                self._require(told)
                if len(given) == 1 and isinstance(given[0], kind) and not named:
                    asked = given[0]
                else:
                    asked = build_request(kind, given, named)
                return method(self, checked(asked, self.caller))
            except Forbidden:
                auditing.note_refusal(self.caller, told.name, self._store, self._clock())
                raise

        call.__doc__ = kind.__doc__
        shown = _signature(kind, method.__annotations__["return"])
        call.__signature__ = shown  # type: ignore[attr-defined]
        call.__annotations__ = {
            name: each.annotation for name, each in shown.parameters.items() if name != "self"
        }
        call.__annotations__["return"] = shown.return_annotation
        spelt = method.__name__.rstrip("_").replace("_", "-") if command == "" else command
        told = Operation(method.__name__, kind, effect, permission, route, spelt, call, begins)
        call.operation = told  # type: ignore[attr-defined]
        return call

    return bind


def _signature(kind: type[Request], answer: Any) -> inspect.Signature:
    """The fields of a request as parameters, so that a framework can make a tool of the method."""
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for each in request_fields(kind):
        how = inspect.Parameter.KEYWORD_ONLY if each.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if each.default is MISSING else each.default
        shown = inspect.Parameter(each.name, how, default=default, annotation=_without_unset(each.type))
        parameters.append(shown)
    return inspect.Signature(parameters, return_annotation=answer)


def _without_unset(hint: Any) -> Any:
    """What is left out has a mark of its own, which nobody gives as a value."""
    kinds = [each for each in get_args(hint) if each is not Unset]
    return Union[tuple(kinds)] if Unset in get_args(hint) else hint  # noqa: UP007


def build_request(kind: type[Asked], given: tuple[Any, ...], named: dict[str, Any]) -> Asked:
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


@dataclass(frozen=True, slots=True)
class Terms:
    """What whoever runs the store allows those who come in: which sources may be read, None for any, and how many saves
    an unattended run may make."""

    sources: Sequence[str] | None = None
    saves_per_run: int = SAVES_PER_RUN


_FREE: Final = Terms()


class OnRecord:
    """A store as one caller sees it. Several doors may share one store; closing any closes it for all."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        progress: Progress = lambda what, done, total: None,
        embedders: Embedders = NO_EMBEDDERS,
        turns: Turns | None = None,
        terms: Terms = _FREE,
    ) -> None:
        self._store = store
        self._turns = turns or Turns()
        self._terms = terms
        self._embedders = embedders
        self.caller = caller
        self._clock = clock
        self._progress = progress

    def as_caller(self, caller: Caller) -> "OnRecord":
        """The same store through another caller's eyes."""
        return OnRecord(
            self._store,
            caller,
            clock=self._clock,
            progress=self._progress,
            embedders=self._embedders,
            turns=self._turns,
            terms=self._terms,
        )

    @operation(Remember, "write", "memory.manage", "POST /memories", begins=True)
    def remember(self, ask: Remember) -> answers.Remembered:
        return remembering.run(
            self.caller,
            ask,
            self._store,
            self._clock(),
            None if ask.dry_run else self._embedders.current,
            saves_per_run=self._terms.saves_per_run,
        )

    @operation(Recall, "read", "memory.read", "POST /recall")
    def recall(self, ask: Recall) -> answers.Recalled:
        if ask.agent is not None:
            kept = agents.shown(self.caller, ShowAgent(ask.agent), self._store, self._clock())
            ask = agents.filled(ask, kept.settings)
        return recalling.run(self.caller, ask, self._store, self._embedders, self._clock())

    @operation(Show, "read", "memory.read", "GET /memories/{id}")
    def show(self, ask: Show) -> answers.Shown:
        around = Neighbours(ask.id, as_of=ask.as_of, known_at=ask.known_at)
        with self._store.reading(self.caller, self._clock()) as reading:
            memory = _found(reading, ask.id, ask.as_of, ask.known_at)
            edges = tuple(reading.relations.around(memory, around)[: around.limit])
            artifact = files.of_memory(self.caller, memory, reading)
        return answers.Shown(memory=memory, edges=edges, artifact=artifact)

    @operation(Browse, "read", "memory.read", "GET /memories")
    def browse(self, ask: Browse) -> answers.Browsed:
        with self._store.reading(self.caller, self._clock()) as reading:
            memories, mark = reading.browse(ask)
        return answers.Browsed(memories=tuple(memories), next=mark)

    @operation(Revise, "write", "memory.manage", "PATCH /memories/{id}")
    def revise(self, ask: Revise) -> answers.Revised:
        return life.revise(self.caller, ask, self._store, self._clock(), self._embedders.current)

    @operation(Retire, "write", "memory.manage", "POST /memories/{id}/retire")
    def retire(self, ask: Retire) -> answers.Retired:
        return life.retire(self.caller, ask, self._store, self._clock())

    @operation(Forget, "destroy", "memory.manage", "DELETE /memories/{id}")
    def forget(self, ask: Forget) -> answers.Forgotten:
        return life.forget(self.caller, ask, self._store, self._clock())

    @operation(Relate, "write", "memory.manage", "PUT /memories/{source}/relations/{relation}/{target}")
    def relate(self, ask: Relate) -> answers.Related:
        return life.relate(self.caller, ask, self._store, self._clock())

    @operation(Unrelate, "write", "memory.manage", "DELETE /memories/{source}/relations/{relation}/{target}")
    def unrelate(self, ask: Unrelate) -> answers.Unrelated:
        return life.unrelate(self.caller, ask, self._store, self._clock())

    @operation(ListRelations, "read", "memory.read", "GET /relations")
    def relations(self, ask: ListRelations) -> answers.ListedRelations:
        with self._store.reading(self.caller, self._clock()) as reading:
            edges, mark = reading.relations.page(ask)
        return answers.ListedRelations(relations=tuple(edges), next=mark)

    @operation(RemoveRelation, "write", "memory.manage", "DELETE /relations/{id}")
    def remove_relation(self, ask: RemoveRelation) -> answers.Unrelated:
        return life.remove_relation(self.caller, ask, self._store, self._clock())

    @operation(Neighbours, "read", "memory.read", "GET /memories/{id}/neighbours")
    def neighbours(self, ask: Neighbours) -> answers.Neighbourhood:
        with self._store.reading(self.caller, self._clock()) as reading:
            center = _found(reading, ask.id, ask.as_of, ask.known_at)
            edges = reading.relations.around(center, ask)
        return answers.Neighbourhood(
            center=center, edges=tuple(edges[: ask.limit]), truncated=len(edges) > ask.limit
        )

    @operation(History, "read", "memory.read", "GET /memories/{id}/history")
    def history(self, ask: History) -> answers.ShownHistory:
        with self._store.reading(self.caller, self._clock()) as reading:
            versions = reading.versions(ask.id)
        if not versions:
            raise NotFound(_no_memory(ask.id))
        return answers.ShownHistory(id=versions[-1].memory.id, versions=tuple(versions))

    @operation(Diff, "read", "memory.read", "GET /diff")
    def diff(self, ask: Diff) -> answers.Compared:
        now = self._clock()
        with self._store.reading(self.caller, now) as reading:
            return reading.compare(ask.since, ask.until or now)

    @operation(Ingest, "write", "memory.admin", "POST /ingest", begins=True)
    def ingest(self, ask: Ingest) -> answers.Ingested:
        from onrecord.catalog.sources import open_source

        if self._terms.sources is not None and ask.path not in self._terms.sources:
            # A path or an address is looked at with the server's rights, not with those of whoever sends it.
            raise Forbidden("Only the sources that this server was set up with can be read from here.")
        source = open_source(
            ask.path, datasource=ask.datasource, schema=ask.schema, sample_values=ask.sample_values
        )
        ingested = ingesting.ingest(
            self._store,
            self.caller,
            source,
            now=self._clock(),
            dry_run=ask.dry_run,
            embeds=self._embedders.current is not None,
            progress=self._progress,
        )
        if not ask.dry_run:
            # Not the path: the address of a database may hold its password.
            self._note("ingest", ask.datasource)
        return ingested

    @operation(Search, "read", "memory.read", "POST /search")
    def search(self, ask: Search) -> answers.Searched:
        return subjects.search(self.caller, ask, self._store, self._embedders, self._clock())

    @operation(ListEntities, "read", "memory.read", "GET /entities")
    def entities(self, ask: ListEntities) -> answers.ListedEntities:
        with self._store.reading(self.caller, self._clock()) as reading:
            return catalogues.entities(reading, ask)

    @operation(Inspect, "read", "memory.read", "GET /models/{model}")
    def inspect(self, ask: Inspect) -> answers.Inspected:
        shown = {name: getattr(ask, name) for name in _SHOWN}
        with self._store.reading(self.caller, self._clock()) as reading:
            model, told = catalogues.inspected(reading, ask.model, data_source=ask.data_source, **shown)
        return answers.Inspected(model=model.canonical, sections=told, markdown=as_markdown(told))

    @operation(DropEntity, "destroy", "memory.admin", "DELETE /entities/{entity}")
    def drop_entity(self, ask: DropEntity) -> answers.DroppedEntity:
        return catalogues.drop(self._store, self.caller, ask, self._clock())

    @operation(Prioritise, "write", "memory.admin", "PUT /priority")
    def prioritise(self, ask: Prioritise) -> answers.Prioritised:
        return catalogues.prioritise(self._store, self.caller, ask, self._clock())

    @operation(Approve, "write", "memory.review", "POST /memories/{id}/approve")
    def approve(self, ask: Approve) -> answers.Reviewed:
        return review.approve(self.caller, ask, self._store, self._clock())

    @operation(Reject, "write", "memory.review", "POST /memories/{id}/reject")
    def reject(self, ask: Reject) -> answers.Reviewed:
        return review.reject(self.caller, ask, self._store, self._clock())

    @operation(GiveContext, "read", "memory.read", "GET /context")
    def context(self, ask: GiveContext) -> answers.ContextGiven:
        return telling.give(self.caller, ask, self._store, self._embedders, self._turns, self._clock())

    @operation(NoteTurn, "write", "memory.manage", "POST /turns", command=None)
    def note_turn(self, ask: NoteTurn) -> answers.NotedTurn:
        noted = self._turns.note(self.caller, ask, self._clock())
        conversing.note_turn(self.caller, self._store, self._clock())
        return noted

    @operation(ListTurns, "read", "memory.read", "GET /turns", command=None)
    def turns(self, ask: ListTurns) -> answers.ListedTurns:
        return self._turns.list(self.caller, ask)

    @operation(ClearTurns, "write", "memory.manage", "DELETE /turns", command=None)
    def clear_turns(self, ask: ClearTurns) -> answers.ClearedTurns:
        return self._turns.clear(self.caller, ask)

    @operation(
        RegisterConversation,
        "write",
        "memory.manage",
        "POST /workspace/conversations",
        "conversations register",
        begins=True,
    )
    def register_conversation(self, ask: RegisterConversation) -> answers.RegisteredConversation:
        return conversing.register(self.caller, ask, self._store, self._clock())

    @operation(ListConversations, "read", "memory.read", "GET /workspace/conversations", "conversations list")
    def conversations(self, ask: ListConversations) -> answers.ListedConversations:
        return conversing.listed(self.caller, ask, self._store, self._clock())

    @operation(
        ShowConversation, "read", "memory.read", "GET /workspace/conversations/{id}", "conversations show"
    )
    def show_conversation(self, ask: ShowConversation) -> answers.ShownConversation:
        return conversing.shown(self.caller, ask, self._store, self._clock())

    @operation(
        DeleteConversation,
        "destroy",
        "memory.manage",
        "DELETE /workspace/conversations/{id}",
        "conversations delete",
    )
    def delete_conversation(self, ask: DeleteConversation) -> answers.DeletedConversation:
        deleted = conversing.delete(self.caller, ask, self._store, self._clock())
        self._turns.drop(self.caller.tenant, deleted.id)
        return deleted

    @operation(
        WriteArtifact, "write", "memory.manage", "POST /workspace/artifacts", "artifacts write", begins=True
    )
    def write_artifact(self, ask: WriteArtifact) -> answers.WrittenArtifact:
        return files.write(self.caller, ask, self._store, self._clock())

    @operation(ReadArtifact, "read", "memory.read", "GET /workspace/artifacts/{id}", "artifacts read")
    def read_artifact(self, ask: ReadArtifact) -> answers.ArtifactContent:
        return files.read(self.caller, ask, self._store, self._clock())

    @operation(ListArtifacts, "read", "memory.read", "GET /workspace/artifacts", "artifacts list")
    def artifacts(self, ask: ListArtifacts) -> answers.ListedArtifacts:
        return files.listed(self.caller, ask, self._store, self._clock())

    @operation(
        DeleteArtifact, "destroy", "memory.manage", "DELETE /workspace/artifacts/{id}", "artifacts delete"
    )
    def delete_artifact(self, ask: DeleteArtifact) -> answers.DeletedArtifact:
        return files.delete(self.caller, ask, self._store, self._clock())

    @operation(
        AppendScratchpad,
        "write",
        "memory.manage",
        "POST /workspace/scratchpads/{agent}",
        "scratchpads append",
        begins=True,
    )
    def append_scratchpad(self, ask: AppendScratchpad) -> answers.AppendedScratchpad:
        return notes.append(self.caller, ask, self._store, self._clock())

    @operation(
        ReadScratchpad, "read", "memory.read", "GET /workspace/scratchpads/{agent}", "scratchpads read"
    )
    def read_scratchpad(self, ask: ReadScratchpad) -> answers.ScratchpadContent:
        return notes.read(self.caller, ask, self._store, self._clock())

    @operation(ListScratchpads, "read", "memory.read", "GET /workspace/scratchpads", "scratchpads list")
    def scratchpads(self, ask: ListScratchpads) -> answers.ListedScratchpads:
        return notes.listed(self.caller, self._store, self._clock())

    @operation(
        ClearScratchpad,
        "write",
        "memory.manage",
        "DELETE /workspace/scratchpads/{agent}",
        "scratchpads clear",
    )
    def clear_scratchpad(self, ask: ClearScratchpad) -> answers.ClearedScratchpad:
        return notes.clear(self.caller, ask, self._store, self._clock())

    @operation(SetAgent, "write", "memory.manage", "PUT /workspace/agents/{agent}", "agents set", begins=True)
    def set_agent(self, ask: SetAgent) -> answers.ShownAgent:
        return agents.put(self.caller, ask, self._store, self._clock())

    @operation(ShowAgent, "read", "memory.read", "GET /workspace/agents/{agent}", "agents show")
    def show_agent(self, ask: ShowAgent) -> answers.ShownAgent:
        return agents.shown(self.caller, ask, self._store, self._clock())

    @operation(CreateKey, "write", "memory.admin", "POST /keys", "keys create", begins=True)
    def create_key(self, ask: CreateKey) -> answers.CreatedKey:
        return keys.create(self.caller, ask, self._store, self._clock())

    @operation(ListKeys, "read", "memory.admin", "GET /keys", "keys list")
    def list_keys(self, ask: ListKeys) -> answers.ListedKeys:
        return keys.listed(self.caller, self._store)

    @operation(RevokeKey, "write", "memory.admin", "DELETE /keys/{id}", "keys revoke")
    def revoke_key(self, ask: RevokeKey) -> answers.RevokedKey:
        return keys.revoke(self.caller, ask, self._store, self._clock())

    @operation(CreateTenant, "write", "memory.admin", "POST /tenants", "tenants create", begins=True)
    def create_tenant(self, ask: CreateTenant) -> answers.CreatedTenant:
        self.caller.require_operator("A new tenant")
        return tenants.create(self.caller, ask, self._store, self._clock())

    @operation(ListTenants, "read", "memory.admin", "GET /tenants", "tenants list")
    def list_tenants(self, ask: ListTenants) -> answers.ListedTenants:
        return tenants.listed(self.caller, self._store)

    @operation(EraseTenant, "destroy", "memory.admin", "DELETE /tenants/{name}", "tenants erase")
    def erase_tenant(self, ask: EraseTenant) -> answers.ErasedTenant:
        erased = tenants.erase(self.caller, ask, self._store, self._clock())
        self._turns.drop(erased.name)
        return erased

    @operation(ListAudit, "read", "memory.admin", "GET /audit")
    def audit(self, ask: ListAudit) -> answers.Audited:
        return auditing.listed(self.caller, ask, self._store)

    @operation(Export, "read", "memory.admin", "GET /export")
    def export(self, ask: Export) -> answers.Exported:
        if ask.all_tenants:
            self.caller.require_operator("An export of all tenants")
        return export.export_to(self._store, self.caller, ask, self._clock(), self._progress)

    @operation(Import, "write", "memory.admin", "POST /import", begins=True)
    def import_(self, ask: Import) -> answers.Imported:
        if ask.keep_tenants:
            self.caller.require_operator("An import that keeps its tenants")
        imported = importing.import_from(
            self._store, self.caller, ask, self._progress, self._clock() if self._embedders.current else None
        )
        self._note("import_")
        return imported

    @operation(Backup, "read", "memory.admin")
    def backup(self, ask: Backup) -> answers.BackedUp:
        self.caller.require_operator("A backup")
        return export.back_up(self._store, self.caller, ask, self._clock(), self._progress)

    @operation(Doctor, "read", "memory.admin", "POST /doctor")
    def doctor(self, ask: Doctor) -> answers.Examined:
        return doctor.examine(self._store, self._cared_for, self._progress)

    @operation(Reindex, "write", "memory.admin", "POST /reindex")
    def reindex(self, ask: Reindex) -> answers.Reindexed:
        return reindex.rebuild(self._store, self._cared_for, self._progress)

    @operation(EmbedMissing, "write", "memory.admin", "POST /embed-missing")
    def embed_missing(self, ask: EmbedMissing) -> answers.EmbeddedMissing:
        homes = self._homes("Embedding all tenants", ask.all_tenants)
        return embedding.embed_tenants(
            self._store, self._embedders, homes, ask, self._clock(), self._progress
        )

    @operation(ShowStatus, "read", "memory.admin", "GET /status")
    def status(self, ask: ShowStatus) -> answers.StoreStatus:
        homes = self._homes("The status of all tenants", ask.all_tenants)
        return status.look(self._store, self._embedders, homes)

    def _require(self, asked: Operation) -> None:
        """Forbidden unless the caller may do this at all."""
        self.caller.require(asked.permission)
        if asked.effect == "destroy" and self.caller.actor == "unattended":
            raise Forbidden("An unattended run erases nothing; retire it, or let a person do it.")

    def _note(self, operation: str, subject: str | None = None) -> None:
        """A line about what was written as a whole; what is saved one by one is noted where it is saved."""
        auditing.note(self.caller, operation, self._store, self._clock(), subject)

    @property
    def _cared_for(self) -> list[Home] | None:
        """All of the caller's own tenant; None, which is everything, for whoever runs the store."""
        return None if self.caller.operator else [Home(self.caller.tenant, each) for each in COLLECTIONS]

    def _homes(self, what: str, every: bool) -> list[Home]:
        """All of the caller's own tenant and what is for everyone, or everything for the operator."""
        if every:
            self.caller.require_operator(what)
        with self._store.archive() as archive:
            there = archive.homes()
        if every:
            return there
        others = (Home(self.caller.tenant, ENTITIES), Home(GLOBAL_TENANT))
        return [Home(self.caller.tenant), *(home for home in others if home in there)]

    def issue_confirmation(self, what: str) -> str:
        """A word that says for a few minutes that this caller was asked about something, and by which it may go on."""
        return confirmation.issue(self.caller, what, self._store, self._clock())

    def verify_confirmation(self, what: str, word: str) -> bool:
        """Whether a word was given to this caller for the very same, and still holds."""
        return confirmation.verify(self.caller, what, word, self._store, self._clock())

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
    member.operation for member in vars(OnRecord).values() if hasattr(member, "operation")
)
