"""Written by `make docs` from the operations; change those, not this file."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from onrecord.access.auditing import Audited
from onrecord.access.keys import ChangedKey, CreatedKey, ListedKeys, RevokedKey, WaivedKeys
from onrecord.access.tenants import CreatedTenant, ErasedTenant, ListedTenants, Tenant
from onrecord.care.backup import BackedUp
from onrecord.care.dismissing import Dismissed
from onrecord.care.doctor import Examined
from onrecord.care.embedding import EmbeddedMissing
from onrecord.care.export import Exported
from onrecord.care.importing import Imported
from onrecord.care.reassigning import Reassigned
from onrecord.care.reindex import Reindexed
from onrecord.care.renaming import AcceptedRenames, ListedRenames
from onrecord.care.status import StoreStatus
from onrecord.catalog.impact import Impacted
from onrecord.catalog.ingest import Ingested
from onrecord.catalog.operations import DroppedEntity, Inspected, ListedEntities, Prioritised
from onrecord.checks.adding import ChangedChecks
from onrecord.checks.checking import RanChecks
from onrecord.checks.listing import ListedChecks
from onrecord.context.attaching import Attached
from onrecord.context.parts import ContextGiven
from onrecord.context.turns import ClearedTurns, ListedTurns, NotedTurn
from onrecord.model.agent import ShownAgent
from onrecord.model.catalog import EntityKind
from onrecord.model.edits import Edit
from onrecord.model.findings import Compared
from onrecord.model.limits import Actor, AfterRollBack, Alike, AuditOutcome, ChangesetState, CheckKind, CheckState, Confidence, ContextPart, Dimension, Direction, Kind, ListOrder, Permission, ProposalFilter, RelationName, Role, Scope, Status, TallyBy, Times, Unknown
from onrecord.model.unset import Unset
from onrecord.model.workspace import Encoding
from onrecord.operation import Operation
from onrecord.recall.browse import Browsed, Tallied
from onrecord.recall.feedback import GivenFeedback, ListedFeedback
from onrecord.recall.history import ShownHistory, ShownMoments
from onrecord.recall.recall import Recalled
from onrecord.recall.relations import ListedRelations, Neighbourhood
from onrecord.recall.show import Shown
from onrecord.recall.subjects import Searched
from onrecord.remember.end_turn import EndedTurn
from onrecord.remember.extract import Extracted
from onrecord.remember.forget import Forgotten
from onrecord.remember.judge import Judged
from onrecord.remember.relate import Related, Unrelated
from onrecord.remember.remember import Remembered
from onrecord.remember.remember_many import RememberedMany
from onrecord.remember.retire import Retired
from onrecord.remember.review import Reviewed
from onrecord.remember.revise import Revised
from onrecord.review.applying import Applied
from onrecord.review.listing import ListedChangesets
from onrecord.review.planning import Planned
from onrecord.review.rolling_back import RolledBack
from onrecord.workspace.agents import SharedAgent
from onrecord.workspace.artifacts import ArtifactContent, DeletedArtifact, ListedArtifacts, WrittenArtifact
from onrecord.workspace.conversations import DeletedConversation, ListedConversations, RegisteredConversation, SharedConversation, ShownConversation
from onrecord.workspace.scratchpads import AppendedScratchpad, ClearedScratchpad, ListedScratchpads, ScratchpadContent
from typing import Any, Literal

class Door:
    def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any: ...
    def remember(
        self,
        content: str,
        *,
        id: str | Unset = ...,
        kind: Kind | Unset = ...,
        dimension: Dimension | Unset = ...,
        title: str | Unset = ...,
        hint: str | None | Unset = ...,
        tags: Sequence[str] | Unset = ...,
        category: str | None | Unset = ...,
        confidence: Confidence | Unset = ...,
        source: str | None | Unset = ...,
        metadata: Mapping[str, Any] | Unset = ...,
        entities: Sequence[str] | Unset = ...,
        query: Mapping[str, Any] | str | None | Unset = ...,
        artifact: str | None | Unset = ...,
        scope: Scope | Unset = ...,
        persona: str | None | Unset = ...,
        system: str | None | Unset = ...,
        conversation: str | None | Unset = ...,
        valid_from: datetime | Unset = ...,
        created_at: datetime | Unset = ...,
        verified_at: datetime | None | Unset = ...,
        always_inject: bool | Unset = ...,
        supersedes: Sequence[str] = ...,
        edits: Sequence[Edit | Mapping[str, Any]] | Unset = ...,
        review: bool = ...,
        dedupe: bool = ...,
        by_hint_alone: bool = ...,
        alike: Alike = ...,
        what_is_new: str | None = ...,
        unknown: Unknown = ...,
        auto_tag: str | None = ...,
        auto_supersede: str | None = ...,
        agent: str | None = ...,
        dry_run: bool = ...,
    ) -> Remembered:
        """Leave something worth knowing later: a correction, a decision, how a thing really works."""
        ...
    def remember_many(
        self,
        memories: Sequence[Mapping[str, Any]],
        *,
        on_fault: Literal["refuse", "skip"] = ...,
        dry_run: bool = ...,
    ) -> RememberedMany:
        """Save many memories at once, each as `remember` does."""
        ...
    def recall(
        self,
        question: str,
        *,
        limit: int = ...,
        kinds: Sequence[Kind] = ...,
        tags: Sequence[str] = ...,
        entities: Sequence[str] = ...,
        statuses: Sequence[Status] = ...,
        scopes: Sequence[Scope] = ...,
        only_kinds: Sequence[Kind] = ...,
        only_dimensions: Sequence[Dimension] = ...,
        only_tags: Sequence[str] = ...,
        only_entities: Sequence[str] = ...,
        only_owners: Sequence[str] = ...,
        only_metadata: Mapping[str, Any] | None = ...,
        only_verified: bool = ...,
        proposal: ProposalFilter | None = ...,
        conversation: str | None = ...,
        elsewhere: bool = ...,
        created_since: datetime | None = ...,
        updated_before: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        recipe: str = ...,
        intent: bool = ...,
        times: Times = ...,
        decay: bool = ...,
        half_life_days: int = ...,
        decay_floor: float = ...,
        conversation_places: int = ...,
        tenant_places: int = ...,
        global_places: int = ...,
        query_limit: int | None = ...,
        max_tokens: int | None = ...,
        agent: str | None = ...,
        min_relevance: float | None = ...,
        lineage: int = ...,
        background: bool = ...,
        expand: str | None = ...,
        rerank: str | None = ...,
        rerank_fine: str | None = ...,
        rerank_when: Literal["always", "close"] | None = ...,
        explain: bool = ...,
        after: str | None = ...,
    ) -> Recalled:
        """Ask a question and get the relevant memories, best first."""
        ...
    def give_feedback(
        self,
        id: str,
        verdict: Literal["useful", "not_useful", "none"],
        question: str,
    ) -> GivenFeedback:
        """Say whether a hit was useful for the question that was asked. It changes no memory and no ranking."""
        ...
    def feedback(
        self,
        *,
        id: str | None = ...,
        question: str | None = ...,
        verdict: Literal["useful", "not_useful"] | None = ...,
        user: str | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> ListedFeedback:
        """List which hits were useful and which were not, newest first: your own feedback, for an admin everyone's."""
        ...
    def show(
        self,
        id: str,
        *,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        background: bool = ...,
        rights: bool = ...,
    ) -> Shown:
        """Read one memory with its relations, whatever its status; with a time, as it was then."""
        ...
    def browse(
        self,
        *,
        kinds: Sequence[Kind] = ...,
        dimensions: Sequence[Dimension] = ...,
        tags: Sequence[str] = ...,
        scopes: Sequence[Scope] = ...,
        statuses: Sequence[Status] = ...,
        entities: Sequence[str] = ...,
        categories: Sequence[str] = ...,
        confidences: Sequence[Confidence] = ...,
        sources: Sequence[str] = ...,
        owners: Sequence[str] = ...,
        proposal: ProposalFilter | None = ...,
        check_states: Sequence[CheckState] = ...,
        has_query: bool | None = ...,
        persona: str | None = ...,
        system: str | None = ...,
        conversation: str | None = ...,
        unpinned: bool = ...,
        created_since: datetime | None = ...,
        created_before: datetime | None = ...,
        updated_since: datetime | None = ...,
        updated_before: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        order: ListOrder = ...,
        limit: int = ...,
        after: str | None = ...,
        skip: int = ...,
        count: bool = ...,
        background: bool = ...,
    ) -> Browsed:
        """List memories, last updated first. Here kinds, tags and the rest are filters."""
        ...
    def tally(
        self,
        by: TallyBy = ...,
        *,
        kinds: Sequence[Kind] = ...,
        dimensions: Sequence[Dimension] = ...,
        tags: Sequence[str] = ...,
        scopes: Sequence[Scope] = ...,
        statuses: Sequence[Status] = ...,
        entities: Sequence[str] = ...,
        categories: Sequence[str] = ...,
        confidences: Sequence[Confidence] = ...,
        sources: Sequence[str] = ...,
        owners: Sequence[str] = ...,
        proposal: ProposalFilter | None = ...,
        check_states: Sequence[CheckState] = ...,
        has_query: bool | None = ...,
        persona: str | None = ...,
        system: str | None = ...,
        conversation: str | None = ...,
        unpinned: bool = ...,
        created_since: datetime | None = ...,
        created_before: datetime | None = ...,
        updated_since: datetime | None = ...,
        updated_before: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        limit: int = ...,
    ) -> Tallied:
        """Count memories by one of their fields, with the oldest of each value; the largest groups come first."""
        ...
    def revise(
        self,
        id: str,
        *,
        expected_version: int | None = ...,
        content: str | Unset = ...,
        title: str | Unset = ...,
        hint: str | None | Unset = ...,
        kind: Kind | Unset = ...,
        dimension: Dimension | Unset = ...,
        tags: Sequence[str] | Unset = ...,
        category: str | None | Unset = ...,
        confidence: Confidence | Unset = ...,
        source: str | None | Unset = ...,
        metadata: Mapping[str, Any] | Unset = ...,
        entities: Sequence[str] | Unset = ...,
        query: Mapping[str, Any] | str | None | Unset = ...,
        artifact: str | None | Unset = ...,
        edits: Sequence[Edit | Mapping[str, Any]] | Unset = ...,
        conversation: str | None | Unset = ...,
        valid_from: datetime | Unset = ...,
        verified_at: datetime | None | Unset = ...,
        always_inject: bool | Unset = ...,
        status: Status | Unset = ...,
        status_reason: str | None | Unset = ...,
        unknown: Unknown = ...,
        what_is_new: str | None = ...,
        vouch: bool = ...,
    ) -> Revised:
        """Correct what a memory says. Only what is given changes; the old text stays in its history."""
        ...
    def retire(
        self,
        id: str,
        *,
        at: datetime | None = ...,
        reason: str | None = ...,
        what_is_new: str | None = ...,
    ) -> Retired:
        """Say that a memory is no longer true. It stays readable in the past; a second call changes nothing."""
        ...
    def forget(
        self,
        id: str,
        *,
        what_is_new: str | None = ...,
        dry_run: bool = ...,
    ) -> Forgotten:
        """Erase a memory with its history, its index entries, its relations and every reference to it; also from changesets and"""
        ...
    def relate(
        self,
        source: str,
        relation: RelationName,
        target: str,
    ) -> Related:
        """Add a typed relation from one memory to another; an existing one is reported, not doubled."""
        ...
    def unrelate(
        self,
        source: str,
        relation: RelationName,
        target: str,
    ) -> Unrelated:
        """Remove a relation. The past still shows it."""
        ...
    def remove_relation(
        self,
        id: str,
    ) -> Unrelated:
        """Remove a relation of the tenant by its number. The past still shows it."""
        ...
    def relations(
        self,
        *,
        source: str | None = ...,
        target: str | None = ...,
        relation: RelationName | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> ListedRelations:
        """List the tenant's relations between memories that the caller sees, newest first, even of memories that are no"""
        ...
    def neighbours(
        self,
        id: str,
        *,
        depth: int = ...,
        relations: Sequence[RelationName] = ...,
        direction: Direction = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        limit: int = ...,
    ) -> Neighbourhood:
        """Walk the relations around one memory."""
        ...
    def history(
        self,
        id: str,
    ) -> ShownHistory:
        """The versions of one memory that the caller may see: who changed what, and when."""
        ...
    def diff(
        self,
        since: datetime,
        *,
        until: datetime | None = ...,
        limit: int = ...,
        after: str | None = ...,
        catalog: bool = ...,
    ) -> Compared:
        """What changed in what we know between two times."""
        ...
    def moments(
        self,
        *,
        before: datetime | None = ...,
        limit: int = ...,
        catalog: bool = ...,
    ) -> ShownMoments:
        """The latest moments at which a memory was saved, changed or ended."""
        ...
    def ingest(
        self,
        path: str,
        *,
        datasource: str | None = ...,
        schema: str | None = ...,
        sample_values: int = ...,
        dry_run: bool = ...,
    ) -> Ingested:
        """Read what there is into the catalog: from model files, a store of models, a live database, the files that dbt"""
        ...
    def search(
        self,
        question: str | None = ...,
        *,
        entities: Sequence[str] = ...,
        query: Mapping[str, Any] | None = ...,
        datasource: str | None = ...,
        max_memories: int = ...,
        max_example_queries: int = ...,
        max_entities: int = ...,
        min_relevance: float | None = ...,
        only_verified: bool = ...,
        recipe: str = ...,
        agent: str | None = ...,
        expand: str | None = ...,
        rerank: str | None = ...,
        rerank_fine: str | None = ...,
        rerank_when: Literal["always", "close"] | None = ...,
    ) -> Searched:
        """Find what was learned about some things: by entities, by a draft of a query, by a question, or all of these."""
        ...
    def entities(
        self,
        inside: str | None = ...,
        *,
        kind: EntityKind | None = ...,
        limit: int = ...,
        skip: int = ...,
        references: bool = ...,
        undocumented: bool = ...,
        known_at: datetime | None = ...,
    ) -> ListedEntities:
        """List what memories can be about, by name: datasources, entities of a kind, or entities inside another."""
        ...
    def inspect(
        self,
        model: str,
        *,
        data_source: str | None = ...,
        sections: Sequence[str] | None = ...,
        show_sql: bool = ...,
        descriptions_max_chars: int | None = ...,
        reachable_fields_depth: int = ...,
        lineage_depth: int = ...,
        num_rows: int = ...,
        max_tokens: int = ...,
        known_at: datetime | None = ...,
    ) -> Inspected:
        """Look at a model: its columns, measures, joins, what they lead to, and what was learned about it."""
        ...
    def drop_entity(
        self,
        entity: str,
        *,
        kind: Literal["datasource", "model"] | None = ...,
        data_source: str | None = ...,
        parts: Sequence[str] | None = ...,
    ) -> DroppedEntity:
        """Remove a datasource, a model or a part of one from the catalog, and from the references of every memory."""
        ...
    def prioritise(
        self,
        *,
        datasources: Sequence[str] = ...,
        clear: bool = ...,
    ) -> Prioritised:
        """Say which datasources come first where several have a name; without any, show the order in force."""
        ...
    def impact(
        self,
        path: str | None = ...,
        *,
        sql: str | None = ...,
        datasource: str | None = ...,
        schema: str | None = ...,
        format: Literal["plain", "markdown"] = ...,
    ) -> Impacted:
        """Say which memories, example queries and amendments a change of tables would make stale, before it is made."""
        ...
    def renames(
        self,
    ) -> ListedRenames:
        """List the columns that were perhaps renamed, and the stale memories that wait for the new name."""
        ...
    def accept_renames(
        self,
        *,
        entities: Sequence[str] = ...,
        to: str | None = ...,
    ) -> AcceptedRenames:
        """Accept that columns were renamed: the stale memories about them get the new name, also in their example queries,"""
        ...
    def approve(
        self,
        id: str,
        *,
        expected_version: int | None = ...,
        reason: str | None = ...,
        content: str | Unset = ...,
        title: str | Unset = ...,
        edits: Sequence[Edit | Mapping[str, Any]] | Unset = ...,
    ) -> Reviewed:
        """Let a proposal take effect, or vouch for a memory that an agent wrote; agents may then get it without asking."""
        ...
    def reject(
        self,
        id: str,
        *,
        expected_version: int | None = ...,
        reason: str | None = ...,
    ) -> Reviewed:
        """Reject a proposal, or a new memory that was approved after it had waited. It stays readable in the past; a second"""
        ...
    def judge(
        self,
        id: str,
        *,
        advisor: str | None = ...,
    ) -> Judged:
        """See what is near a proposal and what was rejected like it, and ask an advisor what it thinks: a duplicate, a"""
        ...
    def extract(
        self,
        user_turn: str,
        *,
        assistant_turn: str = ...,
        scope: Scope = ...,
        conversation: str | None = ...,
        kind: Kind = ...,
        turn: str | None = ...,
        advisor: str | None = ...,
        agent: str | None = ...,
        later: bool = ...,
        review: bool = ...,
    ) -> Extracted:
        """Save the facts that an advisor finds in a turn of a conversation; what is known already is not saved again."""
        ...
    def end_turn(
        self,
        event: Mapping[str, Any],
        *,
        transcript: str | None = ...,
        scope: Scope = ...,
        advisor: str | None = ...,
        agent: str | None = ...,
        later: bool = ...,
        remind: bool = ...,
    ) -> EndedTurn:
        """Hand over what a coding agent's host gives the hook of an event such as Stop or PreCompact: the facts of the turn are"""
        ...
    def add_check(
        self,
        id: str,
        *,
        kind: CheckKind = ...,
        connection: str | None = ...,
        sql: str | None = ...,
        value: str | None = ...,
        tolerance: float | None = ...,
        columns: Sequence[str] = ...,
        min_rows: int | None = ...,
        max_rows: int | None = ...,
        entity: str | None = ...,
        type: str | None = ...,
        path: str | None = ...,
        first_line: int | None = ...,
        last_line: int | None = ...,
        sha256: str | None = ...,
    ) -> ChangedChecks:
        """Add a check to a memory: a query with what it should return, an entity that should be there, or the hash of a file."""
        ...
    def approve_check(
        self,
        id: str,
        number: int,
    ) -> ChangedChecks:
        """Let a check run that an agent proposed. Read its query first: it runs again and again from now on."""
        ...
    def drop_check(
        self,
        id: str,
        number: int,
    ) -> ChangedChecks:
        """Take a check away from a memory; what came of it stays in the history."""
        ...
    def check(
        self,
        id: str | None = ...,
        *,
        all: bool = ...,
        queries: bool = ...,
        format: Literal["plain", "junit"] = ...,
        proposed: bool = ...,
    ) -> RanChecks:
        """Run the checks of a memory, or of all memories that you see, and say what came of them."""
        ...
    def checks(
        self,
        id: str,
        *,
        observe: bool = ...,
    ) -> ListedChecks:
        """List the checks of a memory with their last runs, and what checks may read here."""
        ...
    def plan(
        self,
        entity: str,
        *,
        memories: Sequence[str] = ...,
        unknown: Unknown = ...,
    ) -> Planned:
        """See what approved proposals would change in an entity of the catalog and its parts, and what stands in the way; or"""
        ...
    def apply(
        self,
        entity: str,
        *,
        memories: Sequence[str] = ...,
        edits: Sequence[Edit | Mapping[str, Any]] = ...,
        unknown: Unknown = ...,
        mark: str | None = ...,
        reason: str | None = ...,
    ) -> Applied:
        """Write what approved proposals change in an entity and its parts into the catalog, all or nothing."""
        ...
    def roll_back(
        self,
        id: str,
        *,
        reason: str | None = ...,
        then: AfterRollBack = ...,
    ) -> RolledBack:
        """Take back what a changeset wrote, also one that failed halfway; its proposals wait for review again."""
        ...
    def changesets(
        self,
        id: str | None = ...,
        *,
        entity: str | None = ...,
        states: Sequence[ChangesetState] = ...,
        by: str | None = ...,
        since: datetime | None = ...,
        before: datetime | None = ...,
        limit: int = ...,
        skip: int = ...,
    ) -> ListedChangesets:
        """List what was applied to the catalog, newest first, with what stood there before; or show one by its id."""
        ...
    def context(
        self,
        question: str | None = ...,
        *,
        conversation: str | None = ...,
        parts: Sequence[ContextPart] = ...,
        max_tokens: int = ...,
        for_user: str | None = ...,
        for_personas: Sequence[str] = ...,
        for_systems: Sequence[str] = ...,
    ) -> ContextGiven:
        """What an agent should know before it begins: standing notes, this conversation so far, and memories on a"""
        ...
    def attach(
        self,
        answer: Any,
        *,
        arguments: Any = ...,
        conversation: str | None = ...,
        limit: int = ...,
        max_tokens: int = ...,
        again: bool = ...,
    ) -> Attached:
        """Find memories about the things that another tool's answer mentions, to show together with that answer."""
        ...
    def note_turn(
        self,
        content: str,
        *,
        role: Role = ...,
        metadata: Mapping[str, Any] | None = ...,
        conversation: str | None = ...,
        extract: str | None = ...,
        extract_later: bool = ...,
        agent: str | None = ...,
    ) -> NotedTurn:
        """Keep a turn of a conversation for a while: the last few, in memory alone, gone when the process ends."""
        ...
    def turns(
        self,
        *,
        conversation: str | None = ...,
        limit: int | None = ...,
    ) -> ListedTurns:
        """The last turns of a conversation, oldest first."""
        ...
    def clear_turns(
        self,
        *,
        conversation: str | None = ...,
    ) -> ClearedTurns:
        """Drop the turns of a conversation, also those that wait until their facts are extracted."""
        ...
    def register_conversation(
        self,
        id: str | None = ...,
        *,
        title: str | None = ...,
        agent: str | None = ...,
    ) -> RegisteredConversation:
        """Begin a conversation, so that artifacts and pinned memories can belong to it."""
        ...
    def conversations(
        self,
        *,
        agent: str | None = ...,
        name: str | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> ListedConversations:
        """The conversations that you began or that were shared with you, newest first; for an admin all of the tenant."""
        ...
    def show_conversation(
        self,
        id: str,
    ) -> ShownConversation:
        """One conversation, whom it was shared with, and how many artifacts belong to it."""
        ...
    def share_conversation(
        self,
        id: str,
        user: str,
    ) -> SharedConversation:
        """Let someone into a conversation that you began: they read and write its session memories, turns and artifacts."""
        ...
    def unshare_conversation(
        self,
        id: str,
        user: str,
    ) -> SharedConversation:
        """Let someone no longer into a conversation that you began, or leave one that was shared with you."""
        ...
    def delete_conversation(
        self,
        id: str,
    ) -> DeletedConversation:
        """Delete a conversation with its artifacts. Your memories pinned to it stay and are no longer pinned."""
        ...
    def write_artifact(
        self,
        path: str,
        content: str,
        *,
        encoding: Encoding = ...,
        media_type: str = ...,
        conversation: str | None = ...,
    ) -> WrittenArtifact:
        """Keep an artifact with a conversation. An artifact at the same path is overwritten and keeps its id."""
        ...
    def read_artifact(
        self,
        id: str,
        *,
        via: str | None = ...,
    ) -> ArtifactContent:
        """Read an artifact of a conversation that you are a member of, or through another's memory that links to it."""
        ...
    def artifacts(
        self,
        *,
        conversation: str | None = ...,
    ) -> ListedArtifacts:
        """List the artifacts of a conversation, by path; without one, those of all that you are a member of."""
        ...
    def delete_artifact(
        self,
        id: str,
    ) -> DeletedArtifact:
        """Delete an artifact. Memories that were linked to it stay, without the link."""
        ...
    def append_scratchpad(
        self,
        content: str,
        *,
        agent: str = ...,
    ) -> AppendedScratchpad:
        """Add to the scratchpad of an agent, or to the one that all agents share, with the present time."""
        ...
    def read_scratchpad(
        self,
        agent: str = ...,
    ) -> ScratchpadContent:
        """Read the scratchpad of an agent, or the one that all agents share; one that was never written is empty."""
        ...
    def scratchpads(
        self,
    ) -> ListedScratchpads:
        """List the scratchpads that you may read, and how large they are."""
        ...
    def clear_scratchpad(
        self,
        agent: str = ...,
    ) -> ClearedScratchpad:
        """Clear the scratchpad of an agent, or the one that all agents share."""
        ...
    def set_agent(
        self,
        agent: str,
        *,
        intent: bool = ...,
        decay: bool | None = ...,
        half_life_days: int = ...,
        decay_floor: float = ...,
        limit: int = ...,
        conversation_places: int = ...,
        tenant_places: int = ...,
        global_places: int = ...,
        max_tokens: int | None = ...,
        expand: str | None = ...,
        rerank: str | None = ...,
        rerank_fine: str | None = ...,
        rerank_when: Literal["always", "close"] | None = ...,
        auto_tag: str | None = ...,
        auto_supersede: str | None = ...,
        extract: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
    ) -> ShownAgent:
        """Set how an agent searches when its requests leave it open. What is left out takes its default."""
        ...
    def show_agent(
        self,
        agent: str,
    ) -> ShownAgent:
        """Show the settings of an agent that you use; without any, the defaults."""
        ...
    def share_agent(
        self,
        agent: str,
        user: str,
    ) -> SharedAgent:
        """Let someone use an agent that you use: they read and write its scratchpad and its settings."""
        ...
    def unshare_agent(
        self,
        agent: str,
        user: str,
    ) -> SharedAgent:
        """Let someone no longer use an agent whose first user you are, or stop using one yourself."""
        ...
    def create_key(
        self,
        *,
        label: str | None = ...,
        tenant: str | None = ...,
        user: str | None = ...,
        personas: Sequence[str] = ...,
        permissions: Sequence[Permission] = ...,
        systems: Sequence[str] = ...,
        actor: Actor = ...,
        expires_at: datetime | None = ...,
        per_minute: int | None = ...,
        saves_per_day: int | None = ...,
    ) -> CreatedKey:
        """Make a key for an agent or a person. It is shown this once; only its hash is kept."""
        ...
    def change_key(
        self,
        id: str,
        *,
        label: str | None | Unset = ...,
        personas: Sequence[str] | Unset = ...,
        permissions: Sequence[Permission] | Unset = ...,
        systems: Sequence[str] | Unset = ...,
        expires_at: datetime | None | Unset = ...,
        per_minute: int | None | Unset = ...,
        saves_per_day: int | None | Unset = ...,
    ) -> ChangedKey:
        """Change what a key is for, what it may do or until when; only what is given changes."""
        ...
    def list_keys(
        self,
    ) -> ListedKeys:
        """List the keys of the tenant, without their secrets; revoked and expired ones too."""
        ...
    def revoke_key(
        self,
        id: str,
    ) -> RevokedKey:
        """Revoke a key. A second call changes nothing."""
        ...
    def waive_keys(
        self,
    ) -> WaivedKeys:
        """Forget revoked and expired keys, so that a server on this machine is open to its owner without one again."""
        ...
    def create_tenant(
        self,
        name: str,
    ) -> CreatedTenant:
        """Make a tenant before anything is saved there."""
        ...
    def list_tenants(
        self,
    ) -> ListedTenants:
        """List the tenants of the store and how much each holds; only the caller's own unless the caller runs the store."""
        ...
    def set_tenant(
        self,
        *,
        agents_share: bool | None = ...,
        members_retire: bool | None = ...,
        advice: Sequence[Literal["expand", "rerank", "rerank_close", "rerank_fine", "tag", "supersede", "extract"] | Literal["nothing"]] | None = ...,
        keep_questions: bool | None = ...,
    ) -> Tenant:
        """Say who may change what in the caller's tenant, and what an advisor does there; only what is given changes."""
        ...
    def erase_tenant(
        self,
        name: str,
        *,
        confirm: str,
    ) -> ErasedTenant:
        """Erase everything of a tenant, with its catalog, its keys and its history, and check that nothing is left."""
        ...
    def audit(
        self,
        *,
        user: str | None = ...,
        subject: str | None = ...,
        outcome: AuditOutcome | None = ...,
        since: datetime | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> Audited:
        """Who wrote what, when, and what was refused; newest first. The text of memories is not in it."""
        ...
    def export(
        self,
        path: str,
        *,
        all_tenants: bool = ...,
    ) -> Exported:
        """Write everything of this tenant and the global memories to a JSONL file, with the history."""
        ...
    def import_(
        self,
        path: str,
        *,
        keep_tenants: bool = ...,
        skip_conflicts: bool = ...,
    ) -> Imported:
        """Read an export. What is already here in the same form is left as it is, so an import can be repeated."""
        ...
    def backup(
        self,
        path: str,
    ) -> BackedUp:
        """Write a consistent copy of the whole store while others go on writing."""
        ...
    def doctor(
        self,
        *,
        fix: bool = ...,
    ) -> Examined:
        """Check that windows, versions, index and edges agree with the rows, and list what does not."""
        ...
    def reindex(
        self,
    ) -> Reindexed:
        """Rebuild everything derived from the rows. The rows themselves are not touched."""
        ...
    def embed_missing(
        self,
        *,
        all_tenants: bool = ...,
        anew: bool = ...,
        anyway: bool = ...,
    ) -> EmbeddedMissing:
        """Make missing vectors: of memories saved while no embedder was available, or with another model."""
        ...
    def status(
        self,
        *,
        all_tenants: bool = ...,
    ) -> StoreStatus:
        """Show the state of the store: where it is, which vectors it has, when it was last watched, and failed jobs."""
        ...
    def reassign(
        self,
        owner: str,
        to: str,
        *,
        dry_run: bool = ...,
    ) -> Reassigned:
        """Give all memories of one user to another: of someone whose email has changed, or who has left."""
        ...
    def dismiss_failures(
        self,
        *,
        name: str | None = ...,
    ) -> Dismissed:
        """Forget the jobs of the tenant that were given up, so that its status no longer lists them."""
        ...

class AsyncDoor:
    async def perform(self, operation: Operation, /, *given: Any, **named: Any) -> Any: ...
    async def remember(
        self,
        content: str,
        *,
        id: str | Unset = ...,
        kind: Kind | Unset = ...,
        dimension: Dimension | Unset = ...,
        title: str | Unset = ...,
        hint: str | None | Unset = ...,
        tags: Sequence[str] | Unset = ...,
        category: str | None | Unset = ...,
        confidence: Confidence | Unset = ...,
        source: str | None | Unset = ...,
        metadata: Mapping[str, Any] | Unset = ...,
        entities: Sequence[str] | Unset = ...,
        query: Mapping[str, Any] | str | None | Unset = ...,
        artifact: str | None | Unset = ...,
        scope: Scope | Unset = ...,
        persona: str | None | Unset = ...,
        system: str | None | Unset = ...,
        conversation: str | None | Unset = ...,
        valid_from: datetime | Unset = ...,
        created_at: datetime | Unset = ...,
        verified_at: datetime | None | Unset = ...,
        always_inject: bool | Unset = ...,
        supersedes: Sequence[str] = ...,
        edits: Sequence[Edit | Mapping[str, Any]] | Unset = ...,
        review: bool = ...,
        dedupe: bool = ...,
        by_hint_alone: bool = ...,
        alike: Alike = ...,
        what_is_new: str | None = ...,
        unknown: Unknown = ...,
        auto_tag: str | None = ...,
        auto_supersede: str | None = ...,
        agent: str | None = ...,
        dry_run: bool = ...,
    ) -> Remembered:
        """Leave something worth knowing later: a correction, a decision, how a thing really works."""
        ...
    async def remember_many(
        self,
        memories: Sequence[Mapping[str, Any]],
        *,
        on_fault: Literal["refuse", "skip"] = ...,
        dry_run: bool = ...,
    ) -> RememberedMany:
        """Save many memories at once, each as `remember` does."""
        ...
    async def recall(
        self,
        question: str,
        *,
        limit: int = ...,
        kinds: Sequence[Kind] = ...,
        tags: Sequence[str] = ...,
        entities: Sequence[str] = ...,
        statuses: Sequence[Status] = ...,
        scopes: Sequence[Scope] = ...,
        only_kinds: Sequence[Kind] = ...,
        only_dimensions: Sequence[Dimension] = ...,
        only_tags: Sequence[str] = ...,
        only_entities: Sequence[str] = ...,
        only_owners: Sequence[str] = ...,
        only_metadata: Mapping[str, Any] | None = ...,
        only_verified: bool = ...,
        proposal: ProposalFilter | None = ...,
        conversation: str | None = ...,
        elsewhere: bool = ...,
        created_since: datetime | None = ...,
        updated_before: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        recipe: str = ...,
        intent: bool = ...,
        times: Times = ...,
        decay: bool = ...,
        half_life_days: int = ...,
        decay_floor: float = ...,
        conversation_places: int = ...,
        tenant_places: int = ...,
        global_places: int = ...,
        query_limit: int | None = ...,
        max_tokens: int | None = ...,
        agent: str | None = ...,
        min_relevance: float | None = ...,
        lineage: int = ...,
        background: bool = ...,
        expand: str | None = ...,
        rerank: str | None = ...,
        rerank_fine: str | None = ...,
        rerank_when: Literal["always", "close"] | None = ...,
        explain: bool = ...,
        after: str | None = ...,
    ) -> Recalled:
        """Ask a question and get the relevant memories, best first."""
        ...
    async def give_feedback(
        self,
        id: str,
        verdict: Literal["useful", "not_useful", "none"],
        question: str,
    ) -> GivenFeedback:
        """Say whether a hit was useful for the question that was asked. It changes no memory and no ranking."""
        ...
    async def feedback(
        self,
        *,
        id: str | None = ...,
        question: str | None = ...,
        verdict: Literal["useful", "not_useful"] | None = ...,
        user: str | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> ListedFeedback:
        """List which hits were useful and which were not, newest first: your own feedback, for an admin everyone's."""
        ...
    async def show(
        self,
        id: str,
        *,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        background: bool = ...,
        rights: bool = ...,
    ) -> Shown:
        """Read one memory with its relations, whatever its status; with a time, as it was then."""
        ...
    async def browse(
        self,
        *,
        kinds: Sequence[Kind] = ...,
        dimensions: Sequence[Dimension] = ...,
        tags: Sequence[str] = ...,
        scopes: Sequence[Scope] = ...,
        statuses: Sequence[Status] = ...,
        entities: Sequence[str] = ...,
        categories: Sequence[str] = ...,
        confidences: Sequence[Confidence] = ...,
        sources: Sequence[str] = ...,
        owners: Sequence[str] = ...,
        proposal: ProposalFilter | None = ...,
        check_states: Sequence[CheckState] = ...,
        has_query: bool | None = ...,
        persona: str | None = ...,
        system: str | None = ...,
        conversation: str | None = ...,
        unpinned: bool = ...,
        created_since: datetime | None = ...,
        created_before: datetime | None = ...,
        updated_since: datetime | None = ...,
        updated_before: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        order: ListOrder = ...,
        limit: int = ...,
        after: str | None = ...,
        skip: int = ...,
        count: bool = ...,
        background: bool = ...,
    ) -> Browsed:
        """List memories, last updated first. Here kinds, tags and the rest are filters."""
        ...
    async def tally(
        self,
        by: TallyBy = ...,
        *,
        kinds: Sequence[Kind] = ...,
        dimensions: Sequence[Dimension] = ...,
        tags: Sequence[str] = ...,
        scopes: Sequence[Scope] = ...,
        statuses: Sequence[Status] = ...,
        entities: Sequence[str] = ...,
        categories: Sequence[str] = ...,
        confidences: Sequence[Confidence] = ...,
        sources: Sequence[str] = ...,
        owners: Sequence[str] = ...,
        proposal: ProposalFilter | None = ...,
        check_states: Sequence[CheckState] = ...,
        has_query: bool | None = ...,
        persona: str | None = ...,
        system: str | None = ...,
        conversation: str | None = ...,
        unpinned: bool = ...,
        created_since: datetime | None = ...,
        created_before: datetime | None = ...,
        updated_since: datetime | None = ...,
        updated_before: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        limit: int = ...,
    ) -> Tallied:
        """Count memories by one of their fields, with the oldest of each value; the largest groups come first."""
        ...
    async def revise(
        self,
        id: str,
        *,
        expected_version: int | None = ...,
        content: str | Unset = ...,
        title: str | Unset = ...,
        hint: str | None | Unset = ...,
        kind: Kind | Unset = ...,
        dimension: Dimension | Unset = ...,
        tags: Sequence[str] | Unset = ...,
        category: str | None | Unset = ...,
        confidence: Confidence | Unset = ...,
        source: str | None | Unset = ...,
        metadata: Mapping[str, Any] | Unset = ...,
        entities: Sequence[str] | Unset = ...,
        query: Mapping[str, Any] | str | None | Unset = ...,
        artifact: str | None | Unset = ...,
        edits: Sequence[Edit | Mapping[str, Any]] | Unset = ...,
        conversation: str | None | Unset = ...,
        valid_from: datetime | Unset = ...,
        verified_at: datetime | None | Unset = ...,
        always_inject: bool | Unset = ...,
        status: Status | Unset = ...,
        status_reason: str | None | Unset = ...,
        unknown: Unknown = ...,
        what_is_new: str | None = ...,
        vouch: bool = ...,
    ) -> Revised:
        """Correct what a memory says. Only what is given changes; the old text stays in its history."""
        ...
    async def retire(
        self,
        id: str,
        *,
        at: datetime | None = ...,
        reason: str | None = ...,
        what_is_new: str | None = ...,
    ) -> Retired:
        """Say that a memory is no longer true. It stays readable in the past; a second call changes nothing."""
        ...
    async def forget(
        self,
        id: str,
        *,
        what_is_new: str | None = ...,
        dry_run: bool = ...,
    ) -> Forgotten:
        """Erase a memory with its history, its index entries, its relations and every reference to it; also from changesets and"""
        ...
    async def relate(
        self,
        source: str,
        relation: RelationName,
        target: str,
    ) -> Related:
        """Add a typed relation from one memory to another; an existing one is reported, not doubled."""
        ...
    async def unrelate(
        self,
        source: str,
        relation: RelationName,
        target: str,
    ) -> Unrelated:
        """Remove a relation. The past still shows it."""
        ...
    async def remove_relation(
        self,
        id: str,
    ) -> Unrelated:
        """Remove a relation of the tenant by its number. The past still shows it."""
        ...
    async def relations(
        self,
        *,
        source: str | None = ...,
        target: str | None = ...,
        relation: RelationName | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> ListedRelations:
        """List the tenant's relations between memories that the caller sees, newest first, even of memories that are no"""
        ...
    async def neighbours(
        self,
        id: str,
        *,
        depth: int = ...,
        relations: Sequence[RelationName] = ...,
        direction: Direction = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        limit: int = ...,
    ) -> Neighbourhood:
        """Walk the relations around one memory."""
        ...
    async def history(
        self,
        id: str,
    ) -> ShownHistory:
        """The versions of one memory that the caller may see: who changed what, and when."""
        ...
    async def diff(
        self,
        since: datetime,
        *,
        until: datetime | None = ...,
        limit: int = ...,
        after: str | None = ...,
        catalog: bool = ...,
    ) -> Compared:
        """What changed in what we know between two times."""
        ...
    async def moments(
        self,
        *,
        before: datetime | None = ...,
        limit: int = ...,
        catalog: bool = ...,
    ) -> ShownMoments:
        """The latest moments at which a memory was saved, changed or ended."""
        ...
    async def ingest(
        self,
        path: str,
        *,
        datasource: str | None = ...,
        schema: str | None = ...,
        sample_values: int = ...,
        dry_run: bool = ...,
    ) -> Ingested:
        """Read what there is into the catalog: from model files, a store of models, a live database, the files that dbt"""
        ...
    async def search(
        self,
        question: str | None = ...,
        *,
        entities: Sequence[str] = ...,
        query: Mapping[str, Any] | None = ...,
        datasource: str | None = ...,
        max_memories: int = ...,
        max_example_queries: int = ...,
        max_entities: int = ...,
        min_relevance: float | None = ...,
        only_verified: bool = ...,
        recipe: str = ...,
        agent: str | None = ...,
        expand: str | None = ...,
        rerank: str | None = ...,
        rerank_fine: str | None = ...,
        rerank_when: Literal["always", "close"] | None = ...,
    ) -> Searched:
        """Find what was learned about some things: by entities, by a draft of a query, by a question, or all of these."""
        ...
    async def entities(
        self,
        inside: str | None = ...,
        *,
        kind: EntityKind | None = ...,
        limit: int = ...,
        skip: int = ...,
        references: bool = ...,
        undocumented: bool = ...,
        known_at: datetime | None = ...,
    ) -> ListedEntities:
        """List what memories can be about, by name: datasources, entities of a kind, or entities inside another."""
        ...
    async def inspect(
        self,
        model: str,
        *,
        data_source: str | None = ...,
        sections: Sequence[str] | None = ...,
        show_sql: bool = ...,
        descriptions_max_chars: int | None = ...,
        reachable_fields_depth: int = ...,
        lineage_depth: int = ...,
        num_rows: int = ...,
        max_tokens: int = ...,
        known_at: datetime | None = ...,
    ) -> Inspected:
        """Look at a model: its columns, measures, joins, what they lead to, and what was learned about it."""
        ...
    async def drop_entity(
        self,
        entity: str,
        *,
        kind: Literal["datasource", "model"] | None = ...,
        data_source: str | None = ...,
        parts: Sequence[str] | None = ...,
    ) -> DroppedEntity:
        """Remove a datasource, a model or a part of one from the catalog, and from the references of every memory."""
        ...
    async def prioritise(
        self,
        *,
        datasources: Sequence[str] = ...,
        clear: bool = ...,
    ) -> Prioritised:
        """Say which datasources come first where several have a name; without any, show the order in force."""
        ...
    async def impact(
        self,
        path: str | None = ...,
        *,
        sql: str | None = ...,
        datasource: str | None = ...,
        schema: str | None = ...,
        format: Literal["plain", "markdown"] = ...,
    ) -> Impacted:
        """Say which memories, example queries and amendments a change of tables would make stale, before it is made."""
        ...
    async def renames(
        self,
    ) -> ListedRenames:
        """List the columns that were perhaps renamed, and the stale memories that wait for the new name."""
        ...
    async def accept_renames(
        self,
        *,
        entities: Sequence[str] = ...,
        to: str | None = ...,
    ) -> AcceptedRenames:
        """Accept that columns were renamed: the stale memories about them get the new name, also in their example queries,"""
        ...
    async def approve(
        self,
        id: str,
        *,
        expected_version: int | None = ...,
        reason: str | None = ...,
        content: str | Unset = ...,
        title: str | Unset = ...,
        edits: Sequence[Edit | Mapping[str, Any]] | Unset = ...,
    ) -> Reviewed:
        """Let a proposal take effect, or vouch for a memory that an agent wrote; agents may then get it without asking."""
        ...
    async def reject(
        self,
        id: str,
        *,
        expected_version: int | None = ...,
        reason: str | None = ...,
    ) -> Reviewed:
        """Reject a proposal, or a new memory that was approved after it had waited. It stays readable in the past; a second"""
        ...
    async def judge(
        self,
        id: str,
        *,
        advisor: str | None = ...,
    ) -> Judged:
        """See what is near a proposal and what was rejected like it, and ask an advisor what it thinks: a duplicate, a"""
        ...
    async def extract(
        self,
        user_turn: str,
        *,
        assistant_turn: str = ...,
        scope: Scope = ...,
        conversation: str | None = ...,
        kind: Kind = ...,
        turn: str | None = ...,
        advisor: str | None = ...,
        agent: str | None = ...,
        later: bool = ...,
        review: bool = ...,
    ) -> Extracted:
        """Save the facts that an advisor finds in a turn of a conversation; what is known already is not saved again."""
        ...
    async def end_turn(
        self,
        event: Mapping[str, Any],
        *,
        transcript: str | None = ...,
        scope: Scope = ...,
        advisor: str | None = ...,
        agent: str | None = ...,
        later: bool = ...,
        remind: bool = ...,
    ) -> EndedTurn:
        """Hand over what a coding agent's host gives the hook of an event such as Stop or PreCompact: the facts of the turn are"""
        ...
    async def add_check(
        self,
        id: str,
        *,
        kind: CheckKind = ...,
        connection: str | None = ...,
        sql: str | None = ...,
        value: str | None = ...,
        tolerance: float | None = ...,
        columns: Sequence[str] = ...,
        min_rows: int | None = ...,
        max_rows: int | None = ...,
        entity: str | None = ...,
        type: str | None = ...,
        path: str | None = ...,
        first_line: int | None = ...,
        last_line: int | None = ...,
        sha256: str | None = ...,
    ) -> ChangedChecks:
        """Add a check to a memory: a query with what it should return, an entity that should be there, or the hash of a file."""
        ...
    async def approve_check(
        self,
        id: str,
        number: int,
    ) -> ChangedChecks:
        """Let a check run that an agent proposed. Read its query first: it runs again and again from now on."""
        ...
    async def drop_check(
        self,
        id: str,
        number: int,
    ) -> ChangedChecks:
        """Take a check away from a memory; what came of it stays in the history."""
        ...
    async def check(
        self,
        id: str | None = ...,
        *,
        all: bool = ...,
        queries: bool = ...,
        format: Literal["plain", "junit"] = ...,
        proposed: bool = ...,
    ) -> RanChecks:
        """Run the checks of a memory, or of all memories that you see, and say what came of them."""
        ...
    async def checks(
        self,
        id: str,
        *,
        observe: bool = ...,
    ) -> ListedChecks:
        """List the checks of a memory with their last runs, and what checks may read here."""
        ...
    async def plan(
        self,
        entity: str,
        *,
        memories: Sequence[str] = ...,
        unknown: Unknown = ...,
    ) -> Planned:
        """See what approved proposals would change in an entity of the catalog and its parts, and what stands in the way; or"""
        ...
    async def apply(
        self,
        entity: str,
        *,
        memories: Sequence[str] = ...,
        edits: Sequence[Edit | Mapping[str, Any]] = ...,
        unknown: Unknown = ...,
        mark: str | None = ...,
        reason: str | None = ...,
    ) -> Applied:
        """Write what approved proposals change in an entity and its parts into the catalog, all or nothing."""
        ...
    async def roll_back(
        self,
        id: str,
        *,
        reason: str | None = ...,
        then: AfterRollBack = ...,
    ) -> RolledBack:
        """Take back what a changeset wrote, also one that failed halfway; its proposals wait for review again."""
        ...
    async def changesets(
        self,
        id: str | None = ...,
        *,
        entity: str | None = ...,
        states: Sequence[ChangesetState] = ...,
        by: str | None = ...,
        since: datetime | None = ...,
        before: datetime | None = ...,
        limit: int = ...,
        skip: int = ...,
    ) -> ListedChangesets:
        """List what was applied to the catalog, newest first, with what stood there before; or show one by its id."""
        ...
    async def context(
        self,
        question: str | None = ...,
        *,
        conversation: str | None = ...,
        parts: Sequence[ContextPart] = ...,
        max_tokens: int = ...,
        for_user: str | None = ...,
        for_personas: Sequence[str] = ...,
        for_systems: Sequence[str] = ...,
    ) -> ContextGiven:
        """What an agent should know before it begins: standing notes, this conversation so far, and memories on a"""
        ...
    async def attach(
        self,
        answer: Any,
        *,
        arguments: Any = ...,
        conversation: str | None = ...,
        limit: int = ...,
        max_tokens: int = ...,
        again: bool = ...,
    ) -> Attached:
        """Find memories about the things that another tool's answer mentions, to show together with that answer."""
        ...
    async def note_turn(
        self,
        content: str,
        *,
        role: Role = ...,
        metadata: Mapping[str, Any] | None = ...,
        conversation: str | None = ...,
        extract: str | None = ...,
        extract_later: bool = ...,
        agent: str | None = ...,
    ) -> NotedTurn:
        """Keep a turn of a conversation for a while: the last few, in memory alone, gone when the process ends."""
        ...
    async def turns(
        self,
        *,
        conversation: str | None = ...,
        limit: int | None = ...,
    ) -> ListedTurns:
        """The last turns of a conversation, oldest first."""
        ...
    async def clear_turns(
        self,
        *,
        conversation: str | None = ...,
    ) -> ClearedTurns:
        """Drop the turns of a conversation, also those that wait until their facts are extracted."""
        ...
    async def register_conversation(
        self,
        id: str | None = ...,
        *,
        title: str | None = ...,
        agent: str | None = ...,
    ) -> RegisteredConversation:
        """Begin a conversation, so that artifacts and pinned memories can belong to it."""
        ...
    async def conversations(
        self,
        *,
        agent: str | None = ...,
        name: str | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> ListedConversations:
        """The conversations that you began or that were shared with you, newest first; for an admin all of the tenant."""
        ...
    async def show_conversation(
        self,
        id: str,
    ) -> ShownConversation:
        """One conversation, whom it was shared with, and how many artifacts belong to it."""
        ...
    async def share_conversation(
        self,
        id: str,
        user: str,
    ) -> SharedConversation:
        """Let someone into a conversation that you began: they read and write its session memories, turns and artifacts."""
        ...
    async def unshare_conversation(
        self,
        id: str,
        user: str,
    ) -> SharedConversation:
        """Let someone no longer into a conversation that you began, or leave one that was shared with you."""
        ...
    async def delete_conversation(
        self,
        id: str,
    ) -> DeletedConversation:
        """Delete a conversation with its artifacts. Your memories pinned to it stay and are no longer pinned."""
        ...
    async def write_artifact(
        self,
        path: str,
        content: str,
        *,
        encoding: Encoding = ...,
        media_type: str = ...,
        conversation: str | None = ...,
    ) -> WrittenArtifact:
        """Keep an artifact with a conversation. An artifact at the same path is overwritten and keeps its id."""
        ...
    async def read_artifact(
        self,
        id: str,
        *,
        via: str | None = ...,
    ) -> ArtifactContent:
        """Read an artifact of a conversation that you are a member of, or through another's memory that links to it."""
        ...
    async def artifacts(
        self,
        *,
        conversation: str | None = ...,
    ) -> ListedArtifacts:
        """List the artifacts of a conversation, by path; without one, those of all that you are a member of."""
        ...
    async def delete_artifact(
        self,
        id: str,
    ) -> DeletedArtifact:
        """Delete an artifact. Memories that were linked to it stay, without the link."""
        ...
    async def append_scratchpad(
        self,
        content: str,
        *,
        agent: str = ...,
    ) -> AppendedScratchpad:
        """Add to the scratchpad of an agent, or to the one that all agents share, with the present time."""
        ...
    async def read_scratchpad(
        self,
        agent: str = ...,
    ) -> ScratchpadContent:
        """Read the scratchpad of an agent, or the one that all agents share; one that was never written is empty."""
        ...
    async def scratchpads(
        self,
    ) -> ListedScratchpads:
        """List the scratchpads that you may read, and how large they are."""
        ...
    async def clear_scratchpad(
        self,
        agent: str = ...,
    ) -> ClearedScratchpad:
        """Clear the scratchpad of an agent, or the one that all agents share."""
        ...
    async def set_agent(
        self,
        agent: str,
        *,
        intent: bool = ...,
        decay: bool | None = ...,
        half_life_days: int = ...,
        decay_floor: float = ...,
        limit: int = ...,
        conversation_places: int = ...,
        tenant_places: int = ...,
        global_places: int = ...,
        max_tokens: int | None = ...,
        expand: str | None = ...,
        rerank: str | None = ...,
        rerank_fine: str | None = ...,
        rerank_when: Literal["always", "close"] | None = ...,
        auto_tag: str | None = ...,
        auto_supersede: str | None = ...,
        extract: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
    ) -> ShownAgent:
        """Set how an agent searches when its requests leave it open. What is left out takes its default."""
        ...
    async def show_agent(
        self,
        agent: str,
    ) -> ShownAgent:
        """Show the settings of an agent that you use; without any, the defaults."""
        ...
    async def share_agent(
        self,
        agent: str,
        user: str,
    ) -> SharedAgent:
        """Let someone use an agent that you use: they read and write its scratchpad and its settings."""
        ...
    async def unshare_agent(
        self,
        agent: str,
        user: str,
    ) -> SharedAgent:
        """Let someone no longer use an agent whose first user you are, or stop using one yourself."""
        ...
    async def create_key(
        self,
        *,
        label: str | None = ...,
        tenant: str | None = ...,
        user: str | None = ...,
        personas: Sequence[str] = ...,
        permissions: Sequence[Permission] = ...,
        systems: Sequence[str] = ...,
        actor: Actor = ...,
        expires_at: datetime | None = ...,
        per_minute: int | None = ...,
        saves_per_day: int | None = ...,
    ) -> CreatedKey:
        """Make a key for an agent or a person. It is shown this once; only its hash is kept."""
        ...
    async def change_key(
        self,
        id: str,
        *,
        label: str | None | Unset = ...,
        personas: Sequence[str] | Unset = ...,
        permissions: Sequence[Permission] | Unset = ...,
        systems: Sequence[str] | Unset = ...,
        expires_at: datetime | None | Unset = ...,
        per_minute: int | None | Unset = ...,
        saves_per_day: int | None | Unset = ...,
    ) -> ChangedKey:
        """Change what a key is for, what it may do or until when; only what is given changes."""
        ...
    async def list_keys(
        self,
    ) -> ListedKeys:
        """List the keys of the tenant, without their secrets; revoked and expired ones too."""
        ...
    async def revoke_key(
        self,
        id: str,
    ) -> RevokedKey:
        """Revoke a key. A second call changes nothing."""
        ...
    async def waive_keys(
        self,
    ) -> WaivedKeys:
        """Forget revoked and expired keys, so that a server on this machine is open to its owner without one again."""
        ...
    async def create_tenant(
        self,
        name: str,
    ) -> CreatedTenant:
        """Make a tenant before anything is saved there."""
        ...
    async def list_tenants(
        self,
    ) -> ListedTenants:
        """List the tenants of the store and how much each holds; only the caller's own unless the caller runs the store."""
        ...
    async def set_tenant(
        self,
        *,
        agents_share: bool | None = ...,
        members_retire: bool | None = ...,
        advice: Sequence[Literal["expand", "rerank", "rerank_close", "rerank_fine", "tag", "supersede", "extract"] | Literal["nothing"]] | None = ...,
        keep_questions: bool | None = ...,
    ) -> Tenant:
        """Say who may change what in the caller's tenant, and what an advisor does there; only what is given changes."""
        ...
    async def erase_tenant(
        self,
        name: str,
        *,
        confirm: str,
    ) -> ErasedTenant:
        """Erase everything of a tenant, with its catalog, its keys and its history, and check that nothing is left."""
        ...
    async def audit(
        self,
        *,
        user: str | None = ...,
        subject: str | None = ...,
        outcome: AuditOutcome | None = ...,
        since: datetime | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> Audited:
        """Who wrote what, when, and what was refused; newest first. The text of memories is not in it."""
        ...
    async def export(
        self,
        path: str,
        *,
        all_tenants: bool = ...,
    ) -> Exported:
        """Write everything of this tenant and the global memories to a JSONL file, with the history."""
        ...
    async def import_(
        self,
        path: str,
        *,
        keep_tenants: bool = ...,
        skip_conflicts: bool = ...,
    ) -> Imported:
        """Read an export. What is already here in the same form is left as it is, so an import can be repeated."""
        ...
    async def backup(
        self,
        path: str,
    ) -> BackedUp:
        """Write a consistent copy of the whole store while others go on writing."""
        ...
    async def doctor(
        self,
        *,
        fix: bool = ...,
    ) -> Examined:
        """Check that windows, versions, index and edges agree with the rows, and list what does not."""
        ...
    async def reindex(
        self,
    ) -> Reindexed:
        """Rebuild everything derived from the rows. The rows themselves are not touched."""
        ...
    async def embed_missing(
        self,
        *,
        all_tenants: bool = ...,
        anew: bool = ...,
        anyway: bool = ...,
    ) -> EmbeddedMissing:
        """Make missing vectors: of memories saved while no embedder was available, or with another model."""
        ...
    async def status(
        self,
        *,
        all_tenants: bool = ...,
    ) -> StoreStatus:
        """Show the state of the store: where it is, which vectors it has, when it was last watched, and failed jobs."""
        ...
    async def reassign(
        self,
        owner: str,
        to: str,
        *,
        dry_run: bool = ...,
    ) -> Reassigned:
        """Give all memories of one user to another: of someone whose email has changed, or who has left."""
        ...
    async def dismiss_failures(
        self,
        *,
        name: str | None = ...,
    ) -> Dismissed:
        """Forget the jobs of the tenant that were given up, so that its status no longer lists them."""
        ...
