"""WHAT does an embedder do? The port: a question and a document are different things, so there is no bare `embed`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.text.transcripts import spoken_by_people

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NO_EMBEDDERS", "Calibration", "Embedder", "Embedders", "EmbeddingModel", "Passage", "embed_texts"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model scores, measured once on data whose answers are known: an embedder may have it as `calibration`.

    `unrelated` is what texts score that have nothing to do with each other. `usual_question` is the mean vector of
    questions about anything: only what sets a question apart from it tells what is asked. `weights` says what each kind
    of evidence for an answer weighs (`recall/relevance.py`), in log odds.
    """

    unrelated: float
    usual_question: "NDArray[Any]"
    weights: Mapping[str, float]


class Embedder(Protocol):
    """Makes vectors. Any failure is a ProviderError: a save and a search go on without."""

    @property
    def model(self) -> EmbeddingModel: ...

    def embed_query(self, text: str) -> Passage:
        """The vector of a question; its tokens as float32, of unit length each."""

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        """The passages of each text, in its order: one for a short text, overlapping ones for a long one."""


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
    """The passages of each text. Of a conversation, each turn of a person is one: what it is about stands there."""
    pieces = [spoken_by_people(text) or (text,) for text in texts]
    found = iter(embedder.embed_documents([piece for each in pieces for piece in each]))
    return [tuple(passage for _ in each for passage in next(found)) for each in pieces]


class Embedders(Protocol):
    """The embedder in use, and those that made vectors before it."""

    @property
    def current(self) -> Embedder | None:
        """None where vectors are not wanted."""

    def open(self, model: EmbeddingModel) -> Embedder | None:
        """The embedder of a model that vectors are kept of, if it can be had."""


class _NoEmbedders:
    current = None

    def open(self, model: EmbeddingModel) -> None:
        return None


#: For a store that is searched by words alone.
NO_EMBEDDERS: Final[Embedders] = _NoEmbedders()
