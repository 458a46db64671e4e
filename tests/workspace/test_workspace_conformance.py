"""DO all stores keep what lies beside memories alike? The whole suite in a file, on PostgreSQL and in YAML."""

import os
from collections.abc import Iterator

import pytest

from onrecord.store.sql import SqlStore
from onrecord.store.yaml import MEMORIES
from onrecord.store.yaml.backend import YamlBackend
from onrecord.testing.workspace import WholeWorkspaceConformance
from tests.stores import Emptied, InAFile, OnPostgres


class TestSqliteFile(InAFile, WholeWorkspaceConformance):
    """In a file."""


class TestPostgres(OnPostgres, WholeWorkspaceConformance):
    """On a server."""


class TestYaml(Emptied, WholeWorkspaceConformance):
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
