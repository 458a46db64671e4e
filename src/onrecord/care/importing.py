"""HOW does an export come back? Line by line, checked, in batches that are one transaction each."""

import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from onrecord.care.importing_promotions import (
    Promotions,
    check_changeset,
    check_entity,
    is_same_but_for_changesets,
    may_promote,
)
from onrecord.care.kinds import FORMAT, FORMER_HEAD, HEAD, STANDARD, WITH_CATALOG, Kind, kind_of
from onrecord.care.lines import ExportLine, lines_of
from onrecord.care.memory_lines import UNRECORDED
from onrecord.care.restoring_workspace import (
    BatchResult,
    LegacyConversations,
    WorkspaceBatch,
    file_name,
    import_workspace,
)
from onrecord.errors import Conflict, Forbidden, StoreUnavailable, invalid
from onrecord.model import ids, rules
from onrecord.model.answer import Answer
from onrecord.model.caller import GLOBAL_IS_GIVEN, Caller
from onrecord.model.changesets import Changeset
from onrecord.model.collections import ENTITIES, Home
from onrecord.model.feedback import Feedback
from onrecord.model.limits import GLOBAL_TENANT
from onrecord.model.memory import Relation, Version, pinned_to
from onrecord.model.request import Request, ask
from onrecord.model.tiers import lowered
from onrecord.model.workspace import ConversationKey, WorkspaceNumbers
from onrecord.operation import Call, operation
from onrecord.store.ports.archive import Counters, MemoryHistory, Restoring
from onrecord.store.ports.jobs import EMBED
from onrecord.store.ports.store import BEGINNING, Store
from onrecord.store.ports.workspace import WorkspaceRestoring


@dataclass(frozen=True, slots=True)
class Import(Request):
    """Read an export. What is already here in the same form is left as it is, so an import can be repeated."""

    path: str = ask(rules.Text(at_least=1), "The file to read; - is standard input.", positional=True)
    keep_tenants: bool = ask(rules.FLAG, "Restore each tenant under its own name.", False)
    skip_conflicts: bool = ask(rules.FLAG, "If an id is taken by something else, keep what is here.", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Answer):
    """How much an import added, what it found unchanged, and what it skipped because something else has its name.

    `added` and `unchanged` count memories, the others what they name; `workspace_unchanged` counts the five before it.
    Feedback is added if its memory is here.
    """

    added: int
    unchanged: int
    relations: int
    conflicts: tuple[str, ...] = ()
    conversations: int = 0
    artifacts: int = 0
    scratchpads: int = 0
    agents: int = 0
    changesets: int = 0
    workspace_unchanged: int = 0
    feedback: int = 0


_BATCH: Final = 1_000
_BATCH_BYTES: Final = 8 * 1024 * 1024
_NAMED_CONFLICTS: Final = 5


@dataclass(slots=True)
class _Section:
    """The part of a file for one home that is read but not yet written."""

    home: Home
    counters: Counters
    promotions: Promotions
    batch: WorkspaceBatch = field(default_factory=WorkspaceBatch)
    histories: list[MemoryHistory] = field(default_factory=list)
    edges: list[Relation] = field(default_factory=list)
    feedback: list[Feedback] = field(default_factory=list)
    lines: int = 0

    @property
    def is_full(self) -> bool:
        return self.lines >= _BATCH or self.batch.bytes >= _BATCH_BYTES

    def put(self, read: Any, line: ExportLine) -> None:
        self.lines += 1
        match read:
            case MemoryHistory():
                self.histories.append(read)
            case Relation():
                self.edges.append(read)
            case Feedback():
                self.feedback.append(read)
            case WorkspaceNumbers():
                self.batch.numbers = read
            case item:
                self.batch.put(item, line)


@dataclass(slots=True, kw_only=True)
class _ImportCounts:
    """What an import has done so far."""

    added: int = 0
    unchanged: int = 0
    relations: int = 0
    feedback: int = 0
    conflicts: list[str] = field(default_factory=list)
    workspace: BatchResult = field(default_factory=BatchResult)
    is_noted_for_everyone: bool = False
    #: Memories and items of the workspace that were skipped because something else has their id here.
    left: set[tuple[Home, str]] = field(default_factory=set)
    legacy: defaultdict[Home, LegacyConversations]

    def has_left(self, home: Home, *names: str) -> bool:
        return any((home, name) in self.left for name in names)


def _end(call: Call) -> None:
    call.note("import_")
    if call.store.watched() is not None:
        # Imports may hold changes older than the watcher's last run: it checks everything again.
        call.store.note_watched(BEGINNING)


