"""HOW do others' benchmarks reach us? An adapter in their protocol: our store behind its public door, like any program's.

Linked among their adapters by `peers.py`, so `.base` and `embedder` are theirs. Nothing of ours is imported before it is
used: their runner reads this file with an interpreter that does not have us.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any

from embedder import DIM, embed_many_np, embed_np

from .base import Adapter
from .servers import Http, die_with_parent

_TENANT = "peers"
#: Beside the file that this is a link to.
_SERVING = Path(__file__).resolve().with_name("serving.py")


class OnRecord(Adapter):
    """SQLite in one file, WAL, full sync; words and the vectors that everyone is given here."""

    name = "onrecord"
    venv = "onrecord"
    batch = 1_000
    note = (
        "SQLite file, synchronous=FULL; bulk is an import, checked and scrubbed as a save is, and its vectors"
    )

    def open(self, path: str, fresh: bool) -> None:
        from onrecord import Caller, connect
        from onrecord.model.limits import PERMISSIONS

        self.fresh_dir(path, fresh)
        self._folder = Path(path)
        self._numbers = count()
        caller = Caller(tenant=_TENANT, user="peers", permissions=frozenset(PERMISSIONS))
        self._door = connect(self._folder / "store.db", caller=caller, embedder=_Stub())

    def add(self, mid: str, text: str) -> None:
        self._door.remember(text, id=mid)

    def add_many(self, items: Sequence[tuple[str, str]]) -> None:
        file = self._folder / f"bulk-{next(self._numbers)}.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(line) + "\n" for line in _export(items))
        self._door.import_(str(file))
        self._door.embed_missing()
        file.unlink()

    def search(self, q: str, k: int = 10) -> list[str]:
        return [hit.memory.id for hit in self._door.recall(q, limit=k).hits]

    def ids(self) -> set[str]:
        found: set[str] = set()
        mark = None
        while True:
            page = self._door.browse(limit=1_000, after=mark)
            found |= {memory.id for memory in page.memories}
            mark = page.next
            if mark is None:
                return found

    def close(self) -> None:
        self._door.close()


def _export(items: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """The lines that `onrecord export` would write of these memories."""
    from onrecord.care.export import FORMAT
    from onrecord.model.memory import Version, derive_title
    from onrecord.model.wire import to_json, write_instant

    model = _model()
    moment = model.created_at
    yield {"onrecord": FORMAT, "exported_at": write_instant(moment), "memories": len(items)}
    yield {"tenant": _TENANT, "last_id": "0", "last_relation": 0}
    for id, text in items:
        memory = replace(model, id=id, content=text, title=derive_title(None, text))
        version = Version(
            number=1, change="remember", by=model.owner, origin="person", at=moment, until=None, memory=memory
        )
        yield {"tenant": _TENANT, "id": id, "versions": [to_json(version)]}


@cache
def _model() -> Any:
    """A memory as the door makes it, for others to be like."""
    from onrecord import Caller, connect

    with connect(":memory:", caller=Caller(tenant=_TENANT, user="peers"), embedder="none") as maker:
        return maker.remember("x").memory


class _Stub:
    """The embedder that every system is measured with here, behind our port."""

    @property
    def model(self) -> Any:
        from onrecord.model.embedding import EmbeddingModel

        return EmbeddingModel("stub", DIM)

    def embed_query(self, text: str) -> Any:
        from onrecord.model.embedding import Passage

        return Passage(embed_np(text))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        from onrecord.model.embedding import Passage

        return [(Passage(vector),) for vector in embed_many_np(texts)]


class OnRecordHttp(Http):  # type: ignore[misc]
    """One process that serves a SQLite file, with the vectors that everyone is given here; every recall is the default."""

    name = "onrecord-http"
    venv = "onrecord"
    port = 18_871
    health = "/health/ready"
    workers = 1
    bulk = False
    recipe = "auto"
    note = "onrecord serve, SQLite file, synchronous=FULL; words, vectors and everything else of a default recall"

    def open(self, path: str, fresh: bool) -> None:
        self.fresh_dir(path, fresh)
        environment = {
            "ONRECORD_DB": f"{path}/store.db",
            "ONRECORD_CONFIG": f"{path}/none.toml",
            "ONRECORD_TENANT": _TENANT,
            "ONRECORD_USER": "peers",
            "ONRECORD_PORT": str(self.port),
            "ONRECORD_ALLOWED_HOSTS": "x,127.0.0.1",
        }
        python = Path(os.environ["PEERS_VENVS"], "venv-onrecord", "bin", "python")
        adapters = Path(__file__).absolute().parents[1]
        with Path(path, "server.log").open("a") as log:
            self.server = subprocess.Popen(
                [python, _SERVING, "--serve-with", adapters, str(self.workers)],
                env=os.environ | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self._wait()

    def _wait(self) -> None:
        for _ in range(1_200):
            try:
                self.conn = HTTPConnection("127.0.0.1", self.port, timeout=60)
                self.conn.request("GET", self.health)
                if self.conn.getresponse().read() and self.server.poll() is None:
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("server did not start")

    def add_req(self, mid: str, text: str) -> tuple[str, str, Any]:
        return "POST", "/v1/memories", {"id": mid, "content": text}

    def search_req(self, q: str, k: int = 10) -> tuple[str, str, Any]:
        return "POST", "/v1/recall", {"question": q, "limit": k, "recipe": self.recipe}

    def hits(self, body: Any) -> list[str]:
        return [hit["memory"]["id"] for hit in body["hits"]]


class OnRecordHttpTwice(OnRecordHttp):
    """Two processes on one file."""

    name = "onrecord-http-2"
    port = 18_872
    workers = 2
    note = "the same with two server processes on one SQLite file"


class OnRecordHttpVectors(OnRecordHttp):
    """Vectors alone, which is all that a vector database does."""

    name = "onrecord-http-vectors"
    port = 18_873
    recipe = "semantic"
    note = "the same with the recipe that counts vectors alone"


class OnRecordHttpVectorsTwice(OnRecordHttpVectors):
    """Vectors alone, by two processes on one file."""

    name = "onrecord-http-vectors-2"
    port = 18_874
    workers = 2
    note = "vectors alone with two server processes on one SQLite file"


ADAPTERS = [
    OnRecord,
    OnRecordHttp,
    OnRecordHttpTwice,
    OnRecordHttpVectors,
    OnRecordHttpVectorsTwice,
]
