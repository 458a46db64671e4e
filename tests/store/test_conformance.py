"""DO both databases do what every store must? The whole suite on a SQLite file and on PostgreSQL."""

from collections import Counter

from onrecord.testing.archive import CareConformance
from onrecord.testing.change import TransactionConformance
from onrecord.testing.jobs import JobConformance
from onrecord.testing.statistics import QUESTIONS
from onrecord.testing.store import StoreConformance
from onrecord.testing.strangers import STRANGERS
from tests.soak import some
from tests.stores import InAFile, InMemory, OnPostgres


class TestSqliteMemory(InMemory, TransactionConformance, JobConformance, CareConformance):
    """In memory, where the statements are those of a file but readers and writers take turns with one connection."""


class TestSqliteFile(InAFile, StoreConformance):
    """In a file."""


class TestPostgres(OnPostgres, StoreConformance):
    """On a server, where the statements are those of the file in other words, so that fewer values go into some of them."""

    strangers = some(STRANGERS, 3)
    questions = some(QUESTIONS, 2)


def test_no_two_suites_share_the_name_of_a_test_or_a_fixture() -> None:
    """Else inheriting both would silently drop one."""
    names = Counter(
        name for suite in StoreConformance.__bases__ for name in vars(suite) if not name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
    assert sum(name.startswith("test_") for name in names) > 150
