"""WHAT can be read? Every statement carries the visibility predicate: that of today, and for the past that of then too."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Text,
    bindparam,
    func,
    literal,
    literal_column,
    or_,
    select,
)

from onrecord.errors import Conflict
from onrecord.model import ids
from onrecord.model.caller import Caller
from onrecord.model.catalog import FIELD_URN, URN_PREFIX
from onrecord.model.checks import CheckRun
from onrecord.model.collections import MEMORIES, Collection, Home
from onrecord.model.embedding import EmbeddingModel, embedded_text, text_hash
from onrecord.model.findings import Compared, Group
from onrecord.model.limits import GLOBAL_TENANT, Status
from onrecord.model.memory import Memory, Version
from onrecord.model.when import NOW, When
from onrecord.model.workspace import ConversationKey
from onrecord.store.audience import audiences_of
from onrecord.store.index.entries import (
    OF_SOME_SYSTEM,
    called_facet,
    proposal_facet,
    reference_facet,
    unasked_facet,
)
from onrecord.store.index.search import SqlIndex
from onrecord.store.list_parameters import one_of
from onrecord.store.locked_home import LockedHome
from onrecord.store.ports.filters import ChangeFilter, MemoryCriteria, MemoryFilter, TallyFilter
from onrecord.store.ports.index import Asking, Key, Match
from onrecord.store.ports.records import Alike
from onrecord.store.ports.workspace import NamedConversation
from onrecord.store.records import alike, candidates, comparing, listing
from onrecord.store.records.changesets import ChangesetRows
from onrecord.store.records.check_runs import runs_of
from onrecord.store.records.feedback import SqlFeedback
from onrecord.store.records.filing import newest_filed
from onrecord.store.records.membership import spoken_in
from onrecord.store.records.relations import SqlRelations
from onrecord.store.records.workspace import SqlWorkspace
from onrecord.store.rows import PAST, PRESENT, VERSION_COLUMNS, read_memory, read_version
from onrecord.store.tables import facets, memories, versions
from onrecord.store.temporal_filters import AskedTimes, asked_of, listed, true_then
from onrecord.store.tenant import HomeAddress, of_home, same_home
from onrecord.store.transaction import Transaction
from onrecord.store.view import NAMED, View, called, key_of, returned_versions, same_row, source
from onrecord.store.visibility import Visibility, visible, visible_by_id
from onrecord.text.definitions import OPENING
from onrecord.text.transcripts import QUESTION_MARKS

Named = TypeVar("Named")


class SqlReading:
    """One consistent state of a collection, as far as one caller may see it: the tenant's own records, and global
    ones.
    """

    def __init__(
        self,
        transaction: Transaction,
        caller: Caller,
        now: datetime,
        collection: Collection = MEMORIES,
        held: Mapping[str, LockedHome] | None = None,
        *,
        is_settled: bool = True,
        here: NamedConversation | None = None,
    ) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
        #: The homes that this transaction writes in, by their tenants: it has read their counters already.
        self._held = held or {}
        number = self._number_of(caller.tenant)
        if here is None:
            # Naming a conversation is not being in it: who is in which is looked up before anything is read.
            caller, here = spoken_in(transaction.connection, number or 0, caller)
        self._caller, self._now = caller, now
        #: The conversation that the caller speaks in.
        self._spoken_in = here
        self._collection = collection
        self._is_settled = is_settled
        #: The view of the caller's tenant; global memories have another.
        self._view = self._open(caller.tenant, number)

    def _number_of(self, tenant: str) -> int | None:
        """The number of a tenant; None if nobody has written there."""
        held = self._held.get(tenant)
        return held.tenant if held else self._transaction.number_of(tenant)

    def _open(self, tenant: str, number: int | None) -> View:
        address = HomeAddress(number, Home(tenant, self._collection))
        held = self._held.get(tenant)
        return View(
            self._transaction,
            self._caller,
            self._now,
            address,
            held.changes if held else None,
            is_settled=self._is_settled,
            begun=self._spoken_in.begun if self._spoken_in else None,
        )

    @cached_property
    def _views(self) -> list[View]:
        """The view of the tenant, then that of the global memories, if this collection has any.

        Each is opened when first needed: nearly every save needs its own tenant alone.
        """
        if not self._collection.has_global:
            return [self._view]
        everyones = self._open(GLOBAL_TENANT, self._number_of(GLOBAL_TENANT))
        is_there = everyones.documents or (everyones.exists and not self._is_settled)
        return [self._view, everyones] if is_there else [self._view]

    def _view_of(self, tenant: str | None) -> View | None:
        """The view of the tenant that an id names; without one, the tenant's own."""
        if tenant in (None, self._view.home.tenant):
            return self._view
        return next((view for view in self._views if view.home.tenant == tenant), None)

    @cached_property
    def index(self) -> SqlIndex:
        return SqlIndex(self._transaction.backend, self._views)

    @cached_property
    def relations(self) -> SqlRelations:
        return SqlRelations(self._views)

    @property
    def workspace(self) -> SqlWorkspace:
        return SqlWorkspace(self._connection, self._view.tenant, self._caller, self._spoken_in)

    @property
    def changesets(self) -> ChangesetRows:
        return ChangesetRows(self._connection, self._view.tenant)

    @property
    def feedback(self) -> SqlFeedback:
        return SqlFeedback(self._connection, self._view.tenant, self._caller)

    @property
    def size(self) -> int:
        return sum(view.documents for view in self._views)

    @property
    def sees_global(self) -> bool:
        return any(view.documents for view in self._views[1:])

    def check_runs(self, memory: Memory) -> tuple[CheckRun, ...]:
        seen = self.memory(memory.id)
        runs = () if seen is None else runs_of(self._connection, self._view.tenant, seen.id)
        if not runs:
            return ()
        # Some may tell of texts from before others were let see it.
        [(since,)] = self._view.run(_seen_since(self._view.visibility), plain=memory.id)
        return tuple(run for run in runs if since is not None and run.at >= since)

    def reading_of(self, collection: Collection) -> "SqlReading":
        return SqlReading(
            self._transaction,
            self._caller,
            self._now,
            collection,
            is_settled=self._is_settled,
            here=self._spoken_in,
        )

    def memory(self, id: str, when: When = NOW, *, by_name: bool = False) -> Memory | None:
        view, wanted = self._named(id, by_name)
        asked = asked_of(when)
        found = view.memories(_named(view.visibility, asked, by_name), when, **wanted) if view else []
        return self._the_one(id, {each.id: (each.owner, each) for each in found}) if found else None

    def _named(self, id: str, by_name: bool) -> tuple[View | None, dict[str, Any]]:
        """The view to look an id up in, and the parameters of `NAMED` or, with `by_name`, of `called`."""
        meaning = ids.meant(id, self._caller.user)
        wanted = called_by([meaning]) if by_name else {"plain": meaning.id}
        return self._view_of(meaning.tenant), wanted

    def meant(self, given: Sequence[str]) -> list[str]:
        user = self._caller.user
        meanings = [ids.meant(each, user) for each in given]
        here = [each for each in meanings if each.tenant is None]
        rows = self._view.fetch(_meant(self._view.visibility), **called_by(here)) if here else ()
        seen = dict(rows)
        found = []
        for written, meaning in zip(given, meanings, strict=True):
            may = {id: (seen[id], id) for id in seen if meaning.tenant is None and _is_called(id, meaning)}
            found.append(self._the_one(written, may) if may else ids.spell(meaning.tenant or "", meaning.id))
        return found

    def _the_one(self, given: str, found: Mapping[str, tuple[str, Named]]) -> Named:
        """The one memory, of those found by an id, with their owners, that the caller means by it; Conflict if it may be
        another: one must not be taken for the other.
        """
        meant = self._candidates(given, found)
        if len(meant) > 1:
            raise Conflict(_two_of(given, meant, self._caller.user))
        return found[meant[0]][1]

    def _candidates(self, given: str, found: Mapping[str, tuple[str, Any]]) -> list[str]:
        """What an id may mean, of what is found by it: the caller's own first, then the one that has that id, and only if there
        is neither, those of others that the caller sees.
        """
        exact = [id for id in found if not ids.is_owned(id)]
        return [*self._own_of(given, found), *exact] or sorted(found)

    def _own_of(self, given: str, found: Mapping[str, tuple[str, Any]]) -> list[str]:
        """Those that are the caller's own, if an id may mean these; first the one with their name in front."""
        user = self._caller.user
        if ids.meant(given, user).own is None:
            return []
        own = [id for id in found if ids.is_owned(id) and user in (ids.owner_of(id), found[id][0])]
        return sorted(own, key=lambda id: (ids.owner_of(id) != user, id))

    def seen(self, wanted: Sequence[str]) -> set[str]:
        named = [(self._view_of(home), plain, id) for id in wanted for home, plain in [ids.address(id)]]
        found: set[str] = set()
        for view in {view: None for view, _, _ in named if view is not None}:
            here = {plain: id for its, plain, id in named if its is view}
            rows = view.fetch(_seen(view.visibility), named=sorted(here))
            found |= {here[plain] for (plain,) in rows}
        return found

    def eligible(
        self, keys: Sequence[Key], when: When = NOW, statuses: Sequence[Status] = ()
    ) -> dict[Key, Match]:
        found: dict[Key, Match] = {}
        for view in self._views:
            rows = {row for tenant, row in keys if tenant == view.tenant}
            found |= candidates.eligible(view, rows, when, statuses)
        return found

    def read(self, matches: Sequence[Match], when: When = NOW) -> list[Memory]:
        by_key: dict[Key, Memory] = {}
        for view in self._views:
            rows = sorted({match.key[1] for match in matches if match.key[0] == view.tenant})
            by_key |= {key_of(each): each for each in candidates.read(view, rows, when)}
        return [by_key[match.key] for match in matches if match.key in by_key]

    def narrow(self, keys: Sequence[Key], only: MemoryCriteria, metadata: Mapping[str, Any]) -> set[Key]:
        return {key for view in self._views for key in listing.narrow(view, keys, only, metadata)}

    def saved_before(self, keys: Sequence[Key]) -> dict[Key, Key]:
        return self._beside(keys, later=False)

    def saved_after(self, keys: Sequence[Key]) -> dict[Key, Key]:
        return self._beside(keys, later=True)

    def _beside(self, keys: Sequence[Key], *, later: bool) -> dict[Key, Key]:
        found: dict[Key, Key] = {}
        for view in self._views:
            rows = sorted({row for tenant, row in keys if tenant == view.tenant})
            for row, other in view.fetch(_beside(view.visibility, later), rows=rows) if rows else ():
                if other is not None:
                    found[view.tenant, row] = (view.tenant, other)
        return found

    def asking(self, keys: Sequence[Key]) -> dict[Key, Asking]:
        found: dict[Key, Asking] = {}
        for view in self._views:
            rows = sorted({row for tenant, row in keys if tenant == view.tenant})
            for row, *asks in view.fetch(_asking(view.visibility), rows=rows) if rows else ():
                found[view.tenant, row] = Asking(*map(bool, asks))
        return found

    def openings(self, keys: Sequence[Key]) -> dict[Key, str]:
        found: dict[Key, str] = {}
        for view in self._views:
            rows = sorted({row for tenant, row in keys if tenant == view.tenant})
            for row, opening in view.fetch(_openings(view.visibility), rows=rows) if rows else ():
                found[view.tenant, row] = opening
        return found

    def filed(self, facet: str) -> list[str]:
        return [id for (id,) in self._view.fetch(_filed(self._view.visibility), facet=facet)]

    def filed_memories(self, facet: str, when: When = NOW, *, gone: bool = False) -> list[Memory]:
        if when.known_at is not None:
            known = _filed_then(self._view.visibility, asked_of(when), gone)
            return self._view.memories(known, when, facet=facet)
        found = self._view.fetch(_filed(self._view.visibility, whole=True, gone=gone), facet=facet)
        return [read_memory(row, self._view.home.tenant) for row in found]

    def filed_under(self, facets: Sequence[str]) -> list[Memory]:
        found = self._view.fetch(_filed_under(self._view.visibility), facets=list(facets)) if facets else ()
        return [read_memory(row, self._view.home.tenant) for row in found]

    def recorded_since(self, since: datetime, *, most: int, after: int = 0) -> list[Memory]:
        return self._view.memories(_recorded(self._view.visibility), since=since, after=after, most=most)

    def newest(
        self, facets: Sequence[str], *, each: int, most: int, statuses: Sequence[Status] = ()
    ) -> list[tuple[str, Memory]]:
        homes = [self._view]
        if self._collection.has_global:
            # Whether there is anything in it, its counters would say by a statement more.
            homes.append(self._open(GLOBAL_TENANT, self._number_of(GLOBAL_TENANT)))
        return newest_filed(homes, facets, each=each, most=most, statuses=statuses)

    def proposals(self, id: str, *, gone: bool = False) -> list[Memory]:
        view = self._view_of(ids.address(id).tenant)
        filed = _filed(view.visibility, whole=True, gone=gone) if view else None
        found = view.fetch(filed, facet=proposal_facet(id)) if view and filed is not None else ()
        return [read_memory(row, view.home.tenant) for row in found] if view else []

    def references(self, root: str) -> list[str]:
        # What lies under a thing that is known by its URN has a URN of its own, which begins otherwise.
        fields = (f"{FIELD_URN}{root},",) if root.startswith(URN_PREFIX) else ()
        found = {
            facet
            for view in self._views
            for beginning in (root, *fields)
            for facet in view.run(_references(view.visibility), root=beginning).scalars()
        }
        # SQLite ignores case when it compares prefixes.
        above = (root if root.endswith(":") else root + ".", *fields)
        names = (facet.removeprefix(reference_facet("")) for facet in found)
        return sorted(each for each in names if each == root or each.startswith(above))

    def unasked(self, *, most: int) -> list[Memory]:
        wanted = list(map(unasked_facet, audiences_of(self._caller)))
        if self._view.visibility.sees_every_system:
            wanted.append(OF_SOME_SYSTEM)
        found = [
            memory
            for view in self._views
            for memory in view.memories(_unasked(view.visibility), wanted=wanted, most=most)
        ]
        return _newest_first(found)[:most]

    def near_to(self, memory: Memory, model: EmbeddingModel, *, least: float) -> list[Alike]:
        view = self._view_of(GLOBAL_TENANT if memory.scope == "global" else None)
        covered = next((each for each in view.coverage if each.model == model), None) if view else None
        passages = self.index.passages_of(text_hash(embedded_text(memory)), model)
        if view is None or covered is None or not passages:
            return []
        found = alike.near(view, covered, memory, passages, least, of_anyone=True)
        return [each for each in found if each.memory.id != memory.id]

    def rejected_with_content(self, memory: Memory) -> list[Alike]:
        view = self._view_of(GLOBAL_TENANT if memory.scope == "global" else None)
        return [] if view is None else alike.rejected_with_content(view, memory)

    def browse(self, ask: MemoryFilter) -> tuple[list[Memory], str | None]:
        return listing.browse(self._views, ask, self._pinned(ask))

    def count(self, ask: MemoryCriteria) -> int:
        return listing.count(self._views, ask, self._pinned(ask))

    def tally(self, ask: TallyFilter) -> list[Group]:
        return listing.tally(self._views, ask, self._pinned(ask))

    def _pinned(self, ask: MemoryCriteria) -> ConversationKey | None:
        """The conversation that a filter names."""
        return None if ask.conversation is None else self.workspace.named(ask.conversation).key

    def versions(self, id: str, *, by_name: bool = False) -> list[Version]:
        view, wanted = self._named(id, by_name)
        found: dict[str, list[Version]] = {}
        if view is None:
            return []
        for row in view.run(_history(view.visibility, by_name), **wanted):
            versions = found.setdefault(row.id, [])
            versions.append(read_version(row, view.home.tenant, versions[-1].memory if versions else None))
        owned = {each: (versions[-1].memory.owner, versions) for each, versions in found.items()}
        return self._the_one(id, owned) if found else []

    def compare(self, ask: ChangeFilter) -> Compared:
        return comparing.compare(self._views, ask, self._view.now)

    def moments(self, *, before: datetime, most: int) -> list[datetime]:
        return comparing.moments(self._views, before, most)


