"""HOW MUCH and WHICH? Every limit and closed list of the model, stated once."""

from typing import Final, Literal, get_args

Kind = Literal[
    "user",
    "feedback",
    "project",
    "reference",
    "learning",
    "context",
    "preference",
    "decision",
    "workflow",
    "summary",
    "skill",
    "fact",
]
Dimension = Literal["knowledge", "event", "entity", "relationship", "preference"]
RelationName = Literal["relates_to", "refines", "contradicts", "supersedes", "supports"]
Status = Literal["pending", "active", "stale", "superseded", "archived"]
Scope = Literal["global", "tenant", "persona", "user", "system", "session"]
Confidence = Literal["high", "medium", "low"]
Origin = Literal["person", "agent", "unattended", "tool", "import"]
Tier = Literal["approved", "person", "agent", "unattended", "tool", "import"]
Actor = Literal["person", "agent", "unattended"]
#: What a save does about memories that say nearly the same.
Alike = Literal["keep", "tell", "supersede"]
#: What to do with a reference that the catalog does not know.
Unknown = Literal["refuse", "keep"]
ProposedChange = Literal["save", "revise", "supersede", "retire", "forget"]
Permission = Literal["memory.read", "memory.manage", "memory.review", "memory.admin", "memory.global"]
Grant = Literal["read", "manage"]
Direction = Literal["out", "in", "both"]
Times = Literal["soft", "hard", "off"]
Role = Literal["user", "assistant", "system", "tool"]
AuditOutcome = Literal["done", "refused"]
ListOrder = Literal["updated", "created", "oldest"]
TallyBy = Literal[
    "status", "kind", "dimension", "category", "confidence", "source", "scope", "owner", "tag", "entity"
]
EditField = Literal[
    "description", "tags", "terms", "links", "properties", "queries", "documents", "incidents"
]
EditOp = Literal["set", "add", "remove"]
ProposalState = Literal["pending", "approved", "applied", "rejected", "rolled_back", "superseded"]
#: Which proposals a filter lets through: those in one state, or all.
ProposalFilter = Literal["any", "pending", "approved", "applied", "rejected", "rolled_back", "superseded"]
ChangesetState = Literal["applying", "applied", "taking_back", "failed", "rolling_back", "rolled_back"]
AfterRollBack = Literal["review", "archive"]
CheckKind = Literal["sql", "query", "entity", "file"]
#: What came of the checks of a memory; *unverifiable* if they could not be run, which says nothing about it.
CheckState = Literal["unchecked", "verified", "failed", "unverifiable"]
ContextPart = Literal["legend", "always", "briefing", "turns", "memories"]

#: How a key begins: a new one as the first, one that was made under the project's former name as the second.
KEY_PREFIXES: Final = ("onr_", "rk_")

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)
RELATIONS: Final[tuple[RelationName, ...]] = get_args(RelationName)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
CONFIDENCES: Final[tuple[Confidence, ...]] = get_args(Confidence)
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
#: How far the writer of a text is trusted, the highest first: the origins, and above them what a person has approved.
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
ACTORS: Final[tuple[Actor, ...]] = get_args(Actor)
ALIKE: Final[tuple[Alike, ...]] = get_args(Alike)
UNKNOWN: Final[tuple[Unknown, ...]] = get_args(Unknown)
PROPOSED_CHANGES: Final[tuple[ProposedChange, ...]] = get_args(ProposedChange)
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)
#: To change what every tenant sees. It is given at the machine: no admin of a tenant, no token and no route gives it.
CHANGE_GLOBAL: Final[Permission] = "memory.global"
#: What can be held in a tenant, and an admin holds there.
TENANT_PERMISSIONS: Final = tuple(each for each in PERMISSIONS if each != CHANGE_GLOBAL)
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)
TIMES: Final[tuple[Times, ...]] = get_args(Times)
ROLES: Final[tuple[Role, ...]] = get_args(Role)
AUDIT_OUTCOMES: Final[tuple[AuditOutcome, ...]] = get_args(AuditOutcome)
LIST_ORDERS: Final[tuple[ListOrder, ...]] = get_args(ListOrder)
TALLIES: Final[tuple[TallyBy, ...]] = get_args(TallyBy)
EDIT_FIELDS: Final[tuple[EditField, ...]] = get_args(EditField)
EDIT_OPS: Final[tuple[EditOp, ...]] = get_args(EditOp)
PROPOSAL_STATES: Final[tuple[ProposalState, ...]] = get_args(ProposalState)
PROPOSAL_FILTERS: Final[tuple[ProposalFilter, ...]] = get_args(ProposalFilter)
CHANGESET_STATES: Final[tuple[ChangesetState, ...]] = get_args(ChangesetState)
AFTER_ROLL_BACK: Final[tuple[AfterRollBack, ...]] = get_args(AfterRollBack)
CONTEXT_PARTS: Final[tuple[ContextPart, ...]] = get_args(ContextPart)
CHECK_KINDS: Final[tuple[CheckKind, ...]] = get_args(CheckKind)
CHECK_STATES: Final[tuple[CheckState, ...]] = get_args(CheckState)

# `valid_to` is null exactly for these.
LIVE: Final[frozenset[Status]] = frozenset({"pending", "active", "stale"})
# What an unattended run writes here waits for review; a user's or a session's own notes do not.
SHARED_SCOPES: Final[frozenset[Scope]] = frozenset({"global", "tenant", "persona", "system"})
# Another word for a tenant.
SCOPE_ALIASES: Final = {"profile": "tenant"}

