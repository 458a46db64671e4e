"""WHAT is told of a memory beyond itself? Which model made its vectors, what superseded it, and the URNs of its subjects."""

from pathlib import Path

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.errors import Invalid
from onrecord.model.findings import Background
from onrecord.model.limits import PERMISSIONS
from onrecord.testing.embedder import StubEmbedder, StubEmbedders

from ..catalog.test_ingest import a_manifest

ADMIN = Caller(tenant="acme", user="ann", permissions=frozenset(PERMISSIONS))
URN = "urn:li:dataset:(urn:li:dataPlatform:duckdb,warehouse.main.orders,PROD)"


@pytest.fixture
def door(db: str) -> OnRecord:
    return connect(db, caller=ADMIN, embedder=StubEmbedder("first"))


def test_a_list_a_question_and_one_memory_tell_the_same(door: OnRecord, tmp_path: Path) -> None:
    with door:
        door.ingest(str(a_manifest(tmp_path / "manifest.json", orders={})))
        door.remember("The ferry leaves at nine.", id="old", entities=["shop.orders", "thing:till"])
        door.remember("The ferry leaves at ten.", id="new", supersedes=["old"])
        old = Background(id="old", embedded_by="first", superseded_by="new", urns={"shop.orders": URN})
        new = Background(id="new", embedded_by="first", supersedes=("old",))
        assert door.show("old", background=True).background == old
        assert door.browse(statuses=["superseded"], background=True).background == (old,)
        assert door.browse(background=True).background == (new,)
        asked = {"background": True, "statuses": ["active", "superseded"]}
        found = door.recall("ferry", **asked)  # type: ignore[arg-type]
        assert {each.id: each for each in found.background} == {"old": old, "new": new}
        assert [each.id for each in found.background] == [hit.memory.id for hit in found.hits]
        assert door.show("old").background is None
        assert door.browse().background == door.recall("ferry").background == ()


def test_the_newest_model_is_told_and_a_memory_without_vectors_has_none(door: OnRecord) -> None:
    with door:
        door.remember("The ferry leaves at nine.", id="both")
        door._embedders = StubEmbedders(StubEmbedder("second"))
        door.embed_missing()
        door._embedders = StubEmbedders(None)
        door.remember("The harbour is closed.", id="none")
        told = {each.id: each.embedded_by for each in door.browse(background=True).background}
        assert told == {"both": "second", "none": None}


def test_who_does_not_see_what_superseded_a_memory_is_not_told_of_it(door: OnRecord) -> None:
    with door:
        door.remember("The ferry leaves at nine.", id="old")
        door.remember("The ferry leaves at ten.", id="new", scope="user", supersedes=["old"])
        other = door.as_caller(Caller(tenant="acme", user="bob"))
        shown = other.show("old", background=True).background
        assert shown is not None
        assert shown.superseded_by is None


def test_what_the_catalog_does_not_know_is_refused_or_kept_as_the_request_says(
    door: OnRecord, tmp_path: Path
) -> None:
    with door:
        door.ingest(str(a_manifest(tmp_path / "manifest.json", orders={})))
        with pytest.raises(Invalid, match="nowhere"):
            door.remember("A note.", entities=["urn:li:nowhere"])
        saved = door.remember(
            "A note.", id="n", entities=["urn:li:nowhere", URN, "memory:77"], unknown="keep"
        )
        assert saved.memory.entities == ("urn:li:nowhere", "shop.orders", "memory:77")
        assert [each.split()[1] for each in saved.warnings] == ["'urn:li:nowhere'", "'memory:77'"]
        with pytest.raises(Invalid, match="elsewhere"):
            door.revise("n", entities=["urn:li:elsewhere"])
        revised = door.revise("n", entities=["urn:li:elsewhere"], unknown="keep")
        assert revised.memory.entities == ("urn:li:elsewhere",)
        assert len(revised.warnings) == 1
        assert door.revise("n", tags=["x"]).memory.entities == ("urn:li:elsewhere",), (
            "it stays, once it is kept"
        )
        with pytest.raises(Invalid, match="empty"):
            door.remember("A note.", entities=[" "], unknown="keep")
