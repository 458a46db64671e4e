"""HOW is the network run? Tokens in; the vector of the text and short vectors of its tokens out.

This module loads onnxruntime and NumPy, and is itself loaded when a text is first embedded.
"""

from __future__ import annotations

import os
from io import BytesIO
from typing import NamedTuple

import numpy as np

# Turns off telemetry, which onnxruntime would send when it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from numpy.typing import NDArray

from onrecord.errors import ProviderError
from onrecord.providers.e5.files import BASIS, MODEL, VOCABULARY, ModelFiles
from onrecord.providers.e5.wordpiece import Word, WordPiece

_WINDOW = 512  # the positions that the model knows
_INT8 = 127
_TINY = np.finfo(np.float32).tiny


class EmbeddedText(NamedTuple):
    """The vector of a text, and one for each of its tokens (without prefix and markers); all of unit length."""

    text: NDArray[np.float32]
    tokens: NDArray[np.float32]


class Network:
    """One session of the network, which threads may share: a run changes nothing in it."""

    def __init__(self, files: ModelFiles, prefixes: tuple[str, ...], threads: int) -> None:
        self._session = _session(files.read(MODEL), threads)
        basis = np.load(BytesIO(files.read(BASIS)), allow_pickle=False)
        self._directions = np.ascontiguousarray(basis[1:].T)
        self._centre = basis[0] @ self._directions
        self._wordpiece = WordPiece(files.read(VOCABULARY).decode().splitlines())
        self._openings = {prefix: self._opening(prefix) for prefix in prefixes}
        self.room = _WINDOW - 1 - max(map(len, self._openings.values()))

    def words(self, text: str) -> list[Word]:
        return self._wordpiece.words(text)

    def named_words(self, text: str) -> list[tuple[str, Word]]:
        return self._wordpiece.named_words(text)

    def run(self, prefix: str, tokens: list[int]) -> EmbeddedText:
        """Embed one text alone: in a batch its vector would depend on its neighbours."""
        opening = self._openings[prefix]
        ids = np.array([[*opening, *tokens, self._wordpiece.end]], np.int32)
        try:
            text, states = self._session.run(None, {"ids": ids})
        except Exception as problem:  # onnxruntime has no base class for what it raises
            raise ProviderError(f"The built-in embedder failed on a text: {problem}") from problem
        return EmbeddedText(text[0], self._projected(states[0, len(opening) : -1]))

    def _opening(self, prefix: str) -> tuple[int, ...]:
        return (self._wordpiece.start, *(token for word in self.words(prefix) for token in word))

    def _projected(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """Project onto the directions in which tokens differ most, since the others do not distinguish tokens."""
        short: NDArray[np.float32] = states @ self._directions - self._centre
        short /= np.maximum(np.linalg.norm(short, axis=1, keepdims=True), _TINY)
        return short


def in_int8(tokens: NDArray[np.float32]) -> NDArray[np.int8]:
    """The vectors as int8, a quarter of the size. Every row has a length of about 127, so that none needs a scale of
    its own.
    """
    return np.rint(tokens * _INT8).astype(np.int8)


def _session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # as above
        raise ProviderError(f"The built-in embedder cannot be loaded: {problem}") from problem
