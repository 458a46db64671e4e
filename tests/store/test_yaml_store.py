"""DOES a store in YAML write down what every store must, and do its files alone say all that it holds?

What is only read is asked of the index beside the files. That is a SQLite file, of which test_conformance.py asks it.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.store.sql import SqlStore
from onrecord.store.yaml import MEMORIES
from onrecord.store.yaml.backend import YamlBackend
from onrecord.testing.attaching import AttachConformance
from onrecord.testing.builders import everything
from onrecord.testing.embedding import CatchingUpConformance, NearConformance
from onrecord.testing.feedback import FeedbackConformance, MeasuredSwitchConformance
from onrecord.testing.jobs import JobConformance, WorkerConformance
from onrecord.testing.ledger import (
    AuditConformance,
    KeyConformance,
    LimitConformance,
    RepeatedRequestConformance,
)
from onrecord.testing.listing import BrowseConformance, TallyConformance
from onrecord.testing.past import PastConformance
from onrecord.testing.people import PeopleConformance
from onrecord.testing.relations import WalkConformance
from onrecord.testing.said_already import RejectedConformance, SaidAlreadyConformance
from onrecord.testing.search import QuestionConformance, SearchConformance
from onrecord.testing.statistics import StatisticsConformance
from onrecord.testing.store import StoreConformance
from onrecord.testing.upkeep import PeriodicConformance, UpkeepConformance
from onrecord.testing.visibility import NameConformance, VisibilityConformance
from onrecord.testing.when import HistoryConformance, KnownThenConformance, TrueThenConformance
from tests.stores import empty

#: What the index answers, and what is kept there alone.
OF_THE_INDEX = {
    SearchConformance, QuestionConformance, NearConformance, CatchingUpConformance, BrowseConformance, TallyConformance, WalkConformance,
    VisibilityConformance, NameConformance, PastConformance, StatisticsConformance,
    KeyConformance, AuditConformance, LimitConformance, RepeatedRequestConformance, WorkerConformance,
    UpkeepConformance, PeriodicConformance, TrueThenConformance, KnownThenConformance, HistoryConformance, AttachConformance,
    SaidAlreadyConformance, RejectedConformance, JobConformance, PeopleConformance, FeedbackConformance, MeasuredSwitchConformance,
}  # fmt: skip
WRITTEN_DOWN = [suite for suite in StoreConformance.__bases__ if suite not in OF_THE_INDEX]


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Nothing here asks what a loss of power leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    """A store that is given the files of another, and nothing else."""
    store = SqlStore(YamlBackend(tmp_path_factory.mktemp("elsewhere") / MEMORIES))
    yield store
    store.close()


class TestYaml(*WRITTEN_DOWN):  # type: ignore[misc]
    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
        store = SqlStore(YamlBackend(tmp_path_factory.mktemp("conformance") / MEMORIES))
        yield store
        store.close()

    @pytest.fixture
    def store(self, shared: SqlStore, elsewhere: SqlStore) -> Iterator[SqlStore]:
        """One store for all tests, emptied after each. Whatever a test did to it, its files say all of it."""
        yield shared
        for path in Path(shared.location).parent.glob("memories.*"):
            shutil.copy(path, Path(elsewhere.location).parent)
        here, there = everything(shared), everything(elsewhere)
        assert {tenant: held for tenant, held in there.items() if tenant in here} == here
        empty(shared)
        # The next test's tenants have the same keys, and their vectors the same stamps.
        shared._backend._index.of_today()._vectors.clear()
