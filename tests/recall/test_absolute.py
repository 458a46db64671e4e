"""WHAT is a hit worth by itself? The numbers of the recipe `absolute`, to the last digit."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.errors import ProviderError
from onrecord.model.embedding import EmbeddingModel, Passage
from onrecord.model.limits import PERMISSIONS
from onrecord.recall.recall import Recalled
from onrecord.recall.references import MOST_HOLDERS

from ..catalog.test_ingest import a_manifest, made_from

#: The question lies along the first axis, and a text at the angle whose cosine it names: "… at 0.82".
MODEL = EmbeddingModel("angles", 2)


class Angles:
    """An embedder that reads the similarity out of the text; a text without one is at a right angle."""

    model = MODEL
    down = False

    def embed_query(self, text: str) -> Passage:
        if self.down:
            raise ProviderError("gone")
        return Passage(np.array([1.0, 0.0], np.float32))

    def embed_documents(self, texts: Sequence[str]) -> list[tuple[Passage, ...]]:
        return [(Passage(_at(_cosine(text))),) for text in texts]


def _cosine(text: str) -> float:
    *_, last = text.split()
    try:
        return float(last)
    except ValueError:
        return 0.0


def _at(cosine: float) -> Any:
    return np.array([cosine, np.sqrt(1 - cosine * cosine)], np.float32)


@pytest.fixture
def door() -> Iterator[OnRecord]:
    with connect(":memory:", embedder=Angles()) as door:
        yield door


@pytest.fixture
def worded() -> Iterator[OnRecord]:
    with connect(":memory:", embedder="none") as door:
        yield door


def scores(answer: Recalled) -> dict[str, float]:
    return {hit.memory.id: round(hit.score, 4) for hit in answer.hits}


def hybrid(cosine: float, words: float) -> float:
    return round(0.6 * (cosine + 1) / 2 + 0.4 * words, 4)


def test_a_score_is_six_tenths_of_the_similarity_and_four_tenths_of_the_words(door: OnRecord) -> None:
    door.remember("Filter on ERR_4711 at 0.55", id="exact")
    door.remember("Some errors are harmless at 0.82", id="similar")
    found = scores(door.recall("ERR_4711", recipe="absolute"))
    assert found == {"exact": hybrid(0.55, 1), "similar": hybrid(0.82, 0)}
    assert list(found) == ["exact", "similar"], "an exact identifier beats a nearer text"


def test_words_count_by_the_share_of_their_weight(door: OnRecord) -> None:
    for number in range(6):
        door.remember(f"orders {number} at 0.5")
    door.remember("orders lagoon at 0.5", id="both")
    door.remember("lagoon at 0.5", id="rare")
    found = scores(door.recall("orders lagoon", recipe="absolute"))
    assert found["both"] == hybrid(0.5, 1)
    assert hybrid(0.5, 0) < found["1"] < hybrid(0.5, 0.5) < found["rare"] < found["both"]


def test_what_has_no_vector_counts_as_dissimilar_and_still_by_its_words(door: OnRecord) -> None:
    door.remember("lagoon at 0.5", id="with")
    OnRecord(door._store, door.caller).remember("a lagoon", id="without")
    assert scores(door.recall("lagoon", recipe="absolute"))["without"] == hybrid(0, 1) == 0.7


def test_nothing_relevant_gives_nothing_and_an_orthogonal_text_is_not_relevant(door: OnRecord) -> None:
    door.remember("entirely otherwise", id="orthogonal")
    door.remember("the opposite at -0.9", id="opposite")
    assert door.recall("lagoon", recipe="absolute").hits == ()
    door.remember("about the lagoon", id="named", entities=["thing:till"])
    found = scores(door.recall("lagoon", recipe="absolute"))
    assert found == {"named": hybrid(0, 1)}


def test_what_is_about_a_given_thing_is_worth_one_whatever_else_it_says(door: OnRecord) -> None:
    door.remember("entirely otherwise", id="about", entities=["thing:till"])
    door.remember("lagoon at 0.9", id="both", entities=["thing:till"])
    door.remember("lagoon at 0.8", id="words")
    found = door.recall("lagoon", recipe="absolute", entities=["thing:till"])
    assert scores(found) == {"both": 1.0, "about": 1.0, "words": hybrid(0.8, 1)}
    for hit in found.hits:
        assert sum(part.share for part in hit.why.parts) == hit.score
    assert scores(door.recall("till", recipe="absolute")) == {"both": 0.57, "words": 0.54}, "it must be given"


def test_of_what_is_about_a_thing_the_newest_come_first_however_many_there_are(door: OnRecord) -> None:
    for number in range(120):
        door.remember(f"note {number}", id=f"n{number}", entities=["thing:till"])
    found = door.recall("", recipe="absolute", entities=["thing:till"], limit=10)
    assert [hit.memory.id for hit in found.hits] == [f"n{number}" for number in range(119, 109, -1)]
    assert MOST_HOLDERS > 120


def test_words_alone_are_brought_between_none_and_one_and_a_shorter_text_comes_first(
    worded: OnRecord,
) -> None:
    worded.remember("lagoon", id="short")
    worded.remember("a lagoon " + "with many other words around it " * 4, id="long")
    worded.remember("lagoon and harbour", id="two")
    for recipe in ("absolute", "absolute_words"):
        found = worded.recall("lagoon", recipe=recipe)
        assert [hit.memory.id for hit in found.hits] == ["short", "two", "long"]
        assert all(0 < hit.score < 1 for hit in found.hits)
        assert len(set(scores(found).values())) == 3
        for hit in found.hits:
            [part] = hit.why.parts
            assert hit.score == part.score / (1 + part.score)


def test_an_embedder_that_fails_leaves_the_words(door: OnRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    door.remember("lagoon at 0.5", id="a")
    monkeypatch.setattr(Angles, "down", True)
    found = door.recall("lagoon", recipe="absolute")
    assert found.channels == ("lexical",)
    assert found.degraded
    assert 0 < found.hits[0].score < 1


def test_nothing_raises_or_lowers_a_score(door: OnRecord) -> None:
    more: list[dict[str, Any]] = [{}, {"verified_at": "2026-01-01"}, {"kind": "decision"}, {"tags": ["x"]}]
    for number, each in enumerate(more):
        door.remember("lagoon at 0.5", id=f"n{number}", dedupe=False, **each)
    found = door.recall(
        "lagoon", recipe="absolute", kinds=["decision"], tags=["x"], decay=True, half_life_days=1
    )
    assert set(scores(found).values()) == {hybrid(0.5, 1)}
    assert [hit.memory.id for hit in found.hits] == ["n0", "n1", "n2", "n3"], (
        "the first saved, where all is equal"
    )


@pytest.mark.parametrize("recipe", ["absolute", "auto"])
def test_lineage_leads_one_step_up_and_down_and_no_further(shop: Callable[[], OnRecord], recipe: str) -> None:
    door = shop()
    for model in ("source", "raw", "orders", "daily", "report"):
        door.remember(f"note on {model}", id=model, entities=[f"shop.{model}"])
    door.remember("note on a column", id="column", entities=["shop.raw.amount"])

    def found(lineage: int) -> list[str]:
        answer = door.recall("", recipe=recipe, entities=["shop.orders"], lineage=lineage)
        return [hit.memory.id for hit in answer.hits]

    assert found(0) == ["orders"]
    assert found(1)[0] == "orders", "what is given comes before what lies beside it"
    assert sorted(found(1)) == ["column", "daily", "orders", "raw"]
    assert sorted(found(2)) == ["column", "daily", "orders", "raw", "report", "source"]


def test_a_column_lies_beside_what_its_model_does_and_a_urn_beside_what_its_name_does(
    shop: Callable[[], OnRecord],
) -> None:
    door = shop()
    door.remember("note on raw", id="raw", entities=["shop.raw"])
    urn = "urn:li:dataset:(urn:li:dataPlatform:duckdb,warehouse.main.orders,PROD)"
    for given in ("shop.orders.amount", urn, "orders"):
        assert [
            hit.memory.id for hit in door.recall("", recipe="absolute", entities=[given], lineage=1).hits
        ] == ["raw"]
    assert door.recall("", recipe="absolute", entities=["shop.report"], lineage=1).hits == ()


def test_what_was_saved_under_another_name_lies_beside_it_too(shop: Callable[[], OnRecord]) -> None:
    urn = "urn:li:dataset:(urn:li:dataPlatform:duckdb,warehouse.main.raw,PROD)"
    door = shop(before=lambda door: door.remember("note on raw", id="raw", entities=[urn]))
    found = door.recall("", recipe="absolute", entities=["shop.orders"], lineage=1)
    assert [hit.memory.id for hit in found.hits] == ["raw"]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Callable[..., OnRecord]]:
    """A store that knows five models, each made from the one before."""
    owner = Caller(tenant="acme", user="ann", permissions=frozenset(PERMISSIONS))
    with connect(":memory:", caller=owner, embedder="none") as door:

        def opened(before: Callable[[OnRecord], Any] = lambda door: None) -> OnRecord:
            before(door)
            chain = a_manifest(
                tmp_path / "manifest.json",
                source={},
                raw=made_from("source"),
                orders=made_from("raw"),
                daily=made_from("orders"),
                report=made_from("daily"),
            )
            door.ingest(str(chain))
            return door

        yield opened