def called_by(meanings: Sequence[ids.Meaning]) -> dict[str, Any]:
    """The parameters of `called`."""
    named = [each for each in meanings if each.is_name]
    exact = {each.id for each in meanings} | {each.own for each in named if each.own is not None}
    return {"ids": sorted(exact), "names": sorted({called_facet(each.id) for each in named})}


def _is_called(id: str, meaning: ids.Meaning) -> bool:
    return id == meaning.id or (meaning.is_name and ids.is_owned(id) and ids.name_of(id) == meaning.id)


def _two_of(given: str, meant: Sequence[str], user: str) -> str:
    if len(meant) == 2 and ids.owner_of(meant[0]) == user and not ids.is_owned(meant[1]):
        own, exact = meant[0], ids.exactly(meant[1])
        return f"{given} means two memories here: write {own} for your own, or {exact} for the other."
    several = ", ".join(map(ids.exactly, meant))
    return f"{given} means {len(meant)} memories here: write the whole id of one, of {several}."


def _newest_first(found: list[Memory]) -> list[Memory]:
    """Merge the sorted items of several homes into one order."""
    return sorted(found, key=lambda memory: (memory.updated_at, key_of(memory)), reverse=True)


@cache
def _named(visibility: Visibility, asked: AskedTimes, by_name: bool) -> Select[Any]:
    record, statement = source(visibility, asked, by_id=True)
    return statement.where(called(visibility) if by_name else NAMED, *true_then(record, asked))