@operation("write", "memory.admin", "POST /import", begins=True)
def import_(call: Call, ask: Import) -> Imported:
    """Import a file. If a line fails, what came before stays, and a repeated import continues from there.

    Each batch adds a job to embed what has no vectors.
    """
    if ask.keep_tenants:
        call.caller.require_operator("An import that keeps its tenants")
    embed_from = call.now if call.embedders.current else None
    # Who is let into a conversation is a person's or the host's to say.
    may_share = call.caller.actor == "person" or call.caller.operator
    tally = _ImportCounts(legacy=defaultdict(lambda: LegacyConversations(may_share)))
    try:
        with _opened(ask.path) as file, _without_garbage_collection():
            reader = _SectionReader(call.caller, ask)
            for section in reader.sections(file):
                if section.home.tenant == GLOBAL_TENANT and not tally.is_noted_for_everyone:
                    # Noted before the import, so that a crash cannot prevent the entry.
                    with call.store.ledger(GLOBAL_TENANT) as ledger:
                        ledger.note_everyones(call.caller, "import_", call.now)
                    tally.is_noted_for_everyone = True
                _import_section(call.store, section, ask, tally, embed_from)
                done = tally.added + tally.unchanged + len(tally.conflicts)
                call.progress("importing", done, reader.expected)
    except BaseException:
        if tally.added:
            # Lines before the faulty one are imported.
            _end(call)
        raise
    call.store.update_statistics()
    _end(call)
    return Imported(
        added=tally.added,
        unchanged=tally.unchanged,
        relations=tally.relations,
        feedback=tally.feedback,
        conflicts=(*tally.workspace.differing, *tally.conflicts),
        workspace_unchanged=tally.workspace.unchanged,
        **tally.workspace.added,
    )


def _import_section(
    store: Store, section: _Section, ask: Import, tally: _ImportCounts, embed_from: datetime | None
) -> None:
    """Write one batch in one transaction: new items are added, identical ones are left alone."""
    with store.restoring(section.home) as restoring:
        workspace_here = restoring.restoring_workspace()
        legacy = tally.legacy[section.home]
        batch = section.promotions.of_batch(section.batch)
        workspace = import_workspace(workspace_here, batch, partial(tally.has_left, section.home), legacy)
        if workspace.differing and not ask.skip_conflicts:
            raise _conflict("Other items with these names exist here", workspace.differing, tally)
        tally.left |= {(section.home, name) for name in workspace.differing}
        section.promotions.note(batch, workspace.differing)
        owned = (_with_owner(each, workspace_here, legacy) for each in section.histories)
        section.histories = list(map(section.promotions.of_history, owned))
        fresh, differing = _compared(restoring, section, tally)
        if differing and not ask.skip_conflicts:
            raise _conflict("Other memories with these ids exist here", differing, tally)
        restoring.restore(fresh.values())
        tally.left |= {(section.home, id) for id in differing}
        # Relations of skipped memories are skipped too, since their ids belong to other memories here.
        edges = [edge for edge in section.edges if not tally.has_left(section.home, edge.source, edge.target)]
        related = restoring.restore_edges(edges, section.counters)
        # What was said of a memory that was skipped is about another one.
        said = [each for each in section.feedback if not tally.has_left(section.home, each.memory)]
        added = restoring.restoring_feedback().restore(said) if said else 0
        if embed_from is not None and fresh:
            restoring.jobs.add(EMBED, embed_from)
    tally.workspace.add(workspace)
    tally.added += len(fresh)
    tally.unchanged += len(section.histories) - len(fresh) - len(differing)
    tally.conflicts += differing
    tally.relations += related
    tally.feedback += added


def _compared(
    restoring: Restoring, section: _Section, tally: _ImportCounts
) -> tuple[dict[str, MemoryHistory], list[str]]:
    """The memories that are not here yet, and the ids of those that conflict."""
    wanted = [each.id for each in section.histories]
    here = {each.id: each for each in restoring.histories(section.home, wanted)}
    fresh: dict[str, MemoryHistory] = {}
    differing = []
    for each in section.histories:
        if tally.left and each.id not in here and tally.has_left(section.home, *_files_of(each)):
            # It would link to another artifact of the same number, and open that to its readers.
            differing.append(each.id)
            continue
        # If a file has a memory twice, the first counts.
        held = here.get(each.id) or fresh.setdefault(each.id, each)
        if held != each and not is_same_but_for_changesets(held, each):
            differing.append(each.id)
    return fresh, differing


def _with_owner(
    history: MemoryHistory, workspace: WorkspaceRestoring, legacy: LegacyConversations
) -> MemoryHistory:
    """A memory of an export that does not say who began its conversations.

    A live memory of session scope makes its owner a member of the file's conversation of that name. A pin alone does
    not, and an ended memory is its owner's, since the name may mean another conversation by now.
    """
    if all(version.memory.conversation_by != UNRECORDED for version in history.versions):
        return history
    present = history.versions[-1].memory
    there = None
    if present.scope == "session" and present.is_live and present.conversation is not None:
        legacy.let_in(workspace, present.conversation, present.owner)
        there = ConversationKey(
            legacy.owner_of_pin(present.conversation, present.owner), present.conversation
        )
    owned = [_with_pin_owner(each, there) for each in history.versions]
    if present.scope == "session" and not present.is_live:
        owned[-1] = replace(owned[-1], memory=pinned_to(replace(owned[-1].memory, scope="user"), None))
    return history._replace(versions=tuple(owned))


