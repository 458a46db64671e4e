"""WHO makes vectors in a test? An embedder of words alone: exact, quick, and as unreliable as it is told to be."""

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from onrecord.errors import ProviderError
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.providers.embedding import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD: Final = re.compile(r"\w+")
#: A longer text has several passages, which overlap.
PASSAGE_WORDS: Final = 64
_STEP: Final = 48
_TOKEN_WIDTH: Final = 64


class StubEmbedder:
    """Every word has a direction of its own; texts are near each other as far as they share words.

    `texts` holds what was embedded, in order. While `down` says why, nothing is; `refused` is a word that no text may
    hold.
    """

    def __init__(self, name: str = "stub", dimensions: int = 32, *, has_tokens: bool = True) -> None:
        self.model = EmbeddingModel(name, dimensions, "of-words")
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.down: str | None = None
        self.refused: str | None = None
        self._has_tokens = has_tokens

    def embed_query(self, text: str) -> Passage:
        self._check([text])
        self.questions.append(text)
        words = _words(text)
        return Passage(self._sum(words), self._directions(words) if self._has_tokens else None)

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        self._check(texts)
        self.texts += texts
        return [tuple(map(self._passage, _stretches(_words(text)))) for text in texts]

    def _check(self, texts: Sequence[str]) -> None:
        if self.down is not None:
            raise ProviderError(self.down)
        if self.refused is not None and any(self.refused in _words(text) for text in texts):
            raise ProviderError(f"The stub cannot embed {self.refused}.")

    def _passage(self, words: list[str]) -> Passage:
        import numpy as np

        if not self._has_tokens:
            return Passage(self._sum(words))
        return Passage(self._sum(words), np.rint(self._directions(words) * 127).astype(np.int8))

    def _sum(self, words: list[str]) -> "NDArray[Any]":
        import numpy as np

        total = sum(_direction(word, self.model.dimensions) for word in words)
        # All floats here are halves and quarters of one another, so that their order of summing says nothing.
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def _directions(self, words: list[str]) -> "NDArray[Any]":
        import numpy as np

        return np.stack([_direction(word, _TOKEN_WIDTH) for word in words]).astype(np.float32)


class StubEmbedders:
    """The embedder in use, and others whose vectors may still be there."""

    def __init__(self, current: Embedder | None, *others: Embedder) -> None:
        self.current = current
        self._known = {each.model: each for each in (*others, *((current,) if current else ()))}

    def open(self, model: EmbeddingModel) -> Embedder | None:
        return self._known.get(model)


def _words(text: str) -> list[str]:
    """A text without words has one that stands nowhere else: a vector must point somewhere."""
    return _WORD.findall(text.lower()) or ["\0"]


def _stretches(words: list[str]) -> list[list[str]]:
    starts = range(0, max(len(words) - PASSAGE_WORDS, 0) + _STEP, _STEP)
    return [words[start : start + PASSAGE_WORDS] for start in starts]


def _direction(word: str, dimensions: int) -> "NDArray[Any]":
    """A corner of the cube, of unit length, chosen by the hash of the word; the first corner is as likely as any."""
    import numpy as np

    digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest((dimensions + 7) // 8)
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))[:dimensions]
    corner: NDArray[Any] = (bits.astype(np.float64) * 2 - 1) / np.sqrt(dimensions)
    return corner
