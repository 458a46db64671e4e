"""WHO makes vectors in a test? An embedder that only looks at words: exact, fast, and failing when the test says so."""

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
#: A longer text gets several passages, which overlap.
PASSAGE_WORDS: Final = 64
_STEP: Final = 48
_TOKEN_WIDTH: Final = 64


class StubEmbedder:
    """Gives each word its own direction, so that texts are similar if they share words.

    `texts` lists the embedded texts in order. While `down` is set, every call fails with that message. A text that
    contains the word `refused` fails too.
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
        # Each number is plus or minus one constant, and float32 rounds away what the order of adding may change.
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def _directions(self, words: list[str]) -> "NDArray[Any]":
        import numpy as np

        return np.stack([_direction(word, _TOKEN_WIDTH) for word in words]).astype(np.float32)


class StubEmbedders:
    """The embedder in use, and others that made vectors before."""

    def __init__(self, current: Embedder | None, *others: Embedder) -> None:
        self.current = current
        self._known = {each.model: each for each in (*others, *((current,) if current else ()))}

    def open(self, model: EmbeddingModel) -> Embedder | None:
        return self._known.get(model)


def _words(text: str) -> list[str]:
    """The words of a text; for a text without any, one that occurs nowhere else, since no vector may be zero."""
    return _WORD.findall(text.lower()) or ["\0"]


def _stretches(words: list[str]) -> list[list[str]]:
    starts = range(0, max(len(words) - PASSAGE_WORDS, 0) + _STEP, _STEP)
    return [words[start : start + PASSAGE_WORDS] for start in starts]


def _direction(word: str, dimensions: int) -> "NDArray[Any]":
    """A vector of unit length whose signs come from the hash of the word."""
    import numpy as np

    digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest((dimensions + 7) // 8)
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))[:dimensions]
    corner: NDArray[Any] = (bits.astype(np.float64) * 2 - 1) / np.sqrt(dimensions)
    return corner
