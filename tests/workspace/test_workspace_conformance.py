"""DO all stores keep what lies beside memories alike? The whole suite in a file and on PostgreSQL, and what touches memories in YAML.

Beside text files a workspace lies in the same SQLite file as everywhere, whose suite is that of the file.
"""

import os
from collections.abc import Iterator

import pytest

from onrecord.store.sql import SqlStore
from onrecord.store.yaml import MEMORIES
from onrecord.store.yaml.backend import YamlBackend
from onrecord.testing.members import MembersConformance
from onrecord.testing.moving_workspace import MovedWorkspaceConformance
from onrecord.testing.waiting_turns import WaitingTurnConformance
from onrecord.testing.workspace import (
    DeletedConversationConformance,
    LinkConformance,
    WholeWorkspaceConformance,
    WorkspaceTransactionConformance,
)
from tests.stores import Emptied, InAFile, OnPostgres


class TestSqliteFile(InAFile, WholeWorkspaceConformance, WaitingTurnConformance):
    """In a file."""


class TestPostgres(OnPostgres, WholeWorkspaceConformance, WaitingTurnConformance):
    """On a server."""


class TestYaml(
    Emptied,
    DeletedConversationConformance,
    LinkConformance,
    WorkspaceTransactionConformance,
    MembersConformance,
    MovedWorkspaceConformance,
    WaitingTurnConformance,
):
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _no_waiting_for_the_disk(cls) -> Iterator[None]:
        """Nothing here asks what a loss of power leaves."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", lambda file: None)
            yield

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
        store = SqlStore(YamlBackend(tmp_path_factory.mktemp("workspace") / MEMORIES))
        yield store
        store.close()
