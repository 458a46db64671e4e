"""How many are asked for cuts the answer, and changes nothing else."""

import pytest

from onrecord import OnRecord
from onrecord.recall.recipes import RECIPES

_THINGS = ("kettle", "ladder", "mirror", "needle", "orange", "pillow", "ribbon", "saddle", "teapot", "window")
#: More than any recipe takes from a channel at first.
_MANY = 140


@pytest.fixture
def crowded(memory: OnRecord) -> OnRecord:
    """Many memories about one person, in conversations, of which few say anything about the question."""
    for number in range(_MANY):
        thing, other = _THINGS[number % 10], _THINGS[number // 10 % 10]
        memory.remember(
            f"Ann put the {thing} beside the {other}" + (" again" if number % 3 else "?"),
            id=str(number),
            entities=["thing:Ann", f"thing:{thing}"] if number % 4 else ["thing:Ann"],
            conversation=f"talk {number // 35}",
            dedupe=False,
            alike="keep",
        )
    return memory


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_asking_for_a_few_gives_the_first_of_asking_for_many(crowded: OnRecord, recipe: str) -> None:
    def told(limit: int) -> list[tuple[str, float]]:
        hits = crowded.recall("Where did Ann put the ribbon?", limit=limit, recipe=recipe).hits
        return [(hit.memory.id, hit.relevance) for hit in hits]

    whole = told(200)
    assert len(whole) > 100 or recipe in ("absolute", "absolute_words", "graduated", "counts", "rrf"), len(
        whole
    )
    for limit in (1, 3, 10, 25, 60, 100):
        assert told(limit) == whole[:limit], limit


def test_a_memory_is_about_a_person_whenever_it_was_saved(crowded: OnRecord) -> None:
    """Of equals more take part than a list holds; each gets the same for being about her."""
    hits = crowded.recall("Where did Ann put the ribbon?", limit=50).hits
    shares = [
        part.share for hit in hits for part in hit.why.parts if part.channel == "references" and part.rank
    ]
    assert len(shares) == len(hits) == 50


def test_pages_go_on_beyond_what_a_recipe_looks_at(crowded: OnRecord) -> None:
    pages = [crowded.recall("Ann put it there", limit=30, recipe="lexical")]
    while pages[-1].next is not None:
        pages.append(crowded.recall("Ann put it there", limit=30, recipe="lexical", after=pages[-1].next))
    told = [hit.memory.id for page in pages for hit in page.hits]
    assert len(set(told)) == len(told) == _MANY
