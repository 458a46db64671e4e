"""WHAT must every store do? A test class that inherits this one and adds a fixture `store`, an empty store, tests all of it."""

from onrecord.testing.archive import ArchiveConformance, CareConformance
from onrecord.testing.attaching import AttachConformance
from onrecord.testing.change import (
    ChangeConformance,
    ReassignedConformance,
    TransactionConformance,
    UnattendedConformance,
)
from onrecord.testing.changesets import ChangesetConformance
from onrecord.testing.dedupe import DedupeConformance
from onrecord.testing.embedding import CatchingUpConformance, NearConformance, VectorConformance
from onrecord.testing.everyones import GlobalConformance
from onrecord.testing.feedback import FeedbackConformance, MeasuredSwitchConformance
from onrecord.testing.forget import ForgetConformance
from onrecord.testing.ids import GlobalIdConformance, IdConformance
from onrecord.testing.jobs import JobConformance, WorkerConformance
from onrecord.testing.ledger import (
    AuditConformance,
    KeyConformance,
    LimitConformance,
    RepeatedRequestConformance,
    ReviewConformance,
    TenantConformance,
)
from onrecord.testing.life import (
    RememberConformance,
    RetireConformance,
    ReviseConformance,
    SupersedeConformance,
)
from onrecord.testing.listing import BrowseConformance, TallyConformance
from onrecord.testing.moved_changesets import MovedChangesetConformance
from onrecord.testing.past import PastConformance
from onrecord.testing.people import PeopleConformance
from onrecord.testing.promoted import PromotedConformance
from onrecord.testing.proposals import ProposalConformance
from onrecord.testing.refused import RefusedSaveConformance
from onrecord.testing.relations import RelateConformance, WalkConformance
from onrecord.testing.said_already import RejectedConformance, SaidAlreadyConformance
from onrecord.testing.search import QuestionConformance, SearchConformance
from onrecord.testing.settling import SettlingConformance
from onrecord.testing.statistics import StatisticsConformance
from onrecord.testing.tiers import (
    ImportedTierConformance,
    TenantSettingConformance,
    TierConformance,
    WaitingConformance,
)
from onrecord.testing.trial import TrialConformance
from onrecord.testing.upkeep import PeriodicConformance, UpkeepConformance
from onrecord.testing.visibility import NameConformance, VisibilityConformance
from onrecord.testing.watching import WatchingConformance
from onrecord.testing.when import (
    ClockConformance,
    HistoryConformance,
    KnownThenConformance,
    TrueThenConformance,
)


class StoreConformance(
    IdConformance,
    GlobalIdConformance,
    RememberConformance,
    ReviseConformance,
    RetireConformance,
    SupersedeConformance,
    RefusedSaveConformance,
    ForgetConformance,
    DedupeConformance,
    RelateConformance,
    WalkConformance,
    TrueThenConformance,
    KnownThenConformance,
    HistoryConformance,
    ClockConformance,
    PastConformance,
    VisibilityConformance,
    NameConformance,
    GlobalConformance,
    ChangeConformance,
    ReassignedConformance,
    UnattendedConformance,
    TransactionConformance,
    SearchConformance,
    QuestionConformance,
    BrowseConformance,
    TallyConformance,
    AttachConformance,
    VectorConformance,
    NearConformance,
    CatchingUpConformance,
    StatisticsConformance,
    JobConformance,
    WorkerConformance,
    UpkeepConformance,
    PeriodicConformance,
    ArchiveConformance,
    CareConformance,
    KeyConformance,
    AuditConformance,
    LimitConformance,
    ReviewConformance,
    TenantConformance,
    RepeatedRequestConformance,
    TrialConformance,
    PeopleConformance,
    TierConformance,
    WaitingConformance,
    TenantSettingConformance,
    ImportedTierConformance,
    SaidAlreadyConformance,
    RejectedConformance,
    ProposalConformance,
    ChangesetConformance,
    SettlingConformance,
    PromotedConformance,
    MovedChangesetConformance,
    WatchingConformance,
    FeedbackConformance,
    MeasuredSwitchConformance,
):
    """All suites together."""
