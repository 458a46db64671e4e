"""WHAT is hidden from an answer? Only what the asker said it is not about: kinds and scopes that were not named."""

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