def _with_pin_owner(version: Version, there: ConversationKey | None) -> Version:
    memory = version.memory
    if memory.conversation is None or memory.conversation_by != UNRECORDED:
        return version
    own = ConversationKey(memory.owner, memory.conversation)
    return replace(version, memory=pinned_to(memory, there if there and there.id == own.id else own))


def _files_of(history: MemoryHistory) -> set[str]:
    """The artifacts that a memory links to, or did."""
    links = {version.memory.artifact for version in history.versions}
    return {file_name(link) for link in links if link is not None}


def _conflict(what: str, names: list[str], tally: _ImportCounts) -> Conflict:
    more = " …" if len(names) > _NAMED_CONFLICTS else ""
    return Conflict(
        f"{what}: {', '.join(names[:_NAMED_CONFLICTS])}{more}. {tally.added} memories before them were imported. "
        "Import into an empty tenant, or repeat with --skip-conflicts to keep what is here."
    )


class _SectionReader:
    """Turns lines into sections no larger than a batch."""

    def __init__(self, caller: Caller, ask: Import) -> None:
        self._caller = caller
        self._ask = ask
        self._homes: dict[str, str] = {}
        self.expected: int | None = None

    def sections(self, file: IO[str]) -> Iterator[_Section]:
        name = "standard input" if self._ask.path == STANDARD else Path(self._ask.path).name
        lines = lines_of(file, name)
        self._read_header(next(lines, None))
        section: _Section | None = None
        for line in lines:
            kind = kind_of(line.value)
            if kind.holds is Counters:
                if section is not None:
                    yield section
                home = self._home(line)
                has_catalog = line.value.get(WITH_CATALOG) is True and may_promote(self._caller)
                section = _Section(home, kind.read(line, home.tenant), Promotions(has_catalog))
                continue
            if section is None:
                raise line.fault("comes before the line of its tenant; the export is incomplete")
            section.put(self._no_higher(self._read(kind, line, section.home)), line)
            if section.is_full:
                yield section
                section = _Section(section.home, section.counters, section.promotions)
        if section is not None:
            yield section

    def _read(self, kind: Kind, line: ExportLine, home: Home) -> Any:
        read = kind.read(line, home.tenant)
        if isinstance(read, Changeset):
            check_changeset(line, read)
        elif isinstance(read, MemoryHistory) and home.collection is ENTITIES:
            check_entity(line, read, self._caller)
        elif isinstance(read, MemoryHistory):
            _check_owner(line, read)
        return read

    def _no_higher(self, read: Any) -> Any:
        """Lower the tiers in a file to the importing caller's."""
        if isinstance(read, Feedback) and self._caller.actor != "person":
            return replace(read, origin="import")
        if not isinstance(read, MemoryHistory):
            return read
        return read._replace(versions=tuple(lowered(each, self._caller) for each in read.versions))

    def _read_header(self, line: ExportLine | None) -> None:
        if line is None:
            raise invalid("path", "the file is empty; it is not an export of OnRecord")
        if FORMAT not in (line.value.get(HEAD), line.value.get(FORMER_HEAD)):
            raise line.fault(f"is not the head of an export of format {FORMAT}")
        expected = line.value.get("memories")
        self.expected = expected if isinstance(expected, int) else None

    def _home(self, line: ExportLine) -> Home:
        """Where a part of the file goes: to a tenant of its own name, to the caller's tenant, or to the global
        memories.
        """
        named = Home.named(line.checked("tenant", rules.NAME))
        if named.tenant == GLOBAL_TENANT and not self._caller.changes_global:
            raise Forbidden(
                f"{line.place} begins the part for every tenant: importing that {GLOBAL_IS_GIVEN}. "
                "Everything before it was imported."
            )
        keeps_name = self._ask.keep_tenants or named.tenant == GLOBAL_TENANT
        home = named if keeps_name else named._replace(tenant=self._caller.tenant)
        if self._homes.setdefault(home.tenant, named.tenant) != named.tenant:
            raise line.fault(
                "is a second tenant; repeat with --keep-tenants to restore each under its own name"
            )
        return home


def _check_owner(line: ExportLine, history: MemoryHistory) -> None:
    """Refuse an id that names another user than the memory: for that user, its name alone would mean this memory."""
    owner = ids.owner_of(history.id)
    if owner is not None and owner not in {version.memory.owner for version in history.versions}:
        raise line.fault(f"has the id {history.id}, but the memory was never {owner}'s")


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector: a batch has many small objects without cycles, and searching them takes time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    if path == STANDARD:
        yield sys.stdin
        return
    with ExitStack() as closing:
        try:
            file = closing.enter_context(Path(path).open(encoding="utf-8"))
        except OSError as problem:
            raise StoreUnavailable(f"{path} cannot be read: {problem.strerror or problem}.") from None
        yield file
