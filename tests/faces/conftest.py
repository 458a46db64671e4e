"""The shop that the slayer face is tried on: two datasources as model files, a door to a store that has read them, and
a shell."""

import contextlib
import io
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from onrecord import Caller, OnRecord, connect
from onrecord.config import load
from onrecord.model.limits import PERMISSIONS
from onrecord.surfaces.cli import main
from tests.databases import db

__all__ = ["db"]

Model = dict[str, Any]


def model(datasource: str, name: str, columns: str, **more: Any) -> Model:
    """A model file: a table with these columns, and what else it has."""
    return {
        "version": 6,
        "name": name,
        "sql_table": f"public.{name}",
        "data_source": datasource,
        "columns": [{"name": column} for column in columns.split()],
        **more,
    }


def join(target: str, column: str) -> dict[str, Any]:
    return {"target_model": target, "join_pairs": [[column, "id"]]}


@pytest.fixture(params=["e5", "none"], ids=["by meaning too", "by words alone"])
def with_and_without_vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONRECORD_EMBEDDER", request.param)


def shop() -> list[Model]:
    orders = model(
        "mydb",
        "orders",
        "id amount status customer_id ordered_at",
        measures=[{"name": "aov", "formula": "amount:sum / *:count"}],
        aggregations=[{"name": "weighted_score", "formula": "sum({value} * 2)"}],
        joins=[join("customers", "customer_id")],
    )
    return [
        orders,
        model("mydb", "customers", "id name region_id orders", joins=[join("regions", "region_id")]),
        model("mydb", "regions", "id name"),
        model("mydb", "invoices", "id amount"),
        model("other", "users", "id name"),
        model("other", "mydb", "id"),
    ]


def write_models(root: Path, models: Sequence[Model], priority: Sequence[str] | None = None) -> Path:
    """The folder in which each model is a file."""
    for each in models:
        path = root / "models" / each["data_source"] / f"{each['name']}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(each, sort_keys=False), encoding="utf-8")
    if priority is not None:
        (root / "priority.yaml").write_text(yaml.safe_dump(list(priority)), encoding="utf-8")
    return root


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """The folder of the shop."""
    return write_models(tmp_path / "layer", shop(), priority=["mydb", "other"])


def read_in(door: OnRecord, models: Path) -> OnRecord:
    """Read the shop, and make the vectors that this leaves to a worker, where there are any."""
    door.ingest(str(models))
    if door.status().embedder is not None:
        door.embed_missing()
    return door


@pytest.fixture
def door(memory: OnRecord, models: Path) -> OnRecord:
    """A store that has read the shop, on each database."""
    return read_in(memory, models)


@pytest.fixture(scope="session")
def _read_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop")


@pytest.fixture
def shop_file(_read_before: Path, models: Path, clock: Callable[[], Any], tmp_path: Path) -> Path:
    """The file of a store that has read the shop: a copy of the first, for to read it takes longer than most tests."""
    kept = _read_before / f"{load().embedder}.db"
    if not kept.exists():
        with connect(kept, clock=clock) as door:
            read_in(door, models)
    return Path(shutil.copy(kept, tmp_path / "shop.db"))


@pytest.fixture
def quick(shop_file: Path, clock: Callable[[], Any]) -> Iterator[OnRecord]:
    """The same in a file alone, for what no database can make different."""
    with connect(shop_file, clock=clock) as door:
        yield door


class Ground:
    """One store in which every example has a tenant with a catalog of its own."""

    def __init__(self, door: OnRecord, folder: Path) -> None:
        self._door, self._folder, self._count = door, folder, 0
        self.first = self.empty()

    def __repr__(self) -> str:
        return "ground"

    def empty(self) -> OnRecord:
        self._count += 1
        who = Caller(tenant=f"tenant{self._count}", user="ann", permissions=frozenset(PERMISSIONS))
        door = self._door.as_caller(who)
        door.ingest(str(self._folder))
        return door


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder = write_models(tmp_path_factory.mktemp("layer"), shop(), priority=["mydb", "other"])
    with connect(":memory:", embedder="none") as door:
        yield Ground(door, folder)


class Said(NamedTuple):
    """What a command printed, and the code it left with."""

    code: int
    out: str
    err: str


Shell = Callable[..., Said]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shop_file: Path) -> Shell:
    """`onrecord slayer …` in an empty folder, on a store of its own that has read the shop."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONRECORD_DB", "shell.db")

    def call(*words: str) -> Said:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "stdin", io.StringIO(""))
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            main(["slayer", *words])
        return Said(int(left.value.code or 0), out.getvalue(), err.getvalue())

    shop_file.rename("shell.db")
    return call


def ids(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    return [hit["id"] for hit in hits]
