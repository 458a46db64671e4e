"""HOW does a text become a vector by a model in a folder? With sentence-transformers, and nothing is downloaded.

The library and the model are loaded when a text is first embedded, which takes seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from onrecord.errors import ProviderError
from onrecord.providers.embedding import EmbeddingModel, Passage
from onrecord.providers.pieces import PIECE_SIZES

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREFIX: Final = "sentence-transformers:"
_REMEDY: Final = "Set `embedder` to the folder of a saved model, or choose another embedder."


class _Loaded(NamedTuple):
    network: Any
    dimensions: int
    hash: str


class LocalModel:
    """An embedder over a model in a folder; threads may share it. Its vectors are not checked: put a guard around it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().absolute()
        self._loading = Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> EmbeddingModel:
        loaded = self._load()
        return EmbeddingModel(f"{PREFIX}{self._folder}", loaded.dimensions, loaded.hash)

    def embed_query(self, text: str) -> Passage:
        """The vector of a question; text beyond the model's window is ignored."""
        (vector,) = _encoded(self._load().network.encode_query, [text])
        return Passage(vector)

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        network = self._load().network
        cut = [_fitting(text, network) for text in texts]
        vectors = iter(_encoded(network.encode_document, [piece for pieces in cut for piece in pieces]))
        return [tuple(Passage(next(vectors)) for _ in pieces) for pieces in cut]

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._read()
            return self._loaded

    def _read(self) -> _Loaded:
        if not self._folder.is_dir():
            raise ProviderError(f"There is no model in {self._folder}: it is not a folder. {_REMEDY}")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except ImportError as problem:
            raise ProviderError(
                f"A model in a folder needs one more package ({problem.name} is missing): "
                "pip install 'onrecord[sentence-transformers]'."
            ) from problem
        disable_progress_bar()
        try:
            network = SentenceTransformer(str(self._folder), local_files_only=True)
            (vector,) = _encoded(network.encode_query, ["dimensions"])
            return _Loaded(network, len(vector), _hash(self._folder))
        except Exception as problem:  # each kind of model fails in its own way
            raise ProviderError(
                f"The model in {self._folder} cannot be loaded ({problem}). {_REMEDY}"
            ) from problem


def _fitting(text: str, network: Any) -> list[str]:
    """The pieces of the text, in the coarsest grain in which each fits into the model's window."""
    *coarser, finest = PIECE_SIZES
    for grain in coarser:
        if _sees_all(network, pieces := grain.pieces(text)):
            return pieces
    return finest.pieces(text)


def _sees_all(network: Any, pieces: list[str]) -> bool:
    window = network.max_seq_length
    if window is None or not callable(network.tokenizer):  # a model without attention has no window
        return True
    prompt = network.prompts.get("document", "")
    tokens = network.tokenizer([prompt + piece for piece in pieces], verbose=False)["input_ids"]
    return bool(max(map(len, tokens)) <= window)


def _encoded(encode: Any, texts: list[str]) -> NDArray[Any]:
    vectors: NDArray[Any] = encode(texts, show_progress_bar=False, convert_to_numpy=True)
    return vectors


def _hash(folder: Path) -> str:
    """A hash of every file that a vector may depend on; files that only people read are left out."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and path.suffix != ".md" and not any(part.startswith(".") for part in name.parts):
            with path.open("rb") as file:
                whole.update(
                    f"{name.as_posix()}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
                )
    return whole.hexdigest()
