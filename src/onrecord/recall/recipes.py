"""WHICH way of searching? A recipe names the channels and their weights; `auto` is the usual one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from onrecord.errors import Fault, Invalid

#: What finds candidates: lexical, semantic, references; and graph, which finds what the best lead to.
Channel = str
Fusion = Literal["weighted", "rrf", "blend", "absolute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A choice of channels and weights. A channel without a weight is not asked."""

    name: str
    #: What each channel may add to a score.
    weights: Mapping[Channel, float]
    fusion: Fusion = "weighted"
    #: What the token vectors may add, for so many of the best; 0 leaves them alone.
    rerank: float = 0.0
    reranked: int = 50
    #: Whether leads are followed also where no vectors say what they would add.
    follows_blindly: bool = False
    #: What one mention of a word is worth by its field, where mentions are counted; else words weigh by how rare they are.
    counts: Mapping[str, float] = field(default_factory=dict)
    #: Whether, where things are looked for by subject, the words of what a memory is about count like its own.
    reads_subjects: bool = False
    #: What a word is worth by the heaviest field that holds it, where the field comes before how often and how rare.
    fields: Mapping[str, float] = field(default_factory=dict)
    #: What is left, inside a conversation, of what is pinned to another.
    elsewhere: float = 1.0
    #: What a place among what is pinned here is worth, against one among all; 0 where places do not count.
    here: float = 0.0
    #: Where the chance that anything here bears on the question is less than this, there is no hit; 0 takes all.
    floor: float = 0.0
    #: Whether what lies far behind the best is a hit, though it shares no word with the question.
    keeps_far: bool = False
    #: How many each channel brings at least.
    pool: int = 50
    #: Of how many that hold its words the fields are looked at: the best by its field may be far down by how often and
    #: how rare.
    worded: int = 0
    #: Layers that are left out, by name: to see what each is worth.
    without: frozenset[str] = field(default=frozenset())


_AUTO: Final = Recipe(
    name="auto",
    weights={"lexical": 0.32, "semantic": 0.32, "references": 0.15, "graph": 2.0},
    rerank=0.36,
    floor=0.07,
)

#: By their own worth alone (`recall/absolute.py`): nothing is raised or lowered afterwards.
_ABSOLUTE: Final = Recipe(
    name="absolute",
    weights={"semantic": 0.6, "lexical": 0.4, "references": 1.0},
    fusion="absolute",
    floor=_AUTO.floor,
    without=frozenset(
        {
            "raise_pairs",
            "boost_next_turn",
            "lower_questions",
            "boost_definitions",
            "lower_other_datasources",
            "boost_kind_and_tags",
            "boost_times",
            "boost_pinned",
            "boost_verified",
            "decay_with_age",
            "diversify",
        }
    ),
)

RECIPES: Final[Mapping[str, Recipe]] = {
    recipe.name: recipe
    for recipe in (
        _AUTO,
        Recipe(name="lexical", weights={"lexical": 1.0}),
        Recipe(name="semantic", weights={"semantic": 1.0}),
        Recipe(name="entity", weights={"references": 1.0}),
        replace(_AUTO, name="graph", weights={**_AUTO.weights, "graph": 3.5}, follows_blindly=True),
        Recipe(
            name="graduated",
            weights={"lexical": 1.0, "semantic": 0.1},
            fusion="blend",
            fields={"title": 10.0, "hint": 10.0, "tags": 8.0, "content": 4.0, "source": 2.0},
            elsewhere=0.8,
            here=1.5,
            floor=_AUTO.floor,
            pool=200,
            worded=2_000,
            # Vectors have no say about what the words found.
            without=frozenset(
                {
                    "compare_others",
                    "boost_next_turn",
                    "lower_questions",
                    "boost_definitions",
                    "lower_other_datasources",
                }
            ),
        ),
        replace(_AUTO, name="rrf", fusion="rrf", rerank=0.0),
        Recipe(
            name="plain_rrf",
            weights={"lexical": 1.0, "semantic": 1.0, "references": 1.0},
            fusion="rrf",
            reads_subjects=True,
            floor=_AUTO.floor,
            without=frozenset({"boost_definitions", "lower_other_datasources"}),
        ),
        Recipe(
            name="counts",
            weights={"lexical": 1.0},
            counts={"hint": 3.0, "tags": 2.0, "content": 1.0},
            pool=400,
            without=frozenset(
                {
                    "raise_pairs",
                    "boost_next_turn",
                    "lower_questions",
                    "boost_definitions",
                    "lower_other_datasources",
                }
            ),
        ),
        replace(_AUTO, name="blend", fusion="blend", rerank=0.0, weights={"semantic": 0.6, "lexical": 0.4}),
        _ABSOLUTE,
        replace(_ABSOLUTE, name="absolute_words", weights={"lexical": 1.0}),
    )
}


def recipe_named(name: str, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    if name not in recipes:
        raise Invalid([Fault("recipe", f"is not a recipe: {name!a}; there are {', '.join(sorted(recipes))}")])
    return recipes[name]
