"""WHAT is hidden from an answer? Only what the asker said it is not about: kinds and scopes that were not named."""

from dataclasses import replace
from itertools import product

import pytest

from onrecord import OnRecord
from onrecord.errors import Invalid
from onrecord.model.limits import KINDS
from onrecord.recall.draft import RecallTools, ScorePiece
from onrecord.recall.sharing import share_places

from .conftest import a_draft, a_match


def kinds_of(door: OnRecord, **ask: object) -> set[str]:
    return {hit.memory.kind for hit in door.recall("tea", limit=50, **ask).hits}  # type: ignore[arg-type]


@pytest.fixture
def filled(memory: OnRecord) -> OnRecord:
    for kind in KINDS:
        memory.remember(f"a {kind} about tea", kind=kind, dedupe=False)
    return memory


def test_only_the_kinds_that_were_named_are_told(filled: OnRecord) -> None:
    assert kinds_of(filled) == set(KINDS)
    assert kinds_of(filled, only_kinds=["decision"]) == {"decision"}
    assert kinds_of(filled, only_kinds=["decision", "skill"]) == {"decision", "skill"}


def test_kinds_that_rank_higher_still_hide_none(filled: OnRecord) -> None:
    assert kinds_of(filled, kinds=["decision"]) == set(KINDS)
    assert kinds_of(filled, kinds=["decision"], only_kinds=["skill"]) == {"skill"}


@pytest.mark.usefixtures("words_alone")  # What is found by meaning is asked below, of fewer.
def test_a_kind_that_few_are_of_is_found_below_many_of_another(memory: OnRecord) -> None:
    for number in range(200):
        memory.remember(f"tea {number}", dedupe=False)
    memory.remember("in the end there was some cold tea left in the kitchen", kind="skill", dedupe=False)
    assert kinds_of(memory, only_kinds=["skill"]) == {"skill"}


def test_the_kind_counts_as_it_was_known_at_a_time(memory: OnRecord, clock: object) -> None:
    saved = memory.remember("tea", kind="decision").memory
    clock.tick(days=1)  # type: ignore[attr-defined]
    memory.revise(saved.id, kind="skill", content="tea again")
    then = saved.created_at
    assert kinds_of(memory, only_kinds=["decision"], known_at=then) == {"decision"}
    assert kinds_of(memory, only_kinds=["decision"]) == set()


def test_what_a_lead_reaches_is_hidden_too(memory: OnRecord) -> None:
    memory.remember("tea is served at four", id="a", kind="decision")
    memory.remember("the pot is in the cellar", id="b", kind="skill")
    memory.relate("a", "supports", "b")
    found = memory.recall("tea served", only_kinds=["decision"], recipe="graph").hits
    assert [hit.memory.id for hit in found] == ["a"]


FIELDS = {
    "only_dimensions": (["event"], ["relationship"]),
    "only_tags": (["hot"], ["cold"]),
    "only_entities": (["thing:pot"], ["thing:pots"]),
    "only_metadata": ({"cups": 1, "place": {"floor": 2}}, {"cups": True}),
    "only_owners": (["ann", "anna"], ["bob"]),
}


def test_a_question_can_be_limited_to_what_has_a_value(memory: OnRecord, clock: object) -> None:
    """Also below many that have not, by every channel, and as it was at an earlier time."""
    saved = memory.remember(
        "in the end there was some cold tea left",
        id="it",
        kind="decision",
        tags=["hot"],
        entities=["thing:pot"],
        metadata={"cups": 1, "place": {"floor": 2}, "more": None},
    ).memory
    others = memory.as_caller(replace(memory.caller, user="carl"))
    for number in range(70):
        others.remember(f"tea {number}", dedupe=False, tags=["mild"], metadata={"cups": "1"})
    memory.relate("it", "supports", "1")

    def found(recipe: str, name: str, value: object, **ask: object) -> bool:
        limited = {"recipe": recipe, name: value, **ask}
        hits = memory.recall("tea", limit=5, min_relevance=0, **limited).hits  # type: ignore[arg-type]
        assert {hit.memory.id for hit in hits} <= {"it"}, limited
        return bool(hits)

    asked = [*product(("auto", "lexical", "semantic", "graph"), FIELDS.items())]
    for recipe, (name, (wanted, unwanted)) in asked:
        assert found(recipe, name, wanted), (recipe, name)
        assert not found(recipe, name, unwanted), (recipe, name)
    clock.tick(days=1)  # type: ignore[attr-defined]
    memory.revise("it", kind="fact", dimension="preference", tags=[], entities=[], metadata={})
    for recipe, (name, (wanted, _)) in asked:
        assert found(recipe, name, wanted) == (name == "only_owners"), (recipe, name)
        if recipe != "semantic":
            # What a memory said before, words alone find.
            assert found(recipe, name, wanted, known_at=saved.created_at), (recipe, name)


def test_numbers_of_metadata_are_compared_by_their_value(memory: OnRecord) -> None:
    memory.remember("tea", metadata={"cups": 2.0, "places": [{"floor": 1}]})
    for metadata, is_found in [
        ({"cups": 2}, True),
        ({"cups": 2.0, "places": [{"floor": 1.0}]}, True),
        ({"cups": 2.5}, False),
        ({"cups": "2"}, False),
        ({"places": [{"floor": True}]}, False),
    ]:
        assert bool(memory.recall("tea", only_metadata=metadata).hits) is is_found, metadata


@pytest.mark.parametrize(("limit", "size"), [(3, 4), (10, 10), (1, 7)])
def test_an_answer_goes_on_where_it_ended(memory: OnRecord, limit: int, size: int) -> None:
    for number in range(30):
        memory.remember(f"tea {'leaf ' * (number % 7)}{number}", dedupe=False)
    pages = [memory.recall("tea leaf", limit=limit, min_relevance=0)]
    while (mark := pages[-1].next) is not None:
        pages.append(memory.recall("tea leaf", limit=size, min_relevance=0, after=mark))
        assert len(pages) < 40, "the marks lead in a circle"
    told = [hit.memory.id for page in pages for hit in page.hits]
    assert len(told) == len(set(told)) == 30
    assert [len(page.hits) for page in pages[1:-1]] == [size] * (len(pages) - 2)
    scores = [hit.score for page in pages for hit in page.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "mark", ["x", "1", "1.", ".1", "0.0", "999999.0", "1.-1", "1.1.1", "1.9999999", "\u0661.1"]
)
def test_a_mark_that_no_answer_gave_is_refused(memory: OnRecord, mark: str) -> None:
    with pytest.raises(Invalid, match="after: is not a page mark"):
        memory.recall("tea", after=mark)


def test_an_unknown_kind_is_refused(filled: OnRecord) -> None:
    with pytest.raises(Invalid, match="only_kinds: item 1 must be one of"):
        filled.recall("tea", only_kinds=["opinion"])  # type: ignore[list-item]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_of_two_that_are_equal_the_nearer_circle_comes_first(limit: int) -> None:
    scopes = {(1, 1): "global", (1, 2): "tenant", (1, 3): "session", (1, 4): "user"}
    matches = {key: a_match(key, scope=scope) for key, scope in scopes.items()}
    draft = a_draft({}, weights={}, matches=matches, limit=limit)
    draft = type(draft)(
        **vars(draft)
        | {"parts": {key: (ScorePiece("lexical", 1, 1.0, 1.0),) for key in scopes}, "matches": matches}
    )
    assert share_places(draft, RecallTools()).chosen[:limit] == ((1, 3), (1, 2), (1, 4))[:limit]