DEFAULT_KIND: Final[Kind] = "fact"
DEFAULT_SCOPE: Final[Scope] = "tenant"
DEFAULT_CONFIDENCE: Final[Confidence] = "medium"
DIMENSION_OF: Final[dict[Kind, Dimension]] = {
    "user": "entity",
    "feedback": "preference",
    "project": "event",
    "reference": "knowledge",
    "learning": "knowledge",
    "context": "event",
    "preference": "preference",
    "decision": "event",
    "workflow": "knowledge",
    "summary": "knowledge",
    "skill": "knowledge",
    "fact": "knowledge",
}

TITLE_CHARACTERS: Final = 200
HINT_CHARACTERS: Final = 1_000
CONTENT_BYTES: Final = 64 * 1024
SOURCE_CHARACTERS: Final = 200
CATEGORY_CHARACTERS: Final = 64
REASON_CHARACTERS: Final = 1_000
TAGS: Final = 32
TAG_CHARACTERS: Final = 64
ENTITIES: Final = 256
ENTITY_CHARACTERS: Final = 512
#: How many memories are saved by one request.
SAVED_AT_ONCE: Final = 1_000
SUPERSEDED_AT_ONCE: Final = 100
#: To how many digits the likeness of two texts is rounded: more would be the noise of a model.
DIGITS_OF_LIKENESS: Final = 2
#: How many edits a memory proposes, what the value of one takes, and how many proposals are planned or applied at once.
EDITS: Final = 20
EDIT_BYTES: Final = 16 * 1024
APPLIED_AT_ONCE: Final = 50
#: How many checks a memory has, how long the SQL of one is, how many rows and columns one may look at, how much is kept of
#: what one saw, and how many runs are kept of a memory.
CHECKS: Final = 20
CHECK_SQL_BYTES: Final = 16 * 1024
CHECK_ROWS: Final = 100_000
CHECK_COLUMNS: Final = 200
CHECK_SEEN_CHARACTERS: Final = 500
CHECK_RUNS: Final = 20
JSON_BYTES: Final = 64 * 1024
JSON_DEPTH: Final = 32
#: How many faults of one value an error lists at most.
FAULTS_SHOWN: Final = 20
#: How many warnings about references an answer lists at most.
WARNINGS_SHOWN: Final = 100
ID_CHARACTERS: Final = 200
#: A chosen number becomes the last id only if it is at most this far ahead; otherwise one save could use up all numbers.
ID_LEAP: Final = 1_000_000
#: As far as every reader of JSON can count. No count comes here by itself.
ID_NUMBERS: Final = 2**53
NAME_CHARACTERS: Final = 200
QUESTION_CHARACTERS: Final = 10_000
RECALL_LIMIT: Final = 200
BROWSE_LIMIT: Final = 1_000
#: How many memories a page may leave out before it; beyond that, marks lead on.
BROWSE_SKIP: Final = 10_000
#: How many names of one field a filter takes.
FILTER_NAMES: Final = 32
NEIGHBOUR_DEPTH: Final = 4
#: How many steps of lineage a question goes from the things it names.
LINEAGE_STEPS: Final = 2
NEIGHBOUR_LIMIT: Final = 1_000
#: How many turns of a conversation are kept in memory unless it is set, at most, and of how many conversations.
TURNS: Final = 20
MOST_TURNS: Final = 1_000
SESSIONS: Final = 1_000
#: How many memories an agent gets without asking, and how many entries of a conversation a delegate is briefed with.
ALWAYS_INJECTED: Final = 25
BRIEFED: Final = 15
#: How much is read of another tool's answer.
DOCUMENT_CHARACTERS: Final = 500_000
#: How many memories are attached to another tool's answer at most; and how many digests of attached memories are held,
#: in all and for one member of a conversation.
ATTACHED: Final = 50
ATTACHED_DIGESTS: Final = 100_000
ATTACHED_DIGESTS_OF_ONE: Final = 1_000
#: How many verdicts on hits are kept of one user of a tenant; beyond that the oldest go.
FEEDBACK_OF_ONE: Final = 10_000
#: By how many questions with a useful hit a tenant's own store is measured at least.
OWN_QUESTIONS: Final = 20
#: How many saves an unattended run may make.
SAVES_PER_RUN: Final = 3
#: What one file, the files of a conversation and those of a tenant may take.
ARTIFACT_BYTES: Final = 1024 * 1024
CONVERSATION_BYTES: Final = 50 * 1024 * 1024
TENANT_BYTES: Final = 500 * 1024 * 1024
PATH_CHARACTERS: Final = 256
#: The length of one part of a path.
PATH_PART_CHARACTERS: Final = 128
MEDIA_TYPE_CHARACTERS: Final = 127
#: What the working notes of one agent, or those that all share, may take, marks included.
SCRATCHPAD_BYTES: Final = 4 * 1024 * 1024
AGENT_CHARACTERS: Final = 64

# The reserved tenant of global memories; elsewhere its memory 5 appears as `global:5`.
GLOBAL_TENANT: Final = "global"
#: In exports and histories the entities of a tenant appear under its name with this prefix, so no tenant's name starts with it.
ENTITIES_OF: Final = "catalog:"
