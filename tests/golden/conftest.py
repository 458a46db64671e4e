"""The clock of every store that is opened, a transcript of what was said, and the company's store."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from onrecord import OnRecord, connect
from onrecord.app import open_server_parts
from onrecord.surfaces.mcp.faces import chosen
from onrecord.surfaces.mcp.server import ToolRequest, build_server
from onrecord.surfaces.rest.request_runner import RequestRunner
from tests import kept
from tests.conftest import Clock
from tests.surfaces.conftest import Shell, served, shell
from tests.surfaces.test_mcp import Agent, introduce

from .company import NOW, PEOPLE, fill

__all__ = ["Shell", "introduce", "served", "shell"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time for whoever opens a store without saying which: a command, a server, a client on a file."""
    clock = Clock(NOW)
    for opening in (connect, open_server_parts, RequestRunner.__init__):
        monkeypatch.setitem(opening.__kwdefaults__, "clock", clock)
    # A command wraps its help, and shows a table, as wide as it is told to.
    monkeypatch.setenv("COLUMNS", "100")
    return clock


class Transcript:
    """What was said, in order; and what of it is only so in this run."""

    def __init__(self, **own: str) -> None:
        self.own = own
        self._said: list[str] = []

    def note(self, heading: str, *said: Any) -> None:
        """What was asked, and whatever came: a text as it is, anything else as JSON."""
        self._said.append("\n".join((heading, *map(_shown, said), "")))

    def call(self, heading: str, act: Callable[[], Any]) -> None:
        """The same for something to be done, which may be refused."""
        try:
            self.note(heading, act())
        except Exception as problem:
            self.note(heading, f"{type(problem).__name__}: {problem}")

    def check(self, name: str) -> None:
        kept.check(kept.ANSWERS / name, kept.steady("\n".join(self._said), self.own), alike=kept.nearly)


def _shown(said: Any) -> str:
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, indent=1)
    return text.removesuffix("\n")


@pytest.fixture(scope="session")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the company's store. Only what reads may be done with it; `doors` opens a copy."""
    path = tmp_path_factory.mktemp("company") / "company.db"
    clock = Clock()
    with connect(path, caller=PEOPLE["cleo"], clock=clock, embedder="e5") as door:
        fill(door, clock)
        # As a worker does beside a server, for what was left to it.
        door.embed_missing()
    return path


@pytest.fixture
def doors(company: Path, tmp_path: Path, clock: Clock) -> Iterator[Callable[[str], OnRecord]]:
    """The door of each of the company's people."""
    own = shutil.copy(company, tmp_path / "own.db")
    with connect(own, caller=PEOPLE["cleo"]) as door:
        yield lambda name: door.as_caller(PEOPLE[name])


@pytest.fixture
def agents(introduce: Callable[[Client], Agent]) -> Callable[[OnRecord, str], Agent]:
    """An agent before a door, with the tools of a face."""

    def meet(door: OnRecord, face: str) -> Agent:
        tool_request = ToolRequest(door, chosen([face]))
        return introduce(Client(build_server(lambda context: tool_request)))

    return meet


@pytest.fixture
def until() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack
