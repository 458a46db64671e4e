"""WHICH embedder is meant? Its name, in the settings or stored with a vector, becomes an embedder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from onrecord.errors import Fault, Invalid, ProviderError, invalid
from onrecord.providers import local_model
from onrecord.providers.e5 import E5
from onrecord.providers.embedding import Embedder, EmbeddingModel
from onrecord.providers.guard import Guarded
from onrecord.providers.local_model import LocalModel
from onrecord.providers.remote import Kind, Options, Remote, Service

__all__ = ["CHOICES", "DEFAULT", "NONE", "Options", "can_open", "open_embedder", "read_options"]

DEFAULT: Final = "e5"
NONE: Final = "none"
CHOICES: Final = ("e5", "none", "openai:MODEL", "ollama:MODEL", "sentence-transformers:FOLDER")
_BUILT_IN: Final = (DEFAULT, "e5-small-int8")  # the second is what it calls itself
USUAL: Final = Options()
_KINDS: Final[tuple[Kind, ...]] = ("openai", "ollama")


def read_options(
    *,
    url: str | None = None,
    key: str | None = None,
    dimensions: str | None = None,
    timeout: str | None = None,
) -> Options:
    """The options, read from the texts of settings; Invalid lists everything that is wrong."""
    faults = []
    if url and not _is_address(url):
        faults.append(Fault("embedder_url", "must be an address such as http://127.0.0.1:11434/v1"))
    size = _number(dimensions)
    if dimensions and not (size and size >= 1 and size.is_integer()):
        faults.append(Fault("embedder_dimensions", "must be a whole number from 1"))
    seconds = _number(timeout)
    if timeout and not (seconds and 0 < seconds <= 3600):
        faults.append(Fault("embedder_timeout", "must be a number of seconds, above 0 and at most 3600"))
    if faults:
        raise Invalid(faults)
    return Options(
        url=url or "",
        key=key or None,
        dimensions=int(size) if size else None,
        timeout_s=seconds or USUAL.timeout_s,
    )


def open_embedder(name: str, options: Options = USUAL) -> Embedder | None:
    """A guarded embedder, or None for `none`. It loads and calls nothing before it is used.

    Accepts each of CHOICES, and the name of a model as it is stored with its vectors.
    """
    if name == NONE:
        return None
    if name in _BUILT_IN:
        return Guarded(E5())
    kind, _, model = name.partition(":")
    if f"{kind}:" == local_model.PREFIX and model:
        return Guarded(LocalModel(Path(model)))
    for known in _KINDS:
        if kind == known and model.strip():
            # It enforces its own time limit, and can cancel a request.
            return Guarded(Remote(Service(known, model, options)))
    raise invalid("embedder", f"{name!r} is not an embedder; there are {', '.join(CHOICES)}")


def can_open(name: str) -> bool:
    """Whether what a model of this name needs is installed here. Loads and calls nothing."""
    kind, _, model = name.partition(":")
    if f"{kind}:" == local_model.PREFIX:
        return bool(model) and Path(model).is_dir() and find_spec("sentence_transformers") is not None
    if kind in _KINDS:
        return bool(model.strip()) and find_spec("httpx2") is not None
    return name in _BUILT_IN


def guarded(embedder: Embedder) -> Embedder:
    """An embedder of the user's own, behind a guard that checks every answer."""
    return embedder if isinstance(embedder, Guarded) else Guarded(embedder, timeout_s=USUAL.timeout_s)


class OpenedEmbedders:
    """The embedder in use, and those of models that made earlier vectors; each is opened when it is first needed."""

    def __init__(self, current: Embedder | None, options: Options = USUAL) -> None:
        self.current = current
        self._options = options
        self._others: dict[EmbeddingModel, Embedder | None] = {}

    def open(self, model: EmbeddingModel) -> Embedder | None:
        """The embedder of a model that has stored vectors, if it is available here with the same weights."""
        if model not in self._others:
            self._others[model] = self._opened(model)
        return self._others[model]

    def _opened(self, model: EmbeddingModel) -> Embedder | None:
        if not can_open(model.name):
            return None
        try:
            found = open_embedder(model.name, self._options)
            return found if found is not None and found.model == model else None
        except (ProviderError, Invalid):
            return None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
