"""The built-in embedder: the same vector for the same text, near for what is alike, and plain words when it cannot."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord.errors import ProviderError
from onrecord.providers import e5
from onrecord.providers.e5 import E5, Cut
from onrecord.providers.embedding import Embedder, Passage

HOME = Path(e5.__file__).parent
FILES = ("model.onnx", "basis.npy", "vocab.txt")
EMBEDDER: Embedder = E5()


def document(text: str) -> Passage:
    ((passage,),) = EMBEDDER.embed_documents([text])
    return passage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the model's files to do harm to."""
    for name in (*FILES, "manifest.json"):
        shutil.copy(HOME / name, tmp_path)
    return tmp_path


def replace_file(folder: Path, name: str, content: bytes) -> None:
    """Put other content in place and vouch for it, as a build would."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest[name] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_the_same_text_has_the_same_vectors_in_every_embedder() -> None:
    text = "Revenue is net of refunds."
    here, there = EMBEDDER.embed_query(text), E5().embed_query(text)
    assert np.array_equal(here.vector, there.vector)
    assert np.array_equal(here.tokens, there.tokens)  # type: ignore[arg-type]


def test_a_document_does_not_depend_on_its_neighbours() -> None:
    texts = ["Revenue is net of refunds.", "The cat is called Admiral. " * 20, ""]
    together = EMBEDDER.embed_documents(texts)
    for text, (passage,) in zip(texts, together, strict=True):
        assert np.array_equal(passage.vector, document(text).vector)


def test_a_question_and_a_document_of_the_same_words_differ() -> None:
    text = "where do we keep the exchange rates"
    assert EMBEDDER.embed_query(text).vector @ document(text).vector < 0.999


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_vectors_of_unit_length(text: str) -> None:
    question, answer = EMBEDDER.embed_query(text), document(text)
    assert question.vector.shape == answer.vector.shape == (EMBEDDER.model.dimensions,)
    assert question.vector.dtype == answer.vector.dtype == np.float32
    assert np.linalg.norm([question.vector, answer.vector], axis=1) == pytest.approx(1, abs=1e-5)
    assert question.tokens is not None
    assert answer.tokens is not None
    assert question.tokens.dtype == np.float32
    assert answer.tokens.dtype == np.int8
    assert question.tokens.shape == answer.tokens.shape
    assert np.linalg.norm(question.tokens, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(answer.tokens.astype(float), axis=1) == pytest.approx(127, abs=4.1)


def test_tokens_are_those_of_the_text_alone() -> None:
    tokens = EMBEDDER.embed_query("net of refunds").tokens
    assert tokens is not None
    assert tokens.shape == (len("net of ref ##unds".split()), 64)


@pytest.mark.parametrize("text", ["", "  \n", "\x00\u200b"])
def test_a_text_without_words_has_a_vector_and_no_tokens(text: str) -> None:
    for passage in (EMBEDDER.embed_query(text), document(text)):
        assert passage.tokens is not None
        assert passage.tokens.shape == (0, 64)
        assert np.isfinite(passage.vector).all()


def test_no_documents_have_no_passages() -> None:
    assert EMBEDDER.embed_documents([]) == []


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How is revenue defined?", "Turnover counts sales less returned goods.", "The dentist is at noon."),
        ("What pet does she have?", "Maria adopted a kitten last week.", "Maria sold her old car last week."),
        (
            "Which table has FX rates?",
            "dim_currency holds daily exchange rates.",
            "dim_store holds addresses.",
        ),
        ("When is the meeting?", "We will sit together on Friday at ten.", "The cake needs six eggs."),
    ],
)
def test_what_answers_a_question_is_nearer_than_what_does_not(question: str, answer: str, other: str) -> None:
    asked = EMBEDDER.embed_query(question).vector
    assert asked @ document(answer).vector > asked @ document(other).vector


def test_token_vectors_tell_words_apart_by_their_meaning() -> None:
    asked = EMBEDDER.embed_query("dog").tokens
    puppy, invoice = document("puppy").tokens, document("invoice").tokens
    assert asked is not None
    assert puppy is not None
    assert invoice is not None
    assert (asked @ puppy.T).max() > (asked @ invoice.T).max()


def test_a_long_text_is_found_by_what_stands_at_its_end() -> None:
    filler = "The report lists figures for each region and each month of the year. " * 60
    (passages,) = EMBEDDER.embed_documents([filler + "Our cat Admiral has three legs."])
    nearness = [EMBEDDER.embed_query("How many legs has the cat?").vector @ each.vector for each in passages]
    assert len(passages) > 3
    assert max(nearness) == nearness[-1]


def test_a_text_without_spaces_loses_nothing_to_the_window() -> None:
    (passages,) = EMBEDDER.embed_documents(["a.b," * 200])
    assert sum(len(passage.tokens) for passage in passages if passage.tokens is not None) >= 800


def test_passages_are_as_long_as_asked_for() -> None:
    text = " ".join(["word"] * 30)
    (passages,) = E5(cut=Cut(words=20, overlap=10)).embed_documents([text])
    assert [len(passage.tokens) for passage in passages if passage.tokens is not None] == [20, 20]


def test_a_question_beyond_the_window_is_its_beginning() -> None:
    beginning = EMBEDDER.embed_query("word " * 508)
    assert np.array_equal(EMBEDDER.embed_query("word " * 5_000).vector, beginning.vector)


def test_threads_share_one_embedder_from_its_first_use_on() -> None:
    texts = [f"Memory number {number} is about {number * 7} things" for number in range(24)]
    embedder = E5()
    with ThreadPoolExecutor(8) as pool:
        found = [passage.vector for passage in pool.map(embedder.embed_query, texts)]
    assert np.array_equal(found, [EMBEDDER.embed_query(text).vector for text in texts])


def test_several_threads_within_a_run_give_the_same_vector() -> None:
    text = "Revenue is net of refunds."
    assert E5(threads=2).embed_query(text).vector @ EMBEDDER.embed_query(text).vector > 0.9999


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_with_what_to_do(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(
        ProviderError, match=rf"{name} is not the one that was built\. Install onrecord again"
    ):
        E5(folder).embed_query("anything")


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_a_missing_file_is_named_with_what_to_do(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ProviderError, match=rf"cannot read .*{name}.* Install onrecord again"):
        E5(folder).embed_documents(["anything"])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model.onnx": "1"}', "\udcff"])
def test_a_manifest_that_says_nothing_is_a_damaged_file(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ProviderError, match=r"manifest\.json is not the one that was built"):
        _ = E5(folder).model


def test_a_model_that_the_runtime_refuses_is_a_provider_error(folder: Path) -> None:
    replace_file(folder, "model.onnx", b"no graph at all")
    with pytest.raises(ProviderError, match="cannot be loaded"):
        E5(folder).embed_query("anything")


def test_after_a_failure_the_files_can_be_put_back(folder: Path) -> None:
    embedder = E5(folder)
    (folder / "model.onnx").rename(folder / "elsewhere")
    with pytest.raises(ProviderError):
        embedder.embed_query("anything")
    (folder / "elsewhere").rename(folder / "model.onnx")
    assert np.array_equal(embedder.embed_query("anything").vector, EMBEDDER.embed_query("anything").vector)


@pytest.mark.parametrize("name", FILES)
def test_another_file_makes_another_model(folder: Path, name: str) -> None:
    replace_file(folder, name, b"other")
    assert E5(folder).model.file_hash != EMBEDDER.model.file_hash
    assert E5(folder).model[:2] == EMBEDDER.model[:2]


def test_without_the_runtime_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "onrecord.providers.e5.network", raising=False)
    with pytest.raises(ProviderError, match="pip install onnxruntime"):
        E5().embed_query("anything")


def test_neither_import_nor_the_name_of_the_model_loads_the_runtime() -> None:
    program = (
        "import sys; from onrecord.providers.e5 import E5; E5().model;"
        "sys.exit(sum(name in sys.modules for name in ('onnxruntime', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_runtime_reports_to_nobody(tmp_path: Path) -> None:
    """It would leave a database of what it has to report in the home of whoever runs it."""
    program = "from onrecord.providers.e5 import E5; E5().embed_query('anything')"
    home = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    home.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", program], check=True, env=home)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []
