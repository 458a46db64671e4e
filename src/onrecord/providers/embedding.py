"""WHAT does an embedder do? The port. Questions and documents are embedded differently, so there is no plain `embed`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.text.transcripts import spoken_by_people

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "NO_EMBEDDERS",
    "Calibration",
    "Embedder",
    "Embedders",
    "EmbeddingModel",
    "Passage",
    "embed_texts",
    "likeness_of",
    "score_of",
    "unrelated_score",
]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model scores, measured once on data with known answers. An embedder may offer it as `calibration`.

    `unrelated` is the score of texts that have nothing to do with each other. `usual_question` is the mean vector of
    questions about anything: only the difference from it tells what a question asks. `weights` are the weights of
    each kind of evidence for an answer (`recall/relevance.py`), in log odds.
    """

    unrelated: float
    usual_question: "NDArray[Any]"
    weights: Mapping[str, float]


class Embedder(Protocol):
    """Makes vectors. Any failure is a ProviderError, and a save or a search goes on without vectors."""

    @property
    def model(self) -> EmbeddingModel: ...

    def embed_query(self, text: str) -> Passage:
        """The vector of a question; its tokens as float32 vectors of unit length."""

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        """The passages of each text, in order: one for a short text, several overlapping ones for a long text."""


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
    """The passages of each text. A transcript has one passage for each turn of a person, since those say what it is
    about.
    """
    pieces = [spoken_by_people(text) or (text,) for text in texts]
    found = iter(embedder.embed_documents([piece for each in pieces for piece in each]))
    return [tuple(passage for _ in each for passage in next(found)) for each in pieces]


def unrelated_score(embedder: Embedder | None) -> float:
    """The score of texts that have nothing to do with each other; 0 for a model that nobody has calibrated."""
    calibration: Calibration | None = getattr(embedder, "calibration", None)
    return 0.0 if calibration is None else calibration.unrelated


def likeness_of(score: float, embedder: Embedder) -> float:
    """How far a score lies above that of unrelated texts: 0 for those, 1 for the same text."""
    unrelated = unrelated_score(embedder)
    return (score - unrelated) / (1 - unrelated)


def score_of(likeness: float, embedder: Embedder) -> float:
    """The score that has this likeness."""
    unrelated = unrelated_score(embedder)
    return unrelated + likeness * (1 - unrelated)


class Embedders(Protocol):
    """The embedder in use, and those of models that made earlier vectors."""

    @property
    def current(self) -> Embedder | None:
        """The embedder in use, or None if vectors are switched off."""

    def open(self, model: EmbeddingModel) -> Embedder | None:
        """The embedder of a model that has stored vectors, if it is available here."""


class _NoEmbedders:
    current = None

    def open(self, model: EmbeddingModel) -> None:
        return None


#: For a store that is searched by words alone.
NO_EMBEDDERS: Final[Embedders] = _NoEmbedders()
