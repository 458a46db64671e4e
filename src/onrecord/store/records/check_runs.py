"""WHICH runs of checks are kept? The last few of each memory, beside it: a run makes no version of it."""

from typing import Any

from sqlalchemy import Connection, delete, select

from onrecord.model.checks import CheckRun
from onrecord.model.limits import CHECK_RUNS
from onrecord.model.wire import from_json, to_json
from onrecord.store.backend import Backend
from onrecord.store.tables import check_runs


def runs_of(connection: Connection, tenant: int | None, memory: str) -> tuple[CheckRun, ...]:
    """The runs of a memory, the newest first."""
    its = (check_runs.c.tenant == tenant, check_runs.c.memory == memory)
    runs = connection.execute(select(check_runs.c.runs).where(*its)).scalar_one_or_none()
    return tuple(from_json(CheckRun, each) for each in runs or ())


def keep_run(connection: Connection, backend: Backend, tenant: int, memory: str, run: CheckRun) -> None:
    runs = (run, *runs_of(connection, tenant, memory))[:CHECK_RUNS]
    values: dict[str, Any] = {"at": run.at, "runs": [to_json(each) for each in runs]}
    row = backend.insert(check_runs).values(tenant=tenant, memory=memory, **values)
    connection.execute(row.on_conflict_do_update(index_elements=("tenant", "memory"), set_=values))


def drop_runs(connection: Connection, tenant: int, memory: str) -> None:
    its = (check_runs.c.tenant == tenant, check_runs.c.memory == memory)
    connection.execute(delete(check_runs).where(*its))
