"""HOW is the built-in embedder on in thousands of tests? One is loaded for all of them, and it embeds each text once.

What it made is kept in a folder that all workers share, so that a text is embedded once in a run and not once a store.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import get_ident
from typing import TypeVar

from onrecord.providers.e5 import E5
from onrecord.providers.embedding import Calibration, EmbeddingModel, Passage

_Made = TypeVar("_Made")


class KeptVectors:
    """Answers as the built-in embedder did when it was first asked the same."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._embedder = E5()
        self._made: dict[Path, object] = {}

    @property
    def model(self) -> EmbeddingModel:
        return self._embedder.model

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def embed_query(self, text: str) -> Passage:
        return self._kept("query", text, self._embedder.embed_query)

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [self._kept("passage", text, self._passages) for text in texts]

    def _passages(self, text: str) -> tuple[Passage, ...]:
        return self._embedder.embed_documents([text])[0]

    def _kept(self, what: str, text: str, make: Callable[[str], _Made]) -> _Made:
        path = self._folder / hashlib.sha256(f"{what}:{text}".encode(errors="surrogatepass")).hexdigest()
        if path not in self._made:
            try:
                self._made[path] = pickle.loads(path.read_bytes())
            except FileNotFoundError:
                self._made[path] = made = make(text)
                _write(path, pickle.dumps(made))
        return self._made[path]  # type: ignore[return-value]


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: another worker, or another thread, may be about to read it."""
    path.parent.mkdir(exist_ok=True)
    own = path.with_suffix(f".{os.getpid()}.{get_ident()}")
    own.write_bytes(data)
    own.replace(path)
