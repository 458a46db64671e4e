"""ARE the files of the model those that were built? Their hashes are in `manifest.json`, written by the build."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from onrecord.errors import ProviderError

MODEL, BASIS, VOCABULARY = "model.onnx", "basis.npy", "vocab.txt"
MANIFEST = "manifest.json"
_REMEDY = "Install onrecord again to get it back, or choose another embedder."


class ModelFiles:
    """The files of the model in one folder; each is checked against its hash before it is used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            hashes = json.loads(self._content(MANIFEST))
            self._hashes = {name: str(hashes[name]) for name in (MODEL, BASIS, VOCABULARY)}
        except (ValueError, KeyError, TypeError) as problem:
            raise self._damaged(MANIFEST) from problem

    @property
    def hash(self) -> str:
        """One hash over all files, since a vector depends on each of them."""
        return hashlib.sha256("".join(self._hashes.values()).encode()).hexdigest()

    def read(self, name: str) -> bytes:
        content = self._content(name)
        if hashlib.sha256(content).hexdigest() != self._hashes[name]:
            raise self._damaged(name)
        return content

    def _content(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except OSError as problem:
            path = self._folder / name
            raise ProviderError(
                f"The built-in embedder cannot read {path} ({problem}). {_REMEDY}"
            ) from problem

    def _damaged(self, name: str) -> ProviderError:
        return ProviderError(
            f"The built-in embedder's file {self._folder / name} is not the one that was built. {_REMEDY}"
        )
