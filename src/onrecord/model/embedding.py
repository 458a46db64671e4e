"""WHAT is a vector of, and who made it? The values that embedders give and stores keep."""

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from onrecord.model.memory import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray


class EmbeddingModel(NamedTuple):
    """Which model made a vector. Vectors of two models are never compared.

    `name` is for people. `file_hash` is the hash of the weights, or empty if we do not have the file.
    """

    name: str
    dimensions: int
    file_hash: str = ""


class Passage(NamedTuple):
    """A stretch of a text that fits into the model's window.

    `vector` has unit length. `tokens` holds a short vector for each token (int8, a row each) if the model gives them:
    they decide between hits that are nearly equal. In a question, `words` says which word each token is part of.
    """

    vector: "NDArray[Any]"
    tokens: "NDArray[Any] | None" = None
    words: tuple[str, ...] = ()


def embedded_text(memory: Memory) -> str:
    """The part of a memory that is embedded: title, hint and content, without tags and references."""
    own_title = memory.title if memory.has_own_title else None
    return "\n".join(text for text in (own_title, memory.hint, memory.content) if text)


def text_hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