@cache
def _seen(visibility: Visibility) -> Select[Any]:
    return select(memories.c.id).where(visible_by_id(visibility), one_of(memories.c.id, "named"))


@cache
def _seen_since(visibility: Visibility) -> Select[Any]:
    """When the first of the versions was recorded that the caller gets of a memory."""
    return (
        select(func.min(versions.c.recorded_at))
        .join_from(memories, versions, same_row(memories, versions))
        .where(visible_by_id(visibility), NAMED, *returned_versions(visibility))
    )


@cache
def _meant(visibility: Visibility) -> Select[Any]:
    return select(memories.c.id, memories.c.owner).where(visible_by_id(visibility), called(visibility))


@cache
def _beside(visibility: Visibility, later: bool) -> Select[Any]:
    """For each row the one that was saved next to it."""
    other = memories.alias("other")
    follows = other.c.row > memories.c.row if later else other.c.row < memories.c.row
    nearest = (
        select(other.c.row)
        .where(visible(other, visibility), same_home(other, memories), follows)
        .order_by(other.c.row.asc() if later else other.c.row.desc())
        .limit(literal_column("1"))
        .scalar_subquery()
    )
    return select(memories.c.row, nearest).where(
        visible(memories, visibility), one_of(memories.c.row, "rows")
    )


