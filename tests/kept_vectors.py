"""HOW is the built-in embedder on in thousands of tests? One is loaded for all of them, and it embeds each text once.

What it made is kept in a folder that all workers share, so that a text is embedded once in a run and not once a store;
ONRECORD_TEST_VECTORS names one that outlives the run, as `make test` does beside what is compiled.
Texts of the answers that are kept as files have their vectors in a file too: from one processor to another the network
gives vectors that differ in their third digit, and with them scores and the order of close hits.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np

from onrecord.providers.e5 import E5
from onrecord.providers.embedding import Calibration, EmbeddingModel, Passage

_RECORDED = Path(__file__).parent / "golden" / "vectors.npz"


class KeptVectors:
    """Answers as the built-in embedder did when it was first asked the same."""

    def __init__(self, folder: Path) -> None:
        self._embedder = E5()
        # What another model made is of no use.
        self._folder = folder / self._embedder.model.file_hash[:16]
        self._recorded = _read_vectors(_RECORDED, self._embedder.model)
        self._made: dict[str, tuple[Passage, ...]] = {}

    @property
    def model(self) -> EmbeddingModel:
        return self._embedder.model

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def embed_query(self, text: str) -> Passage:
        return self._kept(_name_of("query", text), lambda: (self._embedder.embed_query(text),))[0]

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [
            self._kept(_name_of("passage", text), lambda text=text: self._embedder.embed_documents([text])[0])
            for text in texts
        ]

    def record(self) -> None:
        """Keep what this run made for the runs to come. What is recorded already stays as it is."""
        made = {**self._made, **self._recorded}
        columns = {
            f"{name}.{number}.{field}": np.array(value)
            for name, passages in sorted(made.items())
            for number, passage in enumerate(passages)
            for field, value in passage._asdict().items()
        }
        np.savez_compressed(_RECORDED, model=np.array(self.model.file_hash), **columns)

    def _kept(self, name: str, make: Callable[[], tuple[Passage, ...]]) -> tuple[Passage, ...]:
        if name in self._recorded:
            return self._recorded[name]
        if name not in self._made:
            path = self._folder / name
            try:
                self._made[name] = pickle.loads(path.read_bytes())
            except FileNotFoundError:
                self._made[name] = made = make()
                _write(path, pickle.dumps(made))
        return self._made[name]


def _name_of(what: str, text: str) -> str:
    return hashlib.sha256(f"{what}:{text}".encode(errors="surrogatepass")).hexdigest()[:32]


def _read_vectors(path: Path, model: EmbeddingModel) -> Mapping[str, tuple[Passage, ...]]:
    """What is recorded of this model; of another model's vectors nothing."""
    if not path.exists():
        return {}
    with np.load(path) as columns:
        if str(columns["model"]) != model.file_hash:
            return {}
        names = [key.removesuffix(".0.vector") for key in columns if key.endswith(".0.vector")]
        return {name: tuple(_passages(columns, name)) for name in names}


def _passages(columns: Any, name: str) -> Iterator[Passage]:
    number = 0
    while f"{name}.{number}.vector" in columns:
        vector, tokens, words = (columns[f"{name}.{number}.{field}"] for field in Passage._fields)
        yield Passage(vector, tokens, tuple(words.tolist()))
        number += 1


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: another worker, or another thread, may be about to read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_suffix(f".{os.getpid()}.{get_ident()}")
    own.write_bytes(data)
    own.replace(path)
