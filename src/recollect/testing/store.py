"""WHAT must every store do? Inherit this class, give a fixture `store` (an empty one), and its tests are yours."""

from recollect.testing.archive import ArchiveConformance, CareConformance
from recollect.testing.change import ChangeConformance, TransactionConformance, UnattendedConformance
from recollect.testing.dedupe import DedupeConformance
from recollect.testing.embedding import (
    CatchingUpConformance,
    NearConformance,
    VectorConformance,
)
from recollect.testing.forget import ForgetConformance
from recollect.testing.ids import GlobalIdConformance, IdConformance
from recollect.testing.jobs import JobConformance, WorkerConformance
from recollect.testing.ledger import (
    AuditConformance,
    KeyConformance,
    LimitConformance,
    RepeatedRequestConformance,
    ReviewConformance,
    TenantConformance,
)
from recollect.testing.life import (
    RememberConformance,
    RetireConformance,
    ReviseConformance,
    SupersedeConformance,
)
from recollect.testing.listing import BrowseConformance
from recollect.testing.relations import RelateConformance, WalkConformance
from recollect.testing.search import QuestionConformance, SearchConformance
from recollect.testing.sight import NameConformance, SightConformance
from recollect.testing.trial import TrialConformance
from recollect.testing.when import (
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
    ForgetConformance,
    DedupeConformance,
    RelateConformance,
    WalkConformance,
    TrueThenConformance,
    KnownThenConformance,
    HistoryConformance,
    ClockConformance,
    SightConformance,
    NameConformance,
    ChangeConformance,
    UnattendedConformance,
    TransactionConformance,
    SearchConformance,
    QuestionConformance,
    BrowseConformance,
    VectorConformance,
    NearConformance,
    CatchingUpConformance,
    JobConformance,
    WorkerConformance,
    ArchiveConformance,
    CareConformance,
    KeyConformance,
    AuditConformance,
    LimitConformance,
    ReviewConformance,
    TenantConformance,
    RepeatedRequestConformance,
    TrialConformance,
):
    """Everything: lives, times, sight, search, lists, vectors, jobs, archives, keys and audit."""
