"""ON which databases are tests run? What asks the store on each of them, what asks the services on one.

The services ask every store by the same methods, and what these do on each database is proved in tests/store: the whole
suite runs on all of them, and the same corpus is asked of both. So a folder of tests of a service takes its fixture `db`
from here. A test that wants both all the same says so: `@pytest.mark.parametrize("db", BACKENDS, indirect=True)`.
"""

from pathlib import Path

import pytest

#: What a store in memory does, one in a file does too; what is its own is asked of it by name.
BACKENDS = ("sqlite-file", "postgres")


def address_of(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store in the database that is asked for."""
    if request.param == "sqlite-file":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_store"))


@pytest.fixture(params=BACKENDS[:1])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, in a SQLite file."""
    return address_of(request, tmp_path)
