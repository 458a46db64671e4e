"""DOES a measure say what its name says? Values worked out by hand, and what must hold for any ranking."""

from itertools import permutations
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.evaluation.scores import MEASURES, Scores, averages, by_chance, score

IDS = [f"d{number}" for number in range(30)]
rankings = st.permutations(IDS).flatmap(lambda ids: st.integers(0, 30).map(lambda size: ids[:size]))
golds = st.frozensets(st.sampled_from([*IDS, "nowhere"]), min_size=1)


def named(scores: Scores) -> dict[str, float]:
    return dict(zip(MEASURES, scores, strict=True))


def test_a_ranking_worked_out_by_hand() -> None:
    ranked = ["x1", "a", "x2", "x3", "x4", "b", "x5", "x6", "x7", "x8", "x9", "c"]
    got = named(score(ranked, frozenset("abcd")))
    assert got == pytest.approx(
        {
            "any@5": 1.0,
            "all@5": 0.0,
            "recall@5": 1 / 4,
            "any@10": 1.0,
            "all@10": 0.0,
            "recall@10": 2 / 4,
            "any@20": 1.0,
            "all@20": 0.0,
            "recall@20": 3 / 4,
            "mrr": 1 / 2,
            "ndcg@10": (1 / log2(3) + 1 / log2(7)) / (1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)),
        }
    )


def test_more_gold_than_places_can_still_be_ordered_perfectly() -> None:
    got = named(score(IDS, frozenset(IDS)))
    assert got["ndcg@10"] == 1
    assert (got["any@5"], got["all@5"], got["recall@5"]) == (1, 0, 5 / 30)


def test_the_first_beyond_twenty_counts_for_the_mean_reciprocal_rank_alone() -> None:
    got = named(score(IDS, frozenset({"d24"})))
    assert got.pop("mrr") == 1 / 25
    assert set(got.values()) == {0.0}


def test_nothing_found_is_nothing_scored() -> None:
    assert set(score([], frozenset("a"))) == {0.0}


@given(rankings, golds)
def test_all_is_at_most_recall_is_at_most_any(ranked: list[str], gold: frozenset[str]) -> None:
    got = named(score(ranked, gold))
    assert all(0 <= value <= 1 + 1e-12 for value in got.values())
    for cut in (5, 10, 20):
        assert got[f"all@{cut}"] <= got[f"recall@{cut}"] <= got[f"any@{cut}"]
    for name in ("any", "all", "recall"):
        assert got[f"{name}@5"] <= got[f"{name}@10"] <= got[f"{name}@20"]
    for cut in (5, 10, 20):
        assert (got["mrr"] >= 1 / cut) == (got[f"any@{cut}"] == 1)


@given(rankings, st.frozensets(st.sampled_from(IDS), min_size=1, max_size=5))
def test_gold_first_is_perfect(ranked: list[str], gold: frozenset[str]) -> None:
    perfect = [*gold, *(id for id in ranked if id not in gold)]
    assert score(perfect, gold) == pytest.approx([1.0] * len(MEASURES))


@given(rankings, golds, st.data())
def test_moving_a_gold_document_up_never_costs(
    ranked: list[str], gold: frozenset[str], data: st.DataObject
) -> None:
    places = [place for place, id in enumerate(ranked) if id in gold and place]
    if places:
        place = data.draw(st.sampled_from(places))
        better = [*ranked[: place - 1], ranked[place], ranked[place - 1], *ranked[place + 1 :]]
        assert all(
            new >= old - 1e-12 for new, old in zip(score(better, gold), score(ranked, gold), strict=True)
        )


@pytest.mark.parametrize(
    ("documents", "known", "gold"), [(1, 1, 1), (6, 1, 1), (6, 2, 2), (6, 2, 4), (7, 6, 6), (5, 0, 1)]
)
def test_chance_is_the_mean_over_every_order(documents: int, known: int, gold: int) -> None:
    wanted = frozenset([*IDS[:known], *(f"nowhere {number}" for number in range(gold - known))])
    rows = [score(order, wanted) for order in permutations(IDS[:documents])]
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    assert by_chance(documents, known, gold, depth=100) == pytest.approx(mean)
    near = [score(order[:2], wanted)[MEASURES.index("mrr")] for order in permutations(IDS[:documents])]
    assert by_chance(documents, known, gold, depth=2)[MEASURES.index("mrr")] == pytest.approx(
        sum(near) / len(near)
    )


def test_chance_can_be_told_of_large_haystacks() -> None:
    got = named(by_chance(1_000_000, 500, 500, depth=100))
    assert got["recall@10"] == pytest.approx(1e-5)
    assert got["any@10"] == pytest.approx(1 - (1 - 0.0005) ** 10, rel=1e-3)


@given(st.lists(st.tuples(*[st.floats(0, 1)] * len(MEASURES)), min_size=1, max_size=30))
def test_a_mean_lies_within_the_scores_and_its_interval_too(rows: list[Scores]) -> None:
    got = averages(rows)
    assert got.questions == len(rows)
    for place, measure in enumerate(MEASURES):
        column = [row[place] for row in rows]
        assert got.mean[measure] == pytest.approx(sum(column) / len(column))
        assert min(column) - 1e-9 <= got.low[measure] <= got.high[measure] <= max(column) + 1e-9


def test_the_interval_is_the_same_each_time_and_covers_what_it_should() -> None:
    half = averages([(float(number % 2),) * len(MEASURES) for number in range(400)])
    assert half == averages([(float(number % 2),) * len(MEASURES) for number in range(400)])
    # Two standard errors of a fair coin thrown 400 times are 0.05.
    assert half.low["mrr"] == pytest.approx(0.45, abs=0.01)
    assert half.high["mrr"] == pytest.approx(0.55, abs=0.01)
