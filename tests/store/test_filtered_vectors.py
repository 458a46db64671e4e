"""DOES a search among vectors find what the few may see? On PostgreSQL, exactly and through the index."""

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import PERMISSIONS
from onrecord.store.postgres import vectors
from tests.soak import tries

_MEMORIES = tries(1_100, soaking=2_000)
#: One in a hundred memories is ann's, one in a thousand is bob's.
_OWNERS = {"ann": (100, 7), "bob": (1_000, 3)}
_QUESTIONS = [f"question {number}" for number in range(tries(8, soaking=25))]


class AnyDirection:
    """Every text has a direction of its own, which says nothing of what it means: the hardest case for an index."""

    model = EmbeddingModel("any-direction", 32, "of-texts")

    def embed_query(self, text: str) -> Passage:
        made = np.random.Generator(np.random.PCG64(zlib.crc32(text.encode()))).random(32)
        return Passage((made / np.linalg.norm(made)).astype(np.float32))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [(self.embed_query(text),) for text in texts]


def _owner(number: int) -> str:
    return next((owner for owner, (every, rest) in _OWNERS.items() if number % every == rest), "carl")


def _filled(door: OnRecord, folder: Path) -> None:
    """Through an export, which is the quick way in: one memory of each owner, told again with other numbers."""
    for owner in (*_OWNERS, "carl"):
        caller = Caller(tenant=door.caller.tenant, user=owner)
        door.as_caller(caller).remember("a model of others", id=owner, scope="user")
    door.export(str(folder / "models.jsonl"))
    head, tenant, *lines = (folder / "models.jsonl").read_text().splitlines()
    models = {json.loads(line)["id"].partition("::")[2]: line for line in lines if '"versions"' in line}
    with (folder / "many.jsonl").open("w") as file:
        print(head, tenant, sep="\n", file=file)
        for number in range(_MEMORIES):
            told: dict[str, Any] = json.loads(models[_owner(number)])
            told["id"] = told["versions"][0]["memory"]["id"] = f"n{number}"
            told["versions"][0]["memory"] |= {"content": f"text {number}", "title": f"text {number}"}
            print(json.dumps(told), file=file)
    door.import_(str(folder / "many.jsonl"))
    door.embed_missing()


@pytest.fixture
def door(postgres_store: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[OnRecord]:
    """A store whose index is built at once, though a thousand are few."""
    monkeypatch.setattr(vectors, "MANY", 5)
    root = Caller(tenant="acme", user="root", permissions=frozenset(PERMISSIONS))
    with connect(postgres_store, caller=root, embedder=AnyDirection()) as door:
        _filled(door, tmp_path)
        yield door


def _found(door: OnRecord, owner: str) -> float:
    """Which share of the true ten nearest, or of all where there are fewer, a search finds, over all questions."""
    stub, found = AnyDirection(), 0
    mine = [number for number in range(_MEMORIES) if _owner(number) == owner]
    kept = np.array([stub.embed_query(f"text {number}").vector for number in mine])
    user = door.as_caller(Caller(tenant=door.caller.tenant, user=owner))
    for question in _QUESTIONS:
        order = np.argsort(-(kept @ stub.embed_query(question).vector))[:10]
        true = {f"n{mine[place]}" for place in order}
        hits = user.recall(question, recipe="semantic", limit=20).hits
        found += len(true & {hit.memory.id for hit in hits if hit.memory.id.startswith("n")})
    return found / (min(10, len(mine)) * len(_QUESTIONS))


@pytest.mark.slow
def test_those_who_see_one_in_a_hundred_or_a_thousand_find_their_true_nearest(
    door: OnRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    through_index = {owner: _found(door, owner) for owner in _OWNERS}
    monkeypatch.setattr(vectors, "MANY", 50_000)
    exact = {owner: _found(door, owner) for owner in _OWNERS}
    assert exact == dict.fromkeys(_OWNERS, 1.0)
    assert min(through_index.values()) >= 0.99
