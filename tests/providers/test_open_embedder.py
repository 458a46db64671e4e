"""Which embedder a name stands for, what is said of one that stands for none, and a model in a folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from onrecord.errors import Invalid, ProviderError
from onrecord.providers.e5 import E5
from onrecord.providers.embedding import EmbeddingModel
from onrecord.providers.guard import Guarded
from onrecord.providers.local_model import LocalModel
from onrecord.providers.opening import CHOICES, DEFAULT, Options, can_open, open_embedder, read_options


def test_the_default_is_the_built_in_one() -> None:
    embedder = open_embedder(DEFAULT)
    assert isinstance(embedder, Guarded)
    assert embedder.model == E5().model
    assert embedder.embed_query("why?").tokens is not None


def test_the_name_that_the_built_in_one_stores_opens_it_again() -> None:
    name = E5().model.name
    again = open_embedder(name)
    assert again is not None
    assert again.model.name == name
    assert can_open(name)


def test_none_is_none() -> None:
    assert open_embedder("none") is None
    assert not can_open("none")


@pytest.mark.parametrize(
    "name", ["openai:text-embedding-3-small", "ollama:nomic-embed-text", "ollama:bge-m3:567m"]
)
def test_the_name_that_is_set_is_the_name_that_is_stored(name: str) -> None:
    embedder = open_embedder(name, Options(dimensions=8))
    assert embedder is not None
    assert embedder.model == EmbeddingModel(name, 8)
    assert can_open(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "e6",
        "E5",
        "openai",
        "openai:",
        "ollama: ",
        "sentence-transformers:",
        "cohere:embed-v4.0",
        ":toy",
        "none:",
    ],
)
def test_a_name_that_stands_for_nothing_is_answered_with_the_choices(name: str) -> None:
    with pytest.raises(Invalid) as raised:
        open_embedder(name)
    (fault,) = raised.value.faults
    assert fault.field == "embedder"
    assert repr(name) in fault.message
    assert all(choice in fault.message for choice in CHOICES)
    assert not can_open(name)


def test_what_needs_a_package_that_is_missing_cannot_be_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("onrecord.providers.opening.find_spec", lambda name: None)
    assert not can_open("openai:toy")
    assert not can_open("ollama:toy")
    assert not can_open(f"sentence-transformers:{tmp_path}")
    assert can_open("e5")


def test_a_folder_can_be_opened_while_it_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("onrecord.providers.opening.find_spec", lambda name: object())
    assert can_open(f"sentence-transformers:{tmp_path}")
    assert not can_open(f"sentence-transformers:{tmp_path / 'gone'}")


def test_options_are_read_from_texts() -> None:
    assert read_options() == Options()
    assert read_options(url="", key="", dimensions="", timeout="") == Options()
    read = read_options(url="https://box:8080/v1", key="k", dimensions="512", timeout="2.5")
    assert read == Options(url="https://box:8080/v1", key="k", dimensions=512, timeout_s=2.5)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("url", ["box:8080", "ftp://box", "http://", "http://[", "/v1"]),
        ("dimensions", ["0", "-3", "1.5", "many", "inf", "nan"]),
        ("timeout", ["0", "-1", "soon", "nan", "inf", "3601"]),
    ],
)
def test_each_wrong_option_is_named(field: str, values: list[str]) -> None:
    for value in values:
        with pytest.raises(Invalid) as raised:
            read_options(**{field: value})
        assert [fault.field for fault in raised.value.faults] == [f"embedder_{field}"]


def test_all_wrong_options_are_named_at_once() -> None:
    with pytest.raises(Invalid) as raised:
        read_options(url="box", dimensions="x", timeout="x")
    assert len(raised.value.faults) == 3


# ---- a model in a folder ---------------------------------------------------------------------------------


class Network:
    """What sentence-transformers offers of a model, with a window of 32 words."""

    max_seq_length: int | None = 32
    prompts: ClassVar = {"query": "", "document": "doc: "}

    def __init__(self, path: str, *, local_files_only: bool) -> None:
        assert local_files_only, "nothing may be downloaded"
        if not (Path(path) / "weights").exists():
            raise ValueError("no weights here")
        self.seen: list[str] = []

    def tokenizer(self, texts: list[str], *, verbose: bool) -> dict[str, list[list[str]]]:
        return {"input_ids": [text.split() for text in texts]}

    def encode_query(self, texts: Sequence[str], **options: Any) -> Any:
        return np.array([[1.0, len(text), 0.0] for text in texts], np.float32)

    def encode_document(self, texts: Sequence[str], **options: Any) -> Any:
        assert all(len(text.split()) < (self.max_seq_length or 1000) for text in texts)  # and the prompt
        self.seen += texts
        return np.array([[0.0, len(text), 1.0] for text in texts], np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model's folder, and a library that reads it."""
    (tmp_path / "weights").write_bytes(b"weights")
    library, logging = ModuleType("sentence_transformers"), ModuleType("transformers.utils.logging")
    vars(library).update(SentenceTransformer=Network)
    vars(logging).update(disable_progress_bar=lambda: None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setitem(sys.modules, "transformers", ModuleType("transformers"))
    monkeypatch.setitem(sys.modules, "transformers.utils", ModuleType("transformers.utils"))
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", logging)
    return tmp_path


def test_a_folder_is_opened_by_its_name_and_stored_under_it(folder: Path) -> None:
    name = f"sentence-transformers:{folder}"
    embedder = open_embedder(name)
    assert embedder is not None
    assert embedder.model.name == name
    assert embedder.model.dimensions == 3
    assert embedder.embed_query("why").vector == pytest.approx([1 / 10**0.5, 3 / 10**0.5, 0])
    ((passage,),) = embedder.embed_documents(["why"])
    assert passage.vector == pytest.approx([0, 3 / 10**0.5, 1 / 10**0.5])


def test_a_folder_is_stored_by_its_whole_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert LocalModel(Path(folder.name)).model.name == f"sentence-transformers:{folder}"


def test_a_long_text_is_cut_so_that_the_model_sees_all_of_it(folder: Path) -> None:
    words = [f"word{number}" for number in range(300)]
    embedder = LocalModel(folder)
    first, long, last = embedder.embed_documents(["first", " ".join(words), "last"])
    assert len(first) == len(last) == 1
    assert len(long) > 10
    assert [passage.vector[1] for passage in (*first, *long, *last)] == [
        len(text) for text in embedder._load().network.seen
    ]
    assert {word for text in embedder._load().network.seen for word in text.split()} == {
        "first",
        "last",
        *words,
    }


def test_what_stands_before_a_document_must_fit_as_well(folder: Path) -> None:
    (passages,) = LocalModel(folder).embed_documents([" ".join(["word"] * 32)])
    assert len(passages) > 1


def test_a_model_without_a_window_is_given_passages_of_the_usual_length(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Network, "max_seq_length", None)
    ((first, second),) = LocalModel(folder).embed_documents([" ".join(["word"] * 200)])
    assert first.vector[1] == len(" ".join(["word"] * 180))
    assert second.vector[1] == len(" ".join(["word"] * 60))


def test_other_weights_are_another_model(folder: Path) -> None:
    before = LocalModel(folder).model
    (folder / "README.md").write_text("Only people read this.")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "lock").touch()
    assert LocalModel(folder).model == before
    (folder / "weights").write_bytes(b"other weights")
    assert LocalModel(folder).model.file_hash != before.file_hash


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    name = f"sentence-transformers:{tmp_path / 'gone'}"
    embedder = open_embedder(name)
    assert embedder is not None
    with pytest.raises(ProviderError, match="not a folder"):
        embedder.embed_query("why?")
    assert not can_open(name)


def test_a_folder_without_a_model_is_told(folder: Path) -> None:
    (folder / "weights").unlink()
    with pytest.raises(ProviderError, match=r"cannot be loaded \(no weights here\)"):
        LocalModel(folder).embed_documents(["why?"])


def test_the_missing_library_is_named_with_its_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ProviderError, match=r"pip install 'onrecord\[sentence-transformers\]'"):
        LocalModel(folder).embed_query("why?")


def test_what_the_model_raises_is_a_provider_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = open_embedder(f"sentence-transformers:{folder}")
    assert embedder is not None
    embedder.embed_query("why?")

    def fail(*args: Any, **options: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Network, "encode_document", fail)
    with pytest.raises(ProviderError, match="RuntimeError: out of memory"):
        embedder.embed_documents(["why?"])
