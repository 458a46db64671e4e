"""HOW do others' benchmarks reach us? An adapter in their protocol: our store behind its public door, like any program's.

Linked among their adapters by `peers.py`, so `.base` and `embedder` are theirs. Nothing of ours is imported before it is
used: their runner reads this file with an interpreter that does not have us.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from embedder import DIM, embed_many_np, embed_np

from .base import Adapter

_TENANT = "peers"


class Recollect(Adapter):
    """SQLite in one file, WAL, full sync; words and the vectors that everyone is given here."""

    name = "recollect"
    venv = "recollect"
    batch = 1_000
    note = (
        "SQLite file, synchronous=FULL; bulk is an import, checked and scrubbed as a save is, and its vectors"
    )

    def open(self, path: str, fresh: bool) -> None:
        from recollect import Caller, connect
        from recollect.model.limits import RULES

        self.fresh_dir(path, fresh)
        self._folder = Path(path)
        self._numbers = count()
        caller = Caller(tenant=_TENANT, user="peers", rules=frozenset(RULES))
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
    """The lines that `recollect export` would write of these memories."""
    from recollect.care.export import FORMAT
    from recollect.model.memory import Version, derive_title
    from recollect.model.wire import to_json, write_instant

    model = _model()
    moment = model.created_at
    yield {"recollect": FORMAT, "exported_at": write_instant(moment), "memories": len(items)}
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
    from recollect import Caller, connect

    with connect(":memory:", caller=Caller(tenant=_TENANT, user="peers"), embedder="none") as maker:
        return maker.remember("x").memory


class _Stub:
    """The embedder that every system is measured with here, behind our port."""

    @property
    def model(self) -> Any:
        from recollect.model.embedding import Model

        return Model("stub", DIM)

    def embed_query(self, text: str) -> Any:
        from recollect.model.embedding import Passage

        return Passage(embed_np(text))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        from recollect.model.embedding import Passage

        return [(Passage(vector),) for vector in embed_many_np(texts)]


ADAPTERS = [Recollect]
