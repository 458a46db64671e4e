"""HOW does a text become a vector without a service? By e5-small in int8, which ships with the package.

One run of the network gives both the vector of a text and a short vector for each of its tokens. A question and a
document get different prefixes, as in the model's training; without them it finds a third less.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from onrecord.errors import ProviderError
from onrecord.providers.e5.files import ModelFiles
from onrecord.providers.e5.passages import Cut
from onrecord.providers.embedding import Calibration, EmbeddingModel, Passage

if TYPE_CHECKING:
    from onrecord.providers.e5.network import Network

__all__ = ["E5", "Cut"]

QUERY, PASSAGE = "query:", "passage:"
_HERE = Path(__file__).parent
_USUAL_CUT = Cut()


class E5:
    """The built-in embedder. It is loaded when first used, and threads may share it."""

    def __init__(self, folder: Path = _HERE, *, cut: Cut = _USUAL_CUT, threads: int = 1) -> None:
        self._folder, self._cut, self._threads = folder, cut, threads
        self._loading = Lock()
        self._files: ModelFiles | None = None
        self._network: Network | None = None

    @cached_property
    def calibration(self) -> Calibration:
        """How it was fitted is in docs/evals.md."""
        import numpy as np

        kept = json.loads((_HERE / "calibration.json").read_text("utf-8"))
        usual = np.array(kept["usual_question"], np.float32)
        return Calibration(kept["unrelated"], usual, kept["weights"])

    #: Which model it is; its files show that without being loaded.
    names_itself: Final = True

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel("e5-small-int8", 384, self._checked_files().hash)

    def embed_query(self, text: str) -> Passage:
        """The vector of a question; text beyond the model's window is ignored."""
        network = self._loaded()
        named = ((token, word) for word, tokens in network.named_words(text) for token in tokens)
        read = list(islice(named, network.room))
        vector, tokens = network.run(QUERY, [token for token, _ in read])
        return Passage(vector, tokens, tuple(word for _, word in read))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [self._passages(text) for text in texts]

    def _passages(self, text: str) -> tuple[Passage, ...]:
        from onrecord.providers.e5.network import in_int8

        network = self._loaded()
        passages = self._cut.passages(network.words(text), network.room)
        runs = (network.run(PASSAGE, tokens) for tokens in passages)
        return tuple(Passage(run.text, in_int8(run.tokens)) for run in runs)

    def _checked_files(self) -> ModelFiles:
        if self._files is None:
            self._files = ModelFiles(self._folder)
        return self._files

    def _loaded(self) -> Network:
        if self._network is None:
            with self._loading:
                if self._network is None:
                    self._network = self._load()
        return self._network

    def _load(self) -> Network:
        try:
            from onrecord.providers.e5.network import Network
        except ImportError as problem:
            raise ProviderError(
                f"The built-in embedder needs onnxruntime, which cannot be imported ({problem}). "
                "Install it with `pip install onnxruntime`, or choose another embedder."
            ) from problem
        return Network(self._checked_files(), (QUERY, PASSAGE), self._threads)