@cache
def _asking(visibility: Visibility) -> Select[Any]:
    text = memories.c.content
    return select(
        memories.c.row,
        or_(*(text.contains(mark) for mark in QUESTION_MARKS)),
        or_(*(func.rtrim(text).endswith(mark) for mark in QUESTION_MARKS)),
    ).where(visible(memories, visibility), one_of(memories.c.row, "rows"))


@cache
def _openings(visibility: Visibility) -> Select[Any]:
    opening = func.substr(memories.c.content, 1, OPENING)
    return select(memories.c.row, opening).where(
        visible(memories, visibility), one_of(memories.c.row, "rows")
    )


@cache
def _references(visibility: Visibility) -> Select[Any]:
    beginning = literal(reference_facet("")).concat(bindparam("root", type_=Text))
    return (
        select(facets.c.facet)
        .join_from(facets, memories, same_row(facets, memories))
        .where(of_home(facets), facets.c.facet.startswith(beginning), visible(memories, visibility))
        .distinct()
    )


@cache
def _filed(visibility: Visibility, whole: bool = False, gone: bool = False) -> Select[Any]:
    found = (
        select(*PRESENT if whole else [memories.c.id])
        .join_from(facets, memories, same_row(facets, memories))
        .where(of_home(facets), facets.c.facet == bindparam("facet"), visible(memories, visibility))
        .order_by(facets.c.row)
    )
    return found if gone else found.where(memories.c.valid_to.is_(None))


@cache
def _filed_then(visibility: Visibility, asked: AskedTimes, gone: bool) -> Select[Any]:
    record, known = source(visibility, asked)
    filed = select(facets.c.row).where(of_home(facets), facets.c.facet == bindparam("facet"))
    found = known.where(memories.c.row.in_(filed)).order_by(memories.c.row)
    return found if gone else found.where(record.c.valid_to.is_(None))


@cache
def _filed_under(visibility: Visibility) -> Select[Any]:
    filed = select(facets.c.row).where(of_home(facets), one_of(facets.c.facet, "facets"))
    return (
        select(*PRESENT)
        .where(visible(memories, visibility), memories.c.row.in_(filed), memories.c.valid_to.is_(None))
        .order_by(memories.c.row)
    )


@cache
def _recorded(visibility: Visibility) -> Select[Any]:
    since, after = bindparam("since", type_=memories.c.recorded_at.type), bindparam("after", type_=BigInteger)
    behind = or_(memories.c.recorded_at > since, memories.c.row > after)
    return (
        select(*PRESENT)
        .where(visible(memories, visibility), memories.c.recorded_at >= since, behind)
        .order_by(memories.c.recorded_at, memories.c.row)
        .limit(bindparam("most", type_=Integer))
    )


@cache
def _unasked(visibility: Visibility) -> Select[Any]:
    # By distinct rows, since one may be filed both under its own system and among those of every system.
    filed = (
        select(facets.c.tenant, facets.c.collection, facets.c.row)
        .where(of_home(facets), one_of(facets.c.facet, "wanted"))
        .distinct()
        .subquery()
    )
    return (
        select(*PRESENT)
        .join_from(filed, memories, same_row(filed, memories))
        .where(visible(memories, visibility), listed(memories, asked_of(NOW)), _vouched_for())
        .order_by(memories.c.updated_at.desc(), memories.c.row.desc())
        .limit(bindparam("most", type_=Integer))
    )


def _vouched_for() -> ColumnElement[bool]:
    """Whether a person wrote or approved the present text; that a person made the memory is not enough."""
    return or_(memories.c.origin == "person", memories.c.approved_by.is_not(None))


@cache
def _history(visibility: Visibility, by_name: bool) -> Select[Any]:
    return (
        select(*PAST, *VERSION_COLUMNS)
        .join_from(memories, versions, same_row(memories, versions))
        .where(
            visible_by_id(visibility),
            called(visibility) if by_name else NAMED,
            *returned_versions(visibility),
        )
        .order_by(versions.c.version)
    )
